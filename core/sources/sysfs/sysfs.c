/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters and gauges that the kernel offers as text files: found by the tables of the families,
 * opened once, read with pread(). The zones of powercap are here, other families in files of their
 * own.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/kernel_file.h"
#include "sources/sysfs/sysfs_family.h"

#define ITEMS_MAX 1024
#define MATCHES_MAX 2048 /* files of one item: a chip with an energy for each core has many */

/* --- powercap: AMD's zones have the same names as Intel's ------------------------------------- */

/* The control types intel-rapl-mmio and others show the same meters again and are not used. */
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

/* AMD has a counter for each core, of which the kernel reads one in each package. */
static const struct naming one_core = {"core", APAPI_DOMAIN_NONE, "PP0", "one core of "};

/* A zone of unknown name may be one that the total needs. */
static const struct naming *find_naming(const struct sysfs_item *zone)
{
    const char *zone_name = !zone->error || *zone->name ? zone->name
                            : zone->part < 0            ? "package"
                                                        : "dram";

    for (size_t i = 0; i < COUNT_OF(namings); i++) {
        if (strncmp(zone_name, namings[i].prefix, strlen(namings[i].prefix)) == 0) {
            return namings[i].domain == APAPI_DOMAIN_CORE && kernel_cpu_is_amd() ? &one_core
                                                                                 : &namings[i];
        }
    }
    return NULL;
}

/* @return whether no file can be opened now, which is not the item's fault. */
static bool opens_nothing(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOMEM;
}

/* @return whether the entry is a folder intel-rapl:P or intel-rapl:P:C with a name. */
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
    if (*end) {
        return false;
    }
    zone->error = kernel_file_read_word_at(dir, path, zone->name, sizeof zone->name) ? errno : 0;
    return zone->error != ENOENT && !opens_nothing(zone->error);
}

static int compare_zones(const void *left, const void *right)
{
    const struct sysfs_item *a = left, *b = right;

    if (a->number != b->number) {
        return a->number < b->number ? -1 : 1;
    }
    return (a->part > b->part) - (a->part < b->part);
}

/*
 * Parts sort after their zone, so they belong to the latest zone before them. It is not known
 * whether two zones of one name are one meter.
 */
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
        for (size_t j = 0; j < i && *zone->device; j++) {
            if (strcmp(zone->device, zones->list[j].device) == 0 &&
                strcmp(zone->name, zones->list[j].name) == 0) {
                zone->error = EEXIST;
            }
        }
    }
}

/*
 * "package-1-die-0" gives PACKAGE1_DIE0, "package-1" PACKAGE1, others the number of the zone, also
 * those that cannot be told by their names.
 */
static void name_and_describe(const struct sysfs_item *zone, const struct naming *naming,
                              struct apapi_event *event, struct sysfs_meter *meter)
{
    char name[sizeof event->name];
    unsigned package, die;
    int known = sscanf(zone->device, "package-%u-die-%u", &package, &die);

    snprintf(name, sizeof name, "rapl:::%s_ENERGY:PACKAGE", naming->papi);
    if (zone->error || !*zone->device) {
        snprintf(event->name, sizeof event->name, "rapl:::%s_ENERGY:ZONE%s", naming->papi,
                 zone->folder + strlen(ZONE_PREFIX));
        snprintf(meter->text, sizeof meter->text, "energy of zone %s", zone->folder);
    } else if (known == 2) {
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

/* A zone with a name that means nothing here is skipped. */
static int complete_zone(const struct sysfs_match *match, struct apapi_event *event,
                         struct sysfs_meter *meter)
{
    const struct naming *naming = find_naming(match->item);
    uint64_t range_uj = 0;

    if (!naming) {
        return -1;
    }
    meter->error = match->item->error;
    meter->missing = "name";
    if (!meter->error && kernel_file_read_u64_at(match->dir, "max_energy_range_uj", &range_uj)) {
        if (opens_nothing(errno)) {
            return -1;
        }
        meter->error = errno;
        meter->missing = "max_energy_range_uj";
    }
    event->domain = naming->domain;
    event->range_max = range_uj;
    event->guard_j = naming == &one_core ? 0 : (double)range_uj * event->scale;
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
    .rows = powercap_rows, .needs_first = true, .is_item = is_zone, .arrange = name_packages

static const struct sysfs_family rapl = {
    .component = "rapl", ENERGY_ZONES, .complete = complete_zone};

static const struct sysfs_family powercap = {
    .component = "powercap", ENERGY_ZONES, .complete = complete_as_powercap};

/* --- a search --------------------------------------------------------------------------------- */

/* A search, and the first file that could not be opened. */
struct search {
    struct sysfs_reader *reader;
    const struct sysfs_family *family;
    DIR *dir;
    size_t unreadable;
    struct apapi_error why;
    int error;
};

/* --- one file --------------------------------------------------------------------------------- */

static int refuse_path(const char *path, int error, struct apapi_error *err)
{
    if (error == EACCES || error == EPERM) {
        return apapi_fail(err, EACCES, "no permission to read %s", path);
    }
    return apapi_fail(err, error, "%s: %s", path, strerror(error));
}

/*
 * Note an entry that cannot be used; errno 0: it is no item. Missing permission is reported if
 * there is no meter.
 * @return -1: nothing more can be opened, and what has been found may be a part of the meters only
 */
static int note_failure(struct search *search, const char *item)
{
    char path[PATH_MAX];

    if (errno == EACCES || errno == EPERM) {
        snprintf(path, sizeof path, "%s/%s", search->family->folder, item);
        search->error = EACCES;
        refuse_path(path, EACCES, &search->why);
    }
    return opens_nothing(errno) ? -1 : 0;
}

/* Add an event. On success, the reader owns the meter's descriptor. */
static int add_event(struct sysfs_reader *reader, const struct apapi_event *event,
                     const struct sysfs_meter *meter)
{
    size_t count = reader->base.count, event_room = reader->room;

    if (array_add(&reader->events, count, &event_room, sizeof *reader->events)) {
        return -1;
    }
    reader->base.events = reader->events;
    if (array_add(&reader->meters, count, &reader->room, sizeof *reader->meters)) {
        return -1;
    }
    reader->events[count] = *event;
    reader->meters[count] = *meter;
    reader->base.count++;
    return 0;
}

/* Kernels offer some values twice: the row that comes first in the table counts. */
static bool has_event(const struct sysfs_reader *reader, const char *name)
{
    for (size_t i = 0; i < reader->base.count; i++) {
        if (strcmp(reader->events[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* @return 0; -1: the file is no meter. */
static int describe_match(const struct sysfs_match *match, struct apapi_event *event,
                          struct sysfs_meter *meter)
{
    const struct sysfs_row *row = match->row;
    const struct sysfs_quantity *quantity = row->quantity;
    const struct sysfs_item *item = match->item;

    *event = (struct apapi_event){.kind = quantity->kind,
                                  .domain = row->domain,
                                  .type = APAPI_TYPE_UINT64,
                                  .accumulates = quantity->accumulates,
                                  .scale = quantity->scale};
    snprintf(event->unit, sizeof event->unit, "%s", quantity->unit);
    *meter = (struct sysfs_meter){
        .fd = -1, .suffix = quantity->suffix, .group = item->group, .rank = row->rank};
    kernel_file_fill_in(meter->text, sizeof meter->text, row->text, match->number);
    if (row->name) {
        char own[64];

        kernel_file_fill_in(own, sizeof own, row->name, match->number);
        snprintf(event->name, sizeof event->name, "%s:::%s%s%s", match->family->component,
                 item->label, *item->label ? ":" : "", own);
    }
    return match->family->complete ? match->family->complete(match, event, meter) : 0;
}

/* @return a descriptor, -1 with errno. */
static int open_file(int dir, const char *file)
{
    int fd = openat(dir, file, O_RDONLY | O_CLOEXEC);
    struct stat st;

    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
        close(fd);
        errno = EISDIR;
        return -1;
    }
    return fd;
}

/* An event that cannot be read, for `file`, is kept, so that users see what is not measured. */
static void note_unreadable(struct search *search, const struct sysfs_match *match,
                            const char *file, struct sysfs_meter *meter)
{
    size_t length = strlen(meter->text);
    struct apapi_error why;
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/%s%s%s", search->family->folder,
             search->family->is_item ? match->item->folder : "", search->family->is_item ? "/" : "",
             file);
    refuse_path(path, meter->error, &why);
    snprintf(meter->text + length, sizeof meter->text - length, ": %.150s", why.text);
    if (search->unreadable++ == 0) {
        search->why = why;
        search->error = meter->error == EPERM ? EACCES : meter->error;
    }
}

static int add_match(struct search *search, const struct sysfs_match *match)
{
    struct apapi_event event;
    struct sysfs_meter meter;
    uint64_t value;

    errno = 0;
    if (describe_match(match, &event, &meter)) {
        return note_failure(search, match->item->folder);
    }
    if (has_event(search->reader, event.name)) {
        return 0;
    }
    if (meter.error) {
        note_unreadable(search, match, meter.missing, &meter);
    } else if ((meter.fd = open_file(match->dir, match->file)) < 0) {
        meter.error = errno;
        note_unreadable(search, match, match->file, &meter);
    } else if (match->row->zero_is_absent &&
               kernel_file_read_value(meter.fd, meter.suffix, &value) == 0 && value == 0) {
        close(meter.fd);
        return 0;
    }
    if (add_event(search->reader, &event, &meter)) {
        if (meter.fd >= 0) {
            close(meter.fd);
        }
        return -1;
    }
    return 0;
}

/* --- the files of an item --------------------------------------------------------------------- */

/* The order of the events: by rows, then by numbers. */
static int compare_matches(const void *left, const void *right)
{
    const struct sysfs_match *a = left, *b = right;

    if (a->row != b->row) {
        return a->row < b->row ? -1 : 1;
    }
    return (a->number > b->number) - (a->number < b->number);
}

/* Find the row of a file. @return whether there is one. */
static bool find_row(const struct sysfs_family *family, const char *file, struct sysfs_match *match)
{
    for (const struct sysfs_row *row = family->rows; row->file; row++) {
        match->number = 0;
        if (strlen(file) < sizeof match->file &&
            kernel_file_match(row->file, file, &match->number)) {
            strcpy(match->file, file);
            match->row = row;
            return true;
        }
    }
    return false;
}

static int add_item(struct search *search, const struct sysfs_item *item,
                    struct sysfs_match *matches)
{
    int fd = openat(dirfd(search->dir), item->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    size_t count = 0;
    int result = 0;

    if (!dir && item->error) { /* its first file stands for all */
        matches[0] = (struct sysfs_match){search->family, item, search->family->rows, .dir = -1};
        return add_match(search, &matches[0]);
    }
    if (!dir) {
        result = note_failure(search, item->folder); /* or the item has just disappeared */
        if (fd >= 0) {
            close(fd);
        }
        return result;
    }
    for (struct dirent *entry = readdir(dir); entry && count < MATCHES_MAX; entry = readdir(dir)) {
        matches[count].family = search->family;
        matches[count].item = item;
        matches[count].dir = fd;
        count += find_row(search->family, entry->d_name, &matches[count]);
    }
    if (count == 0 && search->family->needs_first) {
        matches[0] = (struct sysfs_match){search->family, item, search->family->rows, .dir = fd};
        strcpy(matches[count++].file, search->family->rows->file);
    }
    qsort(matches, count, sizeof *matches, compare_matches);
    for (size_t i = 0; i < count && result == 0; i++) {
        result = add_match(search, &matches[i]);
    }
    closedir(dir);
    return result;
}

static int list_items(struct search *search, struct sysfs_items *items)
{
    const struct sysfs_family *family = search->family;

    if (!family->is_item) {
        items->list[items->count++] = (struct sysfs_item){.folder = ".", .part = -1};
        return 0;
    }
    for (struct dirent *entry = readdir(search->dir); entry && items->count < ITEMS_MAX;
         entry = readdir(search->dir)) {
        struct sysfs_item *item = &items->list[items->count];

        *item = (struct sysfs_item){.part = -1};
        errno = 0;
        if (family->is_item(dirfd(search->dir), entry->d_name, item)) {
            items->count++;
        } else if (note_failure(search, entry->d_name)) {
            return -1;
        }
    }
    if (family->arrange) {
        family->arrange(items);
    }
    return 0;
}

static int add_items(struct search *search)
{
    struct sysfs_items items = {calloc(ITEMS_MAX, sizeof *items.list), 0};
    struct sysfs_match *matches = calloc(MATCHES_MAX, sizeof *matches);
    int result = items.list && matches ? 0 : -1;

    if (result == 0) {
        result = list_items(search, &items);
    }
    for (size_t i = 0; i < items.count && result == 0; i++) {
        result = add_item(search, &items.list[i], matches);
    }
    free(matches);
    free(items.list);
    return result;
}

/* --- a reader --------------------------------------------------------------------------------- */

/*
 * If a device has several meters for a domain, the best one feeds it, and is read often enough for
 * the others, which are only shown. Events without a domain have no maximum power.
 */
static void settle_ranks(struct sysfs_reader *reader)
{
    for (size_t i = 0; i < reader->base.count; i++) {
        for (size_t j = 0; j < reader->base.count; j++) {
            if (reader->meters[j].group == reader->meters[i].group &&
                reader->meters[j].rank < reader->meters[i].rank &&
                reader->events[j].kind == reader->events[i].kind &&
                reader->events[j].domain == reader->events[i].domain) {
                reader->events[i].domain = APAPI_DOMAIN_NONE;
                reader->events[i].guard_j = 0;
            }
        }
    }
}

static int settle(struct search *search, struct apapi_error *err)
{
    struct sysfs_reader *reader = search->reader;
    const struct sysfs_family *family = search->family;

    if (reader->base.count == 0 && !search->error) {
        return apapi_fail(err, ENODEV, "no %s in %s", family->nothing, family->folder);
    }
    if (search->unreadable == reader->base.count) {
        return apapi_fail(err, search->error, "%s", search->why.text);
    }
    settle_ranks(reader);
    snprintf(reader->base.detail, sizeof reader->base.detail, "%s", family->detail);
    return family->begin ? family->begin(reader, dirfd(search->dir), err) : 0;
}

/* Find the meters of the reader's family and open them. */
static int discover(struct sysfs_reader *reader, struct apapi_error *err)
{
    struct search search = {.reader = reader, .family = reader->family};
    const char *folder = reader->family->folder;
    char path[PATH_MAX];
    int result;

    kernel_file_path(path, sizeof path, folder);
    search.dir = opendir(path);
    if (!search.dir) {
        return errno == ENOENT ? apapi_fail(err, ENODEV, "the kernel has no %s", folder)
                               : refuse_path(folder, errno, err);
    }
    result = add_items(&search) ? refuse_path(folder, errno, err) : settle(&search, err);
    closedir(search.dir);
    return result;
}

static void sysfs_close(struct apapi_reader *base)
{
    struct sysfs_reader *reader = (struct sysfs_reader *)base;
    int saved = errno;

    for (size_t i = 0; reader && i < base->count; i++) {
        if (reader->meters[i].fd >= 0) {
            close(reader->meters[i].fd);
        }
    }
    if (reader) {
        if (reader->state) {
            reader->family->end(reader);
        }
        free(reader->meters);
        free(reader->events);
        free(reader);
    }
    errno = saved;
}

static struct apapi_reader *sysfs_open(const char *component, struct apapi_error *err)
{
    static const struct sysfs_family *const families[] = {&rapl, &powercap, &sysfs_hwmon,
                                                          &sysfs_intel_gpu, &sysfs_cray_pm};
    const struct sysfs_family *family = NULL;
    struct sysfs_reader *reader;

    for (size_t i = 0; i < COUNT_OF(families); i++) {
        if (strcmp(families[i]->component, component) == 0) {
            family = families[i];
        }
    }
    if (!family) {
        apapi_fail(err, ENOENT, "sysfs has no component '%s'", component);
        return NULL;
    }
    reader = calloc(1, sizeof *reader);
    if (!reader) {
        apapi_fail(err, ENOMEM, "no memory");
        return NULL;
    }
    reader->base.source = &apapi_source_sysfs;
    reader->family = family;
    if (discover(reader, err)) {
        sysfs_close(&reader->base);
        return NULL;
    }
    return &reader->base;
}

static void sysfs_read(struct apapi_reader *base, struct apapi_reading *readings)
{
    struct sysfs_reader *reader = (struct sysfs_reader *)base;

    if (reader->family->read) {
        reader->family->read(reader, readings);
    } else {
        sysfs_read_files(reader, readings);
    }
}

static void sysfs_describe(const struct apapi_reader *base, size_t index, char *text, size_t size)
{
    const struct sysfs_reader *reader = (const struct sysfs_reader *)base;

    snprintf(text, size, "%s", reader->meters[index].text);
}

const struct apapi_source apapi_source_sysfs = {
    .name = "sysfs",
    .common = true,
    .open = sysfs_open,
    .read = sysfs_read,
    .describe = sysfs_describe,
    .close = sysfs_close,
};
