/* SPDX-License-Identifier: BSD-3-Clause */
/* What all formats of the report have in common. */
#include "atime/print.h"

#include <math.h>

#include "record/domain_list.h"

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

struct spread report_spread(const struct report *report, run_value_f value,
                            enum apapi_domain domain)
{
    uint32_t known = is_total(value, domain) ? known_to_any(report) : 0;
    struct spread spread = {0, NAN, NAN};
    double mean = 0;
    double squares = 0;

    for (size_t i = 0; i < report->count; i++) {
        double one = value(&report->runs[i], domain);
        double distance = one - mean;

        if (isnan(one) || unknown_to(&report->runs[i]) & known) {
            continue;
        }
        spread.count++;
        mean += distance / (double)spread.count;
        squares += distance * (one - mean);
    }
    if (spread.count > 0) {
        spread.mean = mean;
    }
    if (spread.count > 1) {
        spread.sd = sqrt(squares / (double)(spread.count - 1));
    }
    return spread;
}

bool report_has_domain(const struct report *report, enum apapi_domain domain)
{
    return report_spread(report, run_energy_j, domain).count > 0 ||
           report_spread(report, run_mean_w, domain).count > 0;
}
