/* SPDX-License-Identifier: BSD-3-Clause */
#include "node/share_page.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/files.h"
#include "base/shared_page.h"
#include "channel/ask.h"
#include "measure/share.h"
#include "node/meters.h"

#define CLAIM_WORDS (sizeof(struct share_claim) / sizeof(uint64_t) - 1) /* without its number */

_Static_assert(sizeof(struct share_row) % sizeof(uint64_t) == 0, "a row is copied by words");
_Static_assert(sizeof(struct share_claim) % sizeof(uint64_t) == 0, "a claim is copied by words");

void share_page_init(struct share_page *page)
{
    memset(page, 0, sizeof *page);
    memcpy(page->head.magic, SHARE_PAGE_MAGIC, sizeof page->head.magic);
    page->head.version = SHARE_PAGE_VERSION;
    page->head.size = sizeof *page;
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        page->head.idle_w[d] = page->head.energy_j[d] = page->head.rate[d] = NAN;
        page->head.least_w[d] = NAN;
    }
}

bool share_page_is_valid(const struct share_page *page)
{
    return memcmp(page->head.magic, SHARE_PAGE_MAGIC, sizeof page->head.magic) == 0 &&
           page->head.version == SHARE_PAGE_VERSION && page->head.size == sizeof *page;
}

bool share_page_claimed(const struct share_page *page, uint64_t number, struct share_claim *claim)
{
    const struct share_claim *place = &page->claims[number % SHARE_PAGE_CLAIMS];

    if (__atomic_load_n(&place->number, __ATOMIC_ACQUIRE) != number) {
        return false;
    }
    claim->number = number;
    shared_words_load(&claim->number + 1, &place->number + 1, CLAIM_WORDS);
    return __atomic_load_n(&place->number, __ATOMIC_RELAXED) == number;
}

static struct share_page *share_page_map(const struct share_key *key, int mode)
{
    char path[PATH_MAX];
    struct share_page *page = NULL;

    errno = ENOTSUP; /* there is a file, but not of this version */
    if (snprintf(path, sizeof path, "%s/%s/" NODE_SHARES, key->live_dir, key->node) <
        (int)sizeof path) {
        page = shared_page_find(AT_FDCWD, path, mode, sizeof *page);
    }
    if (page && !share_page_is_valid(page)) {
        shared_page_unmap(page, sizeof *page);
        page = NULL;
    }
    return page;
}

static bool share_page_has(const struct share_row *row, const struct share_key *key)
{
    return row->flags & SHARE_ROW_USED && row->job == key->job &&
           strncmp(row->step, key->step, sizeof row->step) == 0;
}

int share_page_look(const struct share_key *key, struct share_found *found)
{
    struct share_page *page = share_page_map(key, O_RDONLY);
    struct share_row copy;
    bool any = false;

    memset(found, 0, sizeof *found);
    if (!page) {
        return -1;
    }
    found->head = page->head;
    for (int i = 0; i < SHARE_PAGE_ROWS; i++) {
        if (share_page_has(&page->rows[i], key) &&
            shared_record_read(&page->rows[i], &copy, sizeof copy) && share_page_has(&copy, key) &&
            (!any || copy.begin_ns > found->row.begin_ns)) {
            found->row = copy;
            any = true;
        }
    }
    shared_page_unmap(page, sizeof *page);
    errno = any ? errno : ENOENT;
    return any ? 0 : -1;
}

/* --- the end of a step ----------------------------------------------------------------------- */

/* A search for the control group of one step. */
struct share_end_search {
    const struct share_key *key;
    struct cgroups groups;
    struct cgroup_step group;
    double cores;
    bool found;
};

static void share_end_visit(const struct cgroup_step *step, void *context)
{
    struct share_end_search *search = context;

    if (step->job == search->key->job && strcmp(step->step, search->key->step) == 0) {
        search->group = *step;
        search->cores = cgroups_cores(&search->groups, step);
        search->found = true;
    }
}

/* Make the row of a step that no reading has seen: the step began after the last reading. */
static void share_end_begin(struct share_end *end, const struct share_end_search *search)
{
    struct share_row *row = &end->found.row;
    bool counted = search->group.cpu_ns != CGROUP_CPU_UNKNOWN;

    *row = (struct share_row){.inode = search->group.inode, .job = search->key->job};
    row->flags = SHARE_ROW_USED | (counted ? (uint32_t)SHARE_ROW_COUNTED : 0);
    row->cores = search->cores;
    row->time_ns = end->found.head.time_ns;
    snprintf(row->step, sizeof row->step, "%s", search->key->step);
}

/* Add the energy since the last reading: by the CPU time used, or else at the power before. */
static void share_end_add_tail(struct share_end *end, double weight)
{
    const struct share_head *head = &end->found.head;
    struct share_row *row = &end->found.row;
    double tail_s = (double)end->tail_ns / NS_PER_S;
    double part = row->cores / (double)sysconf(_SC_NPROCESSORS_ONLN);
    bool gives_idle = strcmp(head->idle, "cores") == 0;

    for (int d = 0; d < APAPI_DOMAINS; d++) {
        bool has_rate = d == APAPI_DOMAIN_PACKAGE || d == APAPI_DOMAIN_DRAM ||
                        d == APAPI_DOMAIN_CORE || d == APAPI_DOMAIN_UNCORE;
        double tail_j = row->power_w[d] * tail_s, idle_j = 0, used_j = weight * head->rate[d];

        if (has_rate && !isnan(used_j)) {
            idle_j = head->idle_w[d] * part * tail_s;
            idle_j = gives_idle && idle_j > 0 ? idle_j : 0;
            tail_j = used_j + idle_j;
        }
        end->tail_j[d] = tail_j;
        row->energy_j[d] += tail_j;
        row->idle_j[d] += idle_j;
    }
}

static bool share_end_is_fresh(const struct share_key *key, uint64_t now_ns)
{
    struct share_found found;

    share_page_look(key, &found);
    return found.head.size == 0 ? errno == ENOTSUP /* and stays so: there is no need to wait */
                                : found.head.time_ns + SHARE_PAGE_FRESH_NS >= now_ns;
}

void share_end_refresh(const struct share_key *key)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    uint64_t now_ns = clock_monotonic_ns(), deadline_ns = now_ns + SHARE_END_WAIT_NS;
    int ask = share_end_is_fresh(key, now_ns) ? -1 : ask_open(key->live_dir, key->node);

    if (ask >= 0 && ask_send(ask, ASK_COUNT, "", deadline_ns) == 0) {
        while (!share_end_is_fresh(key, now_ns) && clock_monotonic_ns() < deadline_ns) {
            nanosleep(&moment, NULL);
        }
    }
    folder_close(ask);
}

int share_end_look(const struct share_key *key, struct share_end *end)
{
    struct share_end_search search = {.key = key};
    const struct share_head *head = &end->found.head;
    const struct share_row *row = &end->found.row;
    const struct share_method *method;
    struct share_step tail = {.cpu_s = NAN};
    bool seen, grouped, counted;
    uint64_t now_ns;
    double weight;

    memset(end, 0, sizeof *end);
    seen = share_page_look(key, &end->found) == 0;
    if (head->size == 0) {
        return -1;
    }
    end->orphaned = head->writer > 0 && kill((pid_t)head->writer, 0) && errno == ESRCH;
    grouped = cgroups_find(&search.groups, key->node) &&
              cgroups_scan(&search.groups, share_end_visit, &search) && search.found;
    if (grouped && (!seen || row->inode != search.group.inode)) {
        seen = false;
        share_end_begin(end, &search);
    }
    now_ns = clock_monotonic_ns();
    end->tail_ns = now_ns > row->time_ns ? now_ns - row->time_ns : 0;
    counted = grouped && search.group.cpu_ns != CGROUP_CPU_UNKNOWN;
    if (counted) {
        tail.cpu_s = fmax((double)(int64_t)(search.group.cpu_ns - row->cpu_ns), 0) / NS_PER_S;
    }
    tail.cores = row->cores;
    tail.seconds = (double)end->tail_ns / NS_PER_S;
    method = share_method_find(head->method);
    weight = method ? method->weight(&tail) : NAN; /* since the last reading; NaN: not known */
    if (!seen && (!grouped || end->orphaned || isnan(weight * head->rate[APAPI_DOMAIN_PACKAGE]))) {
        return -1;
    }
    share_end_add_tail(end, weight);
    end->cpu_s = counted ? tail.cpu_s : 0;
    return 0;
}

void share_end_claim(const struct share_key *key, const struct share_end *end)
{
    const struct share_row *row = &end->found.row;
    struct share_claim claim = {.inode = row->inode, .job = row->job, .cpu_s = end->cpu_s};
    struct share_page *page = share_page_map(key, O_RDWR);
    struct share_claim *place;
    uint64_t number;

    if (!page) {
        return;
    }
    memcpy(claim.step, row->step, sizeof claim.step);
    memcpy(claim.energy_j, row->energy_j, sizeof claim.energy_j);
    memcpy(claim.idle_j, row->idle_j, sizeof claim.idle_j);
    number = __atomic_add_fetch(&page->head.claims, 1, __ATOMIC_ACQ_REL);
    place = &page->claims[number % SHARE_PAGE_CLAIMS];
    __atomic_store_n(&place->number, 0, __ATOMIC_RELAXED);
    shared_words_store(&place->number + 1, &claim.number + 1, CLAIM_WORDS);
    __atomic_store_n(&place->number, number, __ATOMIC_RELEASE);
    shared_page_unmap(page, sizeof *page);
}
