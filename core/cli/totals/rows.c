/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of a ledger: sums of buckets. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/hostlist.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/totals/totals.h"
#include "record/record.h"
#include "sum/members.h"

/* --- what the site says of a kWh ------------------------------------------------------------- */

int rates_set(struct rates *rates, const char *key, const char *text, struct apapi_error *err)
{
    double *rate = strcmp(key, "co2_g_per_kwh") == 0   ? &rates->co2_g_per_kwh
                   : strcmp(key, "price_per_kwh") == 0 ? &rates->price_per_kwh
                                                       : &rates->pue;
    double value;
    char *end;

    if (strcmp(key, "currency") == 0) {
        rates->currency = text;
        return 0;
    }
    value = strtod(text, &end);
    if (*text < '0' || *text > '9' || *end || !isfinite(value)) {
        return apapi_fail(err, EINVAL, "'%.40s' is not a number from 0 on", text);
    }
    if (rate == &rates->pue && value < 1) { /* a site's energy includes that of its machines */
        return apapi_fail(err, EINVAL, "%g is below 1", value);
    }
    *rate = value;
    return 0;
}

int rates_read(const struct config *config, struct rates *rates, struct apapi_error *err)
{
    *rates = (struct rates){NAN, NAN, 1, ""};
    for (size_t i = 0; i < config->setting_count; i++) {
        const struct config_setting *setting = &config->settings[i];
        struct apapi_error why;

        if (strcmp(setting->section, "report") == 0 &&
            rates_set(rates, setting->key, setting->value, &why)) {
            return apapi_fail(err, EINVAL, "%.80s:%zu: %s: %.100s", config->path, setting->line,
                              setting->key, why.text);
        }
    }
    return 0;
}

/* --- a row in progress ----------------------------------------------------------------------- */

#define PCT 100
#define J_PER_KWH 3.6e6
#define REMARK_COLUMNS 200
#define REPORT_LIST_COLUMNS 4000 /* of a list of nodes in a row; the other nodes are counted */

/* State of a row while it is summed up. */
struct row_sum {
    const struct report_ledger *ledger;
    const struct report_view *view;
    struct report_row *row;
    /* not shown in the row: */
    double busy_s;      /* energy divided by power [s] */
    uint64_t window_ns; /* shortest time with a power, longest of its jobs; 0: not known */
    double node_s;      /* node time of all jobs */
    double measured_s;  /* part of node_s with known energy */
    double covered_s, known_s;
    double node_count;
    uint32_t missing_domains;
    /* of the bucket that is added at present: */
    const struct report_bucket *bucket;
    struct sum_entries entries; /* sorted by step, node and start, then as sum_total() does */
    struct apapi_job_total total;
    size_t delayed;                /* number of entries written late */
    const char *job_id;            /* "": the row is a node, or not of Slurm */
    struct namelist missing_nodes; /* of the bucket's steps */
};

/* --- remarks ---------------------------------------------------------------------------------- */

static void remark_job(const struct row_sum *sum)
{
    const struct apapi_job_total *job = &sum->total;

    /* an unknown domain makes the total too low, and nothing else says so */
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        if (job->missing_domains & domain_bit(d) && job->domains[d].unknown > 0) {
            remark(sum->view->remarks,
                   "%s: the energy lacks %s, at times not known on %zu of %zu nodes", sum->job_id,
                   apapi_domain_name(d), job->domains[d].unknown, job->nodes);
        }
    }
    /* overlaps of records were found by the node's time since boot, not by its clock */
    if (job->clock_jump_ns >= TIMING_JUMP_NS) {
        remark(sum->view->remarks, "%s: the clock of a node jumped by %s", sum->job_id,
               units_duration((double)job->clock_jump_ns / NS_PER_S).text);
    }
    if (job->clock_apart_ns > 0) {
        remark(sum->view->remarks, "%s: the clocks of its nodes differ by %s", sum->job_id,
               units_duration((double)job->clock_apart_ns / NS_PER_S).text);
    }
    if (sum->delayed > 0) { /* late records explain why a report has changed */
        remark(sum->view->remarks, "%s: %zu of %zu records were written late", sum->job_id,
               sum->delayed, job->records);
    }
}

static void remark_piece(const struct row_sum *sum, const struct sum_entry *entry)
{
    const struct report_ledger *ledger = sum->ledger;
    const struct sum_piece *piece = entry->piece;
    const char *job_id = sum->job_id;
    char step[160]; /* "17.0, restart 1" */

    if (piece->reason == POOL_NONE && !piece->shareless && !piece->has_idle) {
        return;
    }
    if (ledger->by == REPORT_BY_NODE) {
        job_id =
            pool_text(&ledger->store.texts, ledger->identities[piece->mark].words[REPORT_JOB_ID]);
    }
    snprintf(step, sizeof step, "%s%s%s%s", job_id, *job_id ? "." : "step ", entry->step,
             restart_text(entry->restarts).text);
    if (piece->reason != POOL_NONE) {
        remark(sum->view->remarks, "%s: incomplete on %s: %s", step, entry->node,
               pool_text(&ledger->store.texts, piece->reason));
    }
    if (piece->shareless) {
        remark(sum->view->remarks, "%s: no share on %s: the energy lacks it", step, entry->node);
    }
    if (piece->has_idle) {
        remark(sum->view->remarks, "%s: idle power of %s not known: energy and cost include it",
               step, entry->node);
    }
}

/* --- nodes ------------------------------------------------------------------------------------ */

static int remark_gap(const struct row_sum *sum, const struct sum_gap *gap)
{
    char *names = hostlist_text(gap->named ? &gap->missing : &gap->recorded, REMARK_COLUMNS);

    if (!names) {
        return -1;
    }
    remark(sum->view->remarks, "%s.%s%s: no record of %zu of %u nodes%s%s", sum->job_id, gap->step,
           restart_text(gap->restarts).text, gap->count, gap->nodes,
           gap->named ? ": " : "; there is one of ", names);
    free(names);
    return 0;
}

static int note_gap(const struct sum_gap *gap, void *context)
{
    struct row_sum *sum = context;

    sum->row->missing += (double)gap->count;
    for (size_t i = 0; i < gap->missing.count && sum->view->nodelists; i++) {
        if (namelist_add(&sum->missing_nodes, gap->missing.names[i])) {
            return -1;
        }
    }
    return sum->view->remarks ? remark_gap(sum, gap) : 0;
}

static int put_nodelists(struct row_sum *sum)
{
    struct report_row *row = sum->row;
    struct namelist nodes = {0};

    if (sum_nodes(&sum->entries, &nodes) == 0) {
        row->nodelist = hostlist_text(&nodes, REPORT_LIST_COLUMNS);
    }
    if (sum->missing_nodes.count > 0) {
        namelist_unique(&sum->missing_nodes);
        row->missing_nodes = hostlist_text(&sum->missing_nodes, REPORT_LIST_COLUMNS);
    }
    namelist_free(&nodes);
    return row->nodelist && (row->missing_nodes || sum->missing_nodes.count == 0) ? 0 : -1;
}

/* --- rows ------------------------------------------------------------------------------------- */

/* Add single records; entries are sorted by step, node and start. */
static void rows_add_pieces(struct row_sum *sum)
{
    struct report_row *row = sum->row;

    sum->delayed = 0;
    for (size_t i = 0; i < sum->entries.count; i++) {
        const struct sum_piece *piece = sum->entries.list[i].piece;
        double elapsed_s = (double)piece->elapsed_ns / NS_PER_S;

        if (!isnan(piece->covered)) {
            sum->covered_s += elapsed_s * (double)piece->covered;
            sum->known_s += elapsed_s;
        }
        if (piece->reason != POOL_NONE && row->incomplete++ == 0) {
            row->reason = pool_text(&sum->ledger->store.texts, piece->reason);
        }
        row->max_power_w = fmax(row->max_power_w, (double)piece->max_w);
        row->shareless += piece->shareless;
        row->with_idle += piece->has_idle;
        sum->delayed += piece->delayed;
        if (sum->view->remarks) {
            remark_piece(sum, &sum->entries.list[i]);
        }
    }
    row->records += (double)sum->entries.count;
    row->delayed += (double)sum->delayed;
}

/* Fill in what only a row of one job has. */
static void rows_put_job(const struct row_sum *sum)
{
    const struct report_bucket *bucket = sum->bucket;
    struct report_row *row = sum->row;
    const struct sum_store *store = &sum->ledger->store;
    const char *step =
        pool_text(&store->texts, store->pieces[sum->ledger->order[bucket->first]].step);

    snprintf(row->job_id, sizeof row->job_id, "%s", sum->job_id);
    row->restarts = bucket->restarts == APAPI_UNKNOWN ? (double)NAN : bucket->restarts;
    if (bucket->code != APAPI_UNKNOWN) {
        bool good = bucket->code == 0 && (bucket->signal == 0 || bucket->signal == APAPI_UNKNOWN);

        row->state = good ? "COMPLETED" : "FAILED"; /* records know no other state of Slurm */
        snprintf(row->exit, sizeof row->exit, "%u:%u", bucket->code,
                 bucket->signal == APAPI_UNKNOWN ? 0 : bucket->signal);
    }
    if (sum->ledger->by == REPORT_BY_STEP) {
        snprintf(row->step_id, sizeof row->step_id, "%s%s%s", row->job_id, *step ? "." : "", step);
    }
}

static void rows_add_total(struct row_sum *sum)
{
    const struct apapi_job_total *job = &sum->total;
    const struct rates *rates = sum->view->rates;
    double energy_kwh = job->energy_j / J_PER_KWH * rates->pue; /* used by the site */
    struct report_row *row = sum->row;

    row->elapsed_s += (double)job->elapsed_ns / NS_PER_S;
    sum->node_s += job->node_s;
    sum->measured_s += (double)job->covered_ns / NS_PER_S;
    sum->node_count += (double)job->job_nodes;
    sum->window_ns = job->window_ns > sum->window_ns ? job->window_ns : sum->window_ns;
    if (job->mean_w >= 0) { /* known */
        sum->busy_s +=
            job->mean_w > 0 ? job->energy_j / job->mean_w : (double)job->busy_ns / NS_PER_S;
    }
    row->start_ns =
        row->jobs == 0 || job->start_unix_ns < row->start_ns ? job->start_unix_ns : row->start_ns;
    row->end_ns = row->jobs == 0 || job->end_unix_ns > row->end_ns ? job->end_unix_ns : row->end_ns;
    row->jobs++;
    row->steps += (double)job->steps;
    sum_plus(job->energy_j, job->uncertainty_j, &row->energy_j, &row->uncertainty_j);
    sum->missing_domains |= job->missing_domains;
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        row->domain_j[d] = known_plus(row->domain_j[d], job->domains[d].energy_j);
    }
    row->co2_g = known_plus(row->co2_g, energy_kwh * rates->co2_g_per_kwh);
    row->cost = known_plus(row->cost, energy_kwh * rates->price_per_kwh);
}

static void rows_conclude(const struct row_sum *sum)
{
    const struct report_ledger *ledger = sum->ledger;
    struct report_row *row = sum->row;

    row->complete = row->incomplete == 0 && !(row->missing > 0);
    domain_list_text(sum->missing_domains, ",", row->missing_domains);
    row->brief = sum->busy_s * NS_PER_S < (double)sum->window_ns;
    row->power_w = sum->busy_s > 0 ? row->energy_j / sum->busy_s : NAN;
    row->measured_pct = sum->node_s > 0 ? PCT * fmin(sum->measured_s / sum->node_s, 1) : NAN;
    row->covered_pct = sum->known_s > 0 ? PCT * sum->covered_s / sum->known_s : NAN;
    if (ledger->group_count > 0) {
        row->nodes = NAN; /* jobs share nodes */
    } else {
        row->nodes = sum->node_count;
        row->energy_per_node_j = row->energy_j / sum->node_count;
    }
    if (ledger->by == REPORT_BY_NODE) {
        row->jobs = row->steps = NAN; /* the numbers of steps do not tell jobs apart */
    }
}

void report_row_free(struct report_row *row)
{
    free(row->nodelist);
    free(row->missing_nodes);
    row->nodelist = row->missing_nodes = NULL;
}

/* --- a row ------------------------------------------------------------------------------------ */

static int rows_add_bucket(struct row_sum *sum)
{
    const struct report_ledger *ledger = sum->ledger;
    bool names = sum->view->remarks || sum->view->nodelists;
    const struct sum_piece *first = &ledger->store.pieces[ledger->order[sum->bucket->first]];
    int result = sum_gather(&ledger->store, ledger->order + sum->bucket->first, sum->bucket->count,
                            &sum->entries);

    sum->job_id = pool_text(&ledger->store.texts, sum->bucket->words[REPORT_JOB_ID]);
    for (int w = 0; w < REPORT_WORDS; w++) { /* those that are the same in all buckets are kept */
        const char *text = pool_text(&ledger->store.texts, sum->bucket->words[w]);
        const char **word = &sum->row->words[w];

        *word = !*word || strcmp(*word, text) == 0 ? text : "";
    }
    if (result == 0) {
        rows_add_pieces(sum);
        if (ledger->by != REPORT_BY_STEP && ledger->by != REPORT_BY_NODE) {
            sum_of_job(&sum->entries);
        }
        result = sum_total(&ledger->store, &sum->entries, &sum->total) ||
                 (!isnan(sum->row->missing) &&
                  sum_each_gap(&ledger->store, &sum->entries, names, note_gap, sum)) ||
                 (sum->view->nodelists && ledger->group_count == 0 && put_nodelists(sum));
    }
    if (result == 0) {
        if (sum->view->remarks && *sum->job_id) {
            remark_job(sum);
        }
        if (ledger->by == REPORT_BY_JOB || ledger->by == REPORT_BY_STEP) {
            rows_put_job(sum);
        } else if (ledger->by == REPORT_BY_NODE) {
            sum->row->node = pool_text(&ledger->store.texts, first->node);
        }
        rows_add_total(sum);
    }
    free(sum->entries.list);
    sum->entries = (struct sum_entries){NULL, 0};
    namelist_free(&sum->missing_nodes);
    return result ? -1 : 0;
}

int report_ledger_sum(const struct report_ledger *ledger, uint32_t row_at,
                      const struct report_view *view, struct report_row *row)
{
    struct row_sum sum = {.ledger = ledger, .view = view, .row = row};

    bool whole = ledger->by != REPORT_BY_NODE && ledger->by != REPORT_BY_DAY; /* has whole steps */

    *row = (struct report_row){.missing = whole ? 0 : NAN,
                               .shareless = ledger->store.shares ? 0 : NAN,
                               .with_idle = ledger->store.shares ? 0 : NAN,
                               .restarts = NAN,
                               .energy_j = NAN,
                               .energy_per_node_j = NAN,
                               .uncertainty_j = NAN,
                               .max_power_w = NAN,
                               .co2_g = NAN,
                               .cost = NAN};
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        row->domain_j[d] = NAN;
    }
    for (uint32_t at = row_at;
         at < ledger->bucket_count && report_ledger_same_row(ledger, row_at, at); at++) {
        sum.bucket = &ledger->buckets[at];
        if (rows_add_bucket(&sum)) {
            report_row_free(row);
            return -1;
        }
    }
    rows_conclude(&sum);
    return 0;
}

/* --- energy that rows count twice ----------------------------------------------------------- */

/* Sort pieces by node and time. */
static int shared_compare(const void *left, const void *right, void *pieces)
{
    const struct sum_piece *a = (const struct sum_piece *)pieces + *(const uint32_t *)left;
    const struct sum_piece *b = (const struct sum_piece *)pieces + *(const uint32_t *)right;
    int order = COMPARE(a->node, b->node);

    order = order ? order : COMPARE(a->cluster, b->cluster);
    order = order ? order : COMPARE(a->start_ns, b->start_ns);
    return order ? order : COMPARE(a->mark, b->mark);
}

static int shared_compare_buckets(const void *left, const void *right, void *pieces)
{
    return COMPARE(((const struct sum_piece *)pieces)[*(const uint32_t *)left].mark,
                   ((const struct sum_piece *)pieces)[*(const uint32_t *)right].mark);
}

/* Count the pieces of the first one's node. @param overlap  set if two buckets of them overlap */
static size_t shared_same_node(const struct sum_piece *pieces, const uint32_t *numbers,
                               size_t count, bool *overlap)
{
    const struct sum_piece *first = &pieces[*numbers], *last = first; /* last: has the latest end */
    int64_t until_ns = INT64_MIN;
    size_t i = 0;

    for (*overlap = false; i < count && pieces[numbers[i]].node == first->node &&
                           pieces[numbers[i]].cluster == first->cluster;
         i++) {
        const struct sum_piece *piece = &pieces[numbers[i]];
        int64_t end_ns = piece->start_ns + (int64_t)piece->elapsed_ns;

        *overlap |= piece->mark != last->mark && piece->start_ns < until_ns;
        last = end_ns > until_ns ? piece : last;
        until_ns = end_ns > until_ns ? end_ns : until_ns;
    }
    return i;
}

/* Add the energy of some pieces of a node, counting each moment once; add nothing if not known. */
static int shared_add_energy(const struct sum_store *store, const uint32_t *numbers, size_t count,
                             double *energy_j)
{
    struct sum_entries chosen = {NULL, 0};
    struct apapi_job_total total;
    int result = sum_gather(store, numbers, count, &chosen) || sum_total(store, &chosen, &total);

    if (!result && !isnan(total.energy_j)) {
        *energy_j += total.energy_j;
    }
    free(chosen.list);
    return result ? -1 : 0;
}

/* Add by how much the energies of a node's buckets exceed what the node has used. */
static int shared_add_node(const struct sum_store *store, uint32_t *numbers, size_t count,
                           double *shared_j)
{
    double node_j = 0, sum_j = 0;
    int result = shared_add_energy(store, numbers, count, &node_j);

    qsort_r(numbers, count, sizeof *numbers, shared_compare_buckets, store->pieces);
    for (size_t first = 0, end = 0; first < count && result == 0; first = end) {
        while (end < count &&
               store->pieces[numbers[end]].mark == store->pieces[numbers[first]].mark) {
            end++;
        }
        result = shared_add_energy(store, numbers + first, end - first, &sum_j);
    }
    *shared_j += fmax(sum_j - node_j, 0);
    return result;
}

int report_ledger_shared(const struct report_ledger *ledger, double *shared_j)
{
    const struct sum_store *store = &ledger->store;
    bool jobs = ledger->by != REPORT_BY_NODE && ledger->by != REPORT_BY_STEP; /* are added up */
    uint32_t *numbers = sum_numbers(store);
    size_t count = 0;
    int result = numbers ? 0 : -1;

    *shared_j = 0;
    for (uint32_t i = 0; i < store->piece_count && jobs && numbers; i++) {
        numbers[count] = i;
        count += !store->shares || store->pieces[i].exclusive; /* other shares do not overlap */
    }
    if (count > 0) {
        qsort_r(numbers, count, sizeof *numbers, shared_compare, store->pieces);
    }
    for (size_t first = 0, same; first < count && result == 0; first += same) {
        bool overlap;

        same = shared_same_node(store->pieces, numbers + first, count - first, &overlap);
        result = overlap ? shared_add_node(store, numbers + first, same, shared_j) : 0;
    }
    free(numbers);
    return result;
}
