/* SPDX-License-Identifier: BSD-3-Clause */
/* The pieces of a bucket, and the nodes that they are of. */
#include "cli/totals/pieces.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"

int report_compare_pieces(const void *left, const void *right, void *texts)
{
    const struct report_piece *a = *(const struct report_piece *const *)left,
                              *b = *(const struct report_piece *const *)right;
    int order =
        a->step == b->step ? 0 : strverscmp(pool_text(texts, a->step), pool_text(texts, b->step));

    if (order == 0 && a->node != b->node) {
        order = strverscmp(pool_text(texts, a->node), pool_text(texts, b->node));
    }
    if (order == 0 && a->start_ns != b->start_ns) {
        order = a->start_ns < b->start_ns ? -1 : 1;
    }
    if (order == 0 && a->whole_ns != b->whole_ns) {
        order = a->whole_ns > b->whole_ns ? -1 : 1;
    }
    if (order == 0 && (a->reason == POOL_NONE) != (b->reason == POOL_NONE)) {
        order = a->reason == POOL_NONE ? -1 : 1;
    }
    if (order == 0 && a->max_w != b->max_w) {
        order = a->max_w > b->max_w ? -1 : 1;
    }
    return order;
}

static bool pieces_is_same(const struct report_piece *a, const struct report_piece *b)
{
    return a->step == b->step && a->node == b->node && a->start_ns == b->start_ns;
}

int report_gather_pieces(const struct report_ledger *ledger, const struct report_bucket *bucket,
                         struct pieces *pieces)
{
    struct pool texts = ledger->texts;
    size_t count = 0;

    for (uint32_t at = bucket->first; at != POOL_NONE; at = ledger->pieces[at].next) {
        count++;
    }
    pieces->list = calloc(count + 1, sizeof(struct report_piece *));
    if (!pieces->list) {
        return -1;
    }
    count = 0;
    for (uint32_t at = bucket->first; at != POOL_NONE; at = ledger->pieces[at].next) {
        pieces->list[count++] = &ledger->pieces[at];
    }
    qsort_r(pieces->list, count, sizeof(struct report_piece *), report_compare_pieces, &texts);
    pieces->count = 0;
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || !pieces_is_same(pieces->list[pieces->count - 1], pieces->list[i])) {
            pieces->list[pieces->count++] = pieces->list[i];
        }
    }
    return 0;
}

size_t report_nodes(const struct report_piece *const *pieces, size_t count, uint32_t *nodes)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        nodes[i] = pieces[i]->node;
    }
    qsort(nodes, count, sizeof *nodes, compare_uint32);
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || nodes[i] != nodes[kept - 1]) {
            nodes[kept++] = nodes[i];
        }
    }
    return kept;
}

/* --- their total ---------------------------------------------------------------------------- */

static double pieces_mean_w(const struct report_energy *energy, const struct report_piece *piece)
{
    return energy->energy_j * NS_PER_S / ((double)piece->elapsed_ns * energy->known);
}

/* Restore the part of a record that apapi_job_add() needs. */
static void pieces_restore(const struct report_ledger *ledger, const struct report_piece *piece,
                           struct apapi_record *record)
{
    struct apapi_measurement *m = &record->measurement;
    size_t at = piece->energy_at;

    snprintf(record->id.node, sizeof record->id.node, "%s", pool_text(&ledger->texts, piece->node));
    snprintf(record->id.step, sizeof record->id.step, "%s", pool_text(&ledger->texts, piece->step));
    record->complete = piece->reason == POOL_NONE;
    snprintf(m->boot, sizeof m->boot, "%s", pool_text(&ledger->texts, piece->boot));
    m->monotonic_ns = piece->monotonic_ns;
    record->id.job = record->id.nodes = record->id.restarts = APAPI_UNKNOWN;
    if (ledger->by != REPORT_BY_NODE) { /* else of many jobs */
        record->id.job = piece->job;
        record->id.nodes = piece->nodes;
        record->id.restarts = piece->restarts;
    }
    m->start_unix_ns = piece->start_ns;
    m->elapsed_ns = piece->elapsed_ns;
    m->unknown_domains = piece->unknown_mask;
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        struct apapi_domain_result *domain = &m->domains[d];

        domain->measured = piece->domain_mask >> d & 1;
        domain->energy_j = domain->measured ? ledger->energies[at].energy_j : NAN;
        domain->power_w = (struct apapi_summary){
            NAN, domain->measured ? pieces_mean_w(&ledger->energies[at], piece) : NAN, NAN, NAN};
        domain->uncertainty_j = domain->energy_j * (double)piece->uncertainty;
        domain->timeline.count = 0;
        if (domain->measured && at < ledger->timeline_count) {
            domain->timeline = ledger->timelines[at];
        }
        at += domain->measured;
    }
}

struct apapi_job *report_pieces_job(const struct report_ledger *ledger, const struct pieces *pieces)
{
    static struct apapi_record record;
    struct apapi_job *job = apapi_job_create();

    for (size_t i = 0; job && i < pieces->count; i++) {
        pieces_restore(ledger, pieces->list[i], &record);
        if (apapi_job_add(job, &record)) {
            apapi_job_destroy(job);
            job = NULL;
        }
    }
    return job;
}

int report_pieces_total(const struct report_ledger *ledger, const struct pieces *pieces,
                        struct apapi_job_total *total)
{
    struct apapi_job *job = report_pieces_job(ledger, pieces);
    int result = job ? apapi_job_total(job, total) : -1;

    apapi_job_destroy(job);
    return result;
}
