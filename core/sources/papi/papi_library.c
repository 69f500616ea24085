/* SPDX-License-Identifier: BSD-3-Clause */
#include "sources/papi/papi_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/shared_library.h"
#include "sources/papi/papi_exit.h"
#include "sources/papi/papi_needs.h"
#include "sources/sources.h"

#define WANTED_MAX 32
#define UNFINISHED_MAX 32

/* A host program may have its own PAPI: ours must not resolve to it. Sanitizers cannot do that. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LOAD_FLAGS (RTLD_NOW | RTLD_LOCAL)
#else
#define LOAD_FLAGS (RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND)
#endif

static struct papi_library library;
static void *handle;
static int users;
static bool started;
static bool unusable; /* PAPI called exit() while it was started or shut down */
static char wanted[WANTED_MAX][PAPI_MAX_STR_LEN];
static size_t wanted_count;
static bool
    outdated; /* more components are wanted than PAPI was started with, or PAPI is in disorder */
static int unfinished[UNFINISHED_MAX]; /* event sets that could not be destroyed */
static size_t unfinished_count;

static const struct library_symbol symbols[] = {
#define FUNCTION(name) LIBRARY_SYMBOL("PAPI_" #name, struct papi_library, name),
    PAPI_LIBRARY_FUNCTIONS(FUNCTION)
#undef FUNCTION
        {NULL, 0}};

/* Library of a site's own PAPI, or the one of this build. */
static const char *library_name(void)
{
    const char *name = source_setting("papi", "library");

    return name && *name ? name : APAPI_PAPI_LIBRARY;
}

const struct papi_library *papi_library_load(struct apapi_error *err)
{
    if (handle) {
        return &library;
    }
    handle = dlopen(library_name(), LOAD_FLAGS);
    if (!handle) {
        apapi_fail(err, ENOSYS, "no PAPI: %s", dlerror());
        return NULL;
    }
    if (shared_library_resolve(handle, library_name(), symbols, &library, err) ||
        papi_exit_catch(handle, err)) {
        dlclose(handle);
        handle = NULL;
        return NULL;
    }
    return &library;
}

int papi_library_resolve(const struct library_symbol *further, void *functions,
                         struct apapi_error *err)
{
    return shared_library_resolve(handle, library_name(), further, functions, err);
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
        outdated = true;
    }
}

static void disable_unwanted(const struct papi_library *papi)
{
    for (int i = 0; i < papi->num_components(); i++) {
        const PAPI_component_info_t *info = papi->get_component_info(i);

        if (info && (!is_wanted(info) || papi_needs_check(info->name, NULL))) {
            papi->disable_component(i);
        }
    }
}

static void shut_down(const struct papi_library *papi)
{
    struct sigaction profiling; /* PAPI sets it to be ignored */

    sigaction(SIGPROF, NULL, &profiling);
    papi->shutdown();
    sigaction(SIGPROF, &profiling, NULL);
}

static int give_back(void *context)
{
    int set = *(const int *)context;

    library.stop(set, NULL);
    library.cleanup_eventset(set);
    library.destroy_eventset(&set);
    return 0;
}

/* Stopping reads once more. If that would end the process, the event set is left as it is. */
static bool papi_library_finish(int set)
{
    return papi_exit_guard(give_back, &set) != PAPI_EXITED;
}

static void finish_rest(void)
{
    size_t kept = 0;

    for (size_t i = 0; i < unfinished_count; i++) {
        if (!papi_library_finish(unfinished[i])) {
            unfinished[kept++] = unfinished[i];
        }
    }
    unfinished_count = kept;
}

static int initialize(const struct papi_library *papi, struct apapi_error *err)
{
    int version;

    if (unusable) {
        return apapi_fail(err, ENOSYS, "%s cannot be started again in this process",
                          papi_library_version());
    }
    if (unfinished_count > 0) { /* a shutdown stops it once more */
        return apapi_fail(err, EIO, "%s cannot stop its latest measurement",
                          papi_library_version());
    }
    unusable = true; /* until all of this has returned */
    if (started) {
        shut_down(papi);
    }
    disable_unwanted(papi);
    version = papi->library_init(PAPI_VER_CURRENT);
    unusable = false;
    started = version == PAPI_VER_CURRENT;
    outdated = false;
    if (started) {
        papi->thread_init(pthread_self);
    }
    return started
               ? 0
               : apapi_fail(err, ENOSYS, "%s does not start: %s", papi_library_version(),
                            version > 0 ? "another version is installed" : papi->strerror(version));
}

/* Some components look for their hardware only when asked for their first event. */
static void end_delay(const struct papi_library *papi, int index)
{
    int code = PAPI_NATIVE_MASK;

    if (papi->get_component_info(index)->disabled == PAPI_EDELAY_INIT) {
        papi->enum_cmp_event(&code, PAPI_ENUM_FIRST, index);
    }
}

/* Components cannot be enabled later. */
static int check_enabled(const struct papi_library *papi, int index, const char *component,
                         struct apapi_error *err)
{
    const PAPI_component_info_t *info = papi->get_component_info(index);
    const char *reason = *info->disabled_reason ? info->disabled_reason : "no reason given";

    if (info->disabled) {
        return apapi_fail(err, strcasestr(reason, "permission") ? EACCES : ENODEV,
                          "PAPI's %s is disabled: %.140s", component, reason);
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
    if (papi_needs_check(papi->get_component_info(index)->name, err)) {
        return -1;
    }
    papi_library_want(component);
    finish_rest();
    if ((!started || (users == 0 && outdated)) && initialize(papi, err)) {
        return -1;
    }
    papi->register_thread(); /* needed once, and again in a child of fork() */
    end_delay(papi, index);
    if (check_enabled(papi, index, component, err)) {
        return -1;
    }
    users++;
    return 0;
}

void papi_library_leave(int set)
{
    if (set != PAPI_NULL && !papi_library_finish(set)) {
        outdated = true;
        if (unfinished_count < UNFINISHED_MAX) {
            unfinished[unfinished_count++] = set;
        }
    }
    users--;
}

void papi_library_abandon(void)
{
    outdated = true;
    users--;
}

const char *papi_library_version(void)
{
    static char text[32];

    snprintf(text, sizeof text, "PAPI %d.%d.%d", PAPI_VERSION_MAJOR(PAPI_VERSION),
             PAPI_VERSION_MINOR(PAPI_VERSION), PAPI_VERSION_REVISION(PAPI_VERSION));
    return text;
}
