/* SPDX-License-Identifier: BSD-3-Clause */
/* Any component of the installed PAPI, by its name. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sources/cloexec.h"
#include "sources/papi_events.h"
#include "sources/papi_library.h"
#include "sources/sources.h"
#include "sources/sysfs.h"

#define EVENTS_MAX 512
#define PACKAGES_MAX 64
#define PRIMING_MAX 10 /* readings, a millisecond apart */
#define UNCORE "perf_event_uncore"

struct papi_reader {
    struct apapi_reader base;
    const struct papi_library *papi;
    int set; /* PAPI_NULL: none */
    bool running;
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

static void add_event(struct papi_reader *reader, const char *name, const PAPI_event_info_t *info)
{
    struct apapi_event *event = &reader->events[reader->base.count];

    if (reader->base.count < EVENTS_MAX && papi_event_describe(info, name, event) &&
        reader->papi->add_named_event(reader->set, name) == PAPI_OK) {
        reader->base.count++;
    }
}

/* The kernel's package counters belong to one CPU of each package. */
static void add_on_each_package(struct papi_reader *reader, const char *name,
                                const PAPI_event_info_t *info)
{
    bool done[PACKAGES_MAX] = {false};
    uint64_t package;
    char path[PATH_MAX], on_cpu[APAPI_NAME_SIZE];

    for (int cpu = 0;; cpu++) {
        int dir;

        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology", cpu);
        dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (dir < 0) {
            return;
        }
        if (sysfs_read_u64_at(dir, "physical_package_id", &package) == 0 &&
            package < PACKAGES_MAX && !done[package]) {
            done[package] = true;
            snprintf(on_cpu, sizeof on_cpu, "%s:cpu=%d", name, cpu);
            add_event(reader, on_cpu, info);
        }
        close(dir);
    }
}

/* For component rapl by way of perf: its energies only, not all counters of the uncore. */
static void add_found(struct papi_reader *reader, const char *name, const PAPI_event_info_t *info)
{
    if (strcmp(reader->base.detail, UNCORE) != 0) {
        add_event(reader, name, info);
    } else if (strstr(name, "rapl::RAPL_ENERGY_")) {
        add_on_each_package(reader, name, info);
    }
}

static int add_all(struct papi_reader *reader, int component, struct apapi_error *err)
{
    const struct papi_library *papi = reader->papi;
    int code = PAPI_NATIVE_MASK, modifier = PAPI_ENUM_FIRST;
    PAPI_event_info_t info;
    char name[PAPI_2MAX_STR_LEN];

    while (papi->enum_cmp_event(&code, modifier, component) == PAPI_OK) {
        modifier = PAPI_ENUM_EVENTS;
        if (papi->event_code_to_name(code, name) == PAPI_OK &&
            papi->get_event_info(code, &info) == PAPI_OK) {
            add_found(reader, name, &info);
        }
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

/*
 * Until a counter has moved for the first time since its start, some versions give its absolute
 * value instead of 0: read until all have moved, and forget these values.
 */
static void prime(struct papi_reader *reader)
{
    long long first[EVENTS_MAX];
    const struct timespec pause = {.tv_nsec = 1000000};
    bool all_moved = false;

    if (reader->papi->read(reader->set, first) != PAPI_OK) {
        return;
    }
    for (int i = 0; i < PRIMING_MAX && !all_moved; i++) {
        clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
        if (reader->papi->read(reader->set, reader->values) != PAPI_OK) {
            return;
        }
        all_moved = true;
        for (size_t e = 0; e < reader->base.count; e++) {
            all_moved &= reader->events[e].range_max == 0 || reader->values[e] != first[e];
        }
    }
}

static int begin(struct papi_reader *reader, int component, struct apapi_error *err)
{
    int code = reader->papi->create_eventset(&reader->set);

    if (code != PAPI_OK) {
        return failed_call(reader, "PAPI_create_eventset", code, err);
    }
    if (add_all(reader, component, err)) {
        return -1;
    }
    code = reader->papi->start(reader->set);
    if (code != PAPI_OK) {
        return failed_call(reader, "PAPI_start", code, err);
    }
    reader->running = true;
    prime(reader);
    return 0;
}

static void papi_close(struct apapi_reader *base)
{
    struct papi_reader *reader = (struct papi_reader *)base;
    int saved = errno;

    if (!reader) {
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
    int error = reader->papi->read(reader->set, reader->values) == PAPI_OK ? 0 : EIO;

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
