/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/record.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- coverage --------------------------------------------------------------------------------- */

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

/* --- sets of domains -------------------------------------------------------------------------- */

static uint32_t domain_list_of(const char *name)
{
    enum apapi_domain domain = apapi_domain_find(name);

    return domain == APAPI_DOMAIN_NONE ? 0 : domain_bit(domain);
}

uint32_t domain_list_adding_up(uint32_t set)
{
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        if (!apapi_domain_adds_up(d)) {
            set &= ~domain_bit(d);
        }
    }
    return set;
}

void domain_list_text(uint32_t set, const char *separator, char text[DOMAIN_LIST_SIZE])
{
    size_t length = 0;

    *text = '\0';
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        if (set & domain_bit(d)) {
            length += (size_t)snprintf(text + length, DOMAIN_LIST_SIZE - length, "%s%s",
                                       length ? separator : "", apapi_domain_name(d));
        }
    }
}

void domain_list_write(struct json_writer *json, const char *key, uint32_t set)
{
    json_begin_array(json, key);
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        if (set & domain_bit(d)) {
            json_put_text(json, NULL, apapi_domain_name(d));
        }
    }
    json_end(json);
}

int domain_list_read(const struct tree_node *array, uint32_t *set)
{
    const struct tree_node *name;

    if (!tree_is(array, TREE_ARRAY)) {
        return -1;
    }
    *set = 0;
    name = array->size > 0 ? tree_first(array) : NULL;
    for (uint32_t i = 0; i < array->size; i++, name = tree_next(name)) {
        if (!tree_is(name, TREE_TEXT)) {
            return -1;
        }
        *set |= domain_list_of(name->text);
    }
    return 0;
}
