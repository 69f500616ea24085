/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Power within a millisecond tells what a program computes. A session reads that densely at its
 * start, for its sums; nothing finer than `min_interval` may leave it, in any form. The time is
 * simulated; the power changes every millisecond, between 15 and 450 W.
 */

#include "apapi/live.h"
#include "apapi/overflow.h"
#include "session/session.h"
#include "simulation/sim_source.h"
#include "unit/unit.h"

#define MS UINT64_C(1000000)
#define MIN_NS (10 * MS)
#define LATE_NS (MIN_NS / 8) /* a reading on the grid is at most this late */
#define RUN_NS (300 * MS)
#define LEAST_W 15.0
#define MOST_W 450.0
#define FINE_W 300.0 /* the mean of any 10 ms is less */
#define MOMENTS_MAX 4096
#define UPDATE_NS (MS / 5)                     /* the first reading is made within this time */
#define SAME_J ((MOST_W - LEAST_W) * 2e-4 * 2) /* by an update at each end */

/* When an output got new values. */
struct moments {
    const char *output;
    size_t count;
    uint64_t at_ns[MOMENTS_MAX];
};

static struct history history;
static struct sim_clock sim;
static struct sim_source source;
static struct apapi_session *session;
static struct apapi_live_page page;
static struct apapi_measurement m;
static struct moments samples, pages[4], crossings;
static uint64_t above;
static uint64_t start_ns, stop_ns;
static uint64_t begin_ns;               /* start of the simulated time */
static bool falls;                      /* each pair of milliseconds has its higher power first */
static double within_j[2][MOMENTS_MAX]; /* uncertainties on the page, by `falls` */

static void note(struct moments *moments, uint64_t at_ns)
{
    if (moments->count == 0 || moments->at_ns[moments->count - 1] != at_ns) {
        assert_true(moments->count < MOMENTS_MAX);
        moments->at_ns[moments->count++] = at_ns;
    }
}

static void take_sample(const struct apapi_sample *sample, void *context)
{
    (void)context;
    note(&samples, start_ns + sample->time_ns);
    session_tell(session);
}

/* Note the page: after each such call, the regions of a program get their energy from it. */
static void take_page(const struct apapi_live_page *live, void *context)
{
    const struct apapi_live_slot *slots[] = {&live->events[0], &live->events[1],
                                             &live->domains[APAPI_DOMAIN_PACKAGE],
                                             &live->domains[APAPI_DOMAIN_DRAM]};

    (void)context;
    start_ns = live->head.start_ns;
    for (size_t i = 0; i < COUNT_OF(slots); i++) {
        note(&pages[i], slots[i]->time_ns);
    }
    within_j[falls][pages[0].count] = slots[0]->uncertainty_j;
}

static void take_crossing(const struct apapi_overflow_crossing *crossing, void *context)
{
    (void)context;
    note(&crossings, crossing->seen_ns);
}

static void take_level(const struct apapi_overflow_crossing *crossing, void *context)
{
    (void)context;
    above += crossing->count;
}

static void make_history(uint64_t seed)
{
    struct history_component *component = &history.components[0];

    memset(&history, 0, sizeof history);
    history.seed = seed;
    history.component_count = 1;
    *component = (struct history_component){.event_count = 2, .read_ns = 5000};
    component->meters[0] = (struct history_meter){.domain = APAPI_DOMAIN_PACKAGE,
                                                  .scale = 1e-6,
                                                  .range_max = UINT32_MAX,
                                                  .update_ns = UPDATE_NS,
                                                  .stated_ns = seed % 2 ? UPDATE_NS : 0};
    component->meters[1] = (struct history_meter){
        .domain = APAPI_DOMAIN_DRAM, .gauge = true, .scale = 1e-3, .update_ns = 1};
    for (size_t i = 0; i < 2; i++) {
        enum apapi_domain domain = component->meters[i].domain;
        struct power *power = &history.powers[domain][0];

        power_init(power, history.parts[domain][0], HISTORY_PARTS);
        power_add_part(power, MS, i || falls ? MOST_W : LEAST_W);
        power_add_part(power, MS, !i && falls ? LEAST_W : MOST_W);
    }
}

static void measure(uint64_t seed, uint64_t interval_ns)
{
    const struct apapi_intervals intervals = {.default_ns = interval_ns};
    const struct apapi_session_config config = {.components = "c0",
                                                .intervals = &intervals,
                                                .min_interval_ns = MIN_NS,
                                                .on_sample = take_sample,
                                                .live = &page,
                                                .on_live = take_page};

    memset(&page, 0, sizeof page);
    samples.count = crossings.count = above = 0;
    for (size_t i = 0; i < COUNT_OF(pages); i++) {
        pages[i].count = 0;
    }
    make_history(seed);
    sim_clock_init(&sim, seed, begin_ns);
    sim_source_use(&source, &history, &sim);
    session = session_create(&config, &sim.base, NULL);
    assert_non_null(session);
    apapi_overflow_set(session, "c0:::E0", 0.01, APAPI_OVERFLOW_EVERY, take_crossing, NULL);
    apapi_overflow_set(session, "package", 0.01, APAPI_OVERFLOW_EVERY, take_crossing, NULL);
    apapi_overflow_set(session, "package", FINE_W, APAPI_OVERFLOW_ABOVE, take_level, NULL);
    sim_clock_sleep(&sim, begin_ns + MIN_NS); /* opening takes a time that is no whole number */
    assert_int_equal(apapi_session_start(session, 0, NULL), 0);
    sim_clock_sleep(&sim, page.head.start_ns + RUN_NS);
    stop_ns = sim.running->now_ns;
    assert_int_equal(apapi_session_stop(session, NULL), 0);
    assert_int_equal(apapi_session_measurement(session, &m, NULL), 0);
    assert_int_equal(page.head.state, APAPI_LIVE_ENDED);
    apapi_session_destroy(session);
    assert_true(sim_clock_finish(&sim));
}

/* Check that readings are on the grid and not nearer than it, except the first and the last one. */
static void assert_coarse(const struct moments *moments)
{
    uint64_t before_ns = start_ns;

    assert_true(moments->count >= 2);
    for (size_t i = 0; i < moments->count; i++) {
        uint64_t at_ns = moments->at_ns[i];
        bool first = at_ns < start_ns + MS, last = at_ns >= stop_ns;

        fail_if(!first && !last &&
                    (at_ns % MIN_NS > LATE_NS || at_ns - before_ns < MIN_NS - LATE_NS),
                "%s: %.6f s after the start, %.6f s after the one before", moments->output,
                (double)(at_ns - start_ns) / 1e9, (double)(at_ns - before_ns) / 1e9);
        before_ns = at_ns;
    }
}

static void assert_mean(const char *what, double w)
{
    fail_if(!isnan(w) && !(w > LEAST_W + 50 && w < FINE_W), "%s: %g W is no mean of 10 ms", what,
            w);
}

static void assert_result_is_coarse(void)
{
    const struct apapi_domain_result *package = &m.domains[APAPI_DOMAIN_PACKAGE];
    const struct apapi_summary *counter = &m.components[0].events[0].summary;
    const struct apapi_timeline *timeline = &package->timeline;

    assert_true(timeline->bin_ns >= MIN_NS);
    for (size_t i = 0; i + 1 < timeline->count; i++) {
        assert_mean("a bin", apapi_timeline_power_w(timeline, i));
    }
    assert_mean("the least power", counter->min);
    assert_mean("the greatest power", counter->max);
    assert_mean("the greatest power in 95 %", counter->p95);
    assert_mean("the package's least power", package->power_w.min);
    assert_mean("the package's greatest power", package->power_w.max);
}

static void look_at_all(uint64_t seed, uint64_t interval_ns)
{
    begin_ns = 5000000 * MS + seed * 777777;
    measure(seed, interval_ns);
    /* without these readings, the test would show nothing */
    assert_true(m.components[0].events[0].incidents.samples >= samples.count + 3);
    assert_true(
        fabs(m.components[0].events[0].total - (LEAST_W + MOST_W) / 2 * (double)RUN_NS / 1e9) < 1);
    assert_coarse(&samples);
    assert_coarse(&crossings);
    for (size_t i = 0; i < COUNT_OF(pages); i++) {
        assert_coarse(&pages[i]);
    }
    assert_int_equal(above, 0);
    assert_result_is_coarse();
    apapi_measurement_clear(&m);
}

TEST(nothing_finer_leaves_a_session)
{
    samples.output = "sample";
    crossings.output = "threshold";
    pages[0].output = pages[1].output = "live page, event";
    pages[2].output = pages[3].output = "live page, domain";
    for (uint64_t seed = 1; seed <= 40; seed++) {
        look_at_all(seed, MIN_NS);
        look_at_all(seed, 10 * MIN_NS);
    }
}

/*
 * Two programs use the same energy in each pair of milliseconds, but one of them uses more in the
 * first millisecond, the other in the second. The grid shows the same of both, so the uncertainty
 * is the same, up to what one update and one reading change.
 */
static void compare_uncertainties(uint64_t seed, uint64_t interval_ns)
{
    double end_j[2];
    size_t count[2];

    for (int i = 0; i < 2; i++) {
        falls = i;
        begin_ns = 5000000 * MS;
        measure(seed, interval_ns);
        end_j[i] = m.components[0].events[0].uncertainty_j;
        count[i] = pages[0].count;
        apapi_measurement_clear(&m);
    }
    falls = false;
    assert_int_equal(count[0], count[1]);
    assert_true(end_j[0] > 0.01 && (interval_ns > RUN_NS || within_j[0][count[0] - 1] > 0.01));
    for (size_t i = 1; i <= count[0]; i++) {
        fail_if(fabs(within_j[0][i] - within_j[1][i]) > SAME_J, "seed %d: reading %zu: %g J, %g J",
                (int)seed, i, within_j[0][i], within_j[1][i]);
    }
    fail_if(fabs(end_j[0] - end_j[1]) > SAME_J, "seed %d: %g J, %g J at the end", (int)seed,
            end_j[0], end_j[1]);
}

TEST(the_uncertainty_tells_nothing_finer)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        compare_uncertainties(seed, MIN_NS);
        compare_uncertainties(seed, 10 * MIN_NS);
        compare_uncertainties(seed, 100 * MIN_NS); /* the whole run is in the dense start */
    }
}
