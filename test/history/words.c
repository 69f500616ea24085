/* SPDX-License-Identifier: BSD-3-Clause */
/* A history in words. */
#include <inttypes.h>

#include "history/generate.h"

#define PRIs "%.6f s"

static double words_seconds(uint64_t ns)
{
    return (double)ns / 1e9;
}

static void print_meter(const struct history *history, const struct history_meter *meter,
                        size_t index, FILE *out)
{
    const struct power *power = &history->powers[meter->domain][meter->socket];

    fprintf(out, "    event %zu: %s of %s %u", index,
            meter->gauge     ? "gauge"
            : meter->doubles ? "counter of doubles"
                             : "counter",
            apapi_domain_name(meter->domain), meter->socket);
    if (!meter->gauge) {
        fprintf(out, ", unit %g J, moves every " PRIs "%s", meter->scale,
                words_seconds(meter->update_ns), meter->stated_ns ? "" : " (unknown)");
    }
    if (meter->range_max) {
        fprintf(out, ", wraps after %.6g J", (double)meter->range_max * meter->scale);
    }
    fprintf(out, "; truth: %g to %g W in %zu parts of " PRIs "\n", power->min_w, power->max_w,
            power->count, words_seconds(power->period_ns));
}

static void print_fault(const struct history_fault *fault, FILE *out)
{
    static const char *const words[FAULTS] = {
        [FAULT_FAIL] = "readings fail",
        [FAULT_FAIL_ONE] = "readings of an event fail",
        [FAULT_HANG] = "calls hang",
        [FAULT_VANISH] = "the source is gone, and is another one afterwards",
        [FAULT_END_THREAD] = "a reading ends its thread",
        [FAULT_RESET] = "the counters begin again at the beginning of it",
        [FAULT_LEAP] = "a counter leaps at the beginning of it",
        [FAULT_FREEZE] = "a counter stands still, then catches up",
        [FAULT_ABSURD] = "one reading in three of a counter is absurd",
        [FAULT_LATE] = "readings return late",
        [FAULT_EARLY] = "readings are made late",
    };

    fprintf(out, "    " PRIs " to " PRIs ": %s", words_seconds(fault->from_ns),
            words_seconds(fault->to_ns), words[fault->kind]);
    if (fault->kind == FAULT_LATE || fault->kind == FAULT_EARLY) {
        fprintf(out, " by " PRIs " at most", words_seconds(fault->length_ns));
    } else {
        fprintf(out, " (event %zu)", fault->event);
    }
    if (fault->kind == FAULT_LEAP) {
        fprintf(out, ", by what the greatest plausible power takes %g s for", fault->leap_s);
    }
    fputc('\n', out);
}

static void print_component(const struct history *history, size_t index, FILE *out)
{
    const struct history_component *component = &history->components[index];

    fprintf(out, "  component c%zu: interval " PRIs ", a reading takes about " PRIs "%s", index,
            words_seconds(component->interval_ns), words_seconds(component->read_ns),
            component->own_worker ? ", own worker" : "");
    fprintf(out, component->slow ? ", slow to open: " PRIs "\n" : ", opens in " PRIs "\n",
            words_seconds(component->open_ns));
    for (size_t i = 0; i < component->event_count; i++) {
        print_meter(history, &component->meters[i], i, out);
    }
    for (size_t i = 0; i < component->fault_count; i++) {
        print_fault(&component->faults[i], out);
    }
}

void history_print(const struct history *history, FILE *out)
{
    static const char *const orders[] = {"start", "snapshot", "stop"};

    fprintf(out, "  min_interval " PRIs ", patience " PRIs "\n",
            words_seconds(history->min_interval_ns), words_seconds(history->patience_ns));
    for (size_t i = 0; i < history->component_count; i++) {
        print_component(history, i, out);
    }
    for (size_t i = 0; i < history->stop_count; i++) {
        fprintf(out, "  " PRIs " to " PRIs ": the process stands still\n",
                words_seconds(history->stops[i].from_ns), words_seconds(history->stops[i].to_ns));
    }
    if (history->late_once_in) {
        fprintf(out, "  one wake-up in %" PRIu64 " is late by " PRIs " at most\n",
                history->late_once_in, words_seconds(history->latest_ns));
    }
    if (history->refused_threads) {
        fprintf(out, "  threads that cannot be started, from the first one on:");
        for (unsigned i = 0; i < 16; i++) {
            fputs(history->refused_threads >> i & 1 ? " no" : " yes", out);
        }
        fputc('\n', out);
    }
    for (size_t i = 0; i < history->action_count; i++) {
        fprintf(out, "  " PRIs ": %s\n", words_seconds(history->actions[i].at_ns),
                orders[history->actions[i].order]);
    }
}
