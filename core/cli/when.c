/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/when.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/array.h"
#include "base/clock.h"

#define LATEST_S INT64_C(9223372036) /* as int64_t [ns] */
#define DIGITS_MAX 9

/* Unlike strptime(), it accepts no blanks and no extra digits. */
static const char *when_read_number(const char *text, size_t digits, int *number)
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
    if (!text || (before && *text != before)) {
        return NULL;
    }
    return when_read_number(before ? text + 1 : text, 2, number);
}

struct word {
    const char *text;
    int number;
};

static const char *when_read_word(const char *text, const struct word *words, int *number)
{
    for (; words->text; words++) {
        size_t length = strlen(words->text);

        if (strncasecmp(text, words->text, length) == 0) {
            *number = words->number;
            return text + length;
        }
    }
    return NULL;
}

static const char *read_day_word(const char *text, struct tm *date)
{
    static const struct word words[] = {
        {"today", 0}, {"yesterday", -1}, {"tomorrow", 1}, {NULL, 0}};
    struct tm day = *date;
    int later;
    const char *rest = when_read_word(text, words, &later);

    if (rest) {
        day.tm_mday += later;
        timegm(&day); /* works for the first of a month in any time zone */
        date->tm_year = day.tm_year;
        date->tm_mon = day.tm_mon;
        date->tm_mday = day.tm_mday;
    }
    return rest;
}

static const char *read_iso_date(const char *text, struct tm *date)
{
    const char *rest = when_read_number(text, 4, &date->tm_year);

    rest = read_part(read_part(rest, '-', &date->tm_mon), '-', &date->tm_mday);
    date->tm_year -= 1900;
    date->tm_mon--;
    return rest;
}

/* MMDD[YY], separated by '/', '.' or nothing. As in sacct, a month in the future is last year's. */
static const char *read_american_date(const char *text, struct tm *date)
{
    int month = date->tm_mon;
    const char *rest = when_read_number(text, 2, &date->tm_mon);
    char between = rest && (*rest == '/' || *rest == '.') ? *rest : '\0';

    rest = read_part(rest, between, &date->tm_mday);
    date->tm_mon--;
    if (rest && (between ? *rest == between : *rest >= '0' && *rest <= '9')) {
        rest = read_part(rest, between, &date->tm_year);
        date->tm_year += 100;
    } else {
        date->tm_year -= date->tm_mon > month;
    }
    return rest;
}

/* Read a date. `date` starts as today and stays so if there is none. */
static const char *read_date(const char *text, struct tm *date)
{
    static const char *(*const readers[])(const char *, struct tm *) = {
        read_day_word, read_iso_date, read_american_date};
    struct tm today = *date;

    for (size_t i = 0; i < COUNT_OF(readers); i++) {
        const char *rest = readers[i](text, date);

        if (rest) {
            return rest;
        }
        *date = today;
    }
    return NULL;
}

static const char *read_half_of_day(const char *text, struct tm *date)
{
    static const struct word words[] = {{"am", 0}, {"pm", 12}, {NULL, 0}};
    int later;
    const char *rest = when_read_word(text, words, &later);

    if (!rest) {
        return text;
    }
    if (date->tm_hour < 1 || date->tm_hour > 12) {
        return NULL;
    }
    date->tm_hour = date->tm_hour % 12 + later;
    return rest;
}

static const char *read_clock(const char *text, struct tm *date)
{
    static const struct word words[] = {{"midnight", 0}, {"elevenses", 11}, {"noon", 12},
                                        {"fika", 15},    {"teatime", 16},   {NULL, 0}};
    const char *rest = when_read_word(text, words, &date->tm_hour);

    if (rest) {
        return rest;
    }
    rest = read_part(when_read_number(text, 2, &date->tm_hour), ':', &date->tm_min);
    if (rest && *rest == ':') {
        rest = read_part(rest, ':', &date->tm_sec);
    }
    return rest && date->tm_hour <= 23 ? read_half_of_day(rest, date) : NULL;
}

/* A day or second that does not exist is normalized to another one. */
static bool when_is_same(const struct tm *a, const struct tm *b)
{
    return a->tm_mon == b->tm_mon && a->tm_min == b->tm_min && a->tm_sec == b->tm_sec;
}

/* A date, a time of today, or both. */
static bool parse_moment(const char *text, int64_t now_s, int64_t *seconds)
{
    bool utc = *text && text[strlen(text) - 1] == 'Z';
    time_t now = now_s;
    struct tm given, moment;
    const char *rest;

    if (!(utc ? gmtime_r(&now, &given) : localtime_r(&now, &given))) {
        return false;
    }
    given.tm_hour = given.tm_min = given.tm_sec = 0;
    given.tm_isdst = -1;
    rest = read_date(text, &given);
    if (!rest) {
        rest = read_clock(text, &given);
    } else if (*rest == 'T' || *rest == '-') {
        rest = read_clock(rest + 1, &given);
    }
    if (!rest || strcmp(rest, utc ? "Z" : "") != 0) {
        return false;
    }
    moment = given;
    *seconds = utc ? timegm(&moment) : mktime(&moment);
    return when_is_same(&moment, &given) && *seconds >= 0 && *seconds < LATEST_S;
}

/* "m", "minute" and "minutes"; 0: unknown. */
static int64_t seconds_of_unit(const char *text)
{
    static const struct word units[] = {{"second", 1},  {"minute", 60},   {"hour", 3600},
                                        {"day", 86400}, {"week", 604800}, {NULL, 0}};
    int number;
    const char *rest = when_read_word(text, units, &number);

    if (rest) {
        return !*rest || strcasecmp(rest, "s") == 0 ? number : 0;
    }
    for (const struct word *unit = units; unit->text; unit++) {
        if (*text == *unit->text && !text[1]) {
            return unit->number;
        }
    }
    return 0;
}

/* @param bare_s  seconds of a number without a unit; 0: a unit is required */
static bool parse_distance(const char *text, int64_t bare_s, int64_t *distance_s)
{
    size_t digits = strspn(text, "0123456789");
    int64_t unit_s = text[digits] ? seconds_of_unit(text + digits) : bare_s;
    int number;

    if (digits == 0 || digits > DIGITS_MAX || unit_s == 0) {
        return false;
    }
    when_read_number(text, digits, &number);
    *distance_s = number * unit_s;
    return true;
}

/* now, now-1hour, now+30, and 1h for now-1h. */
static bool parse_relative(const char *text, int64_t now_s, int64_t *seconds)
{
    bool has_now = strncasecmp(text, "now", 3) == 0;
    char sign = has_now ? text[3] : '-';
    const char *distance = has_now ? text + 4 : text;
    int64_t distance_s = 0;

    if (sign && ((sign != '+' && sign != '-') || !parse_distance(distance, has_now, &distance_s))) {
        return false;
    }
    *seconds = sign == '+' ? now_s + distance_s : now_s - distance_s;
    return *seconds >= 0 && *seconds < LATEST_S;
}

int when_parse(const char *text, int64_t now_ns, int64_t *unix_ns, struct apapi_error *err)
{
    int64_t now_s = now_ns / NS_PER_S, seconds;

    if (!parse_relative(text, now_s, &seconds) && !parse_moment(text, now_s, &seconds)) {
        return apapi_fail(err, EINVAL, "'%.60s' is not a time; write it " WHEN_FORMS, text);
    }
    *unix_ns = seconds * NS_PER_S;
    return 0;
}
