/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions that control a measurement, and those of lists. */
#include <stddef.h>

#include "ms_common/interface.h"
#include "ms_common/list.h"
#include "ms_common/measure.h"
#include "ms_common/registry.h"
#include "ms_common/say.h"

#define MAJOR 0
#define MINOR 8

static struct measure *control_find(const char *function, const struct ms_system *system)
{
    struct measure *measure = system ? registry_find(system) : NULL;

    if (!measure) {
        say("%s: %s", function, system ? "not a system of ms_init()" : "the system is NULL");
    }
    return measure;
}

static void control_check_version(const struct ms_version *version)
{
    if (version && (version->major != MAJOR || version->minor != MINOR)) {
        say("ms_init: the program was built for libmeasure %u.%u, this is %u.%u: its structures "
            "may "
            "differ",
            version->major, version->minor, MAJOR, MINOR);
    }
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
    control_check_version(version);
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
    struct measure *measure = system ? registry_remove(system) : NULL;

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

static void control_set_timer(enum resource resource, void *measurement,
                              const struct timespec *wait, uint32_t checks)
{
    *resource_wait(resource, measurement) = *wait;
    *resource_checks(resource, measurement) = checks;
}

/* @return the time divided by the number of checks; at most an hour, which is the longest interval
 */
static struct timespec control_wait(uint64_t sec, uint64_t nsec, uint32_t checks)
{
    const uint64_t ns_per_s = 1000000000, longest_ns = 3601 * ns_per_s;
    uint64_t ns = sec < 3601 && nsec < longest_ns ? sec * ns_per_s + nsec : longest_ns;

    ns /= checks;
    return (struct timespec){(time_t)(ns / ns_per_s), (long)(ns % ns_per_s)};
}

void ms_set_timer(struct ms_list *list, int flags, uint64_t sec, uint64_t nsec,
                  uint32_t check_for_exit_interrupts)
{
    uint32_t checks = check_for_exit_interrupts ? check_for_exit_interrupts : 1;
    const struct timespec wait = control_wait(sec, nsec, checks);

    if (flags <= 0 || flags & ~MS_ALL) {
        say("ms_set_timer: %d is no set of CPU 1, GPU 2, FPGA 4, SYSTEM 8, MIC 16", flags);
        return;
    }
    for (int r = 0; r < RESOURCES; r++) {
        void *measurement = flags & resource_flag(r) ? list_find(list, r) : NULL;

        if (measurement) {
            control_set_timer(r, measurement, &wait, checks);
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
        measure_stop(measure);
    }
}

/* All is stored when the stop returns. The original waited for ever without a stop. */
void ms_join_measurement(struct ms_system *system)
{
    struct measure *measure = control_find("ms_join_measurement", system);

    if (measure && measure_is_running(measure)) {
        say("ms_join_measurement: there was no ms_stop_measurement(), so this is it");
        measure_stop(measure);
    }
}

void ms_fini_measurement(struct ms_system *system)
{
    control_find("ms_fini_measurement", system);
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
    if (list) {
        registry_forget(*list);
        list_free(*list);
        *list = NULL;
    }
}
