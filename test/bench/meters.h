/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BENCH_METERS_H
#define BENCH_METERS_H
#include <stddef.h>

#include "fake/powercap_tree.h"
#include "session/component.h"

#define METERS_MAX 32
#define METER_TEXT_SIZE 64 /* bytes requested at each reading */

/**
 * Energy files in memory: reading them costs least, so all that is added to it shows most.
 * APAPI_SYSROOT points to them. The bare loops read them by their own descriptors.
 */
struct bench_meters {
    struct powercap_tree tree;
    size_t count;
    int fds[METERS_MAX];
};

/** Make `count` files and open them. End the program if that fails. */
void bench_meters_create(struct bench_meters *meters, size_t count);

/** Read every file once and do nothing with its content: the least that any reader must do. */
void bench_meters_read(const struct bench_meters *meters);

/** Open the files as a component, like a session. End the program if that fails. */
void bench_meters_open(const struct bench_meters *meters, struct component *component,
                       uint64_t interval_ns);

/** Close and remove the files. */
void bench_meters_destroy(struct bench_meters *meters);

#endif
