/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OBSERVE_OBSERVE_H
#define OBSERVE_OBSERVE_H
#include <stdbool.h>

#include "apapi/live.h"
#include "apapi/measurement.h"
#include "measure/fit.h"
#include "regions/observe/program.h"

/*
 * The energy of the regions of a step's programs. After each reading the time that threads have
 * spent in each region since the reading before is a row of a fit for each domain (measure/fit.h).
 *
 * Nothing is kept until the first program comes. The thread that reads the meters calls
 * observe_reading(); everything else is for one other thread.
 */

#define OBSERVE_PROGRAMS_MAX 1024

struct observer;

/** @param live  of the session, or all zeros if there is none. NULL: out of memory. */
struct observer *observe_create(const struct apapi_live_page *live);

void observe_destroy(struct observer *observer);

/** The figures of a reading are on the live page. Does not allocate or make a system call. */
void observe_reading(const struct apapi_live_page *live, void *observer);

/** A program has come. @return 0; -1 with errno ENOSPC (too many), ENOMEM. */
int observe_add(struct observer *observer, struct observed *program);

/** It has ended: its times are kept, and it is destroyed. */
void observe_remove(struct observer *observer, struct observed *program);

/**
 * The step has ended. What programs have had is given to no other one: however many end now, no
 * more of their pages is read than in one look.
 */
void observe_end(struct observer *observer);

/** A program has come whose page is not valid. */
void observe_refuse(struct observer *observer);

/* The step's shell has a region, too: time without any thread in a program's is that region's. */

/** @return 0; -1 with errno ENOMEM, E2BIG (too many regions within each other). */
int observe_shell_begin(struct observer *observer, const char *name);

/** @param energy_j  result: of all that happened since its begin. @return 0; -1 with errno ENOENT
 */
int observe_shell_read(struct observer *observer, const char *name, double *energy_j);

/** The same, and end it. */
int observe_shell_end(struct observer *observer, const char *name, double *energy_j);

/** A figure of merit of a program. @param given  which ones it has given, for the caller to keep */
struct observe_foms {
    bool given[APAPI_FOMS_MAX];
    double values[APAPI_FOMS_MAX];
};
int observe_fom(struct observer *observer, struct observe_foms *given, const char *name,
                double value, const char *unit);

/** Put what is known so far into the result pages of the programs. @return when to do so again */
uint64_t observe_publish(struct observer *observer, uint64_t now_ns);

/**
 * What regions there were, for a record.
 * @param m       of the session
 * @param result  empty it with apapi_regions_clear(). Empty: no program used any
 * @return 0; -1 with errno ENOMEM
 */
int observe_result(struct observer *observer, const struct apapi_measurement *m,
                   struct apapi_regions *result);

#endif
