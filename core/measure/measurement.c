/* SPDX-License-Identifier: BSD-3-Clause */
#include "apapi/measurement.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "apapi/record.h"

static double measurement_add_known(double sum, double value)
{
    if (isnan(value)) {
        return sum;
    }
    return isnan(sum) ? value : sum + value;
}

double apapi_measurement_total_j(const struct apapi_measurement *m)
{
    double total_j = NAN;

    for (int domain = 0; domain < APAPI_DOMAINS; domain++) {
        if (m->domains[domain].measured && apapi_domain_adds_up(domain)) {
            total_j = measurement_add_known(total_j, m->domains[domain].energy_j);
        }
    }
    return total_j;
}

double apapi_measurement_total_w(const struct apapi_measurement *m)
{
    double total_w = NAN;

    for (int domain = 0; domain < APAPI_DOMAINS; domain++) {
        if (m->domains[domain].measured && apapi_domain_adds_up(domain)) {
            total_w = measurement_add_known(total_w, m->domains[domain].power_w.mean);
        }
    }
    return total_w;
}

double apapi_record_uncertainty_j(const struct apapi_measurement *m)
{
    double sum_j = isnan(apapi_measurement_total_j(m)) ? NAN : 0;

    for (int domain = 0; domain < APAPI_DOMAINS; domain++) {
        const struct apapi_domain_result *one = &m->domains[domain];

        if (one->measured && apapi_domain_adds_up(domain) && !isnan(one->energy_j)) {
            sum_j += one->uncertainty_j;
        }
    }
    return sum_j;
}

static void incidents_add(struct apapi_incidents *sum, const struct apapi_incidents *one)
{
    if (one->samples > sum->samples) {
        sum->samples = one->samples;
    }
    sum->failed += one->failed;
    sum->wraps += one->wraps;
    sum->resets += one->resets;
    sum->refused += one->refused;
    sum->gaps += one->gaps;
    sum->stalls += one->stalls;
    sum->rough += one->rough;
}

struct apapi_incidents apapi_measurement_incidents(const struct apapi_measurement *m)
{
    struct apapi_incidents sum = {0};

    for (size_t i = 0; i < m->component_count; i++) {
        for (size_t k = 0; k < m->components[i].event_count; k++) {
            incidents_add(&sum, &m->components[i].events[k].incidents);
        }
    }
    return sum;
}

void apapi_measurement_clear(struct apapi_measurement *m)
{
    int saved_errno = errno;

    if (!m) {
        return;
    }
    for (size_t i = 0; i < m->component_count; i++) {
        free(m->components[i].events);
    }
    free(m->components);
    memset(m, 0, sizeof(*m));
    errno = saved_errno;
}
