/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_DOCTOR_JUDGE_H
#define APAPI_DOCTOR_JUDGE_H
#include <stddef.h>

#include "apapi/source.h"

/** What two readings of an event tell of it. */
enum judgement {
    JUDGED_FINE,
    JUDGED_DEAD,       /* it can be read and never moves */
    JUDGED_IMPLAUSIBLE /* or it cannot be read: no use */
};

/** Two readings of one event; an energy counter is long due to have moved in between. */
struct two_readings {
    struct apapi_reading before;
    struct apapi_reading after;
    double elapsed_s; /* between them [s], > 0 */
};

/** @param text  why it is not fine; else unchanged */
enum judgement judge_event(const struct apapi_event *event, const struct two_readings *readings,
                           char *text, size_t size);

#endif
