/* SPDX-License-Identifier: BSD-3-Clause */
#include "apapi/measurement.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "apapi/event.h"
#include "apapi/record.h"

/* Events. */

struct domain {
    const char *name;
    bool adds_up;
    double max_w; /* several times the power of today's largest device of this kind [W] */
};

static const struct domain domains[APAPI_DOMAINS] = {
    [APAPI_DOMAIN_NONE] = {"-", false, 1e9},    [APAPI_DOMAIN_PACKAGE] = {"package", true, 2e3},
    [APAPI_DOMAIN_DRAM] = {"dram", true, 1e3},  [APAPI_DOMAIN_GPU] = {"gpu", true, 5e3},
    [APAPI_DOMAIN_CORE] = {"core", false, 2e3}, [APAPI_DOMAIN_UNCORE] = {"uncore", false, 2e3},
    [APAPI_DOMAIN_PSYS] = {"psys", false, 2e4}, [APAPI_DOMAIN_NODE] = {"node", false, 1e5},
};

static const char *const kinds[APAPI_KINDS] = {
    [APAPI_KIND_ENERGY] = "energy",           [APAPI_KIND_POWER] = "power",
    [APAPI_KIND_TEMPERATURE] = "temperature", [APAPI_KIND_FREQUENCY] = "frequency",
    [APAPI_KIND_UTILIZATION] = "utilization", [APAPI_KIND_COUNT] = "count",
};

const char *apapi_kind_name(enum apapi_kind kind)
{
    return (unsigned)kind < APAPI_KINDS ? kinds[kind] : "?";
}

static bool is_domain(enum apapi_domain domain)
{
    return (unsigned)domain < APAPI_DOMAINS;
}

const char *apapi_domain_name(enum apapi_domain domain)
{
    return is_domain(domain) ? domains[domain].name : "?";
}

enum apapi_domain apapi_domain_find(const char *name)
{
    for (int i = 0; name && i < APAPI_DOMAINS; i++) {
        if (strcmp(name, domains[i].name) == 0) {
            return (enum apapi_domain)i;
        }
    }
    return APAPI_DOMAIN_NONE;
}

bool apapi_domain_adds_up(enum apapi_domain domain)
{
    return is_domain(domain) && domains[domain].adds_up;
}

double apapi_domain_max_w(enum apapi_domain domain)
{
    return is_domain(domain) ? domains[domain].max_w : domains[APAPI_DOMAIN_NONE].max_w;
}

double apapi_event_value(const struct apapi_event *event, uint64_t raw)
{
    double value = (double)raw;

    if (event->type == APAPI_TYPE_FP64) {
        memcpy(&value, &raw, sizeof value);
    } else if (event->type == APAPI_TYPE_INT64) {
        value = (double)(int64_t)raw;
    }
    return value * event->scale;
}

/* Measurements. */

/* @return the energy [J] or the power [W] of the domains that add up and that are known; NaN: no
 * such domain is known. */
static double measurement_total(const struct apapi_measurement *m, bool power)
{
    double sum = NAN;

    for (int domain = 0; domain < APAPI_DOMAINS; domain++) {
        const struct apapi_domain_result *one = &m->domains[domain];
        double value = power ? one->power_w.mean : one->energy_j;

        if (one->measured && apapi_domain_adds_up(domain) && !isnan(value)) {
            sum = isnan(sum) ? value : sum + value;
        }
    }
    return sum;
}

double apapi_measurement_total_j(const struct apapi_measurement *m)
{
    return measurement_total(m, false);
}

double apapi_measurement_total_w(const struct apapi_measurement *m)
{
    return measurement_total(m, true);
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
