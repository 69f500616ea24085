/* SPDX-License-Identifier: BSD-3-Clause */
#include "apapi/when.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#define NS_PER_S INT64_C(1000000000)
#define LATEST_S INT64_C(9223372036) /* as int64_t [ns] */
#define DIGITS_MAX 9

/* "2026-11-21" and what may follow; unlike strptime() it takes no blanks, and no more than asked.
 */
static const char *read_number(const char *text, size_t digits, int *number)
{
    *number = 0;
    for (size_t i = 0; i < digits; i++, text++) {
        if (*text < '0' || *text > '9') {
            return NULL;
        }
        *number = *number * 10 + (*text - '0');
    }
    return text;
}

static const char *read_part(const char *text, char before, int *number)
{
    return text && *text == before ? read_number(text + 1, 2, number) : NULL;
}

/* A day or a second that there is not comes back as another one. */
static bool is_same(const struct tm *a, const struct tm *b)
{
    return a->tm_mon == b->tm_mon && a->tm_min == b->tm_min && a->tm_sec == b->tm_sec;
}

static bool parse_date(const char *text, int64_t *seconds)
{
    struct tm wished = {.tm_isdst = -1}, moment;
    const char *rest = read_number(text, 4, &wished.tm_year);

    rest = read_part(read_part(rest, '-', &wished.tm_mon), '-', &wished.tm_mday);
    if (rest && *rest == 'T') {
        rest = read_part(read_part(rest, 'T', &wished.tm_hour), ':', &wished.tm_min);
        if (rest && *rest == ':') {
            rest = read_part(rest, ':', &wished.tm_sec);
        }
    }
    if (!rest || (*rest && strcmp(rest, "Z") != 0) || wished.tm_hour > 23) {
        return false;
    }
    wished.tm_year -= 1900;
    wished.tm_mon--;
    moment = wished;
    *seconds = *rest == 'Z' ? timegm(&moment) : mktime(&moment);
    return is_same(&moment, &wished) && *seconds >= 0 && *seconds < LATEST_S;
}

static bool parse_ago(const char *text, int64_t now_s, int64_t *seconds)
{
    static const struct {
        char unit;
        int64_t seconds;
    } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}, {'w', 604800}};
    size_t digits = strspn(text, "0123456789");
    int number;

    if (digits == 0 || digits > DIGITS_MAX || strlen(text) != digits + 1) {
        return false;
    }
    read_number(text, digits, &number);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (text[digits] == units[i].unit) {
            *seconds = now_s - number * units[i].seconds;
            return *seconds >= 0;
        }
    }
    return false;
}

static bool parse_word(const char *text, int64_t now_s, int64_t *seconds)
{
    time_t now = now_s;
    struct tm day;

    if (strcmp(text, "now") == 0) {
        *seconds = now_s;
        return true;
    }
    if (strcmp(text, "today") != 0 && strcmp(text, "yesterday") != 0) {
        return false;
    }
    localtime_r(&now, &day);
    day.tm_hour = day.tm_min = day.tm_sec = 0;
    day.tm_mday -= *text == 'y';
    day.tm_isdst = -1;
    *seconds = mktime(&day);
    return true;
}

int when_parse(const char *text, int64_t now_ns, int64_t *unix_ns, struct apapi_error *err)
{
    int64_t now_s = now_ns / NS_PER_S, seconds;

    if (!parse_word(text, now_s, &seconds) && !parse_ago(text, now_s, &seconds) &&
        !parse_date(text, &seconds)) {
        return apapi_fail(err, EINVAL, "'%.60s' is no time; write it " WHEN_FORMS, text);
    }
    *unix_ns = seconds * NS_PER_S;
    return 0;
}
