/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/when.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/array.h"
#include "base/clock.h"

#define LATEST_S INT64_C(9223372036) /* as int64_t [ns] */
#define DIGITS_MAX 9

/* As strptime(), without blanks and with all digits. `date` stays as it is if the text is another
 * form. @return the rest; NULL */
static const char *read_form(const char *text, const char *form, struct tm *date)
{
    struct tm read = *date;
    const char *rest = strptime(text, form, &read);
    char again[32];
    size_t size = 0;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral" /* forms are of the tables below */
    size = rest ? strftime(again, sizeof again, form, &read) : 0;
#pragma GCC diagnostic pop
    if (size == 0 || size != (size_t)(rest - text) || strncasecmp(text, again, size) != 0) {
        return NULL;
    }
    *date = read;
    return rest;
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

/* `date` starts as today and stays so if there is none. As in sacct, a month in the future is last
 * year's, and a year of two digits is of this century. */
static const char *read_date(const char *text, struct tm *date)
{
    static const char *const forms[] = {"%Y-%m-%d", "%m/%d/%y", "%m.%d.%y", "%m%d%y",
                                        "%m/%d",    "%m.%d",    "%m%d"};
    const char *rest = read_day_word(text, date);
    int month = date->tm_mon;

    for (size_t i = 0; i < COUNT_OF(forms) && !rest; i++) {
        rest = read_form(text, forms[i], date);
        if (rest && !strpbrk(forms[i], "yY")) {
            date->tm_year -= date->tm_mon > month;
        } else if (rest && i > 0) {
            date->tm_year = 100 + date->tm_year % 100;
        }
    }
    return rest;
}

static const char *read_clock(const char *text, struct tm *date)
{
    static const struct word words[] = {{"midnight", 0}, {"elevenses", 11}, {"noon", 12},
                                        {"fika", 15},    {"teatime", 16},   {NULL, 0}};
    static const char *const forms[] = {"%I:%M:%S%p", "%I:%M%p", "%H:%M:%S", "%H:%M"};
    const char *rest = when_read_word(text, words, &date->tm_hour);

    for (size_t i = 0; i < COUNT_OF(forms) && !rest; i++) {
        rest = read_form(text, forms[i], date);
    }
    return rest;
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
    int unit_s = 0;

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
    *distance_s = (int64_t)strtoull(text, NULL, 10) * unit_s;
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
