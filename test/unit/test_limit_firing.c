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

static const double powers_w[] = {40, 240, 900};

/* The totals of a step on a node, as they are sent: all times since the step's begin. */
struct sent {
    size_t count;
    struct {
        uint64_t at_ns;
        struct limit_report report;
    } reports[REPORTS_MAX];
    uint64_t end_ns;
    double uncertainty_j;
    size_t fired; /* the node's own limit */
    uint64_t fired_ns;
    double fired_j;
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
    struct sent *sent = context;

    sent->fired += crossing->count;
    sent->fired_ns = crossing->time_ns;
    sent->fired_j = crossing->value;
}

static void tell(const struct apapi_sample *sample, void *context)
{
    (void)sample;
    session_tell(*(struct apapi_session **)context);
}

static void add_report(struct sent *sent, struct apapi_session *session, uint64_t at_ns)
{
    struct apapi_measurement measurement;

    assert_int_equal(apapi_session_snapshot(session, &measurement, NULL), 0);
    assert_true(sent->count < REPORTS_MAX);
    sent->reports[sent->count].at_ns = at_ns;
    sent->reports[sent->count++].report =
        (struct limit_report){.run = 1,
                              .elapsed_ns = measurement.elapsed_ns,
                              .total_j = apapi_measurement_total_j(&measurement)};
    apapi_measurement_clear(&measurement);
}

/* Measure constant power for a time; the node's limit is at `limit_j`, 0: none. */
static void measure(struct sent *sent, double power_w, uint64_t length_ns, double limit_j)
{
    const struct apapi_intervals intervals = {.default_ns = INTERVAL_NS};
    struct apapi_session *session;
    const struct apapi_session_config config = {
        .components = "c0", .intervals = &intervals, .on_sample = tell, .context = &session};
    struct apapi_measurement measurement;
    uint64_t start_ns, at_ns = random_below(&random_numbers, PERIOD_NS);

    memset(sent, 0, sizeof *sent);
    make_history(power_w);
    sim_clock_init(&sim, random_below(&random_numbers, 1000000) + 1, 5000 * S);
    sim_source_use(&source, &history, &sim);
    session = session_create(&config, &sim.base, NULL);
    assert_non_null(session);
    if (limit_j > 0) {
        assert_true(apapi_overflow_set(session, "total", limit_j, APAPI_OVERFLOW_TOTAL, note_fired,
                                       sent) >= 0);
    }
    assert_int_equal(apapi_session_start(session, 0, NULL), 0);
    start_ns = source.origin_ns + source.components[0].value_ns;
    for (; at_ns < length_ns; at_ns += PERIOD_NS) {
        sim_clock_sleep(&sim, start_ns + at_ns);
        add_report(sent, session, at_ns);
    }
    sim_clock_sleep(&sim, start_ns + length_ns);
    assert_int_equal(apapi_session_stop(session, NULL), 0);
    assert_int_equal(apapi_session_snapshot(session, &measurement, NULL), 0);
    sent->end_ns = source.origin_ns + source.components[0].value_ns - start_ns;
    sent->reports[sent->count].at_ns = sent->end_ns;
    sent->reports[sent->count].report =
        (struct limit_report){.run = 1,
                              .elapsed_ns = measurement.elapsed_ns,
                              .total_j = apapi_measurement_total_j(&measurement)};
    sent->uncertainty_j = measurement.domains[APAPI_DOMAIN_PACKAGE].uncertainty_j;
    sent->fired_ns -= sent->fired_ns ? start_ns : 0;
    apapi_measurement_clear(&measurement);
    apapi_session_destroy(session);
    assert_true(sim_clock_finish(&sim));
}

static void assert_fired(const char *scope, uint64_t time_ns, double true_s, double value_j,
                         double limit_j, double power_w, double interval_s, double uncertainty_j)
{
    double error_s = fabs((double)time_ns / S - true_s), error_j = fabs(value_j - limit_j);

    if (error_s > interval_s + uncertainty_j / power_w ||
        error_j > power_w * interval_s + uncertainty_j) {
        fail_msg("%s: %g s instead of %g s, %g J instead of %g J (%g W, +- %g J)", scope,
                 (double)time_ns / S, true_s, value_j, limit_j, power_w, uncertainty_j);
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
            double power_w = powers_w[p], limit_j;
            struct sent sent;

            random_numbers = (struct random){seed};
            limit_j = some_limit_j(power_w, SECONDS);
            measure(&sent, power_w, SECONDS * S, limit_j);
            assert_int_equal(sent.fired, 1);
            assert_fired("node", sent.fired_ns, limit_j / power_w, sent.fired_j, limit_j, power_w,
                         (double)INTERVAL_NS / S, sent.uncertainty_j);
        }
    }
}

/* A limit of a sum, and when it has fired. */
struct watched {
    struct limit_list list;
    size_t fired;
    uint64_t time_ns;
    double sum_j;
};

static void begin(struct watched *watched, const char *scope, double limit_j)
{
    char text[64];

    memset(watched, 0, sizeof *watched);
    snprintf(text, sizeof text, "%s total >= %.17g J", scope, limit_j);
    assert_int_equal(limit_list_add(&watched->list, text, NULL), 0);
}

static void look(struct watched *watched, double sum_j, uint64_t now_ns)
{
    struct limit *crossed[LIMITS_ROOM];

    if (limit_list_look(&watched->list, watched->list.limits[0].scope, sum_j, now_ns, crossed)) {
        watched->fired++;
        watched->time_ns = crossed[0]->state.crossing.time_ns;
        watched->sum_j = sum_j;
    }
}

#define NODES 2

TEST(of_a_step_on_two_nodes)
{
    static struct watched watched;
    static struct sent sent[NODES];
    static const char *const names[NODES] = {"n1", "n2"};

    for (size_t run = 0; run < RUNS * COUNT_OF(powers_w); run++) {
        double power_w = 2 * powers_w[run % COUNT_OF(powers_w)], limit_j;
        struct limit_sum sum = {.silent_ns = 3 * PERIOD_NS};
        size_t next[NODES] = {0};

        random_numbers = (struct random){run + 1};
        limit_j = some_limit_j(power_w, SECONDS);
        begin(&watched, "step", limit_j);
        for (size_t n = 0; n < NODES; n++) {
            measure(&sent[n], power_w / 2, SECONDS * S, 0);
        }
        look(&watched, 0, 1);
        for (;;) {
            size_t n = next[1] < sent[1].count &&
                       (next[0] == sent[0].count ||
                        sent[1].reports[next[1]].at_ns < sent[0].reports[next[0]].at_ns);
            uint64_t now_ns = sent[n].reports[next[n]].at_ns + 1;

            if (next[n] == sent[n].count) {
                break;
            }
            limit_sum_report(&sum, names[n], "1.0", &sent[n].reports[next[n]++].report, now_ns);
            look(&watched, limit_sum_total_j(&sum, now_ns), now_ns);
        }
        assert_int_equal(watched.fired, 1);
        assert_fired("step", watched.time_ns, limit_j / power_w, watched.sum_j, limit_j, power_w,
                     (double)(PERIOD_NS + INTERVAL_NS) / S,
                     sent[0].uncertainty_j + sent[1].uncertainty_j);
        limit_sum_clear(&sum);
    }
}

#define STEPS 3
#define STEP_SECONDS 3
#define GAP_NS (S / 2) /* between two steps nothing is measured */

TEST(of_a_job_of_three_steps)
{
    static const char *const names[STEPS] = {"1.0", "1.1", "1.2"};
    static struct watched watched;
    static struct sent sent;

    for (size_t run = 0; run < RUNS * COUNT_OF(powers_w); run++) {
        double power_w = powers_w[run % COUNT_OF(powers_w)], limit_j, uncertainty_j = 0, true_s;
        struct limit_sum job = {.silent_ns = 3 * PERIOD_NS};
        uint64_t begun_ns = 0;

        random_numbers = (struct random){run + 1};
        limit_j = some_limit_j(power_w, STEPS * STEP_SECONDS);
        true_s = limit_j / power_w;
        true_s += floor(true_s / STEP_SECONDS) * GAP_NS / S;
        begin(&watched, "job", limit_j);
        look(&watched, 0, 1);
        for (size_t i = 0; i < STEPS; i++) {
            uint64_t now_ns = 0;

            measure(&sent, power_w, STEP_SECONDS * S, 0);
            for (size_t r = 0; r < sent.count; r++) {
                now_ns = begun_ns + sent.reports[r].at_ns + 1;
                limit_sum_report(&job, "n1", names[i], &sent.reports[r].report, now_ns);
                look(&watched, limit_sum_total_j(&job, now_ns), now_ns);
            }
            now_ns = begun_ns + sent.end_ns + 1;
            sent.reports[sent.count].report.last = true;
            limit_sum_report(&job, "n1", names[i], &sent.reports[sent.count].report, now_ns);
            limit_sum_end_step(&job, names[i], now_ns);
            look(&watched, limit_sum_total_j(&job, now_ns), now_ns);
            uncertainty_j += sent.uncertainty_j;
            begun_ns += STEP_SECONDS * S + GAP_NS;
        }
        assert_int_equal(watched.fired, 1);
        assert_fired("job", watched.time_ns, true_s, watched.sum_j, limit_j, power_w,
                     (double)(PERIOD_NS + INTERVAL_NS) / S, uncertainty_j);
        limit_sum_clear(&job);
    }
}
