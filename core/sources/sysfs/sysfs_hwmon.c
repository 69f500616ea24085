/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chips of the kernel's hwmon class: energy in uJ as a 64-bit count, and power in uW. The numbers
 * of the folders change with each boot and are not part of an event's name.
 */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/kernel_file.h"
#include "sources/sysfs/sysfs_family.h"

#define NS_PER_MS 1000000
#define ANY "*"

static const struct sysfs_quantity hwmon_microjoules = {
    .unit = "J", .scale = 1e-6, .kind = APAPI_KIND_ENERGY, .accumulates = true};
static const struct sysfs_quantity microwatts = {
    .unit = "W", .scale = 1e-6, .kind = APAPI_KIND_POWER};

/* An average power is better than a single sample. Each power is one event. */
static const struct sysfs_row hwmon_rows[] = {
    {.file = "energy#_input", "energy#", "energy of ", &hwmon_microjoules},
    {.file = "power#_average", "power#", "average power of ", &microwatts},
    {.file = "power#_input", "power#", "power of ", &microwatts},
    {0},
};

/* The drivers add up a 32-bit register in units of 2^-14 J, but only when they are read. */
#define INTEL_GPU_WRAP_J 262144

/*
 * Chips whose meaning is known. Values of other chips are shown and never added. The average of
 * fam15h_power covers the cores only, and each reading of it sleeps.
 */
static const struct chip {
    const char *name;
    const char *label; /* label of the event; "": not known */
    enum apapi_domain domain;
    int rank; /* rank among the events of one device */
    double guard_j;
    uint64_t update_ns;
    bool no_average;
} chips[] = {
    {"amd_energy", "Esocket#", .domain = APAPI_DOMAIN_PACKAGE, .update_ns = NS_PER_MS},
    {"amd_energy", "Ecore#", .domain = APAPI_DOMAIN_CORE, .update_ns = NS_PER_MS},
    {"fam15h_power", ANY, .domain = APAPI_DOMAIN_PACKAGE, .no_average = true},
    {"i915", ANY, .domain = APAPI_DOMAIN_GPU, .guard_j = INTEL_GPU_WRAP_J},
    {"i915_gt#", ANY, .domain = APAPI_DOMAIN_GPU, .rank = 1, .guard_j = INTEL_GPU_WRAP_J},
    {"ibmpowernv", "System", .domain = APAPI_DOMAIN_NODE},
    {"ibmpowernv", "Chip #", .domain = APAPI_DOMAIN_PACKAGE},
    {"power_meter", ANY, .domain = APAPI_DOMAIN_NODE},
    {"xe", "", .domain = APAPI_DOMAIN_GPU, .guard_j = INTEL_GPU_WRAP_J},
    {"xe", "card", .domain = APAPI_DOMAIN_GPU, .guard_j = INTEL_GPU_WRAP_J},
    {"xe", "pkg", .domain = APAPI_DOMAIN_GPU, .rank = 1, .guard_j = INTEL_GPU_WRAP_J},
};

static const struct chip *find_chip(const char *name, const char *label)
{
    unsigned number;

    for (size_t i = 0; i < COUNT_OF(chips); i++) {
        if (kernel_file_match(chips[i].name, name, &number) &&
            kernel_file_match(chips[i].label, label, &number)) {
            return &chips[i];
        }
    }
    return NULL;
}

/* Chip names have no blanks or dashes; event names must not either. */
static void clean(char *name)
{
    for (; *name; name++) {
        *name = isalnum((unsigned char)*name) || *name == '.' ? *name : '_';
    }
}

/* The name of the chip's device, "0000:03:00.0": it distinguishes chips of the same name. */
static void sysfs_hwmon_find_device(int dir, const char *entry, struct sysfs_item *chip)
{
    char link[sizeof chip->folder], target[PATH_MAX];
    const char *slash;
    ssize_t length;

    snprintf(link, sizeof link, "%.32s/device", entry);
    length = readlinkat(dir, link, target, sizeof target - 1);
    if (length <= 0) {
        snprintf(chip->device, sizeof chip->device, "%.32s", entry);
        return;
    }
    target[length] = '\0';
    slash = strrchr(target, '/');
    snprintf(chip->device, sizeof chip->device, "%.100s", slash ? slash + 1 : target);
}

/* @return whether the entry is a chip. Older drivers have their files in the device's folder. */
static bool is_chip(int dir, const char *entry, struct sysfs_item *chip)
{
    unsigned number;

    if (!kernel_file_match("hwmon#", entry, &number)) {
        return false;
    }
    chip->number = number;
    for (int i = 0; i < 2; i++) {
        char path[sizeof chip->folder + sizeof "/name"];

        snprintf(chip->folder, sizeof chip->folder, i == 0 ? "%.32s" : "%.32s/device", entry);
        snprintf(path, sizeof path, "%s/name", chip->folder);
        if (kernel_file_read_word_at(dir, path, chip->name, sizeof chip->name) == 0 &&
            *chip->name) {
            clean(chip->name);
            sysfs_hwmon_find_device(dir, entry, chip);
            return true;
        }
    }
    return false;
}

static int compare_chips(const void *left, const void *right)
{
    const struct sysfs_item *a = left, *b = right;
    int order = strverscmp(a->label, b->label);

    if (order == 0) {
        order = strcmp(a->name, b->name);
    }
    if (order == 0) {
        order = strverscmp(a->device, b->device);
    }
    return order ? order : (a->number > b->number) - (a->number < b->number);
}

/* Chips of one device, such as those of the tiles of a GPU, are one group. */
static void group_chips(struct sysfs_items *found)
{
    qsort(found->list, found->count, sizeof *found->list, compare_chips);
    for (size_t i = 0; i < found->count; i++) {
        size_t first = 0;

        while (strcmp(found->list[first].device, found->list[i].device) != 0) {
            first++;
        }
        found->list[i].group = (unsigned)first;
    }
}

/* The second chip of a name is called "name.1". */
static void label_chips(struct sysfs_items *found)
{
    unsigned same_name = 0;

    group_chips(found);
    for (size_t i = 0; i < found->count; i++) {
        struct sysfs_item *chip = &found->list[i];

        same_name = i > 0 && strcmp(chip->name, chip[-1].name) == 0 ? same_name + 1 : 0;
        strcpy(chip->label, chip->name);
        if (same_name > 0) {
            snprintf(chip->label, sizeof chip->label, "%.50s.%u", chip->name, same_name);
        }
    }
}

/* @return whether the chip's device is a graphics card. @param card  result: its number */
static bool find_card(int dir, const struct sysfs_item *chip, unsigned *card)
{
    char path[sizeof chip->folder + sizeof "/device/drm"];
    bool found = false;
    int fd;
    DIR *drm;

    snprintf(path, sizeof path, "hwmon%lu/device/drm", chip->number);
    fd = openat(dir, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    drm = fd < 0 ? NULL : fdopendir(fd);
    if (!drm) {
        return false;
    }
    for (struct dirent *entry = readdir(drm); entry && !found; entry = readdir(drm)) {
        found = kernel_file_match("card#", entry->d_name, card);
    }
    closedir(drm);
    return found;
}

/* Label the chip of a GPU "card0", a tile's "card0.gt1"; without a card's number, by the device. */
static bool is_gpu(int dir, const char *entry, struct sysfs_item *chip)
{
    unsigned card, tile;
    bool is_tile;
    size_t length;

    if (!is_chip(dir, entry, chip)) {
        return false;
    }
    is_tile = kernel_file_match("i915_gt#", chip->name, &tile);
    if (!is_tile && strcmp(chip->name, "i915") != 0 && strcmp(chip->name, "xe") != 0) {
        return false;
    }
    if (find_card(dir, chip, &card)) {
        snprintf(chip->label, sizeof chip->label, "card%u", card);
    } else {
        snprintf(chip->label, sizeof chip->label, "%.50s", chip->device);
    }
    length = strlen(chip->label);
    if (is_tile) {
        snprintf(chip->label + length, sizeof chip->label - length, ".gt%u", tile);
    }
    return true;
}

/* @return the update period that the driver reports [ns]; 0: it reports none. */
static uint64_t read_update_ns(const struct sysfs_match *match)
{
    char file[80];
    uint64_t ms;

    snprintf(file, sizeof file, "%s_interval", match->file);
    if (kernel_file_read_u64_at(match->dir, file, &ms) &&
        kernel_file_read_u64_at(match->dir, "update_interval", &ms)) {
        return 0;
    }
    return ms < UINT64_MAX / NS_PER_MS ? ms * NS_PER_MS : 0;
}

/* @return the highest power that the device may draw, as the driver says [W]; 0: not known */
static float read_most_w(const struct sysfs_match *match)
{
    static const char *const names[] = {"rated_max", "cap_max", "max", "crit"};
    uint64_t most_uw = 0, uw;
    char file[80];

    for (size_t i = 0; i < COUNT_OF(names); i++) {
        snprintf(file, sizeof file, "%.*s_%s", (int)strcspn(match->file, "_"), match->file,
                 names[i]);
        if (kernel_file_read_u64_at(match->dir, file, &uw) == 0 && uw > most_uw) {
            most_uw = uw;
        }
    }
    return (float)most_uw / 1e6F;
}

static int sysfs_hwmon_complete(const struct sysfs_match *match, struct apapi_event *event,
                                struct sysfs_meter *meter)
{
    char file[64], label[64];
    const struct chip *chip;
    size_t length;

    snprintf(file, sizeof file, "%.*s_label", (int)strcspn(match->file, "_"), match->file);
    if (kernel_file_read_word_at(match->dir, file, label, sizeof label)) {
        *label = '\0';
    }
    for (length = strlen(label); length > 0 && label[length - 1] == ' '; length--) {
        label[length - 1] = '\0';
    }
    length = strlen(meter->text);
    snprintf(meter->text + length, sizeof meter->text - length, "%s%s%s", match->item->name,
             *label ? ": " : "", label);
    event->update_ns = read_update_ns(match);
    event->most_w = read_most_w(match);
    chip = find_chip(match->item->name, label);
    if (!chip) {
        return 0;
    }
    if (chip->no_average && strstr(match->file, "_average")) {
        return -1;
    }
    event->domain = chip->domain;
    meter->rank = chip->rank;
    if (event->accumulates) {
        event->guard_j = chip->guard_j;
        event->update_ns = chip->update_ns ? chip->update_ns : event->update_ns;
    }
    return 0;
}

#define CHIPS                                                                                      \
    .folder = "/sys/class/hwmon", .detail = "sysfs hwmon", .rows = hwmon_rows,                     \
    .complete = sysfs_hwmon_complete

const struct sysfs_family sysfs_hwmon = {
    .component = "hwmon",
    CHIPS,
    .nothing = "chip that measures energy or power",
    .is_item = is_chip,
    .arrange = label_chips,
};

const struct sysfs_family sysfs_intel_gpu = {
    .component = "intel_gpu",
    CHIPS,
    .nothing = "Intel GPU (i915, xe) that measures energy or power",
    .is_item = is_gpu,
    .arrange = group_chips,
};
