/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BENCH_METERS_H
#define BENCH_METERS_H
#include <stddef.h>

#include "fake/powercap_tree.h"
#include "session/component.h"

#define METERS_MAX 32
#define METER_TEXT_SIZE 64 /* bytes that are asked for at each reading */

/**
 * Energy files in memory, where reading costs least and whatever is added to it shows most.
 * APAPI_SYSROOT points to them. The bare loops read them through descriptors of their own.
 */
struct bench_meters {
    struct powercap_tree tree;
    size_t count;
    int fds[METERS_MAX];
};

/** Make `count` files and open them. Ends the program if that fails. */
void bench_meters_create(struct bench_meters *meters, size_t count);

/** Read every file once and do nothing with it: the least that any reader must do. */
void bench_meters_read(const struct bench_meters *meters);

/** Open them as a component, as a session does. Ends the program if that fails. */
void bench_meters_open(const struct bench_meters *meters, struct component *component,
                       uint64_t interval_ns);

/** Close and remove them. */
void bench_meters_destroy(struct bench_meters *meters);

#endif
