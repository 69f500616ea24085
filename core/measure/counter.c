/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/counter.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"

/* The update period. */

#define UNKNOWN_NS UINT64_C(1000000) /* period if none is stated, as RAPL's counters have [ns] */
#define LONG_GAPS 3                  /* so many long gaps show a longer period ... */
#define LONG_SHARE 8                 /* ... if they are at least an eighth of all gaps */
#define SHORT_GAPS 16                /* so many gaps show a shorter period, if none is long */
#define STANDSTILL 4                 /* a gap of so many mean gaps is a standstill, no period */

static void update_restart(struct apapi_update *update)
{
    *update = (struct apapi_update){
        .stated_ns = update->stated_ns,
        .period_ns = update->stated_ns ? update->stated_ns : UNKNOWN_NS,
    };
}

static uint64_t update_mean_ns(const struct apapi_update *update)
{
    return update->sum_ns / update->gaps;
}

/* Readings are never exactly an interval apart: a small difference shows nothing. */
static bool update_is_longer(const struct apapi_update *update)
{
    return update->long_gaps >= LONG_GAPS && update->long_gaps >= update->gaps / LONG_SHARE &&
           update_mean_ns(update) / 3 > update->period_ns / 2;
}

static bool update_is_shorter(const struct apapi_update *update)
{
    return update->gaps >= SHORT_GAPS && update->long_gaps == 0 &&
           update_mean_ns(update) / 3 < update->period_ns / 4;
}

static bool update_learn(struct apapi_update *update)
{
    if (!update->learned && !update_is_longer(update) && !update_is_shorter(update)) {
        return false;
    }
    update->period_ns = update_mean_ns(update);
    update->learned = true;
    return true;
}

/*
 * Add a gap in which readings found no move. Two readings may lie within one update, so only a
 * longer time without a move shows something. A time without readings shows nothing.
 */
static bool update_add_rare(struct apapi_update *update, uint64_t gap_ns, uint64_t still_ns)
{
    bool first = !update->moved, is_long = still_ns >= update->period_ns;
    uint64_t likely_ns = gap_ns < 2 * still_ns ? gap_ns : 2 * still_ns;

    update->moved = true;
    if (update->gaps >= LONG_GAPS && gap_ns / STANDSTILL > update_mean_ns(update)) {
        return false;
    }
    if (is_long && likely_ns > update->longest_ns) {
        update->longest_ns = likely_ns;
    }
    if (first) {
        return false;
    }
    update->gaps++;
    update->long_gaps += is_long;
    update->sum_ns += still_ns ? likely_ns : gap_ns;
    return update_learn(update);
}

/*
 * Note a reading that finds a move.
 * @param gap_ns    time since the reading that found the move before [ns]
 * @param still_ns  from that reading to the latest one that found no move [ns]; 0: there is none
 * @return whether the period may have changed
 */
static inline bool update_moved(struct apapi_update *update, uint64_t gap_ns, uint64_t still_ns)
{
    if (still_ns || !update->moved) {
        return update_add_rare(update, gap_ns, still_ns);
    }
    update->sum_ns += gap_ns;
    return ++update->gaps % SHORT_GAPS == 0 && update_learn(update);
}

/* Counters of whole numbers. */

#define STALL_UPDATES 100
#define STILL_UPDATES 4     /* a standstill of more updates at an end of the run is not covered */
#define GUARD_READINGS 4.0  /* readings per shortest possible wrap */
#define LOW_INCREMENTS 32   /* a counter below so many increments may have restarted unseen */
#define UNSTATED_FACTOR 10  /* more patience with a counter whose update period is not stated */
#define DOUBLE_STEP_J 1e-6  /* step in which a counter of doubles is counted, for energy [J] ... */
#define DOUBLE_STEP 0x1p-50 /* ... and for anything else at first [raw units] */
#define DOUBLE_MOST 0x1p61  /* most steps; more of them make the step greater */

/* @return the time in which the hardware's counter can reach its end [ns]; UINT64_MAX: never. */
static uint64_t hide_ns(const struct apapi_counter *counter)
{
    double ns = (counter->guard_raw - counter->slack) / counter->max_per_ns;

    if (!(counter->guard_raw > 0) || isinf(counter->max_per_ns) || ns >= 0x1p63) {
        return UINT64_MAX;
    }
    return ns > 0 ? (uint64_t)ns : 0;
}

/* @return the time for which an intact counter may show the same value, at the least power [ns]. */
static uint64_t patience_ns(const struct apapi_counter *counter, uint64_t updates)
{
    return updates * counter->update.period_ns + counter->unit_ns;
}

static void apply_update(struct apapi_counter *counter)
{
    double update_ns = (double)counter->update.period_ns;

    counter->slack = counter->max_per_ns * update_ns;
    counter->hide_ns = hide_ns(counter);
    counter->stall_ns = counter->rests ? UINT64_MAX : (uint64_t)(STALL_UPDATES * update_ns);
}

void apapi_counter_init(struct apapi_counter *counter, const struct apapi_event *event,
                        double max_w)
{
    bool may_be_off = event->domain == APAPI_DOMAIN_CORE || event->domain == APAPI_DOMAIN_UNCORE;
    double scale = event->scale;

    memset(counter, 0, sizeof *counter);
    counter->of_doubles = event->type == APAPI_TYPE_FP64;
    counter->is_signed = event->type == APAPI_TYPE_INT64 || counter->of_doubles;
    counter->unit = 1;
    if (counter->of_doubles) { /* a double does not wrap */
        counter->unit = event->kind == APAPI_KIND_ENERGY ? DOUBLE_STEP_J / scale : DOUBLE_STEP;
        scale *= counter->unit;
    } else {
        counter->range_max = event->range_max;
        counter->guard_raw = event->guard_j / scale;
    }
    counter->max_per_ns = max_w / scale / 1e9;
    counter->rests = !apapi_counter_never_rests(event);
    /* a device that is on uses at least 0.2 W; cores and uncore may be off nearly all the time */
    counter->unit_ns = (uint64_t)(scale / (may_be_off ? 0.01 : 0.2) * 1e9);
    counter->update.stated_ns = event->update_ns;
    apapi_counter_restart(counter);
}

void apapi_counter_restart(struct apapi_counter *counter)
{
    counter->total = 0;
    counter->covered_ns = 0;
    counter->hidden = 0;
    counter->to_wrap = counter->low_ns = 0;
    memset(&counter->incidents, 0, sizeof counter->incidents);
    counter->reopened = counter->stopped = false;
    counter->last.valid = false;
    counter->doubted.valid = false;
    update_restart(&counter->update);
    apply_update(counter);
}

static double plausible(const struct apapi_counter *counter, uint64_t dt_ns)
{
    if (isinf(counter->max_per_ns)) {
        return INFINITY;
    }
    return counter->max_per_ns * duration(dt_ns) + counter->slack;
}

static bool decreased(const struct apapi_counter *counter, uint64_t before, uint64_t now)
{
    return counter->is_signed ? (int64_t)now < (int64_t)before : now < before;
}

/* @return the increment from one reading to another, if the counter wrapped at most once. */
static uint64_t distance(const struct apapi_counter *counter, uint64_t before, uint64_t now)
{
    uint64_t range =
        counter->range_max && decreased(counter, before, now) ? counter->range_max + 1 : 0;

    return range + now - before;
}

/* Set the increment from `from` to `raw`. @return whether it is plausible. */
static inline bool increment_since(const struct apapi_counter *counter,
                                   const struct apapi_counter_point *from, uint64_t raw,
                                   uint64_t at_ns, struct apapi_increment *increment)
{
    bool wrapped = decreased(counter, from->raw, raw);

    if (!from->valid || (wrapped && counter->range_max == 0)) {
        return false;
    }
    increment->since_ns = at_ns - from->at_ns;
    increment->wrapped = wrapped;
    increment->raw = distance(counter, from->raw, raw);
    return (double)increment->raw <= plausible(counter, at_ns - from->begin_ns);
}

/*
 * @param missed  result: the increment that the doubted reading shows at once
 * @return whether it is plausible for the time since the counter was last known to run
 */
static bool may_have_missed(const struct apapi_counter *counter, struct apapi_increment *missed)
{
    struct apapi_counter_point ran = counter->last;

    ran.begin_ns = ran.ran_ns;
    return increment_since(counter, &ran, counter->doubted.raw, counter->doubted.at_ns, missed);
}

/* The counter's last value may be as old as the beginning of its reading. */
static bool whole_wraps_may_hide(const struct apapi_counter *counter, uint64_t since_ns)
{
    return since_ns + (counter->last.at_ns - counter->last.begin_ns) > counter->hide_ns;
}

/* @return how long the counter had stood still at its last accepted reading [ns]. */
static uint64_t still_ns(const struct apapi_counter *counter)
{
    return counter->last.valid ? counter->last.at_ns - counter->last.moved_ns : 0;
}

/* Note a gap, which may hide as many wraps as the greatest plausible power makes in that time. */
__attribute__((noinline, cold)) static void counter_note_gap(struct apapi_counter *counter,
                                                             uint64_t since_ns)
{
    double wraps = floor(plausible(counter, since_ns) / counter->guard_raw);

    counter->incidents.gaps++;
    counter->hidden += fmax(wraps, 1) * counter->guard_raw;
}

/* Note a wrap. If the counter restarted instead, the counts up to its end were never used. */
__attribute__((noinline, cold)) static void counter_note_wrap(struct apapi_counter *counter)
{
    uint64_t to_wrap = distance(counter, counter->last.raw, 0);

    counter->incidents.wraps++;
    counter->to_wrap = to_wrap > counter->to_wrap ? to_wrap : counter->to_wrap;
}

static void counter_count(struct apapi_counter *counter, const struct apapi_increment *increment)
{
    counter->total += increment->raw;
    counter->covered_ns += increment->since_ns;
    counter->incidents.samples++;
    if (increment->wrapped) {
        counter_note_wrap(counter);
    } else if (counter->last.raw < LOW_INCREMENTS * increment->raw &&
               increment->since_ns > counter->low_ns) {
        counter->low_ns = increment->since_ns;
    }
    if (whole_wraps_may_hide(counter, increment->since_ns)) {
        counter_note_gap(counter, increment->since_ns);
    }
}

static bool has_stalled(const struct apapi_counter *counter)
{
    return still_ns(counter) >= counter->stall_ns;
}

bool apapi_counter_stands_still(const struct apapi_counter *counter)
{
    return !counter->rests && still_ns(counter) > patience_ns(counter, STILL_UPDATES);
}

/*
 * @return whether the counter stands still at the end: what it may have missed stays unknown. Of a
 * counter that has never moved all is unknown; meter.c and result.c deal with that.
 */
static bool stays_unknown(const struct apapi_counter *counter)
{
    return apapi_counter_stands_still(counter) &&
           (counter->total > 0 || counter->incidents.resets > 0);
}

static uint64_t covered_until_ns(const struct apapi_counter *counter)
{
    const struct apapi_counter_point *last = &counter->last;

    if (!counter->stopped && !stays_unknown(counter)) {
        return greater_count(last->begin_ns, counter->segment_ns);
    }
    /* until the counter was last known to run; one without `ran_ns` has moved at most once */
    return last->ran_ns > counter->segment_ns ? last->ran_ns
                                              : lesser_count(last->moved_ns, last->begin_ns);
}

/* End the covered time at `until_ns`, or where the segment begins if that is later. */
static void close_segment_at(struct apapi_counter *counter, uint64_t until_ns)
{
    if (counter->last.valid) {
        counter->covered_ns -= counter->last.at_ns - greater_count(until_ns, counter->segment_ns);
    }
}

/* @return whether the counter certainly goes on; one of energy must have moved in the outage. */
static bool counter_goes_on(const struct apapi_counter *counter, uint64_t raw, uint64_t at_ns)
{
    struct apapi_increment increment;

    return increment_since(counter, &counter->last, raw, at_ns, &increment) &&
           (increment.raw > 0 || counter->rests) &&
           !(increment.wrapped && isinf(counter->max_per_ns)) &&
           !whole_wraps_may_hide(counter, increment.since_ns);
}

/*
 * @return whether the doubted reading lies between the last accepted one and the next. Then it was
 * right: a counter that had stood still showed what it had missed, and by now enough time has
 * passed to make that plausible.
 */
static bool was_on_the_way(const struct apapi_counter *counter,
                           const struct apapi_increment *increment)
{
    return distance(counter, counter->last.raw, counter->doubted.raw) <= increment->raw;
}

/* Begin a segment. Not inlined, like some functions below, because it is rare. */
__attribute__((noinline, cold)) static void continue_from(struct apapi_counter *counter,
                                                          struct apapi_counter_point first)
{
    counter->segment_ns = first.at_ns;
    counter->last = first;
    counter->moved = false;
    counter->update.moved = false; /* something is lost: the next move does not end a gap */
}

/*
 * The counter goes on from the doubted reading. If readings before found no move, the doubted one
 * shows what the counter had missed; a wrap shows nothing if whole wraps may hide in that time. If
 * the reading before found a move, the increment is unknown: it is not counted, and the time in
 * which the counter may have stopped is not covered.
 * @param increment  in: since the doubted reading; out: since the last accepted one
 */
__attribute__((noinline, cold)) static enum apapi_count
explain_doubted(struct apapi_counter *counter, struct apapi_increment *increment)
{
    struct apapi_increment missed;
    bool possible = may_have_missed(counter, &missed);
    uint64_t since_ns = counter->doubted.at_ns - counter->last.ran_ns;

    if (possible && still_ns(counter) > 0 && !(missed.wrapped && since_ns > counter->hide_ns)) {
        increment->raw += missed.raw;
        increment->since_ns += missed.since_ns;
        if (missed.wrapped) {
            counter_note_wrap(counter);
        }
        return APAPI_COUNT_ADDED;
    }
    counter->incidents.resets++;
    close_segment_at(counter, possible ? counter->last.ran_ns : covered_until_ns(counter));
    counter->incidents.stalls += has_stalled(counter);
    continue_from(counter, counter->doubted);
    return APAPI_COUNT_RESET;
}

/* @return whether the counter stood still, from the segment's start, for more than `updates`. */
static bool stood_still_at_start(const struct apapi_counter *counter, uint64_t updates)
{
    uint64_t factor = counter->update.stated_ns || counter->update.learned ? 1 : UNSTATED_FACTOR;

    return still_ns(counter) > factor * patience_ns(counter, updates);
}

static inline void counter_believe(struct apapi_counter *counter, uint64_t raw,
                                   struct apapi_moment when, uint64_t increment)
{
    struct apapi_counter_point *last = &counter->last;

    if (increment > 0) {
        uint64_t still = last->at_ns - last->moved_ns, unread = when.end_ns - last->at_ns;

        counter->incidents.stalls += has_stalled(counter);
        if (still > 0 && !whole_wraps_may_hide(counter, unread) &&
            when.end_ns - last->ran_ns > counter->hide_ns) {
            counter_note_gap(counter, when.end_ns - last->ran_ns);
        }
        counter->moved = true;
        if (!counter->rests && !(still && unread > 2 * still) &&
            update_moved(&counter->update, when.end_ns - last->moved_ns, still)) {
            apply_update(counter);
        }
        last->ran_ns = last->begin_ns;
        last->moved_ns = when.end_ns;
        last->increment = increment;
    }
    last->raw = raw;
    last->begin_ns = when.begin_ns;
    last->at_ns = when.end_ns;
}

static struct apapi_counter_point first_point(uint64_t raw, struct apapi_moment when)
{
    return (struct apapi_counter_point){.valid = true,
                                        .raw = raw,
                                        .begin_ns = when.begin_ns,
                                        .at_ns = when.end_ns,
                                        .moved_ns = when.end_ns,
                                        .ran_ns = when.begin_ns};
}

/* Restart the segment at its first move: the increment may be older than the segment. */
__attribute__((noinline, cold)) static enum apapi_count
begin_at_move(struct apapi_counter *counter, uint64_t raw, struct apapi_moment when)
{
    counter->incidents.stalls += stood_still_at_start(counter, STALL_UPDATES);
    counter->covered_ns -= counter->last.at_ns - counter->segment_ns;
    continue_from(counter, first_point(raw, when));
    counter->moved = true;
    return APAPI_COUNT_BASELINE;
}

__attribute__((noinline, cold)) static void check_reopened(struct apapi_counter *counter,
                                                           uint64_t raw, struct apapi_moment when)
{
    counter->reopened = false;
    if (counter->last.valid && !counter_goes_on(counter, raw, when.end_ns)) {
        counter->incidents.resets++;
        close_segment_at(counter, covered_until_ns(counter));
        counter->incidents.refused += counter->doubted.valid;
        counter->doubted.valid = counter->last.valid = false;
    }
}

/* Take a reading that does not continue the last accepted one. */
__attribute__((noinline, cold)) static enum apapi_count doubt(struct apapi_counter *counter,
                                                              uint64_t raw,
                                                              struct apapi_moment when,
                                                              struct apapi_increment *increment)
{
    if (!counter->rests && counter->doubted.valid && counter->doubted.raw == raw) {
        return APAPI_COUNT_DOUBTED; /* a counter without a move shows nothing */
    }
    if (!increment_since(counter, &counter->doubted, raw, when.end_ns, increment)) {
        counter->incidents.refused += counter->doubted.valid;
        counter->doubted = first_point(raw, when);
        return APAPI_COUNT_DOUBTED;
    }
    return explain_doubted(counter, increment);
}

bool apapi_counter_counts(const struct apapi_counter *counter, uint64_t raw, uint64_t *count)
{
    double value;

    *count = raw;
    if (!counter->of_doubles) {
        return true;
    }
    memcpy(&value, &raw, sizeof value);
    value = round(value / counter->unit);
    if (!(fabs(value) < 0x1p63)) {
        return false;
    }
    *count = (uint64_t)(int64_t)value;
    return true;
}

/* A counter of doubles that counts no energy may grow to any value: its steps grow, too. */
static void make_room(struct apapi_counter *counter, uint64_t raw)
{
    double value;

    memcpy(&value, &raw, sizeof value);
    while (isfinite(value) && (fabs(value) >= DOUBLE_MOST * counter->unit ||
                               counter->total >= (uint64_t)DOUBLE_MOST)) {
        counter->unit *= 2;
        counter->total /= 2;
        counter->last.raw = (uint64_t)((int64_t)counter->last.raw >> 1); /* rounded down */
        counter->doubted.raw = (uint64_t)((int64_t)counter->doubted.raw >> 1);
    }
}

enum apapi_count apapi_counter_add(struct apapi_counter *counter, uint64_t raw,
                                   struct apapi_moment when, struct apapi_increment *increment)
{
    enum apapi_count meaning = APAPI_COUNT_ADDED;

    if (counter->of_doubles && isinf(counter->max_per_ns)) {
        make_room(counter, raw);
    }
    /* such a value is certainly wrong: it shows nothing about the readings around it */
    if (!apapi_counter_counts(counter, raw, &raw) ||
        (counter->range_max && raw > counter->range_max)) {
        counter->incidents.refused++;
        return APAPI_COUNT_DOUBTED;
    }
    if (counter->reopened) {
        check_reopened(counter, raw, when);
    }
    if (!counter->last.valid) {
        continue_from(counter, first_point(raw, when));
        return APAPI_COUNT_BASELINE;
    }
    if (increment_since(counter, &counter->last, raw, when.end_ns, increment)) {
        counter->incidents.refused += counter->doubted.valid && !was_on_the_way(counter, increment);
    } else {
        meaning = doubt(counter, raw, when, increment);
        if (meaning == APAPI_COUNT_DOUBTED) {
            return meaning;
        }
    }
    counter->doubted.valid = false;
    if (!counter->moved && !counter->rests && increment->raw > 0 &&
        stood_still_at_start(counter, STILL_UPDATES)) {
        return begin_at_move(counter, raw, when);
    }
    counter_count(counter, increment);
    counter_believe(counter, raw, when, increment->raw);
    return meaning;
}

/* A second call changes nothing. */
void apapi_counter_finish(struct apapi_counter *counter)
{
    counter->incidents.refused += counter->doubted.valid;
    counter->doubted.valid = false;
    close_segment_at(counter, covered_until_ns(counter));
    if (stays_unknown(counter)) {
        counter->incidents.stalls += has_stalled(counter);
        counter->last.moved_ns = counter->last.at_ns;
    }
    counter->stopped = false;
    counter->last.begin_ns = counter->last.at_ns;
}

double apapi_counter_most_w(const struct apapi_event *event)
{
    double max_w = apapi_domain_max_w(event->domain);

    return event->guard_j > 0 ? fmin(max_w, apapi_domain_max_w(APAPI_DOMAIN_NODE)) : max_w;
}

/* A quarter of the shortest possible time between two wraps. */
uint64_t apapi_event_guard_ns(const struct apapi_event *event)
{
    double guard_s = event->guard_j / apapi_counter_most_w(event) / GUARD_READINGS;
    double guard_ns = event->guard_j > 0 ? guard_s * 1e9 : INFINITY;

    return guard_ns < 9e18 ? (uint64_t)guard_ns : UINT64_MAX;
}
