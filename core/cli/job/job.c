/* SPDX-License-Identifier: BSD-3-Clause */
/* One job: which records belong to it, and what they add up to. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/hostlist.h"
#include "base/names.h"
#include "base/text.h"
#include "cli/job/job.h"
#include "record/members.h"
#include "record/record.h"
#include "sum/members.h"

/* --- who a job belongs to ------------------------------------------------------------------- */

/*
 * A job's membership in an array or heterogeneous job often comes from its user, who may name any
 * job. The owner of each job is known: all parts of one job must belong to the same user.
 */

enum { CLAIMED = 1, NUMBERED, SURE };

#define CLAIMS_OWNERS_MAX 16

/* Owners of the job that has the number now, one for each cluster. */
struct claims {
    uint32_t job;
    struct claims_owner {
        char cluster[sizeof((struct apapi_identity *)0)->cluster];
        uint32_t uid;
        int rank;         /* reliability of the source of `uid` */
        bool found;       /* a record of this owner was found; others are compared with it */
        uint32_t task;    /* of the array, in the record that was found */
        int64_t start_ns; /* of the owner's first record so far */
    } owners[CLAIMS_OWNERS_MAX];
    size_t count;
};

/* @return the cluster's owner; if not yet known, the empty one after the last; NULL: too many */
static struct claims_owner *claims_find(struct claims *claims, const char *cluster)
{
    struct claims_owner *owner = claims->owners;

    while (owner < claims->owners + claims->count && strcmp(owner->cluster, cluster) != 0) {
        owner++;
    }
    return owner < claims->owners + CLAIMS_OWNERS_MAX ? owner : NULL;
}

/* Learn the owner from a job found under the number. Of several jobs that had the number, the last
 * is learned first. */
static void claims_learn(struct claims *claims, const struct apapi_identity *id)
{
    struct claims_owner *owner = claims_find(claims, id->cluster);
    int rank = CLAIMED;

    if (id->job == claims->job || (id->array_job == claims->job && id->verified)) {
        rank = SURE; /* Slurm confirms it */
    } else if (id->het_job == claims->job && id->job - id->het_job == id->het_offset) {
        rank = NUMBERED; /* Slurm numbers the components consecutively */
    }
    if (!owner) {
        return;
    }
    if (owner == claims->owners + claims->count) {
        claims->count++;
        snprintf(owner->cluster, sizeof owner->cluster, "%s", id->cluster);
    }
    if (rank > owner->rank) {
        owner->uid = id->uid;
        owner->rank = rank;
    }
}

/* @return whether a job found under the number is, or may be, part of the job. */
static bool claims_hold(const struct claims *claims, const struct apapi_identity *id)
{
    bool owned = false;

    for (size_t i = 0; i < claims->count; i++) {
        const struct claims_owner *owner = &claims->owners[i];
        bool same = !*id->cluster || strcmp(owner->cluster, id->cluster) == 0;

        if (same && owner->rank > CLAIMED) {
            owned = true;
            if (owner->uid == id->uid || id->uid == APAPI_UNKNOWN) {
                return true;
            }
        }
    }
    return !owned;
}

/* --- which records are kept ------------------------------------------------------------------- */

static bool show_is_of(const struct show *show, const struct show_share *share,
                       const struct apapi_identity *id)
{
    return share->own == (id->job == show->job) && share->uid == id->uid;
}

/* @return the user's counts; NULL with errno ENOMEM. */
static struct show_share *show_find_share(struct show *show, const struct apapi_identity *id)
{
    for (size_t i = 0; i < show->share_count; i++) {
        if (show_is_of(show, &show->shares[i], id)) {
            return &show->shares[i];
        }
    }
    if (array_add(&show->shares, show->share_count, &show->share_room, sizeof *show->shares)) {
        return NULL;
    }
    show->shares[show->share_count] =
        (struct show_share){.own = id->job == show->job, .uid = id->uid};
    return &show->shares[show->share_count++];
}

int show_add(const struct apapi_record *record, const char *line, size_t size, void *context)
{
    struct show *show = context;
    struct show_share *share = show_find_share(show, &record->id);

    if (!share) {
        return -1;
    }
    if (share->count == SHOW_RECORDS_MAX) {
        share->left_out++;
        return 0;
    }
    if (array_add(&show->records, show->count, &show->room, sizeof *show->records) ||
        apapi_record_decode(line, size, &show->records[show->count], NULL)) {
        return -1;
    }
    show->count++;
    share->count++;
    return 0;
}

/* Count the records without room, of users who have records that are kept. */
static void show_forget_strangers(struct show *show)
{
    for (size_t i = 0; i < show->share_count; i++) {
        const struct show_share *share = &show->shares[i];
        size_t at = 0;

        while (at < show->count && !show_is_of(show, share, &show->records[at].id)) {
            at++;
        }
        show->left_out += at < show->count ? share->left_out : 0;
    }
}

/* Remove the records that `keeps` refuses, and say why. */
static void show_keep(struct show *show,
                      bool (*keeps)(const struct apapi_record *record, void *context),
                      void *context, const char *command, const char *reason)
{
    size_t count = show->count, first = count;

    for (size_t i = count; i-- > 0;) {
        if (keeps(&show->records[i], context)) {
            show->records[--first] = show->records[i];
        } else {
            apapi_record_clear(&show->records[i]);
        }
    }
    show->count = count - first;
    if (first > 0) { /* else `records` may be NULL */
        memmove(show->records, show->records + first, show->count * sizeof *show->records);
        fprintf(stderr, "apapi %s: %zu record%s left out: %s\n", command, first, text_plural(first),
                reason);
    }
}

/* --- which records are of one job ------------------------------------------------------------- */

/*
 * Check that the records belong to one job. Components of a heterogeneous job do; their steps then
 * get names such as "+1.0".
 */
static bool show_join(struct show *show)
{
    const struct apapi_identity *first = &show->records[0].id;
    bool same_number = true, parts = first->het_job != APAPI_UNKNOWN;

    for (size_t i = 0; i < show->count; i++) {
        const struct apapi_identity *id = &show->records[i].id;

        same_number = same_number && id->job == first->job;
        parts = parts && id->het_job == first->het_job && id->het_offset != APAPI_UNKNOWN;
        if (strcmp(id->cluster, first->cluster) != 0) {
            return false;
        }
    }
    if (same_number) {
        job_id_text(first, show->id, sizeof show->id);
        return true;
    }
    snprintf(show->id, sizeof show->id, "%u", first->het_job);
    for (size_t i = 0; i < show->count && parts; i++) { /* in Slurm's form: "+1.0" */
        struct apapi_identity *id = &show->records[i].id;
        char step[20];

        snprintf(step, sizeof step, "%.19s", id->step);
        snprintf(id->step, sizeof id->step, "+%u.%s", id->het_offset, step);
    }
    return parts;
}

static int compare_ends(const void *left, const void *right)
{
    const struct apapi_record *a = left, *b = right;

    return COMPARE(record_end_ns(&a->measurement), record_end_ns(&b->measurement));
}

/* @return whether a record is of the present job with the number; called from last to first. */
static bool is_present(const struct apapi_record *record, void *context)
{
    struct claims *claims = context;
    const struct apapi_identity *id = &record->id;
    const struct apapi_measurement *m = &record->measurement;
    struct claims_owner *owner = claims_find(claims, id->cluster);
    bool own, earlier;

    if (!owner) {
        return true;
    }
    own = owner->uid == id->uid || owner->uid == APAPI_UNKNOWN || id->uid == APAPI_UNKNOWN;
    earlier = owner->found && owner->task == id->array_task &&
              owner->start_ns - record_end_ns(m) >= TIMING_SAME_JOB_NS;
    if (earlier || (!own && id->job == claims->job)) {
        return false;
    }
    if (own && !owner->found) {
        owner->found = true;
        owner->task = id->array_task;
        owner->start_ns = m->start_unix_ns;
    } else if (own && owner->task == id->array_task && m->start_unix_ns < owner->start_ns) {
        owner->start_ns = m->start_unix_ns;
    }
    return true;
}

static bool is_no_stranger(const struct apapi_record *record, void *claims)
{
    return record->id.job == ((const struct claims *)claims)->job ||
           claims_hold(claims, &record->id);
}

/* Old records name no cluster: they may be of any cluster's job with this number.
 * @param named  whether any record names one */
static bool names_cluster(const struct apapi_record *record, void *named)
{
    return *record->id.cluster || !*(const bool *)named;
}

/* --- the job that was asked for --------------------------------------------------------------- */

/* Refuse an array, or jobs of several clusters: the user must choose. */
static int refuse_several(const struct show *show, const char *command)
{
    struct namelist jobs = {0};
    char list[80] = "", job_id[32], name[32 + sizeof show->records->id.cluster];
    const char *first = show->records[0].id.cluster;
    bool clusters = false;
    size_t i = 0;
    int result = 0;

    for (size_t k = 1; k < show->count; k++) {
        clusters |= strcmp(show->records[k].id.cluster, first) != 0;
    }
    for (size_t k = 0; k < show->count && result == 0; k++) {
        job_id_text(&show->records[k].id, job_id, sizeof job_id);
        snprintf(name, sizeof name, clusters ? "%s of %s" : "%s", job_id,
                 show->records[k].id.cluster);
        result = namelist_add(&jobs, name);
    }
    namelist_unique(&jobs);
    for (; i < jobs.count && strlen(list) + strlen(jobs.names[i]) + 3 <= sizeof list; i++) {
        text_append(list, sizeof list, ", ", "%s", jobs.names[i]);
    }
    result = command_fail(command, "several jobs match: %s%s; name one, or a cluster with -M", list,
                          i < jobs.count ? ", ..." : "");
    namelist_free(&jobs);
    return result;
}

/* --- what it used ----------------------------------------------------------------------------- */

void show_free(struct show *show)
{
    for (size_t i = 0; i < show->count; i++) {
        apapi_record_clear(&show->records[i]);
    }
    free(show->records);
    free(show->nodes);
    free(show->steps);
    free(show->shares);
    free(show->entries.list);
    sum_free(&show->store);
    *show = (struct show){0};
}

/* Add up all records. The records that count get their corrected start and their run. */
static int add_up(struct show *show)
{
    show->store.lists = true;
    for (size_t i = 0; i < show->count; i++) {
        if (sum_add(&show->store, &show->records[i], NULL)) {
            return -1;
        }
    }
    if (sum_gather(&show->store, NULL, show->count, &show->entries)) {
        return -1;
    }
    sum_of_job(&show->entries);
    if (sum_total(&show->store, &show->entries, &show->total)) {
        return -1;
    }
    sum_find_ends(&show->entries);
    for (size_t i = 0; i < show->entries.count; i++) {
        const struct sum_entry *entry = &show->entries.list[i];

        show_record(show, entry)->measurement.start_unix_ns = entry->start_ns;
        show_record(show, entry)->id.restarts = entry->restarts;
    }
    return 0;
}

/* Add up the tasks and endings of the last run; tasks before a requeue are not counted. */
static void add_up_tasks(const struct show *show, const struct sum_entry *list, size_t count,
                         struct show_part *step)
{
    const struct apapi_record *before = NULL;
    uint32_t last = APAPI_UNKNOWN;

    for (size_t i = 0; i < count; i++) {
        last = known_greater(last, list[i].restarts);
    }
    for (size_t i = 0; i < count; i++) {
        const struct apapi_record *record = show_record(show, &list[i]);
        const struct apapi_identity *id = &record->id;

        if (id->restarts != last || (before && strcmp(before->id.node, id->node) == 0)) {
            continue;
        }
        step->tasks = before ? known_sum(step->tasks, id->tasks) : id->tasks;
        step->ending = before ? ending_of_both(&step->ending, &record->ending) : record->ending;
        before = record;
    }
}

/* @param key  SUM_NODE, SUM_STEP. @return number of the parts; 0: out of memory */
static size_t work_out_parts(const struct show *show, struct sum_entry *list, enum sum_key key,
                             struct show_part *parts)
{
    size_t all = show->entries.count, number = 0;

    sum_sort(list, all, SUM_KEYS(key, SUM_NODE, SUM_START));
    for (size_t i = 0, count; i < all; i += count) {
        const struct apapi_identity *id = &show_record(show, &list[i])->id;
        struct show_part *part = &parts[number++];

        *part =
            (struct show_part){.name = key == SUM_NODE ? id->node : id->step, .program = id->name};
        count = sum_alike(list + i, all - i, SUM_KEYS(key));
        add_up_tasks(show, list + i, count, part);
        if (sum_total(&show->store, &(struct sum_entries){list + i, count}, &part->used)) {
            return 0;
        }
    }
    return number;
}

int show_power(const struct show *show, const char *node, int domain, double *power_w,
               size_t columns)
{
    return sum_power(&show->store, &show->entries,
                     &(struct sum_power_request){node, domain, show->total.start_unix_ns,
                                                 show->total.end_unix_ns, columns},
                     power_w);
}

/* Calculate all from the records, at least one. */
static int work_out(struct show *show)
{
    struct sum_entry *list = NULL; /* a copy, because sums sort the entries */

    show->nodes = calloc(show->count + 1, sizeof *show->nodes);
    show->steps = calloc(show->count + 1, sizeof *show->steps);
    if (show->nodes && show->steps && add_up(show) == 0) {
        list = array_copy(show->entries.list, show->entries.count, sizeof *list);
    }
    show->node_count = list ? work_out_parts(show, list, SUM_NODE, show->nodes) : 0;
    show->step_count = show->node_count ? work_out_parts(show, list, SUM_STEP, show->steps) : 0;
    free(list);
    return show->step_count > 0
               ? show_power(show, NULL, APAPI_DOMAIN_NONE, show->curve_w, SHOW_CURVE)
               : -1;
}

int show_choose(struct show *show, const struct query *query)
{
    const char *command = query->command;
    struct claims claims = {.job = show->job};
    bool named = false;

    if (show->count > 0) { /* else `records` may be NULL */
        qsort(show->records, show->count, sizeof *show->records, compare_ends);
    }
    for (size_t i = show->count; i-- > 0;) {
        claims_learn(&claims, &show->records[i].id);
    }
    show_keep(show, is_present, &claims, command, "the number was an earlier job's, too");
    show_keep(show, is_no_stranger, &claims, command,
              "another user's job claims to be part of this one");
    show_forget_strangers(show);
    if (show->count == 0) {
        return command_fail(command, "no record of this job found");
    }
    for (size_t i = 0; i < show->count; i++) {
        named = named || *show->records[i].id.cluster;
    }
    show_keep(show, names_cluster, &named, command, "no cluster is named there");
    if (!show_join(show)) {
        return refuse_several(show, command);
    }
    return sum_ask(&show->store, query->wanted.nodes) || work_out(show)
               ? command_fail(command, "no memory")
               : 0;
}

/* --- regions ---------------------------------------------------------------------------------- */

int show_regions(const struct show *show, const char *step, size_t max,
                 struct apapi_regions *regions)
{
    struct region_sums sums = {0};
    int failed = 0;

    for (size_t i = 0; i < show->entries.count && !failed; i++) {
        if (!step || strcmp(show_record_at(show, i)->id.step, step) == 0) {
            failed = region_sums_add(&sums, show_record_at(show, i));
        }
    }
    failed = failed || region_sums_result(&sums, max, regions);
    region_sums_free(&sums);
    return failed ? -1 : 0;
}

/* --- what `apapi show` and `apapi plot` have in common ---------------------------------------- */

static int compare_nodes(const void *left, const void *right)
{
    const struct show_part *a = left, *b = right;
    double a_j = isnan(a->used.energy_j) ? -1 : a->used.energy_j;
    double b_j = isnan(b->used.energy_j) ? -1 : b->used.energy_j;

    return a_j == b_j ? strverscmp(a->name, b->name) : a_j > b_j ? -1 : 1;
}

struct show_part *show_order_nodes(const struct show *show)
{
    struct show_part *nodes = array_copy(show->nodes, show->node_count + 1, sizeof *nodes);

    if (nodes) {
        qsort(nodes, show->node_count, sizeof *nodes, compare_nodes);
    }
    return nodes;
}

int show_table(const struct show *show, char **text)
{
    const struct apapi_job_table_head head = {.job = show->id, .left_out = show->left_out};
    struct apapi_job job = {.store = show->store};
    int result = apapi_job_table_format(&job, &head, text, NULL);

    free(job.entries.list);
    return result;
}

static void say_count(struct remarks *remarks, size_t count, const char *what)
{
    if (count > 0) {
        remark(remarks, "%zu %s %s", count, count == 1 ? "was" : "were", what);
    }
}

void show_say_trust(const struct show *show, struct remarks *remarks)
{
    size_t complete = 0, recovered = 0, delayed = 0, verified = 0;
    double covered = NAN, uncertainty = NAN, cpu_s = 0; /* the lowest; the highest; the sum */

    for (size_t i = 0; i < show->entries.count; i++) {
        const struct apapi_record *record = show_record_at(show, i);
        const struct apapi_measurement *m = &record->measurement;

        covered = fmin(covered, m->covered);
        uncertainty =
            fmax(uncertainty, apapi_record_uncertainty_j(m) / apapi_measurement_total_j(m));
        cpu_s += (double)m->cpu_ns / NS_PER_S;
        complete += record->complete;
        recovered += record->recovered;
        delayed += record->delayed;
        verified += record->id.verified;
    }
    remark(remarks, "%zu of %zu records are complete", complete, show->entries.count);
    say_count(remarks, recovered, "recovered from what was saved while the step ran");
    say_count(remarks, delayed, "written late, as the node could not at the step's end");
    if (!isnan(covered)) {
        remark(remarks, "good readings cover %.1f %% of the time in the worst of them",
               floor(covered * 1000 + 1e-6) / 10);
    }
    if (isfinite(uncertainty)) {
        remark(remarks,
               "the energy of each is known to %.2g %% or better, errors of the meters aside",
               100 * uncertainty);
    }
    remark(remarks, "measuring took %.2f s of CPU time in all", cpu_s);
    remark(remarks, "%s",
           verified ? "the partition comes from Slurm, account and qos do if it knows them"
                    : "account, partition and qos come from the environment of the steps, "
                      "which the user controls");
}
