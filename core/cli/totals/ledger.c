/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/totals/ledger.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/hostlist.h"
#include "cli/totals/order.h"
#include "cli/totals/pieces.h"
#include "cli/totals/shares.h"
#include "record/record.h"
#include "sum/timing.h"

#define KEY_SIZE 768
#define TIMELINES_MAX 65536      /* 64 MiB */
#define NODELISTS_MAX (32 << 20) /* bytes */
#define DAYS_MAX 4000            /* parts of one record, divided by day */

/* Who ran it: a number may come again, as another user's. */
static void make_user_key(const struct apapi_identity *id, char *key, size_t size)
{
    if (id->uid != APAPI_UNKNOWN) {
        snprintf(key, size, "%u", id->uid);
    } else {
        snprintf(key, size, "%s", id->user);
    }
}

/*
 * Outside Slurm each record is a job of its own.
 * @param era  from 0: which of the same user's jobs with this number
 */
static void make_job_key(const struct apapi_record *record, unsigned era, char key[KEY_SIZE])
{
    const struct apapi_identity *id = &record->id;
    char user[sizeof id->user];

    if (id->job != APAPI_UNKNOWN) {
        make_user_key(id, user, sizeof user);
        snprintf(key, KEY_SIZE, "%s/%u/%s/%u", id->cluster, id->job, user, era);
    } else {
        snprintf(key, KEY_SIZE, "/%s/%lld", id->node, (long long)record->measurement.start_unix_ns);
    }
}

static void make_bucket_key(enum report_by by, const struct apapi_record *record, const char *day,
                            unsigned era, char key[KEY_SIZE])
{
    size_t length;

    if (by == REPORT_BY_NODE) {
        snprintf(key, KEY_SIZE, "%s", record->id.node);
        return;
    }
    make_job_key(record, era, key);
    length = strlen(key);
    if (by == REPORT_BY_STEP) {
        snprintf(key + length, KEY_SIZE - length, "/%s", record->id.step);
    } else if (by == REPORT_BY_DAY) {
        snprintf(key + length, KEY_SIZE - length, "/%s", day);
    }
}

/* --- buckets ------------------------------------------------------------------------------- */

static uint32_t ledger_put_text(struct report_ledger *ledger, const char *text)
{
    return pool_put(&ledger->texts, text);
}

static bool ledger_is_unknown(const struct report_ledger *ledger, uint32_t text)
{
    return *pool_text(&ledger->texts, text) == '\0';
}

static void ledger_learn(struct report_ledger *ledger, uint32_t *known, const char *text,
                         bool better)
{
    uint32_t number = *text && (better || ledger_is_unknown(ledger, *known))
                          ? ledger_put_text(ledger, text)
                          : POOL_NONE;

    if (number != POOL_NONE) {
        *known = number;
    }
}

/* For a node, on which jobs of any user ran: keep what all of them have in common. */
static void learn_common(struct report_ledger *ledger, struct report_bucket *bucket,
                         const struct apapi_identity *id)
{
    const char *const texts[] = {id->cluster, id->user,     id->account, id->partition,
                                 id->qos,     id->job_name, id->name};
    uint32_t *const known[] = {&bucket->cluster,   &bucket->user, &bucket->account,
                               &bucket->partition, &bucket->qos,  &bucket->job_name,
                               &bucket->name};

    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        uint32_t number = ledger_put_text(ledger, texts[i]);

        if (bucket->first == POOL_NONE) {
            *known[i] = number == POOL_NONE ? *known[i] : number;
        } else if (number != *known[i]) {
            *known[i] = bucket->day; /* "" */
        }
    }
}

/*
 * Slurm's values have precedence over those of the step's environment, then those of the earlier
 * record, in any order of arrival.
 */
static void learn_identity(struct report_ledger *ledger, struct report_bucket *bucket,
                           const struct apapi_record *record)
{
    const struct apapi_identity *id = &record->id;
    int64_t start_ns = record->measurement.start_unix_ns;
    int64_t end_ns = record_end_ns(&record->measurement);
    bool earlier = start_ns < bucket->first_ns;
    bool better =
        id->verified ? start_ns < bucket->verified_ns : earlier && bucket->verified_ns == INT64_MAX;

    ledger_learn(ledger, &bucket->user, id->user, earlier);
    ledger_learn(ledger, &bucket->account, id->account, better);
    ledger_learn(ledger, &bucket->partition, id->partition, better);
    ledger_learn(ledger, &bucket->qos, id->qos, better);
    ledger_learn(ledger, &bucket->job_name, id->job_name, earlier);
    ledger_learn(ledger, &bucket->name, id->name, earlier);
    bucket->first_ns = earlier ? start_ns : bucket->first_ns;
    bucket->last_ns = end_ns > bucket->last_ns ? end_ns : bucket->last_ns;
    bucket->verified_ns = id->verified && better ? start_ns : bucket->verified_ns;
    if (id->array_task != APAPI_UNKNOWN && id->array_job != APAPI_UNKNOWN) {
        bucket->part_kind = '_';
    } else if (id->het_offset != APAPI_UNKNOWN && id->het_job != APAPI_UNKNOWN) {
        bucket->part_kind = '+';
    }
}

static void learn_numbers(struct report_bucket *bucket, const struct apapi_record *record)
{
    const struct apapi_identity *id = &record->id;

    if (bucket->part_kind == '_' && id->array_job != APAPI_UNKNOWN) {
        bucket->job = id->array_job;
        bucket->part = id->array_task;
    } else if (bucket->part_kind == '+' && id->het_job != APAPI_UNKNOWN) {
        bucket->job = id->het_job;
        bucket->part = id->het_offset;
    } else if (bucket->part_kind == '\0') {
        bucket->job = id->job;
    }
    bucket->code = known_greater(bucket->code, record->ending.code);
    bucket->signal = known_greater(bucket->signal, record->ending.signal);
    bucket->restarts = known_greater(bucket->restarts, id->restarts);
}

static int begin_bucket(struct report_ledger *ledger, const char *cluster, const char *day)
{
    uint32_t none = ledger_put_text(ledger, ""), of_cluster = ledger_put_text(ledger, cluster),
             of_day = ledger_put_text(ledger, day);

    if (none == POOL_NONE || of_cluster == POOL_NONE || of_day == POOL_NONE ||
        array_add(&ledger->buckets, ledger->bucket_count, &ledger->bucket_room,
                  sizeof *ledger->buckets)) {
        return -1;
    }
    ledger->buckets[ledger->bucket_count++] = (struct report_bucket){.first_ns = INT64_MAX,
                                                                     .verified_ns = INT64_MAX,
                                                                     .first = POOL_NONE,
                                                                     .next_of_row = POOL_NONE,
                                                                     .own_job = APAPI_UNKNOWN,
                                                                     .uid = APAPI_UNKNOWN,
                                                                     .cluster = of_cluster,
                                                                     .user = none,
                                                                     .account = none,
                                                                     .partition = none,
                                                                     .qos = none,
                                                                     .job_name = none,
                                                                     .name = none,
                                                                     .day = of_day,
                                                                     .job = APAPI_UNKNOWN,
                                                                     .part = APAPI_UNKNOWN,
                                                                     .code = APAPI_UNKNOWN,
                                                                     .signal = APAPI_UNKNOWN,
                                                                     .restarts = APAPI_UNKNOWN};
    return 0;
}

/* Is the record of the time of the bucket's others? */
static bool is_of_time(const struct report_bucket *bucket, const struct apapi_measurement *m)
{
    return m->start_unix_ns - bucket->last_ns < TIMING_SAME_JOB_NS &&
           bucket->first_ns - record_end_ns(m) < TIMING_SAME_JOB_NS;
}

/* @return its number, which may be that of a new one; POOL_NONE: out of memory */
static uint32_t choose_bucket(struct report_ledger *ledger, const struct apapi_record *record,
                              const char *day)
{
    char key[KEY_SIZE];

    for (unsigned era = 0;; era++) {
        uint32_t number;

        make_bucket_key(ledger->by, record, day, era, key);
        number = pool_put(&ledger->bucket_keys, key);
        if (number == POOL_NONE || number == ledger->bucket_count ||
            record->id.job == APAPI_UNKNOWN || ledger->by == REPORT_BY_NODE ||
            is_of_time(&ledger->buckets[number], &record->measurement)) {
            return number;
        }
    }
}

static struct report_bucket *find_bucket(struct report_ledger *ledger,
                                         const struct apapi_record *record, const char *day)
{
    uint32_t number = choose_bucket(ledger, record, day);

    if (number == POOL_NONE ||
        (number == ledger->bucket_count && begin_bucket(ledger, record->id.cluster, day))) {
        return NULL;
    }
    if (ledger->by == REPORT_BY_NODE) {
        learn_common(ledger, &ledger->buckets[number], &record->id);
    } else {
        ledger->buckets[number].own_job = record->id.job;
        ledger->buckets[number].uid = record->id.uid;
        learn_identity(ledger, &ledger->buckets[number], record);
        learn_numbers(&ledger->buckets[number], record);
    }
    return &ledger->buckets[number];
}

/* --- pieces --------------------------------------------------------------------------------- */

/* A part of a record in time. */
struct span {
    int64_t start_ns;
    uint64_t elapsed_ns;
    double share; /* of the record's energy */
};

/* The timelines of the first energies, in the same order. */
static int put_timeline(struct report_ledger *ledger, const struct apapi_timeline *timeline)
{
    if (!ledger->keep_timelines || ledger->by == REPORT_BY_DAY ||
        ledger->timeline_count == TIMELINES_MAX) {
        return 0;
    }
    if (array_add(&ledger->timelines, ledger->timeline_count, &ledger->timeline_room,
                  sizeof *ledger->timelines)) {
        return -1;
    }
    ledger->timelines[ledger->timeline_count++] = *timeline;
    return 0;
}

/* The mean power applies to the known time. */
static double ledger_known_share(double energy_j, double mean_w, uint64_t elapsed_ns)
{
    double share = energy_j / mean_w * (double)NS_PER_S / (double)elapsed_ns;

    return share > 0 && share < 1 ? share : 1;
}

/* A database has the means of domains in another table, which is read for named jobs only. */
static double ledger_known_of(const struct report_ledger *ledger, const struct apapi_measurement *m,
                              int d)
{
    return ledger->keep_timelines ? ledger_known_share(m->domains[d].energy_j,
                                                       m->domains[d].power_w.mean, m->elapsed_ns)
                                  : ledger_known_share(apapi_measurement_total_j(m),
                                                       apapi_measurement_total_w(m), m->elapsed_ns);
}

static int put_energies(struct report_ledger *ledger, const struct apapi_measurement *m,
                        double share, struct report_piece *piece)
{
    piece->energy_at = (uint32_t)ledger->energy_count;
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        const struct apapi_domain_result *domain = &m->domains[d];

        if (!domain->measured || isnan(domain->energy_j)) {
            continue;
        }
        if (put_timeline(ledger, &domain->timeline) ||
            array_add(&ledger->energies, ledger->energy_count, &ledger->energy_room,
                      sizeof *ledger->energies)) {
            return -1;
        }
        ledger->energies[ledger->energy_count++] =
            (struct report_energy){domain->energy_j * share, ledger_known_of(ledger, m, d)};
        piece->domain_mask |= (uint8_t)(1U << d);
    }
    return 0;
}

static double max_power_w(const struct apapi_measurement *m)
{
    double sum = NAN;

    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        double max_w = m->domains[d].power_w.max;

        if (m->domains[d].measured && apapi_domain_adds_up(d) && !isnan(max_w)) {
            sum = isnan(sum) ? max_w : sum + max_w;
        }
    }
    return sum;
}

/* Missing nodes are found for whole steps only. */
static uint32_t put_nodelist(struct report_ledger *ledger, const char *nodelist)
{
    bool wanted = ledger->by != REPORT_BY_NODE && ledger->by != REPORT_BY_DAY;

    return wanted && *nodelist && ledger->nodelists.size < NODELISTS_MAX
               ? pool_put(&ledger->nodelists, nodelist)
               : POOL_NONE;
}

/* That of the total stands for its domains: it is what a database knows without another query. */
static float ledger_uncertainty_of(const struct apapi_measurement *m)
{
    return (float)(apapi_record_uncertainty_j(m) / apapi_measurement_total_j(m));
}

static int put_piece(struct report_ledger *ledger, const struct apapi_record *record,
                     const struct span *span, const char *day)
{
    const struct apapi_measurement *m = &record->measurement;
    struct report_bucket *bucket = find_bucket(ledger, record, day);
    struct report_piece piece = {.start_ns = span->start_ns,
                                 .elapsed_ns = span->elapsed_ns,
                                 .whole_ns = record->measurement.elapsed_ns,
                                 .node = ledger_put_text(ledger, record->id.node),
                                 .step = ledger_put_text(ledger, record->id.step),
                                 .reason = POOL_NONE,
                                 .nodes = record->id.nodes,
                                 .nodelist = put_nodelist(ledger, record->id.nodelist),
                                 .boot = ledger_put_text(ledger, m->boot),
                                 .monotonic_ns = m->monotonic_ns +
                                                 (uint64_t)(span->start_ns - m->start_unix_ns),
                                 .job = record->id.job,
                                 .restarts = timing_of(record).restarts,
                                 .code = record->ending.code,
                                 .signal = record->ending.signal,
                                 .covered = (float)record->measurement.covered,
                                 .uncertainty = ledger_uncertainty_of(&record->measurement),
                                 .window_s = (float)window_shortest_ns(&record->measurement) / 1e9F,
                                 .delayed = record->delayed,
                                 .unknown_mask = (uint8_t)record->measurement.unknown_domains,
                                 .max_w = (float)max_power_w(&record->measurement),
                                 .exclusive = strcmp(record->share.method, "exclusive") == 0,
                                 .shareless = ledger->shares && !apapi_share_known(&record->share)};

    if (!record->complete) {
        piece.reason =
            ledger_put_text(ledger, *record->reason ? record->reason : "no reason is given");
    }
    if (!bucket || piece.node == POOL_NONE || piece.step == POOL_NONE || piece.boot == POOL_NONE ||
        (!record->complete && piece.reason == POOL_NONE) ||
        array_add(&ledger->pieces, ledger->piece_count, &ledger->piece_room,
                  sizeof *ledger->pieces) ||
        put_energies(ledger, &record->measurement, span->share, &piece)) {
        errno = ENOMEM;
        return -1;
    }
    bucket->batches += strcmp(record->id.step, "batch") == 0;
    piece.next = bucket->first;
    bucket->first = (uint32_t)ledger->piece_count;
    ledger->pieces[ledger->piece_count++] = piece;
    return 0;
}

/* The next local midnight, and the day as "2026-11-21". */
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

static int add_by_day(struct report_ledger *ledger, const struct apapi_record *record)
{
    const struct apapi_measurement *m = &record->measurement;
    int64_t now_ns = m->start_unix_ns, end_ns = now_ns + (int64_t)m->elapsed_ns;

    for (int days = 1;; days++) {
        char day[16];
        int64_t until_ns = day_end_ns(now_ns, day);
        struct span span = {.start_ns = now_ns};

        until_ns = until_ns > end_ns || days == DAYS_MAX ? end_ns : until_ns;
        span.elapsed_ns = (uint64_t)(until_ns - now_ns);
        span.share = m->elapsed_ns ? (double)span.elapsed_ns / (double)m->elapsed_ns : 1;
        if (put_piece(ledger, record, &span, day)) {
            return -1;
        }
        if (until_ns >= end_ns) {
            return 0;
        }
        now_ns = until_ns;
    }
}

int report_ledger_add(struct report_ledger *ledger, const struct apapi_record *record)
{
    const struct apapi_measurement *m = &record->measurement;

    record = ledger->shares ? report_share_of(record) : record;
    if (ledger->by == REPORT_BY_DAY) {
        return add_by_day(ledger, record);
    }
    return put_piece(ledger, record, &(struct span){m->start_unix_ns, m->elapsed_ns, 1}, "");
}

/* --- rows ----------------------------------------------------------------------------------- */

static int chain_bucket(struct report_ledger *ledger, uint32_t number)
{
    char key[REPORT_ROW_KEY_SIZE];
    uint32_t row;

    report_row_key(ledger, &ledger->buckets[number], NULL, key);
    row = pool_put(&ledger->row_keys, key);
    if (row == POOL_NONE ||
        array_add(&ledger->rows, ledger->row_count, &ledger->row_room, sizeof *ledger->rows)) {
        return -1;
    }
    if (row == ledger->row_count) {
        ledger->rows[ledger->row_count++] = POOL_NONE;
    }
    ledger->buckets[number].next_of_row = ledger->rows[row];
    ledger->rows[row] = number;
    return 0;
}

/* The reader of the records has refused malformed lists. */
int report_ledger_ask(struct report_ledger *ledger, const char *nodes)
{
    if (hostlist_names(nodes, &ledger->asked) < 0 && errno == ENOMEM) {
        return -1;
    }
    namelist_sort(&ledger->asked);
    return 0;
}

/*
 * Chain the buckets of each row. Their keys may change while records arrive, so this is done at the
 * end. It follows the order of the jobs, so that sums are identical to the last digit in any order
 * of the records.
 */
int report_ledger_chain(struct report_ledger *ledger)
{
    uint32_t *order;
    size_t count;
    int result = 0;

    if (report_name_clusters(ledger) || report_find_runs(ledger)) {
        return -1;
    }
    if (ledger->bucket_count == 0 || ledger->group_count == 0 || ledger->by == REPORT_BY_REGION) {
        return 0;
    }
    order = report_order_buckets(ledger, &count);
    for (size_t i = order ? count : 0; i > 0 && result == 0; i--) {
        result = chain_bucket(ledger, order[i - 1]);
    }
    free(order);
    return order ? result : -1;
}

void report_ledger_free(struct report_ledger *ledger)
{
    pool_free(&ledger->texts);
    pool_free(&ledger->bucket_keys);
    pool_free(&ledger->row_keys);
    pool_free(&ledger->nodelists);
    free(ledger->pieces);
    free(ledger->energies);
    free(ledger->timelines);
    free(ledger->buckets);
    free(ledger->rows);
    namelist_free(&ledger->asked);
}
