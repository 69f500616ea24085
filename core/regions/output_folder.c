/* SPDX-License-Identifier: BSD-3-Clause */
#include "regions/output_folder.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#define NAME "papi_hl_output"
#define LOCK_TRIES 100
#define LOCK_WAIT_NS 10000000
#define NAME_WAIT_NS 100000000

void output_file_path(char path[OUTPUT_FILE_SIZE], const char *folder, uint32_t rank)
{
    snprintf(path, OUTPUT_FILE_SIZE, "%s/rank_%06u.json", folder, rank);
}

void output_folder_run(char run[OUTPUT_RUN_SIZE])
{
    const char *space = secure_getenv("PMIX_NAMESPACE");
    const char *job = secure_getenv("SLURM_JOB_ID"), *step = secure_getenv("SLURM_STEP_ID");

    if (space) {
        snprintf(run, OUTPUT_RUN_SIZE, "pmix %.100s", space);
    } else if (job && step) {
        snprintf(run, OUTPUT_RUN_SIZE, "slurm %.50s.%.50s", job, step);
    } else {
        snprintf(run, OUTPUT_RUN_SIZE, "process %d %llu", (int)getpid(),
                 (unsigned long long)clock_monotonic_ns());
    }
    for (char *byte = run; *byte; byte++) {
        *byte = isalnum((unsigned char)*byte) || strchr(" .-@", *byte) ? *byte : '_';
    }
}

static int output_folder_make_parents(const char *path)
{
    char part[OUTPUT_PATH_SIZE];

    for (const char *end = path; *end; end++) {
        if (end > path && (end[0] == '/' || end[1] == '\0')) {
            snprintf(part, sizeof part, "%.*s", (int)(end - path + (end[0] != '/')), path);
            if (mkdir(part, 0777) && errno != EEXIST) {
                return -1;
            }
        }
    }
    return 0;
}

static bool output_folder_is_rank(const char *name)
{
    return strncmp(name, "rank_", 5) == 0;
}

/* @param text  of a rank's file: its first bytes. "": it says nothing of its run */
static void output_folder_find_run(const char *text, char run[OUTPUT_RUN_SIZE])
{
    const char *begin = strstr(text, OUTPUT_RUN);

    begin = begin ? begin + strlen(OUTPUT_RUN) : "";
    snprintf(run, OUTPUT_RUN_SIZE, "%.*s", (int)strcspn(begin, "\""), begin);
}

/* @return false: it has no text yet, as another rank is about to write it. */
static bool output_folder_read_run(int folder, const char *name, char run[OUTPUT_RUN_SIZE])
{
    int file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    char text[512];
    ssize_t size = file >= 0 ? read(file, text, sizeof text - 1) : 0;

    text[size > 0 ? size : 0] = '\0';
    if (size > 0) {
        output_folder_find_run(text, run);
    }
    if (file >= 0) {
        close(file);
    }
    return size > 0;
}

/* A folder without a text is of any run: another rank has just made it. Takes `folder`. */
static bool output_folder_is_of(int folder, const char *run)
{
    DIR *list = fdopendir(folder);
    const struct dirent *entry;
    char found[OUTPUT_RUN_SIZE];

    if (!list) {
        close(folder);
        return false;
    }
    snprintf(found, sizeof found, "%s", run);
    while ((entry = readdir(list))) {
        if (output_folder_is_rank(entry->d_name) &&
            output_folder_read_run(dirfd(list), entry->d_name, found)) {
            break;
        }
    }
    closedir(list);
    return strcmp(found, run) == 0;
}

/* @param above  folder that it is in. 0: there is none any more; -1 */
static int output_folder_rename(int above)
{
    char name[64];
    time_t now = time(NULL);
    struct tm local;

    if (!localtime_r(&now, &local)) {
        return -1;
    }
    snprintf(name, sizeof name, NAME "-%04d%02d%02d-%02d%02d%02d", local.tm_year + 1900,
             local.tm_mon + 1, local.tm_mday, local.tm_hour, local.tm_min, local.tm_sec);
    return renameat2(above, NAME, above, name, RENAME_NOREPLACE);
}

/* The names of two runs in one second differ by nothing: the later one waits for its own. */
static int output_folder_move_away(int above)
{
    const struct timespec tenth = {.tv_nsec = NAME_WAIT_NS};

    for (int i = 0; i < 20; i++) {
        if (output_folder_rename(above) == 0 || errno == ENOENT) {
            return 0;
        }
        if (errno != EEXIST) {
            return -1;
        }
        nanosleep(&tenth, NULL);
    }
    return -1;
}

static int output_folder_take(int above, const char *run)
{
    int folder = openat(above, NAME, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (folder >= 0) {
        if (output_folder_is_of(folder, run)) {
            return 0;
        }
        if (output_folder_move_away(above)) {
            return -1;
        }
    }
    return mkdirat(above, NAME, 0777);
}

/* Two ranks at a time would move each other's folder away. One that does not get the lock goes on.
 */
static void output_folder_lock(int above)
{
    const struct timespec wait = {.tv_nsec = LOCK_WAIT_NS};

    for (int i = 0; i < LOCK_TRIES && flock(above, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK;
         i++) {
        nanosleep(&wait, NULL);
    }
}

int output_folder_make(const char *run, char folder[OUTPUT_PATH_SIZE])
{
    const char *path = secure_getenv("PAPI_OUTPUT_DIRECTORY");
    int above, result;

    if (getauxval(AT_SECURE)) { /* the folder that the caller is in is no better */
        errno = EPERM;
        return -1;
    }
    path = path && *path ? path : ".";
    if (strlen(path) + sizeof "/" NAME > OUTPUT_PATH_SIZE) {
        errno = ENAMETOOLONG;
        return -1;
    }
    above = output_folder_make_parents(path) ? -1 : open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (above < 0) {
        return -1;
    }
    output_folder_lock(above);
    result = output_folder_take(above, run);
    close(above);
    snprintf(folder, OUTPUT_PATH_SIZE, "%s/" NAME, path);
    return result;
}
