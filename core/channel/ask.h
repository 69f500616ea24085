/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CHANNEL_ASK_H
#define CHANNEL_ASK_H
#include <stdint.h>

/*
 * Asking the node sampler for a reading now: a datagram to <live_dir>/<node>/.now, which root alone
 * may send. There is no answer: the reading is in the pages of the node sampler.
 */

#define ASK_SOCKET ".now"
#define ASK_COMPONENT_SIZE 64

enum ask_kind {
    ASK_LOOK = 1, /* the page of readings shows it */
    ASK_COUNT = 2 /* the node page and the shares as well */
};

/** The datagram. One of another size or beginning is ignored. */
struct ask {
    char magic[8];
    uint32_t version, kind;
    char component[ASK_COMPONENT_SIZE]; /* "": all */
};

#define ASK_MAGIC "APAPIASK"
#define ASK_VERSION 1

/**
 * @return a descriptor for ask_send(); -1 with errno ENOENT, ECONNREFUSED: no node sampler runs,
 *         EACCES, ENAMETOOLONG. Never blocks.
 */
int ask_open(const char *live_dir, const char *node);

/**
 * Waits while many others ask, but not past `deadline_ns` (CLOCK_MONOTONIC).
 * @param component  NULL: all
 * @return 0; -1 with errno ECONNREFUSED: the node sampler has ended, EAGAIN: it does not listen
 */
int ask_send(int fd, enum ask_kind kind, const char *component, uint64_t deadline_ns);

#endif
