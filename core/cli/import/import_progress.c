/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/import/import_progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

#define WIDTH 40
#define REDRAW_NS 200000000

struct import_progress import_progress_begin(uint64_t total_bytes)
{
    return (struct import_progress){.shown = isatty(STDERR_FILENO) == 1,
                                    .total_bytes = total_bytes};
}

static void import_progress_draw(const struct import_progress *progress, size_t records)
{
    double share =
        progress->total_bytes ? (double)progress->done_bytes / (double)progress->total_bytes : 0;
    char bar[WIDTH + 1];
    int filled;

    share = share > 1 ? 1 : share;
    filled = (int)(share * WIDTH);
    memset(bar, '.', WIDTH);
    memset(bar, '#', (size_t)filled);
    bar[WIDTH] = '\0';
    fprintf(stderr, "\r[%s] %3.0f %%, %zu records", bar, share * 100, records);
}

void import_progress_add(struct import_progress *progress, uint64_t bytes, size_t records)
{
    int64_t now;

    progress->done_bytes += bytes;
    if (!progress->shown) {
        return;
    }
    now = (int64_t)clock_monotonic_ns();
    if (now >= progress->next_ns) {
        progress->next_ns = now + REDRAW_NS;
        import_progress_draw(progress, records);
    }
}

void import_progress_end(const struct import_progress *progress)
{
    if (progress->shown) {
        fputs("\r\033[K", stderr);
    }
}
