/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi top: its data from live pages, and its output. */
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

/* A step of a minute; its package has been read `age_s` ago. */
static struct apapi_live_page *page(int index, const char *node, uint32_t job, double watts,
                                    double age_s)
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
                                              .step = "0",
                                              .user = "anna"}};
    snprintf(page->head.node, sizeof page->head.node, "%s", node);
    for (int d = 0; d < APAPI_LIVE_DOMAINS; d++) {
        page->domains[d] = unmeasured;
    }
    page->domains[APAPI_DOMAIN_PACKAGE] = slot(watts, watts * 60, age_s);
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

/* To be cleared by the caller. */
static struct top_view view_of(int count)
{
    struct top_view view = {.unix_ns = 1795168860000000000, .mono_ns = NOW_NS};

    for (int i = 0; i < count; i++) {
        assert_int_equal(top_add(&view, &pages[i]), 0);
    }
    assert_int_equal(top_work_out(&view, TOP_BY_JOB), 0);
    return view;
}

static struct top_figure package_of(const struct top_view *view)
{
    return view->steps->domains[APAPI_DOMAIN_PACKAGE];
}

/* --- the model ------------------------------------------------------------------------------ */

TEST(step)
{
    struct top_view view;

    page(0, "n1", 17, 200, 0.1);
    pages[0].domains[APAPI_DOMAIN_DRAM] = slot(40, 2400, 0.1);
    pages[0].domains[APAPI_DOMAIN_CORE] = slot(90, 5400, 0.1);
    view = view_of(1);
    assert_string_equal(view.steps->name, "17.0");
    assert_true(view.steps->elapsed_s == 60);
    assert_true(view.steps->domains[TOP_TOTAL].now == 240);
    assert_true(view.steps->domains[TOP_TOTAL].total == 14400);
    assert_false(view.steps->domains[APAPI_DOMAIN_GPU].measured);
    top_clear(&view);
}

TEST(what_a_part_lacks_the_sum_lacks)
{
    struct top_view view;

    page(0, "n1", 17, 200, 0.1);
    pages[0].domains[APAPI_DOMAIN_GPU] = unmeasured;
    pages[0].domains[APAPI_DOMAIN_GPU].flags = APAPI_LIVE_MEASURED | APAPI_LIVE_FAILED;
    view = view_of(1);
    assert_true(package_of(&view).now == 200);
    assert_true(isnan(view.steps->domains[TOP_TOTAL].now));
    assert_true(view.steps->domains[TOP_TOTAL].failed);
    top_clear(&view);
}

TEST(names)
{
    static const struct {
        uint32_t array_job, array_task, het_job, het_offset;
        const char *step, *name;
    } cases[] = {{APAPI_LIVE_UNKNOWN, APAPI_LIVE_UNKNOWN, APAPI_LIVE_UNKNOWN, APAPI_LIVE_UNKNOWN,
                  "batch", "17.batch"},
                 {15, 3, APAPI_LIVE_UNKNOWN, APAPI_LIVE_UNKNOWN, "0", "15_3.0"},
                 {APAPI_LIVE_UNKNOWN, APAPI_LIVE_UNKNOWN, 16, 1, "0", "16+1.0"}};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct apapi_live_head *head = &page(0, "n1", 17, 200, 0.1)->head;
        struct top_view view;

        head->array_job = cases[i].array_job;
        head->array_task = cases[i].array_task;
        head->het_job = cases[i].het_job;
        head->het_offset = cases[i].het_offset;
        snprintf(head->step, sizeof head->step, "%s", cases[i].step);
        view = view_of(1);
        assert_string_equal(view.steps->name, cases[i].name);
        top_clear(&view);
    }
}

/* Three intervals, but at least 10 s. */
TEST(stale)
{
    static const struct {
        double interval_s, age_s;
        uint32_t state;
        bool stale;
    } cases[] = {{0.1, 9.5, APAPI_LIVE_RUNNING, false}, {0.1, 10.5, APAPI_LIVE_RUNNING, true},
                 {60, 170, APAPI_LIVE_RUNNING, false},  {60, 190, APAPI_LIVE_RUNNING, true},
                 {0.1, 30, APAPI_LIVE_ENDED, false},    {0.1, -5, APAPI_LIVE_RUNNING, false}};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct top_view view;

        page(0, "n1", 17, 200, cases[i].age_s);
        pages[0].head.state = cases[i].state;
        pages[0].domains[APAPI_DOMAIN_PACKAGE].interval_ns =
            (uint64_t)(cases[i].interval_s * (double)S);
        view = view_of(1);
        assert_int_equal(package_of(&view).stale, cases[i].stale);
        assert_int_equal(view.steps->domains[TOP_TOTAL].stale, cases[i].stale);
        top_clear(&view);
    }
}

TEST(a_slot_that_is_being_written)
{
    struct top_view view;

    page(0, "n1", 17, 200, 0.1)->domains[APAPI_DOMAIN_PACKAGE].sequence = 3;
    view = view_of(1);
    assert_true(package_of(&view).measured && !package_of(&view).failed);
    assert_true(isnan(package_of(&view).now) && isnan(package_of(&view).total));
    top_clear(&view);
}

TEST(before_the_first_reading)
{
    struct top_view view;

    page(0, "n1", 17, 200, 0.1)->head.state = APAPI_LIVE_STARTING;
    pages[0].domains[APAPI_DOMAIN_PACKAGE].time_ns = 0;
    view = view_of(1);
    assert_true(isnan(view.steps->elapsed_s) && view.steps->start_unix_ns == 0);
    assert_true(isnan(package_of(&view).now) && !package_of(&view).stale);
    top_clear(&view);
}

TEST(texts_without_end)
{
    struct top_view view;

    page(0, "n1", 17, 200, 0.1);
    memset(pages[0].head.node, 'n', sizeof pages[0].head.node);
    memset(pages[0].head.user, 'u', sizeof pages[0].head.user);
    memset(pages[0].head.step, '9', sizeof pages[0].head.step);
    memset(pages[0].head.job_name, 'j', sizeof pages[0].head.job_name);
    put_event(&pages[0], "", APAPI_KIND_COUNT, APAPI_DOMAIN_NONE);
    memset(pages[0].names[0].name, 'e', sizeof pages[0].names[0].name);
    memset(pages[0].names[0].unit, 'x', sizeof pages[0].names[0].unit);
    pages[0].names[0].kind = pages[0].names[0].domain = 4711;
    pages[0].head.state = 4711;
    view = view_of(1);
    assert_int_equal(strlen(view.steps->id.node), APAPI_TEXT_SIZE - 1);
    assert_int_equal(strlen(view.steps->id.user), 63);
    assert_int_equal(strlen(view.steps->id.job_name), 128);
    assert_int_equal(strlen(view.steps->events->name), APAPI_NAME_SIZE - 1);
    assert_int_equal(strlen(view.steps->events->unit), APAPI_UNIT_SIZE - 1);
    assert_int_equal(view.steps->state, APAPI_LIVE_STARTING);
    top_clear(&view);
}

TEST(units_of_events)
{
    static const struct {
        enum apapi_kind kind;
        const char *unit;
        uint32_t accumulates;
        const char *now_unit, *total_unit;
    } cases[] = {{APAPI_KIND_ENERGY, "J", 1, "W", "J"},
                 {APAPI_KIND_POWER, "W", 0, "W", "J"},
                 {APAPI_KIND_TEMPERATURE, "C", 0, "C", "C"},
                 {APAPI_KIND_COUNT, "B", 1, "B/s", "B"}};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct top_view view;

        put_event(page(0, "n1", 17, 200, 0.1), "a:::b", cases[i].kind, APAPI_DOMAIN_NONE);
        snprintf(pages[0].names[0].unit, APAPI_UNIT_SIZE, "%s", cases[i].unit);
        pages[0].names[0].accumulates = cases[i].accumulates;
        view = view_of(1);
        assert_string_equal(view.steps->events->now_unit, cases[i].now_unit);
        assert_string_equal(view.steps->events->unit, cases[i].total_unit);
        top_clear(&view);
    }
}

/* --- nodes ---------------------------------------------------------------------------------- */

TEST(a_meter_counts_once)
{
    struct top_view view;

    page(0, "n1", 17, 200, 0.9);
    page(1, "n1", 18, 210, 0.1);
    page(2, "n1", 19, 999, 0.0)->head.state = APAPI_LIVE_ENDED;
    page(3, "n2", 20, 300, 0.1);
    view = view_of(4);
    assert_int_equal(view.node_count, 2);
    assert_int_equal(view.nodes[0].steps, 3);
    assert_true(view.nodes[0].domains[TOP_TOTAL].now == 210);
    assert_true(isnan(view.nodes[0].domains[TOP_TOTAL].total));
    assert_true(view.nodes[1].domains[TOP_TOTAL].now == 300);
    top_clear(&view);
}

/* @param gpus  a digit for each that a step reads */
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
        double watts; /* of the node, where the steps say 300, 400 and 500 W */
    } cases[] = {{{"0", "1", "23"}, 1200},
                 {{"01", "01", "01"}, 500}, /* the last is the newest */
                 {{"01", "23", "01"}, 900},
                 {{"0", "01", "2"}, NAN},
                 {{"01", "1", "2"}, NAN}};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        double now_w;
        struct top_view view;

        for (int s = 0; s < 3; s++) {
            page(s, "n1", 17 + (uint32_t)s, 200, 0.1);
            put_gpus(s, cases[i].gpus[s], 300 + 100 * s, 0.3 - 0.1 * s);
        }
        view = view_of(3);
        now_w = view.nodes->domains[APAPI_DOMAIN_GPU].now;
        assert_true(now_w == cases[i].watts || (isnan(now_w) && isnan(cases[i].watts)));
        assert_int_equal(isnan(view.nodes->domains[TOP_TOTAL].now), isnan(cases[i].watts));
        top_clear(&view);
    }
}

/* --- order and choice ----------------------------------------------------------------------- */

TEST(sort)
{
    static const struct {
        enum top_sort sort;
        const char *names[4];
    } cases[] = {{TOP_BY_JOB, {"9.0", "10.0", "11.0", "9.0"}},
                 {TOP_BY_POWER, {"11.0", "9.0", "9.0", "10.0"}},
                 {TOP_BY_ENERGY, {"10.0", "11.0", "9.0", "9.0"}},
                 {TOP_BY_TIME, {"11.0", "9.0", "10.0", "9.0"}}};

    page(0, "n10", 9, 150, 0.1)->head.start_ns -= S;
    page(1, "n2", 11, 300, 0.1)->head.start_ns -= 2 * S;
    page(2, "n2", 10, 100, 0.1)->domains[APAPI_DOMAIN_PACKAGE].rate = NAN;
    pages[2].domains[APAPI_DOMAIN_PACKAGE].total = 1e9;
    page(3, "n2", 9, 150, 0.1)->domains[APAPI_DOMAIN_PACKAGE].total = NAN;
    pages[3].head.state = APAPI_LIVE_STARTING;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct top_view view = view_of(4);

        top_sort(&view, cases[i].sort);
        for (size_t s = 0; s < 4; s++) {
            assert_string_equal(view.steps[s].name, cases[i].names[s]);
        }
        assert_string_equal(view.nodes[0].name, "n2");
        top_clear(&view);
    }
}

TEST(filter)
{
    static const struct {
        const char *jobs, *users, *nodes;
        bool wanted;
    } cases[] = {{NULL, NULL, NULL, true},         {"17", NULL, NULL, true},
                 {"17.0,3", NULL, NULL, true},     {"17.1", NULL, NULL, false},
                 {NULL, "anna", NULL, true},       {NULL, "bert,1000", NULL, true},
                 {NULL, "bert", NULL, false},      {NULL, NULL, "n[1-3]", true},
                 {NULL, NULL, "n[2-3],m1", false}, {"17", "anna", "n2", false}};

    page(0, "n1", 17, 200, 0.1);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct top_filter filter = {.users = cases[i].users, .nodes = cases[i].nodes};
        struct apapi_error err;

        assert_int_equal(job_list_parse(cases[i].jobs, &filter.jobs, &err), 0);
        assert_int_equal(top_wants(&filter, &pages[0]), cases[i].wanted);
        job_list_free(&filter.jobs);
    }
}

/* --- tables --------------------------------------------------------------------------------- */

static void assert_table(int count, const struct top_form *form, const char *table)
{
    struct top_view view = view_of(count);
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    assert_int_equal(top_print_text(&view, form, out), 0);
    fclose(out);
    assert_string_equal(text, table);
    free(text);
    top_clear(&view);
}

TEST(marks)
{
    page(0, "n1", 17, 200, 0.1)->domains[APAPI_DOMAIN_PACKAGE].flags |= APAPI_LIVE_FAILED;
    page(1, "n1", 18, 200, 20);
    page(2, "n1", 19, 200, 0.1)->domains[APAPI_DOMAIN_PACKAGE].flags |= APAPI_LIVE_ESTIMATED;
    page(3, "n1", 20, 200, 0.1)->head.state = APAPI_LIVE_STARTING;
    pages[3].domains[APAPI_DOMAIN_PACKAGE] = unmeasured;
    assert_table(4, &(struct top_form){0},
                 "apapi: 4 steps  n1  2026-11-20 10:01:00\n"
                 "  step  user  state      elapsed     power   package     energy\n"
                 "  17.0  anna            00:01:00  !200.0 W  !200.0 W  !12.00 kJ\n"
                 "  18.0  anna            00:01:00  ?200.0 W  ?200.0 W  ?12.00 kJ\n"
                 "  19.0  anna            00:01:00  *200.0 W  *200.0 W  *12.00 kJ\n"
                 "  20.0  anna  starting         -         -         -          -\n"
                 "  node                            !200.0 W  !200.0 W\n"
                 "  a step's figures are those of its whole node: steps do not add up\n"
                 "  ! the latest reading of it failed\n"
                 "  ? not read for 10 s and more\n"
                 "  * estimated, by no meter\n");
}

TEST(narrow)
{
    const struct top_form form = {.width = 53};

    page(0, "node-with-a-long-name", 17, 200, 0.1);
    page(1, "n2", 18, 200, 0.1);
    snprintf(pages[0].head.user, 64, "somebody\033[2J");
    assert_table(2, &form,
                 "apapi: 2 steps  2026-11-20 10:01:00\n"
                 "  step  user      node     elapsed    power    energy\n"
                 "  18.0  anna      n2      00:01:00  200.0 W  12.00 kJ\n"
                 "  17.0  someb...  nod...  00:01:00  200.0 W  12.00 kJ\n");
}

TEST(events)
{
    const struct top_form form = {.events = true, .nodes = true};

    page(0, "n1", 17, 200, 0.1);
    put_event(&pages[0], "rapl:::PACKAGE_ENERGY:PACKAGE0", APAPI_KIND_ENERGY, APAPI_DOMAIN_PACKAGE);
    put_event(&pages[0], "coretemp:::t", APAPI_KIND_TEMPERATURE, APAPI_DOMAIN_NONE);
    pages[0].events[1].total = NAN;
    pages[0].names[1].accumulates = 0;
    snprintf(pages[0].names[1].unit, APAPI_UNIT_SIZE, "C");
    put_event(&pages[0], "x:::not measured", APAPI_KIND_ENERGY, APAPI_DOMAIN_NONE);
    pages[0].events[2].flags = 0;
    assert_table(1, &form,
                 "apapi: 1 step  n1  2026-11-20 10:01:00\n"
                 "  step  user  node   elapsed    power  package    energy\n"
                 "  17.0  anna  n1    00:01:00  200.0 W  200.0 W  12.00 kJ\n"
                 "  step  node  domain       now     total  event\n"
                 "  17.0  n1    package  200.0 W  12.00 kJ\n"
                 "  17.0  n1    package  50.00 W   500.0 J  rapl:::PACKAGE_ENERGY:PACKAGE0\n"
                 "  17.0  n1              50.0 C            coretemp:::t\n");
}

int main(void)
{
    setenv("TZ", "UTC", 1);
    return unit_run();
}
