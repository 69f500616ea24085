/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REGIONS_MISUSE_H
#define REGIONS_MISUSE_H

/** Calls that make no sense. */
enum misuse {
    MISUSE_TWICE,  /* begun in itself */
    MISUSE_AGAIN,  /* the same, of LIKWID's regions */
    MISUSE_CLOSED, /* ended without a begin */
    MISUSE_FORKED, /* ended in the child of a fork within it */
    MISUSE_THREAD, /* ended in another thread */
    MISUSE_ORDER,  /* ended with another one in it */
    MISUSE_DEPTH,  /* too many in each other */
    MISUSE_EXIT,   /* open at the end of the program */
    MISUSE_LEFT,   /* open at the end of a thread */
    MISUSE_NULL,   /* without a name */
    MISUSES
};

/**
 * Count a misuse. The first one of its kind is reported on standard error.
 * @param name   the region, as it is shown
 * @param other  of MISUSE_ORDER: the region in it; else NULL
 * @return -1, with the errno of this kind
 */
int misuse_report(enum misuse misuse, const char *name, const char *other);

#endif
