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

static const char *read_clock(const char *text, struct tm *date)
{
    static const struct word words[] = {{"midnight", 0}, {"elevenses", 11}, {"noon", 12},
                                        {"fika", 15},    {"teatime", 16},   {NULL, 0}};
    static const struct word halves[] = {{"am", 0}, {"pm", 12}, {NULL, 0}};
    const char *rest = when_read_word(text, words, &date->tm_hour), *half;
    int later;

    if (rest) {
        return rest;
    }
    rest = read_part(when_read_number(text, 2, &date->tm_hour), ':', &date->tm_min);
    if (rest && *rest == ':') {
        rest = read_part(rest, ':', &date->tm_sec);
    }
    if (!rest || date->tm_hour > 23 || !(half = when_read_word(rest, halves, &later))) {
        return rest && date->tm_hour <= 23 ? rest : NULL;
    }
    if (date->tm_hour < 1 || date->tm_hour > 12) {
        return NULL;
    }
    date->tm_hour = date->tm_hour % 12 + later;
    return half;
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
    /* a day or second that does not exist is normalized to another one */
    return moment.tm_mon == given.tm_mon && moment.tm_min == given.tm_min &&
           moment.tm_sec == given.tm_sec && *seconds >= 0 && *seconds < LATEST_S;
}

/* @param bare_s  seconds of a number without a unit; 0: a unit is required */
static bool parse_distance(const char *text, int64_t bare_s, int64_t *distance_s)
{
    static const struct word units[] = {{"second", 1},  {"minute", 60},   {"hour", 3600},
                                        {"day", 86400}, {"week", 604800}, {NULL, 0}};
    size_t digits = strspn(text, "0123456789");
    const char *unit = text + digits, *rest;
    int number, unit_s = 0;

    rest = when_read_word(unit, units, &unit_s);
    if (rest && *rest && strcasecmp(rest, "s") != 0) { /* "minute", "minutes" */
        return false;
    }
    for (size_t i = 0; !rest && units[i].text && !unit_s; i++) {
        unit_s = *unit == *units[i].text && !unit[1] ? units[i].number : 0; /* "m" */
    }
    unit_s = *unit ? unit_s : (int)bare_s;
    if (digits == 0 || digits > DIGITS_MAX || unit_s == 0) {
        return false;
    }
    when_read_number(text, digits, &number);
    *distance_s = (int64_t)number * unit_s;
    return true;
}

/* now, now-1hour, now+30, and 1h for now-1h. */
static bool parse_relative(const char *text, int64_t now_s, int64_t *seconds)
{
    bool has_now = strncasecmp(text, "now", 3) == 0;
    char sign = has_now ? text[3] : '-';
    int64_t distance_s = 0;

    if (sign && ((sign != '+' && sign != '-') ||
                 !parse_distance(has_now ? text + 4 : text, has_now, &distance_s))) {
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
