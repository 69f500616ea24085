/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings, lists, descriptors and locks, for all sources. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/thread.h"
#include "sources/sources.h"

/* --- settings --------------------------------------------------------------------------------- */

#define SETTING_NAME_SIZE 64

static struct setting {
    char name[SETTING_NAME_SIZE]; /* its name in the environment */
    char *value;
} settings[64];

static void make_setting_name(char name[SETTING_NAME_SIZE], const char *section, const char *key)
{
    snprintf(name, SETTING_NAME_SIZE, "APAPI_%s_%s", section, key);
    for (char *letter = name; *letter; letter++) {
        *letter = (char)toupper((unsigned char)*letter);
    }
}

/* @return the setting of this name, or the first free slot; NULL: neither. */
static struct setting *find_setting(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(settings); i++) {
        if (!settings[i].value || strcmp(settings[i].name, name) == 0) {
            return &settings[i];
        }
    }
    return NULL;
}

const char *source_setting(const char *section, const char *key)
{
    char name[SETTING_NAME_SIZE];
    const char *value;
    const struct setting *setting;

    make_setting_name(name, section, key);
    value = secure_getenv(name);
    if (value) {
        return value;
    }
    setting = find_setting(name);
    return setting ? setting->value : NULL;
}

int apapi_source_set(const char *section, const char *key, const char *value)
{
    char name[SETTING_NAME_SIZE];
    struct setting *setting;
    char *copy;

    make_setting_name(name, section, key);
    setting = find_setting(name);
    if (!setting) {
        errno = ENOSPC;
        return -1;
    }
    copy = strdup(value);
    if (!copy) {
        return -1;
    }
    free(setting->value);
    strcpy(setting->name, name);
    setting->value = copy;
    return 0;
}

/* --- events that lists name ------------------------------------------------------------------- */

#define WANTED_MAX 512
#define SEPARATOR ":::"

static char *wanted[WANTED_MAX];
static atomic_size_t wanted_count;

bool wanted_events_name(const char *event)
{
    for (size_t i = 0; i < atomic_load(&wanted_count); i++) {
        if (fnmatch(wanted[i], event, 0) == 0) {
            return true;
        }
    }
    return false;
}

/* @return the length of "rapl:::" in "rapl:::PACKAGE*"; 0: the pattern begins with no component */
static size_t component_length(const char *pattern)
{
    const char *separator = strstr(pattern, SEPARATOR);

    return separator ? (size_t)(separator - pattern) + strlen(SEPARATOR) : 0;
}

void wanted_events_add(const char *pattern)
{
    size_t count = atomic_load(&wanted_count), length = component_length(pattern);
    char component[APAPI_NAME_SIZE];

    if (length == 0 || strlen(pattern) >= sizeof component || count == WANTED_MAX) {
        return;
    }
    memcpy(component, pattern, length);
    component[length] = '\0';
    if (fnmatch(pattern, component, 0) == 0 || wanted_events_name(pattern)) {
        return;
    }
    wanted[count] = strdup(pattern);
    if (wanted[count]) {
        atomic_store(&wanted_count, count + 1);
    }
}

static bool fits_any(const char *pattern, const struct apapi_reader *reader)
{
    for (size_t i = 0; i < reader->count; i++) {
        if (fnmatch(pattern, reader->events[i].name, 0) == 0) {
            return true;
        }
    }
    return false;
}

size_t wanted_events_missing(const char *component, const struct apapi_reader *reader)
{
    size_t missing = 0, length = strlen(component);

    for (size_t i = 0; i < atomic_load(&wanted_count); i++) {
        missing += strncmp(wanted[i], component, length) == 0 &&
                   component_length(wanted[i]) == length + strlen(SEPARATOR) &&
                   !fits_any(wanted[i], reader);
    }
    return missing;
}

/* --- descriptors ------------------------------------------------------------------------------ */

static bool is_meter(int folder, const char *name)
{
    static const char *const meters[] = {
        "/sys/",    "/proc/",    "/dev/cpu/", "/dev/nvidia", "/dev/dri/",
        "/dev/kfd", "/dev/ipmi", "/dev/mem",  "/dev/hsi",    "anon_inode:[perf_event]"};
    char target[64];
    ssize_t length = readlinkat(folder, name, target, sizeof target - 1);

    target[length > 0 ? length : 0] = '\0';
    for (size_t i = 0; i < COUNT_OF(meters); i++) {
        if (strncmp(target, meters[i], strlen(meters[i])) == 0) {
            return true;
        }
    }
    return false;
}

static void note_open(int folder, const char *name, unsigned char type, void *context)
{
    struct open_files *files = context;
    int fd = (int)strtol(name, NULL, 10);

    (void)type;
    if (fd != folder && fd < OPEN_FILES_MAX) {
        files->bits[fd / 64] |= UINT64_C(1) << fd % 64;
    }
}

static void mark_new(int folder, const char *name, unsigned char type, void *context)
{
    const struct open_files *before = context;
    int fd = (int)strtol(name, NULL, 10);

    (void)type;
    if (fd != folder && fd < OPEN_FILES_MAX && !(before->bits[fd / 64] >> fd % 64 & 1) &&
        is_meter(folder, name)) {
        fcntl(fd, F_SETFD, FD_CLOEXEC);
    }
}

void open_files_note(struct open_files *files)
{
    memset(files, 0, sizeof *files);
    folder_each(AT_FDCWD, "/proc/self/fd", note_open, files);
}

void open_files_close_new_on_exec(const struct open_files *before)
{
    struct open_files copy = *before;
    int saved = errno;

    folder_each(AT_FDCWD, "/proc/self/fd", mark_new, &copy);
    errno = saved;
}

/* --- one thread at a time --------------------------------------------------------------------- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t given_back = PTHREAD_COND_INITIALIZER;
static struct source_lock {
    const char *source; /* NULL: free */
    bool taken;
} locks[32];

/* Lock a source by its name, as sources of one name use one library. Names beyond the table share
 * its last lock. @return NULL: an earlier call has not returned */
static struct source_lock *take_lock(const struct apapi_source *source)
{
    const struct timespec until = thread_deadline(clock_monotonic_ns() + NS_PER_S);
    struct source_lock *lock = locks;
    bool mine;

    pthread_mutex_lock(&mutex);
    while (lock < &locks[COUNT_OF(locks) - 1] && lock->source &&
           strcmp(lock->source, source->name) != 0) {
        lock++;
    }
    lock->source = lock->source ? lock->source : source->name;
    while (lock->taken &&
           pthread_cond_clockwait(&given_back, &mutex, CLOCK_MONOTONIC, &until) != ETIMEDOUT) {
    }
    mine = !lock->taken;
    lock->taken = true;
    pthread_mutex_unlock(&mutex);
    return mine ? lock : NULL;
}

static void give_back(struct source_lock *lock)
{
    pthread_mutex_lock(&mutex);
    lock->taken = false;
    pthread_cond_broadcast(&given_back);
    pthread_mutex_unlock(&mutex);
}

struct apapi_reader *source_open(const struct apapi_source *source, const char *component,
                                 struct apapi_error *err)
{
    struct source_lock *lock = take_lock(source);
    struct apapi_reader *reader;

    if (!lock) {
        apapi_fail(err, EBUSY, "%s: an earlier call into %s has not returned", component,
                   source->name);
        return NULL;
    }
    reader = source->open(component, err);
    give_back(lock);
    return reader;
}

void source_close(struct apapi_reader *reader)
{
    struct source_lock *lock = take_lock(reader->source);

    if (lock) {
        reader->source->close(reader);
        give_back(lock);
    }
}
