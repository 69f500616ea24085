/* SPDX-License-Identifier: BSD-3-Clause */
#include "node/day.h"

#include <errno.h>
#include <math.h>

#include "base/duration.h"
#include "store/hours.h"

#define DAY_NS (NS_PER_S * 24 * 3600)

struct day {
    struct hour *sum;
    bool any;
};

static void day_add_sum(struct hour_sum *sum, const struct hour_sum *more)
{
    if (isnan(sum->energy_j)) {
        *sum = *more;
    } else if (!isnan(more->energy_j)) {
        sum->energy_j += more->energy_j;
        sum->steps_j += more->steps_j;
        sum->idle_j += more->idle_j;
        sum->unattributed_j += more->unattributed_j;
    }
}

static void day_add_gaps(struct hour *sum, const struct hour *hour)
{
    for (size_t i = 0; i < hour->gap_count && sum->gap_count < HOUR_GAPS_MAX; i++) {
        sum->gaps[sum->gap_count++] = hour->gaps[i];
    }
    sum->gap_total += hour->gap_total;
    sum->resets += hour->resets;
}

/* A step that ran in two hours counts in both: how many there were is not known. */
static int day_add(const struct hour *hour, void *context)
{
    struct day *day = context;
    struct hour *sum = day->sum;

    if (!day->any) {
        *sum = *hour;
        sum->steps = 0;
        day->any = true;
        return 0;
    }
    sum->end_ns = hour->end_ns > sum->end_ns ? hour->end_ns : sum->end_ns;
    sum->measured_s += hour->measured_s;
    sum->idle_w = isnan(hour->idle_w) ? sum->idle_w : hour->idle_w;
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        day_add_sum(&sum->domains[d], &hour->domains[d]);
    }
    day_add_sum(&sum->total, &hour->total);
    day_add_sum(&sum->node_meter, &hour->node_meter);
    day_add_gaps(sum, hour);
    return 0;
}

int node_day_read(const char *acct_dir, const char *node, int64_t unix_ns, struct hour *sum,
                  struct apapi_error *err)
{
    struct day day = {.sum = sum};
    int64_t from_ns = unix_ns - unix_ns % DAY_NS;
    const struct hours_sink sink = {.hour = day_add, .context = &day};
    const struct apapi_scan_filter filter = {
        .from_unix_ns = from_ns, .to_unix_ns = from_ns + DAY_NS, .nodes = node};
    struct apapi_scan_counts counts;

    if (hours_read(acct_dir, &filter, &sink, &counts, err)) {
        return -1;
    }
    return day.any ? 0 : apapi_fail(err, ENOENT, "%s has no hour of this day", node);
}
