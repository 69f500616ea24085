/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/coverage.h"

#include <math.h>

static bool coverage_counts(const struct apapi_measurement *m, int domain)
{
    return apapi_domain_adds_up(domain) && m->domains[domain].measured &&
           !isnan(m->domains[domain].energy_j);
}

bool coverage_is_low(double covered)
{
    return covered > 0 && covered < COVERAGE_WHOLE;
}

double coverage_pct(double covered)
{
    return floor(covered * 1000 + 1e-6) / 10;
}

double coverage_of_event(const struct apapi_event_result *event, const struct apapi_measurement *m)
{
    double whole_ns = (double)(m->late_ns + m->elapsed_ns);

    return whole_ns > 0 ? fmin((double)event->covered_ns / whole_ns, 1) : NAN;
}

double coverage_of_total(const struct apapi_measurement *m)
{
    double least = NAN;

    for (int d = 0; d < APAPI_DOMAINS; d++) {
        if (coverage_counts(m, d)) {
            if (!(m->domains[d].covered > 0)) {
                return NAN;
            }
            least = fmin(least, m->domains[d].covered);
        }
    }
    return least;
}

double coverage_rest_of(const struct apapi_domain_result *domain)
{
    if (domain->rest_j > 0) {
        return domain->rest_j;
    }
    return domain->covered >= 1 ? 0 : NAN;
}

double coverage_rest_j(const struct apapi_measurement *m)
{
    double sum_j = 0;

    for (int d = 0; d < APAPI_DOMAINS; d++) {
        sum_j += coverage_counts(m, d) ? coverage_rest_of(&m->domains[d]) : 0;
    }
    return sum_j;
}
