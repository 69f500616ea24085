/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampler/share.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "node/share_page.h"
#include "sources/sources.h"

#define STALE_NS ((uint64_t)(5 * NS_PER_S)) /* and two intervals: then the node sampler is dead */
#define EXCLUSIVE "exclusive"

static bool share_is_wanted(const struct step *step)
{
    const char *records = source_setting("shares", "records");

    return strcmp(*step->share ? step->share : records ? records : "off", "on") == 0;
}

/* Slurm counts the cores of the job for its script: steps that it starts may have them, too. */
static bool share_is_exclusive(const struct apapi_identity *id)
{
    return id->step[0] >= '0' && id->step[0] <= '9' && id->cores != APAPI_UNKNOWN &&
           id->node_cores != APAPI_UNKNOWN && id->cores >= id->node_cores;
}

static void share_take_all(struct apapi_record *record)
{
    struct apapi_share *share = &record->share;

    snprintf(share->method, sizeof share->method, EXCLUSIVE);
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        const struct apapi_domain_result *domain = &record->measurement.domains[d];

        if (domain->measured) {
            share->domains[d].energy_j = domain->energy_j;
            share->domains[d].uncertainty_j = domain->uncertainty_j;
        }
    }
}

/* The meters' part of the uncertainty; what was extrapolated may be wrong as a whole. */
static double share_uncertainty_j(const struct apapi_domain_result *domain, double energy_j,
                                  double tail_j)
{
    double part = domain->energy_j > 0 ? fmin(1, energy_j / domain->energy_j) : 1;

    return domain->uncertainty_j * part + tail_j;
}

static void share_take_domain(const struct share_end *end, int domain, struct apapi_record *record)
{
    const struct apapi_domain_result *measured = &record->measurement.domains[domain];
    struct apapi_share_energy *energy = &record->share.domains[domain];

    if (!measured->measured || isnan(end->found.head.energy_j[domain])) {
        return;
    }
    energy->energy_j = end->found.row.energy_j[domain];
    energy->uncertainty_j = share_uncertainty_j(measured, energy->energy_j, end->tail_j[domain]);
    energy->idle_w = end->found.head.idle_w[domain];
    if (strcmp(end->found.head.idle, "cores") == 0) {
        energy->idle_j = end->found.row.idle_j[domain];
    }
}

static void share_take(const struct share_end *end, struct apapi_record *record)
{
    const struct share_head *head = &end->found.head;
    struct apapi_share *share = &record->share;

    snprintf(share->method, sizeof share->method, "%.23s", head->method);
    snprintf(share->idle, sizeof share->idle, "%.23s", head->idle);
    share->slices = end->found.row.flags & SHARE_ROW_SLICES;
    share->interval_ns = head->interval_ns;
    share->tail_ns = end->tail_ns;
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        share_take_domain(end, d, record);
    }
}

/*
 * No step had more than the node used while it ran: neither by what was extrapolated at its end,
 * nor by an interval of which it had only a part.
 */
static void share_bound(struct share_end *end, const struct apapi_measurement *m)
{
    struct share_row *row = &end->found.row;

    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        double over_j = m->domains[d].measured ? row->energy_j[d] - m->domains[d].energy_j : 0;

        if (over_j > 0) {
            row->energy_j[d] -= over_j;
            end->tail_j[d] = fmax(end->tail_j[d] - over_j, 0);
            row->idle_j[d] = fmin(row->idle_j[d], row->energy_j[d]);
        }
    }
}

/* @return why there is no figure; NULL: there is. */
static const char *share_look(const struct share_key *key, struct share_end *end)
{
    const struct share_head *head = &end->found.head;

    if (share_end_look(key, end)) {
        return head->size > 0 && !end->orphaned ? "the node sampler has not seen the step"
                                                : "no node sampler runs";
    }
    if (end->tail_ns > STALE_NS + 2 * head->interval_ns) {
        return "the node sampler has stopped";
    }
    if (strcmp(head->method, "cpu-time") == 0 && !(end->found.row.flags & SHARE_ROW_COUNTED)) {
        return "the CPU time of the step's control group is not known";
    }
    return NULL;
}

void share_finish(const struct step *step, struct apapi_record *record)
{
    const struct share_key key = {step->config.live_dir, step->id.node, step->id.job,
                                  step->id.step};
    struct share_end end;
    const char *reason;

    if (!share_is_wanted(step)) {
        return;
    }
    record->share = apapi_share_unknown();
    share_end_refresh(&key);
    reason = share_look(&key, &end);
    if (!reason) {
        share_bound(&end, &record->measurement);
        share_take(&end, record);
        share_end_claim(&key, &end);
    } else if (share_is_exclusive(&step->id)) {
        share_take_all(record);
    } else {
        snprintf(record->share.reason, sizeof record->share.reason, "%s", reason);
    }
}
