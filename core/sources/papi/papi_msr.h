/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_SOURCES_PAPI_MSR_H
#define APAPI_SOURCES_PAPI_MSR_H
#include <stdbool.h>

#include "apapi/error.h"

/*
 * PAPI's rapl component offers events of registers that the processor may not have. One unreadable
 * register fails the reading of all. So each is tried before it is added.
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

/**
 * Check whether PAPI's rapl would call exit() when it starts.
 * @return 0: no, although access may be denied; -1 with errno EIO: yes. `err` may be NULL.
 */
int papi_msrs_check(struct apapi_error *err);

/** Whether the register of an event of component rapl can be read; true for unknown events. */
bool papi_msrs_can_read(const struct papi_msrs *msrs, const char *event);

void papi_msrs_close(struct papi_msrs *msrs);

#endif
