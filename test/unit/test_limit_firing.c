/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Limits of a node, of a step on two nodes and of a job of three steps fire once in each of 100
 * runs at each of three powers. Time and energy may differ from the truth by one interval of what
 * is looked at and by the uncertainty that the measurements state. The time is simulated.
 */
#include "limit/totals.h"
#include "session/session.h"
#include "simulation/sim_source.h"
#include "unit/unit.h"

#define S UINT64_C(1000000000)
#define INTERVAL_NS (S / 10)
#define PERIOD_NS S    /* how often totals are sent */
#define GAP_NS (S / 2) /* time between two steps, in which nothing is measured */
#define RUNS 100

static struct history history;
static struct sim_clock sim;
static struct sim_source source;
static struct random random_numbers;
static struct apapi_session *session;
static uint64_t start_ns; /* start of the session on its clock */

/* Totals of steps on nodes, in the order in which they are sent. */
static struct sent {
    uint64_t at_ns;
    const char *node, *step;
    struct limit_report report;
} all_sent[32];

static size_t sent_count;

static struct {
    size_t count;
    double time_s, value_j;
} fired;

static void make_history(double power_w)
{
    struct power *power = &history.powers[APAPI_DOMAIN_PACKAGE][0];

    memset(&history, 0, sizeof history);
    history.component_count = 1;
    history.components[0] =
        (struct history_component){.interval_ns = INTERVAL_NS, .event_count = 1, .read_ns = 5000};
    history.components[0].meters[0] =
        (struct history_meter){.domain = APAPI_DOMAIN_PACKAGE,
                               .scale = 61e-6,
                               .range_max = UINT32_MAX,
                               .update_ns = S / 1000,
                               .phase_ns = random_below(&random_numbers, S / 1000),
                               .stated_ns = S / 1000};
    power_init(power, history.parts[APAPI_DOMAIN_PACKAGE][0], HISTORY_PARTS);
    power_add_part(power, 100 * S, power_w);
}

static void tell(const struct apapi_sample *sample, void *context)
{
    (void)sample;
    (void)context;
    session_tell(session);
}

static void note_fired(const struct apapi_overflow_crossing *crossing, void *context)
{
    (void)context;
    fired.count += crossing->count;
    fired.time_s = (double)(crossing->time_ns - start_ns) / S;
    fired.value_j = crossing->value;
}

static void send_total(struct sent sent)
{
    struct apapi_measurement m;

    assert_int_equal(apapi_session_snapshot(session, &m, NULL), 0);
    assert_true(sent_count < COUNT_OF(all_sent));
    sent.report.run = 1;
    sent.report.elapsed_ns = m.elapsed_ns;
    sent.report.total_j = apapi_measurement_total_j(&m);
    all_sent[sent_count++] = sent;
    apapi_measurement_clear(&m);
}

/*
 * Measure a step on a node, from step.at_ns on.
 * @param limit_j  limit of the node; 0: none @return the uncertainty [J]
 */
static double measure(struct sent step, double power_w, uint64_t length_ns, double limit_j)
{
    const struct apapi_intervals intervals = {.default_ns = INTERVAL_NS};
    const struct apapi_session_config config = {
        .components = "c0", .intervals = &intervals, .on_sample = tell};
    struct apapi_measurement m;
    uint64_t begin_ns = step.at_ns;
    double uncertainty_j;

    make_history(power_w);
    sim_clock_init(&sim, random_below(&random_numbers, 1000000) + 1, 5000 * S);
    sim_source_use(&source, &history, &sim);
    session = session_create(&config, &sim.base, NULL);
    assert_non_null(session);
    if (limit_j > 0) {
        assert_true(apapi_overflow_set(session, "total", limit_j, APAPI_OVERFLOW_TOTAL, note_fired,
                                       NULL) >= 0);
    }
    assert_int_equal(apapi_session_start(session, 0, NULL), 0);
    start_ns = source.origin_ns + source.components[0].value_ns;
    for (uint64_t ns = random_below(&random_numbers, PERIOD_NS); ns < length_ns; ns += PERIOD_NS) {
        sim_clock_sleep(&sim, start_ns + ns);
        step.at_ns = begin_ns + ns;
        send_total(step);
    }
    sim_clock_sleep(&sim, start_ns + length_ns);
    assert_int_equal(apapi_session_stop(session, NULL), 0);
    step.report.last = true;
    step.at_ns = begin_ns + source.origin_ns + source.components[0].value_ns - start_ns;
    send_total(step);
    assert_int_equal(apapi_session_measurement(session, &m, NULL), 0);
    uncertainty_j = m.domains[APAPI_DOMAIN_PACKAGE].uncertainty_j;
    apapi_measurement_clear(&m);
    apapi_session_destroy(session);
    assert_true(sim_clock_finish(&sim));
    return uncertainty_j;
}

static int by_time(const void *one, const void *other)
{
    const struct sent *a = one, *b = other;

    return (a->at_ns > b->at_ns) - (a->at_ns < b->at_ns);
}

/* Pass the reports to where the limit of a step or a job is watched. */
static void watch(const char *scope, double limit_j)
{
    static struct limit_list list;
    struct limit_sum sum = {.silent_ns = 3 * PERIOD_NS};
    struct limit *crossed[LIMITS_ROOM];
    char text[64];

    list = (struct limit_list){.count = 0};
    snprintf(text, sizeof text, "%s total >= %.17g J", scope, limit_j);
    assert_int_equal(limit_list_add(&list, text, NULL), 0);
    limit_list_look(&list, list.limits[0].scope, (struct limit_value){.time_ns = 1}, crossed);
    qsort(all_sent, sent_count, sizeof *all_sent, by_time);
    for (const struct sent *sent = all_sent; sent < all_sent + sent_count; sent++) {
        uint64_t now_ns = sent->at_ns + 1;
        struct limit_value total;

        limit_sum_report(&sum, sent->node, sent->step, &sent->report, now_ns);
        if (sent->report.last) {
            limit_sum_end_step(&sum, sent->step, now_ns);
        }
        total = limit_sum_value(&sum, now_ns);
        if (limit_list_look(&list, list.limits[0].scope, total, crossed)) {
            fired.count++;
            fired.time_s = (double)crossed[0]->state.crossing.time_ns / S;
            fired.value_j = (double)total.value;
        }
    }
    limit_sum_clear(&sum);
}

static const struct firing {
    const char *scope;
    size_t nodes, steps;
    uint64_t seconds, interval_ns; /* length of a step; interval of the values that are compared */
} firings[] = {{"node", 1, 1, 6, INTERVAL_NS},
               {"step", 2, 1, 6, PERIOD_NS + INTERVAL_NS},
               {"job", 1, 3, 3, PERIOD_NS + INTERVAL_NS}};

static void fire(const struct firing *firing, double node_w)
{
    static const char *const nodes[] = {"n1", "n2"}, *const steps[] = {"1.0", "1.1", "1.2"};
    bool of_node = firing == firings;
    uint64_t length_ns = firing->seconds * S;
    double measured_s = (double)(firing->steps * firing->seconds), uncertainty_j = 0;
    double at_s = random_between(&random_numbers, 1, measured_s - 2);
    double power_w = node_w * (double)firing->nodes, limit_j = power_w * at_s;
    double interval_s = (double)firing->interval_ns / S, error_s, error_j;

    sent_count = fired.count = 0;
    for (size_t i = 0; i < firing->steps * firing->nodes; i++) {
        size_t step = i / firing->nodes;

        uncertainty_j += measure((struct sent){.at_ns = step * (length_ns + GAP_NS),
                                               .node = nodes[i % firing->nodes],
                                               .step = steps[step]},
                                 node_w, length_ns, of_node ? limit_j : 0);
    }
    if (!of_node) {
        watch(firing->scope, limit_j);
    }
    at_s += floor(at_s / (double)firing->seconds) * GAP_NS / S;
    error_s = fabs(fired.time_s - at_s);
    error_j = fabs(fired.value_j - limit_j);
    fail_if(fired.count != 1 || error_s > interval_s + uncertainty_j / power_w ||
                error_j > power_w * interval_s + uncertainty_j,
            "%s: %zu times, at %g s, not %g s, %g J, not %g J (%g W, +- %g J)", firing->scope,
            fired.count, fired.time_s, at_s, fired.value_j, limit_j, power_w, uncertainty_j);
}

TEST(limits_fire_in_time)
{
    static const double powers_w[] = {40, 240, 900};

    for (size_t i = 0; i < RUNS * COUNT_OF(powers_w) * COUNT_OF(firings); i++) {
        random_numbers = (struct random){i + 1};
        fire(&firings[i % COUNT_OF(firings)], powers_w[i / COUNT_OF(firings) % COUNT_OF(powers_w)]);
    }
}
