/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ACTION_ORDER_H
#define ACTION_ORDER_H
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "apapi/record.h"

/* What a measuring program and its actor say to each other: they are the same program. */

enum order_kind {
    ORDER_TASK,    /* there is one more task: `pid` */
    ORDER_CROSSED, /* a threshold was crossed */
    ORDER_END      /* no task runs any more */
};

/** To the actor. */
struct order {
    enum order_kind kind;
    pid_t pid;
    uint64_t number;                /* of the crossing in this run, for the answer */
    size_t threshold;               /* in the list */
    struct apapi_crossing crossing; /* without `threshold`, `action` and `result` */
};

/** From the actor: what came of an action. */
struct order_answer {
    uint64_t number;
    char text[128];
};

#endif
