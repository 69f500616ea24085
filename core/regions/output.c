/* SPDX-License-Identifier: BSD-3-Clause */
#include "regions/output.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/write_all.h"
#include "regions/output_folder.h"
#include "regions/output_text.h"
#include "regions/program.h"
#include "regions/rank.h"

#define UNKNOWN_RANKS 1000000 /* a number of six digits stands for a rank that is not known */

static bool output_wanted;
static pthread_mutex_t output_lock = PTHREAD_MUTEX_INITIALIZER;
static pid_t output_owner; /* of `output_path`, which a child of a fork has not */
static char output_path[OUTPUT_FILE_SIZE];
static char output_run[OUTPUT_RUN_SIZE];

/* In the child of a fork: the lock may have been held. The run is the parent's. */
static void output_unlock(void)
{
    pthread_mutex_init(&output_lock, NULL);
}

static void output_want_once(void)
{
    output_folder_run(output_run);
    pthread_atfork(NULL, NULL, output_unlock);
    program_want();
    __atomic_store_n(&output_wanted, true, __ATOMIC_RELEASE);
}

void output_want(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, output_want_once);
}

bool output_is_wanted(void)
{
    return __atomic_load_n(&output_wanted, __ATOMIC_ACQUIRE);
}

void output_want_if_asked(void)
{
    if (!output_is_wanted() && (secure_getenv("PAPI_OUTPUT_DIRECTORY") ||
                                secure_getenv("PAPI_REPORT") || secure_getenv("PAPI_EVENTS"))) {
        output_want();
    }
}

/* A file above the limit would be a signal to the program. */
static bool output_may_be_written(size_t size)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur >= size;
}

static int output_save(const char *path, int flags, const char *text, size_t size)
{
    int file = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | flags, 0666);
    int result;

    if (file < 0) {
        return -1;
    }
    result = write_all(file, text, size);
    return close(file) || result ? -1 : 0;
}

/* A number that no other process of the folder has taken. */
static int output_save_unknown(const char *folder, const char *text, size_t size)
{
    for (int i = 0; i < 100; i++) {
        output_file_path(output_path, folder, (uint32_t)(getpid() + i) % UNKNOWN_RANKS);
        if (output_save(output_path, O_EXCL, text, size) == 0) {
            return 0;
        }
        if (errno != EEXIST) {
            return -1;
        }
    }
    return -1;
}

/* A second program of a rank, or the child of a fork, must not replace the first one's file. */
static int output_save_first(const char *text, size_t size)
{
    uint32_t rank = program.page->head.rank;
    char folder[OUTPUT_PATH_SIZE];
    int result = -1;

    if (output_folder_make(output_run, folder)) {
        return -1;
    }
    output_owner = getpid();
    if (rank != RANK_UNKNOWN) {
        output_file_path(output_path, folder, rank);
        result = output_save(output_path, O_EXCL, text, size);
    }
    return rank == RANK_UNKNOWN || (result && errno == EEXIST)
               ? output_save_unknown(folder, text, size)
               : result;
}

static int output_save_all(const char *text, size_t size)
{
    if (!output_may_be_written(size)) {
        errno = EFBIG;
        return -1;
    }
    return output_owner == getpid() ? output_save(output_path, O_TRUNC, text, size)
                                    : output_save_first(text, size);
}

static int output_write_now(bool report)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    int result;

    if (!stream) {
        return -1;
    }
    output_text(stream, output_run);
    if (fclose(stream)) {
        free(text);
        return -1;
    }
    result = output_save_all(text, size);
    if (report && secure_getenv("PAPI_REPORT")) {
        fputs(text, stdout);
    }
    free(text);
    return result;
}

static int output_write_if_wanted(bool report)
{
    int result;

    if (!output_is_wanted() || !output_has_regions()) {
        return 0;
    }
    pthread_mutex_lock(&output_lock);
    result = output_write_now(report);
    pthread_mutex_unlock(&output_lock);
    return result;
}

int output_write(void)
{
    return output_write_if_wanted(false);
}

void output_end(void)
{
    output_write_if_wanted(true);
}
