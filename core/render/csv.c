/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/csv.h"

#include <inttypes.h>
#include <math.h>

#include "base/array.h"
#include "base/clock.h"
#include "record/record.h"
#include "render/regions.h"
#include "render/table.h"
#include "sum/members.h"

/* One line. A text may be "", a number NaN. */
struct line {
    const char *row;
    const char *name;
    const char *domain;
    const char *kind;
    const char *unit; /* of `total` */
    double total;
    double uncertainty_j;
    const char *rate_unit; /* of the columns of `summary` */
    struct apapi_summary summary;
    double covered_s;
    const struct apapi_incidents *incidents; /* NULL: not known */
    const char *source;
    bool estimated;
    double covered;
    double rest_j;
    uint32_t missing;
};

static const struct line blank = {.domain = "",
                                  .kind = "",
                                  .unit = "",
                                  .total = NAN,
                                  .uncertainty_j = NAN,
                                  .rate_unit = "",
                                  .summary = {NAN, NAN, NAN, NAN},
                                  .covered_s = NAN,
                                  .source = "",
                                  .covered = NAN,
                                  .rest_j = NAN};

/* Each field except the first starts with a comma. */
static void put_texts(FILE *out, const char *const *texts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        fputc(',', out);
        table_put_text(out, TABLE_CSV, texts[i]);
    }
}

/* Write numbers with nine digits. Nothing follows the comma of a number that is not known. */
static void put_numbers(FILE *out, const double *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        fprintf(out, isfinite(numbers[i]) ? ",%.9g" : ",", numbers[i]);
    }
}

static void csv_put_line(const struct csv *csv, const struct line *line)
{
    const struct apapi_incidents *n = line->incidents;
    const char *const texts[] = {line->row, line->name, line->domain, line->kind, line->unit};
    const double totals[] = {line->total, line->uncertainty_j};
    const double rates[] = {line->summary.min, line->summary.mean, line->summary.p95,
                            line->summary.max, line->covered_s};
    const double coverage[] = {line->covered > 0 ? line->covered : NAN,
                               line->rest_j > 0 ? line->rest_j : NAN};
    char missing[DOMAIN_LIST_SIZE];
    FILE *out = csv->out;

    domain_list_text(line->missing, " ", missing);
    table_put_text(out, TABLE_CSV, csv->leads[0]);
    put_texts(out, csv->leads + 1, csv->leads[1] != NULL);
    put_texts(out, texts, COUNT_OF(texts));
    put_numbers(out, totals, COUNT_OF(totals));
    put_texts(out, &line->rate_unit, 1);
    put_numbers(out, rates, COUNT_OF(rates));
    if (n) {
        fprintf(out,
                ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64,
                n->samples, n->failed, n->wraps, n->resets, n->refused, n->gaps, n->stalls);
    } else {
        fputs(",,,,,,,", out);
    }
    put_texts(out, &line->source, 1);
    fprintf(out, ",%d", line->estimated);
    put_numbers(out, coverage, COUNT_OF(coverage));
    put_texts(out, (const char *const[]){missing}, 1);
    fprintf(out, n ? ",%" PRIu64 "\n" : ",\n", n ? n->rough : 0);
}

void csv_put_number(const struct csv *csv, const char *row, const char *name, const char *unit,
                    double number)
{
    struct line line = blank;

    line.row = row;
    line.name = name;
    line.unit = unit;
    line.total = number;
    csv_put_line(csv, &line);
}

static void csv_put_domains(const struct csv *csv, const struct apapi_measurement *m)
{
    struct line line = blank;

    line.kind = "energy";
    line.unit = "J";
    line.rate_unit = "W";
    line.row = "domain";
    for (int domain = APAPI_DOMAIN_NONE + 1; domain < APAPI_DOMAINS; domain++) {
        const struct apapi_domain_result *result = &m->domains[domain];

        line.name = line.domain = apapi_domain_name(domain);
        line.total = result->energy_j;
        line.uncertainty_j = result->uncertainty_j;
        line.summary = result->power_w;
        line.covered = result->covered;
        line.rest_j = result->rest_j;
        if (result->measured) {
            csv_put_line(csv, &line);
        }
    }
    line.row = line.name = "total";
    line.domain = "";
    line.total = apapi_measurement_total_j(m);
    line.uncertainty_j = apapi_record_uncertainty_j(m);
    line.summary = blank.summary;
    line.summary.mean = apapi_measurement_total_w(m);
    line.covered_s = m->covered * (double)(m->late_ns + m->elapsed_ns) / 1e9;
    line.covered = coverage_of_total(m);
    line.rest_j = coverage_rest_j(m);
    line.missing = domain_list_adding_up(m->unknown_domains);
    if (isfinite(line.total) || isfinite(line.summary.mean)) {
        csv_put_line(csv, &line);
    }
}

static void put_value(const struct csv *csv, const struct line *common, const char *row,
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
    csv_put_line(csv, &line);
}

static void csv_put_event(const struct csv *csv, const struct line *common,
                          const struct apapi_event_result *result)
{
    const struct apapi_event *event = &result->event;
    char rate_unit[APAPI_UNIT_SIZE + 2];
    struct line names = *common;
    struct line line;

    snprintf(rate_unit, sizeof rate_unit, "%s%s", event->unit, event->accumulates ? "/s" : "");
    names.name = event->name;
    names.estimated = event->estimated;
    names.domain = event->domain == APAPI_DOMAIN_NONE ? "" : apapi_domain_name(event->domain);
    line = names;
    line.row = "event";
    line.kind = apapi_kind_name(event->kind);
    line.unit = event->kind == APAPI_KIND_POWER ? "J" : event->unit;
    line.total = result->total;
    line.uncertainty_j = result->uncertainty_j;
    line.rate_unit =
        event->kind == APAPI_KIND_POWER || event->kind == APAPI_KIND_ENERGY ? "W" : rate_unit;
    line.summary = result->summary;
    line.covered_s = (double)result->covered_ns / 1e9;
    line.incidents = &result->incidents;
    csv_put_line(csv, &line);
    put_value(csv, &names, "value0", &result->values[0]);
    put_value(csv, &names, "value1", &result->values[1]);
}

static void csv_put_crossings(const struct csv *csv, const struct apapi_record *record)
{
    for (size_t i = 0; i < record->crossing_count; i++) {
        struct line line = blank;

        line.row = "crossing";
        line.name = record->crossing[i].threshold;
        line.kind = record->crossing[i].action;
        line.unit = record->crossing[i].unit;
        line.total = record->crossing[i].value;
        line.covered_s =
            (double)(record->crossing[i].unix_ns - record->measurement.start_unix_ns) / 1e9;
        csv_put_line(csv, &line);
        if (crossing_is_last(record, i)) {
            csv_put_number(csv, "crossings", record->crossing[i].threshold, "",
                           (double)record->crossing[i].count);
        }
    }
}

/* Write the share; the column "kind" has the method. */
static void csv_put_share(const struct csv *csv, const struct apapi_share *share)
{
    struct line line = blank;

    if (!apapi_share_known(share)) {
        return;
    }
    line.row = "share";
    line.kind = share->method;
    line.unit = "J";
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        line.name = line.domain = apapi_domain_name(d);
        line.total = share->domains[d].energy_j;
        line.uncertainty_j = share->domains[d].uncertainty_j;
        if (!isnan(line.total)) {
            csv_put_line(csv, &line);
        }
    }
    line.name = "total";
    line.domain = "";
    line.total = apapi_share_energy_j(share);
    line.uncertainty_j = apapi_share_uncertainty_j(share);
    csv_put_line(csv, &line);
}

static void csv_put_regions(const struct csv *csv, const struct apapi_regions *regions)
{
    for (size_t i = 0; i < regions->count; i++) {
        const struct apapi_region_result *region = &regions->list[i];
        struct line line = blank;

        line.row = "region";
        line.name = table_region_label(region);
        line.kind = "energy";
        line.unit = "J";
        line.rate_unit = "W";
        line.covered_s = (double)region->time_ns / NS_PER_S; /* sum of the threads' times */
        line.source = apapi_region_method_name(region->method);
        line.total = apapi_region_energy_j(region);
        line.uncertainty_j = table_region_uncertainty_j(region);
        line.summary.mean = line.total / line.covered_s;
        csv_put_line(csv, &line);
        for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
            line.domain = apapi_domain_name(d);
            line.total = region->domains[d].energy_j;
            line.uncertainty_j = region->domains[d].uncertainty_j;
            line.summary.mean = region->domains[d].power_w;
            if (!isnan(line.total)) {
                csv_put_line(csv, &line);
            }
        }
    }
    for (size_t i = 0; i < regions->fom_count; i++) {
        const struct apapi_fom *fom = &regions->foms[i];

        csv_put_number(csv, "fom", fom->name, fom->unit, fom->value);
    }
}

void csv_put_record(const struct csv *csv, const struct apapi_record *record)
{
    const struct apapi_measurement *m = &record->measurement;
    struct line common = blank;

    csv_put_domains(csv, m);
    for (size_t i = 0; i < m->component_count; i++) {
        common.source = m->components[i].source;
        for (size_t k = 0; k < m->components[i].event_count; k++) {
            csv_put_event(csv, &common, &m->components[i].events[k]);
        }
    }
    csv_put_crossings(csv, record);
    csv_put_share(csv, &record->share);
    csv_put_regions(csv, &record->regions);
}
