/* SPDX-License-Identifier: BSD-3-Clause */
/* A component's figures on the live page are those of its result, whatever its source does. */
#include "base/clock.h"
#include "fake/energy_event.h"
#include "measure/domain.h"
#include "session/live.h"
#include "sources/sources.h"
#include "unit/component_fixture.h"

#define TICK_NS UINT64_C(100000000)
#define METERS 2
#define TICKS 8
#define MANY (APAPI_LIVE_EVENTS + 44)

static struct apapi_live_page page;
static struct apapi_live_slot slot;
static struct component component;
static struct apapi_domain_result domains[APAPI_DOMAINS];
static struct feed feeds[APAPI_DOMAINS];
static struct apapi_component_result result;
static uint64_t now_ns;

/* A source that passes on what it was given. */
static struct apapi_event *events; /* MANY */
static struct apapi_reading next[MANY];
static struct apapi_reader reader;

static void read_scripted(struct apapi_reader *base, struct apapi_reading *readings)
{
    memcpy(readings, next, base->count * sizeof *readings);
}

static void close_nothing(struct apapi_reader *base)
{
    (void)base;
}

static const struct apapi_source scripted = {
    .name = "scripted", .read = read_scripted, .close = close_nothing};

static void prepare_events(size_t count, const struct apapi_event *like)
{
    for (size_t i = 0; i < count; i++) {
        events[i] = *like;
        snprintf(events[i].name, sizeof events[i].name, "fake:::EVENT%zu", i);
    }
    reader = (struct apapi_reader){.source = &scripted, .events = events, .count = count};
}

/* All events are of one component, which feeds their domains. */
static void open_component(void)
{
    const struct component_settings settings = {.interval_ns = TICK_NS};

    memset(&page, 0, sizeof page);
    memset(next, 0, sizeof next);
    live_page_init(&page);
    attach_component(&component, "fake", &reader, &settings);
    feed_clear(feeds);
    live_join(&page, &component, feeds);
    now_ns = TICK_NS;
    component_restart(&component, now_ns);
    live_restart(&page, &component, feeds);
}

static void read_component(void)
{
    component_fetch(&component);
    component_account(&component, moment_at(now_ns));
    live_show(&page, &component, 0, feeds);
    now_ns += TICK_NS;
}

static void finish(void)
{
    const struct apapi_span span = {.elapsed_ns = now_ns - 2 * TICK_NS};
    struct domain_results finished = {.results = domains};

    live_finish(&page, &component, 0, feeds);
    unmeasure_domains(domains);
    feed_clear(finished.feeds);
    assert_int_equal(component_finish(&component, 0, &span, &result, &finished), 0);
}

static void clean_up(void)
{
    free(result.events);
    result.events = NULL;
    component_close(&component);
}

static void assert_same(const char *name, const struct apapi_live_slot *live, double total)
{
    assert_true(apapi_live_read(live, &slot));
    if (!(slot.total == total || (isnan(slot.total) && isnan(total)))) {
        fail_msg("%s: %.17g on the page, %.17g in the result", name, slot.total, total);
    }
}

static void assert_page_is_result(void)
{
    for (size_t i = 0; i < result.event_count && i < APAPI_LIVE_EVENTS; i++) {
        assert_string_equal(page.names[i].name, result.events[i].event.name);
        assert_same(page.names[i].name, &page.events[i], result.events[i].total);
    }
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        assert_same(apapi_domain_name((enum apapi_domain)d), &page.domains[d], domains[d].energy_j);
        assert_int_equal((slot.flags & APAPI_LIVE_MEASURED) != 0, component.domains[d].used);
    }
}

#define FAILS UINT64_MAX
#define RANGE 262143328850u /* of fake_energy_event */

static const struct apapi_event power_event = {.name = "fake:::POWER",
                                               .unit = "W",
                                               .kind = APAPI_KIND_POWER,
                                               .domain = APAPI_DOMAIN_GPU,
                                               .type = APAPI_TYPE_UINT64,
                                               .scale = 0.001};
static const struct apapi_event temperature_event = {.name = "fake:::TEMPERATURE",
                                                     .unit = "C",
                                                     .kind = APAPI_KIND_TEMPERATURE,
                                                     .type = APAPI_TYPE_UINT64,
                                                     .scale = 1};

/* The values of two meters at each tick, and the totals of the first one and of the domain. */
static const struct script {
    const char *what;
    const struct apapi_event *event;
    uint64_t raw[METERS][TICKS];
    struct {
        double total, domain_total;
        uint64_t readings, flags; /* of the first one */
        double rate;              /* of the first one */
    } shown;
} scripts[] = {
    {"steady",
     &fake_energy_event,
     {{0, 1000000, 2000000, 3000000, 4000000, 5000000, 6000000, 7000000},
      {0, 2000000, 4000000, 6000000, 8000000, 10000000, 12000000, 14000000}},
     {7, 21, 8, 1, 10}},
    {"wrap",
     &fake_energy_event,
     {{RANGE - 1500000, RANGE - 500000, 499999, 1499999, 2499999, 3499999, 4499999, 5499999},
      {0, 1, 2, 3, 4, 5, 6, 7}},
     {7, 7.000007, 8, 1, 10}},
    {"reset",
     &fake_energy_event,
     {{9000000000, 9001000000, 9002000000, 1000000, 2000000, 3000000, 4000000, 5000000},
      {0, 1000000, 2000000, 3000000, 4000000, 5000000, 6000000, 7000000}},
     {6, 13, 7, 1, 10}},
    {"fails for a while",
     &fake_energy_event,
     {{0, 1000000, FAILS, FAILS, 4000000, 5000000, 6000000, 8000000},
      {0, 1000000, 2000000, 3000000, 4000000, 5000000, 6000000, 7000000}},
     {8, 15, 6, 1, 20}},
    {"fails to the end",
     &fake_energy_event,
     {{0, 1000000, 2000000, FAILS, FAILS, FAILS, FAILS, FAILS},
      {0, 1000000, 2000000, 3000000, 4000000, 5000000, 6000000, 7000000}},
     {2, 9, 3, 1 | 4, 10}},
    {"never read",
     &fake_energy_event,
     {{FAILS, FAILS, FAILS, FAILS, FAILS, FAILS, FAILS, FAILS},
      {0, 1000000, 2000000, 3000000, 4000000, 5000000, 6000000, 7000000}},
     {NAN, NAN, 0, 1 | 4, NAN}},
    {"stands still at every second",
     &fake_energy_event,
     {{0, 0, 2000000, 2000000, 4000000, 4000000, 6000000, 6000000},
      {0, 1000000, 2000000, 3000000, 4000000, 5000000, 6000000, 7000000}},
     {4, 11, 4, 1, 10}}, /* from the first move on */
    {"never moves",
     &fake_energy_event,
     {{5, 5, 5, 5, 5, 5, 5, 5}, {0, 1000000, 2000000, 3000000, 4000000, 5000000, 6000000, 7000000}},
     {NAN, NAN, 1, 1, NAN}},
    {"power",
     &power_event,
     {{100000, 100000, 200000, 200000, FAILS, 100000, 100000, 150000},
      {100000, 100000, 100000, 100000, 100000, 100000, 100000, 100000}},
     {10 + 15 + 20 + 10 + 12.5, 137.5, 7, 1, 150}},
    {"no energy",
     &temperature_event,
     {{40, 41, 42, 43, 44, 45, 46, 47}, {50, 50, 50, 50, 50, 50, 50, 50}},
     {NAN, NAN, 8, 1, 47}},
};

static void play(const struct script *script)
{
    for (int tick = 0; tick < TICKS; tick++) {
        for (int i = 0; i < METERS; i++) {
            uint64_t raw = script->raw[i][tick];

            next[i] =
                raw == FAILS ? (struct apapi_reading){0, EIO} : (struct apapi_reading){.raw = raw};
        }
        read_component();
    }
}

static void assert_near(const char *what, const char *of, double is, double should)
{
    if (isnan(should) ? !isnan(is) : !(fabs(is - should) < 1e-5)) {
        fail_msg("%s: %s is %.9g, not %.9g", what, of, is, should);
    }
}

TEST(the_page_says_what_the_result_says)
{
    for (size_t i = 0; i < COUNT_OF(scripts); i++) {
        const struct script *script = &scripts[i];

        prepare_events(METERS, script->event);
        open_component();
        play(script);
        finish();
        assert_page_is_result();
        assert_true(apapi_live_read(&page.events[0], &slot));
        assert_near(script->what, "total", slot.total, script->shown.total);
        assert_near(script->what, "rate", slot.rate, script->shown.rate);
        assert_near(script->what, "readings", (double)slot.readings,
                    (double)script->shown.readings);
        assert_near(script->what, "flags", (double)slot.flags, (double)script->shown.flags);
        assert_near(script->what, "domain's total", page.domains[script->event->domain].total,
                    script->shown.domain_total);
        clean_up();
    }
}

/* One of two meters fails from the fourth reading on, until the eighth. */
TEST(a_domain_is_of_when_all_its_meters_were_known)
{
    prepare_events(2, &fake_energy_event);
    open_component();
    for (uint64_t i = 0; i < 8; i++) {
        next[0].raw = i * 1000000;
        next[1] = (struct apapi_reading){.raw = i * 2000000, .error = i >= 3 && i < 7 ? EIO : 0};
        read_component();
        if (i >= 3 && i < 7) {
            assert_true(apapi_live_read(&page.domains[APAPI_DOMAIN_PACKAGE], &slot));
            assert_near("domain", "total", slot.total, 6);
            assert_int_equal(slot.time_ns, 3 * TICK_NS);
            assert_int_equal(slot.flags, APAPI_LIVE_MEASURED | APAPI_LIVE_FAILED);
        }
    }
    assert_true(apapi_live_read(&page.domains[APAPI_DOMAIN_PACKAGE], &slot));
    assert_near("domain", "total", slot.total, 21);
    assert_near("domain", "rate", slot.rate, 30);
    assert_int_equal(slot.flags, APAPI_LIVE_MEASURED);
    finish();
    clean_up();
}

/* Those that find no room are in their domain all the same. */
TEST(more_events_than_places)
{
    prepare_events(MANY, &fake_energy_event);
    open_component();
    assert_int_equal(apapi_live_event_count(&page), APAPI_LIVE_EVENTS);
    for (int tick = 0; tick < 3; tick++) {
        for (int i = 0; i < MANY; i++) {
            next[i] = (struct apapi_reading){.raw = (uint64_t)tick * 1000000};
        }
        read_component();
    }
    finish();
    assert_page_is_result();
    assert_near("many", "total", page.domains[APAPI_DOMAIN_PACKAGE].total, 2 * MANY);
    clean_up();
}

static void make_events(void)
{
    events = calloc(MANY, sizeof *events);
    assert_non_null(events);
}

static void free_events(void)
{
    free(events);
}

ALL_TESTS_IN(make_events, free_events)
