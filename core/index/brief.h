/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_INDEX_BRIEF_H
#define APAPI_INDEX_BRIEF_H
#include "apapi/record.h"
#include "sum/sum.h"

/*
 * Records as a sum takes them, but for their curves, packed for the index that apapi keeps by
 * itself, with the positions of their lines. Some 370 bytes each. Only this machine reads them.
 */

/** A line of a file. */
struct brief_line {
    uint64_t offset;       /* [bytes] */
    uint64_t digest;       /* record_digest() */
    uint32_t size, curves; /* without the newline; what a sum would keep of its curves [bytes] */
    uint64_t odd; /* 1: it is not one record and no more, and nothing else is known of it */
};

/** Packed lines, one behind the other. All zero at the start. */
struct brief_lines {
    char *bytes; /* for free() */
    size_t size, room;
    size_t at;                               /* the next one to read */
    bool failed;                             /* out of memory, or damaged */
    struct sum_store sums;                   /* to find out about curves; for sum_free() */
    struct apapi_component_result component; /* of the record that was read, ... */
    struct apapi_event_result gpus[64];      /* ... and its GPUs, as bits in `named` */
    size_t gpu_count;
    uint64_t named;
};

/** Add a line. @param record  NULL: it is odd */
void brief_add(struct brief_lines *lines, struct brief_line line, struct apapi_record *record);

/** Add lines that are packed. */
void brief_append(struct brief_lines *lines, const void *bytes, size_t size);

/**
 * Read the next line.
 * @param record  what sum_add() takes, but for curves, shares and regions, and what selects it; all
 *                zero before the first line
 * @return 1; 0: there is none; -1 with errno EBADMSG
 */
int brief_read(struct brief_lines *lines, struct brief_line *line, struct apapi_record *record);

#endif
