/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums of a report: which records belong to which sum, what they say about it, and their order. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/hostlist.h"
#include "base/units.h"
#include "cli/totals/totals.h"
#include "record/record.h"
#include "sum/members.h"

#define DAYS_MAX 4000 /* parts of one record that is divided by day */

/* --- records -------------------------------------------------------------------------------- */

/* @return the number of the identity; POOL_NONE: out of memory */
static uint32_t put_identity(struct report_ledger *ledger, const struct apapi_identity *id,
                             const char *day)
{
    struct report_identity identity = {.uid = id->uid, .verified = id->verified};
    char job_id[JOB_ID_SIZE], key[16 * REPORT_WORDS];
    const char *const words[REPORT_WORDS] = {[REPORT_USER] = id->user,
                                             [REPORT_ACCOUNT] = id->account,
                                             [REPORT_PARTITION] = id->partition,
                                             [REPORT_QOS] = id->qos,
                                             [REPORT_CLUSTER] = id->cluster,
                                             [REPORT_DAY] = day,
                                             [REPORT_JOB_ID] = job_id,
                                             [REPORT_JOB_NAME] = id->job_name,
                                             [REPORT_NAME] = id->name};
    size_t length = (size_t)snprintf(key, sizeof key, "%x%c", id->uid, id->verified ? '+' : '-');
    uint32_t number;

    job_id_text(id, job_id, sizeof job_id);
    for (int w = 0; w < REPORT_WORDS; w++) {
        identity.words[w] = pool_put(&ledger->store.texts, words[w]);
        if (identity.words[w] == POOL_NONE) {
            return POOL_NONE;
        }
        length += (size_t)snprintf(key + length, sizeof key - length, "%x/", identity.words[w]);
    }
    number = pool_put_row(&ledger->identity_keys, key, &ledger->identities, &ledger->identity_room,
                          sizeof identity);
    if (number != POOL_NONE) {
        ledger->identities[number] = identity;
    }
    return number;
}

/* @param day  "": the record is not divided by day */
static int put_part(struct report_ledger *ledger, const struct apapi_record *record,
                    const struct span *part, const char *day, uint64_t digest)
{
    struct sum_piece *piece;
    uint32_t identity = pool_put(&ledger->store.texts, ""); /* "" gets the number 0 */

    identity = identity == POOL_NONE ? identity : put_identity(ledger, &record->id, day);
    if (identity == POOL_NONE || sum_add(&ledger->store, record, part)) {
        errno = ENOMEM;
        return -1;
    }
    piece = &ledger->store.pieces[ledger->store.piece_count - 1];
    piece->mark = identity;
    piece->digest = digest;
    return 0;
}

/* @return the next local midnight. `day` gets the date of unix_ns as "2026-11-21". */
static int64_t day_end_ns(int64_t unix_ns, char day[16])
{
    time_t seconds = unix_ns / NS_PER_S, end;
    struct tm date = {0};

    localtime_r(&seconds, &date);
    strftime(day, 16, "%Y-%m-%d", &date);
    date.tm_hour = date.tm_min = date.tm_sec = 0;
    date.tm_mday++;
    date.tm_isdst = -1;
    end = mktime(&date);
    return (end > seconds ? end : seconds + 1) * NS_PER_S;
}

/* Find the part of a record in the day after `part`; the first part if `days` is 0. */
static bool next_day(const struct apapi_measurement *m, int days, struct span *part, char day[16])
{
    int64_t end_ns = m->start_unix_ns + (int64_t)m->elapsed_ns;

    part->start_ns = days ? part->end_ns : m->start_unix_ns;
    if (days && part->start_ns >= end_ns) {
        return false;
    }
    part->end_ns = day_end_ns(part->start_ns, day);
    part->end_ns = part->end_ns > end_ns || days + 1 == DAYS_MAX ? end_ns : part->end_ns;
    return true;
}

unsigned report_ledger_parts(const struct apapi_record *record, void *ledger)
{
    bool divides = ((const struct report_ledger *)ledger)->by == REPORT_BY_DAY;
    struct span part = {0};
    unsigned days = 0;
    char day[16];

    while (divides && next_day(&record->measurement, (int)days, &part, day)) {
        days++;
    }
    return divides ? days : 1;
}

int report_ledger_add(struct report_ledger *ledger, const struct apapi_record *record,
                      uint64_t digest)
{
    bool divides = ledger->by == REPORT_BY_DAY;
    int result = divides ? 0 : put_part(ledger, record, NULL, "", digest);
    struct span part = {0};
    char day[16];

    for (int days = 0; divides && result == 0 && next_day(&record->measurement, days, &part, day);
         days++) {
        result = put_part(ledger, record, &part, day, digest);
    }
    return result;
}

/* --- what records say of their job ---------------------------------------------------------- */

/* Any user's jobs run on a node. @return the word that all of its records have in common; else 0 */
static uint32_t common_word(const struct report_ledger *ledger, const struct sum_entries *entries,
                            int word)
{
    uint32_t found = ledger->identities[entries->list[0].piece->mark].words[word];

    for (size_t i = 1; i < entries->count && found; i++) {
        uint32_t other = ledger->identities[entries->list[i].piece->mark].words[word];

        found = other == found ? found : 0;
    }
    return found;
}

/* Slurm's values have priority over those of the step's environment, which the user controls, and
 * the names of parts of array and het jobs over other names. Of equal ones, the earliest counts. */
static uint32_t word_of(const struct report_ledger *ledger, const struct sum_entries *entries,
                        int word)
{
    bool id = word == REPORT_JOB_ID;
    bool of_slurm = word != REPORT_NAME;
    enum { NONE, OF_ANY, OF_PART, OF_SLURM } rank, best = NONE, top = of_slurm ? OF_SLURM : OF_ANY;
    uint32_t found = 0;

    if (ledger->by == REPORT_BY_NODE) {
        return id ? 0 : common_word(ledger, entries, word);
    }
    for (size_t i = 0; i < entries->count && best < top; i++) {
        const struct report_identity *identity = &ledger->identities[entries->list[i].piece->mark];
        uint32_t own = identity->words[word];

        rank = of_slurm && identity->verified                              ? OF_SLURM
               : id && strpbrk(pool_text(&ledger->store.texts, own), "_+") ? OF_PART
                                                                           : OF_ANY;
        if (own && rank > best) {
            found = own;
            best = rank;
        }
    }
    return found;
}

/* Name a user without a name by his uid, as ls does. @return 0; -1: out of memory */
static int name_user(struct report_ledger *ledger, struct report_bucket *bucket)
{
    uint32_t first = ledger->store.pieces[ledger->order[bucket->first]].mark;
    uint32_t uid = ledger->identities[first].uid;

    if (bucket->words[REPORT_USER] || uid == APAPI_UNKNOWN || ledger->by == REPORT_BY_NODE) {
        return 0;
    }
    bucket->words[REPORT_USER] = pool_put(&ledger->store.texts, units_part(true, "%u", uid).text);
    return bucket->words[REPORT_USER] == POOL_NONE ? -1 : 0;
}

/* Note how the tasks ended, in all runs: if runs are known, in the last one by start, as a user can
 * choose `restarts` in a job's first run. @param entries  sorted by start */
static void note_ending(struct report_bucket *bucket, const struct sum_entries *entries, bool runs)
{
    const struct sum_entry *last = entries->list;

    for (size_t i = 0; i < entries->count; i++) {
        last = entries->list[i].start_ns > last->start_ns ? &entries->list[i] : last;
    }
    bucket->code = bucket->signal = bucket->restarts = APAPI_UNKNOWN;
    for (size_t i = 0; i < entries->count; i++) {
        const struct sum_piece *piece = entries->list[i].piece;

        if (!runs || piece->restarts == last->piece->restarts) {
            bucket->code = known_greater(bucket->code, piece->code);
            bucket->signal = known_greater(bucket->signal, piece->signal);
            bucket->restarts = known_greater(bucket->restarts, piece->restarts);
        }
    }
}

/* @param runs  the records have their runs */
static int identify(struct report_ledger *ledger, struct report_bucket *bucket, bool runs)
{
    struct sum_entries entries;

    if (sum_gather(&ledger->store, ledger->order + bucket->first, bucket->count, &entries)) {
        return -1;
    }
    bucket->batches = 0;
    for (size_t i = 0; i < entries.count; i++) { /* by step, node and start */
        bucket->repeats |= i > 0 &&
                           entries.list[i].piece->step == entries.list[i - 1].piece->step &&
                           entries.list[i].piece->node == entries.list[i - 1].piece->node;
        bucket->batches += strcmp(entries.list[i].step, "batch") == 0;
    }
    sum_sort(entries.list, entries.count, SUM_KEYS(SUM_START, SUM_STEP, SUM_NODE));
    for (int w = 0; w < REPORT_WORDS; w++) {
        bucket->words[w] = word_of(ledger, &entries, w);
    }
    note_ending(bucket, &entries, runs);
    free(entries.list);
    return name_user(ledger, bucket);
}

/* --- buckets: the parts of records in their order --------------------------------------------- */

static int compare_texts(const struct report_ledger *ledger, uint32_t left, uint32_t right)
{
    const struct pool *texts = &ledger->store.texts;

    return left == right ? 0 : strverscmp(pool_text(texts, left), pool_text(texts, right));
}

/* Jobs of Slurm come first. Outside Slurm, each record is a job of its own. */
static int compare_jobs(const struct report_ledger *ledger, const struct sum_piece *a,
                        const struct sum_piece *b)
{
    const struct report_identity *id = &ledger->identities[a->mark];
    const struct report_identity *other = &ledger->identities[b->mark];
    int order = COMPARE(a->job + 1, b->job + 1);

    if (ledger->by == REPORT_BY_NODE) {
        order = compare_texts(ledger, a->node, b->node);
        return order ? order : compare_texts(ledger, a->cluster, b->cluster);
    }
    if (a->job == APAPI_UNKNOWN && b->job == APAPI_UNKNOWN) {
        order = compare_texts(ledger, a->node, b->node);
        return order ? order
                     : COMPARE(a->start_ns - (int64_t)a->before_ns,
                               b->start_ns - (int64_t)b->before_ns);
    }
    if (a->job != APAPI_UNKNOWN && b->job != APAPI_UNKNOWN && a->cluster != b->cluster) {
        return compare_texts(ledger, a->cluster, b->cluster);
    }
    order = order ? order : COMPARE(id->uid, other->uid); /* Slurm uses job numbers again */
    return order || id->uid != APAPI_UNKNOWN
               ? order
               : compare_texts(ledger, id->words[REPORT_USER], other->words[REPORT_USER]);
}

static int compare_buckets(const struct report_ledger *ledger, const struct sum_piece *a,
                           const struct sum_piece *b)
{
    const uint32_t *words = ledger->identities[a->mark].words;
    const uint32_t *others = ledger->identities[b->mark].words;
    int order = compare_jobs(ledger, a, b);

    if (order == 0 && ledger->by == REPORT_BY_STEP) {
        return compare_texts(ledger, a->step, b->step);
    }
    return order ? order : compare_texts(ledger, words[REPORT_DAY], others[REPORT_DAY]);
}

static int compare_parts(const void *left, const void *right, void *context)
{
    const struct report_ledger *ledger = context;
    const struct sum_piece *a = &ledger->store.pieces[*(const uint32_t *)left];
    const struct sum_piece *b = &ledger->store.pieces[*(const uint32_t *)right];
    int order = compare_buckets(ledger, a, b);

    return order ? order : COMPARE(a->start_ns, b->start_ns);
}

/* A job number that is used again after a long time belongs to another job. */
static int find_buckets(struct report_ledger *ledger)
{
    const struct sum_piece *last = NULL;
    int64_t until_ns = 0;

    for (uint32_t i = 0; i < ledger->store.piece_count; i++) {
        const struct sum_piece *piece = &ledger->store.pieces[ledger->order[i]];
        int64_t end_ns = piece->start_ns + (int64_t)piece->elapsed_ns;
        bool same = last && compare_buckets(ledger, last, piece) == 0 &&
                    (piece->start_ns - until_ns < TIMING_SAME_JOB_NS ||
                     piece->job == APAPI_UNKNOWN || ledger->by == REPORT_BY_NODE);

        if (!same) {
            ledger->clusters |=
                last && (ledger->by == REPORT_BY_NODE
                             ? last->node == piece->node
                             : last->job != APAPI_UNKNOWN && last->cluster != piece->cluster);
            if (array_add(&ledger->buckets, ledger->bucket_count, &ledger->bucket_room,
                          sizeof *ledger->buckets)) {
                return -1;
            }
            ledger->buckets[ledger->bucket_count++] = (struct report_bucket){.first = i};
        }
        ledger->buckets[ledger->bucket_count - 1].count++;
        until_ns = same && until_ns > end_ns ? until_ns : end_ns;
        last = piece;
    }
    return 0;
}

static const struct sum_piece *first_piece(const struct report_ledger *ledger, size_t bucket)
{
    return &ledger->store.pieces[ledger->order[ledger->buckets[bucket].first]];
}

/* --- runs of jobs that were requeued -------------------------------------------------------- */

/* Count the entries of the first job, if several jobs had the number one after the other. @param
 * list  sorted by start */
static size_t count_of_job(const struct sum_entry *list, size_t count)
{
    int64_t until_ns = list->end_ns;
    size_t own = 1;

    while (own < count && list[own].start_ns - until_ns < TIMING_SAME_JOB_NS) {
        until_ns = list[own].end_ns > until_ns ? list[own].end_ns : until_ns;
        own++;
    }
    return own;
}

/* Find the run of each record of a job, by all of its records; by day, also the run's nodes. */
static int find_runs(struct report_ledger *ledger, struct report_bucket *buckets, size_t count)
{
    size_t parts = buckets[count - 1].first + buckets[count - 1].count - buckets->first;
    struct sum_entries entries = {NULL, 0};
    int result =
        sum_gather(&ledger->store, ledger->order + buckets->first, parts, &entries) ? -1 : 0;

    if (result == 0) {
        sum_of_job(&entries);
        sum_sort(entries.list, entries.count, SUM_KEYS(SUM_START, SUM_STEP, SUM_NODE));
    }
    for (size_t first = 0, own; first < entries.count && result == 0; first += own) {
        struct sum_entry *list = entries.list + first;
        struct apapi_job_total total = {0};

        own = count_of_job(list, entries.count - first);
        result = sum_align(&ledger->store, &(struct sum_entries){list, own}, &total);
        for (size_t i = 0; i < own; i++) {
            struct sum_piece *piece = &ledger->store.pieces[list[i].piece - ledger->store.pieces];

            piece->restarts = list[i].restarts;
            piece->nodes = ledger->by == REPORT_BY_DAY ? list[i].nodes : piece->nodes;
        }
    }
    free(entries.list);
    for (size_t i = 0; i < count && result == 0; i++) {
        result = identify(ledger, &buckets[i], true);
    }
    return result;
}

/* Identify a job and find its runs. @return the next job's first bucket; 0: out of memory */
static size_t conclude_job(struct report_ledger *ledger, size_t first)
{
    struct report_bucket *buckets = ledger->buckets;
    const struct sum_piece *piece = first_piece(ledger, first);
    size_t end = first, batches = 0;
    bool requeued = false, divided;

    for (; end < ledger->bucket_count && compare_jobs(ledger, piece, first_piece(ledger, end)) == 0;
         end++) {
        if (identify(ledger, &buckets[end], false)) {
            return 0;
        }
        requeued |= buckets[end].repeats ||
                    (buckets[end].restarts != APAPI_UNKNOWN && buckets[end].restarts > 0);
        batches += buckets[end].batches;
    }
    divided = ledger->by == REPORT_BY_DAY && end - first > 1;
    if ((requeued || batches > 1 || divided) && piece->job != APAPI_UNKNOWN &&
        ledger->by != REPORT_BY_NODE && find_runs(ledger, buckets + first, end - first)) {
        return 0;
    }
    return end;
}

/* --- rows ----------------------------------------------------------------------------------- */

static int compare_rows(const void *left, const void *right, void *context)
{
    const struct report_ledger *ledger = context;
    const struct report_bucket *a = left, *b = right;
    int order = 0;

    for (size_t i = 0; i < ledger->group_count && order == 0; i++) {
        order = compare_texts(ledger, a->words[ledger->groups[i]], b->words[ledger->groups[i]]);
    }
    return order ? order : COMPARE(a->first, b->first);
}

bool report_ledger_same_row(const struct report_ledger *ledger, uint32_t at, uint32_t other)
{
    const uint32_t *words = ledger->buckets[at].words;
    const uint32_t *others = ledger->buckets[other].words;
    bool same = at == other || ledger->group_count > 0;

    for (size_t i = 0; i < ledger->group_count; i++) {
        same = same && words[ledger->groups[i]] == others[ledger->groups[i]];
    }
    return same;
}

/* Sums are identical to the last digit, whatever the order of the records. */
uint32_t *report_ledger_rows(struct report_ledger *ledger, size_t *count)
{
    uint32_t *rows;

    ledger->order = sum_numbers(&ledger->store);
    if (!ledger->order) {
        return NULL;
    }
    qsort_r(ledger->order, ledger->store.piece_count, sizeof *ledger->order, compare_parts, ledger);
    if (find_buckets(ledger)) {
        return NULL;
    }
    for (size_t next, i = 0; i < ledger->bucket_count; i = next) {
        next = conclude_job(ledger, i);
        if (next == 0) {
            return NULL;
        }
    }
    rows = calloc(ledger->bucket_count + 1, sizeof *rows);
    if (!rows) {
        return NULL;
    }
    for (uint32_t i = 0; i < ledger->bucket_count && ledger->by != REPORT_BY_NODE; i++) {
        const struct report_bucket *bucket = &ledger->buckets[i];

        for (size_t k = 0; k < bucket->count; k++) {
            ledger->store.pieces[ledger->order[bucket->first + k]].mark = i;
        }
    }
    if (ledger->group_count > 0 && ledger->bucket_count > 0) {
        qsort_r(ledger->buckets, ledger->bucket_count, sizeof *ledger->buckets, compare_rows,
                ledger);
    }
    *count = 0;
    for (uint32_t i = 0; i < ledger->bucket_count; i++) {
        if (i == 0 || !report_ledger_same_row(ledger, i - 1, i)) {
            rows[(*count)++] = i;
        }
    }
    return rows;
}

void report_ledger_free(struct report_ledger *ledger)
{
    sum_free(&ledger->store);
    pool_free(&ledger->identity_keys);
    free(ledger->identities);
    free(ledger->order);
    free(ledger->buckets);
}
