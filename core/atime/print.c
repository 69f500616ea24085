/* SPDX-License-Identifier: BSD-3-Clause */
/* What all formats of the report have in common. */
#include "atime/print.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "record/record.h"
#include "sum/members.h"

#define MORE_DECIMALS 3

double run_elapsed_s(const struct run *run, enum apapi_domain domain)
{
    (void)domain;
    return (double)run->end.elapsed_ns / 1e9;
}

double run_user_s(const struct run *run, enum apapi_domain domain)
{
    (void)domain;
    return child_user_s(&run->end);
}

double run_system_s(const struct run *run, enum apapi_domain domain)
{
    (void)domain;
    return child_system_s(&run->end);
}

double run_energy_j(const struct run *run, enum apapi_domain domain)
{
    const struct apapi_measurement *m = &run->record.measurement;

    if (domain == APAPI_DOMAIN_NONE) {
        return apapi_measurement_total_j(m);
    }
    return m->domains[domain].measured ? m->domains[domain].energy_j : NAN;
}

double run_mean_w(const struct run *run, enum apapi_domain domain)
{
    const struct apapi_measurement *m = &run->record.measurement;

    if (domain == APAPI_DOMAIN_NONE) {
        return apapi_measurement_total_w(m);
    }
    return m->domains[domain].measured ? m->domains[domain].power_w.mean : NAN;
}

static bool is_total(run_value_f value, enum apapi_domain domain)
{
    return domain == APAPI_DOMAIN_NONE && (value == run_energy_j || value == run_mean_w);
}

/* The domains of a total that this run lacks. */
static uint32_t unknown_to(const struct run *run)
{
    return domain_list_adding_up(run->record.measurement.unknown_domains);
}

/* The domains that a run has measured. */
static uint32_t known_to_any(const struct report *report)
{
    uint32_t known = 0;

    for (size_t i = 0; i < report->count; i++) {
        for (int d = 0; d < APAPI_DOMAINS; d++) {
            known |= report->runs[i].record.measurement.domains[d].measured ? domain_bit(d) : 0;
        }
    }
    return known;
}

uint32_t report_missing_domains(const struct report *report)
{
    uint32_t missing = 0;

    for (size_t i = 0; i < report->count; i++) {
        missing |= unknown_to(&report->runs[i]);
    }
    return missing & ~known_to_any(report);
}

double report_coverage(const struct report *report, enum apapi_domain domain)
{
    double least = NAN;

    for (size_t i = 0; i < report->count; i++) {
        const struct apapi_domain_result *one = &report->runs[i].record.measurement.domains[domain];

        least = one->measured && one->covered > 0 ? fmin(least, one->covered) : least;
    }
    return least;
}

void spread_add(struct spread_sum *sum, double value)
{
    double distance = value - sum->mean;

    sum->count++;
    sum->mean += distance / (double)sum->count;
    sum->squares += distance * (value - sum->mean);
}

struct spread spread_of(const struct spread_sum *sum)
{
    return (struct spread){sum->count, sum->count > 0 ? sum->mean : NAN,
                           sum->count > 1 ? sqrt(sum->squares / (double)(sum->count - 1)) : NAN};
}

/* Two digits of the standard deviation, if that needs at most three more than the mean has. */
static int print_decimals(const struct units_scale *scale, double sd)
{
    int wanted = sd > 0 ? 1 - (int)floor(log10(sd / scale->factor)) : 0;

    if (wanted > scale->decimals + MORE_DECIMALS) {
        return scale->decimals + MORE_DECIMALS;
    }
    return wanted > scale->decimals ? wanted : scale->decimals;
}

/* Both numbers in the scale of the mean. */
void print_spread(char *cell, size_t size, const struct spread *spread, const char *unit)
{
    struct units_scale scale = units_scale(spread->mean);
    char mean[UNITS_SIZE];
    char sd[UNITS_SIZE];

    if (spread->count == 0) {
        snprintf(cell, size, "-");
        return;
    }
    scale.decimals = print_decimals(&scale, spread->sd);
    units_number(mean, sizeof mean, spread->mean, &scale);
    units_number(sd, sizeof sd, spread->sd, &scale);
    if (isnan(spread->sd)) {
        snprintf(cell, size, "%s %s%s", mean, scale.prefix, unit);
    } else {
        snprintf(cell, size, "%s %s %s %s%s", mean, text_plus_minus(), sd, scale.prefix, unit);
    }
}

struct spread report_spread(const struct report *report, run_value_f value,
                            enum apapi_domain domain)
{
    uint32_t known = is_total(value, domain) ? known_to_any(report) : 0;
    struct spread_sum sum = {0};

    for (size_t i = 0; i < report->count; i++) {
        double one = value(&report->runs[i], domain);

        if (!isnan(one) && !(unknown_to(&report->runs[i]) & known)) {
            spread_add(&sum, one);
        }
    }
    return spread_of(&sum);
}

bool report_has_domain(const struct report *report, enum apapi_domain domain)
{
    return report_spread(report, run_energy_j, domain).count > 0 ||
           report_spread(report, run_mean_w, domain).count > 0;
}

/* --- thresholds that were crossed ------------------------------------------------------------- */

/* One threshold while runs are added. */
struct crossed_sum {
    struct spread_sum count, first_s;
};

static double crossed_at_s(const struct apapi_record *record, size_t index)
{
    return (double)(record->crossing[index].unix_ns - record->measurement.start_unix_ns) / 1e9;
}

static size_t crossed_find(const struct runs_crossed *rows, size_t count, const char *threshold)
{
    size_t index = 0;

    while (index < count && strcmp(rows[index].threshold, threshold) != 0) {
        index++;
    }
    return index;
}

static size_t crossed_add(const struct apapi_record *record, size_t last, struct runs_crossed *rows,
                          struct crossed_sum *sums, size_t count)
{
    const struct apapi_crossing *crossing = &record->crossing[last];
    size_t index = crossed_find(rows, count, crossing->threshold);

    if (index == LIMITS_MAX) {
        return count;
    }
    rows[index].threshold = crossing->threshold;
    spread_add(&sums[index].count, (double)crossing->count);
    spread_add(&sums[index].first_s, crossed_at_s(record, crossing_first(record, last)));
    return index == count ? count + 1 : count;
}

size_t runs_crossed(const struct report *report, struct runs_crossed rows[LIMITS_MAX])
{
    struct crossed_sum sums[LIMITS_MAX] = {{{0}, {0}}};
    size_t count = 0;

    for (size_t i = 0; i < report->count; i++) {
        const struct apapi_record *record = &report->runs[i].record;

        for (size_t k = 0; k < record->crossing_count; k++) {
            if (crossing_is_last(record, k)) {
                count = crossed_add(record, k, rows, sums, count);
            }
        }
    }
    for (size_t i = 0; i < count; i++) {
        rows[i].count = spread_of(&sums[i].count);
        rows[i].first_s = spread_of(&sums[i].first_s);
    }
    return count;
}
