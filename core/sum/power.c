/* SPDX-License-Identifier: BSD-3-Clause */
/* The power of nodes over time. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "record/record.h"
#include "sum/sum.h"
#include "sum/timing.h"

struct power {
    const struct sum_store *store;
    const struct sum_curve_wish *wish;
    struct sum_columns columns;
    int64_t *busy_ns, *ran_ns; /* time in each, with any of the nodes, and with one */
    double *power_w;
};

/* Domains that must be known of a node while it runs. */
static uint32_t power_domains(const struct power *power, const struct sum_entries *node)
{
    int wanted = power->wish->domain;
    uint32_t domains = 0;

    for (size_t i = 0; i < node->count; i++) {
        const struct sum_piece *piece = node->list[i].piece;

        for (size_t k = 0; k < piece->domain_count; k++) {
            int d = power->store->domains[piece->domain_at + k].domain;

            domains |= wanted == APAPI_DOMAIN_NONE || wanted == d ? domain_bit(d) : 0;
        }
    }
    return domain_list_adding_up(domains);
}

/* When it ran. An incomplete record's step goes on. */
static int power_add_time(const struct sum_entries *node, struct busy *busy)
{
    for (size_t i = 0; i < node->count; i++) {
        const struct sum_entry *entry = &node->list[i];
        int64_t start_ns;

        if (__builtin_sub_overflow(entry->start_ns, entry->piece->late_ns, &start_ns)) {
            start_ns = INT64_MIN;
        }
        if (busy_add(busy, start_ns,
                     entry->piece->reason == POOL_NONE ? entry->end_ns : entry->until_ns)) {
            return -1;
        }
    }
    return 0;
}

/* A node that ran in a part of a column counts for that part of the time with any node. */
static int power_add_domain(struct power *power, const struct sum_entries *node, int domain)
{
    struct sum_columns *columns = &power->columns;

    memset(columns->energy_j, 0, columns->count * sizeof *columns->energy_j);
    memset(columns->known_ns, 0, columns->count * sizeof *columns->known_ns);
    if (sum_columns(power->store, node, domain, columns)) {
        return -1;
    }
    for (size_t c = 0; c < columns->count; c++) {
        double known_ns = columns->known_ns[c] > 0 ? (double)columns->known_ns[c] : (double)NAN;

        if (power->ran_ns[c] > 0) {
            power->power_w[c] += columns->energy_j[c] * NS_PER_S / known_ns *
                                 (double)power->ran_ns[c] / (double)power->busy_ns[c];
        }
    }
    return 0;
}

/* The nodes one after the other. @param busy  gets the time of all; NULL: add up their power */
static int power_each_node(struct power *power, const struct sum_entries *entries,
                           struct busy *busy)
{
    struct sum_entries node;
    int result = 0;

    for (size_t i = 0; i < entries->count && result == 0; i += node.count) {
        struct busy own = {0};
        uint32_t domains;

        node = (struct sum_entries){entries->list + i, 1};
        while (i + node.count < entries->count &&
               node.list[node.count].piece->node == node.list->piece->node) {
            node.count++;
        }
        domains = power->wish->node && strcmp(power->wish->node, node.list->node) != 0
                      ? 0
                      : power_domains(power, &node);
        if (domains) {
            result = power_add_time(&node, busy ? busy : &own);
        }
        if (!busy) {
            busy_spread(&own, power->columns.edges, power->columns.count, power->ran_ns);
        }
        for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS && !busy && result == 0; d++) {
            result = domains & domain_bit(d) ? power_add_domain(power, &node, d) : 0;
        }
        busy_clear(&own);
    }
    return result;
}

int sum_power(const struct sum_store *store, const struct sum_entries *entries,
              const struct sum_curve_wish *wish, double *power_w)
{
    double length_ns = (double)(wish->end_ns - wish->start_ns), count = (double)wish->columns;
    int64_t *times_ns = calloc(4 * (wish->columns + 1), sizeof *times_ns);
    int64_t *edges_ns = times_ns, *busy_ns = times_ns + wish->columns + 1;
    double *energy_j = calloc(wish->columns + 1, sizeof *energy_j);
    struct power power = {.store = store,
                          .wish = wish,
                          .busy_ns = busy_ns,
                          .ran_ns = busy_ns + wish->columns,
                          .power_w = power_w};
    struct busy busy = {0};
    int result = times_ns && energy_j ? 0 : -1;

    if (result == 0) {
        for (size_t c = 0; c <= wish->columns; c++) {
            edges_ns[c] = wish->start_ns + (int64_t)(length_ns * (double)c / count);
        }
        power.columns = (struct sum_columns){edges_ns, wish->columns, energy_j,
                                             (uint64_t *)power.ran_ns + wish->columns};
        result = power_each_node(&power, entries, &busy);
        busy_spread(&busy, edges_ns, wish->columns, busy_ns);
        for (size_t c = 0; c < wish->columns; c++) {
            power_w[c] = busy_ns[c] > 0 ? 0 : NAN;
        }
        result = result ? -1 : power_each_node(&power, entries, NULL);
    }
    busy_clear(&busy);
    free(times_ns);
    free(energy_j);
    errno = result ? ENOMEM : errno;
    return result;
}
