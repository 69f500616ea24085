/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLER_SPOOL_H
#define SAMPLER_SPOOL_H
#include <dirent.h>
#include <stdbool.h>

#include "apapi/error.h"

/*
 * Records that are not in the accounting file: those of running steps, as far as they have got, and
 * those that could not be written. Each is a file <spool_dir>/<node>/<name>.json with one line,
 * as it shall stand in the accounting file. While its owner lives it is locked; who gets the lock
 * may write the line and remove the file. A lock ends with its process, whatever ends that.
 */

#define SPOOL_NAME_SIZE 128 /* bytes of a file's name with its NUL */

/** One record's place in the spool: <dir>/<node>/<name>.json, whose parts are borrowed. */
struct spool {
    const char *dir, *node, *name;
    int folder; /* -1: not open */
    int file;   /* locked; -1: nothing has been saved */
    char path[1024];
};

/** Nothing is saved yet, nothing is open. */
#define SPOOL_CLOSED(dir, node, name) ((struct spool){dir, node, name, -1, -1, ""})

/**
 * Save a line in the place of what was saved before, or of nothing; whatever happens in
 * between, one of them is there. The line is on the disk when this returns.
 * @return 0; -1 with errno of the call that failed, and what was saved before is still there.
 */
int spool_save(struct spool *spool, const char *line, struct apapi_error *err);

/** Remove what was saved, if anything was, and close. */
void spool_remove(struct spool *spool);

/** Close: what was saved stays for others. */
void spool_close(struct spool *spool);

/** A walk through a node's spool. */
struct spool_walk {
    DIR *folder; /* NULL: it has ended */
    char path[1024];
};

/** Begin. There may be no spool: then the walk has ended. */
void spool_walk_begin(struct spool_walk *walk, const char *dir, const char *node);

/** One line of somebody who lives no more. */
struct spooled {
    char *line; /* NULL: none */
    int file;   /* locked */
    char name[SPOOL_NAME_SIZE];
};

/**
 * Look at the next file.
 * @param spooled  its line, if it has one that is nobody's; to be given to spool_walk_done().
 *                 Otherwise line is NULL
 * @return 1; 0: there is no other, the walk has ended.
 */
int spool_walk_next(struct spool_walk *walk, struct spooled *spooled);

/** What becomes of a line. */
enum spool_fate {
    SPOOL_KEEP,    /* for another time */
    SPOOL_WRITTEN, /* its file is removed */
    SPOOL_BAD      /* no record: its file is put aside, as <name>.bad */
};

/** Let go of a line. NULL in it is allowed. */
void spool_walk_done(struct spool_walk *walk, struct spooled *spooled, enum spool_fate fate);

/** End before the end. */
void spool_walk_end(struct spool_walk *walk);

#endif
