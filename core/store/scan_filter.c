/* SPDX-License-Identifier: BSD-3-Clause */
#include "store/scan_filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/hostlist.h"
#include "record/end.h"
#include "store/scan_head.h"

#define ROUNDING_NS NS_PER_S /* possible error of elapsed_s when read as an approximate number */
#define LONGEST_S 9e9        /* as int64_t [ns] */
#define DIGITS_MAX 9         /* numbers of so many digits fit into 32 bits */

static const struct {
    const char *key;
    size_t wanted; /* offset in struct apapi_scan_filter */
    size_t found;  /* offset in struct apapi_identity */
    size_t size;
} texts[FILTER_TEXTS] = {
#define TEXT(key)                                                                                  \
    {                                                                                              \
#key, offsetof(struct apapi_scan_filter, key), offsetof(struct apapi_identity, key),       \
            sizeof((struct apapi_identity *)0)->key                                                \
    }
    [FILTER_CLUSTER] = TEXT(cluster),
    [FILTER_USER] = TEXT(user),
    [FILTER_ACCOUNT] = TEXT(account),
    [FILTER_PARTITION] = TEXT(partition),
#undef TEXT
};

static int copy_jobs(struct filter *filter, const struct apapi_scan_filter *wanted)
{
    if (wanted->job_count == 0) {
        return 0;
    }
    filter->jobs = reallocarray(NULL, wanted->job_count, sizeof *filter->jobs);
    if (!filter->jobs) {
        return -1;
    }
    memcpy(filter->jobs, wanted->jobs, wanted->job_count * sizeof *filter->jobs);
    filter->job_count = wanted->job_count;
    filter->job_parts = wanted->job_parts;
    qsort(filter->jobs, filter->job_count, sizeof *filter->jobs, compare_uint32);
    return 0;
}

static int scan_filter_copy_texts(struct filter *filter, const struct apapi_scan_filter *wanted)
{
    for (size_t i = 0; i < FILTER_TEXTS; i++) {
        const char *text =
            *(const char *const *)(const void *)((const char *)wanted + texts[i].wanted);

        if (text && !(filter->texts[i] = strdup(text))) {
            return -1;
        }
    }
    return 0;
}

static int copy_nodes(struct filter *filter, const struct apapi_scan_filter *wanted)
{
    ssize_t count = wanted->nodes ? hostlist_names(wanted->nodes, &filter->nodes) : 1;

    if (count == 0) {
        errno = EINVAL;
    }
    namelist_sort(&filter->nodes);
    return count > 0 ? 0 : -1;
}

/* A user may be named by number. */
static uint32_t read_uid(const char *user)
{
    size_t digits = user ? strspn(user, "0123456789") : 0;
    unsigned long long uid = digits > 0 ? strtoull(user, NULL, 10) : APAPI_UNKNOWN;

    return digits > 0 && user[digits] == '\0' && uid < APAPI_UNKNOWN ? (uint32_t)uid
                                                                     : APAPI_UNKNOWN;
}

int filter_init(struct filter *filter, const struct apapi_scan_filter *wanted,
                struct apapi_error *err)
{
    *filter = (struct filter){.from_ns = INT64_MIN, .to_ns = INT64_MAX, .uid = APAPI_UNKNOWN};
    if (!wanted) {
        return 0;
    }
    filter->uid = read_uid(wanted->user);
    filter->from_ns = wanted->from_unix_ns ? wanted->from_unix_ns : INT64_MIN;
    filter->to_ns = wanted->to_unix_ns ? wanted->to_unix_ns : INT64_MAX;
    if (copy_jobs(filter, wanted) || scan_filter_copy_texts(filter, wanted) ||
        copy_nodes(filter, wanted)) {
        return errno == EINVAL
                   ? apapi_fail(err, EINVAL, "'%.100s' is not a list of nodes like n[1-4]",
                                wanted->nodes)
                   : apapi_fail(err, ENOMEM, "no memory");
    }
    return 0;
}

void filter_free(struct filter *filter)
{
    for (size_t i = 0; i < FILTER_TEXTS; i++) {
        free(filter->texts[i]);
    }
    namelist_free(&filter->nodes);
    free(filter->jobs);
}

bool filter_wants_node(const struct filter *filter, const char *node)
{
    return filter->nodes.count == 0 || namelist_have(&filter->nodes, node);
}

bool filter_wants_day(const struct filter *filter, const char *day)
{
    char first[TIMESTAMP_SIZE], last[TIMESTAMP_SIZE];

    timestamp_day(first, sizeof first, filter->from_ns);
    timestamp_day(last, sizeof last, filter->to_ns - 1);
    return strcmp(day, first) >= 0 && strcmp(day, last) <= 0;
}

static bool has_job(const struct filter *filter, uint32_t job)
{
    return bsearch(&job, filter->jobs, filter->job_count, sizeof *filter->jobs, compare_uint32) !=
           NULL;
}

static bool wants_job(const struct filter *filter, const struct apapi_identity *id)
{
    return filter->job_count == 0 || has_job(filter, id->job) ||
           (filter->job_parts && (has_job(filter, id->array_job) || has_job(filter, id->het_job)));
}

static bool wants_text(const struct filter *filter, size_t i, const struct apapi_identity *id)
{
    return !filter->texts[i] || strcmp(filter->texts[i], (const char *)id + texts[i].found) == 0 ||
           (i == FILTER_USER && filter->uid != APAPI_UNKNOWN && id->uid == filter->uid);
}

static bool wants_end(const struct filter *filter, int64_t end_ns)
{
    return end_ns >= filter->from_ns && end_ns < filter->to_ns;
}

bool filter_wants(const struct filter *filter, const struct apapi_record *record)
{
    for (size_t i = 0; i < FILTER_TEXTS; i++) {
        if (!wants_text(filter, i, &record->id)) {
            return false;
        }
    }
    return wants_job(filter, &record->id) && filter_wants_node(filter, record->id.node) &&
           wants_end(filter, record_end_ns(&record->measurement));
}

static bool scan_filter_read_number(const struct head_pair *pair, uint32_t *number)
{
    *number = 0;
    for (size_t i = 0; i < pair->value_size; i++) {
        if (pair->value[i] < '0' || pair->value[i] > '9') {
            return false;
        }
        *number = *number * 10 + (uint32_t)(pair->value[i] - '0');
    }
    return !pair->text && pair->value_size <= DIGITS_MAX;
}

static bool read_start(const struct head_pair *pair, int64_t *start_ns)
{
    char text[TIMESTAMP_SIZE];

    if (!pair->text || pair->value_size >= sizeof text) {
        return false;
    }
    memcpy(text, pair->value, pair->value_size);
    text[pair->value_size] = '\0';
    return timestamp_parse(text, start_ns) == 0;
}

static bool read_elapsed(const struct head_pair *pair, int64_t *elapsed_ns)
{
    char text[40], *end;
    double seconds;

    if (pair->text || pair->value_size >= sizeof text) {
        return false;
    }
    memcpy(text, pair->value, pair->value_size);
    text[pair->value_size] = '\0';
    seconds = strtod(text, &end);
    if (*end || !(seconds >= 0 && seconds < LONGEST_S)) {
        return false;
    }
    *elapsed_ns = (int64_t)(seconds * (double)NS_PER_S);
    return true;
}

/* Check that the reader of records would get the same bytes from this text. */
static bool is_plain(const struct head_pair *pair, size_t size)
{
    for (size_t i = 0; i < pair->value_size; i++) {
        if (pair->value[i] < ' ' || pair->value[i] > '~' || pair->value[i] == '\\') {
            return false;
        }
    }
    return pair->text && pair->value_size < size;
}

static bool may_want_text(const struct filter *filter, const struct head_pair *pair)
{
    for (size_t i = 0; i < FILTER_TEXTS; i++) {
        if (filter->texts[i] && head_is(pair->key, pair->key_size, texts[i].key)) {
            return !is_plain(pair, texts[i].size) ||
                   head_is(pair->value, pair->value_size, filter->texts[i]);
        }
    }
    return true;
}

/* What the numbers at the beginning of a line show about job and user. */
struct numbers {
    bool job_said, job_wanted, uid_wanted;
};

/* @return whether the key is one of those numbers. */
static bool scan_filter_take_number(const struct filter *filter, const struct head_pair *pair,
                                    struct numbers *numbers)
{
    bool is_job = head_is(pair->key, pair->key_size, "job");
    uint32_t number;

    if (filter->uid != APAPI_UNKNOWN && head_is(pair->key, pair->key_size, "uid")) {
        numbers->uid_wanted = !scan_filter_read_number(pair, &number) || number == filter->uid;
        return true;
    }
    if (is_job || (filter->job_parts && (head_is(pair->key, pair->key_size, "array_job") ||
                                         head_is(pair->key, pair->key_size, "het_job")))) {
        numbers->job_said = numbers->job_said || is_job;
        numbers->job_wanted = numbers->job_wanted || filter->job_count == 0 ||
                              !scan_filter_read_number(pair, &number) || has_job(filter, number);
        return true;
    }
    return false;
}

/* The step comes after everything that identifies the job. */
static bool may_want_pair(const struct filter *filter, const struct head_pair *pair,
                          const struct numbers *numbers)
{
    if (head_is(pair->key, pair->key_size, "step")) {
        return numbers->job_wanted || !numbers->job_said;
    }
    if (numbers->uid_wanted && head_is(pair->key, pair->key_size, "user")) {
        return true;
    }
    return may_want_text(filter, pair);
}

static bool may_want_node(const struct filter *filter, const struct head_pair *pair)
{
    char node[APAPI_TEXT_SIZE];

    if (filter->nodes.count == 0 || !is_plain(pair, sizeof node)) {
        return true;
    }
    memcpy(node, pair->value, pair->value_size);
    node[pair->value_size] = '\0';
    return filter_wants_node(filter, node);
}

static bool may_want_end(const struct filter *filter, int64_t start_ns, int64_t elapsed_ns)
{
    int64_t early_ns, late_ns;

    if (__builtin_add_overflow(start_ns, elapsed_ns + ROUNDING_NS, &late_ns) ||
        __builtin_sub_overflow(late_ns, 2 * ROUNDING_NS, &early_ns)) {
        return true;
    }
    return late_ns >= filter->from_ns && early_ns < filter->to_ns;
}

bool filter_may_want(const struct filter *filter, const char *line, size_t size)
{
    struct head head;
    struct head_pair pair;
    struct numbers numbers = {false, false, false};
    int64_t start_ns = 0, elapsed_ns;
    bool started = false;

    if (!head_begin(&head, line, size)) {
        return true;
    }
    while (head_next(&head, &pair)) {
        bool wanted = true;

        if (scan_filter_take_number(filter, &pair, &numbers)) {
            continue;
        }
        if (head_is(pair.key, pair.key_size, "node")) {
            wanted = may_want_node(filter, &pair);
        } else if (head_is(pair.key, pair.key_size, "start")) {
            started = read_start(&pair, &start_ns);
        } else if (head_is(pair.key, pair.key_size, "elapsed_s") && started) {
            return !read_elapsed(&pair, &elapsed_ns) || may_want_end(filter, start_ns, elapsed_ns);
        } else {
            wanted = may_want_pair(filter, &pair, &numbers);
        }
        if (!wanted) {
            return false;
        }
    }
    return true;
}
