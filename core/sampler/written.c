/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampler/written.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apapi/scan.h"
#include "base/clock.h"
#include "base/files.h"
#include "record/end.h"

#define DAY_NS (INT64_C(86400) * 1000000000)

struct search {
    const struct apapi_record *wanted;
    bool found;
};

static int written_compare(const struct apapi_record *record, const char *line, size_t size,
                           void *context)
{
    struct search *search = context;

    (void)line;
    (void)size;
    search->found = search->found || (strcmp(record->id.step, search->wanted->id.step) == 0 &&
                                      record->measurement.start_unix_ns ==
                                          search->wanted->measurement.start_unix_ns);
    return 0;
}

static int search_open(int file, const char *path, struct search *search, struct apapi_error *err)
{
    const struct apapi_scan_filter filter = {.jobs = &search->wanted->id.job, .job_count = 1};
    const struct apapi_scan_sink sink = {.record = written_compare, .context = search};
    struct apapi_scan *scan = apapi_scan_create(&filter, &sink, err);
    int result = scan ? apapi_scan_stream(scan, file, path, err) : -1;

    apapi_scan_destroy(scan);
    return result;
}

/* As the store opens it, but creates nothing. @return -1 with errno. */
static int open_day(int root, const char *day, const char *path, struct apapi_error *err)
{
    struct stat status;
    int folder = openat(root, day, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), file;

    if (folder < 0) {
        return apapi_fail(err, errno, "%s: %s", path, strerror(errno));
    }
    file = folder_open_file(folder, path, O_RDONLY, &status, err);
    folder_close(folder);
    return file;
}

static int search_day(const char *dir, const char *node, int64_t unix_ns, struct search *search,
                      struct apapi_error *err)
{
    char day[TIMESTAMP_SIZE], path[PATH_MAX];
    int root, file, result;

    timestamp_day(day, sizeof day, unix_ns);
    if (folder_check_name(node) ||
        snprintf(path, sizeof path, "%s/%s/%s.jsonl", dir, day, node) >= (int)sizeof path) {
        return apapi_fail(err, EINVAL, "%s: no name for a file of node %.64s", dir, node);
    }
    root = folder_open(dir, err);
    if (root < 0) {
        return -1;
    }
    file = open_day(root, day, path, err);
    folder_close(root);
    if (file < 0) {
        return errno == ENOENT ? 0 : -1;
    }
    result = search_open(file, path, search, err);
    if (result == 0 && search->found && fsync(file)) {
        result = apapi_fail(err, errno, "%s: %s", path, strerror(errno));
    }
    folder_close(file);
    return result;
}

int written_find(const char *acct_dir, const char *node, const struct apapi_record *record,
                 struct apapi_error *err)
{
    struct search search = {.wanted = record};
    int64_t end_ns = record_end_ns(&record->measurement);

    if (search_day(acct_dir, node, end_ns, &search, err) ||
        (end_ns < INT64_MAX - DAY_NS && !search.found &&
         search_day(acct_dir, node, end_ns + DAY_NS, &search, err))) {
        return -1;
    }
    return search.found;
}
