/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/json.h"
#include "base/names.h"
#include "base/text.h"
#include "cli/regions/regions.h"

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

/*
 * Find or add an event.
 * @param type  of PAPI's files: "delta", "instant", "region-average"
 * @return its number; -1 with errno ENOMEM, ERANGE: there are REGIONS_EVENTS_MAX
 */
static int regions_event(struct regions *regions, const char *name, const char *component,
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

/* Add `more` to `use`, of the same thread. */
static void regions_sum_use(struct region_use *use, const struct region_use *more)
{
    use->time_s += more->time_s;
    for (size_t i = 0; i < REGIONS_EVENTS_MAX; i++) {
        use->values[i] += more->values[i];
    }
}

/* Subtract a part of it. */
static void regions_take_off(const struct regions *regions, struct region_use *use,
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

/* --- files of PAPI --------------------------------------------------------------------------- */

/*
 * rank_NNNNNN.json, in the layout of PAPI's high-level API: for each thread its regions, each time
 * that one was run or, with "region_count", all times together. Figures include inner regions.
 */

#define PATH_SIZE 1024

/* A region as the file has it. */
struct instance {
    int64_t id;
    uint32_t row; /* in `rows` */
};

struct rank_file {
    struct regions *regions;
    const char *path;
    struct apapi_error *err;
    uint32_t rank;
    bool check;                 /* nothing is added yet: a file is added whole, or not */
    const char *thread, *id;    /* where the reader is */
    struct instance *instances; /* of the thread, in ascending order */
    size_t count, room;
    struct pool keys;        /* paths of the thread */
    struct region_row *rows; /* by number in `keys` */
    size_t row_room;
};

static int rank_file_fail(const struct rank_file *file, const char *key, const char *what)
{
    return apapi_fail(file->err, EINVAL, "%.100s: threads.%.20s.regions%s%.20s%s%.40s: %s",
                      file->path, file->thread, *file->id ? "." : "", file->id, *key ? "." : "",
                      key, what);
}

/* A text or a number; after PAPI_hl_read() an object. @return false: not a number */
static bool rank_file_number(const struct tree_node *node, double *value)
{
    struct real_number number;

    if (tree_is(node, TREE_OBJECT)) {
        node = tree_get(node, "region_value");
    }
    if (tree_is_number(node)) {
        *value = tree_number(node);
        return true;
    }
    if (!tree_is(node, TREE_TEXT) || real_number_parse(node->text, &number) || *number.rest ||
        !isfinite(number.value)) {
        return false;
    }
    *value = number.value;
    return true;
}

/* @return the object with this key; NULL after a message */
static const struct tree_node *rank_file_object(const struct rank_file *file,
                                                const struct tree_node *root, const char *key)
{
    const struct tree_node *object = tree_get(root, key);

    if (!tree_is(object, TREE_OBJECT)) {
        apapi_fail(file->err, EINVAL, "%.160s: no \"%s\": not a file of PAPI's high-level API",
                   file->path, key);
        return NULL;
    }
    return object;
}

/* --- a region ------------------------------------------------------------------------------- */

/* @param fallback  without the key; NaN: it must be there. 0; -1 after a message. */
static int rank_file_amount(const struct rank_file *file, const struct tree_node *region,
                            const char *key, double fallback, double *value)
{
    const struct tree_node *node = tree_get(region, key);

    *value = fallback;
    if (!node && !isnan(fallback)) {
        return 0;
    }
    return rank_file_number(node, value) && *value >= 0
               ? 0
               : rank_file_fail(file, key,
                                "expected a number of 0 or more, as PAPI writes it: \"1234\"");
}

static int compare_instances(const void *left, const void *right)
{
    return COMPARE(((const struct instance *)left)->id, ((const struct instance *)right)->id);
}

/* @param parent  result; NULL: none. 0; -1 after a message. */
static int rank_file_parent(const struct rank_file *file, const struct tree_node *region,
                            const struct instance **parent)
{
    struct instance wanted = {0};
    double id;

    *parent = NULL;
    if (!rank_file_number(tree_get(region, "parent_region_id"), &id)) {
        return rank_file_fail(file, "parent_region_id", "expected a number; -1: no outer region");
    }
    if (id < 0) {
        return 0;
    }
    if (id < 9e15 && file->count > 0) {
        wanted.id = (int64_t)id;
        *parent = bsearch(&wanted, file->instances, file->count, sizeof wanted, compare_instances);
    }
    return *parent ? 0
                   : rank_file_fail(file, "parent_region_id",
                                    "no region before this one has this number");
}

/* A "/" in a name is no separator: as in a record, it becomes a "?". */
static int rank_file_path(const struct rank_file *file, const struct tree_node *region,
                          const struct instance *parent, char path[PATH_SIZE])
{
    const struct tree_node *name = tree_get(region, "name");
    size_t used = 0;

    if (!tree_is(name, TREE_TEXT)) {
        return rank_file_fail(file, "name", "expected a text");
    }
    if (parent) {
        used = (size_t)snprintf(path, PATH_SIZE - 2, "%s/", pool_text(&file->keys, parent->row));
        used = used < PATH_SIZE - 2 ? used : PATH_SIZE - 3;
    }
    for (const char *at = name->text; *at && used + 1 < PATH_SIZE; at++) {
        path[used++] = *at == '/' ? '?' : *at;
    }
    path[used] = '\0';
    return 0;
}

static int rank_file_values(const struct rank_file *file, const struct tree_node *region,
                            double count, struct region_use *use)
{
    for (size_t i = 0; i < REGIONS_EVENTS_MAX; i++) {
        use->values[i] = NAN;
    }
    for (size_t i = 0; i < file->regions->events.count; i++) {
        const char *name = regions_event_name(file->regions, i);
        const struct tree_node *node = tree_get(region, name);

        if (node && !rank_file_number(node, &use->values[i])) {
            return rank_file_fail(file, name, "expected a number, as PAPI writes it: \"1234\"");
        }
        use->values[i] *= file->regions->described[i].instant ? count : 1;
    }
    return 0;
}

/* The thread's row of a path; POOL_NONE: no memory. */
static uint32_t rank_file_row(struct rank_file *file, const char *path)
{
    size_t before = file->keys.count;
    uint32_t number = pool_put(&file->keys, path);
    uint32_t text = pool_put(&file->regions->texts, path);

    if (number == POOL_NONE || text == POOL_NONE ||
        array_add(&file->rows, number, &file->row_room, sizeof *file->rows)) {
        return POOL_NONE;
    }
    if (file->keys.count > before) {
        file->rows[number] = regions_row(text);
    }
    return number;
}

static int rank_file_add(struct rank_file *file, const struct tree_node *region, int64_t id)
{
    struct region_use use = {0};
    const struct instance *parent;
    char path[PATH_SIZE];
    double count, time_ns;
    uint32_t number;

    if (rank_file_parent(file, region, &parent) || rank_file_path(file, region, parent, path) ||
        rank_file_amount(file, region, "region_count", 1, &count) ||
        rank_file_values(file, region, count, &use) ||
        rank_file_amount(file, region, "real_time_nsec", NAN, &time_ns)) {
        return -1;
    }
    use.time_s = time_ns / NS_PER_S;
    number = rank_file_row(file, path);
    if (number == POOL_NONE) {
        return -1;
    }
    file->rows[number].count += (uint64_t)fmin(count, 9e15);
    regions_sum_use(&file->rows[number].own, &use);
    regions_sum_use(&file->rows[number].all, &use);
    if (parent) { /* an inner region is no part of the outer one's own use */
        regions_take_off(file->regions, &file->rows[parent->row].own, &use);
    }
    if (array_add(&file->instances, file->count, &file->room, sizeof *file->instances)) {
        return -1;
    }
    file->instances[file->count++] = (struct instance){id, number};
    return 0;
}

/* --- a thread ------------------------------------------------------------------------------- */

static int rank_file_add_all(struct rank_file *file, const struct tree_node *regions)
{
    for (const struct tree_node *key = NULL; (key = tree_each(regions, key));) {
        struct whole_number number;

        file->id = key->text;
        if (whole_number_parse(key->text, &number) || number.negative || *number.rest ||
            number.value > INT64_MAX) {
            return rank_file_fail(file, "", "expected a number as the key of a region");
        }
        /* an outer region is found at once */
        if (file->count > 0 && (int64_t)number.value <= file->instances[file->count - 1].id) {
            return rank_file_fail(file, "", "expected ascending numbers as keys of the regions");
        }
        if (rank_file_add(file, key + 1, (int64_t)number.value)) {
            return -1;
        }
    }
    return 0;
}

static int rank_file_fold(struct rank_file *file)
{
    uint32_t thread = pool_put(&file->regions->texts, file->thread);

    for (size_t i = 0; i < file->keys.count && !file->check; i++) {
        struct region_row *row = &file->rows[i];

        row->where[0] = row->last_rank = file->rank;
        row->where[1] = thread;
        row->ranks = row->threads = 1;
        row->own.wall_s = row->own.time_s;
        row->all.wall_s = row->all.time_s;
        if (thread == POOL_NONE || regions_add(file->regions, row)) {
            return -1;
        }
    }
    return 0;
}

static int rank_file_threads(struct rank_file *file, const struct tree_node *root)
{
    const struct tree_node *threads = rank_file_object(file, root, "threads");

    for (const struct tree_node *key = NULL; (key = tree_each(threads, key));) {
        const struct tree_node *regions = tree_get(key + 1, "regions");
        int result;

        file->thread = key->text;
        file->id = "";
        file->count = 0;
        if (!tree_is(regions, TREE_OBJECT)) {
            return rank_file_fail(file, "", "expected an object \"regions\"");
        }
        result = rank_file_add_all(file, regions) || rank_file_fold(file);
        pool_free(&file->keys);
        if (result) {
            return -1;
        }
    }
    return threads ? 0 : -1;
}

/* --- a file --------------------------------------------------------------------------------- */

static int rank_file_events(struct rank_file *file, const struct tree_node *root)
{
    const struct tree_node *list = rank_file_object(file, root, "event_definitions");

    for (const struct tree_node *key = NULL; (key = tree_each(list, key));) {
        const struct tree_node *component = tree_get(key + 1, "component");
        const struct tree_node *type = tree_get(key + 1, "type");

        if (!tree_is(component, TREE_TEXT) || !tree_is(type, TREE_TEXT)) {
            return apapi_fail(file->err, EINVAL,
                              "%.100s: event_definitions.%.60s: expected \"component\" and "
                              "\"type\"",
                              file->path, key->text);
        }
        if (regions_event(file->regions, key->text, component->text, type->text) < 0 &&
            errno == ENOMEM) {
            return -1;
        }
    }
    return list ? 0 : -1;
}

static int rank_file_foms(const struct rank_file *file, const struct tree_node *root)
{
    const struct tree_node *list = tree_get(root, "foms");

    if (list && (!tree_is(list, TREE_ARRAY) || list->size > APAPI_FOMS_MAX)) {
        return apapi_fail(file->err, EINVAL, "%.160s: foms: expected an array of at most %d",
                          file->path, APAPI_FOMS_MAX);
    }
    for (const struct tree_node *node = NULL; (node = tree_each(list, node));) {
        const struct tree_node *name = tree_get(node, "name"), *unit = tree_get(node, "unit");
        struct apapi_fom fom = {.programs = 1};

        if (!tree_is(name, TREE_TEXT) || !*name->text || (unit && !tree_is(unit, TREE_TEXT)) ||
            !rank_file_number(tree_get(node, "value"), &fom.value)) {
            return apapi_fail(file->err, EINVAL,
                              "%.160s: foms: expected {\"name\": TEXT, \"value\": NUMBER, "
                              "\"unit\": TEXT}",
                              file->path);
        }
        text_clean(fom.name, sizeof fom.name, name->text);
        text_clean(fom.unit, sizeof fom.unit, unit ? unit->text : "");
        if (!file->check &&
            regions_add_fom(file->regions, file->regions->split[0] ? file->rank : POOL_NONE,
                            &fom)) {
            return -1;
        }
    }
    return 0;
}

static int rank_file_parse(const char *path, const char *text, struct tree *tree,
                           struct apapi_error *err)
{
    struct tree_problem problem;

    if (tree_parse(tree, text, strlen(text), &problem)) {
        return errno == ENOMEM ? apapi_fail(err, ENOMEM, "%.160s: no memory", path)
                               : apapi_fail(err, EINVAL, "%.160s: line %zu, column %zu: %s", path,
                                            problem.line, problem.column, problem.what);
    }
    return 0;
}

/* Add one file. @param rank  its name. 0; -1 with errno and `err`. */
static int rank_file_read(struct regions *regions, const char *path, const char *rank,
                          struct apapi_error *err)
{
    struct rank_file file = {.regions = regions, .path = path, .err = err, .thread = "", .id = ""};
    char *text = text_file_read(path, TREE_SIZE_MAX, err);
    struct tree tree = {0};
    int result = -1;

    file.rank = text ? pool_put(&regions->texts, rank) : POOL_NONE;
    if (file.rank != POOL_NONE && rank_file_parse(path, text, &tree, err) == 0) {
        const struct tree_node *root = tree.nodes;

        file.check = true;
        result = rank_file_events(&file, root) || rank_file_foms(&file, root) ||
                 rank_file_threads(&file, root);
        file.check = false;
        result = result || rank_file_threads(&file, root) || rank_file_foms(&file, root) ? -1 : 0;
    }
    free(text);
    tree_free(&tree);
    pool_free(&file.keys);
    free(file.instances);
    free(file.rows);
    return result;
}

/* --- a folder: the files rank_NNNNNN.json, in the order of their numbers -------------------- */

#define PREFIX "rank_"
#define SUFFIX ".json"
#define OUTPUT "papi_hl_output" /* what PAPI makes in PAPI_OUTPUT_DIRECTORY */

/* @return the number in a name, with its length; NULL: not such a file */
static const char *rank_folder_number(const char *name, size_t *length)
{
    const char *number;

    if (strncmp(name, PREFIX, strlen(PREFIX)) != 0) {
        return NULL;
    }
    number = name + strlen(PREFIX);
    *length = strspn(number, "0123456789");
    return *length > 0 && strcmp(number + *length, SUFFIX) == 0 ? number : NULL;
}

static int rank_folder_is_rank(const struct dirent *entry)
{
    size_t length;

    return rank_folder_number(entry->d_name, &length) != NULL;
}

/* A rank's name: "12" of "rank_000012.json". */
static void rank_folder_name(const char *path, char *rank, size_t size)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t length = strlen(name);
    const char *number = rank_folder_number(name, &length);

    for (; number && *number == '0' && length > 1; length--) {
        number++;
    }
    snprintf(rank, size, "%.*s", (int)length, number ? number : name);
}

/* Read a folder. @return files in it, `skipped` of them not read; -1 with errno */
static long rank_folder_read(struct regions *regions, const char *folder, regions_warn_f warn,
                             size_t *skipped, struct apapi_error *err)
{
    char path[PATH_MAX + NAME_MAX + 2], rank[NAME_MAX + 1];
    struct dirent **names = NULL;
    int count = scandir(folder, &names, rank_folder_is_rank, versionsort);

    if (count < 0) {
        return apapi_fail(err, errno, "%.180s: %s", folder, strerror(errno));
    }
    for (int i = 0; i < count; i++) {
        struct apapi_error reason;

        snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
        rank_folder_name(path, rank, sizeof rank);
        if (rank_file_read(regions, path, rank, &reason)) {
            warn(reason.text);
            ++*skipped;
        }
        free(names[i]);
    }
    free(names);
    return count;
}

int regions_read_folder(struct regions *regions, const char *path, regions_warn_f warn,
                        size_t *skipped, struct apapi_error *err)
{
    char output[PATH_MAX], rank[NAME_MAX + 1];
    struct stat status;
    long count;

    *skipped = 0;
    if (stat(path, &status)) {
        return apapi_fail(err, errno, "%.180s: %s", path, strerror(errno));
    }
    if (!S_ISDIR(status.st_mode)) {
        rank_folder_name(path, rank, sizeof rank);
        return rank_file_read(regions, path, rank, err);
    }
    count = rank_folder_read(regions, path, warn, skipped, err);
    if (count == 0) {
        snprintf(output, sizeof output, "%s/" OUTPUT, path);
        count = rank_folder_read(regions, output, warn, skipped, NULL);
        if (count <= 0) {
            return apapi_fail(err, ENOENT,
                              "%.160s: no file rank_NNNNNN.json in it, nor in its " OUTPUT, path);
        }
    }
    return count < 0 ? -1 : 0;
}
