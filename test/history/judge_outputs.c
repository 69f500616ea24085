/* SPDX-License-Identifier: BSD-3-Clause */
/* The outputs of a measurement: the record, the live page, the figures of a snapshot. */
#include "history/judge_outputs.h"

#include <stdlib.h>
#include <string.h>

#include "apapi/record.h"

#define RECORD_ONE_IN 8 /* histories: it takes longer than all else in them */

static bool is_near(double a, double b)
{
    return (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-8 + 1e-8 * fabs(a);
}

static void compare_records(struct play *play, const struct apapi_measurement *a,
                            const struct apapi_measurement *b)
{
    if (a->component_count != b->component_count || a->elapsed_ns != b->elapsed_ns) {
        play_fail(play, "the record has other components or another length");
        return;
    }
    for (size_t c = 0; c < a->component_count; c++) {
        for (size_t i = 0; i < a->components[c].event_count; i++) {
            if (!is_near(a->components[c].events[i].total, b->components[c].events[i].total)) {
                play_fail(play, "c%zu:::E%zu: %.12g J in the record, not %.12g", c, i,
                          b->components[c].events[i].total, a->components[c].events[i].total);
            }
        }
    }
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        if (!is_near(a->domains[d].energy_j, b->domains[d].energy_j)) {
            play_fail(play, "%s: %.12g J in the record, not %.12g", apapi_domain_name(d),
                      b->domains[d].energy_j, a->domains[d].energy_j);
        }
    }
}

/* A record reads as it was written. */
static void judge_outputs_record(struct play *play, const struct apapi_measurement *m)
{
    struct apapi_record record = {
        .id = APAPI_IDENTITY_UNKNOWN, .complete = true, .measurement = *m};
    struct apapi_record copy;
    struct apapi_error err = {""};
    char *line = NULL;

    record.ending = APAPI_ENDING_UNKNOWN;
    strcpy(record.id.node, "n1");
    if (apapi_record_encode(&record, &line, &err) ||
        apapi_record_decode(line, strlen(line), &copy, &err)) {
        play_fail(play, "no record: %s", err.text);
        free(line);
        return;
    }
    compare_records(play, m, &copy.measurement);
    free(line);
    apapi_record_clear(&copy);
}

void judge_record(struct play *play, const struct apapi_measurement *m)
{
    if (play->history.seed % RECORD_ONE_IN == 0) {
        judge_outputs_record(play, m);
    }
}

void judge_page(struct play *play)
{
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        struct apapi_live_slot slot;
        double energy_j = play->run.m.domains[d].energy_j;

        if (!apapi_live_read(&play->page.domains[d], &slot)) {
            play_fail(play, "a slot of the live page is being written for ever");
        } else if (!(slot.flags & APAPI_LIVE_MEASURED) ? !isnan(energy_j)
                                                       : !is_near(slot.total, energy_j)) {
            play_fail(play, "%s: %.9g J on the live page, not %.9g", apapi_domain_name(d),
                      slot.total, energy_j);
        }
    }
    if (play->page.head.end_ns - play->page.head.start_ns != play->run.m.elapsed_ns) {
        play_fail(play, "the live page has another length");
    }
}

/* A step whose sampler is killed has the last snapshot: it never has more than the whole. */
void judge_growth(struct play *play, const struct apapi_measurement *m)
{
    const struct apapi_measurement *end = &play->run.m;

    if (m->elapsed_ns > end->elapsed_ns) {
        play_fail(play, "a snapshot of %.9f s, and the whole is %.9f s",
                  (double)m->elapsed_ns / 1e9, (double)end->elapsed_ns / 1e9);
    }
    for (size_t c = 0; c < m->component_count; c++) {
        for (size_t i = 0; i < m->components[c].event_count; i++) {
            double then = m->components[c].events[i].total;

            if (!(isnan(then) || then <= end->components[c].events[i].total * (1 + 1e-9))) {
                play_fail(play, "c%zu:::E%zu: %.9g J in a snapshot, %.9g at the end", c, i, then,
                          end->components[c].events[i].total);
            }
        }
    }
}
