/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOURCES_PAPI_FAULTS_H
#define SOURCES_PAPI_FAULTS_H
#include <papi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/source.h"

/* Gaps, errors and dangers of PAPI's components. No PAPI function is called here. */

/**
 * Describe an event by the unit that PAPI gives or, where that unit is known to be missing or
 * wrong, by a rule of APAPI. An event with an unknown unit keeps it, and is a count. Each event of
 * component rapl that is no energy in joules costs the reading of one more register: it is used
 * only if a list names it, see wanted_events_name().
 * @return false: its name is too long, or it is used only if a list names it, and none does.
 */
bool papi_event_describe(const PAPI_event_info_t *info, const char *name,
                         struct apapi_event *event);

/** @return whether the event is used only if a list names it. */
bool papi_event_is_named_only(const char *name);

/**
 * Check what a component of PAPI needs, before PAPI looks for it: PAPI may do harm by looking.
 * @return 0; -1 with errno ENODEV, EIO. `err` may be NULL.
 */
int papi_check_needs(const char *component, struct apapi_error *err);

/*
 * PAPI's rapl component offers events of registers that the processor may not have. One unreadable
 * register fails the reading of all. So each register is tried before its event is added.
 */

#define PAPI_MSR_PACKAGES_MAX 64

struct papi_msrs {
    int fds[PAPI_MSR_PACKAGES_MAX]; /* by package; -1: none */
    bool amd;
};

/** @return the first CPU of each package in `cpus`; -1: no such package. */
void papi_first_cpus(int cpus[PAPI_MSR_PACKAGES_MAX]);

/** Start with all files closed. */
void papi_msrs_init(struct papi_msrs *msrs);

/** Open the registers that PAPI will read. */
void papi_msrs_open(struct papi_msrs *msrs);

/** @return whether the register of an event of rapl can be read; true for unknown events. */
bool papi_msrs_can_read(const struct papi_msrs *msrs, const char *event);

void papi_msrs_close(struct papi_msrs *msrs);

#endif
