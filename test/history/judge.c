/* SPDX-License-Identifier: BSD-3-Clause */
/* The oracle, which knows the true power and when it was read. */
#include "history/judge.h"

#include <inttypes.h>

#include "session/component.h"
#include "simulation/written.h"

#define EXACT 1e-9 /* relative rounding of a sum of doubles */
#define CLOSE_NS UINT64_C(1000000000)
#define SECOND_NS UINT64_C(1000000000)
#define LOOKS_NS 1000     /* time of four looks at the clock */
#define QUICK_NS 10000000 /* a reading that is not waited for in vain */
#define RECORD_ONE_IN 8   /* one history in so many: it takes longer than the rest */
#define PATIENCE_NS                                                                                \
    UINT64_C(40000000) /* with a counter whose period is not stated, see counter.c */

const char *const kind_names[KINDS] = {
    [KIND_VARYING] = "the power changes: probes see it in 95 of 100 runs",
    [KIND_UPDATE_UNKNOWN] = "a counter moves less often than its source says",
    [KIND_FROZEN_START] = "a counter stands still at the first reading",
    [KIND_FROZEN_END] = "a counter stands still at the last reading",
    [KIND_UNCOVERED] =
        "much of the time is not covered: its power may be greater than any that was seen",
    [KIND_BEYOND] = "an own worker reads after the end",
};
struct kind_count kind_counts[KINDS];

/* One event in a run. */
struct judged {
    struct play *play;
    size_t component, event;
    const struct history_meter *meter;
    const struct power *power;
    const struct seen *seen;
    const struct apapi_event_result *result;
};

static double seconds(double ns)
{
    return ns / 1e9;
}

static const struct history_component *judged_script(const struct judged *j)
{
    return &j->play->history.components[j->component];
}

static bool judged_is_frozen(const struct judged *j, uint64_t at_ns)
{
    const struct history_fault *freeze = history_fault_at(judged_script(j), FAULT_FREEZE, at_ns);

    return freeze && freeze->event == j->event;
}

/*
 * The counter stands still at the last reading, or at a break, as the break may be read at any time
 * after that; or it has shown at once what it missed, too short a time ago to be believed.
 */
static bool ends_frozen(const struct judged *j)
{
    const struct history_component *script = judged_script(j);

    for (size_t i = 0; i < script->fault_count; i++) {
        const struct history_fault *fault = &script->faults[i];
        uint64_t length_ns = fault->to_ns - fault->from_ns;

        if (fault->kind == FAULT_FREEZE && fault->event == j->event &&
            fault->from_ns <= j->seen->last.value_ns &&
            (j->seen->breaks || fault->to_ns + length_ns >= j->seen->last.begin_ns)) {
            return true;
        }
    }
    return false;
}

/*
 * The energy that the counter does not show yet at the end, or shows of the time before [J]; again
 * for each break, and once more if the last reading is doubted because the counter moves less often
 * than is known.
 */
static double update_j(const struct judged *j)
{
    return (j->power->max_w * seconds((double)j->meter->update_ns) + 2 * j->meter->scale) *
           (double)(1 + j->seen->breaks + j->seen->restarts + !j->meter->stated_ns);
}

static void judged_fail(const struct judged *j, const char *what, double is, double shall)
{
    play_fail(j->play, "c%zu:::E%zu: %s: %.9g, not %.9g", j->component, j->event, what, is, shall);
}

/*
 * The session looks at the clock before and after a reading, a little farther away than the source
 * does [ns]. In between, the process may stand still.
 */
static double judged_looks_ns(const struct judged *j)
{
    return j->play->history.stop_count ? INFINITY : LOOKS_NS;
}

/* No energy without a cause: at most what was used from the first reading to the last one. */
static void judge_cause(const struct judged *j)
{
    double most_j = power_between_j(j->power, j->seen->first.value_ns, j->seen->last.value_ns) +
                    update_j(j) + j->seen->excess_j;

    if (judged_is_frozen(j, j->seen->first.value_ns)) {
        return;
    }
    if (j->result->total > most_j * (1 + EXACT)) {
        judged_fail(j, "energy without a cause [J]", j->result->total, most_j);
    }
}

/* Covered energy is counted: missing energy was used in the time that is not covered. */
static void judge_covered(const struct judged *j)
{
    const struct seen *seen = j->seen;
    double covered_ns = (double)j->result->covered_ns;
    double widest_ns = (double)(seen->last.end_ns - seen->first.begin_ns);
    bool beyond = seen->last.end_ns > j->play->run.end_ns;
    double most_ns =
        (double)((beyond ? seen->last.end_ns : seen->last.begin_ns) - seen->first.end_ns);
    double least_j = power_between_j(j->power, seen->first.value_ns, seen->last.value_ns) -
                     update_j(j) - seen->missing_j -
                     j->power->max_w * seconds(fmax(0, widest_ns - covered_ns));

    if (covered_ns > most_ns + judged_looks_ns(j) && !(j->meter->doubles && seen->absurd)) {
        judged_fail(j, "covered [s]", seconds(covered_ns), seconds(most_ns));
    }
    if (judged_is_frozen(j, seen->first.value_ns) || ends_frozen(j)) {
        return;
    }
    if (j->result->total < least_j - EXACT * fabs(least_j)) {
        judged_fail(j, "energy of the covered time is missing [J]", j->result->total, least_j);
    }
}

/* There is a trapezoid between each two readings; a failed reading is not bridged. */
static void judge_gauge(const struct judged *j)
{
    double looks_ns = judged_looks_ns(j) * (double)(1 + j->seen->failed);
    double covered_ns = (double)j->result->covered_ns, shall_ns = (double)j->seen->joined_ns;
    double shall_j = j->seen->joined_j;

    if (fabs(covered_ns - shall_ns) > looks_ns) {
        judged_fail(j, "covered by a gauge [s]", seconds(covered_ns), seconds(shall_ns));
    }
    if (fabs(j->result->total - shall_j) >
        EXACT * shall_j + j->power->max_w * seconds(looks_ns * (1 + (double)j->seen->good / 4))) {
        judged_fail(j, "integral of a gauge [J]", j->result->total, shall_j);
    }
}

static void judge_extremes(const struct judged *j)
{
    const struct apapi_summary *summary = &j->result->summary;

    if (summary->mean < summary->min * (1 - EXACT) || summary->mean > summary->max * (1 + EXACT)) {
        judged_fail(j, "a mean beyond its extremes [W]", summary->mean, summary->max);
    }
    if (j->meter->gauge && (summary->min < j->power->min_w * (1 - EXACT) - j->meter->scale ||
                            summary->max > j->power->max_w * (1 + EXACT) + j->meter->scale)) {
        judged_fail(j, "a power that never was [W]", summary->max, j->power->max_w);
    }
}

static unsigned kinds_of(const struct judged *j)
{
    const struct seen *seen = j->seen;
    uint64_t whole_ns = j->play->run.m.elapsed_ns;
    unsigned kinds = 0;

    kinds |= power_varies(j->power) ? 1u << KIND_VARYING : 0;
    kinds |= !j->meter->gauge && !j->meter->stated_ns ? 1u << KIND_UPDATE_UNKNOWN : 0;
    kinds |= judged_is_frozen(j, seen->first.value_ns) ? 1u << KIND_FROZEN_START : 0;
    kinds |= ends_frozen(j) ? 1u << KIND_FROZEN_END : 0;
    kinds |=
        whole_ns > j->result->covered_ns + j->result->covered_ns / 20 ? 1u << KIND_UNCOVERED : 0;
    kinds |= seen->last.end_ns > j->play->run.end_ns ? 1u << KIND_BEYOND : 0;
    return kinds;
}

/* The promise: the energy differs from the truth by at most its uncertainty and one update. */
static void judge_uncertainty(const struct judged *j)
{
    const struct run *run = &j->play->run;
    double truth_j = power_between_j(j->power, run->start_ns, run->end_ns);
    double error_j = fabs(j->result->total - truth_j);
    double allowed_j = j->result->uncertainty_j + update_j(j) + j->seen->excess_j +
                       j->seen->missing_j + EXACT * truth_j;
    bool outside = !(error_j <= allowed_j);
    unsigned kinds = kinds_of(j);

    for (int kind = 0; kind < KINDS; kind++) {
        if (kinds & 1u << kind) {
            kind_counts[kind].judged++;
            kind_counts[kind].outside += outside;
        }
    }
    if (outside && kinds == 0 && !j->result->incidents.gaps) {
        play_fail(j->play, "c%zu:::E%zu: %.9g J for %.9g, allowed is %.9g (uncertainty %.9g)",
                  j->component, j->event, j->result->total, truth_j, allowed_j,
                  j->result->uncertainty_j);
    }
}

/* --- counts: incidents, and every unit of a counter that cannot be mistaken ------------------- */

/* Absurd readings of a counter without a range may be taken for its first ones after a reset. */
static bool may_begin_absurd(const struct judged *j)
{
    const struct seen *seen = j->seen;

    bool begins = seen->breaks > 0 || seen->last.opened != seen->first.opened;

    return !j->meter->range_max && (seen->absurd_first || (seen->absurd > 0 && begins));
}

/* If a counter stood still when a segment began, its first move may be older than the segment. */
static bool may_begin_frozen(const struct judged *j)
{
    const struct history_component *script = judged_script(j);
    const struct seen *seen = j->seen;

    for (size_t i = 0; i < script->fault_count; i++) {
        const struct history_fault *fault = &script->faults[i];

        if (fault->kind == FAULT_FREEZE && fault->event == j->event &&
            (seen->breaks + seen->restarts > 0 || seen->first_move_ns == 0 ||
             fault->from_ns <= seen->first_move_ns)) {
            return true;
        }
    }
    return false;
}

/* If it is not stated that a counter moves seldom, it seems to stand still: less is counted. */
static bool may_seem_frozen(const struct judged *j)
{
    const struct history_component *script = judged_script(j);
    uint64_t late_ns = 2 * script->read_ns + j->play->history.latest_ns;

    return !j->meter->stated_ns &&
           (j->meter->update_ns + late_ns >= PATIENCE_NS || history_has(script, FAULT_LATE) ||
            history_has(script, FAULT_EARLY) || history_has(script, FAULT_HANG));
}

static bool is_certain(const struct judged *j)
{
    const struct seen *seen = j->seen;

    return !j->meter->doubles && !seen->unsure && !seen->disguised && !seen->moves_late &&
           !may_begin_absurd(j) && !may_begin_frozen(j) && !may_seem_frozen(j);
}

/* Each break is a reset, except a break at the last reading, which is refused. */
static void judge_resets(const struct judged *j)
{
    const struct apapi_incidents *incidents = &j->result->incidents;
    const struct seen *seen = j->seen;

    if (incidents->resets + incidents->refused != seen->breaks + seen->restarts + seen->absurd ||
        incidents->resets < seen->returns + seen->restarts) {
        play_fail(j->play,
                  "c%zu:::E%zu: %" PRIu64 " resets and %" PRIu64
                  " refused, for %zu breaks (in %zu it was opened again), %zu restarts, %zu absurd",
                  j->component, j->event, incidents->resets, incidents->refused, seen->breaks,
                  seen->returns, seen->restarts, seen->absurd);
    }
}

/* @return the only fault of all components; NULL: there is none, or there are others. */
static const struct history_fault *only_fault(const struct history *history, size_t component)
{
    size_t others = history->stop_count;

    for (size_t i = 0; i < history->component_count; i++) {
        others += i == component ? 0 : history->components[i].fault_count;
    }
    return others == 0 && history->components[component].fault_count == 1
               ? history->components[component].faults
               : NULL;
}

/* @return the time to read all components once, and to open this one. */
static uint64_t round_ns(const struct history *history, size_t component)
{
    uint64_t round_ns =
        SECOND_NS + 20 * history->latest_ns + history->components[component].open_ns;

    for (size_t i = 0; i < history->component_count; i++) {
        round_ns += 2 * history->components[i].read_ns + history->components[i].open_ns;
    }
    return round_ns;
}

/*
 * A component is tried again after pauses that double, so it is read soon after it has returned.
 * The shared worker goes on reading a component that fails, but it does not open any.
 */
static void judge_return(const struct judged *j)
{
    const struct history *history = &j->play->history;
    const struct history_component *script = judged_script(j);
    const struct history_fault *fault = only_fault(history, j->component);
    uint64_t interval_ns = script->interval_ns + history->min_interval_ns, from_ns;

    if (!fault ||
        (history->refused_threads &&
         (script->slow || script->own_worker || fault->kind == FAULT_VANISH)) ||
        j->seen->good == 0 || fault->from_ns < j->seen->first.value_ns ||
        (fault->kind != FAULT_VANISH && fault->kind != FAULT_FAIL)) {
        return;
    }
    from_ns = fault->to_ns + 2 * (fault->to_ns - fault->from_ns) + 4 * interval_ns +
              4 * round_ns(history, j->component);
    if (from_ns < j->play->run.end_ns && j->seen->last.value_ns < fault->to_ns) {
        play_fail(j->play, "c%zu:::E%zu was never read again", j->component, j->event);
    }
}

static void judge_counts(const struct judged *j)
{
    const struct apapi_incidents *incidents = &j->result->incidents;
    const struct seen *seen = j->seen;

    if (!is_certain(j)) {
        return;
    }
    judge_resets(j);
    if (j->result->raw_total != seen->moved && !isnan(j->result->total)) {
        judged_fail(j, "raw total", (double)j->result->raw_total, (double)seen->moved);
    }
    if (incidents->wraps != seen->wraps) {
        judged_fail(j, "wraps", (double)incidents->wraps, (double)seen->wraps);
    }
    if (incidents->gaps != seen->gaps) {
        judged_fail(j, "gaps", (double)incidents->gaps, (double)seen->gaps);
    }
}

/* --- events ---------------------------------------------------------------------------------- */

static void judge_event(const struct judged *j)
{
    if (j->result->incidents.failed != j->seen->failed) {
        judged_fail(j, "failed", (double)j->result->incidents.failed, (double)j->seen->failed);
    }
    judge_return(j);
    if (!j->meter->gauge) {
        judge_counts(j);
    }
    if (isnan(j->result->total)) {
        return;
    }
    if (j->seen->good < 2) {
        judged_fail(j, "energy of fewer than two readings [J]", j->result->total, NAN);
        return;
    }
    if (j->meter->gauge) {
        judge_gauge(j);
    } else {
        judge_cause(j);
        judge_covered(j);
    }
    judge_extremes(j);
    judge_uncertainty(j);
}

static void judge_events(struct play *play)
{
    for (size_t c = 0; c < play->history.component_count; c++) {
        const struct apapi_component_result *result = &play->run.m.components[c];

        if (!result->measured && !*result->reason) {
            play_fail(play, "c%zu is not measured, and nothing says why", c);
        }
        for (size_t i = 0; i < result->event_count; i++) {
            size_t number = sim_source_number(&result->events[i].event);
            const struct history_meter *meter = &play->history.components[c].meters[number];
            const struct judged j = {.play = play,
                                     .component = c,
                                     .event = number,
                                     .meter = meter,
                                     .power = &play->history.powers[meter->domain][meter->socket],
                                     .seen = &play->run.seen[c][number],
                                     .result = &result->events[i]};

            judge_event(&j);
        }
    }
}

/* --- domains --------------------------------------------------------------------------------- */

/* @return a component's energy of a domain, by its counters, else by its gauges; NAN: not known. */
static double component_domain_j(const struct play *play, const struct apapi_measurement *m,
                                 size_t component, int domain)
{
    const struct apapi_component_result *result = &m->components[component];
    const struct history_component *script = &play->history.components[component];
    double sums_j[2] = {0, 0};
    size_t counts[2] = {0, 0};

    for (size_t i = 0; i < result->event_count; i++) {
        const struct history_meter *meter =
            &script->meters[sim_source_number(&result->events[i].event)];

        if ((int)meter->domain == domain) {
            sums_j[meter->gauge] += result->events[i].total;
            counts[meter->gauge]++;
        }
    }
    if (counts[0] + counts[1] == 0) {
        return NAN;
    }
    return counts[0] ? sums_j[0] : sums_j[1];
}

static bool is_same(double a, double b)
{
    return fabs(a - b) <= EXACT * fmax(fabs(a), fabs(b));
}

/* @return when all meters of the component for the domain had been read once. */
static uint64_t first_known_ns(const struct play *play, size_t component, int domain)
{
    const struct history_component *script = &play->history.components[component];
    uint64_t known_ns = 0;

    for (size_t i = 0; i < script->event_count; i++) {
        uint64_t end_ns = play->run.seen[component][i].first.end_ns;

        if ((int)script->meters[i].domain == domain && end_ns > known_ns) {
            known_ns = end_ns;
        }
    }
    return known_ns;
}

/* @return how late the component was with the domain [ns]; 0: in time; UINT64_MAX: not certain. */
static uint64_t feeder_late_ns(const struct play *play, size_t component, int domain)
{
    const struct history_component *script = &play->history.components[component];
    uint64_t late_ns = first_known_ns(play, component, domain) - play->run.start_ns;
    bool close = late_ns > FEED_LATE_NS - CLOSE_NS && late_ns < FEED_LATE_NS + CLOSE_NS;

    if (history_has(script, FAULT_FAIL_ONE) || history_has(script, FAULT_ABSURD) || close) {
        return UINT64_MAX;
    }
    return late_ns > FEED_LATE_NS ? late_ns : 0;
}

/*
 * A domain's energy is that of one component, never of two: of the first one in the list that
 * measures it. Components that were late come after the others.
 */
static void judge_domain(struct play *play, const struct apapi_measurement *m, int domain)
{
    const struct apapi_domain_result *result = &m->domains[domain];
    uint64_t least_ns = UINT64_MAX;
    double shall_j = NAN;
    bool of_one = false, any = false, certain = true;

    for (size_t c = 0; c < play->history.component_count; c++) {
        double energy_j = component_domain_j(play, m, c, domain);
        uint64_t late_ns = isnan(energy_j) ? UINT64_MAX : feeder_late_ns(play, c, domain);

        any |= !isnan(energy_j);
        of_one |= is_same(energy_j, result->energy_j);
        certain &= isnan(energy_j) || late_ns != UINT64_MAX;
        if (late_ns < least_ns) {
            least_ns = late_ns;
            shall_j = energy_j;
        }
    }
    if (result->measured && !of_one) {
        play_fail(play, "%s: %.9g J are those of no component", apapi_domain_name(domain),
                  result->energy_j);
    } else if (!result->measured && any) {
        play_fail(play, "%s was measured, and is not known", apapi_domain_name(domain));
    } else if (any && certain && !is_same(shall_j, result->energy_j)) {
        play_fail(play, "%s: %.9g J, not those that should feed it, %.9g",
                  apapi_domain_name(domain), result->energy_j, shall_j);
    }
}

static void judge_timeline(struct play *play, const struct apapi_measurement *m, int domain)
{
    const struct apapi_domain_result *result = &m->domains[domain];
    const struct apapi_timeline *timeline = &result->timeline;
    double energy_j = apapi_timeline_energy_j(timeline);

    if (timeline->length_ns != m->elapsed_ns || timeline->count > APAPI_TIMELINE_BINS) {
        play_fail(play, "%s: a timeline of %.9f s for %.9f s", apapi_domain_name(domain),
                  seconds((double)timeline->length_ns), seconds((double)m->elapsed_ns));
    }
    /* bins are floats, and so less exact */
    if (energy_j > result->energy_j * (1 + 1e-5) + 1e-6) {
        play_fail(play, "%s: a timeline of %.9g J for %.9g", apapi_domain_name(domain), energy_j,
                  result->energy_j);
    }
    for (size_t i = 0; i < timeline->count; i++) {
        if (!(timeline->covered_pct[i] >= 0 && timeline->covered_pct[i] <= 100.01f)) {
            play_fail(play, "%s: %g %% of a bin are covered", apapi_domain_name(domain),
                      (double)timeline->covered_pct[i]);
        }
    }
}

static void judge_domains(struct play *play, const struct apapi_measurement *m)
{
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        judge_domain(play, m, d);
        if (m->domains[d].measured) {
            judge_timeline(play, m, d);
        }
    }
    if (!isnan(m->covered) && !(m->covered >= 0 && m->covered <= 1)) {
        play_fail(play, "%g of the time are covered", m->covered);
    }
}

/* --- outputs: the record, the live page, the figures of a snapshot ---------------------------- */

static bool is_near(double a, double b)
{
    return (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-8 + 1e-8 * fabs(a);
}

static void compare_records(struct play *play, const struct apapi_measurement *a,
                            const struct apapi_measurement *b)
{
    if (a->component_count != b->component_count || a->elapsed_ns != b->elapsed_ns) {
        play_fail(play, "the record has other components or another length");
        return;
    }
    for (size_t c = 0; c < a->component_count; c++) {
        for (size_t i = 0; i < a->components[c].event_count; i++) {
            if (!is_near(a->components[c].events[i].total, b->components[c].events[i].total)) {
                play_fail(play, "c%zu:::E%zu: %.12g J in the record, not %.12g", c, i,
                          b->components[c].events[i].total, a->components[c].events[i].total);
            }
        }
    }
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        if (!is_near(a->domains[d].energy_j, b->domains[d].energy_j)) {
            play_fail(play, "%s: %.12g J in the record, not %.12g", apapi_domain_name(d),
                      b->domains[d].energy_j, a->domains[d].energy_j);
        }
    }
}

/* A record must be read as it was written. */
static void judge_record(struct play *play, const struct apapi_measurement *m)
{
    struct apapi_record copy;
    struct apapi_error err = {""};

    if (play->history.seed % RECORD_ONE_IN) {
        return;
    }
    if (written_read(m, &copy, &err)) {
        play_fail(play, "no record: %s", err.text);
        return;
    }
    compare_records(play, m, &copy.measurement);
    apapi_record_clear(&copy);
}

static void judge_page(struct play *play)
{
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        struct apapi_live_slot slot;
        double energy_j = play->run.m.domains[d].energy_j;

        if (!apapi_live_read(&play->page.domains[d], &slot)) {
            play_fail(play, "a slot of the live page is being written for ever");
        } else if (!(slot.flags & APAPI_LIVE_MEASURED) ? !isnan(energy_j)
                                                       : !is_near(slot.total, energy_j)) {
            play_fail(play, "%s: %.9g J on the live page, not %.9g", apapi_domain_name(d),
                      slot.total, energy_j);
        }
    }
    if (play->page.head.end_ns - play->page.head.start_ns != play->run.m.elapsed_ns) {
        play_fail(play, "the live page has another length");
    }
}

/* A step whose sampler is killed has the last snapshot, which never has more than the whole. */
static void judge_growth(struct play *play, const struct apapi_measurement *m)
{
    const struct apapi_measurement *end = &play->run.m;

    if (m->elapsed_ns > end->elapsed_ns) {
        play_fail(play, "a snapshot of %.9f s, and the whole is %.9f s",
                  (double)m->elapsed_ns / 1e9, (double)end->elapsed_ns / 1e9);
    }
    for (size_t c = 0; c < m->component_count; c++) {
        for (size_t i = 0; i < m->components[c].event_count; i++) {
            double then = m->components[c].events[i].total;

            if (!(isnan(then) || then <= end->components[c].events[i].total * (1 + 1e-9))) {
                play_fail(play, "c%zu:::E%zu: %.9g J in a snapshot, %.9g at the end", c, i, then,
                          end->components[c].events[i].total);
            }
        }
    }
}

/* --- all of it -------------------------------------------------------------------------------- */

void judge_snapshot(struct play *play, const struct apapi_measurement *m)
{
    judge_domains(play, m);
    judge_record(play, m);
}

/* If nothing is slow, late or wrong, everything is read at the start and at the stop. */
static bool is_undisturbed(const struct history *history)
{
    bool undisturbed =
        history->stop_count == 0 && history->late_once_in == 0 && history->refused_threads == 0;

    for (size_t c = 0; c < history->component_count; c++) {
        const struct history_component *component = &history->components[c];

        undisturbed &=
            !component->slow && component->fault_count == 0 && component->read_ns < QUICK_NS;
    }
    return undisturbed;
}

static void judge_all_read(struct play *play)
{
    for (size_t c = 0; is_undisturbed(&play->history) && c < play->history.component_count; c++) {
        for (size_t i = 0; i < play->history.components[c].event_count; i++) {
            const struct seen *seen = &play->run.seen[c][i];

            if (seen->good < 2) {
                play_fail(play, "c%zu:::E%zu was read %zu times", c, i, seen->good);
            } else if (!play->history.components[c].own_worker &&
                       seen->last.begin_ns < play->run.asked_ns) {
                play_fail(play, "c%zu:::E%zu was not read after the stop was called", c, i);
            }
        }
    }
}

void judge_run(struct play *play)
{
    judge_all_read(play);
    judge_events(play);
    judge_domains(play, &play->run.m);
    judge_page(play);
    judge_record(play, &play->run.m);
    for (size_t i = 0; i < play->run.snapshot_count; i++) {
        judge_growth(play, &play->run.snapshots[i]);
    }
}
