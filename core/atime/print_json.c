/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "atime/print.h"
#include "atime/print_regions.h"
#include "atime/student.h"
#include "base/array.h"
#include "base/text.h"
#include "record/fields.h"
#include "render/regions.h"

#define FORM (JSON_COMPACT | JSON_REAL_PRECISION(FIELD_FIGURES))

/* As in a record; an unknown number has no key. */
static int print_json_put_number(json_t *object, const char *key, double value)
{
    return field_put_measured(object, key, value);
}

/* It may be longer than any text of a record. */
static json_t *text(const char *bytes)
{
    size_t size = strlen(bytes) + 1;
    char *valid = malloc(size);
    json_t *value = NULL;

    if (valid) {
        text_utf8(valid, size, bytes);
        value = json_string(valid);
    }
    free(valid);
    return value;
}

static int put_command(json_t *program, char *const argv[])
{
    json_t *command = json_array();
    int rc = field_put(program, "command", command);

    for (; *argv && rc == 0; argv++) {
        rc = json_array_append_new(command, text(*argv));
    }
    return rc;
}

static int print_json_put_end(json_t *program, const struct child_end *end)
{
    bool killed = WIFSIGNALED(end->status);
    int number = killed ? WTERMSIG(end->status) : WEXITSTATUS(end->status);

    if (print_json_put_number(program, "user_s", child_user_s(end)) < 0 ||
        print_json_put_number(program, "system_s", child_system_s(end)) < 0 ||
        field_put(program, "max_rss_bytes", json_integer((json_int_t)child_peak_bytes(end))) < 0) {
        return -1;
    }
    return field_put(program, killed ? "signal" : "exit_status", json_integer(number));
}

static int print_json_put_program(json_t *root, const struct report *report, const struct run *run)
{
    json_t *program = json_object();
    int rc = field_put(root, "program", program);

    if (rc == 0 && report->program) {
        rc = put_command(program, report->program);
    } else if (rc == 0) {
        rc = field_put(program, "pid", json_integer(report->pid));
    }
    if (rc == 0) {
        rc = print_json_put_number(program, "elapsed_s", run_elapsed_s(run, APAPI_DOMAIN_NONE));
    }
    return rc == 0 && report->program ? print_json_put_end(program, &run->end) : rc;
}

static int print_json_put_statistics(json_t *object, const struct apapi_value_result *value)
{
    const struct {
        enum apapi_shown shown;
        const char *key;
        double number;
    } numbers[] = {{APAPI_SHOW_MIN, "min", value->min},
                   {APAPI_SHOW_MAX, "max", value->max},
                   {APAPI_SHOW_AVG, "avg", value->avg},
                   {APAPI_SHOW_ACC, "acc", value->acc}};

    if (field_put(object, "type", text(value->type)) < 0 ||
        field_put(object, "unit", text(value->unit)) < 0) {
        return -1;
    }
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        if (value->shown & numbers[i].shown &&
            print_json_put_number(object, numbers[i].key, numbers[i].number) < 0) {
            return -1;
        }
    }
    return 0;
}

static int put_values(json_t *event, const struct apapi_event_result *result)
{
    static const char *const keys[] = {"value0", "value1"};

    for (size_t i = 0; i < 2; i++) {
        json_t *object;

        if (!result->values[i].shown) {
            continue;
        }
        object = json_object();
        if (field_put(event, keys[i], object) < 0 ||
            print_json_put_statistics(object, &result->values[i]) < 0) {
            return -1;
        }
    }
    return 0;
}

/*
 * The record has the events in the order of the measurement. Unmeasured components may lack them.
 */
static int put_all_values(json_t *root, const struct apapi_measurement *m)
{
    const json_t *components = json_object_get(root, "components");

    for (size_t i = 0; i < m->component_count; i++) {
        const json_t *events = json_object_get(json_array_get(components, i), "events");

        for (size_t k = 0; k < json_array_size(events); k++) {
            if (put_values(json_array_get(events, k), &m->components[i].events[k]) < 0) {
                return -1;
            }
        }
    }
    return 0;
}

static json_t *encode_run(const struct report *report, const struct run *run)
{
    char *line = NULL;
    json_t *root;

    if (apapi_record_encode_whole(&run->record, &line, NULL)) {
        return NULL;
    }
    root = json_loads(line, 0, NULL);
    free(line);
    if (root && (put_all_values(root, &run->record.measurement) < 0 ||
                 print_json_put_program(root, report, run) < 0)) {
        json_decref(root);
        return NULL;
    }
    return root;
}

static int print_json_put_spread(json_t *object, const char *key, struct spread spread)
{
    json_t *inner;

    if (spread.count == 0) {
        return 0;
    }
    inner = json_object();
    if (field_put(object, key, inner) < 0 ||
        print_json_put_number(inner, "mean", spread.mean) < 0) {
        return -1;
    }
    return print_json_put_number(inner, "sd", spread.sd) < 0
               ? -1
               : print_json_put_number(inner, "ci95", student_half_width(&spread));
}

static int print_json_put_domain(json_t *object, const char *key, const struct report *report,
                                 enum apapi_domain domain)
{
    json_t *inner;

    if (!report_has_domain(report, domain)) {
        return 0;
    }
    inner = json_object();
    if (field_put(object, key, inner) < 0 ||
        print_json_put_spread(inner, "energy_j", report_spread(report, run_energy_j, domain)) < 0) {
        return -1;
    }
    return print_json_put_spread(inner, "mean_w", report_spread(report, run_mean_w, domain));
}

static int print_json_put_domains(json_t *statistics, const struct report *report)
{
    json_t *domains = json_object();
    int rc = field_put(statistics, "domains", domains);

    for (int i = APAPI_DOMAIN_NONE + 1; i < APAPI_DOMAINS && rc == 0; i++) {
        rc = print_json_put_domain(domains, apapi_domain_name(i), report, i);
    }
    return rc == 0 ? print_json_put_domain(statistics, "total", report, APAPI_DOMAIN_NONE) : rc;
}

static int print_json_put_times(json_t *statistics, const struct report *report)
{
    static const struct {
        const char *key;
        run_value_f value;
    } times[] = {{"elapsed_s", run_elapsed_s}, {"user_s", run_user_s}, {"system_s", run_system_s}};

    for (size_t i = 0; i < COUNT_OF(times); i++) {
        if (print_json_put_spread(statistics, times[i].key,
                                  report_spread(report, times[i].value, APAPI_DOMAIN_NONE)) < 0) {
            return -1;
        }
    }
    return 0;
}

static int print_json_put_crossings(json_t *statistics, const struct report *report)
{
    struct runs_crossed rows[LIMITS_MAX];
    size_t count = runs_crossed(report, rows);
    json_t *list;
    int rc;

    if (count == 0) {
        return 0;
    }
    list = json_array();
    rc = field_put(statistics, "crossings", list);
    for (size_t i = 0; i < count && rc == 0; i++) {
        json_t *object = json_object();

        rc = json_array_append_new(list, object);
        if (rc == 0) {
            rc = field_put(object, "threshold", text(rows[i].threshold)) |
                 field_put(object, "runs", json_integer((json_int_t)rows[i].count.count)) |
                 print_json_put_spread(object, "count", rows[i].count) |
                 print_json_put_spread(object, "first_s", rows[i].first_s);
        }
    }
    return rc;
}

static json_t *print_json_region(const struct report *report,
                                 const struct apapi_region_result *region)
{
    const struct region_spread spread = report_region(report, region);
    json_t *object = json_object();

    if (object && field_put(object, "name", text(table_region_label(region))) == 0 &&
        print_json_put_spread(object, "time_s", spread.time_s) == 0 &&
        print_json_put_spread(object, "energy_j", spread.energy_j) == 0 &&
        print_json_put_spread(object, "mean_w", spread.mean_w) == 0) {
        return object;
    }
    json_decref(object);
    return NULL;
}

static int print_json_put_regions(json_t *statistics, const struct report *report)
{
    struct apapi_regions regions;
    int rc = report_regions(report, &regions);
    json_t *list = rc == 0 && regions.count > 0 ? json_array() : NULL;

    if (rc < 0) {
        return -1;
    }
    if (regions.count > 0) {
        rc = field_put(statistics, "regions", list);
    }
    for (size_t i = 0; i < regions.count && rc == 0; i++) {
        rc = json_array_append_new(list, print_json_region(report, &regions.list[i]));
    }
    apapi_regions_clear(&regions);
    return rc;
}

static int put_runs(json_t *root, const struct report *report)
{
    json_t *runs = json_array();
    json_t *statistics = json_object();

    if (field_put(root, "apapi", json_integer(APAPI_RECORD_VERSION)) < 0 ||
        field_put(root, "runs", runs) < 0 || field_put(root, "statistics", statistics) < 0) {
        return -1;
    }
    for (size_t i = 0; i < report->count; i++) {
        if (json_array_append_new(runs, encode_run(report, &report->runs[i])) < 0) {
            return -1;
        }
    }
    return print_json_put_times(statistics, report) < 0 ||
                   print_json_put_domains(statistics, report) < 0 ||
                   print_json_put_regions(statistics, report) < 0
               ? -1
               : print_json_put_crossings(statistics, report);
}

static json_t *encode_runs(const struct report *report)
{
    json_t *root = json_object();

    if (root && put_runs(root, report) < 0) {
        json_decref(root);
        return NULL;
    }
    return root;
}

static int print_json_line(FILE *out, json_t *root, struct apapi_error *err)
{
    char *line = root ? fields_dump(root, FORM) : NULL;

    json_decref(root);
    if (!line) {
        return apapi_fail(err, ENOMEM, "no memory");
    }
    fprintf(out, "%s\n", line);
    free(line);
    return 0;
}

int report_json(FILE *out, const struct report *report, struct apapi_error *err)
{
    json_t *root = report->runs_wanted > 1 ? encode_runs(report) : encode_run(report, report->runs);

    return print_json_line(out, root, err);
}

static int print_json_put_difference(json_t *object, const char *key, run_value_f value,
                                     const struct report reports[2])
{
    const struct spread one = report_spread(&reports[0], value, APAPI_DOMAIN_NONE);
    const struct spread other = report_spread(&reports[1], value, APAPI_DOMAIN_NONE);
    const struct difference difference = student_difference(&one, &other);
    json_t *inner;

    if (isnan(difference.mean)) {
        return 0;
    }
    inner = json_object();
    return field_put(object, key, inner) < 0 ||
                   print_json_put_number(inner, "mean", difference.mean) < 0 ||
                   print_json_put_number(inner, "ci95", difference.half_width) < 0 ||
                   print_json_put_number(inner, "p", difference.p) < 0
               ? -1
               : 0;
}

static int print_json_put_comparison(json_t *root, const struct report reports[2])
{
    json_t *programs = json_array(), *difference = json_object();

    if (field_put(root, "apapi", json_integer(APAPI_RECORD_VERSION)) < 0 ||
        field_put(root, "programs", programs) < 0 ||
        field_put(root, "difference", difference) < 0 ||
        json_array_append_new(programs, encode_runs(&reports[0])) < 0 ||
        json_array_append_new(programs, encode_runs(&reports[1])) < 0) {
        return -1;
    }
    return print_json_put_difference(difference, "energy_j", run_energy_j, reports) < 0 ||
                   print_json_put_difference(difference, "mean_w", run_mean_w, reports) < 0 ||
                   print_json_put_difference(difference, "elapsed_s", run_elapsed_s, reports) < 0
               ? -1
               : 0;
}

int compare_json(FILE *out, const struct report reports[2], struct apapi_error *err)
{
    json_t *root = json_object();

    if (root && print_json_put_comparison(root, reports) < 0) {
        json_decref(root);
        root = NULL;
    }
    return print_json_line(out, root, err);
}
