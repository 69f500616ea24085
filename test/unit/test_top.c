/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi top: its data from live pages. */
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

/* A step of a minute with 200 W. */
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
