/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MS_COMMON_SENSORS_H
#define MS_COMMON_SENSORS_H
#include <stdbool.h>
#include <stddef.h>

#include "ms_common/interface.h"

#define SENSORS_MAX 64
#define SENSORS_NO_CORE MS_CORES

/** A file of the kernel with one number. */
struct sensor {
    int fd;
    unsigned package;
    unsigned core; /* SENSORS_NO_CORE: the whole package */
};

/** Sensors of one kind. */
struct sensors {
    struct sensor all[SENSORS_MAX];
    size_t count;
};

/** Open the temperatures of packages and of the first four cores of packages 0 and 1 [0.001 C]. */
void sensors_find_temperatures(struct sensors *sensors);

/** Open the frequencies of the first four cores of packages 0 and 1 [kHz]. */
void sensors_find_frequencies(struct sensors *sensors);

/** @return whether there is a number. */
bool sensors_read(const struct sensor *sensor, double *value);

/** Put APAPI_SYSROOT, if set, before a path. */
void sensors_path(char *path, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

void sensors_close(struct sensors *sensors);

#endif
