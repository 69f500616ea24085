/* SPDX-License-Identifier: BSD-3-Clause */
/* The total of one account of a ledger. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "apapi/report_pieces.h"
#include "record/hostlist.h"

#define NS_PER_S 1e9
#define REMARK_SIZE 700
#define NODELIST_COLUMNS 4000

static const struct report_piece *first_piece(const struct report_ledger *ledger,
                                              const struct report_account *account)
{
    return account->first == POOL_NONE ? NULL : &ledger->pieces[account->first];
}

static const struct report_piece *next_piece(const struct report_ledger *ledger,
                                             const struct report_piece *piece)
{
    return piece->next == POOL_NONE ? NULL : &ledger->pieces[piece->next];
}

/* As much of the record again as apapi_job_add() wants. */
static void restore(const struct report_ledger *ledger, const struct report_piece *piece,
                    struct apapi_record *record)
{
    struct apapi_measurement *m = &record->measurement;
    size_t at = piece->energy_at;

    snprintf(record->id.node, sizeof record->id.node, "%s", pool_text(&ledger->texts, piece->node));
    snprintf(record->id.step, sizeof record->id.step, "%s", pool_text(&ledger->texts, piece->step));
    record->complete = piece->reason == POOL_NONE;
    m->start_unix_ns = piece->start_ns;
    m->elapsed_ns = piece->elapsed_ns;
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        struct apapi_domain_result *domain = &m->domains[d];

        domain->measured = piece->domain_mask >> d & 1;
        domain->energy_j = domain->measured ? ledger->energies[at] : NAN;
        domain->timeline.count = 0;
        if (domain->measured && at < ledger->timeline_count) {
            domain->timeline = ledger->timelines[at];
        }
        at += domain->measured;
    }
}

static struct apapi_job *restore_job(const struct report_ledger *ledger,
                                     const struct report_account *account)
{
    static struct apapi_record record;
    struct apapi_job *job = apapi_job_create();

    for (const struct report_piece *piece = first_piece(ledger, account); job && piece;
         piece = next_piece(ledger, piece)) {
        restore(ledger, piece, &record);
        if (apapi_job_add(job, &record)) {
            apapi_job_destroy(job);
            job = NULL;
        }
    }
    return job;
}

static void note_pieces(const struct report_ledger *ledger, const struct report_account *account,
                        struct report_total *total)
{
    total->reason = POOL_NONE;
    total->max_w = NAN;
    for (const struct report_piece *piece = first_piece(ledger, account); piece;
         piece = next_piece(ledger, piece)) {
        double elapsed_s = (double)piece->elapsed_ns / NS_PER_S;

        if (!isnan(piece->covered)) {
            total->covered_s += elapsed_s * (double)piece->covered;
            total->known_s += elapsed_s;
        }
        total->max_w = fmax(total->max_w, (double)piece->max_w);
        total->reason = piece->reason == POOL_NONE ? total->reason : piece->reason;
        if (piece->nodes != APAPI_UNKNOWN && piece->nodes > total->nodes) {
            total->nodes = piece->nodes;
        }
    }
}

/* --- missing records ------------------------------------------------------------------------ */

static int compare_steps(const void *left, const void *right)
{
    const struct report_piece *a = *(const struct report_piece *const *)left,
                              *b = *(const struct report_piece *const *)right;

    if (a->step != b->step) {
        return a->step < b->step ? -1 : 1;
    }
    return (a->node > b->node) - (a->node < b->node);
}

static void remark_missing(const struct report_ledger *ledger, const char *job,
                           const struct report_piece *piece, size_t have,
                           const struct report_view *view)
{
    char text[REMARK_SIZE];

    if (view->remark) {
        snprintf(text, sizeof text, "%s.%s: no record of %zu of %u nodes", job,
                 pool_text(&ledger->texts, piece->step), piece->nodes - have, piece->nodes);
        view->remark(text, view->context);
    }
}

/* A step of the sorted pieces. @return how many of them are its own. */
static size_t count_step(const struct report_piece *const *pieces, size_t count, size_t *have,
                         const struct report_piece **widest)
{
    size_t i = 1;

    *have = 1;
    *widest = pieces[0];
    for (; i < count && pieces[i]->step == pieces[0]->step; i++) {
        *have += pieces[i]->node != pieces[i - 1]->node;
        if (pieces[i]->nodes != APAPI_UNKNOWN &&
            ((*widest)->nodes == APAPI_UNKNOWN || pieces[i]->nodes > (*widest)->nodes)) {
            *widest = pieces[i];
        }
    }
    return i;
}

static int find_missing(const struct report_ledger *ledger, const struct report_account *account,
                        const struct report_view *view, size_t records, struct report_total *total)
{
    const struct report_piece **pieces = calloc(records + 1, sizeof(struct report_piece *));
    const struct report_piece *widest;
    size_t count = 0, have, of_step;

    if (!pieces) {
        return -1;
    }
    for (const struct report_piece *piece = first_piece(ledger, account); piece;
         piece = next_piece(ledger, piece)) {
        pieces[count++] = piece;
    }
    qsort(pieces, count, sizeof(struct report_piece *), compare_steps);
    for (size_t i = 0; i < count; i += of_step) {
        of_step = count_step(pieces + i, count - i, &have, &widest);
        if (widest->nodes != APAPI_UNKNOWN && widest->nodes > have) {
            total->missing += widest->nodes - have;
            remark_missing(ledger, total->job_id, widest, have, view);
        }
    }
    free(pieces);
    return 0;
}

/* --- incomplete records --------------------------------------------------------------------- */

static const char *reason_of(const struct report_ledger *ledger,
                             const struct report_account *account, const char *step,
                             const char *node)
{
    for (const struct report_piece *piece = first_piece(ledger, account); piece;
         piece = next_piece(ledger, piece)) {
        if (piece->reason != POOL_NONE &&
            strcmp(pool_text(&ledger->texts, piece->step), step) == 0 &&
            strcmp(pool_text(&ledger->texts, piece->node), node) == 0) {
            return pool_text(&ledger->texts, piece->reason);
        }
    }
    return "";
}

static void remark_incomplete(const struct report_ledger *ledger,
                              const struct report_account *account, const char *job_id,
                              const struct apapi_job *job, const struct report_view *view)
{
    const char *step, *node;
    char text[REMARK_SIZE];

    for (size_t i = 0; view->remark && (step = apapi_job_incomplete(job, i, &node)); i++) {
        snprintf(text, sizeof text, "%s%s%s: incomplete on %s: %s", job_id, *job_id ? "." : "step ",
                 step, node, reason_of(ledger, account, step, node));
        view->remark(text, view->context);
    }
}

/* --- the whole ------------------------------------------------------------------------------ */

static int compare_numbers(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

    return (a > b) - (a < b);
}

static int make_nodelist(const struct report_ledger *ledger, const struct report_account *account,
                         size_t records, char **nodelist)
{
    uint32_t *numbers = calloc(records + 1, sizeof *numbers);
    const char **names = calloc(records + 1, sizeof(char *));
    size_t count = 0, kept = 0, size;
    FILE *out = numbers && names ? open_memstream(nodelist, &size) : NULL;

    for (const struct report_piece *piece = first_piece(ledger, account); out && piece;
         piece = next_piece(ledger, piece)) {
        numbers[count++] = piece->node;
    }
    if (out) {
        qsort(numbers, count, sizeof *numbers, compare_numbers);
        for (size_t i = 0; i < count; i++) {
            if (i == 0 || numbers[i] != numbers[i - 1]) {
                names[kept++] = pool_text(&ledger->texts, numbers[i]);
            }
        }
        hostlist_put(out, names, kept, NODELIST_COLUMNS);
    }
    free(numbers);
    free(names);
    return out && fclose(out) == 0 ? 0 : -1;
}

static size_t count_pieces(const struct report_ledger *ledger, const struct report_account *account)
{
    size_t count = 0;

    for (const struct report_piece *piece = first_piece(ledger, account); piece;
         piece = next_piece(ledger, piece)) {
        count++;
    }
    return count;
}

static void make_job_id(const struct report_account *account, char *text, size_t size)
{
    struct apapi_identity id = APAPI_IDENTITY_UNKNOWN;

    id.job = account->job;
    if (account->part_kind == '_') {
        id.array_job = account->job;
        id.array_task = account->part;
    } else if (account->part_kind == '+') {
        id.het_job = account->job;
        id.het_offset = account->part;
    }
    report_job_id(&id, text, size);
}

int report_account_sum(const struct report_ledger *ledger, const struct report_account *account,
                       const struct report_view *view, struct report_total *total)
{
    struct apapi_job *job = restore_job(ledger, account);
    size_t records = count_pieces(ledger, account);
    int result = -1;

    *total = (struct report_total){0};
    if (ledger->by != REPORT_BY_NODE) {
        make_job_id(account, total->job_id, sizeof total->job_id);
    }
    note_pieces(ledger, account, total);
    if (job && apapi_job_total(job, &total->job) == 0 &&
        (ledger->by == REPORT_BY_NODE || ledger->by == REPORT_BY_DAY ||
         find_missing(ledger, account, view, records, total) == 0) &&
        (!view->nodelist || make_nodelist(ledger, account, records, &total->nodelist) == 0)) {
        remark_incomplete(ledger, account, total->job_id, job, view);
        result = 0;
    }
    apapi_job_destroy(job);
    errno = result ? ENOMEM : 0;
    return result;
}
