/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of the interface: those that control a measurement, of lists, and of figures. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ms_common/measurement.h"

/* --- systems --- */

struct entry {
    struct ms_system system;
    struct ms_config config;
    struct entry *next;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct entry *entries;

static struct ms_system *registry_add(struct measure *measure)
{
    struct entry *entry = calloc(1, sizeof *entry);

    if (!entry) {
        return NULL;
    }
    entry->system = (struct ms_system){measure, &entry->config};
    entry->config = (struct ms_config){.cpu_enabled = measure_has(measure, RESOURCE_CPU),
                                       .gpu_enabled = measure_has(measure, RESOURCE_GPU),
                                       .fpga_enabled = measure_has(measure, RESOURCE_FPGA),
                                       .mic_enabled = measure_has(measure, RESOURCE_MIC),
                                       .sys_enabled = measure_has(measure, RESOURCE_SYSTEM)};
    pthread_mutex_lock(&mutex);
    entry->next = entries;
    entries = entry;
    pthread_mutex_unlock(&mutex);
    return &entry->system;
}

/* @param remove  forget the system @return NULL: ms_init() has not made the system */
static struct measure *registry_find(const struct ms_system *system, bool remove)
{
    struct entry **place = &entries, *entry;
    struct measure *measure;

    pthread_mutex_lock(&mutex);
    while (*place && &(*place)->system != system) {
        place = &(*place)->next;
    }
    entry = *place;
    measure = entry ? entry->system.mgmt : NULL;
    if (entry && remove) {
        *place = entry->next;
        free(entry);
    }
    pthread_mutex_unlock(&mutex);
    return measure;
}

static struct measure *control_find(const char *function, const struct ms_system *system)
{
    struct measure *measure = system ? registry_find(system, false) : NULL;

    if (!measure) {
        say("%s: %s", function, system ? "not a system of ms_init()" : "the system is NULL");
    }
    return measure;
}

/* NOLINTNEXTLINE(readability-function-size): the interface has so many parameters */
struct ms_system *ms_init(const struct ms_version *version, enum cpu_governor governor,
                          uint64_t frequency_min, uint64_t frequency_max,
                          enum gpu_frequency gpu_frequency, enum ipmi_timeout_setting timeout,
                          enum skip_ms_rate skip, enum lib_variant variant)
{
    struct measure *measure;
    struct ms_system *system;

    (void)governor, (void)frequency_min, (void)frequency_max, (void)gpu_frequency;
    (void)timeout, (void)skip, (void)variant;
    if (version && (version->major != 0 || version->minor != 8)) {
        say("ms_init: the program was built for libmeasure %u.%u, this is 0.8: its structures may "
            "differ",
            version->major, version->minor);
    }
    measure = measure_create();
    if (!measure) {
        return NULL;
    }
    system = registry_add(measure);
    if (!system) {
        say("no memory");
        measure_destroy(measure);
    }
    return system;
}

void ms_init_fpga_force_idle(struct ms_system *system)
{
    (void)system;
    say("ms_init_fpga_force_idle: not available");
}

void ms_reg_sighandler_start(struct ms_system *system, void (*handler)(int))
{
    (void)system, (void)handler;
    say("ms_reg_sighandler_start: not available");
}

void ms_reg_sighandler_stop(struct ms_system *system, void (*handler)(int))
{
    (void)system, (void)handler;
    say("ms_reg_sighandler_stop: not available");
}

void ms_fini(struct ms_system *system)
{
    struct measure *measure = system ? registry_find(system, true) : NULL;

    if (measure) {
        measure_destroy(measure);
    } else if (system) {
        say("ms_fini: not a system of ms_init()");
    }
}

struct ms_list *ms_alloc_measurement(struct ms_system *system)
{
    const struct measure *measure = control_find("ms_alloc_measurement", system);
    struct ms_list *list = NULL;

    for (int r = 0; measure && r < RESOURCES; r++) {
        if (measure_has(measure, r) && list_append(&list, r)) {
            say("no memory");
        }
    }
    return list;
}

void ms_free_measurement(struct ms_list *list)
{
    deleteList(&list);
}

void ms_set_timer(struct ms_list *list, int flags, uint64_t sec, uint64_t nsec,
                  uint32_t check_for_exit_interrupts)
{
    const uint64_t ns_per_s = 1000000000, longest_ns = 3601 * ns_per_s;
    uint64_t ns = sec < 3601 && nsec < longest_ns ? sec * ns_per_s + nsec : longest_ns;
    uint32_t checks = check_for_exit_interrupts ? check_for_exit_interrupts : 1;
    const struct timespec wait = {(time_t)(ns / checks / ns_per_s), (long)(ns / checks % ns_per_s)};

    if (flags <= 0 || flags & ~MS_ALL) {
        say("ms_set_timer: %d is no set of CPU 1, GPU 2, FPGA 4, SYSTEM 8, MIC 16", flags);
        return;
    }
    for (int r = 0; r < RESOURCES; r++) {
        void *measurement = flags & resource_rows[r].flag ? list_find(list, r) : NULL;

        if (measurement) {
            *resource_head(r, measurement).wait = wait;
            *resource_head(r, measurement).checks = checks;
        }
    }
}

void ms_init_measurement(struct ms_system *system, struct ms_list *list, int flags)
{
    struct measure *measure = control_find("ms_init_measurement", system);

    if (flags & ~MS_ALL) {
        say("ms_init_measurement: flags %#x beyond ALL (0x1f)", (unsigned)flags);
    }
    if (measure) {
        measure_prepare(measure, list, flags);
    }
}

void ms_start_measurement(struct ms_system *system)
{
    struct measure *measure = control_find("ms_start_measurement", system);

    if (measure) {
        measure_start(measure);
    }
}

void ms_stop_measurement(struct ms_system *system)
{
    struct measure *measure = control_find("ms_stop_measurement", system);

    if (measure) {
        measure_stop(measure, NULL);
    }
}

/* All figures are stored when the stop returns. Without a stop, the original waited for ever. */
void ms_join_measurement(struct ms_system *system)
{
    struct measure *measure = control_find("ms_join_measurement", system);

    if (measure) {
        measure_stop(measure,
                     "ms_join_measurement: there was no ms_stop_measurement(), so this is it");
    }
}

void ms_fini_measurement(struct ms_system *system)
{
    control_find("ms_fini_measurement", system);
}

/* @return the resource; RESOURCES: there is none of this flag. */
static enum resource resource_of_flag(int flag)
{
    int r = 0;

    while (r < RESOURCES && resource_rows[r].flag != flag) {
        r++;
    }
    return r;
}

void appendList(struct ms_list **list, int id)
{
    enum resource resource = resource_of_flag(id);

    if (!list) {
        say("appendList: the list is NULL");
    } else if (resource == RESOURCES) {
        say("appendList: %d is none of CPU 1, GPU 2, FPGA 4, SYSTEM 8, MIC 16", id);
    } else if (list_append(list, resource)) {
        say("no memory");
    }
}

void *getMeasurement(struct ms_list **list, int id)
{
    enum resource resource = resource_of_flag(id);

    return list && resource != RESOURCES ? list_find(*list, resource) : NULL;
}

void deleteList(struct ms_list **list)
{
    while (list && *list) {
        struct ms_list *first = *list;

        pthread_mutex_lock(&mutex);
        for (struct entry *entry = entries; entry; entry = entry->next) {
            measure_forget(entry->system.mgmt, first->ms_measurement);
        }
        pthread_mutex_unlock(&mutex);
        *list = first->next;
        free(first->ms_measurement);
        free(first);
    }
}

/* --- figures --- */

#define cpu_RESOURCE RESOURCE_CPU
#define gpu_RESOURCE RESOURCE_GPU
#define fpga_RESOURCE RESOURCE_FPGA
#define mic_RESOURCE RESOURCE_MIC
#define sys_RESOURCE RESOURCE_SYSTEM

#define FIGURE(type, name, resource, parameters, inside, member)                                   \
    type name parameters                                                                           \
    {                                                                                              \
        const struct ms_##resource *measurement = list_find(list, resource##_RESOURCE);            \
                                                                                                   \
        return measurement && (inside) ? (type)number_get(measurement->member) : 0;                \
    }
#define IN(index, count) ((index) >= 0 && (index) < (count))

/* Names of members cannot be in parentheses. NOLINTBEGIN(bugprone-macro-parentheses) */
#define MS_FIGURE(type, name, resource, member)                                                    \
    FIGURE(type, name, resource, (const struct ms_list *list), true, member)
#define MS_FIGURE_OF_CPU(type, name, member)                                                       \
    FIGURE(type, name, cpu, (const struct ms_list *list, int cpu), IN(cpu, MS_CPUS), member[cpu])
#define MS_FIGURE_OF_RAIL(name, member, rail)                                                      \
    FIGURE(double, name, cpu, (const struct ms_list *list, int cpu), IN(cpu, MS_CPUS),             \
           member[cpu][rail])
#define MS_FIGURE_OF_CORE(type, name, member)                                                      \
    FIGURE(type, name, cpu, (const struct ms_list *list, int cpu, int core),                       \
           IN(cpu, MS_CPUS) && IN(core, MS_CORES), member[cpu][core])
/* NOLINTEND(bugprone-macro-parentheses) */

#include "ms_common/figures.def"
