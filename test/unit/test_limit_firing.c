/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When limits fire, in simulated time, at constant powers: of a node, of a step on two nodes, and
 * of a job of three steps. The error of the moment is at most one interval of what is looked at,
 * that of the energy what is drawn in it and the uncertainty that the measurements state.
 */
#include "apapi/overflow.h"
#include "apapi/session.h"
#include "limit/evaluate.h"
#include "limit/totals.h"
#include "session/session.h"
#include "simulation/sim_source.h"

#include "unit/unit.h"

#define S UINT64_C(1000000000)
#define INTERVAL_NS (S / 10)
#define PERIOD_NS S /* of totals */
#define RUNS 100
#define SECONDS 6
#define REPORTS_MAX 32
#define STEPS 3
#define GAP_NS (S / 2) /* between two steps nothing is measured */

static const double powers_w[] = {40, 240, 900};

/* Totals of steps on nodes, as they are sent. */
static struct sent {
    uint64_t at_ns;
    const char *node, *step;
    struct limit_report report;
} all_sent[STEPS * REPORTS_MAX];

static size_t sent_count;

/* A limit has fired. */
struct fired {
    size_t count;
    uint64_t time_ns;
    double value_j;
};

static struct history history;
static struct sim_clock sim;
static struct sim_source source;
static struct random random_numbers;

static void make_history(double power_w)
{
    struct history_component *component = &history.components[0];
    struct power *power = &history.powers[APAPI_DOMAIN_PACKAGE][0];

    memset(&history, 0, sizeof history);
    history.component_count = 1;
    *component =
        (struct history_component){.interval_ns = INTERVAL_NS, .event_count = 1, .read_ns = 5000};
    component->meters[0] =
        (struct history_meter){.domain = APAPI_DOMAIN_PACKAGE,
                               .scale = 61e-6,
                               .range_max = UINT32_MAX,
                               .update_ns = S / 1000,
                               .phase_ns = random_below(&random_numbers, S / 1000),
                               .stated_ns = S / 1000};
    power_init(power, history.parts[APAPI_DOMAIN_PACKAGE][0], HISTORY_PARTS);
    power_add_line(power, (SECONDS + 60) * S, power_w, power_w);
}

static void note_fired(const struct apapi_overflow_crossing *crossing, void *context)
{
    struct fired *fired = context;

    fired->count += crossing->count;
    fired->time_ns = crossing->time_ns;
    fired->value_j = crossing->value;
}

static void tell(const struct apapi_sample *sample, void *context)
{
    (void)sample;
    session_tell(*(struct apapi_session **)context);
}

static void send_total(struct apapi_session *session, struct sent sent)
{
    struct apapi_measurement measurement;

    assert_int_equal(apapi_session_snapshot(session, &measurement, NULL), 0);
    assert_true(sent_count < COUNT_OF(all_sent));
    sent.report.run = 1;
    sent.report.elapsed_ns = measurement.elapsed_ns;
    sent.report.total_j = apapi_measurement_total_j(&measurement);
    all_sent[sent_count++] = sent;
    apapi_measurement_clear(&measurement);
}

/*
 * Measure constant power for a time from `begin_ns` on; the node's limit is at `limit_j`, 0: none.
 * @return the uncertainty
 */
static double measure(const char *node, const char *step, double power_w, uint64_t begin_ns,
                      uint64_t length_ns, double limit_j, struct fired *fired)
{
    const struct apapi_intervals intervals = {.default_ns = INTERVAL_NS};
    struct apapi_session *session;
    const struct apapi_session_config config = {
        .components = "c0", .intervals = &intervals, .on_sample = tell, .context = &session};
    struct apapi_measurement measurement;
    struct sent sent = {.node = node, .step = step};
    uint64_t start_ns, at_ns = random_below(&random_numbers, PERIOD_NS);
    double uncertainty_j;

    make_history(power_w);
    sim_clock_init(&sim, random_below(&random_numbers, 1000000) + 1, 5000 * S);
    sim_source_use(&source, &history, &sim);
    session = session_create(&config, &sim.base, NULL);
    assert_non_null(session);
    if (limit_j > 0) {
        assert_true(apapi_overflow_set(session, "total", limit_j, APAPI_OVERFLOW_TOTAL, note_fired,
                                       fired) >= 0);
    }
    assert_int_equal(apapi_session_start(session, 0, NULL), 0);
    start_ns = source.origin_ns + source.components[0].value_ns;
    for (; at_ns < length_ns; at_ns += PERIOD_NS) {
        sim_clock_sleep(&sim, start_ns + at_ns);
        sent.at_ns = begin_ns + at_ns;
        send_total(session, sent);
    }
    sim_clock_sleep(&sim, start_ns + length_ns);
    assert_int_equal(apapi_session_stop(session, NULL), 0);
    sent.report.last = true;
    sent.at_ns = begin_ns + source.origin_ns + source.components[0].value_ns - start_ns;
    send_total(session, sent);
    if (fired) {
        fired->time_ns -= start_ns;
    }
    assert_int_equal(apapi_session_measurement(session, &measurement, NULL), 0);
    uncertainty_j = measurement.domains[APAPI_DOMAIN_PACKAGE].uncertainty_j;
    apapi_measurement_clear(&measurement);
    apapi_session_destroy(session);
    assert_true(sim_clock_finish(&sim));
    return uncertainty_j;
}

static void assert_fired(const char *scope, const struct fired *fired, double true_s,
                         double limit_j, double power_w, double interval_s, double uncertainty_j)
{
    double error_s = fabs((double)fired->time_ns / S - true_s);
    double error_j = fabs(fired->value_j - limit_j);

    assert_int_equal(fired->count, 1);
    if (error_s > interval_s + uncertainty_j / power_w ||
        error_j > power_w * interval_s + uncertainty_j) {
        fail_msg("%s: %g s instead of %g s, %g J instead of %g J (%g W, +- %g J)", scope,
                 (double)fired->time_ns / S, true_s, fired->value_j, limit_j, power_w,
                 uncertainty_j);
    }
}

static double some_limit_j(double power_w, double seconds)
{
    return power_w * random_between(&random_numbers, 1, seconds - 2);
}

TEST(of_a_node)
{
    for (size_t p = 0; p < COUNT_OF(powers_w); p++) {
        for (uint64_t seed = 1; seed <= RUNS; seed++) {
            double power_w = powers_w[p], limit_j, uncertainty_j;
            struct fired fired = {0};

            random_numbers = (struct random){seed};
            sent_count = 0;
            limit_j = some_limit_j(power_w, SECONDS);
            uncertainty_j = measure("n1", "1.0", power_w, 0, SECONDS * S, limit_j, &fired);
            assert_fired("node", &fired, limit_j / power_w, limit_j, power_w,
                         (double)INTERVAL_NS / S, uncertainty_j);
        }
    }
}

/* --- of a sum --------------------------------------------------------------------------------- */

static int by_time(const void *one, const void *other)
{
    const struct sent *a = one, *b = other;

    return (a->at_ns > b->at_ns) - (a->at_ns < b->at_ns);
}

/* What has been sent, as it comes in. */
static struct fired watch(const char *scope, double limit_j)
{
    static struct limit_list list;
    struct limit_sum sum = {.silent_ns = 3 * PERIOD_NS};
    struct limit *crossed[LIMITS_ROOM];
    struct fired fired = {0};
    char text[64];

    list = (struct limit_list){.count = 0};
    snprintf(text, sizeof text, "%s total >= %.17g J", scope, limit_j);
    assert_int_equal(limit_list_add(&list, text, NULL), 0);
    limit_list_look(&list, list.limits[0].scope, 0, 1, crossed);
    qsort(all_sent, sent_count, sizeof *all_sent, by_time);
    for (size_t i = 0; i < sent_count; i++) {
        const struct sent *sent = &all_sent[i];
        uint64_t now_ns = sent->at_ns + 1;
        double total_j;

        limit_sum_report(&sum, sent->node, sent->step, &sent->report, now_ns);
        if (sent->report.last) {
            limit_sum_end_step(&sum, sent->step, now_ns);
        }
        total_j = limit_sum_total_j(&sum, now_ns);
        if (limit_list_look(&list, list.limits[0].scope, total_j, now_ns, crossed)) {
            fired.count++;
            fired.time_ns = crossed[0]->state.crossing.time_ns;
            fired.value_j = total_j;
        }
    }
    limit_sum_clear(&sum);
    return fired;
}

TEST(of_a_step_on_two_nodes_and_of_a_job_of_three_steps)
{
    static const struct {
        const char *scope;
        size_t nodes, steps;
        uint64_t seconds;
    } cases[] = {{"step", 2, 1, SECONDS}, {"job", 1, STEPS, 3}};
    static const char *const nodes[] = {"n1", "n2"}, *const steps[] = {"1.0", "1.1", "1.2"};

    for (size_t run = 0; run < COUNT_OF(cases) * RUNS * COUNT_OF(powers_w); run++) {
        size_t c = run % COUNT_OF(cases);
        uint64_t length_ns = cases[c].seconds * S;
        double node_w = powers_w[run % COUNT_OF(powers_w)];
        double power_w = node_w * (double)cases[c].nodes, limit_j, true_s, uncertainty_j = 0;
        struct fired fired;

        random_numbers = (struct random){run + 1};
        sent_count = 0;
        limit_j = some_limit_j(power_w, (double)(cases[c].steps * cases[c].seconds));
        true_s = limit_j / power_w;
        true_s += floor(true_s / (double)cases[c].seconds) * GAP_NS / S;
        for (size_t step = 0; step < cases[c].steps; step++) {
            for (size_t node = 0; node < cases[c].nodes; node++) {
                uncertainty_j += measure(nodes[node], steps[step], node_w,
                                         step * (length_ns + GAP_NS), length_ns, 0, NULL);
            }
        }
        fired = watch(cases[c].scope, limit_j);
        assert_fired(cases[c].scope, &fired, true_s, limit_j, power_w,
                     (double)(PERIOD_NS + INTERVAL_NS) / S, uncertainty_j);
    }
}
