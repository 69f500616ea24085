/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/hostlist.h"
#include "base/text.h"
#include "base/units.h"
#include "render/step_parts.h"

/* --- how reliable it is ----------------------------------------------------------------------- */

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

void table_put_trust(const struct step_table *table)
{
    const struct apapi_measurement *m = &table->merge->only.measurement;
    const struct apapi_incidents sum = apapi_measurement_incidents(m);
    char used[UNITS_SIZE];

    table_trust_put_uncertainty(table->out, m);
    for (size_t i = 0; i < m->component_count; i++) {
        table_trust_put_component(table->out, &m->components[i]);
    }
    fprintf(table->out,
            "  wraps %" PRIu64 ", resets %" PRIu64 ", readings failed %" PRIu64 ", refused %" PRIu64
            ", gaps %" PRIu64 ", standstills %" PRIu64 "\n",
            sum.wraps, sum.resets, sum.failed, sum.refused, sum.gaps, sum.stalls);
    units_short(used, sizeof(used), (double)m->cpu_ns / 1e9);
    fprintf(table->out, "  the sampling thread used %s of CPU time", used);
    if (m->elapsed_ns > 0) {
        fprintf(table->out, " (%.2g %%)", (double)m->cpu_ns / (double)m->elapsed_ns * 100);
    }
    fputc('\n', table->out);
}

/* --- what was not measured -------------------------------------------------------------------- */

#define NAMES_COLUMNS 120
#define NOTES_LISTED 10
#define LATE_SHOWN_NS UINT64_C(10000000)

static void put_verdict(FILE *out, const struct merge_note *note)
{
    char duration[UNITS_SIZE];

    fprintf(out, ": %s", note->verdict);
    if (note->outages > 0) {
        units_duration(duration, sizeof(duration), (double)note->outage_ns / 1e9);
        fprintf(out, " for %s in %" PRIu64 " outage%s", duration, note->outages,
                note->outages == 1 ? "" : "s");
    }
    if (*note->reason) {
        fprintf(out, " (%s)", note->reason);
    }
}

static int table_notes_put_note(const struct merge_note *note, const struct step_table *table)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (out) {
        bool of_all = table->sum.expected < 2 || note->nodes == table->sum.recorded;

        fputs(note->subject, out);
        if (*note->subject == '\0' || !of_all) {
            size_t unnamed = note->nodes - note->named;

            fputs(*note->subject ? " on " : "", out);
            hostlist_put(out, note->names, note->named, NAMES_COLUMNS);
            if (unnamed > 0) {
                fprintf(out, " and %zu others", unnamed);
            }
        }
        put_verdict(out, note);
    }
    if (!text_of_stream(out, &text, 0)) {
        return -1;
    }
    text_wrap(table->out, text[0] == ':' ? text + 2 : text);
    free(text);
    return 0;
}

static int table_notes_put_notes(const struct step_table *table)
{
    const struct merge_rows *rows = &table->merge->note_rows;
    struct merge_note *notes = merge_notes_sorted(table->merge);
    size_t listed[MERGE_NOTE_KINDS] = {0}, left_out = 0;
    int rc = notes ? 0 : -1;

    for (size_t i = 0; i < rows->keys.count && rc == 0; i++) {
        if (listed[notes[i].kind]++ >= NOTES_LISTED) {
            left_out++;
        } else {
            rc = table_notes_put_note(&notes[i], table);
        }
    }
    if (left_out > 0) {
        fprintf(table->out, "  ... and %s%zu more (see the records)\n",
                rows->full ? "more than " : "", left_out);
    }
    free(notes);
    return rc;
}

static void put_late(const struct step_table *table)
{
    uint64_t late_ns = table->merge->late_ns;
    char duration[UNITS_SIZE];
    char text[APAPI_TEXT_SIZE + 128];

    if (late_ns <= LATE_SHOWN_NS) {
        return;
    }
    if (late_ns < UINT64_C(9999500000)) {
        snprintf(duration, sizeof(duration), "%.0f ms", (double)late_ns / 1e6);
    } else {
        units_duration(duration, sizeof(duration), (double)late_ns / 1e9);
    }
    if (table->sum.recorded > 1) {
        snprintf(text, sizeof(text), "first %s not covered on %s, less on others", duration,
                 table->merge->latest->name);
    } else {
        snprintf(text, sizeof(text), "first %s not covered", duration);
    }
    text_wrap(table->out, text);
}

static void table_notes_put_count(FILE *out, bool *any, uint64_t count, const char *one,
                                  const char *many)
{
    if (count == 0) {
        return;
    }
    fprintf(out, "%s%" PRIu64 " %s", *any ? ", " : "  ", count, count == 1 ? one : many);
    *any = true;
}

static void table_notes_put_incidents(const struct step_table *table)
{
    const struct apapi_incidents *sum = &table->merge->incidents;
    bool any = false;

    table_notes_put_count(table->out, &any, sum->failed, "reading failed", "readings failed");
    table_notes_put_count(table->out, &any, sum->refused, "refused", "refused");
    table_notes_put_count(table->out, &any, sum->resets, "reset", "resets");
    table_notes_put_count(table->out, &any, sum->gaps, "gap", "gaps");
    table_notes_put_count(table->out, &any, sum->stalls, "standstill", "standstills");
    table_notes_put_count(table->out, &any, table->merge->missed, "tick missed", "ticks missed");
    if (any) {
        fputc('\n', table->out);
    }
}

#define POSSIBLE_SHARE 0.05
#define SHORT_READINGS 30

/* Of an energy that may be wrong by more than its uncertainty, where that is large already. */
static void put_possible_error(const struct step_table *table)
{
    double readings = table->merge->samples.least + 1;
    const struct merge_domain *total = &table->sum.total;

    if (table->merge->incidents.rough > 0 &&
        total->uncertainty_j > POSSIBLE_SHARE * total->energy_j) {
        fprintf(table->out, "  %s%.0f readings: errors above 5 %% are possible\n",
                readings < SHORT_READINGS ? "short run, " : "", readings);
    }
}

int table_put_notes(const struct step_table *table)
{
    if (table_notes_put_notes(table) < 0) {
        return -1;
    }
    put_late(table);
    table_notes_put_incidents(table);
    put_possible_error(table);
    if (table->head->note) {
        text_wrap(table->out, table->head->note);
    }
    return 0;
}
