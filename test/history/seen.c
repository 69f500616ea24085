/* SPDX-License-Identifier: BSD-3-Clause */
#include "history/seen.h"

#include <math.h>

#define SLACK_UPDATES 3    /* what is learned of an update may be longer than it is */
#define UNKNOWN_NS 1000000 /* an update that no source states is taken for this at first */
#define LATE_UPDATES 3     /* so many it may stand still before it is believed to */
#define DOUBTED_FOR 3      /* readings until a counter's doubts are over */

uint64_t seen_slack_ns(const struct seen *seen)
{
    uint64_t update_ns = seen->meter->update_ns;

    return seen->meter->doubles ? 0
                                : SLACK_UPDATES * (update_ns > UNKNOWN_NS ? update_ns : UNKNOWN_NS);
}

static double range_j(const struct seen *seen)
{
    return seen->meter->range_max ? ((double)seen->meter->range_max + 1) * seen->meter->scale
                                  : INFINITY;
}

/* The difference of two raw values [J]; NAN: no increment. */
static double apparent_j(const struct seen *seen, uint64_t before, uint64_t now)
{
    uint64_t range = seen->meter->range_max + 1; /* 0: it never wraps */

    if (seen->meter->range_max) {
        before %= range;
        now %= range;
        now += now < before ? range : 0;
    }
    return now >= before ? (double)(now - before) * seen->meter->scale : NAN;
}

static double plausible_j(const struct seen *seen, uint64_t ns)
{
    return apapi_domain_max_w(seen->meter->domain) * ((double)ns / 1e9) + 2 * seen->meter->scale;
}

/* Count an increment from before a break, if the reading looks like one, and what it would be. */
static void seen_try_base(struct seen *seen, struct seen_base *base,
                          const struct seen_reading *reading)
{
    double apparent = apparent_j(seen, base->reading.count, reading->count);

    if (apparent <= plausible_j(seen, reading->end_ns - base->since_ns + seen_slack_ns(seen))) {
        seen->disguised = true;
        double missing = power_between_j(seen->power, base->reading.value_ns, reading->value_ns);

        seen->excess_j += fmax(0, apparent - base->excess_j);
        seen->missing_j += fmax(0, missing - base->missing_j);
        base->excess_j = fmax(base->excess_j, apparent);
        base->missing_j = fmax(base->missing_j, missing);
    }
}

static void seen_try_bases(struct seen *seen, const struct seen_reading *reading)
{
    size_t kept = 0;

    for (size_t i = 0; i < seen->base_count; i++) {
        struct seen_base base = seen->bases[i];

        seen_try_base(seen, &base, reading);
        if (--base.left > 0) {
            seen->bases[kept++] = base;
        }
    }
    seen->base_count = kept;
}

/* A counter of doubles is refused while it is implausible; but not if it goes back. */
static void seen_break(struct seen *seen, const struct seen_reading *reading)
{
    bool reopened = reading->opened != seen->last.opened;
    bool goes_back = seen->meter->doubles && reading->count < seen->last.count;

    seen->breaks++;
    seen->returns += reopened;
    seen->unsure |= seen->base_count > 0; /* there are two breaks at once */
    if (seen->doubt.left > 0 && seen->base_count < SEEN_BASES) {
        seen->bases[seen->base_count++] = seen->doubt;
    }
    if (!goes_back && seen->base_count < SEEN_BASES) {
        seen->bases[seen->base_count++] =
            (struct seen_base){.reading = seen->last,
                               .since_ns = seen->ran_ns,
                               .left = reopened               ? 1
                                       : seen->meter->doubles ? UINT32_MAX
                                                              : DOUBTED_FOR};
    }
}

/* @return whether a whole wrap may be hidden in that time */
static bool seen_hides(struct seen *seen, uint64_t ns)
{
    bool hides = plausible_j(seen, ns + seen_slack_ns(seen)) >= range_j(seen);

    seen->unsure |= hides && plausible_j(seen, ns) <= range_j(seen);
    return hides;
}

/* Count an increment as the session sees it: whole wraps are lost. */
static void seen_count(struct seen *seen, uint64_t increment)
{
    uint64_t max = seen->meter->range_max;
    uint64_t visible = max ? increment % (max + 1) : increment;

    seen->moved += visible;
    seen->wraps += max && seen->last.count % (max + 1) + visible > max;
    seen->missing_j += (double)(increment - visible) * seen->meter->scale;
}

/* Doubt an increment, and the following ones with it. A whole wrap may be lost. */
static void seen_doubt(struct seen *seen, bool hides)
{
    seen->unsure = true;
    seen->missing_j += hides ? range_j(seen) : 0;
    seen->doubt =
        (struct seen_base){.reading = seen->last, .since_ns = seen->ran_ns, .left = DOUBTED_FOR};
}

/*
 * Between two readings of the same counter. If it was opened again, it is unknown whether it is the
 * same as before. @return whether the session must begin again with it
 */
static bool seen_continue(struct seen *seen, const struct seen_reading *reading)
{
    uint64_t increment = reading->count - seen->last.count;
    uint64_t span_ns = reading->end_ns - seen->last.begin_ns;
    bool hides = seen_hides(seen, span_ns), reopened = reading->opened != seen->last.opened;

    if ((double)increment * seen->meter->scale > plausible_j(seen, span_ns)) {
        seen_doubt(seen, hides || seen_hides(seen, reading->end_ns - seen->ran_ns));
    }
    seen->unsure |= reopened && seen->base_count > 0;
    if (reopened && (hides || increment == 0)) {
        seen->restarts++;
        return true;
    }
    hides |= seen->still && increment > 0 && seen_hides(seen, reading->end_ns - seen->ran_ns);
    seen->gaps += hides;
    seen_count(seen, increment);
    return false;
}

static void seen_move(struct seen *seen, const struct seen_reading *reading)
{
    bool broken = reading->life != seen->last.life || reading->count < seen->last.count;
    bool begins = broken;

    seen->doubt.left -= seen->doubt.left > 0;
    if (broken) {
        seen_break(seen, reading);
    } else {
        begins = seen_continue(seen, reading);
    }
    seen_try_bases(seen, reading);
    seen->still = !begins && reading->count == seen->last.count;
    if (!seen->still && seen->first_move_ns == 0) {
        seen->first_move_ns = reading->value_ns;
    }
    if (!seen->still && !begins) {
        /* readings that take long or are late can make a counter seem to stand still */
        seen->moves_late |= seen->begun_ns > 0 && seen->last.end_ns - seen->begun_ns >
                                                      LATE_UPDATES * seen->meter->update_ns;
        seen->begun_ns = 0;
    }
    seen->begun_ns = begins ? reading->end_ns : seen->begun_ns;
    if (!seen->still) {
        seen->ran_ns = begins && !seen->disguised ? reading->begin_ns : seen->last.begin_ns;
    }
}

void seen_fail(struct seen *seen)
{
    seen->failed++;
    seen->lost = true;
}

/* @return the power as the gauge shows it [W]. */
static double seen_power_w(const struct seen *seen, uint64_t at_ns)
{
    double scale = seen->meter->scale;

    return floor(power_at_w(seen->power, at_ns) / scale + 0.5) * scale;
}

static void seen_join(struct seen *seen, const struct seen_reading *reading)
{
    double power_w = seen_power_w(seen, reading->value_ns);

    if (seen->good > 0 && !seen->lost) {
        uint64_t ns = reading->end_ns - seen->last.end_ns;

        seen->joined_ns += ns;
        seen->joined_j += (seen->last_w + power_w) / 2 * ((double)ns / 1e9);
    }
    seen->last_w = power_w;
}

void seen_add(struct seen *seen, const struct seen_reading *reading)
{
    uint64_t span_ns = reading->end_ns - seen->last.begin_ns;

    if (seen->meter->gauge) {
        seen_join(seen, reading);
    }
    seen->lost = false;
    if (seen->good++ == 0) {
        seen->first = *reading;
        seen->ran_ns = reading->begin_ns;
        seen->begun_ns = reading->end_ns;
    } else {
        seen->widest_ns = span_ns > seen->widest_ns ? span_ns : seen->widest_ns;
        if (!seen->meter->gauge) {
            seen_move(seen, reading);
        }
    }
    seen->last = *reading;
}
