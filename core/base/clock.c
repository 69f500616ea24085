/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"

/* Split into whole seconds, rounded down, and the remaining nanoseconds. */
static long timestamp_split(int64_t unix_ns, struct tm *utc)
{
    int64_t above_ns = unix_ns % NS_PER_S;
    time_t seconds = unix_ns / NS_PER_S;

    if (above_ns < 0) {
        above_ns += NS_PER_S;
        seconds--;
    }
    gmtime_r(&seconds, utc);
    return above_ns;
}

void timestamp_format(char *text, size_t size, int64_t unix_ns)
{
    struct tm utc = {0};
    long above_ns = timestamp_split(unix_ns, &utc);

    snprintf(text, size, "%04d-%02d-%02dT%02d:%02d:%02d.%09ldZ", utc.tm_year + 1900, utc.tm_mon + 1,
             utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec, above_ns);
}

void timestamp_day(char *text, size_t size, int64_t unix_ns)
{
    struct tm utc = {0};

    timestamp_split(unix_ns, &utc);
    snprintf(text, size, "%04d-%02d-%02d", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday);
}

/* Read a digit for each '0' of the mask. Other characters of the mask must match. */
static const char *read_mask(const char *text, const char *mask, int *numbers)
{
    for (; *mask; mask++, text++) {
        if (*mask != '0') {
            if (*text != *mask) {
                return NULL;
            }
            numbers++;
        } else if (*text >= '0' && *text <= '9') {
            *numbers = *numbers * 10 + (*text - '0');
        } else {
            return NULL;
        }
    }
    return text;
}

/* @return whether there is such a time */
static bool seconds_of(const int numbers[6], time_t *seconds)
{
    struct tm utc = {.tm_year = numbers[0] - 1900,
                     .tm_mon = numbers[1] - 1,
                     .tm_mday = numbers[2],
                     .tm_hour = numbers[3],
                     .tm_min = numbers[4],
                     .tm_sec = numbers[5]};
    struct tm given = utc;

    *seconds = timegm(&utc); /* it normalizes a day or time that does not exist */
    return utc.tm_mon == given.tm_mon && utc.tm_mday == given.tm_mday &&
           utc.tm_hour == given.tm_hour && utc.tm_min == given.tm_min && utc.tm_sec == given.tm_sec;
}

static int timestamp_join(int64_t seconds, int64_t above_ns, int64_t *unix_ns)
{
    int64_t product_ns, sum_ns;

    if (seconds < 0) {
        seconds++;
        above_ns -= NS_PER_S;
    }
    if (__builtin_mul_overflow(seconds, NS_PER_S, &product_ns) ||
        __builtin_add_overflow(product_ns, above_ns, &sum_ns)) {
        return -1;
    }
    *unix_ns = sum_ns;
    return 0;
}

int timestamp_parse(const char *text, int64_t *unix_ns)
{
    int numbers[6] = {0};
    time_t seconds;
    uint64_t above_ns = 0;
    const char *point = read_mask(text, "0000-00-00T00:00:00", numbers), *rest = point;

    if (point && *point == '.') {
        rest = text_billionths(point + 1, &above_ns);
    }
    if (!rest || rest - point > 10 || strcmp(rest, "Z") != 0 || !seconds_of(numbers, &seconds)) {
        errno = EINVAL;
        return -1;
    }
    if (timestamp_join(seconds, (int64_t)above_ns, unix_ns) < 0) {
        errno = ERANGE;
        return -1;
    }
    return 0;
}
