/* SPDX-License-Identifier: BSD-3-Clause */
#include "regions/output_text.h"

#include <math.h>
#include <string.h>

#include "apapi/event.h"
#include "regions/foms.h"
#include "regions/link.h"
#include "regions/meter.h"
#include "regions/output_folder.h"
#include "regions/program.h"
#include "regions/tally.h"

/* The domains as events of component "apapi"; by enum apapi_domain. */
static const char *const energy_events[PAGE_DOMAINS] = {
    [APAPI_DOMAIN_PACKAGE] = "apapi:::PACKAGE_ENERGY_UJ",
    [APAPI_DOMAIN_CORE] = "apapi:::CORE_ENERGY_UJ",
    [APAPI_DOMAIN_UNCORE] = "apapi:::UNCORE_ENERGY_UJ",
    [APAPI_DOMAIN_DRAM] = "apapi:::DRAM_ENERGY_UJ",
    [APAPI_DOMAIN_PSYS] = "apapi:::PSYS_ENERGY_UJ",
    [APAPI_DOMAIN_GPU] = "apapi:::GPU_ENERGY_UJ",
    [APAPI_DOMAIN_NODE] = "apapi:::NODE_ENERGY_UJ",
};

/* What a thread has spent in each node, with the nodes in it. */
struct output_thread {
    uint32_t slot;
    double time_ns[PAGE_NODES];
    double energy_uj[PAGE_DOMAINS][PAGE_NODES]; /* NaN: not known */
};

struct output {
    FILE *out;
    double tick_ns;
    bool has_energy[PAGE_DOMAINS];
    bool metered; /* no results of the sampler: energy of the node during the region */
    struct page_result results[PAGE_NODES];
    struct output_thread thread;
    struct tally_sums sums;
};

static uint32_t output_node_count(void)
{
    return page_node_count(program.page);
}

bool output_has_regions(void)
{
    return program.page && (output_node_count() > 1 || program.page->head.names_lost > 0);
}

/* A name is clean already. */
static void output_quoted(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') {
            fputc('\\', out);
        }
        fputc((unsigned char)*text < ' ' ? '?' : *text, out);
    }
    fputc('"', out);
}

/* --- energy --------------------------------------------------------------------------------- */

static void output_find_results(struct output *output)
{
    const struct page_results *results = link_results();

    output->metered = !results;
    for (uint32_t node = 0; node < PAGE_NODES; node++) {
        struct page_result *row = &output->results[node];
        bool known = results && page_result_read(&results->nodes[node], row);

        for (int d = 0; d < PAGE_DOMAINS; d++) {
            row->power_w[d] = known && energy_events[d] ? row->power_w[d] : NAN;
            output->has_energy[d] = output->has_energy[d] || (node > 0 && !isnan(row->power_w[d]));
        }
    }
}

/* --- one thread ----------------------------------------------------------------------------- */

static void output_own(struct output *output, uint32_t node, uint64_t ticks)
{
    struct output_thread *thread = &output->thread;

    thread->time_ns[node] = (double)ticks * output->tick_ns;
    for (int d = 0; d < PAGE_DOMAINS; d++) {
        thread->energy_uj[d][node] =
            ticks > 0 ? thread->time_ns[node] * 1e-3 * output->results[node].power_w[d] : 0;
    }
}

/* What the meters have counted includes the inner regions. */
static void output_meter(struct output *output, uint32_t node, uint64_t ticks)
{
    double energy_j[APAPI_DOMAINS];

    meter_copy(output->thread.slot, node, ticks, energy_j);
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        bool known = energy_events[d] && isfinite(energy_j[d]);

        output->thread.energy_uj[d][node] = known ? fmax(energy_j[d], 0) * 1e6 : NAN;
        output->has_energy[d] = output->has_energy[d] || known;
    }
}

/* Nodes come after those that they are in. */
static void output_add_to_outer(struct output_thread *thread)
{
    for (uint32_t node = output_node_count(); node-- > 1;) {
        uint32_t parent = program.page->nodes[node].parent;

        thread->time_ns[parent] += thread->time_ns[node];
        for (int d = 0; d < PAGE_DOMAINS; d++) {
            thread->energy_uj[d][parent] += thread->energy_uj[d][node];
        }
    }
}

static void output_sum_up(struct output *output, uint32_t slot, const struct page_slot_copy *copy)
{
    output->thread.slot = slot;
    for (uint32_t node = 0; node < output_node_count(); node++) {
        output_own(output, node, copy->own[node]);
    }
    output_own(output, PAGE_REST, copy->own[PAGE_REST]);
    output_add_to_outer(&output->thread);
    for (uint32_t node = 1; node < PAGE_NODES && output->metered; node++) {
        output_meter(output, node, (uint64_t)(output->thread.time_ns[node] / output->tick_ns));
    }
}

/* --- one region ----------------------------------------------------------------------------- */

static void output_number(FILE *out, const char *name, double value)
{
    fputs(",\n          ", out);
    output_quoted(out, name);
    fprintf(out, ": \"%.0f\"", value);
}

/* An instant event has the mean of its values. */
static long long output_counted(const struct counter_event *event, long long sum, uint64_t passes)
{
    return event->instant && passes > 0 ? sum / (long long)passes : sum;
}

static void output_event(const struct output *output, size_t index)
{
    const struct counter_event *event = tally_event(index);
    const struct tally_sums *sums = &output->sums;
    FILE *out = output->out;

    fputs(",\n          ", out);
    output_quoted(out, event->name);
    fputs(sums->reads[0] > 0 ? ": {\"region_value\": " : ": ", out);
    fprintf(out, "\"%lld\"", output_counted(event, sums->totals[index], sums->passes));
    for (int i = 0; i < TALLY_READS && sums->reads[i] > 0; i++) {
        fprintf(out, ", \"read_%d\": \"%lld\"", i + 1,
                output_counted(event, sums->read_totals[i][index], sums->reads[i]));
    }
    fputs(sums->reads[0] > 0 ? "}" : "", out);
}

static void output_region(struct output *output, uint32_t node, uint64_t passes)
{
    const struct output_thread *thread = &output->thread;
    struct page_node_copy copy;
    FILE *out = output->out;

    if (node == PAGE_REST || !page_node(program.page, node, &copy)) {
        copy = (struct page_node_copy){.name = "(other regions)"};
    }
    fprintf(out, "        \"%u\": {\n          \"name\": ", node - 1);
    output_quoted(out, copy.name);
    output_number(out, "parent_region_id", (double)copy.parent - 1);
    output_number(out, "region_count", (double)passes);
    output_number(out, "cycles", thread->time_ns[node] / output->tick_ns);
    output_number(out, "real_time_nsec", thread->time_ns[node]);
    for (int d = 0; d < PAGE_DOMAINS; d++) {
        if (energy_events[d] && output->has_energy[d] && !isnan(thread->energy_uj[d][node])) {
            output_number(out, energy_events[d], thread->energy_uj[d][node]);
        }
    }
    if (tally_copy(thread->slot, node, &output->sums)) {
        for (size_t i = 0; i < tally_event_count(); i++) {
            output_event(output, i);
        }
    }
    fputs("\n        }", out);
}

static bool output_region_of(struct output *output, uint32_t node, bool first)
{
    uint64_t passes = page_slot_count(program.page, output->thread.slot, node);

    if (passes == 0) {
        return first;
    }
    fputs(first ? "\n" : ",\n", output->out);
    output_region(output, node, passes);
    return false;
}

static void output_thread(struct output *output)
{
    bool first = true;

    fprintf(output->out, "    \"%u\": {\n      \"regions\": {", output->thread.slot);
    for (uint32_t node = 1; node < output_node_count(); node++) {
        first = output_region_of(output, node, first);
    }
    output_region_of(output, PAGE_REST, first);
    fputs("\n      }\n    }", output->out);
}

static void output_threads(struct output *output)
{
    uint64_t now = ticks_now(program.clock);
    struct page_slot_copy copy;
    const char *before = "\n";

    fputs("  \"threads\": {", output->out);
    for (uint32_t slot = 0; slot < page_thread_count(program.page); slot++) {
        if (page_slot(program.page, slot, output_node_count(), now, &copy)) {
            output_sum_up(output, slot, &copy);
            fputs(before, output->out);
            output_thread(output);
            before = ",\n";
        }
    }
    fputs("\n  }\n", output->out);
}

/* Whatever the program's locale has as decimal point. */
static void output_value(FILE *out, double value)
{
    char text[32];

    snprintf(text, sizeof text, "%.15g", value);
    for (char *point = text; *point; point++) {
        *point = strchr("0123456789+-e", *point) ? *point : '.';
    }
    output_quoted(out, text);
}

static void output_foms(FILE *out)
{
    struct apapi_fom fom;
    size_t count = 0;

    for (; foms_copy(count, &fom); count++) {
        fputs(count > 0 ? ",\n    {\"name\": " : "  \"foms\": [\n    {\"name\": ", out);
        output_quoted(out, fom.name);
        fputs(", \"value\": ", out);
        output_value(out, fom.value);
        fputs(*fom.unit ? ", \"unit\": " : "", out);
        if (*fom.unit) {
            output_quoted(out, fom.unit);
        }
        fputc('}', out);
    }
    fputs(count > 0 ? "\n  ],\n" : "", out);
}

/* Which energies are known, before the first one is written. */
static void output_look(struct output *output)
{
    uint64_t now = ticks_now(program.clock);
    struct page_slot_copy copy;

    for (uint32_t slot = 0; slot < page_thread_count(program.page) && output->metered; slot++) {
        if (page_slot(program.page, slot, output_node_count(), now, &copy)) {
            output_sum_up(output, slot, &copy);
        }
    }
}

/* --- the whole ------------------------------------------------------------------------------ */

static void output_definition(FILE *out, const char **before, const char *name, const char *type,
                              const char *component)
{
    fprintf(out, "%s    ", *before);
    output_quoted(out, name);
    fprintf(out, ": {\"component\": ");
    output_quoted(out, component);
    fprintf(out, ", \"type\": \"%s\"}", type);
    *before = ",\n";
}

static void output_definitions(const struct output *output)
{
    const char *before = "\n";
    FILE *out = output->out;

    fputs("  \"event_definitions\": {", out);
    for (int d = 0; d < PAGE_DOMAINS; d++) {
        if (energy_events[d] && output->has_energy[d]) {
            output_definition(out, &before, energy_events[d], "delta",
                              output->metered ? "apapi_node" : "apapi");
        }
    }
    for (size_t i = 0; i < tally_event_count(); i++) {
        const struct counter_event *event = tally_event(i);
        char component[COUNTER_NAME_SIZE];

        counter_events_component(event, component);
        output_definition(out, &before, event->name, event->instant ? "instant" : "delta",
                          component);
    }
    fputs("\n  },\n", out);
}

void output_text(FILE *out, const char *run)
{
    struct ticks_moment now = ticks_moment_now(program.clock);
    static struct output output; /* too large for the stacks of some threads */

    memset(&output, 0, sizeof output);
    output.out = out;
    output.tick_ns = ticks_length_ns(program.clock, program.start, now);
    output_find_results(&output);
    fprintf(out, "{\n  \"papi_version\": \"APAPI %s\",\n  " OUTPUT_RUN "%s\",\n", APAPI_VERSION,
            run);
    output_look(&output);
    output_definitions(&output);
    output_foms(out);
    output_threads(&output);
    fputs("}\n", out);
}
