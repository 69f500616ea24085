/* SPDX-License-Identifier: BSD-3-Clause */
#include "ms_common/sensors.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INPUTS_MAX 1024 /* of one chip */
#define CPUS_MAX 8192
#define TEXT_SIZE 64

/* A chip of hwmon that measures processors. */
struct chip {
    int folder;
    unsigned package;
    unsigned cores; /* found so far */
};

void sensors_path(char *path, size_t size, const char *format, ...)
{
    const char *root = secure_getenv("APAPI_SYSROOT");
    int used = snprintf(path, size, "%s", root ? root : "");
    va_list arguments;

    va_start(arguments, format);
    if (used >= 0 && (size_t)used < size) {
        vsnprintf(path + used, size - (size_t)used, format, arguments);
    }
    va_end(arguments);
}

/* @return whether the file has a first line; without its end. */
static bool sensors_text(int folder, const char *name, char *text)
{
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
    ssize_t size = fd < 0 ? -1 : read(fd, text, TEXT_SIZE - 1);

    if (fd >= 0) {
        close(fd);
    }
    text[size > 0 ? size : 0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    return size > 0;
}

bool sensors_read(const struct sensor *sensor, double *value)
{
    char text[TEXT_SIZE], *end;
    ssize_t size = pread(sensor->fd, text, sizeof text - 1, 0);

    if (size <= 0) {
        return false;
    }
    text[size] = '\0';
    *value = (double)strtol(text, &end, 10);
    return end > text;
}

static void sensors_add(struct sensors *sensors, int folder, const char *name, unsigned package,
                        unsigned core)
{
    struct sensor sensor = {openat(folder, name, O_RDONLY | O_CLOEXEC), package, core};
    double value;

    if (sensor.fd < 0) {
        return;
    }
    if (sensors->count < SENSORS_MAX && sensors_read(&sensor, &value)) {
        sensors->all[sensors->count++] = sensor;
    } else {
        close(sensor.fd);
    }
}

static bool sensors_is_core(const char *label)
{
    return strncmp(label, "Core ", 5) == 0;
}

/* "Package id 0"; before Linux 3.10 "Physical id 0". */
static bool sensors_is_package(const char *label, unsigned *package)
{
    const char *id = strstr(label, " id ");

    if (!id || !isdigit((unsigned char)id[4])) {
        return false;
    }
    *package = (unsigned)strtoul(id + 4, NULL, 10);
    return true;
}

static void sensors_add_intel_input(struct sensors *sensors, struct chip *chip, unsigned number)
{
    char name[TEXT_SIZE], label[TEXT_SIZE];

    snprintf(name, sizeof name, "temp%u_label", number);
    if (!sensors_text(chip->folder, name, label)) {
        return;
    }
    snprintf(name, sizeof name, "temp%u_input", number);
    if (sensors_is_package(label, &chip->package)) {
        sensors_add(sensors, chip->folder, name, chip->package, SENSORS_NO_CORE);
    } else if (sensors_is_core(label) && chip->package < MS_CPUS && chip->cores < MS_CORES) {
        sensors_add(sensors, chip->folder, name, chip->package, chip->cores++);
    }
}

/* The package has the first number, the cores have those of their identifiers. */
static void sensors_add_intel(struct sensors *sensors, int folder, unsigned earlier)
{
    struct chip chip = {folder, earlier, 0};

    for (unsigned i = 1; i < INPUTS_MAX; i++) {
        sensors_add_intel_input(sensors, &chip, i);
    }
}

static void sensors_add_chip(struct sensors *sensors, int folder, unsigned *chips)
{
    char name[TEXT_SIZE];

    if (!sensors_text(folder, "name", name)) {
        return;
    }
    if (strcmp(name, "coretemp") == 0) {
        sensors_add_intel(sensors, folder, (*chips)++);
    } else if (strcmp(name, "k10temp") == 0 || strcmp(name, "zenpower") == 0) {
        sensors_add(sensors, folder, "temp1_input", (*chips)++, SENSORS_NO_CORE);
    }
}

static int sensors_compare(const struct dirent **a, const struct dirent **b)
{
    return strverscmp((*a)->d_name, (*b)->d_name);
}

void sensors_find_temperatures(struct sensors *sensors)
{
    char path[PATH_MAX];
    struct dirent **entries;
    unsigned chips = 0;
    int count, class;

    sensors_path(path, sizeof path, "/sys/class/hwmon");
    count = scandir(path, &entries, NULL, sensors_compare);
    class = count < 0 ? -1 : open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; i < count; i++) {
        int folder = openat(class, entries[i]->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        if (folder >= 0) {
            sensors_add_chip(sensors, folder, &chips);
            close(folder);
        }
        free(entries[i]);
    }
    if (count >= 0) {
        free(entries);
    }
    if (class >= 0) {
        close(class);
    }
}

/* Cores of a package, by the kernel's numbers. */
struct cores {
    long ids[MS_CORES];
    unsigned count;
};

static bool sensors_is_new_core(struct cores *cores, long id)
{
    for (unsigned i = 0; i < cores->count; i++) {
        if (cores->ids[i] == id) {
            return false;
        }
    }
    if (cores->count == MS_CORES) {
        return false;
    }
    cores->ids[cores->count++] = id;
    return true;
}

static void sensors_add_cpu(struct sensors *sensors, int folder, struct cores packages[MS_CPUS])
{
    char text[TEXT_SIZE];
    long package;

    if (!sensors_text(folder, "topology/physical_package_id", text)) {
        return; /* switched off */
    }
    package = strtol(text, NULL, 10);
    package = package < 0 ? 0 : package; /* of a virtual machine */
    if (package < MS_CPUS && sensors_text(folder, "topology/core_id", text) &&
        sensors_is_new_core(&packages[package], strtol(text, NULL, 10))) {
        sensors_add(sensors, folder, "cpufreq/scaling_cur_freq", (unsigned)package,
                    packages[package].count - 1);
    }
}

void sensors_find_frequencies(struct sensors *sensors)
{
    struct cores packages[MS_CPUS] = {0};
    char path[PATH_MAX];

    for (unsigned i = 0; i < CPUS_MAX; i++) {
        int folder;

        sensors_path(path, sizeof path, "/sys/devices/system/cpu/cpu%u", i);
        folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (folder < 0) {
            return;
        }
        sensors_add_cpu(sensors, folder, packages);
        close(folder);
    }
}

void sensors_close(struct sensors *sensors)
{
    for (size_t i = 0; i < sensors->count; i++) {
        close(sensors->all[i].fd);
    }
    sensors->count = 0;
}
