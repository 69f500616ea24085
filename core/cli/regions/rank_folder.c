/* SPDX-License-Identifier: BSD-3-Clause */
/* The files rank_NNNNNN.json of a folder, in the order of their numbers. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/names.h"
#include "cli/regions/regions.h"

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
