/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_GATHER_PARTS_H
#define APAPI_GATHER_PARTS_H
#include <stddef.h>
#include <stdint.h>

#include "apapi/job.h"
#include "gather/receiver.h"
#include "sum/job_id.h"

#define PARTS_MAX 65536      /* records that are looked at */
#define PARTS_TIMELINES 4096 /* those that keep their timelines */
#define PARTS_RUNNING 256    /* steps that are waited for */

/**
 * The records of a job's steps, as the sruns of its script pass them on. They come from processes
 * of the user: for his own table only, never for the accounting.
 */
struct parts {
    struct receiver receiver;
    struct apapi_job *job;
    uint32_t id; /* of the job, or its first component; APAPI_UNKNOWN: that of the first record */
    char name[JOB_ID_SIZE]; /* how Slurm writes it, "28_1"; "": as its number */
    size_t lines;           /* that have arrived */
    size_t count;           /* of records */
    size_t left_out;        /* had no room */
    bool own;               /* there is a record that nobody has passed on */
    bool only;              /* there are no tables of steps */
    size_t running_count;
    char running[PARTS_RUNNING][48]; /* steps that have begun and not ended: "17.0" */
};

/**
 * Begin to listen.
 * @param listener  listening socket, borrowed
 * @param token     without which nobody is heard
 * @return 0; -1 with errno, and nothing is to be closed.
 */
int parts_open(struct parts *parts, int listener, const char *token, uint32_t job);

/** Add a record that nobody has passed on. */
void parts_add(struct parts *parts, const struct apapi_record *record);

/** Take what has arrived. Blocks never. */
void parts_work(struct parts *parts);

/**
 * Take what arrives until all steps that have begun have ended.
 * @param deadline_ns  of deadline_now(): when to give up
 */
void parts_wait(struct parts *parts, uint64_t deadline_ns);

/** @return when to work again even if nothing has happened [ms from now]; -1: no need to */
int parts_patience_ms(const struct parts *parts);

/**
 * The job's table. Steps that still run are named in it.
 * @param nodes, nodelist  of the job, or of its first component; 0, "": not known
 * @return to be freed with free(); NULL: a single step tells it all, or there is no memory.
 */
char *parts_table(struct parts *parts, size_t nodes, const char *nodelist);

/** Close and free all but the listening socket. */
void parts_close(struct parts *parts);

#endif
