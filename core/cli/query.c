/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/query.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/text.h"
#include "cli/command.h"

const struct option_row query_filter_rows[] = {
    {'M', "clusters", "=CLUSTER,...", "  ", TO_WORDS(struct query, wanted.cluster)},
    {'u', "user", "=USER|UID,...", "  ", TO_WORDS(struct query, wanted.user)},
    {'N', "nodelist", "=NODES", "", TO_WORDS(struct query, wanted.nodes)},
    {'A', "accounts", "=ACCOUNT,...", "  ", TO_WORDS(struct query, wanted.account)},
    {'r', "partition", "=PARTITION,...", "  ", TO_WORDS(struct query, wanted.partition)},
    {0, "name", "=JOBNAME,...", "", TO_WORDS(struct query, job_names)},
    {'S', "starttime", "=TIME", ", ", TO_TEXT(struct query, from)},
    {'E', "endtime", "=TIME", "records that ended in this time", TO_TEXT(struct query, to)},
    {0}};

const struct option_row query_source_rows[] = {
    {0, "acct-dir", "=DIR", "accounting folder, instead of acct_dir in apapi.conf",
     TO_TEXT(struct query, dir)},
    {0, "db", "=URL", "a database that apapi import has filled, instead of files",
     TO_TEXT(struct query, db)},
    {0, "no-index", NULL, "read each line, also of many", TO_FLAG(struct query, no_index)},
    {0, "strict", NULL, "exit status 1 if a line is skipped", TO_FLAG(struct query, strict)},
    {'v', "verbose", NULL, "show which lines are skipped, and why", TO_FLAG(struct query, verbose)},
    {0}};

/* --- points in time ------------------------------------------------------------------------- */

#define LATEST_S INT64_C(9223372036) /* as int64_t [ns] */
#define DIGITS_MAX 9

/* Read a text like strptime(), but without blanks and with all digits of the form. `date` is left
 * alone if the text is of another form. @return the rest of the text; NULL: another form */
static const char *read_form(const char *text, const char *form, struct tm *date)
{
    struct tm read = *date;
    const char *rest = strptime(text, form, &read);
    char again[32];
    size_t size = 0;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral" /* all forms are in tables below */
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
    int later;
    const char *rest = when_read_word(text, words, &later);

    if (rest) {
        date->tm_mday += later;
        timegm(date); /* makes a date of day 0 or 32, without regard to time zones */
        date->tm_isdst = -1;
    }
    return rest;
}

/* Read a date. `date` is today's at first, and stays so if the text has none. As in sacct, a month
 * in the future is one of last year, and a year of two digits is of this century. */
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

/* Parse a date, a time of today, or both. */
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

/* @param bare_s  length of the unit if the text names none [s]; 0: the text must name a unit */
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

/* Parse "now", "now-1hour" and "now+30" [s]; "1h" is short for "now-1h". */
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

/* --- lists of jobs -------------------------------------------------------------------------- */

static bool jobs_take_number(const char **text, uint32_t *number)
{
    uint64_t value = 0;
    const char *end = text_digits(*text, APAPI_UNKNOWN - 1, &value);

    *number = (uint32_t)value;
    *text = end ? end : *text;
    return end != NULL;
}

static bool parse_request(const char *text, struct job_request *request)
{
    *request = (struct job_request){.part = APAPI_UNKNOWN};
    if (!jobs_take_number(&text, &request->job) || request->job == 0) {
        return false;
    }
    if (*text == '_' || *text == '+') {
        request->kind = *text++;
        if (*text == '*') {
            text++;
        } else if (!jobs_take_number(&text, &request->part)) {
            return false;
        }
    }
    /* "0+1" is sacct's name of a component of a step; records do not know these */
    if (*text == '.' && text[1] && !strchr(text, '+') && strlen(text + 1) < sizeof request->step) {
        snprintf(request->step, sizeof request->step, "%s", text + 1);
        return true;
    }
    return *text == '\0';
}

/* @param text  NULL: any job. @return 0; -1 with errno EINVAL, ENOMEM. Free the list then, too. */
static int job_list_parse(const char *text, struct job_list *list, struct apapi_error *err)
{
    size_t length = text ? strlen(text) : 0;
    char *copy = text ? strdup(text) : NULL, *rest = copy, *word;
    int result = 0;

    *list = (struct job_list){0};
    if (!text) {
        return 0;
    }
    list->requests = calloc(length + 1, sizeof *list->requests);
    list->jobs = calloc(length + 1, sizeof *list->jobs);
    if (!list->requests || !list->jobs || !copy) {
        free(copy);
        return apapi_fail(err, ENOMEM, "no memory");
    }
    while (result == 0 && (word = strsep(&rest, ","))) {
        struct job_request *request = &list->requests[list->count];

        if (!parse_request(word, request)) {
            result = apapi_fail(
                err, EINVAL,
                "'%.60s' is not a job; write it as 17, 17.0, 17.batch, 17_3, 17_* or 17+1", word);
        }
        list->jobs[list->count++] = request->job;
    }
    free(copy);
    return result;
}

static void job_list_free(struct job_list *list)
{
    free(list->requests);
    free(list->jobs);
    *list = (struct job_list){0};
}

bool job_is_named(const char *word)
{
    struct job_list list;
    bool result = job_list_parse(word, &list, NULL) == 0;

    job_list_free(&list);
    return result;
}

/* As for sacct, the number of an array selects its tasks, and the number of a heterogeneous job its
 * components.
 */
static bool job_request_has(const struct job_request *request, const struct apapi_identity *id)
{
    bool array = request->kind != '+' && id->array_job == request->job;
    bool het = request->kind != '_' && id->het_job == request->job;
    uint32_t part = request->kind == '_' ? id->array_task : id->het_offset;

    return (array || het || (!request->kind && id->job == request->job)) &&
           (request->part == APAPI_UNKNOWN || request->part == part) &&
           (!*request->step || strcmp(request->step, id->step) == 0);
}

/* --- the query ------------------------------------------------------------------------------ */

static int parse_all(struct query *query, struct apapi_error *err)
{
    int64_t now_ns = clock_unix_ns();

    /* an empty list would select nothing: its shell variable may not have been set */
    for (const struct option_row *row = query_filter_rows; row->name; row++) {
        const char *list = *(char *const *)(const void *)((const char *)query + row->offset);

        if (row->kind == OPTION_WORDS && list != query->wanted.nodes && list && !*list) {
            return apapi_fail(err, EINVAL, "--%s: the list is empty", row->name);
        }
    }
    if (job_list_parse(query->jobs, &query->job_list, err) ||
        (query->from && when_parse(query->from, now_ns, &query->wanted.from_unix_ns, err)) ||
        (query->to && when_parse(query->to, now_ns, &query->wanted.to_unix_ns, err))) {
        return -1;
    }
    if (query->from && query->to && query->wanted.from_unix_ns >= query->wanted.to_unix_ns) {
        return apapi_fail(err, EINVAL, "-S is not before -E");
    }
    query->wanted.jobs = query->job_list.jobs;
    query->wanted.job_count = query->job_list.count;
    query->wanted.job_parts = true;
    return filter_init(&query->filter, &query->wanted, err);
}

int query_parse(struct query *query)
{
    struct apapi_error err;

    return !parse_all(query, &err) ? EXIT_SUCCESS
           : errno == EINVAL       ? command_refuse(query->command, "%s", err.text)
                                   : command_fail(query->command, "%s", err.text);
}

void query_free(struct query *query)
{
    job_list_free(&query->job_list);
    filter_free(&query->filter);
}

void query_words(struct query *query, char **words, size_t count, bool job)
{
    if (!query->jobs && count > 0 && job) {
        query->jobs = *words++;
        count--;
    }
    query->files = words;
    query->file_count = count;
}

static bool has_job(const struct job_list *list, const struct apapi_identity *id)
{
    bool found = list->count == 0;

    for (size_t i = 0; i < list->count && !found; i++) {
        found = job_request_has(&list->requests[i], id);
    }
    return found;
}

bool query_has(const struct query *query, const struct apapi_identity *id)
{
    return has_job(&query->job_list, id) && filter_wants_identity(&query->filter, id) &&
           (!query->job_names ||
            (*id->job_name && text_names_have(query->job_names, id->job_name)));
}
