/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLER_SPOOL_H
#define SAMPLER_SPOOL_H
#include <dirent.h>
#include <stdbool.h>

#include "apapi/error.h"

/*
 * Records that are not in the accounting file: checkpoints of running steps, and records that could
 * not be written. Each is a file <spool_dir>/<node>/<name>.json with one line in the form of the
 * accounting file. Its owner keeps it locked while it lives. The next owner of the lock may write
 * the line and remove the file. The lock ends with its process.
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

/** A walk through a node's spool. */
struct spool_walk {
    DIR *folder; /* NULL: at the end */
    char path[1024];
};

/** Begin. A missing spool is empty. */
void spool_walk_begin(struct spool_walk *walk, const char *dir, const char *node);

/** One line of a process that has ended. */
struct spooled {
    char *line; /* NULL: none */
    int file;   /* locked */
    char name[SPOOL_NAME_SIZE];
};

/**
 * Look at the next file.
 * @param spooled  its line if no one owns it, else NULL; pass it to spool_walk_done()
 * @return 1; 0: no more files.
 */
int spool_walk_next(struct spool_walk *walk, struct spooled *spooled);

/** The sink of a line. */
enum spool_fate {
    SPOOL_KEEP,    /* keep it for later */
    SPOOL_WRITTEN, /* written: remove its file */
    SPOOL_BAD      /* not a record: rename its file to <name>.bad */
};

/** Release a line. Its line may be NULL. */
void spool_walk_done(struct spool_walk *walk, struct spooled *spooled, enum spool_fate fate);

/** Stop before the end. */
void spool_walk_end(struct spool_walk *walk);

#endif
