/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FAKE_METER_H
#define FAKE_METER_H
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "sources/sources.h"

#define FAKE_METER_EVENTS 2
#define FAKE_METER_STEP 1000 /* raw units between two good readings of event 0; event 1: twice */

/**
 * A component that is opened by its name. Linked with --wrap, apapi_catalog_open() and the other
 * functions of the routes find these meters instead of real ones. Members that may change while a
 * session runs are atomic.
 */
struct fake_meter {
    const char *name;
    bool slow, own_worker;
    uint64_t update_ns;                    /* stated; 0: 1 s, so that there are no probes */
    enum apapi_domain domain;              /* of both events */
    atomic_bool open_hangs;                /* open() does not return */
    atomic_bool read_hangs;                /* read() does not return */
    atomic_bool ends_thread;               /* read() ends the thread */
    atomic_int open_fails;                 /* errno; 0: it can be opened */
    atomic_int read_fails;                 /* errno; 0: it can be read */
    atomic_int plugged;                    /* raise it: open readers fail with ENODEV permanently */
    atomic_int first, present;             /* events that an open() finds; at first, all */
    atomic_int opens, closes, reads, good; /* calls; readings without an error */
    atomic_int stuck;                      /* calls that have hung */
    atomic_ullong value;
    struct fake_handle *lost; /* handle of the thread that was ended */
};

/** Set the meters that can be opened from now on, and restart them. The last one has no name. */
void fake_meters_use(struct fake_meter *meters);

/** Free the memory of a thread that was ended. */
void fake_meter_free_lost(struct fake_meter *meter);

/** Wait at most a minute until *number >= least. @return whether it is. */
bool fake_wait(const atomic_int *number, int least);

#endif
