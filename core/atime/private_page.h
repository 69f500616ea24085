/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ATIME_PRIVATE_PAGE_H
#define ATIME_PRIVATE_PAGE_H
#include "apapi/live.h"

#define PRIVATE_PAGE_FOLDER_SIZE 90 /* with its NUL: a socket's path has 108 bytes at most */

/*
 * A live page for the measured program alone, in a folder of mode 0700 that only this user can
 * enter. It is on a memory file system: $XDG_RUNTIME_DIR, /dev/shm or /tmp.
 */
struct private_page {
    struct apapi_live_page *page; /* NULL: none */
    int file;                     /* -1: not open */
    const char *base;
    char folder[PRIVATE_PAGE_FOLDER_SIZE];   /* "": it has no name */
    char path[PRIVATE_PAGE_FOLDER_SIZE + 5]; /* of the page in it */
};

#define PRIVATE_PAGE_NONE ((struct private_page){.file = -1})

/** Make a page that has no name yet: nothing of it is left if the process is killed. 0; -1. */
int private_page_create(struct private_page *page, struct apapi_error *err);

/**
 * Make its folder and give it its name there. Folders of processes that were killed are removed.
 * @return 0; -1 with errno of the call that failed
 */
int private_page_publish(struct private_page *page, struct apapi_error *err);

/** Remove its folder. */
void private_page_withdraw(struct private_page *page);

/** Withdraw and release it. */
void private_page_close(struct private_page *page);

#endif
