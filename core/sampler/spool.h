/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLER_SPOOL_H
#define SAMPLER_SPOOL_H
#include <stdbool.h>

#include "apapi/error.h"

/*
 * Records that are not in the accounting file: checkpoints of running steps, and records that could
 * not be written. Each is a file <spool_dir>/<node>/<name>.json with one line in the form of the
 * accounting file. Its process keeps it locked; the lock ends with the process. The next owner of
 * the lock may write the line to the accounting file and remove the file.
 */

#define SPOOL_NAME_SIZE 128 /* bytes of a file's name with its NUL */

/** One record in the spool: <dir>/<node>/<name>.json. The parts are borrowed. */
struct spool {
    const char *dir, *node, *name;
    int folder;  /* -1: not open */
    int file;    /* locked; -1: nothing saved yet */
    bool synced; /* the saved line is on the disk */
    char path[1024];
};

/** Nothing saved, nothing open. */
#define SPOOL_CLOSED(dir, node, name) ((struct spool){dir, node, name, -1, -1, false, ""})

/**
 * Save a line, replacing what was saved before. Either the old or the new line exists at any time.
 * @param sync  wait until the line is on the disk; else a power failure may lose it, and leave an
 *              empty file
 * @return 0; -1 with errno of the call that failed. The old line is still there then.
 */
int spool_save(struct spool *spool, const char *line, bool sync, struct apapi_error *err);

/** Remove what was saved, and close. */
void spool_remove(struct spool *spool);

/** Close. A saved record stays for other samplers. */
void spool_close(struct spool *spool);

/** The receiver's verdict on a record. */
enum spool_fate {
    SPOOL_KEEP,    /* the record stays for later */
    SPOOL_END,     /* the record and all that were not handed over yet stay for later */
    SPOOL_WRITTEN, /* its file is removed */
    SPOOL_BAD      /* not a record: its file gets the name <name>.bad */
};

/** Takes the name and the line of a file whose process has ended; NULL: errno says why no line. */
typedef enum spool_fate (*spool_take_f)(const char *name, const char *line, void *context);

/** Hand over the records of a node that no living process owns. A missing spool is empty. */
void spool_each(const char *dir, const char *node, spool_take_f take, void *context);

#endif
