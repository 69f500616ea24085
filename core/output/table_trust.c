/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <math.h>

#include "base/text.h"
#include "base/units.h"
#include "output/table_parts.h"

#define SENTENCE_SIZE 512

static void table_trust_put_uncertainty(FILE *out, const struct apapi_measurement *m)
{
    double total_j = apapi_measurement_total_j(m);
    double uncertainty_j = apapi_record_uncertainty_j(m);
    char quantity[UNITS_SIZE];
    char share[32] = "";
    char text[SENTENCE_SIZE];

    if (isnan(uncertainty_j)) {
        return;
    }
    units_quantity(quantity, sizeof(quantity), uncertainty_j, "J");
    if (total_j > 0) {
        snprintf(share, sizeof(share), " (%.2g %%)", uncertainty_j / total_j * 100);
    }
    snprintf(text, sizeof(text),
             "uncertainty of the total %s%s: the counters' update periods and the time not covered",
             quantity, share);
    text_wrap(out, text);
}

static void describe_period(char *text, size_t size, const struct apapi_period *period)
{
    char mean[UNITS_SIZE];
    char sd[UNITS_SIZE];
    char longest[UNITS_SIZE];

    text[0] = '\0';
    if (isnan(period->mean_s)) {
        return;
    }
    units_short(mean, sizeof(mean), period->mean_s);
    units_short(sd, sizeof(sd), period->sd_s);
    units_short(longest, sizeof(longest), period->longest_s);
    snprintf(text, size, ", %s apart (standard deviation %s, longest %s)", mean, sd, longest);
}

static void table_trust_put_component(FILE *out, const struct apapi_component_result *component)
{
    char text[SENTENCE_SIZE];
    char apart[5 * UNITS_SIZE];
    char interval[UNITS_SIZE];

    if (!component->measured) {
        return;
    }
    describe_period(apart, sizeof(apart), &component->period);
    units_short(interval, sizeof(interval), (double)component->interval_ns / 1e9);
    snprintf(text, sizeof(text),
             "%s: %s, %zu event%s, interval %s, %" PRIu64 " readings%s, %" PRIu64 " missed",
             component->name, component->source, component->event_count,
             component->event_count == 1 ? "" : "s", interval, component->period.count + 1, apart,
             component->missed);
    text_wrap(out, text);
}

static void table_trust_put_incidents(FILE *out, const struct apapi_measurement *m)
{
    const struct apapi_incidents sum = apapi_measurement_incidents(m);

    fprintf(out,
            "  wraps %" PRIu64 ", resets %" PRIu64 ", readings failed %" PRIu64 ", refused %" PRIu64
            ", gaps %" PRIu64 ", standstills %" PRIu64 "\n",
            sum.wraps, sum.resets, sum.failed, sum.refused, sum.gaps, sum.stalls);
}

static void put_cpu(FILE *out, const struct apapi_measurement *m)
{
    char used[UNITS_SIZE];

    units_short(used, sizeof(used), (double)m->cpu_ns / 1e9);
    fprintf(out, "  the sampling thread used %s of CPU time", used);
    if (m->elapsed_ns > 0) {
        fprintf(out, " (%.2g %%)", (double)m->cpu_ns / (double)m->elapsed_ns * 100);
    }
    fputc('\n', out);
}

void table_put_trust(const struct table *table)
{
    const struct apapi_measurement *m = &table->merge->only.measurement;

    table_trust_put_uncertainty(table->out, m);
    for (size_t i = 0; i < m->component_count; i++) {
        table_trust_put_component(table->out, &m->components[i]);
    }
    table_trust_put_incidents(table->out, m);
    put_cpu(table->out, m);
}
