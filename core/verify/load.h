/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VERIFY_LOAD_H
#define VERIFY_LOAD_H
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define LOAD_MAX 64

/** Threads that keep processors busy. All of zero at first. */
struct load {
    pthread_t threads[LOAD_MAX];
    size_t count;
    atomic_bool over;
};

/** @param count  up to LOAD_MAX. @return 0; -1 with errno EAGAIN, and there are none. */
int load_begin(struct load *load, size_t count);

void load_end(struct load *load);

#endif
