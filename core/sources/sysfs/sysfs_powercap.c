/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Zones of the kernel's powercap class. AMD's have the same names as Intel's. The control types
 * intel-rapl-mmio and others show the same meters again and are not used.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/kernel_file.h"
#include "sources/sysfs/sysfs_family.h"

#define ZONE_PREFIX "intel-rapl:"

static const struct sysfs_quantity powercap_microjoules = {
    .unit = "J", .scale = 1e-6, .kind = APAPI_KIND_ENERGY, .accumulates = true};

static const struct sysfs_row powercap_rows[] = {
    {.file = "energy_uj", .text = "energy", .quantity = &powercap_microjoules},
    {0},
};

/* The domain of a zone by its name, its name in PAPI's events, and its description. */
static const struct naming {
    const char *prefix;
    enum apapi_domain domain;
    const char *papi;
    const char *part;
} namings[] = {
    {"package", APAPI_DOMAIN_PACKAGE, "PACKAGE", ""},
    {"dram", APAPI_DOMAIN_DRAM, "DRAM", "the memory of "},
    {"core", APAPI_DOMAIN_CORE, "PP0", "the cores of "},
    {"uncore", APAPI_DOMAIN_UNCORE, "PP1", "the uncore part of "},
    {"psys", APAPI_DOMAIN_PSYS, "PSYS", "the platform (psys)"},
};

static const struct naming *find_naming(const char *zone_name)
{
    for (size_t i = 0; i < COUNT_OF(namings); i++) {
        if (strncmp(zone_name, namings[i].prefix, strlen(namings[i].prefix)) == 0) {
            return &namings[i];
        }
    }
    return NULL;
}

/* Whether it is a folder intel-rapl:P or intel-rapl:P:C. */
static bool is_zone(int dir, const char *entry, struct sysfs_item *zone)
{
    const char *text = entry + strlen(ZONE_PREFIX);
    char path[sizeof zone->folder + sizeof "/name"];
    char *end;

    if (strncmp(entry, ZONE_PREFIX, strlen(ZONE_PREFIX)) != 0 || !isdigit((unsigned char)*text) ||
        strlen(entry) >= sizeof zone->folder) {
        return false;
    }
    strcpy(zone->folder, entry);
    zone->number = strtoul(text, &end, 10);
    if (*end == ':' && isdigit((unsigned char)end[1])) {
        zone->part = strtol(end + 1, &end, 10);
    }
    snprintf(path, sizeof path, "%s/name", entry);
    return *end == '\0' && kernel_file_read_word_at(dir, path, zone->name, sizeof zone->name) == 0;
}

static int compare_zones(const void *left, const void *right)
{
    const struct sysfs_item *a = left, *b = right;

    if (a->number != b->number) {
        return a->number < b->number ? -1 : 1;
    }
    return (a->part > b->part) - (a->part < b->part);
}

/* Parts sort after their zone, so they belong to the latest zone before them. */
static void name_packages(struct sysfs_items *zones)
{
    const struct sysfs_item *whole = NULL;

    qsort(zones->list, zones->count, sizeof *zones->list, compare_zones);
    for (size_t i = 0; i < zones->count; i++) {
        struct sysfs_item *zone = &zones->list[i];

        if (zone->part < 0) {
            whole = zone;
        }
        strcpy(zone->device, whole && whole->number == zone->number ? whole->name : "");
    }
}

/* "package-1-die-0" gives PACKAGE1_DIE0, "package-1" PACKAGE1, others the number of the zone. */
static void name_and_describe(const struct sysfs_item *zone, const struct naming *naming,
                              struct apapi_event *event, struct sysfs_meter *meter)
{
    char name[sizeof event->name];
    unsigned package, die;
    int known = sscanf(zone->device, "package-%u-die-%u", &package, &die);

    snprintf(name, sizeof name, "rapl:::%s_ENERGY:PACKAGE", naming->papi);
    if (known == 2) {
        snprintf(event->name, sizeof event->name, "%.40s%u_DIE%u", name, package, die);
        snprintf(meter->text, sizeof meter->text, "energy of %sdie %u of CPU package %u",
                 naming->part, die, package);
    } else if (known == 1) {
        snprintf(event->name, sizeof event->name, "%.40s%u", name, package);
        snprintf(meter->text, sizeof meter->text, "energy of %sCPU package %u", naming->part,
                 package);
    } else {
        snprintf(event->name, sizeof event->name, "%.40s%lu", name, zone->number);
        snprintf(meter->text, sizeof meter->text, "energy of %s", naming->part);
    }
}

/* A zone without a range or with an unknown name is skipped. */
static int complete_zone(const struct sysfs_match *match, struct apapi_event *event,
                         struct sysfs_meter *meter)
{
    const struct naming *naming = find_naming(match->item->name);
    uint64_t range_uj;

    if (!naming || kernel_file_read_u64_at(match->dir, "max_energy_range_uj", &range_uj)) {
        return -1;
    }
    event->domain = naming->domain;
    event->range_max = range_uj;
    event->guard_j = (double)range_uj * event->scale;
    event->update_ns = 1000000;
    name_and_describe(match->item, naming, event, meter);
    return 0;
}

static int complete_as_powercap(const struct sysfs_match *match, struct apapi_event *event,
                                struct sysfs_meter *meter)
{
    const struct sysfs_item *zone = match->item;
    int result = complete_zone(match, event, meter);
    int length =
        snprintf(event->name, sizeof event->name, "powercap:::ENERGY_UJ:ZONE%lu", zone->number);

    if (zone->part >= 0) {
        snprintf(event->name + length, sizeof event->name - (size_t)length, "_SUBZONE%ld",
                 zone->part);
    }
    return result;
}

#define ENERGY_ZONES                                                                               \
    .folder = "/sys/class/powercap", .detail = "sysfs powercap", .nothing = "energy zone",         \
    .rows = powercap_rows, .is_item = is_zone, .arrange = name_packages

const struct sysfs_family sysfs_rapl = {
    .component = "rapl", ENERGY_ZONES, .complete = complete_zone};

const struct sysfs_family sysfs_powercap = {
    .component = "powercap", ENERGY_ZONES, .complete = complete_as_powercap};
