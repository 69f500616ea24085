/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Zones of the kernel's powercap class. AMD's have the same names as Intel's. The control types
 * intel-rapl-mmio and others show the same meters once more and are left out.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sources/sysfs.h"

#define POWERCAP_DIR "/sys/class/powercap"
#define ZONE_PREFIX "intel-rapl:"
#define UPDATE_NS 1000000
#define ZONES_MAX 1024

/* A folder intel-rapl:P or intel-rapl:P:C. */
struct zone {
    char folder[64];
    unsigned long parent;
    long child;       /* -1: a zone of its own */
    char name[64];    /* package-0, package-1-die-0, dram, core, uncore, psys */
    char package[64]; /* name of the zone that it lies in, or its own */
};

struct zones {
    struct zone *list;
    size_t count;
};

/* How a zone's name reads as a domain and in PAPI's event names. */
static const struct naming {
    const char *prefix;
    enum apapi_domain domain;
    const char *papi;
} namings[] = {
    {"package", APAPI_DOMAIN_PACKAGE, "PACKAGE"}, {"dram", APAPI_DOMAIN_DRAM, "DRAM"},
    {"core", APAPI_DOMAIN_CORE, "PP0"},           {"uncore", APAPI_DOMAIN_UNCORE, "PP1"},
    {"psys", APAPI_DOMAIN_PSYS, "PSYS"},
};

static const struct naming *find_naming(const char *zone_name)
{
    for (size_t i = 0; i < sizeof namings / sizeof *namings; i++) {
        if (strncmp(zone_name, namings[i].prefix, strlen(namings[i].prefix)) == 0) {
            return &namings[i];
        }
    }
    return NULL;
}

enum apapi_domain sysfs_zone_domain(const char *zone_name)
{
    const struct naming *naming = find_naming(zone_name);

    return naming ? naming->domain : APAPI_DOMAIN_NONE;
}

/* "intel-rapl:1:0" as numbers. */
static bool parse_folder(const char *folder, struct zone *zone)
{
    const char *text = folder + strlen(ZONE_PREFIX);
    char *end;

    if (strncmp(folder, ZONE_PREFIX, strlen(ZONE_PREFIX)) != 0 || !isdigit((unsigned char)*text) ||
        strlen(folder) >= sizeof zone->folder) {
        return false;
    }
    strcpy(zone->folder, folder);
    zone->parent = strtoul(text, &end, 10);
    zone->child = -1;
    if (*end == ':' && isdigit((unsigned char)end[1])) {
        zone->child = strtol(end + 1, &end, 10);
    }
    return *end == '\0';
}

static int compare_zones(const void *left, const void *right)
{
    const struct zone *a = left, *b = right;

    if (a->parent != b->parent) {
        return a->parent < b->parent ? -1 : 1;
    }
    return (a->child > b->child) - (a->child < b->child);
}

static int zone_file(const struct zone *zone, const char *file, char *path, size_t size)
{
    int length = snprintf(path, size, "%s/%s", zone->folder, file);

    return length > 0 && (size_t)length < size ? 0 : -1;
}

static void list_zones(DIR *dir, struct zones *zones)
{
    for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        struct zone *zone = &zones->list[zones->count];
        char path[PATH_MAX];

        if (zones->count < ZONES_MAX && parse_folder(entry->d_name, zone) &&
            zone_file(zone, "name", path, sizeof path) == 0 &&
            sysfs_read_word_at(dirfd(dir), path, zone->name, sizeof zone->name) == 0) {
            zones->count++;
        }
    }
    qsort(zones->list, zones->count, sizeof *zones->list, compare_zones);
}

/* Children sort behind their parent, so the latest zone of its own is theirs. */
static void name_packages(struct zones *zones)
{
    const struct zone *parent = NULL;

    for (size_t i = 0; i < zones->count; i++) {
        struct zone *zone = &zones->list[i];

        if (zone->child < 0) {
            parent = zone;
        }
        strcpy(zone->package, parent && parent->parent == zone->parent ? parent->name : "");
    }
}

/* "package-1-die-0" gives "1_DIE0", "package-1" gives "1", anything else its zone's number. */
static void package_label(const struct zone *zone, char *label, size_t size)
{
    unsigned package, die;

    if (sscanf(zone->package, "package-%u-die-%u", &package, &die) == 2) {
        snprintf(label, size, "%u_DIE%u", package, die);
    } else if (sscanf(zone->package, "package-%u", &package) == 1) {
        snprintf(label, size, "%u", package);
    } else {
        snprintf(label, size, "%lu", zone->parent);
    }
}

static void name_as_rapl(const struct zone *zone, const struct naming *naming, char *name)
{
    char label[32];

    package_label(zone, label, sizeof label);
    snprintf(name, APAPI_NAME_SIZE, "rapl:::%s_ENERGY:PACKAGE%s", naming->papi, label);
}

static void name_as_powercap(const struct zone *zone, const struct naming *naming, char *name)
{
    (void)naming;
    if (zone->child < 0) {
        snprintf(name, APAPI_NAME_SIZE, "powercap:::ENERGY_UJ:ZONE%lu", zone->parent);
    } else {
        snprintf(name, APAPI_NAME_SIZE, "powercap:::ENERGY_UJ:ZONE%lu_SUBZONE%ld", zone->parent,
                 zone->child);
    }
}

typedef void (*name_f)(const struct zone *zone, const struct naming *naming, char *name);

static int describe(int dir, const struct zone *zone, name_f make_name, struct apapi_event *event)
{
    const struct naming *naming = find_naming(zone->name);
    char path[PATH_MAX];
    uint64_t range_uj;

    if (!naming || zone_file(zone, "max_energy_range_uj", path, sizeof path) ||
        sysfs_read_u64_at(dir, path, &range_uj)) {
        return -1;
    }
    *event = (struct apapi_event){
        .unit = "J",
        .kind = APAPI_KIND_ENERGY,
        .domain = naming->domain,
        .type = APAPI_TYPE_UINT64,
        .accumulates = true,
        .range_max = range_uj,
        .scale = 1e-6,
        .guard_j = (double)range_uj * 1e-6,
        .update_ns = UPDATE_NS,
    };
    make_name(zone, naming, event->name);
    return 0;
}

/* A zone without a range or of an unknown name is passed over; one that cannot be opened is told.
 */
static int add_zone(struct sysfs_reader *reader, int dir, const struct zone *zone, name_f make_name)
{
    struct apapi_event event;
    char path[PATH_MAX];
    int fd;

    if (describe(dir, zone, make_name, &event) || zone_file(zone, "energy_uj", path, sizeof path)) {
        return 0;
    }
    fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return errno;
    }
    if (sysfs_add(reader, fd, &event)) {
        close(fd);
        return ENOMEM;
    }
    return 0;
}

static int refuse_zone(const struct zone *zone, int error, struct apapi_error *err)
{
    if (error == EACCES || error == EPERM) {
        return apapi_fail(err, EACCES, "no permission to read " POWERCAP_DIR "/%s/energy_uj",
                          zone->folder);
    }
    return apapi_fail(err, error, POWERCAP_DIR "/%s/energy_uj: %s", zone->folder, strerror(error));
}

static int add_zones(struct sysfs_reader *reader, int dir, const struct zones *zones,
                     name_f make_name, struct apapi_error *err)
{
    for (size_t i = 0; i < zones->count; i++) {
        int error = add_zone(reader, dir, &zones->list[i], make_name);

        if (error) {
            return refuse_zone(&zones->list[i], error, err);
        }
    }
    if (reader->base.count == 0) {
        return apapi_fail(err, ENODEV, "no energy zone in " POWERCAP_DIR);
    }
    snprintf(reader->base.detail, sizeof reader->base.detail, "sysfs powercap");
    return 0;
}

static int discover(struct sysfs_reader *reader, name_f make_name, struct apapi_error *err)
{
    char path[PATH_MAX];
    struct zones zones = {0};
    DIR *dir;
    int result;

    sysfs_path(path, sizeof path, POWERCAP_DIR);
    dir = opendir(path);
    if (!dir) {
        return apapi_fail(err, ENODEV, "the kernel has no " POWERCAP_DIR);
    }
    zones.list = calloc(ZONES_MAX + 1, sizeof *zones.list);
    if (!zones.list) {
        closedir(dir);
        return apapi_fail(err, ENOMEM, "no memory");
    }
    list_zones(dir, &zones);
    name_packages(&zones);
    result = add_zones(reader, dirfd(dir), &zones, make_name, err);
    free(zones.list);
    closedir(dir);
    return result;
}

int sysfs_discover_rapl(struct sysfs_reader *reader, struct apapi_error *err)
{
    return discover(reader, name_as_rapl, err);
}

int sysfs_discover_powercap(struct sysfs_reader *reader, struct apapi_error *err)
{
    return discover(reader, name_as_powercap, err);
}
