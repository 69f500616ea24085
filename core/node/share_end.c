/* SPDX-License-Identifier: BSD-3-Clause */
#include "node/share_end.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/folder.h"
#include "channel/ask.h"
#include "measure/share.h"
#include "node/cgroups.h"

/* The control group of one step. */
struct share_end_search {
    const struct share_asked *asked;
    const struct cgroups *groups;
    struct cgroup_step group;
    double cores;
    bool found;
};

static void share_end_visit(const struct cgroup_step *step, void *context)
{
    struct share_end_search *search = context;

    if (step->job == search->asked->job && strcmp(step->step, search->asked->step) == 0) {
        search->group = *step;
        search->cores = cgroups_cores(search->groups, step);
        search->found = true;
    }
}

static bool share_end_find_group(struct share_end_search *search, struct cgroups *groups)
{
    search->groups = groups;
    return cgroups_find(groups, search->asked->node) &&
           cgroups_scan(groups, share_end_visit, search) && search->found;
}

/* A step that no reading has seen began after the last one. */
static void share_end_begin(struct share_end *end, const struct share_end_search *search)
{
    struct share_row *row = &end->found.row;

    memset(row, 0, sizeof *row);
    row->inode = search->group.inode;
    row->job = search->asked->job;
    row->flags = SHARE_ROW_USED |
                 (search->group.cpu_ns == CGROUP_CPU_UNKNOWN ? 0 : (uint32_t)SHARE_ROW_COUNTED);
    row->cores = search->cores;
    row->time_ns = end->found.head.time_ns;
    snprintf(row->step, sizeof row->step, "%s", search->asked->step);
}

/* What the method counts of the time since the last reading; NaN: not known. */
static double share_end_weight(const struct share_end *end, const struct cgroup_step *group)
{
    const struct share_method *method = share_method_find(end->found.head.method);
    uint64_t before_ns = end->found.row.cpu_ns;
    struct share_step step = {
        .cores = end->found.row.cores, .seconds = (double)end->tail_ns / NS_PER_S, .cpu_s = NAN};

    if (group && group->cpu_ns != CGROUP_CPU_UNKNOWN) {
        step.cpu_s = group->cpu_ns > before_ns ? (double)(group->cpu_ns - before_ns) / NS_PER_S : 0;
    }
    return method ? method->weight(&step) : NAN;
}

static bool share_end_has_rate(int domain)
{
    return domain == APAPI_DOMAIN_PACKAGE || domain == APAPI_DOMAIN_DRAM ||
           domain == APAPI_DOMAIN_CORE || domain == APAPI_DOMAIN_UNCORE;
}

static double share_end_idle_j(const struct share_end *end, int domain)
{
    double part = end->found.row.cores / (double)sysconf(_SC_NPROCESSORS_ONLN);
    double idle_j = end->found.head.idle_w[domain] * part * (double)end->tail_ns / NS_PER_S;

    return strcmp(end->found.head.idle, "cores") == 0 && idle_j > 0 ? idle_j : 0;
}

/* By what was used, or else as before. */
static void share_end_add_tail(struct share_end *end, double weight)
{
    struct share_row *row = &end->found.row;

    for (int d = 0; d < APAPI_DOMAINS; d++) {
        double tail_j = row->power_w[d] * (double)end->tail_ns / NS_PER_S, idle_j = 0;
        double used_j = weight * end->found.head.rate[d];

        if (share_end_has_rate(d) && !isnan(used_j)) {
            idle_j = share_end_idle_j(end, d);
            tail_j = used_j + idle_j;
        }
        end->tail_j[d] = tail_j;
        row->energy_j[d] += tail_j;
        row->idle_j[d] += idle_j;
    }
}

static bool share_end_is_fresh(const struct share_asked *asked, uint64_t now_ns)
{
    struct share_found found;

    share_page_look(asked, &found);
    return found.head.size > 0 && found.head.time_ns + SHARE_PAGE_FRESH_NS >= now_ns;
}

void share_end_refresh(const struct share_asked *asked)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    uint64_t now_ns = clock_monotonic_ns(), deadline_ns = now_ns + SHARE_END_WAIT_NS;
    int ask = share_end_is_fresh(asked, now_ns) ? -1 : ask_open(asked->live_dir, asked->node);

    if (ask >= 0 && ask_send(ask, ASK_COUNT, NULL, deadline_ns) == 0) {
        while (!share_end_is_fresh(asked, now_ns) && clock_monotonic_ns() < deadline_ns) {
            nanosleep(&moment, NULL);
        }
    }
    folder_close(ask);
}

static bool share_end_is_orphaned(const struct share_head *head)
{
    return head->writer > 0 && kill((pid_t)head->writer, 0) && errno == ESRCH;
}

int share_end_look(const struct share_asked *asked, struct share_end *end)
{
    struct share_end_search search = {.asked = asked};
    struct cgroups groups;
    bool seen, grouped;
    uint64_t now_ns;
    double weight;

    memset(end, 0, sizeof *end);
    seen = share_page_look(asked, &end->found) == 0;
    if (end->found.head.size == 0) {
        return -1;
    }
    end->orphaned = share_end_is_orphaned(&end->found.head);
    grouped = share_end_find_group(&search, &groups);
    if (grouped && (!seen || end->found.row.inode != search.group.inode)) {
        seen = false;
        share_end_begin(end, &search);
    }
    now_ns = clock_monotonic_ns();
    end->tail_ns = now_ns > end->found.row.time_ns ? now_ns - end->found.row.time_ns : 0;
    weight = share_end_weight(end, grouped ? &search.group : NULL);
    if (!seen &&
        (!grouped || end->orphaned || isnan(weight * end->found.head.rate[APAPI_DOMAIN_PACKAGE]))) {
        return -1;
    }
    share_end_add_tail(end, weight);
    if (grouped && search.group.cpu_ns != CGROUP_CPU_UNKNOWN) {
        end->cpu_s =
            fmax(0, ((double)search.group.cpu_ns - (double)end->found.row.cpu_ns) / NS_PER_S);
    }
    return 0;
}

void share_end_claim(const struct share_asked *asked, const struct share_end *end)
{
    const struct share_row *row = &end->found.row;
    struct share_claim claim = {.inode = row->inode, .job = row->job, .cpu_s = end->cpu_s};

    memcpy(claim.step, row->step, sizeof claim.step);
    memcpy(claim.energy_j, row->energy_j, sizeof claim.energy_j);
    memcpy(claim.idle_j, row->idle_j, sizeof claim.idle_j);
    share_page_claim(asked, &claim);
}
