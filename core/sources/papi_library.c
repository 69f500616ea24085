/* SPDX-License-Identifier: BSD-3-Clause */
#include "sources/papi_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define WANTED_MAX 32

/* A host program may have a PAPI of its own: ours must not resolve to it. Sanitizers cannot. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LOAD_FLAGS (RTLD_NOW | RTLD_LOCAL)
#else
#define LOAD_FLAGS (RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND)
#endif

static struct papi_library library;
static void *handle;
static int users;
static char wanted[WANTED_MAX][PAPI_MAX_STR_LEN];
static size_t wanted_count;

static const struct symbol {
    const char *name;
    size_t offset;
} symbols[] = {
#define SYMBOL(name)                                                                               \
    {                                                                                              \
        "PAPI_" #name, offsetof(struct papi_library, name)                                         \
    }
    SYMBOL(library_init),
    SYMBOL(shutdown),
    SYMBOL(num_components),
    SYMBOL(get_component_info),
    SYMBOL(disable_component),
    SYMBOL(enum_cmp_event),
    SYMBOL(event_code_to_name),
    SYMBOL(get_event_info),
    SYMBOL(create_eventset),
    SYMBOL(add_named_event),
    SYMBOL(start),
    SYMBOL(read),
    SYMBOL(stop),
    SYMBOL(cleanup_eventset),
    SYMBOL(destroy_eventset),
    SYMBOL(strerror),
#undef SYMBOL
};

static int resolve_symbols(struct apapi_error *err)
{
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *address = dlsym(handle, symbols[i].name);

        if (!address) {
            return apapi_fail(err, ENOSYS, APAPI_PAPI_LIBRARY " has no %s", symbols[i].name);
        }
        memcpy((char *)&library + symbols[i].offset, &address, sizeof address);
    }
    return 0;
}

const struct papi_library *papi_library_load(struct apapi_error *err)
{
    if (handle) {
        return &library;
    }
    handle = dlopen(APAPI_PAPI_LIBRARY, LOAD_FLAGS);
    if (!handle) {
        apapi_fail(err, ENOSYS, "no PAPI: %s", dlerror());
        return NULL;
    }
    if (resolve_symbols(err)) {
        dlclose(handle);
        handle = NULL;
        return NULL;
    }
    return &library;
}

int papi_library_find(const struct papi_library *papi, const char *component)
{
    for (int i = 0; i < papi->num_components(); i++) {
        const PAPI_component_info_t *info = papi->get_component_info(i);

        if (info &&
            (strcmp(info->name, component) == 0 || strcmp(info->short_name, component) == 0)) {
            return i;
        }
    }
    return -1;
}

static bool is_wanted(const PAPI_component_info_t *info)
{
    for (size_t i = 0; i < wanted_count; i++) {
        if (strcmp(info->name, wanted[i]) == 0 || strcmp(info->short_name, wanted[i]) == 0) {
            return true;
        }
    }
    return false;
}

void papi_library_want(const char *component)
{
    for (size_t i = 0; i < wanted_count; i++) {
        if (strcmp(wanted[i], component) == 0) {
            return;
        }
    }
    if (wanted_count < WANTED_MAX && strlen(component) < sizeof *wanted) {
        strcpy(wanted[wanted_count++], component);
    }
}

static int initialize(const struct papi_library *papi, struct apapi_error *err)
{
    int version;

    for (int i = 0; i < papi->num_components(); i++) {
        const PAPI_component_info_t *info = papi->get_component_info(i);

        if (info && !is_wanted(info)) {
            papi->disable_component(i);
        }
    }
    version = papi->library_init(PAPI_VER_CURRENT);
    if (version != PAPI_VER_CURRENT) {
        return apapi_fail(err, ENOSYS, "%s does not start: %s", papi_library_version(),
                          version > 0 ? "another version is installed" : papi->strerror(version));
    }
    return 0;
}

/* Components cannot be enabled later. */
static int check_enabled(const struct papi_library *papi, int index, const char *component,
                         struct apapi_error *err)
{
    const PAPI_component_info_t *info = papi->get_component_info(index);

    if (info->disabled && info->disabled != PAPI_EDELAY_INIT) {
        return apapi_fail(err, ENODEV, "PAPI's %s is disabled: %.160s", component,
                          *info->disabled_reason ? info->disabled_reason : "no reason given");
    }
    return 0;
}

int papi_library_enter(const struct papi_library *papi, const char *component,
                       struct apapi_error *err)
{
    int index = papi_library_find(papi, component);

    if (index < 0) {
        return apapi_fail(err, ENOENT, "%s has no component '%s'", papi_library_version(),
                          component);
    }
    papi_library_want(component);
    if (users == 0 && initialize(papi, err)) {
        return -1;
    }
    users++;
    if (check_enabled(papi, index, component, err)) {
        papi_library_leave(papi);
        return -1;
    }
    return 0;
}

void papi_library_leave(const struct papi_library *papi)
{
    int saved = errno;

    if (--users == 0) {
        struct sigaction profiling; /* which the shutdown sets to be ignored */

        sigaction(SIGPROF, NULL, &profiling);
        papi->shutdown();
        sigaction(SIGPROF, &profiling, NULL);
        wanted_count = 0;
    }
    errno = saved;
}

const char *papi_library_version(void)
{
    static char text[32];

    snprintf(text, sizeof text, "PAPI %d.%d.%d", PAPI_VERSION_MAJOR(PAPI_VERSION),
             PAPI_VERSION_MINOR(PAPI_VERSION), PAPI_VERSION_REVISION(PAPI_VERSION));
    return text;
}
