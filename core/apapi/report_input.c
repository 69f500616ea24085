/* SPDX-License-Identifier: BSD-3-Clause */
#include "apapi/report_input.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apapi/command.h"
#include "config/values.h"

/* One word of the list of jobs. */
struct wish {
    uint32_t job;
    char kind;     /* '\0', '_' of an array, '+' of a heterogeneous job */
    uint32_t part; /* behind it; APAPI_UNKNOWN: any */
    char step[32]; /* "": any */
};

struct reading {
    const struct report_input *input;
    struct wish *wishes;
    uint32_t *jobs; /* of the wishes that name one */
    size_t count;
    bool plain;      /* all of them do */
    size_t timeless; /* records that end beyond all time */
    apapi_scan_f take;
    void *context;
};

static bool take_number(const char **text, uint32_t *number)
{
    size_t digits = strspn(*text, "0123456789");
    unsigned long long value = strtoull(*text, NULL, 10);

    if (digits == 0 || digits > 10 || value >= APAPI_UNKNOWN) {
        return false;
    }
    *number = (uint32_t)value;
    *text += digits;
    return true;
}

static bool take_part(const char **text, struct wish *wish)
{
    if (**text != '_' && **text != '+') {
        return true;
    }
    wish->kind = *(*text)++;
    if (**text == '*') {
        ++*text;
        return true;
    }
    return take_number(text, &wish->part);
}

static bool parse_wish(const char *text, struct wish *wish)
{
    *wish = (struct wish){.part = APAPI_UNKNOWN};
    if (!take_number(&text, &wish->job) || !take_part(&text, wish)) {
        return false;
    }
    if (*text == '.' && text[1] && strlen(text + 1) < sizeof wish->step) {
        snprintf(wish->step, sizeof wish->step, "%s", text + 1);
        return true;
    }
    return *text == '\0';
}

static int parse_jobs(struct reading *reading, struct apapi_error *err)
{
    const char *list = reading->input->jobs ? reading->input->jobs : "";
    char *copy = strdup(list), *rest = copy, *word;

    reading->plain = true;
    reading->wishes = calloc(strlen(list) + 1, sizeof *reading->wishes);
    reading->jobs = calloc(strlen(list) + 1, sizeof *reading->jobs);
    if (!copy || !reading->wishes || !reading->jobs) {
        free(copy);
        return apapi_fail(err, ENOMEM, "no memory");
    }
    while (reading->input->jobs && (word = strsep(&rest, ","))) {
        struct wish *wish = &reading->wishes[reading->count];

        if (!parse_wish(word, wish)) {
            apapi_fail(err, EINVAL,
                       "'%.60s' is no job; write it as 17, 17.0, 17.batch, 17_3, 17_* or 17+1",
                       word);
            free(copy);
            return -1;
        }
        reading->plain = reading->plain && !wish->kind;
        reading->jobs[reading->count++] = wish->job;
    }
    free(copy);
    return 0;
}

static bool fits(const struct wish *wish, const struct apapi_identity *id)
{
    uint32_t job = id->job, part = APAPI_UNKNOWN;

    if (wish->kind) {
        job = wish->kind == '_' ? id->array_job : id->het_job;
        part = wish->kind == '_' ? id->array_task : id->het_offset;
    }
    return job == wish->job && (wish->part == APAPI_UNKNOWN || wish->part == part) &&
           (!*wish->step || strcmp(wish->step, id->step) == 0);
}

static bool is_wished(const struct reading *reading, const struct apapi_identity *id)
{
    for (size_t i = 0; i < reading->count; i++) {
        if (fits(&reading->wishes[i], id)) {
            return true;
        }
    }
    return reading->count == 0;
}

static bool is_in(const char *list, const char *name)
{
    return !list || (*name && config_names_have(list, name));
}

/* Its end fits into 64 bits. */
static bool has_time(const struct apapi_measurement *m)
{
    return m->start_unix_ns >= 0 && m->elapsed_ns <= (uint64_t)(INT64_MAX - m->start_unix_ns);
}

static int sift(const struct apapi_record *record, const char *line, size_t size, void *context)
{
    struct reading *reading = context;
    const struct report_input *input = reading->input;

    if (!has_time(&record->measurement)) {
        reading->timeless++;
        return 0;
    }

    if (!is_wished(reading, &record->id) || !is_in(input->users, record->id.user) ||
        !is_in(input->accounts, record->id.account) ||
        !is_in(input->partitions, record->id.partition)) {
        return 0;
    }
    return reading->take(record, line, size, reading->context);
}

static void tell_problem(const struct apapi_scan_problem *problem, void *context)
{
    const struct reading *reading = context;

    if (!reading->input->verbose) {
        return;
    }
    fprintf(stderr, "apapi %s: %s:", reading->input->command, problem->file);
    if (problem->line > 0) {
        fprintf(stderr, "%zu:", problem->line);
    }
    fprintf(stderr, " %s\n", problem->reason);
}

/* What the reader may leave out before it decodes. */
static const char *single(const char *list)
{
    return list && !strchr(list, ',') ? list : NULL;
}

static struct apapi_scan *open_scan(struct reading *reading, struct apapi_error *err)
{
    const struct report_input *input = reading->input;
    const struct apapi_scan_sink sink = {
        .record = sift, .problem = tell_problem, .context = reading};
    const struct apapi_scan_filter filter = {.from_unix_ns = input->from_ns,
                                             .to_unix_ns = input->to_ns,
                                             .jobs = reading->jobs,
                                             .job_count = reading->plain ? reading->count : 0,
                                             .user = single(input->users),
                                             .account = single(input->accounts),
                                             .partition = single(input->partitions),
                                             .nodes = input->nodes};

    return apapi_scan_create(&filter, &sink, err);
}

static int scan_all(struct apapi_scan *scan, const struct report_input *input,
                    struct apapi_error *err)
{
    if (input->file_count == 0) {
        return apapi_scan_folder(scan, input->dir, err);
    }
    for (size_t i = 0; i < input->file_count; i++) {
        const char *file = input->files[i];

        if (strcmp(file, "-") == 0 ? apapi_scan_stream(scan, STDIN_FILENO, "standard input", err)
                                   : apapi_scan_file(scan, file, err)) {
            return -1;
        }
    }
    return 0;
}

/* What was not read, in one line each. */
static size_t conclude(const struct reading *reading, const struct apapi_scan_counts *counts)
{
    const struct report_input *input = reading->input;
    size_t skipped = counts->skipped + reading->timeless;
    const char *hint = input->verbose ? "" : " (-v shows them)";

    if (skipped > 0) {
        fprintf(stderr, "apapi %s: %zu line%s skipped%s\n", input->command, skipped,
                skipped == 1 ? "" : "s", hint);
    }
    if (counts->unreadable > 0) {
        fprintf(stderr, "apapi %s: %zu file%s or folders cannot be read%s\n", input->command,
                counts->unreadable, counts->unreadable == 1 ? "" : "s", hint);
    }
    return skipped + counts->unreadable;
}

static int read_all(struct reading *reading, size_t *left_out, struct apapi_error *err)
{
    const struct report_input *input = reading->input;
    struct apapi_scan *scan = NULL;
    int status = EXIT_SUCCESS;

    if (parse_jobs(reading, err) || !(scan = open_scan(reading, err))) {
        return errno == EINVAL ? command_refuse(input->command, err->text)
                               : command_fail(input->command, err->text);
    }
    if (scan_all(scan, input, err)) {
        status = command_fail(input->command, *err->text ? err->text : strerror(errno));
    } else {
        *left_out = conclude(reading, apapi_scan_counts(scan));
    }
    apapi_scan_destroy(scan);
    return status;
}

int report_input_read(const struct report_input *input, apapi_scan_f take, void *context,
                      size_t *left_out)
{
    struct reading reading = {.input = input, .take = take, .context = context};
    struct apapi_error err;
    int status = read_all(&reading, left_out, &err);

    free(reading.wishes);
    free(reading.jobs);
    return status;
}
