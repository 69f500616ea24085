/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MS_COMMON_MEASUREMENT_H
#define MS_COMMON_MEASUREMENT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "ms_common/interface.h"

/* The measurements of a program: one for each resource, in a list, and their numbers. */

/** Print a line to standard error, with the library's name before it. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** The resources of a measurement, in the order of a list. */
enum resource {
    RESOURCE_CPU,
    RESOURCE_GPU,
    RESOURCE_FPGA,
    RESOURCE_SYSTEM,
    RESOURCE_MIC,
    RESOURCES
};

/** Names of a resource, and offsets of the members that all measurements have [bytes]. */
struct resource_row {
    int flag;              /* its bit, enum ms_flag */
    const char *name;      /* "CPU" */
    const char *component; /* its name in APAPI_CMPLIST, "rapl" */
    size_t size, wait, checks, runtime;
};

extern const struct resource_row resource_rows[RESOURCES];

/** Members that all measurements have. */
struct resource_head {
    struct timespec *wait; /* the time between two readings, divided by `checks` */
    uint32_t *checks;      /* how often in an interval the original looked for the end */
    double *runtime;       /* how long was measured [s] */
};

struct resource_head resource_head(enum resource resource, void *measurement);

/** Set all figures to 0, but keep `wait` and `checks`. */
void resource_clear(enum resource resource, void *measurement);

/** Append a measurement with all figures 0. @return 0; -1: no memory */
int list_append(struct ms_list **list, enum resource resource);

/** @return the measurement of this resource; NULL: the list has none. NULL is allowed. */
void *list_find(const struct ms_list *list, enum resource resource);

/* Measuring the resources of a list. Problems are reported on standard error. Any thread. */

struct measure;

/** Find out what can be measured. @return free it with measure_destroy(); NULL: nothing can */
struct measure *measure_create(void);

bool measure_has(const struct measure *measure, enum resource resource);

/** Measure the resources of these flags from the next start on, into the measurements of `list`. */
void measure_prepare(struct measure *measure, const struct ms_list *list, int flags);

void measure_start(struct measure *measure);

/** Read for the last time, and store the figures. @param late  printed if it runs; or NULL */
void measure_stop(struct measure *measure, const char *late);

/** Stop the use of a measurement that is about to be freed. */
void measure_forget(struct measure *measure, const void *measurement);

/** Stop, and free. */
void measure_destroy(struct measure *measure);

/* Numbers of measurements. The program reads them at any time, so each is stored atomically. */

static inline void number_put_double(double *member, double value)
{
    __atomic_store(member, &value, __ATOMIC_RELAXED);
}

#define number_get(member)                                                                         \
    ({                                                                                             \
        __typeof__((member) + 0) number_read;                                                      \
        __atomic_load(&(member), &number_read, __ATOMIC_RELAXED);                                  \
        number_read;                                                                               \
    })

/** Store the whole part; a value that is out of range becomes the nearest number. */
static inline void number_put_u64(uint64_t *member, double value)
{
    uint64_t whole = value >= 0x1p64 ? UINT64_MAX : value > 0 ? (uint64_t)value : 0;

    __atomic_store_n(member, whole, __ATOMIC_RELAXED);
}

static inline void number_put_u32(uint32_t *member, double value)
{
    uint32_t whole = value >= 0x1p32 ? UINT32_MAX : value > 0 ? (uint32_t)value : 0;

    __atomic_store_n(member, whole, __ATOMIC_RELAXED);
}

#endif
