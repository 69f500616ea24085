/* SPDX-License-Identifier: BSD-3-Clause */
/* The total of one bucket of a ledger. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hostlist.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/jobs.h"
#include "cli/totals/pieces.h"
#include "cli/totals/shares.h"
#include "record/record.h"
#include "sum/timing.h"

#define REMARK_SIZE 700

struct incomplete {
    const char *reason;
    char run[32]; /* "": the first, or the only one */
};

/* 0: not known. */
static double shorter_s(double a_s, double b_s)
{
    return a_s == 0 || (b_s > 0 && b_s < a_s) ? b_s : a_s;
}

static void note_pieces(const struct pieces *pieces, struct report_total *total)
{
    total->reason = POOL_NONE;
    total->max_w = NAN;
    for (size_t i = 0; i < pieces->count; i++) {
        const struct report_piece *piece = pieces->list[i];
        double elapsed_s = (double)piece->elapsed_ns / NS_PER_S;

        if (!isnan(piece->covered)) {
            total->covered_s += elapsed_s * (double)piece->covered;
            total->known_s += elapsed_s;
        }
        total->max_w = fmax(total->max_w, (double)piece->max_w);
        total->window_s = shorter_s(total->window_s, (double)piece->window_s);
        total->reason = total->reason == POOL_NONE ? piece->reason : total->reason;
        total->delayed += piece->delayed;
    }
}

/* --- nodes ---------------------------------------------------------------------------------- */

static int bucket_put_nodes(const struct report_ledger *ledger, const uint32_t *nodes, size_t count,
                            size_t columns, FILE *out)
{
    const char **names = calloc(count + 1, sizeof(char *));

    if (!names) {
        return -1;
    }
    for (size_t i = 0; i < count; i++) {
        names[i] = pool_text(&ledger->texts, nodes[i]);
    }
    hostlist_put(out, names, count, columns);
    free(names);
    return 0;
}

static int make_nodelist(const struct report_ledger *ledger, const struct pieces *pieces,
                         char **nodelist)
{
    uint32_t *nodes = calloc(pieces->count + 1, sizeof *nodes);
    size_t size;
    FILE *out = nodes ? open_memstream(nodelist, &size) : NULL;
    int result =
        out ? bucket_put_nodes(ledger, nodes, report_nodes(pieces->list, pieces->count, nodes),
                               REPORT_LIST_COLUMNS, out)
            : -1;

    free(nodes);
    return text_of_stream(out, nodelist, result) ? 0 : -1;
}

/* --- incomplete records --------------------------------------------------------------------- */

/* Why a record is incomplete, and in which run of its job; "": there is no such record. */
static void describe_incomplete(const struct report_ledger *ledger, const struct pieces *pieces,
                                const char *step, const char *node, struct incomplete *incomplete)
{
    *incomplete = (struct incomplete){.reason = ""};
    for (size_t i = 0; i < pieces->count; i++) {
        const struct report_piece *piece = pieces->list[i];

        if (piece->reason != POOL_NONE &&
            strcmp(pool_text(&ledger->texts, piece->step), step) == 0 &&
            strcmp(pool_text(&ledger->texts, piece->node), node) == 0) {
            incomplete->reason = pool_text(&ledger->texts, piece->reason);
            if (piece->restarts > 0) {
                snprintf(incomplete->run, sizeof incomplete->run, ", restart %u", piece->restarts);
            }
            return;
        }
    }
}

static void remark_incomplete(const struct report_ledger *ledger, const struct pieces *pieces,
                              const struct report_total *total, const struct apapi_job *job,
                              const struct report_view *view)
{
    const char *job_id = total->job_id, *step, *node;
    size_t incomplete = total->job.incomplete;
    char text[REMARK_SIZE] = "";
    size_t listed = 0;

    for (; view->remark && listed < REPORT_REMARKS_MAX &&
           (step = apapi_job_incomplete(job, listed, &node));
         listed++) {
        struct incomplete one;

        describe_incomplete(ledger, pieces, step, node, &one);
        snprintf(text, sizeof text, "%s%s%s%s: incomplete on %s: %s", job_id,
                 *job_id ? "." : "step ", step, one.run, node, one.reason);
        view->remark(text, view->context);
    }
    for (; view->remark && listed < incomplete; listed++) {
        view->remark(text, view->context);
    }
}

/* Its total is less than the energy, and nothing else says so. */
static void remark_missing(const struct report_total *total, const struct report_view *view)
{
    const struct apapi_job_total *job = &total->job;
    char text[REMARK_SIZE];

    for (int d = 0; view->remark && *total->job_id && d < APAPI_DOMAINS; d++) {
        if (job->missing_domains & domain_bit(d) && job->domains[d].unknown > 0) {
            snprintf(text, sizeof text,
                     "%s: the energy lacks %s, at times not known on %zu of %zu nodes",
                     total->job_id, apapi_domain_name(d), job->domains[d].unknown, job->nodes);
            view->remark(text, view->context);
        }
    }
}

/* What overlaps was not told by its clock. */
static void remark_clocks(const struct report_total *total, const struct report_view *view)
{
    char text[REMARK_SIZE], duration[UNITS_SIZE];

    if (view->remark && total->job.clock_jump_ns >= TIMING_JUMP_NS && *total->job_id) {
        units_duration(duration, sizeof duration, (double)total->job.clock_jump_ns / NS_PER_S);
        snprintf(text, sizeof text, "%s: the clock of a node jumped by %s", total->job_id,
                 duration);
        view->remark(text, view->context);
    }
    if (view->remark && total->job.clock_apart_ns > 0 && *total->job_id) {
        units_duration(duration, sizeof duration, (double)total->job.clock_apart_ns / NS_PER_S);
        snprintf(text, sizeof text, "%s: the clocks of its nodes differ by %s", total->job_id,
                 duration);
        view->remark(text, view->context);
    }
}

/* For jobs only: it explains why a report has changed. */
static void remark_delayed(const struct report_total *total, const struct report_view *view)
{
    char text[REMARK_SIZE];

    if (view->remark && total->delayed > 0 && *total->job_id) {
        snprintf(text, sizeof text, "%s: %zu of %zu records were written late", total->job_id,
                 total->delayed, total->job.records);
        view->remark(text, view->context);
    }
}

/* --- the whole ------------------------------------------------------------------------------ */

static void make_job_id(const struct report_bucket *bucket, char *text, size_t size)
{
    struct apapi_identity id = APAPI_IDENTITY_UNKNOWN;

    id.job = bucket->job;
    if (bucket->part_kind == '_') {
        id.array_job = bucket->job;
        id.array_task = bucket->part;
    } else if (bucket->part_kind == '+') {
        id.het_job = bucket->job;
        id.het_offset = bucket->part;
    }
    job_id_text(&id, text, size);
}

static int sum_up(const struct report_ledger *ledger, const struct pieces *pieces,
                  const struct report_view *view, struct report_total *total)
{
    struct apapi_job *job = report_pieces_job(ledger, pieces);
    int result = -1;

    if (job && apapi_job_total(job, &total->job) == 0 &&
        (!ledger->shares || report_shares_total(ledger, pieces, &total->job) == 0) &&
        (ledger->by == REPORT_BY_NODE || ledger->by == REPORT_BY_DAY ||
         report_find_missing(ledger, pieces, view, total) == 0) &&
        (!view->nodelists || make_nodelist(ledger, pieces, &total->nodelist) == 0)) {
        remark_incomplete(ledger, pieces, total, job, view);
        remark_missing(total, view);
        remark_clocks(total, view);
        remark_delayed(total, view);
        total->shareless = report_shareless(ledger, pieces, total->job_id, view);
        result = 0;
    }
    apapi_job_destroy(job);
    return result;
}

int report_bucket_sum(const struct report_ledger *ledger, const struct report_bucket *bucket,
                      const struct report_view *view, struct report_total *total)
{
    struct pieces pieces;
    int result = -1;

    *total = (struct report_total){0};
    if (ledger->by != REPORT_BY_NODE) {
        make_job_id(bucket, total->job_id, sizeof total->job_id);
    }
    if (report_gather_pieces(ledger, bucket, &pieces) == 0) {
        note_pieces(&pieces, total);
        result = sum_up(ledger, &pieces, view, total);
        free(pieces.list);
    }
    errno = result ? ENOMEM : 0;
    return result;
}
