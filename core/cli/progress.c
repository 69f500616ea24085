/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/progress.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"

#define WIDTH 24
#define FIRST_NS UINT64_C(1000000000)
#define REDRAW_NS UINT64_C(200000000)

struct progress progress_begin(const struct progress_input *input)
{
    uint64_t now_ns = clock_monotonic_ns();

    return (struct progress){.input = *input,
                             .shown = isatty(STDERR_FILENO) == 1,
                             .begin_ns = now_ns,
                             .next_ns = now_ns + FIRST_NS};
}

static bool add_size(const struct apapi_scan_file *file, uint64_t *offset, void *context)
{
    (void)offset;
    *(uint64_t *)context += file->size;
    return false;
}

uint64_t progress_size(const struct apapi_scan_filter *filter, const char *path)
{
    uint64_t size = 0;
    const struct apapi_scan_sink sink = {.begin = add_size, .context = &size};
    struct apapi_scan *scan;
    struct stat status;

    if (strcmp(path, "-") == 0 || stat(path, &status) < 0) {
        return 0;
    }
    if (!S_ISDIR(status.st_mode)) {
        return S_ISREG(status.st_mode) ? (uint64_t)status.st_size : 0;
    }
    scan = apapi_scan_create(filter, &sink, NULL);
    if (scan) {
        apapi_scan_folder(scan, path, NULL);
        apapi_scan_destroy(scan);
    }
    return size;
}

static void progress_draw(const struct progress *progress, uint64_t now_ns)
{
    double elapsed_s = duration(now_ns - progress->begin_ns) / NS_PER_S;
    double done = (double)(progress->done - progress->known);
    double all = (double)(progress->total - progress->known), share = done / all;
    char bar[WIDTH + 1];

    fputc('\r', stderr);
    if (progress->total > progress->known) {
        share = share > 1 ? 1 : share;
        memset(bar, '.', WIDTH);
        memset(bar, '#', (size_t)(share * WIDTH));
        bar[WIDTH] = '\0';
        fprintf(stderr, "[%s] %3.0f %%, ", bar, share * 100);
    }
    fprintf(stderr, "%zu records, %.0f/s", progress->records,
            (double)progress->records / elapsed_s);
    if (progress->total > progress->known && share > 0) {
        double left_s = elapsed_s / share - elapsed_s;
        double unit_s = left_s < 100 ? 1 : left_s < 6000 ? 60 : 3600;

        fprintf(stderr, ", %.0f %s left", ceil(left_s / unit_s),
                unit_s < 60     ? "s"
                : unit_s < 3600 ? "min"
                                : "h");
    }
    fputs("\033[K", stderr);
}

void progress_add(struct progress *progress, uint64_t *left, uint64_t bytes, size_t records)
{
    const struct progress_input *input = &progress->input;
    uint64_t now_ns;

    bytes = bytes < *left ? bytes : *left;
    *left -= bytes;
    progress->done += bytes;
    progress->records += records;
    if (!progress->shown) {
        return;
    }
    now_ns = clock_monotonic_ns();
    if (now_ns >= progress->next_ns) {
        if (progress->total == 0) {
            /* Not before there is a line: most readings are shorter. */
            for (size_t i = 0; i < input->file_count; i++) {
                progress->total += progress_size(input->filter, input->files[i]);
            }
            if (input->file_count == 0 && input->dir) {
                progress->total = progress_size(input->filter, input->dir);
            }
        }
        progress->drawn = true;
        progress->next_ns = now_ns + REDRAW_NS;
        progress_draw(progress, now_ns);
    }
}

void progress_erase(struct progress *progress)
{
    int saved_errno = errno;

    if (progress->drawn) {
        fputs("\r\033[K", stderr);
    }
    progress->drawn = false;
    errno = saved_errno;
}
