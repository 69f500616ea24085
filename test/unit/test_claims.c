/* SPDX-License-Identifier: BSD-3-Clause */
/* Which component feeds which domain if several read the same hardware: no energy counts twice. */
#include "fake/energy_event.h"
#include "session/component.h"
#include "session/live.h"
#include "session/overflow.h"
#include "session/session_common.h"
#include "sources/sources.h"
#include "unit/unit.h"

#define COMPONENTS 3
#define EVENTS_MAX 4
#define START_UJ 1000000
#define TICK_NS UINT64_C(1000000000)
#define ORIGIN_NS (5 * TICK_NS)

static struct component components[COMPONENTS];
static struct apapi_reader readers[COMPONENTS];
static struct apapi_event events[COMPONENTS][EVENTS_MAX];

static void close_nothing(struct apapi_reader *reader)
{
    (void)reader;
}

static const struct apapi_source fake_source = {.name = "fake", .close = close_nothing};

/* Make energy counters of the package domain. They move at each reading, so probes would count. */
static void make_reader(int index, int counters)
{
    memset(events[index], 0, sizeof events[index]);
    readers[index] = (struct apapi_reader){
        .source = &fake_source, .events = events[index], .count = (size_t)counters};
    for (int i = 0; i < counters; i++) {
        events[index][i] = fake_energy_event;
        events[index][i].update_ns = TICK_NS;
        snprintf(events[index][i].name, sizeof events[index][i].name, "fake:::ENERGY%d", i);
    }
}

static void attach(int index, const char *name)
{
    const struct component_settings settings = {.interval_ns = TICK_NS};

    component_begin(&components[index], name, &settings);
    assert_int_equal(component_adopt(&components[index], &readers[index]), 0);
    component_restart(&components[index], ORIGIN_NS);
}

/* Read all counters with the same value. */
static void read_at(int index, unsigned number, uint64_t raw, int error)
{
    struct component *component = &components[index];

    for (size_t i = 0; i < readers[index].count; i++) {
        component->raw[i] = (struct apapi_reading){raw, error};
    }
    component_account(component, moment_at(ORIGIN_NS + number * TICK_NS));
}

/* A component and the domains that it counts. In each domain, the first component of a case counts
 * 0.1 J, the second one 0.2 J, the third one 0.3 J. */
struct named {
    const char *name;
    enum apapi_domain domains[EVENTS_MAX];
    int counters;
};

static const struct named rapl = {
    "rapl", {APAPI_DOMAIN_PACKAGE, APAPI_DOMAIN_DRAM, APAPI_DOMAIN_CORE}, 3};
static const struct named cray_pm = {
    "cray_pm", {APAPI_DOMAIN_NODE, APAPI_DOMAIN_PACKAGE, APAPI_DOMAIN_DRAM, APAPI_DOMAIN_GPU}, 4};
static const struct named nvml = {"nvml", {APAPI_DOMAIN_GPU, APAPI_DOMAIN_GPU}, 2};

static void attach_named(int index, const struct named *named)
{
    make_reader(index, named->counters);
    for (int i = 0; i < named->counters; i++) {
        events[index][i].domain = named->domains[i];
    }
    attach(index, named->name);
}

static void measure(const struct named *const named[COMPONENTS], struct apapi_measurement *m)
{
    const struct apapi_span span = {.elapsed_ns = TICK_NS};
    struct domain_results domains = {.results = m->domains};

    feed_clear(domains.feeds);
    for (int i = 0; i < COMPONENTS && named[i]; i++) {
        struct apapi_component_result result;

        attach_named(i, named[i]);
        read_at(i, 0, START_UJ, 0);
        read_at(i, 1, START_UJ + 100000 * (uint64_t)(i + 1), 0);
        assert_int_equal(component_finish(&components[i], i, &span, &result, &domains), 0);
        assert_int_equal(result.event_count, named[i]->counters);
        free(result.events);
        component_close(&components[i]);
    }
}

TEST(the_first_component_that_has_a_domain_feeds_it)
{
    static const struct {
        const struct named *named[COMPONENTS];
        const char *domains_j;
    } cases[] = {
        {{&rapl}, "package 0.1 dram 0.1 core 0.1 total 0.2"},
        {{&cray_pm}, "package 0.1 dram 0.1 gpu 0.1 node 0.1 total 0.3"},
        {{&rapl, &cray_pm}, "package 0.1 dram 0.1 gpu 0.2 core 0.1 node 0.2 total 0.4"},
        {{&cray_pm, &rapl}, "package 0.1 dram 0.1 gpu 0.1 core 0.2 node 0.1 total 0.3"},
        /* two GPUs with 0.1 J each */
        {{&nvml, &cray_pm}, "package 0.2 dram 0.2 gpu 0.2 node 0.2 total 0.6"},
        {{&cray_pm, &nvml, &rapl}, "package 0.1 dram 0.1 gpu 0.1 core 0.3 node 0.1 total 0.3"},
        {{&rapl, &nvml, &cray_pm}, "package 0.1 dram 0.1 gpu 0.4 core 0.1 node 0.3 total 0.6"},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct apapi_measurement m = {0};
        char text[256] = "";

        measure(cases[i].named, &m);
        for (int d = 0; d < APAPI_DOMAINS; d++) {
            assert_int_equal(m.domains[d].update_ns, m.domains[d].measured ? TICK_NS : 0);
            if (m.domains[d].measured) {
                snprintf(text + strlen(text), sizeof text - strlen(text), "%s %.9g ",
                         apapi_domain_name(d), m.domains[d].energy_j);
            }
        }
        snprintf(text + strlen(text), sizeof text - strlen(text), "total %.9g",
                 apapi_measurement_total_j(&m));
        assert_string_equal(text, cases[i].domains_j);
    }
}

/* A failed reading and a standstill end the time that a level must hold. */
TEST(a_failed_reading_and_a_standstill_are_gaps_of_a_power)
{
    static const struct {
        uint64_t raw;
        int error;
        bool power, gap;
    } ticks[] = {{1, 0, false, false}, {2, 0, true, false}, {0, EIO, false, false},
                 {4, 0, true, true},   {5, 0, true, false}, {5, 0, false, false},
                 {7, 0, true, true},   {8, 0, true, false}};
    static struct overflows overflows;
    const struct overflow_sum *sum = &overflows.domains[APAPI_DOMAIN_PACKAGE].sum;

    overflow_forget_sums(&overflows);
    make_reader(0, 1);
    events[0][0].update_ns = TICK_NS / 1000;
    attach(0, "fake");
    for (unsigned i = 0; i < COUNT_OF(ticks); i++) {
        uint64_t windows = sum->windows;

        read_at(0, i, START_UJ + 100000000 * ticks[i].raw, ticks[i].error);
        overflow_see(&overflows, &components[0], 0);
        assert_int_equal(sum->windows - windows, ticks[i].power);
        assert_true(!ticks[i].power || (sum->gap == ticks[i].gap && sum->power_w == 100));
    }
    component_close(&components[0]);
}

/* Runs of ten minutes by the test's clock. From reading to reading, the first component counts 1 J,
 * the second one 2 J. */

#define TICKS 600

static struct apapi_live_page page;
static struct session_common common;

static void begin_page(void)
{
    live_page_init(&page);
    page.head.start_ns = ORIGIN_NS;
    common = (struct session_common){.live = &page, .components = components};
    common_init(&common, session_clock_real(), NULL);
}

static void begin(int index)
{
    make_reader(index, 1);
    attach(index, "fake");
    common_join(&common, &components[index]);
}

static void tick(int index, unsigned number, int error)
{
    read_at(index, number, START_UJ + number * (uint64_t)(index + 1) * 1000000, error);
    common_report(&common, &components[index]);
}

static void finish(int index, struct domain_results *domains)
{
    const struct apapi_span span = {.elapsed_ns = TICKS * TICK_NS};
    struct apapi_component_result result;

    common_finish(&common, &components[index], ORIGIN_NS + TICKS * TICK_NS);
    assert_int_equal(component_finish(&components[index], (size_t)index, &span, &result, domains),
                     0);
    free(result.events);
    component_close(&components[index]);
}

/* When each of the two components is known first, and how it fails until then. */
struct arrivals {
    unsigned ticks[2];
    int error; /* 0: it is not read at all */
};

static double run_with(const struct arrivals *arrivals)
{
    struct apapi_measurement m = {0};
    struct domain_results domains = {.results = m.domains};
    struct apapi_live_slot slot = {0};

    begin_page();
    feed_clear(domains.feeds);
    for (int i = 0; i < 2; i++) {
        begin(i);
    }
    for (unsigned number = 0; number <= TICKS; number++) {
        for (int i = 1; i >= 0; i--) {
            bool known = number >= arrivals->ticks[i];

            if (known || arrivals->error) {
                tick(i, number, known ? 0 : arrivals->error);
            }
        }
    }
    for (int i = 0; i < 2; i++) {
        finish(i, &domains);
    }
    common_clear(&common);
    assert_true(apapi_live_read(&page.domains[APAPI_DOMAIN_PACKAGE], &slot));
    assert_true(m.domains[APAPI_DOMAIN_PACKAGE].measured);
    assert_true(slot.total == m.domains[APAPI_DOMAIN_PACKAGE].energy_j);
    assert_true(slot.uncertainty_j == m.domains[APAPI_DOMAIN_PACKAGE].uncertainty_j);
    return m.domains[APAPI_DOMAIN_PACKAGE].energy_j;
}

#define NEVER (TICKS + 1)

TEST(who_comes_late_loses_no_energy)
{
    static const struct {
        unsigned ticks[2];
        int feeds;
    } cases[] = {{{0, 0}, 0},   {{10, 0}, 0},  {{11, 0}, 1},      {{598, 10}, 1}, {{NEVER, 0}, 1},
                 {{0, 300}, 0}, {{20, 15}, 1}, {{300, NEVER}, 0}, {{10, 11}, 0},  {{TICKS, 30}, 1}};
    static const int errors[] = {0, EIO};

    for (size_t i = 0; i < 2 * (COUNT_OF(cases)); i++) {
        const unsigned *ticks = cases[i / 2].ticks;
        int feeds = cases[i / 2].feeds;
        const struct arrivals arrivals = {{ticks[0], ticks[1]}, errors[i % 2]};

        double energy_j = run_with(&arrivals);

        fail_if(fabs(energy_j - (TICKS - ticks[feeds]) * (feeds + 1.0)) > 1e-9,
                "case %zu: the package is %g J", i / 2, energy_j);
    }
}

/* 1 J a second, counted once a second: uncertain by one update, and by more with few readings. */
TEST(the_page_has_an_uncertainty_from_the_second_reading_on)
{
    const struct apapi_live_slot *slots[] = {&page.domains[APAPI_DOMAIN_PACKAGE], &page.events[0]};

    memset(&page, 0, sizeof page);
    begin_page();
    begin(0);
    for (unsigned number = 0; number <= 3; number++) {
        tick(0, number, 0);
        for (size_t i = 0; i < COUNT_OF(slots); i++) {
            double uncertainty_j = slots[i]->uncertainty_j;

            assert_int_equal(isnan(slots[i]->total), number == 0);
            assert_int_equal(isnan(uncertainty_j), number == 0);
            assert_false(number > 0 && fabs(uncertainty_j - (1 + 1.5 / number)) > 1e-3);
        }
    }
    component_close(&components[0]);
    common_clear(&common);
}

/* Other memory of root's process must not get onto the page. */
TEST(nothing_else_gets_onto_the_page)
{
    struct apapi_event *event = &events[0][0];

    begin_page();
    make_reader(0, 1);
    memset(event->name, '#', sizeof event->name);
    memset(event->unit, '#', sizeof event->unit);
    strcpy(event->name, "a");
    strcpy(event->unit, "J");
    attach(0, "fake");
    common_join(&common, &components[0]);
    assert_null(memchr(&page, '#', sizeof page));
    component_close(&components[0]);
    common_clear(&common);
}

/* Events without room on the page are only in the domains. */
TEST(a_page_has_room_for_so_many_events)
{
    begin_page();
    attach_named(0, &rapl);
    page.head.event_count = APAPI_LIVE_EVENTS - 2;
    common_join(&common, &components[0]);
    assert_int_equal(components[0].live_count, 2);
    assert_int_equal(page.head.event_count, APAPI_LIVE_EVENTS);
    assert_string_equal(page.names[APAPI_LIVE_EVENTS - 1].name, "fake:::ENERGY1");
    component_close(&components[0]);
    common_clear(&common);
}
