/* SPDX-License-Identifier: BSD-3-Clause */
/* Any component of the installed PAPI, by its name. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sources/papi/papi_faults.h"
#include "sources/papi/papi_library.h"
#include "sources/sources.h"

#define EVENTS_MAX 512

struct papi_reader {
    struct apapi_reader base;
    const struct papi_library *papi;
    int set; /* PAPI_NULL: none */
    enum nature { ORDINARY, RAPL, UNCORE } nature;
    struct papi_msrs msrs; /* rapl only, while it is opened */
    struct apapi_event events[EVENTS_MAX];
    int codes[EVENTS_MAX]; /* PAPI's event codes */
    long long values[EVENTS_MAX];
};

static int papi_probe(const char *component, struct apapi_error *err)
{
    const struct papi_library *papi = papi_library_load(err);

    if (!papi) {
        return -1;
    }
    if (papi_library_find(component) < 0) {
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

static void papi_add_event(struct papi_reader *reader, const char *name,
                           const PAPI_event_info_t *info)
{
    struct apapi_event *event = &reader->events[reader->base.count];

    if (reader->base.count < EVENTS_MAX && papi_event_describe(info, name, event) &&
        (reader->nature != RAPL || papi_msrs_can_read(&reader->msrs, name)) &&
        reader->papi->add_named_event(reader->set, name) == PAPI_OK) {
        reader->codes[reader->base.count++] = (int)info->event_code;
    }
}

/*
 * Add an event that was found. Component rapl through perf has only energies, not all counters of
 * the uncore; the kernel's package counters belong to one CPU of each package.
 */
static void add_found(struct papi_reader *reader, const char *name, const PAPI_event_info_t *info)
{
    int cpus[PAPI_MSR_PACKAGES_MAX];
    char on_cpu[APAPI_NAME_SIZE];

    if (reader->nature != UNCORE) {
        papi_add_event(reader, name, info);
        return;
    }
    if (!strstr(name, "rapl::RAPL_ENERGY_")) {
        return;
    }
    papi_first_cpus(cpus);
    for (size_t i = 0; i < PAPI_MSR_PACKAGES_MAX; i++) {
        if (cpus[i] >= 0) {
            snprintf(on_cpu, sizeof on_cpu, "%.150s:cpu=%d", name, cpus[i]);
            papi_add_event(reader, on_cpu, info);
        }
    }
}

static int papi_add_events(struct papi_reader *reader, int component, struct apapi_error *err)
{
    const struct papi_library *papi = reader->papi;
    int code = PAPI_NATIVE_MASK, modifier = PAPI_ENUM_FIRST;
    const PAPI_component_info_t *found;
    PAPI_event_info_t info;
    char name[PAPI_2MAX_STR_LEN];
    const char *reason;

    if (reader->nature == RAPL) {
        papi_msrs_open(&reader->msrs);
    }
    while (papi->enum_cmp_event(&code, modifier, component) == PAPI_OK) {
        modifier = PAPI_ENUM_EVENTS;
        if (papi->event_code_to_name(code, name) == PAPI_OK &&
            papi->get_event_info(code, &info) == PAPI_OK) {
            add_found(reader, name, &info);
        }
    }
    papi_msrs_close(&reader->msrs);
    if (reader->base.count > 0) {
        return 0;
    }
    found = papi->get_component_info(component);
    reason = found->disabled ? found->disabled_reason : "";
    return apapi_fail(err, ENODEV, "PAPI's %s offers no usable event%s%.120s", reader->base.detail,
                      *reason ? ": " : "", reason);
}

static int failed_call(const struct papi_reader *reader, const char *call, int code,
                       struct apapi_error *err)
{
    return apapi_fail(err, code == PAPI_EPERM ? EACCES : EIO, "PAPI's %s: %s: %s",
                      reader->base.detail, call, reader->papi->strerror(code));
}

static int papi_begin(struct papi_reader *reader, int component, struct apapi_error *err)
{
    int code = reader->papi->create_eventset(&reader->set);

    if (code != PAPI_OK) {
        return failed_call(reader, "PAPI_create_eventset", code, err);
    }
    if (papi_add_events(reader, component, err)) {
        return -1;
    }
    code = reader->papi->start(reader->set);
    return code == PAPI_OK ? 0 : failed_call(reader, "PAPI_start", code, err);
}

/* Free a reader. Does not call PAPI. */
static void free_reader(struct papi_reader *reader)
{
    papi_msrs_close(&reader->msrs);
    free(reader);
}

/* Runs in PAPI's thread. */
static int papi_leave(void *context)
{
    papi_library_leave(((struct papi_reader *)context)->set);
    return 0;
}

static void papi_close(struct apapi_reader *base)
{
    struct papi_reader *reader = (struct papi_reader *)base;
    int saved = errno;

    if (reader) {
        if (papi_thread_call(papi_leave, reader, NULL)) {
            papi_library_abandon();
        }
        free_reader(reader);
    }
    errno = saved;
}

static struct papi_reader *create_reader(const struct papi_library *papi,
                                         const PAPI_component_info_t *info)
{
    struct papi_reader *reader = calloc(1, sizeof *reader);

    if (reader) {
        reader->base.source = &apapi_source_papi;
        reader->base.events = reader->events;
        reader->papi = papi;
        reader->set = PAPI_NULL;
        reader->nature = strcmp(info->name, "rapl") == 0                ? RAPL
                         : strcmp(info->name, "perf_event_uncore") == 0 ? UNCORE
                                                                        : ORDINARY;
        papi_msrs_init(&reader->msrs);
        snprintf(reader->base.detail, sizeof reader->base.detail, "%.40s", info->name);
    }
    return reader;
}

struct opening {
    const struct papi_library *papi;
    const char *component;
    struct papi_reader *reader; /* NULL: not created */
    bool entered;
    struct apapi_error *err;
};

static int papi_open_component(void *context)
{
    struct opening *opening = context;
    const struct papi_library *papi = opening->papi;
    int component = papi_library_find(opening->component);

    if (papi_library_enter(opening->component, opening->err)) {
        return -1;
    }
    opening->entered = true;
    opening->reader = create_reader(papi, papi->get_component_info(component));
    if (!opening->reader) {
        papi_library_leave(PAPI_NULL);
        return apapi_fail(opening->err, ENOMEM, "no memory");
    }
    if (papi_begin(opening->reader, component, opening->err)) {
        int error = errno;

        papi_leave(opening->reader);
        free_reader(opening->reader);
        errno = error;
        return -1;
    }
    return 0;
}

/* Give up an opening in which PAPI's call did not finish, and cannot be undone. */
static void abandon(const struct opening *opening)
{
    if (opening->reader) {
        free_reader(opening->reader);
    }
    if (opening->entered) {
        papi_library_abandon();
    }
}

/* Components open files without O_CLOEXEC. Programs started later must not inherit them. */
static int open_guarded(void *context)
{
    struct opening *opening = context;
    struct open_files before;
    int result;

    open_files_note(&before);
    result = papi_exit_guard(papi_open_component, opening);
    open_files_close_new_on_exec(&before);
    if (result == PAPI_EXITED) {
        abandon(opening);
        return apapi_fail(opening->err, EIO, "PAPI's %.40s would have ended the process: exit(%d)",
                          opening->component, papi_exit_status());
    }
    return result;
}

static struct apapi_reader *papi_open(const char *component, struct apapi_error *err)
{
    struct opening opening = {papi_library_load(err), component, NULL, false, err};
    int result = opening.papi ? papi_thread_call(open_guarded, &opening, err) : -1;
    char name[sizeof opening.reader->base.detail];

    if (result) {
        return NULL;
    }
    strcpy(name, opening.reader->base.detail);
    snprintf(opening.reader->base.detail, sizeof name, "%.22s %.40s", papi_library_version(), name);
    return &opening.reader->base;
}

static int read_set(void *context)
{
    struct papi_reader *reader = context;

    return reader->papi->read(reader->set, reader->values);
}

static void papi_read(struct apapi_reader *base, struct apapi_reading *readings)
{
    struct papi_reader *reader = (struct papi_reader *)base;
    int error = papi_exit_guard(read_set, reader) == PAPI_OK ? 0 : EIO;

    for (size_t i = 0; i < base->count; i++) {
        readings[i].error = error;
        readings[i].raw = (uint64_t)reader->values[i];
    }
}

struct description {
    const struct papi_reader *reader;
    size_t index;
    char *text;
    size_t size;
};

static int papi_describe_event(void *context)
{
    const struct description *wanted = context;
    const struct papi_reader *reader = wanted->reader;
    const char *when = papi_event_is_named_only(reader->events[wanted->index].name)
                           ? "measured only if an event list names it: "
                           : "";
    PAPI_event_info_t info;

    if (reader->papi->get_event_info(reader->codes[wanted->index], &info) == PAPI_OK) {
        snprintf(wanted->text, wanted->size, "%s%.*s", when, (int)strcspn(info.long_descr, "\n"),
                 info.long_descr);
    }
    return 0;
}

static void papi_describe(const struct apapi_reader *base, size_t index, char *text, size_t size)
{
    struct description wanted = {(const struct papi_reader *)base, index, text, size};

    *text = '\0';
    papi_thread_call(papi_describe_event, &wanted, NULL);
}

const struct apapi_source apapi_source_papi = {
    .name = "papi",
    .probe = papi_probe,
    .want = papi_library_want,
    .list = papi_list,
    .open = papi_open,
    .read = papi_read,
    .describe = papi_describe,
    .close = papi_close,
};
