/* SPDX-License-Identifier: BSD-3-Clause */
/* Any component of the installed PAPI, by its name. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sources/cloexec.h"
#include "sources/papi_events.h"
#include "sources/papi_library.h"
#include "sources/papi_msr.h"
#include "sources/papi_powercap.h"
#include "sources/sources.h"

#define EVENTS_MAX 512
#define CALIBRATIONS_MAX 10 /* a millisecond apart */

struct papi_reader {
    struct apapi_reader base;
    const struct papi_library *papi;
    int set; /* PAPI_NULL: none */
    bool running;
    enum nature { ORDINARY, RAPL, POWERCAP, UNCORE } nature;
    struct papi_msrs msrs;         /* RAPL */
    struct papi_powercap powercap; /* POWERCAP */
    struct apapi_event events[EVENTS_MAX];
    long long values[EVENTS_MAX];
};

static int papi_probe(const char *component, struct apapi_error *err)
{
    const struct papi_library *papi = papi_library_load(err);

    if (!papi) {
        return -1;
    }
    if (papi_library_find(papi, component) < 0) {
        return apapi_fail(err, ENOENT, "%s has no component '%s'", papi_library_version(),
                          component);
    }
    return 0;
}

static void papi_list(apapi_component_f visit, void *context)
{
    const struct papi_library *papi = papi_library_load(NULL);

    for (int i = 0; papi && i < papi->num_components(); i++) {
        const PAPI_component_info_t *info = papi->get_component_info(i);

        if (info) {
            visit(info->name, context);
        }
    }
}

static const char *const natures[] = {
    [RAPL] = "rapl", [POWERCAP] = "powercap", [UNCORE] = "perf_event_uncore"};

static enum nature nature_of(const char *component)
{
    for (size_t i = 0; i < sizeof natures / sizeof *natures; i++) {
        if (natures[i] && strcmp(natures[i], component) == 0) {
            return (enum nature)i;
        }
    }
    return ORDINARY;
}

/* What PAPI's description leaves open, and whether it can be read at all. */
static bool complete_event(struct papi_reader *reader, struct apapi_event *event)
{
    switch (reader->nature) {
    case RAPL:
        return papi_msrs_can_read(&reader->msrs, event->name);
    case POWERCAP:
        return papi_powercap_add(&reader->powercap, event);
    default:
        return true;
    }
}

static void add_event(struct papi_reader *reader, const char *name, const PAPI_event_info_t *info)
{
    struct apapi_event *event = &reader->events[reader->base.count];

    if (reader->base.count == EVENTS_MAX || !papi_event_describe(info, name, event) ||
        !complete_event(reader, event)) {
        return;
    }
    if (reader->papi->add_named_event(reader->set, name) == PAPI_OK) {
        reader->base.count++;
    } else if (reader->nature == POWERCAP) {
        papi_powercap_drop(&reader->powercap);
    }
}

/* The kernel's package counters belong to one CPU of each package. */
static void add_on_each_package(struct papi_reader *reader, const char *name,
                                const PAPI_event_info_t *info)
{
    int cpus[PAPI_MSR_PACKAGES_MAX];
    char on_cpu[APAPI_NAME_SIZE];

    papi_first_cpus(cpus);
    for (size_t i = 0; i < PAPI_MSR_PACKAGES_MAX; i++) {
        if (cpus[i] >= 0) {
            snprintf(on_cpu, sizeof on_cpu, "%s:cpu=%d", name, cpus[i]);
            add_event(reader, on_cpu, info);
        }
    }
}

/* For component rapl by way of perf: its energies only, not all counters of the uncore. */
static void add_found(struct papi_reader *reader, const char *name, const PAPI_event_info_t *info)
{
    if (reader->nature != UNCORE) {
        add_event(reader, name, info);
    } else if (strstr(name, "rapl::RAPL_ENERGY_")) {
        add_on_each_package(reader, name, info);
    }
}

static void note_zone(struct papi_reader *reader, const char *name, const PAPI_event_info_t *info)
{
    papi_powercap_note_zone(&reader->powercap, name, info->long_descr);
}

typedef void (*visit_f)(struct papi_reader *reader, const char *name,
                        const PAPI_event_info_t *info);

static void for_each_event(struct papi_reader *reader, int component, visit_f visit)
{
    const struct papi_library *papi = reader->papi;
    int code = PAPI_NATIVE_MASK, modifier = PAPI_ENUM_FIRST;
    PAPI_event_info_t info;
    char name[PAPI_2MAX_STR_LEN];

    while (papi->enum_cmp_event(&code, modifier, component) == PAPI_OK) {
        modifier = PAPI_ENUM_EVENTS;
        if (papi->event_code_to_name(code, name) == PAPI_OK &&
            papi->get_event_info(code, &info) == PAPI_OK) {
            visit(reader, name, &info);
        }
    }
}

static int add_all(struct papi_reader *reader, int component, struct apapi_error *err)
{
    if (reader->nature == RAPL) {
        papi_msrs_open(&reader->msrs);
    } else if (reader->nature == POWERCAP) {
        for_each_event(reader, component, note_zone);
    }
    for_each_event(reader, component, add_found);
    if (*reader->powercap.denied.text) {
        return apapi_fail(err, EACCES, "%s", reader->powercap.denied.text);
    }
    if (reader->base.count == 0) {
        return apapi_fail(err, ENODEV, "PAPI's %s offers no usable event", reader->base.detail);
    }
    return 0;
}

static int failed_call(const struct papi_reader *reader, const char *call, int code,
                       struct apapi_error *err)
{
    return apapi_fail(err, code == PAPI_EPERM ? EACCES : EIO, "PAPI's %s: %s: %s",
                      reader->base.detail, call, reader->papi->strerror(code));
}

/* What a counter was at the start can be found while it stands still, as it mostly does. */
static void calibrate(struct papi_reader *reader)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    uint64_t counters[PAPI_ZONES_MAX];

    for (int i = 0; i < CALIBRATIONS_MAX; i++) {
        papi_powercap_before_reading(&reader->powercap, counters);
        if (reader->papi->read(reader->set, reader->values) == PAPI_OK &&
            papi_powercap_calibrate(&reader->powercap, counters, reader->values)) {
            return;
        }
        clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
    }
}

/* The registers that PAPI is about to read. @return 0 or the errno. */
static int check_registers(const struct papi_reader *reader)
{
    return reader->nature == RAPL ? papi_msrs_check(&reader->msrs) : 0;
}

static int start(struct papi_reader *reader, struct apapi_error *err)
{
    int code = check_registers(reader);

    if (code) {
        return apapi_fail(err, code, "PAPI's %s: %s", reader->base.detail, strerror(code));
    }
    papi_powercap_before_start(&reader->powercap);
    code = reader->papi->start(reader->set);
    if (code != PAPI_OK) {
        return failed_call(reader, "PAPI_start", code, err);
    }
    reader->running = true;
    if (reader->nature == POWERCAP) {
        calibrate(reader);
    }
    return 0;
}

static int begin(struct papi_reader *reader, int component, struct apapi_error *err)
{
    int code = reader->papi->create_eventset(&reader->set);

    if (code != PAPI_OK) {
        return failed_call(reader, "PAPI_create_eventset", code, err);
    }
    return add_all(reader, component, err) ? -1 : start(reader, err);
}

/* Stopping reads once more. Where that would end the process, PAPI is left as it is. */
static void finish(struct papi_reader *reader)
{
    if (reader->running && check_registers(reader)) {
        return;
    }
    if (reader->running) {
        reader->papi->stop(reader->set, reader->values);
    }
    if (reader->set != PAPI_NULL) {
        reader->papi->cleanup_eventset(reader->set);
        reader->papi->destroy_eventset(&reader->set);
    }
    papi_library_leave(reader->papi);
}

static void papi_close(struct apapi_reader *base)
{
    struct papi_reader *reader = (struct papi_reader *)base;
    int saved = errno;

    if (!reader) {
        return;
    }
    finish(reader);
    papi_powercap_close(&reader->powercap);
    papi_msrs_close(&reader->msrs);
    free(reader);
    errno = saved;
}

static struct papi_reader *create_reader(const struct papi_library *papi, const char *component)
{
    struct papi_reader *reader = calloc(1, sizeof *reader);

    if (reader) {
        reader->base.source = &apapi_source_papi;
        reader->base.events = reader->events;
        reader->papi = papi;
        reader->set = PAPI_NULL;
        reader->nature = nature_of(component);
        papi_powercap_init(&reader->powercap);
        papi_msrs_init(&reader->msrs);
        snprintf(reader->base.detail, sizeof reader->base.detail, "%s", component);
    }
    return reader;
}

static struct apapi_reader *open_component(const struct papi_library *papi, const char *component,
                                           struct apapi_error *err)
{
    struct papi_reader *reader = create_reader(papi, component);

    if (!reader) {
        papi_library_leave(papi);
        apapi_fail(err, ENOMEM, "no memory");
        return NULL;
    }
    if (begin(reader, papi_library_find(papi, component), err)) {
        papi_close(&reader->base);
        return NULL;
    }
    snprintf(reader->base.detail, sizeof reader->base.detail, "%s %.40s", papi_library_version(),
             component);
    return &reader->base;
}

/* Components open files without O_CLOEXEC: they must not reach a program that is started later. */
static struct apapi_reader *papi_open(const char *component, struct apapi_error *err)
{
    const struct papi_library *papi = papi_library_load(err);
    struct apapi_reader *reader = NULL;
    struct open_files before;

    if (!papi) {
        return NULL;
    }
    open_files_note(&before);
    if (papi_library_enter(papi, component, err) == 0) {
        reader = open_component(papi, component, err);
    }
    open_files_close_new_on_exec(&before);
    return reader;
}

static void papi_read(struct apapi_reader *base, struct apapi_reading *readings)
{
    struct papi_reader *reader = (struct papi_reader *)base;
    int error = check_registers(reader);

    if (error == 0 && reader->papi->read(reader->set, reader->values) != PAPI_OK) {
        error = EIO;
    }
    if (error == 0 && reader->nature == POWERCAP) {
        papi_powercap_correct(&reader->powercap, reader->values, readings);
        return;
    }
    for (size_t i = 0; i < base->count; i++) {
        readings[i].error = error;
        readings[i].raw = (uint64_t)reader->values[i];
    }
}

const struct apapi_source apapi_source_papi = {
    .name = "papi",
    .probe = papi_probe,
    .want = papi_library_want,
    .list = papi_list,
    .open = papi_open,
    .read = papi_read,
    .close = papi_close,
};
