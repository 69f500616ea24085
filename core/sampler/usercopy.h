/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLER_USERCOPY_H
#define SAMPLER_USERCOPY_H
#include <stdint.h>

#include "sampler/step.h"
#include "sampler/task.h"

/** A record on its way to the folder that its user can read. All members 0: none. */
struct usercopy {
    const char *dir; /* user_records; borrowed, like the node's name */
    struct apapi_identity id;
    int64_t unix_ns; /* determines the day [ns since 1970] */
    char *line;      /* owned */
    struct task task;
};

/** Write a copy now. What goes wrong is only logged: the accounting file has the record. */
void usercopy_write(const char *dir, const struct apapi_identity *id, int64_t unix_ns,
                    const char *line);

/** Begin to write one, if the site wants that, in a thread. `copy` must stay where it is. */
void usercopy_start(struct usercopy *copy, const struct step *step, int64_t unix_ns,
                    const char *line);

/** Wait for it until then [CLOCK_MONOTONIC], and free what it owns if it has ended. */
void usercopy_end(struct usercopy *copy, uint64_t deadline_ns);

#endif
