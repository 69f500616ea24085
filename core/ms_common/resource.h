/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MS_COMMON_RESOURCE_H
#define MS_COMMON_RESOURCE_H
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/** The resources of a measurement, in the order of a list. */
enum resource {
    RESOURCE_CPU,
    RESOURCE_GPU,
    RESOURCE_FPGA,
    RESOURCE_SYSTEM,
    RESOURCE_MIC,
    RESOURCES
};

/** @return its bit, enum ms_flag. */
int resource_flag(enum resource resource);

/** @return the resource with this bit; RESOURCES if there is none. */
enum resource resource_of_flag(int flag);

/** @return "CPU", ... Static storage. */
const char *resource_name(enum resource resource);

/** @return the component that APAPI_CMPLIST calls it by, "rapl". Static storage. */
const char *resource_component(enum resource resource);

/** @return size of its measurement [bytes]. */
size_t resource_size(enum resource resource);

/** @return the time between two readings, divided by resource_checks(). Part of the measurement. */
struct timespec *resource_wait(enum resource resource, void *measurement);

/** @return how often in an interval the original looked for the end. Part of the measurement. */
uint32_t *resource_checks(enum resource resource, void *measurement);

/** @return how long was measured [s]. Part of the measurement. */
double *resource_runtime(enum resource resource, void *measurement);

/** Set all figures to 0, but keep how it is measured. */
void resource_clear(enum resource resource, void *measurement);

#endif
