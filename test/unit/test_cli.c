/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of the commands of apapi: live pages, two readings, texts of times. */
#include <time.h>

#include "cli/doctor/evaluate.h"
#include "cli/query.h"
#include "cli/steps/steps.h"
#include "unit/unit.h"

#define NOW_NS UINT64_C(1000000000000)
#define S UINT64_C(1000000000)

static struct apapi_live_page pages[8];

static const struct apapi_live_slot unmeasured = {.total = NAN, .rate = NAN};

static struct apapi_live_slot slot(double watts, double joules, double age_s)
{
    return (struct apapi_live_slot){.time_ns = NOW_NS - (uint64_t)(age_s * 1e9),
                                    .total = joules,
                                    .rate = watts,
                                    .readings = 10,
                                    .interval_ns = S / 10,
                                    .flags = APAPI_LIVE_MEASURED};
}

/* Make the page of a step that has run for a minute with 200 W. */
static struct apapi_live_page *page(int index, uint32_t job)
{
    struct apapi_live_page *page = &pages[index];

    *page = (struct apapi_live_page){.head = {.state = APAPI_LIVE_RUNNING,
                                              .job = job,
                                              .array_job = APAPI_LIVE_UNKNOWN,
                                              .array_task = APAPI_LIVE_UNKNOWN,
                                              .het_job = APAPI_LIVE_UNKNOWN,
                                              .het_offset = APAPI_LIVE_UNKNOWN,
                                              .uid = 1000,
                                              .start_unix_ns = 1795168800000000000,
                                              .start_ns = NOW_NS - 60 * S,
                                              .node = "n1",
                                              .step = "0",
                                              .user = "anna"}};
    for (int d = 0; d < APAPI_LIVE_DOMAINS; d++) {
        page->domains[d] = unmeasured;
    }
    page->domains[APAPI_DOMAIN_PACKAGE] = slot(200, 12000, 0.1);
    return page;
}

static void put_event(struct apapi_live_page *page, const char *name, enum apapi_kind kind,
                      enum apapi_domain domain)
{
    uint32_t index = page->head.event_count++;
    struct apapi_live_event *event = &page->names[index];

    snprintf(event->name, sizeof event->name, "%s", name);
    snprintf(event->unit, sizeof event->unit, "J");
    event->kind = kind;
    event->domain = domain;
    event->accumulates = 1;
    page->events[index] = slot(50, 500, 0.1);
}

/* @return a view of the first pages; the caller clears it. */
static struct top_view view_of(int count)
{
    struct top_view view = {.unix_ns = 1795168860000000000, .mono_ns = NOW_NS};

    for (int i = 0; i < count; i++) {
        assert_int_equal(top_add(&view, &pages[i]), 0);
    }
    assert_int_equal(top_work_out(&view, TOP_BY_JOB), 0);
    return view;
}

/* --- the model ------------------------------------------------------------------------------ */

TEST(a_slot_that_is_being_written)
{
    struct top_view view;
    struct top_figure package;

    page(0, 17)->domains[APAPI_DOMAIN_PACKAGE].sequence = 3;
    view = view_of(1);
    package = view.steps->domains[APAPI_DOMAIN_PACKAGE];
    assert_true(package.measured && !package.failed);
    assert_true(isnan(package.now) && isnan(package.total));
    top_clear(&view);
}

TEST(texts_without_end)
{
    struct top_view view;

    page(0, 17);
    memset(pages[0].head.node, 'n', sizeof pages[0].head.node);
    memset(pages[0].head.user, 'u', sizeof pages[0].head.user);
    memset(pages[0].head.step, '9', sizeof pages[0].head.step);
    memset(pages[0].head.job_name, 'j', sizeof pages[0].head.job_name);
    put_event(&pages[0], "", APAPI_KIND_ENERGY, APAPI_DOMAIN_GPU);
    memset(pages[0].names[0].name, 'e', sizeof pages[0].names[0].name);
    memset(pages[0].names[0].unit, 'x', sizeof pages[0].names[0].unit);
    put_event(&pages[0], "", APAPI_KIND_COUNT, APAPI_DOMAIN_NONE);
    pages[0].names[1].kind = pages[0].names[1].domain = 4711;
    pages[0].head.state = 4711;
    view = view_of(1);
    assert_int_equal(strlen(view.steps->id.node), APAPI_TEXT_SIZE - 1);
    assert_int_equal(strlen(view.steps->id.user), 63);
    assert_int_equal(strlen(view.steps->id.job_name), 128);
    assert_int_equal(view.steps->gpu_meter_count, 1);
    assert_int_equal(strlen(view.steps->gpu_meters[0]), APAPI_NAME_SIZE - 1);
    assert_int_equal(view.steps->state, APAPI_LIVE_STARTING);
    top_clear(&view);
}

/* --- nodes ---------------------------------------------------------------------------------- */

/* @param gpus  one digit for each GPU that the step reads */
static void put_gpus(int index, const char *gpus, double watts, double age_s)
{
    char name[APAPI_NAME_SIZE];

    for (; *gpus; gpus++) {
        snprintf(name, sizeof name, "nvml:::device_%c:total_energy_consumption", *gpus);
        put_event(&pages[index], name, APAPI_KIND_ENERGY, APAPI_DOMAIN_GPU);
        snprintf(name, sizeof name, "nvml:::device_%c:temperature", *gpus);
        put_event(&pages[index], name, APAPI_KIND_TEMPERATURE, APAPI_DOMAIN_NONE);
    }
    pages[index].domains[APAPI_DOMAIN_GPU] = slot(watts, watts, age_s);
}

TEST(gpus_of_steps)
{
    static const struct {
        const char *gpus[3];
        double watts; /* power of the node, while the steps show 300, 400 and 500 W */
    } cases[] = {{{"0", "1", "23"}, 1200},
                 {{"01", "01", "01"}, 500}, /* the last one is the newest */
                 {{"01", "23", "01"}, 900},
                 {{"0", "01", "2"}, NAN},
                 {{"01", "1", "2"}, NAN}};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        double now_w;
        struct top_view view;

        for (int s = 0; s < 3; s++) {
            page(s, 17 + (uint32_t)s);
            put_gpus(s, cases[i].gpus[s], 300 + 100 * s, 0.3 - 0.1 * s);
        }
        view = view_of(3);
        now_w = view.nodes->domains[APAPI_DOMAIN_GPU].now;
        assert_true(now_w == cases[i].watts || (isnan(now_w) && isnan(cases[i].watts)));
        assert_int_equal(isnan(view.nodes->domains[TOP_TOTAL].now), isnan(cases[i].watts));
        top_clear(&view);
    }
}

/* --- verdicts of doctor ----------------------------------------------------------------------- */

static const struct apapi_event energy = {
    "e",  "J",       APAPI_KIND_ENERGY, APAPI_DOMAIN_PACKAGE, APAPI_TYPE_UINT64,
    true, 999999999, .scale = 1e-6};
static const struct apapi_event power = {
    "p", "W", APAPI_KIND_POWER, APAPI_DOMAIN_GPU, APAPI_TYPE_INT64, .scale = 1e-3};
static const struct apapi_event temperature = {
    "t", "C", APAPI_KIND_TEMPERATURE, APAPI_DOMAIN_NONE, APAPI_TYPE_INT64, .scale = 1e-3};
static const struct apapi_event packets = {
    "n", "", APAPI_KIND_COUNT, APAPI_DOMAIN_NONE, APAPI_TYPE_UINT64, true, .scale = 1};
static const struct apapi_event load = {
    "l", "%", APAPI_KIND_UTILIZATION, APAPI_DOMAIN_NONE, APAPI_TYPE_FP64, .scale = 1};

/* A counter without a range never goes back. */
static const struct apapi_event endless = {
    "e", "J", APAPI_KIND_ENERGY, APAPI_DOMAIN_PACKAGE, APAPI_TYPE_UINT64, true, .scale = 1e-6};

static const struct evaluation_case {
    const struct apapi_event *event;
    struct apapi_reading before, after;
    const char *text;
} evaluations[] = {
    {&energy, {1000000, 0}, {11000000, 0}, ""}, /* 100 W for 0.1 s */
    {&energy, {1000000, 0}, {1000000, 0}, "opens but never moves: dead"},
    {&energy, {999000000, 0}, {4000000, 0}, ""}, /* wrapped */
    {&energy, {0, 0}, {900000000, 0}, "implausible: 9.000 kW"},
    {&energy, {0, 0}, {1000000000, 0}, "implausible: above its own range"},
    {&energy, {1, 0}, {0, ENODATA}, "No data available"},
    {&energy, {0, ENODATA}, {1, 0}, "No data available"},
    {&endless, {20, 0}, {10, 0}, "goes backwards"},
    {&power, {250000, 0}, {250000, 0}, ""}, /* a gauge may stand still */
    {&power, {250000, 0}, {0, 0}, "implausible: 0.00 W"},
    {&power, {250000, 0}, {50000000, 0}, "implausible: 50.00 kW"},
    {&temperature, {45000, 0}, {(uint64_t)INT64_C(-20000), 0}, ""},
    {&temperature, {45000, 0}, {255000000, 0}, "implausible: 255000 C"},
    {&packets, {7, 0}, {7, 0}, ""}, /* the network may be idle */
    {&load, {UINT64_C(0x7FF8) << 48, 0}, {UINT64_C(0x7FF8) << 48, 0}, "implausible: -"}, /* NaN */
};

TEST(verdicts)
{
    for (size_t i = 0; i < COUNT_OF(evaluations); i++) {
        const struct two_readings readings = {evaluations[i].before, evaluations[i].after, 0.1};
        char text[96] = "";

        assert_int_equal(evaluate_event(evaluations[i].event, &readings, text, sizeof text),
                         !*evaluations[i].text);
        assert_string_equal(text, evaluations[i].text);
    }
}

/* --- times ------------------------------------------------------------------------------------ */

#define NOW (1795262400 * (int64_t)S + 123456789) /* 2026-11-21T12:00:00Z */

TEST(times_are_read)
{
    static const struct {
        const char *text;
        int64_t seconds;
    } cases[] = {
        {"2026-11-21T12:00:00Z", 1795262400},
        {"2026-11-21Z", 1795219200},
        {"2026-11-21T12:00:00", 1795258800}, /* an hour east of Greenwich */
        {"2026-07-01T12:00", 1782900000},    /* and two in summer */
        {"2026-11-21", 1795215600},
        {"2024-02-29Z", 1709164800},
        {"1970-01-01Z", 0},
        {"now", 1795262400},
        {"today", 1795215600},
        {"30s", 1795262370},
        {"7d", 1794657600},
        {"90minutes", 1795257000},
        {"now-1hour", 1795258800},
        {"now+30", 1795262430},
        {"NOW-2w", 1794052800},
        {"tomorrow", 1795302000},
        {"yesterdayT10:00", 1795165200},
        {"noon", 1795258800},
        {"fika", 1795269600},
        {"today-noon", 1795258800},
        {"11:20", 1795256400},
        {"11:20:30Z", 1795260030},
        {"12:05AM", 1795215900},
        {"01:00PM", 1795262400},
        {"1121", 1795215600},
        {"11/20/26", 1795129200},
        {"11.20", 1795129200},
        {"11/20/26-10:00:30", 1795165230},
        {"1201", 1764543600}, /* a future month is last year's */
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        int64_t unix_ns = -1;

        fail_if(when_parse(cases[i].text, NOW, &unix_ns, NULL) ||
                    unix_ns != cases[i].seconds * (int64_t)S,
                "%s: %lld", cases[i].text, (long long)(unix_ns / (int64_t)S));
    }
}

TEST(what_is_no_time_is_refused)
{
    char texts[] = "| |x|12|12x|h|-1h|1h |1hh|1h30m|1.5h|9999999999s|999999999w|2026|2026-11|"
                   "2026-1-2|2026-13-01|2026-02-30|2025-02-29|2026-11-21T|2026-11-21T12|"
                   "2026-11-21T24:00|2026-11-21T12:60|2026-11-21T12:00:61|2026-11-21T12:00:00ZZ|"
                   "2026-11-21T12:00:00.5Z|2026-11-21z|1969-12-31Z|2263-01-01Z|todayx|now1|now-|"
                   "now-1hourss|now-1x|now 1h|now+999999999weeks|now-999999999weeks|nowZ|noonish|"
                   "24:00|11:2|1:20|11:20am:30|13:00PM|00:30AM|1321|0230|112|11212|11212026|"
                   "11/21.26|11/21/2026|11-21|11/21/|11/21/26-|-|T|Z| 2026-11-21|2026-11-21 12:00|"
                   "+026-11-21";
    char *rest = texts, *text;

    while ((text = strsep(&rest, "|"))) {
        int64_t unix_ns = 5;

        fail_if(when_parse(text, NOW, &unix_ns, NULL) == 0 || errno != EINVAL || unix_ns != 5,
                "'%s' was taken", text);
    }
}

static void set_zone(void)
{
    setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
    tzset();
}

ALL_TESTS_IN(set_zone, NULL)
