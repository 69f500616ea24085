/* SPDX-License-Identifier: BSD-3-Clause */
#include "ms_common/map.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#define INPUTS_MAX 1024 /* of one chip */
#define CPUS_MAX 8192
#define TEXT_SIZE 64
#define SENSORS_MAX 64
#define SENSORS_NO_CORE MS_CORES

/* A file of the kernel with one number. */
struct sensor {
    int fd;
    unsigned package;
    unsigned core; /* SENSORS_NO_CORE: the whole package */
};

/* Sensors of one kind. */
struct sensors {
    struct sensor all[SENSORS_MAX];
    size_t count;
};

/* A chip of hwmon that measures processors. */
struct chip {
    int folder;
    unsigned package;
    unsigned cores; /* found so far */
};

/* Put APAPI_SYSROOT, if set, before a path. */
__attribute__((format(printf, 3, 4))) static void sensors_path(char *path, size_t size,
                                                               const char *format, ...)
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

/* Read the first line of a file, without the newline. @return whether there is one. */
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

static bool sensors_read(const struct sensor *sensor, double *value)
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

/* Add an input. That of the package comes first, then its cores in the order of identifiers. */
static void sensors_add_intel_input(struct sensors *sensors, struct chip *chip, unsigned number)
{
    char name[TEXT_SIZE], label[TEXT_SIZE];
    const char *id;

    snprintf(name, sizeof name, "temp%u_label", number);
    if (!sensors_text(chip->folder, name, label)) {
        return;
    }
    snprintf(name, sizeof name, "temp%u_input", number);
    id = strstr(label, " id "); /* "Package id 0"; before Linux 3.10 "Physical id 0" */
    if (id && isdigit((unsigned char)id[4])) {
        chip->package = (unsigned)strtoul(id + 4, NULL, 10);
        sensors_add(sensors, chip->folder, name, chip->package, SENSORS_NO_CORE);
    } else if (strncmp(label, "Core ", 5) == 0 && chip->package < MS_CPUS &&
               chip->cores < MS_CORES) {
        sensors_add(sensors, chip->folder, name, chip->package, chip->cores++);
    }
}

static void sensors_add_chip(struct sensors *sensors, int folder, unsigned *chips)
{
    char name[TEXT_SIZE];

    if (!sensors_text(folder, "name", name)) {
        return;
    }
    if (strcmp(name, "coretemp") == 0) {
        struct chip chip = {folder, (*chips)++, 0};

        for (unsigned i = 1; i < INPUTS_MAX; i++) {
            sensors_add_intel_input(sensors, &chip, i);
        }
    } else if (strcmp(name, "k10temp") == 0 || strcmp(name, "zenpower") == 0) {
        sensors_add(sensors, folder, "temp1_input", (*chips)++, SENSORS_NO_CORE);
    }
}

/* Open the temperatures of packages and of the first four cores of packages 0 and 1 [0.001 C]. */
static void sensors_find_temperatures(struct sensors *sensors)
{
    char path[PATH_MAX];
    struct dirent **entries;
    unsigned chips = 0;
    int count, class;

    sensors_path(path, sizeof path, "/sys/class/hwmon");
    count = scandir(path, &entries, NULL, versionsort);
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

static void sensors_add_cpu(struct sensors *sensors, int folder, struct cores packages[MS_CPUS])
{
    char text[TEXT_SIZE];
    struct cores *cores;
    long package, core;
    unsigned known = 0;

    if (!sensors_text(folder, "topology/physical_package_id", text)) {
        return; /* the CPU is switched off */
    }
    package = strtol(text, NULL, 10);
    package = package < 0 ? 0 : package; /* in a virtual machine */
    if (package >= MS_CPUS || !sensors_text(folder, "topology/core_id", text)) {
        return;
    }
    cores = &packages[package];
    core = strtol(text, NULL, 10);
    while (known < cores->count && cores->ids[known] != core) {
        known++;
    }
    if (known == cores->count && known < MS_CORES) {
        cores->ids[cores->count++] = core;
        sensors_add(sensors, folder, "cpufreq/scaling_cur_freq", (unsigned)package, known);
    }
}

/* Open the frequencies of the first four cores of packages 0 and 1 [kHz]. */
static void sensors_find_frequencies(struct sensors *sensors)
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

static void sensors_close(struct sensors *sensors)
{
    for (size_t i = 0; i < sensors->count; i++) {
        close(sensors->all[i].fd);
    }
    sensors->count = 0;
}

/* --- figures of the machine --- */

#define REST_NS UINT64_C(10000000)

/* Time of all CPUs in each state of /proc/stat [ticks]. */
struct times {
    uint64_t states[MS_CPU_STATS];
};

enum { STATE_USER, STATE_NICE, STATE_SYSTEM, STATE_IDLE, STATE_IOWAIT, STATE_IRQ, STATE_SOFTIRQ };

/* [kiB] */
struct memory {
    double total, free, used, used_max, free_max;
};

struct machine {
    struct sensors temperatures, frequencies;
    struct course hot[SENSORS_MAX], speed[SENSORS_MAX];
    int stat;
    unsigned cpus;
    bool started, timed;
    uint64_t read_ns;
    struct times first, last;
    struct memory ram, swap;
};

static unsigned machine_count_cpus(const char *path)
{
    FILE *file = fopen(path, "re");
    char *line = NULL;
    size_t room = 0;
    unsigned cpus = 0;

    while (file && getline(&line, &room, file) > 0) {
        cpus += strncmp(line, "cpu", 3) == 0 && isdigit((unsigned char)line[3]);
    }
    free(line);
    if (file) {
        fclose(file);
    }
    return cpus;
}

struct machine *machine_open(void)
{
    struct machine *machine = calloc(1, sizeof *machine);
    char path[PATH_MAX];

    if (!machine) {
        return NULL;
    }
    sensors_find_temperatures(&machine->temperatures);
    sensors_find_frequencies(&machine->frequencies);
    sensors_path(path, sizeof path, "/proc/stat");
    machine->cpus = machine_count_cpus(path);
    machine->stat = open(path, O_RDONLY | O_CLOEXEC);
    return machine;
}

void machine_start(struct machine *machine)
{
    memset(machine->hot, 0, sizeof machine->hot);
    memset(machine->speed, 0, sizeof machine->speed);
    machine->ram = machine->swap = (struct memory){0};
    machine->started = machine->timed = false;
}

static void machine_read_sensors(const struct sensors *sensors, struct course *courses,
                                 uint64_t now_ns)
{
    double value;

    for (size_t i = 0; i < sensors->count; i++) {
        if (sensors_read(&sensors->all[i], &value)) {
            course_add(&courses[i], value / 1000, now_ns); /* C, MHz */
        }
    }
}

/* Store the greatest value of several packages. @param first  of the first package */
static void machine_put_hot(uint32_t *member, double value, bool first)
{
    if (first || value >= *member + 1.0) {
        number_put_u32(member, value);
    }
}

static void machine_put_temperatures(const struct machine *machine, struct ms_cpu *cpu)
{
    bool seen[MS_CPUS] = {false};

    for (size_t i = 0; i < machine->temperatures.count; i++) {
        const struct sensor *sensor = &machine->temperatures.all[i];
        const struct course *hot = &machine->hot[i];
        unsigned package = sensor->package % MS_CPUS;

        if (sensor->core != SENSORS_NO_CORE) {
            number_put_u32(&cpu->msr_temperature_core_cur[package][sensor->core], hot->last);
            number_put_u32(&cpu->msr_temperature_core_max[package][sensor->core], hot->max);
        } else {
            machine_put_hot(&cpu->msr_temperature_pkg_cur[package], hot->last, !seen[package]);
            machine_put_hot(&cpu->msr_temperature_pkg_max[package], hot->max, !seen[package]);
            seen[package] = true;
        }
    }
}

static void machine_put_frequencies(const struct machine *machine, struct ms_cpu *cpu)
{
    for (size_t i = 0; i < machine->frequencies.count; i++) {
        const struct sensor *sensor = &machine->frequencies.all[i];
        const struct figure speed = course_figure(&machine->speed[i]);
        unsigned package = sensor->package, core = sensor->core;

        if (machine->speed[i].known) {
            number_put_double(&cpu->msr_freq_core_cur[package][core], speed.now);
            number_put_double(&cpu->msr_freq_core_acc[package][core], speed.total);
            number_put_double(&cpu->msr_freq_core_avg[package][core], speed.mean);
            number_put_double(&cpu->msr_freq_core_eff_cur[package][core], speed.now);
            number_put_double(&cpu->msr_freq_core_eff_acc[package][core], speed.total);
            number_put_double(&cpu->msr_freq_core_eff_avg[package][core], speed.mean);
        }
    }
}

static bool machine_read_times(const struct machine *machine, struct times *times)
{
    char text[256], *word = text + strlen("cpu"), *end;
    ssize_t size = machine->stat < 0 ? -1 : pread(machine->stat, text, sizeof text - 1, 0);

    if (size <= 0) {
        return false;
    }
    text[size] = '\0';
    text[strcspn(text, "\n")] = '\0';
    *times = (struct times){{0}};
    for (int i = 0; i < MS_CPU_STATS; i++, word = end) {
        times->states[i] = strtoull(word, &end, 10);
        if (end == word) {
            return i > STATE_SOFTIRQ; /* old kernels have no more */
        }
    }
    return true;
}

/* The kernel's idle time may go back a little. */
static struct times machine_since(const struct times *now, const struct times *then)
{
    struct times since;

    for (int i = 0; i < MS_CPU_STATS; i++) {
        since.states[i] = now->states[i] > then->states[i] ? now->states[i] - then->states[i] : 0;
    }
    return since;
}

/* Fields behind softirq are other machines' time (steal), or are counted in user and nice, too. */
static uint64_t times_busy(const struct times *times)
{
    const uint64_t *states = times->states;

    return states[STATE_USER] + states[STATE_NICE] + states[STATE_SYSTEM] + states[STATE_IRQ] +
           states[STATE_SOFTIRQ];
}

static uint64_t times_idle(const struct times *times)
{
    return times->states[STATE_IDLE] + times->states[STATE_IOWAIT];
}

static double times_busy_pct(const struct times *times)
{
    return 100.0 * (double)times_busy(times) / (double)(times_busy(times) + times_idle(times));
}

static void machine_put_times(const struct machine *machine, const struct times *latest,
                              struct ms_cpu *cpu)
{
    struct times all = machine_since(&machine->last, &machine->first);
    double ticks_per_s = (double)sysconf(_SC_CLK_TCK) * (machine->cpus ? machine->cpus : 1);

    for (int i = 0; i < MS_CPU_STATS; i++) {
        __atomic_store_n(&cpu->measure_util_cur[i], latest->states[i], __ATOMIC_RELAXED);
        __atomic_store_n(&cpu->measure_util_acc[i], all.states[i], __ATOMIC_RELAXED);
    }
    __atomic_store_n(&cpu->measure_util_active_total, times_busy(&all), __ATOMIC_RELAXED);
    __atomic_store_n(&cpu->measure_util_idle_total, times_idle(&all), __ATOMIC_RELAXED);
    number_put_double(&cpu->measure_util_active_cur, (double)times_busy(latest) / ticks_per_s);
    number_put_double(&cpu->measure_util_idle_cur, (double)times_idle(latest) / ticks_per_s);
    number_put_double(&cpu->measure_util_avg_cur, times_busy_pct(latest));
    number_put_double(&cpu->measure_util_active_avg, (double)times_busy(&all) / ticks_per_s);
    number_put_double(&cpu->measure_util_idle_avg, (double)times_idle(&all) / ticks_per_s);
    number_put_double(&cpu->measure_util_avg, times_busy_pct(&all));
}

static void machine_take_times(struct machine *machine, struct ms_cpu *cpu)
{
    struct times now, since;

    if (!machine_read_times(machine, &now)) {
        return;
    }
    if (!machine->timed) {
        machine->first = machine->last = now;
        machine->timed = true;
    }
    since = machine_since(&now, &machine->last);
    if (times_busy(&since) + times_idle(&since) > 0) {
        machine->last = now;
        machine_put_times(machine, &since, cpu);
    }
}

static void memory_add(struct memory *memory, double total, double free)
{
    double used = total - free;

    memory->total = total;
    memory->free = free;
    memory->used = used;
    memory->used_max = used > memory->used_max ? used : memory->used_max;
    memory->free_max = free > memory->free_max ? free : memory->free_max;
}

static void machine_take_memory(struct machine *machine, struct ms_cpu *cpu)
{
    const struct memory *all[] = {&machine->ram, &machine->swap};
    struct sysinfo info;

    if (sysinfo(&info) == 0) {
        double kib = info.mem_unit / 1024.0;

        memory_add(&machine->ram, (double)info.totalram * kib, (double)info.freeram * kib);
        memory_add(&machine->swap, (double)info.totalswap * kib, (double)info.freeswap * kib);
    }
    for (size_t i = 0; i < 2; i++) {
        number_put_u64(&cpu->measure_memory_cur[3 * i], all[i]->total);
        number_put_u64(&cpu->measure_memory_cur[3 * i + 1], all[i]->free);
        number_put_u64(&cpu->measure_memory_cur[3 * i + 2], all[i]->used);
    }
    number_put_u32(&cpu->measure_memory_used_max, machine->ram.used_max);
    number_put_u32(&cpu->measure_memory_free_max, machine->ram.free_max);
    number_put_u32(&cpu->measure_swap_used_max, machine->swap.used_max);
    number_put_u32(&cpu->measure_swap_free_max, machine->swap.free_max);
}

void machine_read(struct machine *machine, unsigned parts, uint64_t now_ns, struct ms_cpu *cpu)
{
    if (machine->started && now_ns - machine->read_ns < REST_NS) {
        return;
    }
    machine->started = true;
    machine->read_ns = now_ns;
    if (parts & PART_TEMPERATURE) {
        machine_read_sensors(&machine->temperatures, machine->hot, now_ns);
        machine_put_temperatures(machine, cpu);
    }
    if (parts & PART_FREQUENCY) {
        machine_read_sensors(&machine->frequencies, machine->speed, now_ns);
        machine_put_frequencies(machine, cpu);
    }
    if (parts & PART_TIME) {
        machine_take_times(machine, cpu);
    }
    if (parts & PART_MEMORY) {
        machine_take_memory(machine, cpu);
    }
}

void machine_close(struct machine *machine)
{
    if (!machine) {
        return;
    }
    sensors_close(&machine->temperatures);
    sensors_close(&machine->frequencies);
    if (machine->stat >= 0) {
        close(machine->stat);
    }
    free(machine);
}
