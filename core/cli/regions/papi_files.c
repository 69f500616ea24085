/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
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

/*
 * rank_NNNNNN.json, in the layout of PAPI's high-level API: for each thread its regions, each time
 * that one was run or, with "region_count", all times together. Figures include inner regions.
 */

#define FILE_MAX TREE_SIZE_MAX
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
    bool check;              /* nothing is added yet: a file is added whole, or not */
    const char *thread, *id; /* where the reader is */
    struct instance *instances;
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

/* --- numbers -------------------------------------------------------------------------------- */

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

/* @return false after a message. @param fallback  without the key; NaN: it must be there */
static bool rank_file_amount(const struct rank_file *file, const struct tree_node *region,
                             const char *key, double fallback, double *value)
{
    const struct tree_node *node = tree_get(region, key);

    *value = fallback;
    if (!node && !isnan(fallback)) {
        return true;
    }
    if (!rank_file_number(node, value) || *value < 0) {
        rank_file_fail(file, key, "expected a number of 0 or more, as PAPI writes it: \"1234\"");
        return false;
    }
    return true;
}

/* --- names ---------------------------------------------------------------------------------- */

/* A "/" in a name is no separator: as in a record, it becomes a "?". */
static void rank_file_append(char *path, size_t used, const char *name)
{
    for (; *name && used + 1 < PATH_SIZE; name++) {
        path[used++] = *name == '/' ? '?' : *name;
    }
    path[used] = '\0';
}

static const struct instance *rank_file_find(const struct rank_file *file, int64_t id)
{
    size_t low = 0, high = file->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (file->instances[middle].id == id) {
            return &file->instances[middle];
        }
        if (file->instances[middle].id < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}

/* @param parent  result; NULL: none. 0; -1 after a message. */
static int rank_file_parent(const struct rank_file *file, const struct tree_node *region,
                            const struct instance **parent)
{
    double id;

    *parent = NULL;
    if (!rank_file_number(tree_get(region, "parent_region_id"), &id)) {
        return rank_file_fail(file, "parent_region_id", "expected a number; -1: no outer region");
    }
    if (id < 0) {
        return 0;
    }
    *parent = id < 9e15 ? rank_file_find(file, (int64_t)id) : NULL;
    return *parent ? 0
                   : rank_file_fail(file, "parent_region_id",
                                    "no region before this one has this number");
}

/* --- one region ----------------------------------------------------------------------------- */

static int rank_file_values(const struct rank_file *file, const struct tree_node *region,
                            double count, struct region_use *use)
{
    for (size_t i = 0; i < REGIONS_EVENTS_MAX; i++) {
        use->values[i] = NAN;
    }
    for (size_t i = 0; i < file->regions->events.count; i++) {
        const struct region_event *event = &file->regions->described[i];
        const char *name = regions_event_name(file->regions, i);
        const struct tree_node *node = tree_get(region, name);

        if (node && !rank_file_number(node, &use->values[i])) {
            return rank_file_fail(file, name, "expected a number, as PAPI writes it: \"1234\"");
        }
        use->values[i] *= event->instant ? count : 1;
    }
    return 0;
}

/* The thread's row of a path; UINT32_MAX: no memory. */
static uint32_t rank_file_row(struct rank_file *file, const char *path)
{
    size_t before = file->keys.count;
    uint32_t number = pool_put(&file->keys, path);
    uint32_t text = pool_put(&file->regions->texts, path);

    if (number == POOL_NONE || text == POOL_NONE ||
        array_add(&file->rows, number, &file->row_room, sizeof *file->rows)) {
        return UINT32_MAX;
    }
    if (file->keys.count > before) {
        file->rows[number] = regions_row(text);
    }
    return number;
}

static int rank_file_remember(struct rank_file *file, int64_t id, uint32_t row)
{
    if (array_add(&file->instances, file->count, &file->room, sizeof *file->instances)) {
        return -1;
    }
    file->instances[file->count++] = (struct instance){id, row};
    return 0;
}

static int rank_file_path(const struct rank_file *file, const struct tree_node *region,
                          const struct instance *parent, char *path)
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
    rank_file_append(path, used, name->text);
    return 0;
}

static int rank_file_add(struct rank_file *file, const struct tree_node *region, int64_t id)
{
    struct region_use use = {0};
    const struct instance *parent;
    char path[PATH_SIZE];
    double count, time_ns;
    uint32_t number;

    if (rank_file_parent(file, region, &parent) || rank_file_path(file, region, parent, path) ||
        !rank_file_amount(file, region, "region_count", 1, &count) ||
        rank_file_values(file, region, count, &use) ||
        !rank_file_amount(file, region, "real_time_nsec", NAN, &time_ns)) {
        return -1;
    }
    use.time_s = time_ns / NS_PER_S;
    number = rank_file_row(file, path);
    if (number == UINT32_MAX) {
        return -1;
    }
    file->rows[number].count += (uint64_t)fmin(count, 9e15);
    regions_sum_use(&file->rows[number].own, &use);
    regions_sum_use(&file->rows[number].all, &use);
    if (parent) { /* an inner region is no part of the outer one's own use */
        regions_take_off(file->regions, &file->rows[parent->row].own, &use);
    }
    return rank_file_remember(file, id, number);
}

/* --- a thread ------------------------------------------------------------------------------- */

/* Regions have ascending numbers, so that an outer one is found at once. */
static int rank_file_id(struct rank_file *file, const char *text, int64_t *id)
{
    struct whole_number number;

    file->id = text;
    if (whole_number_parse(text, &number) || number.negative || *number.rest ||
        number.value > INT64_MAX) {
        return rank_file_fail(file, "", "expected a number as the key of a region");
    }
    *id = (int64_t)number.value;
    if (file->count > 0 && *id <= file->instances[file->count - 1].id) {
        return rank_file_fail(file, "", "expected ascending numbers as keys of the regions");
    }
    return 0;
}

static int rank_file_add_all(struct rank_file *file, const struct tree_node *regions)
{
    const struct tree_node *key = regions->size ? tree_first(regions) : NULL;

    for (uint32_t i = 0; i < regions->size; i++) {
        int64_t id = 0;

        if (i > 0) {
            key = tree_next(key + 1);
        }
        if (rank_file_id(file, key->text, &id) || rank_file_add(file, key + 1, id)) {
            return -1;
        }
    }
    return 0;
}

static int rank_file_fold(struct rank_file *file, uint32_t rank)
{
    uint32_t thread = pool_put(&file->regions->texts, file->thread);

    for (size_t i = 0; i < file->keys.count && !file->check; i++) {
        struct region_row *row = &file->rows[i];

        row->where[0] = rank;
        row->where[1] = thread;
        row->last_rank = rank;
        row->ranks = row->threads = 1;
        row->own.wall_s = row->own.time_s;
        row->all.wall_s = row->all.time_s;
        if (thread == POOL_NONE || regions_add(file->regions, row)) {
            return -1;
        }
    }
    return 0;
}

static int rank_file_thread(struct rank_file *file, const struct tree_node *thread, uint32_t rank)
{
    const struct tree_node *regions = tree_get(thread, "regions");
    int result;

    file->id = "";
    if (!tree_is(regions, TREE_OBJECT)) {
        return rank_file_fail(file, "", "expected an object \"regions\"");
    }
    file->count = 0;
    result = rank_file_add_all(file, regions) || rank_file_fold(file, rank) ? -1 : 0;
    pool_free(&file->keys);
    return result;
}

/* --- a file --------------------------------------------------------------------------------- */

static int rank_file_events(struct rank_file *file, const struct tree_node *root)
{
    const struct tree_node *list = tree_get(root, "event_definitions"), *key;

    if (!tree_is(list, TREE_OBJECT)) {
        return apapi_fail(file->err, EINVAL,
                          "%.160s: no \"event_definitions\": not a file of PAPI's high-level API",
                          file->path);
    }
    key = list->size ? tree_first(list) : NULL;
    for (uint32_t i = 0; i < list->size; i++) {
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
        key = i + 1 < list->size ? tree_next(key + 1) : key;
    }
    return 0;
}

static int rank_file_threads(struct rank_file *file, const struct tree_node *root, uint32_t rank)
{
    const struct tree_node *threads = tree_get(root, "threads"), *key;

    if (!tree_is(threads, TREE_OBJECT)) {
        return apapi_fail(file->err, EINVAL,
                          "%.160s: no \"threads\": not a file of PAPI's high-level API",
                          file->path);
    }
    key = threads->size ? tree_first(threads) : NULL;
    for (uint32_t i = 0; i < threads->size; i++) {
        file->thread = key->text;
        if (rank_file_thread(file, key + 1, rank)) {
            return -1;
        }
        key = i + 1 < threads->size ? tree_next(key + 1) : key;
    }
    return 0;
}

/* --- figures of merit ----------------------------------------------------------------------- */

static int rank_file_fom(const struct rank_file *file, const struct tree_node *node, uint32_t rank)
{
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
    return file->check
               ? 0
               : regions_add_fom(file->regions, file->regions->split[0] ? rank : POOL_NONE, &fom);
}

static int rank_file_foms(const struct rank_file *file, const struct tree_node *root, uint32_t rank)
{
    const struct tree_node *list = tree_get(root, "foms"), *node;

    if (!list) {
        return 0;
    }
    if (!tree_is(list, TREE_ARRAY) || list->size > APAPI_FOMS_MAX) {
        return apapi_fail(file->err, EINVAL, "%.160s: foms: expected an array of at most %d",
                          file->path, APAPI_FOMS_MAX);
    }
    node = list->size ? tree_first(list) : NULL;
    for (uint32_t i = 0; i < list->size; i++) {
        if (rank_file_fom(file, node, rank)) {
            return -1;
        }
        node = i + 1 < list->size ? tree_next(node) : node;
    }
    return 0;
}

static int rank_file_read(struct rank_file *file, const struct tree_node *root, uint32_t rank)
{
    file->check = true;
    if (rank_file_events(file, root) || rank_file_foms(file, root, rank) ||
        rank_file_threads(file, root, rank)) {
        return -1;
    }
    file->check = false;
    return rank_file_threads(file, root, rank) || rank_file_foms(file, root, rank) ? -1 : 0;
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

int regions_read_file(struct regions *regions, const char *path, const char *rank,
                      struct apapi_error *err)
{
    struct rank_file file = {.regions = regions, .path = path, .err = err, .thread = "", .id = ""};
    char *text = text_file_read(path, FILE_MAX, err);
    uint32_t number = text ? pool_put(&regions->texts, rank) : POOL_NONE;
    struct tree tree = {0};
    int result = -1;

    if (text && number != POOL_NONE && rank_file_parse(path, text, &tree, err) == 0) {
        result = rank_file_read(&file, tree.nodes, number);
    }
    free(text);
    tree_free(&tree);
    pool_free(&file.keys);
    free(file.instances);
    free(file.rows);
    return result;
}

/* --- a folder ----------------------------------------------------------------------------------
 */

/* The files rank_NNNNNN.json of a folder, in the order of their numbers. */

#define PREFIX "rank_"
#define SUFFIX ".json"
#define OUTPUT "papi_hl_output" /* what PAPI makes in PAPI_OUTPUT_DIRECTORY */

static bool rank_folder_is_rank(const char *name)
{
    size_t size = strlen(name), prefix = strlen(PREFIX), suffix = strlen(SUFFIX);

    return size > prefix + suffix && strncmp(name, PREFIX, prefix) == 0 &&
           strcmp(name + size - suffix, SUFFIX) == 0 &&
           strspn(name + prefix, "0123456789") == size - prefix - suffix;
}

/* "000012" is 12. */
static void rank_folder_name(const char *path, char *rank, size_t size)
{
    const char *name = strrchr(path, '/');

    name = name ? name + 1 : path;
    if (!rank_folder_is_rank(name)) {
        snprintf(rank, size, "%s", name);
        return;
    }
    name += strlen(PREFIX);
    name += strspn(name, "0");
    name -= *name == '.';
    snprintf(rank, size, "%.*s", (int)strcspn(name, "."), name);
}

static int rank_folder_list(const char *path, struct namelist *names, struct apapi_error *err)
{
    DIR *folder = opendir(path);
    const struct dirent *entry;
    int result = 0;

    if (!folder) {
        return apapi_fail(err, errno, "%.180s: %s", path, strerror(errno));
    }
    while (result == 0 && (entry = readdir(folder))) {
        if (rank_folder_is_rank(entry->d_name)) {
            result = namelist_add(names, entry->d_name);
        }
    }
    closedir(folder);
    namelist_sort(names);
    return result ? apapi_fail(err, ENOMEM, "no memory") : 0;
}

/* The folder that PAPI makes in it, if it has no such files itself. */
static int rank_folder_find(const char *path, char *found, size_t size, struct namelist *names,
                            struct apapi_error *err)
{
    snprintf(found, size, "%s", path);
    if (rank_folder_list(found, names, err)) {
        return -1;
    }
    if (names->count > 0) {
        return 0;
    }
    snprintf(found, size, "%s/" OUTPUT, path);
    return rank_folder_list(found, names, NULL) == 0 && names->count > 0
               ? 0
               : apapi_fail(err, ENOENT,
                            "%.160s: no file rank_NNNNNN.json in it, nor in its " OUTPUT, path);
}

static long rank_folder_read_all(struct regions *regions, const char *folder,
                                 const struct namelist *names, regions_warn_f warn, size_t *skipped)
{
    struct apapi_error err;
    char path[PATH_MAX + NAME_MAX + 2], rank[NAME_MAX + 1];

    for (size_t i = 0; i < names->count; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names->names[i]);
        rank_folder_name(path, rank, sizeof rank);
        if (regions_read_file(regions, path, rank, &err)) {
            warn(err.text);
            ++*skipped;
        }
    }
    return (long)(names->count - *skipped);
}

long regions_read_folder(struct regions *regions, const char *path, regions_warn_f warn,
                         size_t *skipped, struct apapi_error *err)
{
    char found[PATH_MAX], rank[NAME_MAX + 1];
    struct namelist names = {0};
    struct stat status;
    long count = -1;

    *skipped = 0;
    if (stat(path, &status)) {
        return apapi_fail(err, errno, "%.180s: %s", path, strerror(errno));
    }
    if (!S_ISDIR(status.st_mode)) {
        rank_folder_name(path, rank, sizeof rank);
        return regions_read_file(regions, path, rank, err) ? -1 : 1;
    }
    if (rank_folder_find(path, found, sizeof found, &names, err) == 0) {
        count = rank_folder_read_all(regions, found, &names, warn, skipped);
    }
    namelist_free(&names);
    return count;
}
