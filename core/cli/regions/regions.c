/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/regions/regions.h"

#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define OWN_COMPONENT "apapi"

/* --- events --------------------------------------------------------------------------------- */

/* PAPI's files have no units: the events whose unit and domain are known. */
static const struct {
    const char *pattern;
    enum apapi_domain domain;
    double joules;
} energies[] = {
    {"apapi:::PACKAGE_ENERGY_UJ", APAPI_DOMAIN_PACKAGE, 1e-6},
    {"apapi:::DRAM_ENERGY_UJ", APAPI_DOMAIN_DRAM, 1e-6},
    {"apapi:::GPU_ENERGY_UJ", APAPI_DOMAIN_GPU, 1e-6},
    {"apapi:::CORE_ENERGY_UJ", APAPI_DOMAIN_CORE, 1e-6},
    {"apapi:::UNCORE_ENERGY_UJ", APAPI_DOMAIN_UNCORE, 1e-6},
    {"apapi:::PSYS_ENERGY_UJ", APAPI_DOMAIN_PSYS, 1e-6},
    {"apapi:::NODE_ENERGY_UJ", APAPI_DOMAIN_NODE, 1e-6},
    {"rapl:::PACKAGE_ENERGY:*", APAPI_DOMAIN_PACKAGE, 1e-9},
    {"rapl:::DRAM_ENERGY:*", APAPI_DOMAIN_DRAM, 1e-9},
    {"rapl:::PP0_ENERGY:*", APAPI_DOMAIN_CORE, 1e-9},
    {"rapl:::PP1_ENERGY:*", APAPI_DOMAIN_UNCORE, 1e-9},
    {"rapl:::PSYS_ENERGY:*", APAPI_DOMAIN_PSYS, 1e-9},
    {"rapl::RAPL_ENERGY_PKG*", APAPI_DOMAIN_PACKAGE, 0x1p-32},
    {"rapl::RAPL_ENERGY_DRAM*", APAPI_DOMAIN_DRAM, 0x1p-32},
    {"rapl::RAPL_ENERGY_CORES*", APAPI_DOMAIN_CORE, 0x1p-32},
    {"rapl::RAPL_ENERGY_GPU*", APAPI_DOMAIN_UNCORE, 0x1p-32},
    {"rapl::RAPL_ENERGY_PSYS*", APAPI_DOMAIN_PSYS, 0x1p-32},
    {"nvml:::*:total_energy_consumption", APAPI_DOMAIN_GPU, 1e-3},
    {"rocm_smi:::energy_count:*", APAPI_DOMAIN_GPU, 1e-6},
    {"amd_smi:::energy_consumed:*", APAPI_DOMAIN_GPU, 1e-6},
};

int regions_event(struct regions *regions, const char *name, const char *component,
                  const char *type)
{
    size_t before = regions->events.count;
    struct region_event *event;
    uint32_t number;

    if (before >= REGIONS_EVENTS_MAX) {
        errno = ERANGE;
        return -1;
    }
    number = pool_put(&regions->events, name);
    if (number == POOL_NONE) {
        errno = ENOMEM;
        return -1;
    }
    if (number < before) {
        return (int)number;
    }
    event = &regions->described[number];
    /* A thread's own counters are of component perf_event; all others count for the whole node. */
    *event = (struct region_event){
        .instant = strcmp(type, "delta") != 0,
        .shared = (strcmp(component, OWN_COMPONENT) != 0 && strcmp(component, "perf_event") != 0)};
    for (size_t i = 0; i < COUNT_OF(energies) && !event->instant; i++) {
        if (fnmatch(energies[i].pattern, name, 0) == 0) {
            event->domain = energies[i].domain;
            event->joules = energies[i].joules;
            regions->shared = regions->shared || event->shared;
            break;
        }
    }
    return (int)number;
}

const char *regions_event_name(const struct regions *regions, size_t number)
{
    return pool_text(&regions->events, (uint32_t)number);
}

double regions_event_value(const struct regions *regions, const struct region_row *row,
                           size_t number)
{
    if (!regions->described[number].instant) {
        return regions_use(regions, row)->values[number];
    }
    return row->count > 0 ? row->all.values[number] / (double)row->count : (double)NAN;
}

static void regions_use_events(const struct regions *regions, struct region_use *use)
{
    for (size_t i = 0; i < regions->events.count; i++) {
        const struct region_event *event = &regions->described[i];
        double *energy_j = &use->energy_j[event->domain];

        if (event->domain != APAPI_DOMAIN_NONE && !isnan(use->values[i])) {
            *energy_j = (isnan(*energy_j) ? 0 : *energy_j) + use->values[i] * event->joules;
        }
    }
}

/* --- adding up ------------------------------------------------------------------------------ */

struct region_row regions_row(uint32_t path)
{
    struct region_row row = {.path = path, .where = {POOL_NONE, POOL_NONE}};

    row.last_rank = POOL_NONE;
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        row.own.energy_j[d] = row.all.energy_j[d] = NAN;
        row.own.uncertainty_j[d] = row.all.uncertainty_j[d] = NAN;
    }
    return row;
}

void regions_sum_use(struct region_use *use, const struct region_use *more)
{
    use->time_s += more->time_s;
    for (size_t i = 0; i < REGIONS_EVENTS_MAX; i++) {
        use->values[i] += more->values[i];
    }
}

void regions_take_off(const struct regions *regions, struct region_use *use,
                      const struct region_use *part)
{
    use->time_s -= part->time_s;
    for (size_t i = 0; i < regions->events.count; i++) {
        use->values[i] -= regions->described[i].instant ? 0 : part->values[i];
    }
}

static void regions_join_use(const struct regions *regions, struct region_use *use,
                             const struct region_use *more, bool first)
{
    use->time_s += more->time_s;
    use->wall_s = fmax(use->wall_s, more->wall_s);
    for (size_t i = 0; i < REGIONS_EVENTS_MAX; i++) {
        bool shared = i < regions->events.count && regions->described[i].shared &&
                      !regions->described[i].instant;

        /* all threads of a node read the same of a shared event: the most that one has seen counts
         */
        if (!shared) {
            use->values[i] += more->values[i];
        } else if (!(more->values[i] <= use->values[i])) {
            use->values[i] = more->values[i];
        }
    }
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        use->energy_j[d] = (first ? 0 : use->energy_j[d]) + more->energy_j[d];
        use->uncertainty_j[d] = (first ? 0 : use->uncertainty_j[d]) + more->uncertainty_j[d];
    }
}

static void regions_join(const struct regions *regions, struct region_row *row,
                         const struct region_row *more, bool first)
{
    row->count += more->count;
    row->threads += more->threads;
    if (more->last_rank == POOL_NONE || row->last_rank != more->last_rank) {
        row->ranks += more->ranks;
    }
    row->last_rank = more->last_rank;
    if (first || !row->method || !more->method) {
        row->method = first ? more->method : NULL;
    } else if (strcmp(row->method, "measured") == 0) { /* the weaker one counts */
        row->method = more->method;
    }
    regions_join_use(regions, &row->own, &more->own, first);
    regions_join_use(regions, &row->all, &more->all, first);
}

int regions_add(struct regions *regions, const struct region_row *row)
{
    uint32_t number;
    char key[64];
    bool first;

    if (regions->row_count >= REGIONS_ROWS_MAX) {
        regions->dropped++;
        return 0;
    }
    snprintf(key, sizeof key, "%u %u %d %u", regions->split[0] ? row->where[0] : 0,
             regions->split[1] ? row->where[1] : 0, (int)row->kind, row->path);
    number = pool_put(&regions->keys, key);
    if (number == POOL_NONE ||
        array_add(&regions->rows, number, &regions->row_room, sizeof *regions->rows)) {
        errno = ENOMEM;
        return -1;
    }
    first = number == regions->row_count;
    if (first) {
        regions->rows[number] = regions_row(row->path);
        regions->rows[number].kind = row->kind;
        for (size_t i = 0; i < REGIONS_WHERE; i++) {
            regions->rows[number].where[i] = regions->split[i] ? row->where[i] : POOL_NONE;
        }
        regions->row_count++;
    }
    regions_join(regions, &regions->rows[number], row, first);
    return 0;
}

/* --- all ------------------------------------------------------------------------------------ */

/* @param uncertainty_j  result; NULL: not asked for */
static double regions_energy_j(const struct region_use *use, double *uncertainty_j)
{
    double energy_j = NAN, sum_j = 0;

    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        if (apapi_domain_adds_up(d) && !isnan(use->energy_j[d])) {
            energy_j = (isnan(energy_j) ? 0 : energy_j) + use->energy_j[d];
            sum_j += use->uncertainty_j[d];
        }
    }
    if (uncertainty_j) {
        *uncertainty_j = sum_j > 0 ? sum_j : NAN;
    }
    return energy_j;
}

const struct region_use *regions_use(const struct regions *regions, const struct region_row *row)
{
    return regions->inclusive ? &row->all : &row->own;
}

/* NaN: the event is not there. */
static double regions_value(const struct regions *regions, const struct region_use *use,
                            const char *name)
{
    for (size_t i = 0; i < regions->events.count; i++) {
        if (strcmp(regions_event_name(regions, i), name) == 0) {
            return use->values[i];
        }
    }
    return NAN;
}

/* As PAPI's preset says, or by precision. */
static double regions_flop(const struct regions *regions, const struct region_use *use)
{
    double all = regions_value(regions, use, "PAPI_FP_OPS");
    double single = regions_value(regions, use, "PAPI_SP_OPS");
    double twofold = regions_value(regions, use, "PAPI_DP_OPS");

    if (!isnan(all)) {
        return all;
    }
    if (isnan(single) || isnan(twofold)) {
        return isnan(single) ? twofold : single;
    }
    return single + twofold;
}

static double regions_ratio(double value, double divisor)
{
    return divisor > 0 ? value / divisor : NAN;
}

int regions_add_fom(struct regions *regions, uint32_t where, const struct apapi_fom *fom)
{
    for (size_t i = regions->fom_count; i > 0 && regions->foms[i - 1].where == where; i--) {
        struct apapi_fom *known = &regions->foms[i - 1].fom;

        if (strcmp(known->name, fom->name) == 0 && strcmp(known->unit, fom->unit) == 0) {
            known->value += fom->value;
            known->programs += fom->programs;
            return 0;
        }
    }
    if (array_add(&regions->foms, regions->fom_count, &regions->fom_room, sizeof *regions->foms)) {
        return -1;
    }
    regions->foms[regions->fom_count++] = (struct region_fom){where, *fom};
    return 0;
}

double regions_total_j(const struct regions *regions, uint32_t where)
{
    double total_j = regions->totals_j[where == POOL_NONE ? 0 : (size_t)where + 1];

    return total_j > 0 ? total_j : NAN;
}

struct region_figures regions_figures(const struct regions *regions, const struct region_row *row)
{
    const struct region_use *use = regions_use(regions, row);
    double mflop = regions_flop(regions, use) / 1e6;
    struct region_figures figures;

    figures.energy_j = regions_energy_j(use, &figures.uncertainty_j);
    figures.share = regions_ratio(figures.energy_j, regions_total_j(regions, row->where[0]));
    figures.power_w = regions_ratio(figures.energy_j, regions->shared ? use->wall_s : use->time_s);
    figures.edp_js = figures.energy_j * use->wall_s;
    figures.ipc = regions_ratio(regions_value(regions, use, "PAPI_TOT_INS"),
                                regions_value(regions, use, "PAPI_TOT_CYC"));
    figures.mflops = regions_ratio(mflop, use->wall_s);
    figures.mflop_per_j = regions_ratio(mflop, figures.energy_j);
    return figures;
}

static int regions_compare(const void *left, const void *right)
{
    const struct region_row *a = left, *b = right;
    double energy_a = regions_energy_j(&a->own, NULL), energy_b = regions_energy_j(&b->own, NULL);
    int order = COMPARE(isnan(energy_b) ? -1 : energy_b, isnan(energy_a) ? -1 : energy_a);

    order = order ? order : COMPARE(b->own.time_s, a->own.time_s);
    return order ? order : COMPARE(a->path, b->path);
}

int regions_finish(struct regions *regions)
{
    for (size_t i = 0; i < regions->row_count; i++) {
        regions_use_events(regions, &regions->rows[i].own);
        regions_use_events(regions, &regions->rows[i].all);
    }
    if (regions->row_count > 0) {
        qsort(regions->rows, regions->row_count, sizeof *regions->rows, regions_compare);
    }
    regions->totals_j = calloc(regions->texts.count + 1, sizeof *regions->totals_j);
    for (size_t i = 0; regions->totals_j && i < regions->row_count; i++) {
        uint32_t where = regions->rows[i].where[0];
        double energy_j = regions_energy_j(&regions->rows[i].own, NULL);

        regions->totals_j[where == POOL_NONE ? 0 : (size_t)where + 1] +=
            isnan(energy_j) ? 0 : energy_j;
    }
    return regions->totals_j ? 0 : -1;
}

void regions_free(struct regions *regions)
{
    pool_free(&regions->texts);
    pool_free(&regions->events);
    pool_free(&regions->keys);
    free(regions->rows);
    free(regions->foms);
    free(regions->totals_j);
}
