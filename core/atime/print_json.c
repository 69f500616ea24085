/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "atime/print.h"
#include "base/count_of.h"
#include "base/text.h"

#define DIGITS_WRITTEN 15
#define FORM (JSON_COMPACT | JSON_REAL_PRECISION(DIGITS_WRITTEN))

enum outcome { WRITTEN = 0, OUT_OF_MEMORY = -1 };

static int print_json_put(json_t *object, const char *key, json_t *value)
{
    return json_object_set_new(object, key, value) < 0 ? OUT_OF_MEMORY : WRITTEN;
}

/* Nine significant digits, as in a record; an unknown number has no key. */
static int print_json_put_number(json_t *object, const char *key, double value)
{
    char digits[32];

    if (!isfinite(value)) {
        return WRITTEN;
    }
    snprintf(digits, sizeof digits, "%.9g", value);
    return print_json_put(object, key, json_real(strtod(digits, NULL)));
}

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
    int rc = print_json_put(program, "command", command);

    for (; *argv && rc == WRITTEN; argv++) {
        rc = json_array_append_new(command, text(*argv)) < 0 ? OUT_OF_MEMORY : WRITTEN;
    }
    return rc;
}

static int print_json_put_end(json_t *program, const struct child_end *end)
{
    bool killed = WIFSIGNALED(end->status);
    int number = killed ? WTERMSIG(end->status) : WEXITSTATUS(end->status);

    if (print_json_put_number(program, "user_s", child_user_s(end)) < 0 ||
        print_json_put_number(program, "system_s", child_system_s(end)) < 0 ||
        print_json_put(program, "max_rss_bytes", json_integer((json_int_t)child_peak_bytes(end))) <
            0) {
        return OUT_OF_MEMORY;
    }
    return print_json_put(program, killed ? "signal" : "exit_status", json_integer(number));
}

static int print_json_put_program(json_t *root, const struct report *report, const struct run *run)
{
    json_t *program = json_object();
    int rc = print_json_put(root, "program", program);

    if (rc == WRITTEN && report->program) {
        rc = put_command(program, report->program);
    } else if (rc == WRITTEN) {
        rc = print_json_put(program, "pid", json_integer(report->pid));
    }
    if (rc == WRITTEN) {
        rc = print_json_put_number(program, "elapsed_s", run_elapsed_s(run, APAPI_DOMAIN_NONE));
    }
    return rc == WRITTEN && report->program ? print_json_put_end(program, &run->end) : rc;
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

    if (print_json_put(object, "type", text(value->type)) < 0 ||
        print_json_put(object, "unit", text(value->unit)) < 0) {
        return OUT_OF_MEMORY;
    }
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        if (value->shown & numbers[i].shown &&
            print_json_put_number(object, numbers[i].key, numbers[i].number) < 0) {
            return OUT_OF_MEMORY;
        }
    }
    return WRITTEN;
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
        if (print_json_put(event, keys[i], object) < 0 ||
            print_json_put_statistics(object, &result->values[i]) < 0) {
            return OUT_OF_MEMORY;
        }
    }
    return WRITTEN;
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
                return OUT_OF_MEMORY;
            }
        }
    }
    return WRITTEN;
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
        return WRITTEN;
    }
    inner = json_object();
    if (print_json_put(object, key, inner) < 0 ||
        print_json_put_number(inner, "mean", spread.mean) < 0) {
        return OUT_OF_MEMORY;
    }
    return print_json_put_number(inner, "sd", spread.sd);
}

static int print_json_put_domain(json_t *object, const char *key, const struct report *report,
                                 enum apapi_domain domain)
{
    json_t *inner;

    if (!report_has_domain(report, domain)) {
        return WRITTEN;
    }
    inner = json_object();
    if (print_json_put(object, key, inner) < 0 ||
        print_json_put_spread(inner, "energy_j", report_spread(report, run_energy_j, domain)) < 0) {
        return OUT_OF_MEMORY;
    }
    return print_json_put_spread(inner, "mean_w", report_spread(report, run_mean_w, domain));
}

static int print_json_put_domains(json_t *statistics, const struct report *report)
{
    json_t *domains = json_object();
    int rc = print_json_put(statistics, "domains", domains);

    for (int i = APAPI_DOMAIN_NONE + 1; i < APAPI_DOMAINS && rc == WRITTEN; i++) {
        rc = print_json_put_domain(domains, apapi_domain_name(i), report, i);
    }
    return rc == WRITTEN ? print_json_put_domain(statistics, "total", report, APAPI_DOMAIN_NONE)
                         : rc;
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
            return OUT_OF_MEMORY;
        }
    }
    return WRITTEN;
}

static int put_runs(json_t *root, const struct report *report)
{
    json_t *runs = json_array();
    json_t *statistics = json_object();

    if (print_json_put(root, "apapi", json_integer(APAPI_RECORD_VERSION)) < 0 ||
        print_json_put(root, "runs", runs) < 0 ||
        print_json_put(root, "statistics", statistics) < 0) {
        return OUT_OF_MEMORY;
    }
    for (size_t i = 0; i < report->count; i++) {
        if (json_array_append_new(runs, encode_run(report, &report->runs[i])) < 0) {
            return OUT_OF_MEMORY;
        }
    }
    return print_json_put_times(statistics, report) < 0
               ? OUT_OF_MEMORY
               : print_json_put_domains(statistics, report);
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

int report_json(FILE *out, const struct report *report, struct apapi_error *err)
{
    json_t *root = report->runs_wanted > 1 ? encode_runs(report) : encode_run(report, report->runs);
    char *line = root ? json_dumps(root, FORM) : NULL;

    json_decref(root);
    if (!line) {
        return apapi_fail(err, ENOMEM, "no memory");
    }
    fprintf(out, "%s\n", line);
    free(line);
    return 0;
}
