/* SPDX-License-Identifier: BSD-3-Clause */
#include "sources/papi/papi_powercap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/count_of.h"
#include "base/kernel_file.h"
#include "sources/sysfs/sysfs_family.h"

#define FOLDER "/sys/class/powercap/intel-rapl:"
#define FOLDERS_MAX 256

void papi_powercap_init(struct papi_powercap *powercap)
{
    memset(powercap, 0, sizeof *powercap);
    for (size_t i = 0; i < PAPI_PACKAGES_MAX; i++) {
        powercap->folders[i] = -1;
    }
}

/* Open intel-rapl:FOLDER, or a part of it if `part` is not -1. */
static int papi_powercap_open_folder(int folder, int part, char *absolute, size_t size)
{
    char path[256];

    if (part < 0) {
        snprintf(absolute, size, FOLDER "%d", folder);
    } else {
        snprintf(absolute, size, FOLDER "%d:%d", folder, part);
    }
    kernel_file_path(path, sizeof path, absolute);
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* @return the descriptor of energy_uj, -1. */
static int open_counter(struct papi_powercap *powercap, int dir, const char *absolute)
{
    int fd = openat(dir, "energy_uj", O_RDONLY | O_CLOEXEC);

    if (fd < 0 && (errno == EACCES || errno == EPERM) && !*powercap->denied.text) {
        apapi_fail(&powercap->denied, EACCES, "no permission to read %.120s/energy_uj", absolute);
    }
    return fd;
}

/* Whether intel-rapl:FOLDER has this name; -1: no such folder. */
static int papi_powercap_is_named(struct papi_powercap *powercap, int folder, const char *name)
{
    char absolute[128], found[64] = "";
    int dir = papi_powercap_open_folder(folder, -1, absolute, sizeof absolute);
    bool same;

    if (dir < 0) {
        return -1;
    }
    same =
        kernel_file_read_word_at(dir, "name", found, sizeof found) == 0 && strcmp(found, name) == 0;
    if (same) { /* newer versions hide the event of a counter without permission to read */
        int fd = open_counter(powercap, dir, absolute);

        if (fd >= 0) {
            close(fd);
        }
    }
    close(dir);
    return same;
}

void papi_powercap_note_zone(struct papi_powercap *powercap, const char *event,
                             const char *description)
{
    char name[64], rest;
    int zone, same = 0;

    if (sscanf(event, "powercap:::NAME:ZONE%d%c", &zone, &rest) != 1 || zone < 0 ||
        zone >= PAPI_PACKAGES_MAX) {
        return;
    }
    snprintf(name, sizeof name, "%s", description);
    name[strcspn(name, "\n")] = '\0';
    for (int folder = 0; folder < FOLDERS_MAX && same >= 0; folder++) {
        same = papi_powercap_is_named(powercap, folder, name);
        if (same > 0) {
            powercap->folders[zone] = folder;
            return;
        }
    }
}

static bool papi_powercap_describe(int dir, struct apapi_event *event)
{
    char name[64];

    if (kernel_file_read_word_at(dir, "name", name, sizeof name) ||
        kernel_file_read_u64_at(dir, "max_energy_range_uj", &event->range_max)) {
        return false;
    }
    event->domain = sysfs_zone_domain(name);
    event->guard_j = (double)event->range_max * event->scale;
    event->update_ns = 1000000;
    return event->domain != APAPI_DOMAIN_NONE;
}

bool papi_powercap_add(struct papi_powercap *powercap, struct apapi_event *event)
{
    struct papi_zone *zone = &powercap->zones[powercap->count];
    int number, part = -1, dir;
    char absolute[128];

    if (powercap->count == PAPI_ZONES_MAX ||
        sscanf(event->name, "powercap:::ENERGY_UJ:ZONE%d_SUBZONE%d", &number, &part) < 1 ||
        number < 0 || number >= PAPI_PACKAGES_MAX) {
        return false;
    }
    if (powercap->folders[number] >= 0) {
        number = powercap->folders[number];
    }
    dir = papi_powercap_open_folder(number, part, absolute, sizeof absolute);
    if (dir < 0) {
        return false;
    }
    *zone = (struct papi_zone){.fd = -1, .folder = number, .part = part >= 0};
    if (papi_powercap_describe(dir, event)) {
        zone->range = event->range_max;
        zone->fd = open_counter(powercap, dir, absolute);
    }
    close(dir);
    powercap->count += zone->fd >= 0;
    return zone->fd >= 0;
}

void papi_powercap_drop(struct papi_powercap *powercap)
{
    powercap->count--;
    close(powercap->zones[powercap->count].fd);
}

static bool has_event(const struct papi_powercap *powercap, int folder)
{
    for (size_t i = 0; i < powercap->count; i++) {
        if (powercap->zones[i].folder == folder && !powercap->zones[i].part) {
            return true;
        }
    }
    return false;
}

int papi_powercap_check_packages(const struct papi_powercap *powercap, struct apapi_error *err)
{
    for (int folder = 0; folder < FOLDERS_MAX; folder++) {
        char absolute[128], name[64] = "";
        int dir = papi_powercap_open_folder(folder, -1, absolute, sizeof absolute);
        bool is_package;

        if (dir < 0) {
            break;
        }
        is_package = kernel_file_read_word_at(dir, "name", name, sizeof name) == 0 &&
                     sysfs_zone_domain(name) == APAPI_DOMAIN_PACKAGE;
        close(dir);
        if (is_package && !has_event(powercap, folder)) {
            return apapi_fail(err, ENODEV, "PAPI's powercap leaves out %s, %s", name, absolute);
        }
    }
    return 0;
}

static atomic_flag in_use = ATOMIC_FLAG_INIT;

int papi_powercap_reserve(struct papi_powercap *powercap, struct apapi_error *err)
{
    if (atomic_flag_test_and_set(&in_use)) {
        return apapi_fail(err, EIO, "PAPI's powercap is being read by this process already");
    }
    powercap->reserved = true;
    return 0;
}

/* @return 0 or the errno. */
static int ask_file(const struct papi_zone *zone, uint64_t *counter)
{
    char text[64];
    ssize_t got = pread(zone->fd, text, sizeof text, 0);

    return got < 0 ? errno : kernel_file_parse_u64(text, (size_t)got, counter);
}

/* PAPI uses one range for all packages and one for all parts: that of the last one. */
void papi_powercap_before_start(struct papi_powercap *powercap)
{
    uint64_t last[2] = {0};

    for (size_t i = powercap->count; i-- > 0;) {
        struct papi_zone *zone = &powercap->zones[i];

        if (last[zone->part] == 0) {
            last[zone->part] = zone->range;
        }
        zone->wrap = last[zone->part];
        if (ask_file(zone, &zone->earlier)) {
            zone->earlier = 0;
        }
    }
}

void papi_powercap_before_reading(struct papi_powercap *powercap, uint64_t *counters)
{
    for (size_t i = 0; i < powercap->count; i++) {
        const struct papi_zone *zone = &powercap->zones[i];

        if (zone->known || ask_file(zone, &counters[i])) {
            counters[i] = UINT64_MAX;
        }
    }
}

/*
 * `counter` is PAPI's reading. Without an increment, `gained` is the counter itself. This is also
 * true if the start was at 0, and then the counter was not greater before.
 */
static bool find_start(struct papi_zone *zone, uint64_t counter, long long gained)
{
    if ((uint64_t)gained != counter) {
        zone->start = counter - (uint64_t)gained;
    } else if (zone->earlier > 0 || counter == 0) {
        zone->start = counter;
    } else {
        return false;
    }
    return zone->start <= zone->range && papi_zone_gained(zone, counter) == gained;
}

bool papi_powercap_calibrate(struct papi_powercap *powercap, const uint64_t *counters,
                             const long long *values)
{
    bool all_known = true;

    for (size_t i = 0; i < powercap->count; i++) {
        struct papi_zone *zone = &powercap->zones[i];
        uint64_t after = 0;

        if (!zone->known && ask_file(zone, &after) == 0 && after == counters[i]) {
            zone->known = find_start(zone, after, values[i]);
        }
        all_known &= zone->known;
    }
    return all_known;
}

long long papi_zone_gained(const struct papi_zone *zone, uint64_t counter)
{
    uint64_t gained = counter;

    if (zone->start > 0 && counter != zone->start) {
        gained = counter - zone->start + (counter < zone->start ? zone->wrap : 0);
    }
    return (long long)gained;
}

int papi_zone_counter(const struct papi_zone *zone, long long gained, uint64_t *counter)
{
    const uint64_t candidates[] = {zone->start + (uint64_t)gained,
                                   zone->start + (uint64_t)gained - zone->wrap, zone->start};
    int found = 0;

    for (size_t i = 0; i < COUNT_OF(candidates); i++) {
        if (candidates[i] <= zone->range && papi_zone_gained(zone, candidates[i]) == gained &&
            (found == 0 || candidates[i] != *counter)) {
            *counter = candidates[i];
            found++;
        }
    }
    return found;
}

/*
 * If a file cannot be read, PAPI's buffer keeps its content. If the counter equals that, it may be
 * a failure, or a counter that stands still.
 */
static void correct(struct papi_powercap *powercap, const struct papi_zone *zone, long long gained,
                    struct apapi_reading *reading)
{
    uint64_t counter = 0;
    bool stale = powercap->buffered && papi_zone_gained(zone, powercap->buffer) == gained;
    int candidates = stale ? 0 : papi_zone_counter(zone, gained, &counter);

    if (zone->known && candidates == 1) {
        *reading = (struct apapi_reading){.raw = counter};
        powercap->buffered = true;
        powercap->buffer = counter;
        return;
    }
    reading->error = ask_file(zone, &reading->raw);
    powercap->buffered &= stale;
}

void papi_powercap_correct(struct papi_powercap *powercap, const long long *values,
                           struct apapi_reading *readings)
{
    for (size_t i = 0; i < powercap->count; i++) {
        correct(powercap, &powercap->zones[i], values[i], &readings[i]);
    }
}

void papi_powercap_close(struct papi_powercap *powercap)
{
    while (powercap->count > 0) {
        papi_powercap_drop(powercap);
    }
    if (powercap->reserved) {
        powercap->reserved = false;
        atomic_flag_clear(&in_use);
    }
}
