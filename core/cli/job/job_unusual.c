/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports what is unusual about a job. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/hostlist.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/job/job.h"
#include "record/record.h"
#include "sum/members.h"
#include "sum/sum.h"

#define TEXT_SIZE 512
#define NODES_MIN 3       /* nodes of known power, before one can differ from others */
#define TWICE 2.0         /* factor between a node's power and the usual power */
#define LOW_COVERAGE 0.95 /* as a part of 1 */
#define IDLE_SHARE 0.25   /* part of the job's time ... */
#define IDLE_POWER 0.4    /* ... in which the power is below this part of its greatest value */
#define EARLY_SHARE 0.1   /* part of the step's time, between the ends of two nodes */
#define EARLY_S 1.0
#define NAMES_COLUMNS 60
#define GAP_COLUMNS 300

/* @return the median of the nodes' powers; NaN: too few are known. */
static double usual_power(const struct show *show)
{
    double *powers = calloc(show->node_count + 1, sizeof *powers), median = NAN;
    size_t count = 0;

    for (size_t i = 0; powers && i < show->node_count; i++) {
        if (!isnan(show->nodes[i].used.mean_w)) {
            powers[count++] = show->nodes[i].used.mean_w;
        }
    }
    if (count >= NODES_MIN) {
        qsort(powers, count, sizeof *powers, compare_double);
        median = powers[count / 2];
    }
    free(powers);
    return median;
}

static void report_nodes(const struct show *show, struct remarks *remarks)
{
    double usual_w = usual_power(show);

    for (size_t i = 0; i < show->node_count && usual_w > 0; i++) {
        const struct show_part *node = &show->nodes[i];
        bool more = node->used.mean_w >= TWICE * usual_w,
             less = node->used.mean_w <= usual_w / TWICE;

        if (more || less) {
            remark(remarks, "%s draws %s, %s the other nodes' usual %s", node->name,
                   units_quantity(node->used.mean_w, "W").text,
                   more ? "twice or more of" : "half or less of",
                   units_quantity(usual_w, "W").text);
        }
    }
}

/* @return by how much a node ended before the step's last node [s]; 0: too short to matter. */
static double early_s(const struct sum_entry *entry)
{
    double early = (double)(entry->until_ns - entry->end_ns) / NS_PER_S;
    double length = (double)(entry->until_ns - entry->start_ns) / NS_PER_S;
    bool complete = entry->piece->reason == POOL_NONE;

    return complete && early >= EARLY_S && early >= EARLY_SHARE * length ? early : 0;
}

/* Collect the nodes that ended early. Records are sorted by node; a step of a requeued job may name
 * a node twice. @return the longest time by which a node ended early [s] */
static double find_early(const struct show *show, const char *step, struct namelist *names)
{
    double most_s = 0;

    for (size_t i = 0; i < show->entries.count; i++) {
        const struct sum_entry *entry = &show->entries.list[i];
        double early = strcmp(entry->step, step) == 0 ? early_s(entry) : 0;

        if (early > 0 &&
            (names->count == 0 || strcmp(names->names[names->count - 1], entry->node) != 0)) {
            namelist_add(names, entry->node);
        }
        most_s = fmax(most_s, early);
    }
    return most_s;
}

/* Report nodes that ended early: they waited for the others, or had less work. */
static void report_early(const struct show *show, struct remarks *remarks)
{
    for (size_t i = 0; i < show->step_count; i++) {
        struct namelist names = {0};
        double most_s = find_early(show, show->steps[i].name, &names);
        char *list = names.count > 0 ? hostlist_text(&names, NAMES_COLUMNS) : NULL;

        if (list) {
            remark(remarks, "step %s: %s ended before its last node, by up to %s",
                   show->steps[i].name, list, units_duration(most_s).text);
        }
        free(list);
        namelist_free(&names);
    }
}

static void report_idle(const struct show *show, struct remarks *remarks)
{
    double greatest_w = 0;
    size_t idle = 0, known = 0;

    for (int i = 0; i < SHOW_CURVE; i++) {
        greatest_w = fmax(greatest_w, show->curve_w[i]);
    }
    for (int i = 0; i < SHOW_CURVE; i++) {
        known += !isnan(show->curve_w[i]);
        idle += show->curve_w[i] < IDLE_POWER * greatest_w;
    }
    if (known > 0 && (double)idle > IDLE_SHARE * (double)known) {
        remark(remarks,
               "long idle: in %.0f %% of the time its power is below %.0f %% of its greatest",
               100.0 * (double)idle / (double)known, 100 * IDLE_POWER);
    }
}

/* Add a remark that begins with the record's step, run and node: "step 0, restart 1 on n1: ". */
__attribute__((format(printf, 3, 4))) static void
say_of_record(struct remarks *remarks, const struct apapi_record *record, const char *format, ...)
{
    const struct apapi_identity *id = &record->id;
    char text[TEXT_SIZE];
    va_list words;

    va_start(words, format);
    vsnprintf(text, sizeof text, format, words);
    va_end(words);
    remark(remarks, "step %s%s on %s: %s", id->step, restart_text(id->restarts).text, id->node,
           text);
}

static void report_components(const struct apapi_record *record, struct remarks *remarks)
{
    const struct apapi_measurement *m = &record->measurement;

    for (size_t i = 0; i < m->component_count; i++) {
        const struct apapi_component_result *component = &m->components[i];

        if (!component->measured || *component->reason) {
            say_of_record(remarks, record, "%s: %s", component->name,
                          *component->reason ? component->reason : "not measured");
        }
        if (component->outages > 0) {
            say_of_record(remarks, record, "%s could not be read %" PRIu64 " times, %s in all",
                          component->name, component->outages,
                          units_duration((double)component->outage_ns / NS_PER_S).text);
        }
        for (size_t e = 0; e < component->event_count; e++) {
            const struct apapi_event_result *event = &component->events[e];

            if (event->stuck || event->still) {
                say_of_record(remarks, record, "%s %s", event->event.name,
                              event->event.kind == APAPI_KIND_POWER ? "was never above 0 W"
                              : event->stuck
                                  ? "is stuck: it never moved"
                                  : "did not move, in too short a time to call it stuck");
            }
        }
    }
}

static void report_incidents(const struct apapi_record *record, struct remarks *remarks)
{
    const struct apapi_incidents incidents = apapi_measurement_incidents(&record->measurement);
    const struct {
        uint64_t count;
        const char *what;
    } kinds[] = {{incidents.resets, "a counter restarted, and nothing was counted across it"},
                 {incidents.refused, "a reading was implausible"},
                 {incidents.gaps, "readings were so far apart that counter wraps may be missing"},
                 {incidents.stalls, "an energy counter stood still"},
                 {incidents.failed, "a reading failed"}};

    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        if (kinds[i].count > 0) {
            say_of_record(remarks, record, "%s, %" PRIu64 " time%s", kinds[i].what, kinds[i].count,
                          kinds[i].count == 1 ? "" : "s");
        }
    }
}

static void report_record(const struct apapi_record *record, struct remarks *remarks)
{
    uint32_t unknown = domain_list_adding_up(record->measurement.unknown_domains);
    char names[DOMAIN_LIST_SIZE];

    if (record->measurement.covered < LOW_COVERAGE) {
        say_of_record(remarks, record, "only %.1f %% of the time lies between good readings",
                      100 * record->measurement.covered);
    }
    if (!record->complete) {
        say_of_record(remarks, record, "incomplete: %s", record->reason);
    }
    if (record->recovered) {
        say_of_record(remarks, record, "recovered from what was saved while it ran");
    }
    if (record->delayed) {
        say_of_record(remarks, record, "written late");
    }
    if (unknown) { /* the tables of steps and nodes show totals alone */
        domain_list_text(unknown, ", ", names);
        say_of_record(remarks, record, "the energy lacks %s, which is not known", names);
    }
    report_components(record, remarks);
    report_incidents(record, remarks);
}

static void report_endings(const struct show *show, struct remarks *remarks)
{
    for (size_t i = 0; i < show->step_count; i++) {
        const struct show_part *step = &show->steps[i];
        const struct apapi_ending *ending = &step->ending;
        bool known = step->tasks != APAPI_UNKNOWN, killed = ending->signal != APAPI_UNKNOWN;

        if (ending->failed != APAPI_UNKNOWN && ending->failed > 0) {
            remark(remarks, "step %s: %" PRIu32 "%s task%s failed, %s %" PRIu32, step->name,
                   ending->failed, units_part(known, " of %" PRIu32, step->tasks).text,
                   text_plural(known ? step->tasks : ending->failed),
                   killed ? "by signal" : "with exit status",
                   killed ? ending->signal : ending->code);
        }
    }
}

static int report_gap(const struct sum_gap *gap, void *remarks)
{
    char *names = hostlist_text(&gap->missing, GAP_COLUMNS);

    if (names) {
        remark(remarks, "step %s%s: no record of %zu of its %u nodes%s%s", gap->step,
               restart_text(gap->restarts).text, gap->count, gap->nodes, *names ? ": " : "", names);
    }
    free(names);
    return names ? 0 : -1;
}

/* Report a clock that disagrees with the time since boot, or with the clocks of other nodes. */
static void report_clock(const char *node, int64_t jumped_ns, int64_t apart_ns,
                         struct remarks *remarks)
{
    if (llabs(jumped_ns) >= TIMING_JUMP_NS) {
        remark(remarks,
               "%s: its clock jumped %s by %s; its time since boot says when its "
               "steps ran",
               node, jumped_ns < 0 ? "back" : "ahead",
               units_duration((double)llabs(jumped_ns) / NS_PER_S).text);
    }
    if (apart_ns != 0) {
        remark(remarks,
               "%s: its clock is %s %s the other nodes'; its steps are taken to begin "
               "with theirs",
               node, units_duration((double)llabs(apart_ns) / NS_PER_S).text,
               apart_ns < 0 ? "behind" : "ahead of");
    }
}

static void report_clocks(const struct show *show, struct remarks *remarks)
{
    const struct sum_entry *entries = show->entries.list;
    int64_t jumped_ns = 0; /* farthest jump since the node's first record */

    for (size_t i = 0; i < show->entries.count; i++) {
        jumped_ns =
            llabs(entries[i].jumped_ns) > llabs(jumped_ns) ? entries[i].jumped_ns : jumped_ns;
        if (i + 1 == show->entries.count || entries[i].piece->node != entries[i + 1].piece->node) {
            report_clock(entries[i].node, jumped_ns, entries[i].apart_ns, remarks);
            jumped_ns = 0;
        }
    }
}

static void report_crossings(const struct apapi_record *record, struct remarks *remarks)
{
    char text[CROSSING_TEXT_SIZE];

    for (size_t i = 0; i < record->crossing_count; i++) {
        if (crossing_is_last(record, i)) {
            crossing_text(record, i, text, sizeof text);
            say_of_record(remarks, record, "%s: crossed (%s)", record->crossing[i].threshold, text);
        }
    }
}

void show_find_unusual(const struct show *show, struct remarks *remarks)
{
    /* records that had no room here are not missing, but then it is not known which ones are */
    if (sum_each_gap(&show->store, &show->entries, show->left_out == 0, report_gap, remarks)) {
        remark(remarks, "no memory to find the nodes that have no record");
    }
    if (show->left_out > 0) {
        remark(remarks, "%zu records had no room here", show->left_out);
    }
    report_clocks(show, remarks);
    report_nodes(show, remarks);
    report_early(show, remarks);
    report_idle(show, remarks);
    report_endings(show, remarks);
    for (size_t i = 0; i < show->entries.count; i++) {
        report_record(show_record_at(show, i), remarks);
    }
    for (size_t i = 0; i < show->entries.count; i++) {
        report_crossings(show_record_at(show, i), remarks);
    }
}
