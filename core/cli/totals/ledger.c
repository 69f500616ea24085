/* SPDX-License-Identifier: BSD-3-Clause */
/* The sums of a report: which records are of which, what they say of it, and their order. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/hostlist.h"
#include "cli/totals/totals.h"
#include "record/record.h"
#include "render/regions.h"
#include "sum/members.h"

/* --- how jobs ended --------------------------------------------------------------------------- */

static const struct {
    unsigned state;
    const char *name, *brief;
} states[] = {{REPORT_STATE_COMPLETED, "COMPLETED", "CD"}, {REPORT_STATE_FAILED, "FAILED", "F"}};
#define STATES COUNT_OF(states)

int report_states_parse(const char *text, unsigned *found, struct apapi_error *err)
{
    unsigned all = 0;

    for (const char *word = text;; word++) {
        size_t size = strcspn(word, ",");
        unsigned state = 0;

        for (size_t i = 0; i < STATES; i++) {
            if ((strlen(states[i].name) == size && strncasecmp(states[i].name, word, size) == 0) ||
                (strlen(states[i].brief) == size &&
                 strncasecmp(states[i].brief, word, size) == 0)) {
                state = states[i].state;
            }
        }
        if (!state) {
            return apapi_fail(err, EINVAL,
                              "--state=%.40s: records know completed (CD) and failed (F); sacct -s "
                              "finds the jobs of other states, -j takes them",
                              text);
        }
        all |= state;
        word += size;
        if (*word == '\0') {
            *found = all;
            return 0;
        }
    }
}

unsigned report_state_of(uint32_t code, uint32_t signal)
{
    if (code == APAPI_UNKNOWN) {
        return 0;
    }
    return code == 0 && (signal == 0 || signal == APAPI_UNKNOWN) ? REPORT_STATE_COMPLETED
                                                                 : REPORT_STATE_FAILED;
}

const char *report_state_name(unsigned state)
{
    for (size_t i = 0; i < STATES; i++) {
        if (states[i].state == state) {
            return states[i].name;
        }
    }
    return "";
}

#define KEY_SIZE 768
#define REPORT_ROW_KEY_SIZE ((size_t)(APAPI_TEXT_SIZE + 1) * REPORT_GROUPS)
#define DAYS_MAX 4000 /* parts of one record, divided by day */

/* --- keys ----------------------------------------------------------------------------------- */

/*
 * Outside Slurm each record is a job of its own.
 * @param era  from 0: which of the same user's jobs with this number
 */
static void make_job_key(const struct apapi_record *record, unsigned era, char key[KEY_SIZE])
{
    const struct apapi_identity *id = &record->id;
    char user[sizeof id->user];

    if (id->job != APAPI_UNKNOWN) {
        /* A number may come again, as another user's. */
        if (id->uid != APAPI_UNKNOWN) {
            snprintf(user, sizeof user, "%u", id->uid);
        } else {
            snprintf(user, sizeof user, "%s", id->user);
        }
        snprintf(key, KEY_SIZE, "%s/%u/%s/%u", id->cluster, id->job, user, era);
    } else {
        snprintf(key, KEY_SIZE, "/%s/%lld", id->node, (long long)record->measurement.start_unix_ns);
    }
}

/* @param part  the step, the day, or a region's mark */
static void make_bucket_key(enum report_by by, const struct apapi_record *record, const char *part,
                            unsigned era, char key[KEY_SIZE])
{
    size_t length;

    if (by == REPORT_BY_NODE) {
        snprintf(key, KEY_SIZE, "%s", record->id.node);
        return;
    }
    make_job_key(record, era, key);
    length = strlen(key);
    if (*part) {
        snprintf(key + length, KEY_SIZE - length, "/%s", part);
    }
}

/* @return its number, which may be that of a new one; POOL_NONE: out of memory */
static uint32_t choose_bucket(struct report_ledger *ledger, const struct apapi_record *record,
                              const char *part)
{
    const struct apapi_measurement *m = &record->measurement;
    char key[KEY_SIZE];

    for (unsigned era = 0;; era++) {
        const struct report_bucket *bucket;
        uint32_t number;

        make_bucket_key(ledger->by, record, part, era, key);
        number = pool_put(&ledger->bucket_keys, key);
        if (number == POOL_NONE || number == ledger->bucket_count ||
            record->id.job == APAPI_UNKNOWN || ledger->by == REPORT_BY_NODE) {
            return number;
        }
        bucket = &ledger->buckets[number];
        if (m->start_unix_ns - bucket->last_ns < TIMING_SAME_JOB_NS &&
            bucket->first_ns - record_end_ns(m) < TIMING_SAME_JOB_NS) {
            return number; /* of the time of the bucket's others */
        }
    }
}

/* NULL: out of memory. */
static struct report_bucket *find_bucket(struct report_ledger *ledger,
                                         const struct apapi_record *record, const char *part)
{
    uint32_t number = choose_bucket(ledger, record, part);
    int64_t end_ns = record_end_ns(&record->measurement);
    struct report_bucket *bucket;

    if (number == POOL_NONE || array_add(&ledger->buckets, ledger->bucket_count,
                                         &ledger->bucket_room, sizeof *ledger->buckets)) {
        return NULL;
    }
    bucket = &ledger->buckets[number];
    if (number == ledger->bucket_count) {
        bool node = ledger->by == REPORT_BY_NODE;
        char key[KEY_SIZE];
        uint32_t job;

        make_job_key(record, 0, key);
        job = pool_put_row(&ledger->job_keys, key, &ledger->last_of_job, &ledger->job_room,
                           sizeof *ledger->last_of_job);
        if (job == POOL_NONE) {
            return NULL;
        }
        ledger->bucket_count++;
        *bucket = (struct report_bucket){.sum = SUM_EMPTY,
                                         .first_ns = INT64_MAX,
                                         .own_job = node ? APAPI_UNKNOWN : record->id.job,
                                         .next_of_job = ledger->last_of_job[job] - 1,
                                         .uid = node ? APAPI_UNKNOWN : record->id.uid,
                                         .region = POOL_NONE,
                                         .next_of_row = POOL_NONE};
        ledger->last_of_job[job] = number + 1;
    }
    if (record->measurement.start_unix_ns < bucket->first_ns) {
        bucket->first_ns = record->measurement.start_unix_ns;
    }
    bucket->last_ns = end_ns > bucket->last_ns ? end_ns : bucket->last_ns;
    return bucket;
}

/* --- records -------------------------------------------------------------------------------- */

/* @return its number; POOL_NONE: out of memory */
static uint32_t put_identity(struct report_ledger *ledger, const struct apapi_identity *id,
                             const char *day)
{
    struct report_identity identity = {.verified = id->verified};
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
    size_t length = 0;
    uint32_t number;

    job_id_text(id, job_id, sizeof job_id);
    for (int w = 0; w < REPORT_WORDS; w++) {
        identity.words[w] = pool_put(&ledger->store.texts, words[w]);
        if (identity.words[w] == POOL_NONE) {
            return POOL_NONE;
        }
        length += (size_t)snprintf(key + length, sizeof key - length, "%x/", identity.words[w]);
    }
    key[length - 1] = id->verified ? '+' : '-';
    number = pool_put_row(&ledger->identity_keys, key, &ledger->identities, &ledger->identity_room,
                          sizeof identity);
    if (number != POOL_NONE) {
        ledger->identities[number] = identity;
    }
    return number;
}

/* @param day  "": any */
static int put_part(struct report_ledger *ledger, const struct apapi_record *record,
                    const struct sum_part *part, const char *day, uint64_t digest)
{
    char mark[APAPI_REGION_PATH_SIZE + 8] = "";
    struct report_bucket *bucket;
    uint32_t identity, name = POOL_NONE;

    if (pool_put(&ledger->store.texts, "") == POOL_NONE) { /* the first one has the number 0 */
        return -1;
    }
    if (part && part->region) {
        snprintf(mark, sizeof mark, "%c%s", 'a' + (int)part->region->kind,
                 table_region_label(part->region));
        name = pool_put(&ledger->store.texts, mark);
    }
    bucket = find_bucket(ledger, record,
                         ledger->by == REPORT_BY_STEP ? record->id.step
                         : *mark                      ? mark
                                                      : day);
    identity = put_identity(ledger, &record->id, day);
    if (!bucket || identity == POOL_NONE || (*mark && name == POOL_NONE) ||
        sum_add(&ledger->store, &bucket->sum, record, part)) {
        errno = ENOMEM;
        return -1;
    }
    bucket->region = name;
    ledger->last_job = *mark ? ledger->last_job : (uint32_t)(bucket - ledger->buckets);
    bucket->job = ledger->last_job;
    ledger->store.pieces[bucket->sum.last].mark = identity;
    ledger->store.pieces[bucket->sum.last].digest = digest;
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

static int add_by_day(struct report_ledger *ledger, const struct apapi_record *record,
                      uint64_t digest)
{
    const struct apapi_measurement *m = &record->measurement;
    int64_t now_ns = m->start_unix_ns, end_ns = now_ns + (int64_t)m->elapsed_ns;

    for (int days = 1;; days++) {
        char day[16];
        int64_t until_ns = day_end_ns(now_ns, day);

        until_ns = until_ns > end_ns || days == DAYS_MAX ? end_ns : until_ns;
        if (put_part(ledger, record,
                     &(struct sum_part){now_ns, (uint64_t)(until_ns - now_ns), NULL}, day,
                     digest)) {
            return -1;
        }
        if (until_ns >= end_ns) {
            return 0;
        }
        now_ns = until_ns;
    }
}

unsigned report_ledger_parts(const struct apapi_record *record, void *ledger)
{
    bool divides = ((const struct report_ledger *)ledger)->by == REPORT_BY_DAY;
    const struct apapi_measurement *m = &record->measurement;
    int64_t now_ns = m->start_unix_ns, end_ns = now_ns + (int64_t)m->elapsed_ns;
    unsigned days = 1;
    char day[16];

    while (divides && (now_ns = day_end_ns(now_ns, day)) < end_ns && days < DAYS_MAX) {
        days++;
    }
    return days;
}

int report_ledger_add(struct report_ledger *ledger, const struct apapi_record *record,
                      uint64_t digest)
{
    int result = ledger->by == REPORT_BY_DAY ? add_by_day(ledger, record, digest)
                                             : put_part(ledger, record, NULL, "", digest);

    for (size_t i = 0; i < record->regions.count && ledger->by == REPORT_BY_REGION && result == 0;
         i++) {
        result = put_part(ledger, record, &(struct sum_part){.region = &record->regions.list[i]},
                          "", digest);
    }
    return result;
}

/* --- what records say of their job ---------------------------------------------------------- */

static int compare_starts(const void *left, const void *right)
{
    const struct sum_entry *a = left, *b = right;
    int order = COMPARE(a->start_ns, b->start_ns);

    order = order ? order : strverscmp(a->step, b->step);
    return order ? order : strverscmp(a->node, b->node);
}

/* That of the earliest record that has one. */
static uint32_t earliest_word(const struct report_ledger *ledger, const struct sum_entries *entries,
                              int word, bool verified)
{
    uint32_t found = 0;

    for (size_t i = 0; i < entries->count && !found; i++) {
        const struct report_identity *identity = &ledger->identities[entries->list[i].piece->mark];

        found = identity->verified || !verified ? identity->words[word] : 0;
    }
    return found;
}

/* That of the earliest record which names the part of an array or heterogeneous job. */
static uint32_t job_id_of(const struct report_ledger *ledger, const struct sum_entries *entries)
{
    for (size_t i = 0; i < entries->count; i++) {
        uint32_t word = ledger->identities[entries->list[i].piece->mark].words[REPORT_JOB_ID];

        if (strpbrk(pool_text(&ledger->store.texts, word), "_+")) {
            return word;
        }
    }
    return earliest_word(ledger, entries, REPORT_JOB_ID, false);
}

/* Of a node, on which jobs of any user ran: what all of them have in common; else 0. */
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

/* Slurm's values have precedence over those of the step's environment, which a user controls. */
static uint32_t word_of(const struct report_ledger *ledger, const struct sum_entries *entries,
                        int word)
{
    bool of_slurm = word == REPORT_ACCOUNT || word == REPORT_PARTITION || word == REPORT_QOS;
    uint32_t found = of_slurm ? earliest_word(ledger, entries, word, true) : 0;

    if (ledger->by == REPORT_BY_NODE) {
        return word == REPORT_JOB_ID ? 0 : common_word(ledger, entries, word);
    }
    if (word == REPORT_JOB_ID) {
        return job_id_of(ledger, entries);
    }
    return found ? found : earliest_word(ledger, entries, word, false);
}

static int identify(const struct report_ledger *ledger, struct report_bucket *bucket)
{
    struct sum_entries entries;

    if (sum_gather(&ledger->store, &bucket->sum, &entries)) {
        return -1;
    }
    qsort(entries.list, entries.count, sizeof *entries.list, compare_starts);
    for (int w = 0; w < REPORT_WORDS; w++) {
        bucket->words[w] = word_of(ledger, &entries, w);
    }
    bucket->code = bucket->signal = bucket->restarts = APAPI_UNKNOWN;
    for (size_t i = 0; i < entries.count; i++) {
        const struct sum_piece *piece = entries.list[i].piece;

        bucket->code = known_greater(bucket->code, piece->code);
        bucket->signal = known_greater(bucket->signal, piece->signal);
        bucket->restarts = known_greater(bucket->restarts, piece->restarts);
        bucket->batches += strcmp(entries.list[i].step, "batch") == 0;
    }
    free(entries.list);
    return 0;
}

/* --- runs of jobs that were requeued -------------------------------------------------------- */

/* How a bucket ended is how its last run did: in the first one a user can choose the number. */
static void end_bucket(const struct report_ledger *ledger, struct report_bucket *bucket)
{
    const struct sum_piece *pieces = ledger->store.pieces;
    int64_t start_ns = -1;

    for (uint32_t at = bucket->sum.first; at != POOL_NONE; at = pieces[at].next) {
        if (pieces[at].start_ns > start_ns) {
            start_ns = pieces[at].start_ns;
            bucket->restarts = pieces[at].restarts;
        }
    }
    bucket->code = bucket->signal = APAPI_UNKNOWN;
    for (uint32_t at = bucket->sum.first; at != POOL_NONE; at = pieces[at].next) {
        if (pieces[at].restarts == bucket->restarts) {
            bucket->code = known_greater(bucket->code, pieces[at].code);
            bucket->signal = known_greater(bucket->signal, pieces[at].signal);
        }
    }
}

/* Which records of a job, by all of them, are of which run. @param bucket  one of the job */
static int find_runs(struct report_ledger *ledger, uint32_t bucket)
{
    struct sum_piece *pieces = ledger->store.pieces;
    struct sum_entries entries = {NULL, 0};
    uint32_t *numbers = NULL;
    size_t used = 0, room = 0;
    int result = 0;

    for (uint32_t i = bucket; i != POOL_NONE; i = ledger->buckets[i].next_of_job) {
        uint32_t at =
            ledger->buckets[i].region == POOL_NONE ? ledger->buckets[i].sum.first : POOL_NONE;

        for (; at != POOL_NONE && result == 0; at = pieces[at].next) {
            result = array_add(&numbers, used, &room, sizeof *numbers);
            if (result == 0) {
                numbers[used++] = at;
            }
        }
    }
    result = result || sum_gather_these(&ledger->store, numbers, used, &entries) ||
                     timings_align(entries.list, entries.count)
                 ? -1
                 : 0;
    if (result == 0) {
        timings_find_runs(entries.list, entries.count);
        for (size_t i = 0; i < entries.count; i++) {
            pieces[entries.list[i].piece - pieces].restarts = entries.list[i].restarts;
        }
        for (uint32_t i = bucket; i != POOL_NONE; i = ledger->buckets[i].next_of_job) {
            end_bucket(ledger, &ledger->buckets[i]);
        }
    }
    free(numbers);
    free(entries.list);
    return result;
}

static int find_all_runs(struct report_ledger *ledger)
{
    int result = 0;

    for (size_t i = 0; i < ledger->job_keys.count && result == 0; i++) {
        bool requeued = false;
        size_t batches = 0;

        for (uint32_t at = ledger->last_of_job[i] - 1; at != POOL_NONE;
             at = ledger->buckets[at].next_of_job) {
            const struct report_bucket *bucket = &ledger->buckets[at];

            if (bucket->own_job != APAPI_UNKNOWN && bucket->region == POOL_NONE) {
                requeued |= bucket->restarts != APAPI_UNKNOWN && bucket->restarts > 0;
                batches += bucket->batches;
            }
        }
        if (requeued || batches > 1) {
            result = find_runs(ledger, ledger->last_of_job[i] - 1);
        }
    }
    return result;
}

/* --- the order of buckets and rows: by name ------------------------------------------------- */

bool report_bucket_counts(const struct report_ledger *ledger, uint32_t bucket)
{
    const struct report_bucket *job = &ledger->buckets[bucket];

    return !ledger->states || (ledger->states & report_state_of(job->code, job->signal));
}

static int compare_texts(const struct pool *pool, uint32_t left, uint32_t right)
{
    return strverscmp(pool_text(pool, left), pool_text(pool, right));
}

static int compare_rows(const void *left, const void *right, void *keys)
{
    return compare_texts(keys, *(const uint32_t *)left, *(const uint32_t *)right);
}

static const char *tail(const struct report_ledger *ledger, uint32_t bucket)
{
    const char *key = pool_text(&ledger->bucket_keys, bucket), *slash = strrchr(key, '/');

    return slash ? slash : key;
}

/* Sort by cluster, job, and step or day. */
static int compare_buckets(const void *left, const void *right, void *context)
{
    const struct report_ledger *ledger = context;
    uint32_t number = *(const uint32_t *)left, other = *(const uint32_t *)right;
    const struct report_bucket *a = &ledger->buckets[number], *b = &ledger->buckets[other];
    int order;

    if (a->own_job == APAPI_UNKNOWN && b->own_job == APAPI_UNKNOWN) {
        return compare_texts(&ledger->bucket_keys, number, other);
    }
    order = compare_texts(&ledger->store.texts, a->words[REPORT_CLUSTER], b->words[REPORT_CLUSTER]);
    if (order == 0 && a->own_job != b->own_job) {
        order = a->own_job + 1 < b->own_job + 1 ? -1 : 1; /* outside Slurm comes first */
    }
    order = order ? order : COMPARE(a->uid, b->uid);
    order = order ? order : strverscmp(tail(ledger, number), tail(ledger, other));
    return order ? order : compare_texts(&ledger->bucket_keys, number, other);
}

static uint32_t *report_order_buckets(const struct report_ledger *ledger, size_t *count)
{
    uint32_t *order = calloc(ledger->bucket_count + 1, sizeof *order);
    struct report_ledger context = *ledger;

    *count = 0;
    for (uint32_t i = 0; order && i < ledger->bucket_count; i++) {
        if (report_bucket_counts(ledger, i)) {
            order[(*count)++] = i;
        }
    }
    if (order) {
        qsort_r(order, *count, sizeof *order, compare_buckets, &context);
    }
    return order;
}

uint32_t *report_ledger_order(const struct report_ledger *ledger, size_t *count)
{
    struct pool keys = ledger->row_keys;
    uint32_t *order;

    if (ledger->group_count == 0) {
        return report_order_buckets(ledger, count);
    }
    *count = keys.count;
    order = calloc(*count + 1, sizeof *order);
    for (uint32_t i = 0; order && i < *count; i++) {
        order[i] = i;
    }
    if (order) {
        qsort_r(order, *count, sizeof *order, compare_rows, &keys);
    }
    return order;
}

/* --- rows ----------------------------------------------------------------------------------- */

/* Names of regions sort before the other kinds, and no name equals one of them. */
static int chain_bucket(struct report_ledger *ledger, uint32_t number)
{
    struct report_bucket *bucket = &ledger->buckets[number];
    char key[REPORT_ROW_KEY_SIZE] = "";
    size_t length = 0;
    uint32_t row;

    for (size_t i = 0; i < ledger->group_count && length < sizeof key; i++) {
        enum report_group group = ledger->groups[i];
        uint32_t text = group == REPORT_GROUP_REGION ? bucket->region : bucket->words[group];

        length += (size_t)snprintf(key + length, sizeof key - length, "%s%s", i ? "\x1f" : "",
                                   pool_text(&ledger->store.texts, text));
    }
    row = pool_put(&ledger->row_keys, key);
    if (row == POOL_NONE ||
        array_add(&ledger->rows, ledger->row_count, &ledger->row_room, sizeof *ledger->rows)) {
        return -1;
    }
    if (row == ledger->row_count) {
        ledger->rows[ledger->row_count++] = POOL_NONE;
    }
    bucket->next_of_row = ledger->rows[row];
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
 * Chain the buckets of each row. It follows the order of the jobs, so that sums are identical to
 * the last digit in any order of the records.
 */
int report_ledger_chain(struct report_ledger *ledger)
{
    uint32_t *order;
    size_t count;
    int result = 0;

    for (size_t i = 0; i < ledger->bucket_count && result == 0; i++) {
        result = ledger->buckets[i].region == POOL_NONE ? identify(ledger, &ledger->buckets[i]) : 0;
    }
    if (result || find_all_runs(ledger)) {
        return -1;
    }
    for (size_t i = 0; i < ledger->bucket_count; i++) {
        struct report_bucket *bucket = &ledger->buckets[i];

        if (bucket->region != POOL_NONE) { /* as its job is, which comes before it */
            memcpy(bucket->words, ledger->buckets[bucket->job].words, sizeof bucket->words);
            bucket->code = ledger->buckets[bucket->job].code;
            bucket->signal = ledger->buckets[bucket->job].signal;
        }
    }
    if (ledger->bucket_count == 0 || ledger->group_count == 0) {
        return 0;
    }
    order = report_order_buckets(ledger, &count);
    for (size_t i = order ? count : 0; i > 0 && result == 0; i--) {
        const struct report_bucket *bucket = &ledger->buckets[order[i - 1]];

        if (ledger->by != REPORT_BY_REGION || bucket->region != POOL_NONE) {
            result = chain_bucket(ledger, order[i - 1]);
        }
    }
    free(order);
    return order ? result : -1;
}

void report_ledger_free(struct report_ledger *ledger)
{
    sum_free(&ledger->store);
    pool_free(&ledger->identity_keys);
    pool_free(&ledger->bucket_keys);
    pool_free(&ledger->job_keys);
    pool_free(&ledger->row_keys);
    free(ledger->last_of_job);
    free(ledger->identities);
    free(ledger->buckets);
    free(ledger->rows);
    namelist_free(&ledger->asked);
}
