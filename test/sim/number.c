/* SPDX-License-Identifier: BSD-3-Clause */
/* Strict numbers: all of the text is the number, and it lies within its bounds. */
#include "simhw.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double number_seconds_max = 1e9;

int sim_number_u64(const char *text, int base, uint64_t min, uint64_t max, uint64_t *number)
{
    unsigned long long value;
    char *end = NULL;

    if (!isdigit((unsigned char)*text)) {
        errno = EINVAL;
        return -1;
    }
    errno = 0;
    value = strtoull(text, &end, base);
    if (errno != 0) {
        return -1;
    }
    if (*end != '\0') {
        errno = EINVAL;
        return -1;
    }
    if (value < min || value > max) {
        errno = ERANGE;
        return -1;
    }
    *number = value;
    return 0;
}

int sim_number_double(const char *text, double min, double max, double *number)
{
    char *end = NULL;
    double value;

    errno = 0;
    value = strtod(text, &end);
    if (errno != 0) {
        return -1;
    }
    if (end == text || *end != '\0' || isspace((unsigned char)*text)) {
        errno = EINVAL;
        return -1;
    }
    if (!(value >= min && value <= max)) {
        errno = ERANGE;
        return -1;
    }
    *number = value;
    return 0;
}

int sim_number_scaled(const char *text, double min, double max, double scale, int64_t *number)
{
    double value;

    if (sim_number_double(text, min, max, &value) != 0) {
        return -1;
    }
    *number = llround(value * scale);
    return 0;
}

int sim_number_seconds(const char *text, uint64_t *time_ns)
{
    int64_t value;

    if (strcmp(text, "inf") == 0) {
        *time_ns = UINT64_MAX;
        return 0;
    }
    if (sim_number_scaled(text, 0, number_seconds_max, (double)SIM_NS_PER_S, &value) != 0) {
        return -1;
    }
    *time_ns = (uint64_t)value;
    return 0;
}
