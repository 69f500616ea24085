/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "regions/observe/observe.h"
#include "regions/observe/observe_parts.h"

/* What the shell of the step and its programs say in messages. */

static void shell_energies(const struct observer *observer, double energies_j[APAPI_DOMAINS])
{
    uint64_t now_ns = clock_monotonic_ns();

    for (int d = 0; d < APAPI_DOMAINS; d++) {
        struct apapi_live_slot slot;
        bool known = apapi_domain_adds_up(d) &&
                     apapi_live_read(&observer->live->domains[d], &slot) &&
                     slot.flags & APAPI_LIVE_MEASURED;

        energies_j[d] = known ? apapi_live_energy_at_j(&slot, now_ns) : NAN;
    }
}

static void shell_clean(char clean[PAGE_NAME_SIZE], const char *name)
{
    text_clean(clean, PAGE_NAME_SIZE, name);
    for (; *clean; clean++) {
        *clean = *clean == '/' ? '?' : *clean;
    }
}

static size_t shell_node(const struct observer *observer)
{
    return observer->depth > 0 ? observer->shell[observer->depth - 1].node : NODES_UNMARKED;
}

int observe_shell_begin(struct observer *observer, const char *name)
{
    struct observe_shell *shell = &observer->shell[observer->depth];
    char clean[PAGE_NAME_SIZE];

    if (observer->depth == OBSERVE_DEPTH) {
        errno = E2BIG;
        return -1;
    }
    if (observe_activate(observer)) {
        return -1;
    }
    shell_clean(clean, name);
    pthread_mutex_lock(&observer->lock);
    observe_look_sometimes(observer);
    shell->node = nodes_find(&observer->nodes, shell_node(observer), clean);
    observer->nodes.list[shell->node].count++;
    observer->nodes.list[shell->node].programs = 1;
    observer->nodes.list[shell->node].threads = 1;
    observer->depth++;
    pthread_mutex_unlock(&observer->lock);
    shell_energies(observer, shell->begin_j);
    return 0;
}

/* @return 1 + index of the innermost region of this name; 0: there is none. */
static size_t shell_find(const struct observer *observer, const char *name)
{
    char clean[PAGE_NAME_SIZE];
    size_t depth = observer->depth;

    shell_clean(clean, name);
    while (depth > 0 &&
           strcmp(observer->nodes.list[observer->shell[depth - 1].node].name, clean) != 0) {
        depth--;
    }
    return depth;
}

int observe_shell_read(struct observer *observer, const char *name, double *energy_j)
{
    size_t depth = shell_find(observer, name);
    double now_j[APAPI_DOMAINS];

    if (depth == 0) {
        observer->losses.misuses++;
        errno = ENOENT;
        return -1;
    }
    shell_energies(observer, now_j);
    *energy_j = NAN;
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        double more_j = now_j[d] - observer->shell[depth - 1].begin_j[d];

        if (!isnan(more_j)) {
            *energy_j = (isnan(*energy_j) ? 0 : *energy_j) + more_j;
        }
    }
    return 0;
}

/* Regions that began within it end with it. */
int observe_shell_end(struct observer *observer, const char *name, double *energy_j)
{
    if (observe_shell_read(observer, name, energy_j)) {
        return -1;
    }
    pthread_mutex_lock(&observer->lock);
    observe_look_sometimes(observer);
    observer->depth = shell_find(observer, name) - 1;
    pthread_mutex_unlock(&observer->lock);
    return 0;
}

/* @return its place; fom_count: there is none. */
static size_t fom_find(struct observer *observer, const char *name, const char *unit)
{
    size_t i = 0;
    struct apapi_fom *fom;

    while (i < observer->fom_count && strcmp(observer->foms[i].name, name) != 0) {
        i++;
    }
    if (i == observer->fom_count && i < APAPI_FOMS_MAX) {
        fom = &observer->foms[observer->fom_count++];
        snprintf(fom->name, sizeof fom->name, "%s", name);
        snprintf(fom->unit, sizeof fom->unit, "%s", unit);
    }
    return i;
}

int observe_fom(struct observer *observer, struct observe_foms *given, const char *name,
                double value, const char *unit)
{
    char clean_name[APAPI_FOM_NAME_SIZE], clean_unit[APAPI_FOM_UNIT_SIZE];
    size_t i;

    text_clean(clean_name, sizeof clean_name, name);
    text_clean(clean_unit, sizeof clean_unit, unit);
    if (!isfinite(value) || *clean_name == '\0') {
        errno = EINVAL;
        return -1;
    }
    i = fom_find(observer, clean_name, clean_unit);
    if (i == APAPI_FOMS_MAX) {
        errno = ENOSPC;
        return -1;
    }
    observer->foms[i].value += value - (given->given[i] ? given->values[i] : 0);
    observer->foms[i].programs += !given->given[i];
    given->given[i] = true;
    given->values[i] = value;
    return 0;
}
