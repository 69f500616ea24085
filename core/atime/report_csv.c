/* SPDX-License-Identifier: BSD-3-Clause */
/* One table for everything: a line for each number of the program, each domain and each event. */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/wait.h>

#include "atime/report.h"

static const char header[] =
    "run,row,name,domain,kind,unit,total,uncertainty_j,rate_unit,min,mean,p95,max,covered_s,"
    "samples,failed,wraps,resets,refused,gaps,stalls,source\n";

/* One line. Texts may be "", numbers NaN. */
struct line {
    size_t run; /* from 1 */
    const char *row;
    const char *name;
    const char *domain;
    const char *kind;
    const char *unit; /* of `total` */
    double total;
    double uncertainty_j;
    const char *rate_unit; /* of what follows */
    struct apapi_summary summary;
    double covered_s;
    const struct apapi_incidents *incidents; /* NULL: not known */
    const char *source;
};

static const struct line blank = {.domain = "",
                                  .kind = "",
                                  .unit = "",
                                  .total = NAN,
                                  .uncertainty_j = NAN,
                                  .rate_unit = "",
                                  .summary = {NAN, NAN, NAN, NAN},
                                  .covered_s = NAN,
                                  .source = ""};

/* Each field but the first begins with the comma before it. */
static void put_text(FILE *out, const char *text)
{
    bool quoted = text[strcspn(text, ",\"\r\n")] != '\0';

    fputs(quoted ? ",\"" : ",", out);
    for (; *text; text++) {
        if (*text == '"') {
            fputc('"', out);
        }
        fputc(*text, out);
    }
    if (quoted) {
        fputc('"', out);
    }
}

/* Nothing where it is not known. */
static void put_number(FILE *out, double number)
{
    fputc(',', out);
    if (isfinite(number)) {
        fprintf(out, "%.9g", number);
    }
}

static void put_incidents(FILE *out, const struct apapi_incidents *n)
{
    if (!n) {
        fputs(",,,,,,,", out);
        return;
    }
    fprintf(out,
            ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64,
            n->samples, n->failed, n->wraps, n->resets, n->refused, n->gaps, n->stalls);
}

static void put_line(FILE *out, const struct line *line)
{
    fprintf(out, "%zu", line->run);
    put_text(out, line->row);
    put_text(out, line->name);
    put_text(out, line->domain);
    put_text(out, line->kind);
    put_text(out, line->unit);
    put_number(out, line->total);
    put_number(out, line->uncertainty_j);
    put_text(out, line->rate_unit);
    put_number(out, line->summary.min);
    put_number(out, line->summary.mean);
    put_number(out, line->summary.p95);
    put_number(out, line->summary.max);
    put_number(out, line->covered_s);
    put_incidents(out, line->incidents);
    put_text(out, line->source);
    fputc('\n', out);
}

static void put_program(FILE *out, size_t run, const char *name, const char *unit, double number)
{
    struct line line = blank;

    line.run = run;
    line.row = "program";
    line.name = name;
    line.unit = unit;
    line.total = number;
    put_line(out, &line);
}

static void put_programs(FILE *out, const struct report *report, size_t index)
{
    const struct run *run = &report->runs[index];
    const struct child_end *end = &run->end;
    bool killed = WIFSIGNALED(end->status);

    put_program(out, index + 1, "elapsed", "s", run_elapsed_s(run, APAPI_DOMAIN_NONE));
    if (!report->program) {
        return;
    }
    put_program(out, index + 1, "user", "s", child_user_s(end));
    put_program(out, index + 1, "system", "s", child_system_s(end));
    put_program(out, index + 1, "max_rss", "B", (double)child_peak_bytes(end));
    put_program(out, index + 1, killed ? "signal" : "exit_status", "",
                killed ? WTERMSIG(end->status) : WEXITSTATUS(end->status));
}

static void put_domain(FILE *out, const struct line *common, enum apapi_domain domain,
                       const struct apapi_domain_result *result)
{
    struct line line = *common;

    line.row = "domain";
    line.name = apapi_domain_name(domain);
    line.domain = line.name;
    line.kind = "energy";
    line.unit = "J";
    line.total = result->energy_j;
    line.uncertainty_j = result->uncertainty_j;
    line.rate_unit = "W";
    line.summary = result->power_w;
    put_line(out, &line);
}

static void put_domains(FILE *out, const struct line *common, const struct apapi_measurement *m)
{
    struct line line = *common;

    for (int domain = APAPI_DOMAIN_NONE + 1; domain < APAPI_DOMAINS; domain++) {
        if (m->domains[domain].measured) {
            put_domain(out, common, domain, &m->domains[domain]);
        }
    }
    line.row = "total";
    line.name = "total";
    line.kind = "energy";
    line.unit = "J";
    line.total = apapi_measurement_total_j(m);
    line.uncertainty_j = apapi_record_uncertainty_j(m);
    line.rate_unit = "W";
    line.summary.mean = apapi_measurement_total_w(m);
    line.covered_s = m->covered * (double)(m->late_ns + m->elapsed_ns) / 1e9;
    if (isfinite(line.total) || isfinite(line.summary.mean)) {
        put_line(out, &line);
    }
}

static void put_value(FILE *out, const struct line *common, const char *row,
                      const struct apapi_value_result *value)
{
    struct line line = *common;

    if (!value->shown) {
        return;
    }
    line.row = row;
    line.kind = value->type;
    line.unit = value->unit;
    line.rate_unit = value->unit;
    line.total = value->shown & APAPI_SHOW_ACC ? value->acc : NAN;
    line.summary.min = value->shown & APAPI_SHOW_MIN ? value->min : NAN;
    line.summary.mean = value->shown & APAPI_SHOW_AVG ? value->avg : NAN;
    line.summary.max = value->shown & APAPI_SHOW_MAX ? value->max : NAN;
    put_line(out, &line);
}

static bool is_power(const struct apapi_event *event)
{
    return event->kind == APAPI_KIND_POWER || event->kind == APAPI_KIND_ENERGY;
}

static void put_event(FILE *out, const struct line *common, const struct apapi_event_result *result)
{
    const struct apapi_event *event = &result->event;
    char rate_unit[APAPI_UNIT_SIZE + 2];
    struct line names = *common;
    struct line line;

    snprintf(rate_unit, sizeof rate_unit, "%s%s", event->unit, event->accumulates ? "/s" : "");
    names.name = event->name;
    names.domain = event->domain == APAPI_DOMAIN_NONE ? "" : apapi_domain_name(event->domain);
    line = names;
    line.row = "event";
    line.kind = apapi_kind_name(event->kind);
    line.unit = event->kind == APAPI_KIND_POWER ? "J" : event->unit;
    line.total = result->total;
    line.uncertainty_j = result->uncertainty_j;
    line.rate_unit = is_power(event) ? "W" : rate_unit;
    line.summary = result->summary;
    line.covered_s = (double)result->covered_ns / 1e9;
    line.incidents = &result->incidents;
    put_line(out, &line);
    put_value(out, &names, "value0", &result->values[0]);
    put_value(out, &names, "value1", &result->values[1]);
}

static void put_run(FILE *out, const struct report *report, size_t index)
{
    const struct apapi_measurement *m = &report->runs[index].record.measurement;
    struct line common = blank;

    common.run = index + 1;
    put_programs(out, report, index);
    put_domains(out, &common, m);
    for (size_t i = 0; i < m->component_count; i++) {
        common.source = m->components[i].source;
        for (size_t k = 0; k < m->components[i].event_count; k++) {
            put_event(out, &common, &m->components[i].events[k]);
        }
    }
}

int report_csv(FILE *out, const struct report *report, struct apapi_error *err)
{
    (void)err;
    fputs(header, out);
    for (size_t i = 0; i < report->count; i++) {
        put_run(out, report, i);
    }
    return 0;
}
