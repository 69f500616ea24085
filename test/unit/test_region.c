/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions of programs in a measured step, as its sampler sees them. */
#include "apapi/papi_hl_compat.h"
#include "unit/region_fixture.h"

static uint64_t own_ns(const struct page_program *page, const char *path)
{
    struct ticks_moment start = {page->head.start_ticks, page->head.start_ns};
    struct ticks_moment now = ticks_moment_now(page->head.clock);
    uint32_t node = *path ? node_of(page, path) : 0;
    double ticks = 0;

    for (uint32_t i = 0; i < page_thread_count(page); i++) {
        ticks += (double)page->slots[i].own[node];
    }
    return (uint64_t)(ticks * ticks_length_ns(page->head.clock, start, now));
}

static void spend(uint64_t ns)
{
    uint64_t until_ns = clock_monotonic_ns() + ns;

    while (clock_monotonic_ns() < until_ns) {
    }
}

static void nested(void)
{
    for (int i = 0; i < 3; i++) {
        CHECK(apapi_region_begin("outer") == 0);
        for (int j = 0; j < 2; j++) {
            CHECK(apapi_region_begin("inner") == 0);
            spend(1000000);
            CHECK(apapi_region_end("inner") == 0);
        }
        spend(1000000);
        CHECK(apapi_region_end("outer") == 0);
    }
    CHECK(apapi_region_begin("inner") == 0);
    CHECK(apapi_region_end("inner") == 0);
}

IN_STEP(regions_nest_and_add_up)
{
    const struct page_program *page = run_quiet_program(nested);

    assert_int_equal(page_node_count(page), 4);
    assert_int_equal(count_of_region(page, "outer"), 3);
    assert_int_equal(count_of_region(page, "outer/inner"), 6);
    assert_int_equal(count_of_region(page, "inner"), 1);
    assert_true(own_ns(page, "outer/inner") >= 5990000);
    assert_true(own_ns(page, "outer") >= 2990000);
    assert_int_equal(page->head.ended, 1);
    assert_int_equal(page->head.misuses, 0);
}

static void by_handle(void)
{
    apapi_region a = apapi_region_handle("a"), b = apapi_region_handle("b");

    CHECK(a != 0 && b != 0 && a != b && apapi_region_handle("a") == a);
    for (int i = 0; i < 1000; i++) {
        CHECK(apapi_region_enter(a) == 0);
        CHECK(apapi_region_begin("b") == 0);
        CHECK(apapi_region_leave(b) == 0);
        CHECK(apapi_region_end("a") == 0);
    }
    CHECK(apapi_region_enter(0) == 0 && apapi_region_leave(0) == 0);
    CHECK(apapi_region_enter(200) == 0 && apapi_region_leave(200) == 0);
}

IN_STEP(a_handle_is_the_name)
{
    const struct page_program *page = run_quiet_program(by_handle);

    assert_int_equal(page_node_count(page), 3);
    assert_int_equal(count_of_region(page, "a/b"), 1000);
}

static void not_measured(void)
{
    unsetenv(APAPI_LIVE_ENVIRONMENT);
    CHECK(apapi_region_end("a") == 0 && apapi_region_begin("a") == 0);
    CHECK(apapi_region_handle("a") == 0);
    CHECK(apapi_region_fom("flops", 3, "FLOP") == 0);
    setenv(APAPI_LIVE_ENVIRONMENT, measured.path, 1);
    CHECK(apapi_region_begin(NULL) == 0 && apapi_region_stop() == 0);
}

IN_STEP(outside_of_a_measured_step_nothing_happens)
{
    struct finished finished = run_program(not_measured);

    assert_string_equal(finished.said, "");
    assert_int_equal(finished.status, 0);
    assert_null(finished.page);
}

static void take_messages(int channel, double *cells, bool *other)
{
    struct region_message message;
    int file;

    while (region_receive(channel, &message, &file) == 0) {
        if (message.kind == REGION_FOM && strcmp(message.name, "cells") == 0) {
            *cells = message.value;
        }
        *other = *other || (message.kind == REGION_FOM && strcmp(message.name, "other") == 0);
        close(file);
    }
}

/* More than a sampler that is busy has room for: it plays the sampler's part itself. */
static void figures_without_room(void)
{
    double cells = 0;
    bool other = false;
    int channel;

    CHECK(apapi_region_begin("a") == 0 && apapi_region_end("a") == 0);
    channel = accept4(measured.listener, NULL, NULL, SOCK_CLOEXEC);
    CHECK(channel >= 0);
    for (int i = 1; i <= 5000; i++) {
        CHECK(apapi_region_fom("cells", i, "cells") == 0);
    }
    take_messages(channel, &cells, &other);
    CHECK(cells > 0 && cells < 5000);
    CHECK(apapi_region_fom("other", 1, NULL) == 0);
    take_messages(channel, &cells, &other);
    CHECK(cells == 5000 && other);
}

IN_STEP(the_last_figure_of_merit_comes_when_there_is_room)
{
    struct finished finished = run_program(figures_without_room);

    assert_string_equal(finished.said, "");
    assert_int_equal(finished.status, 0);
}

static void regions_of_papi(void)
{
    CHECK(apapi_hl_set_events("EXTRA") == PAPI_OK);
    CHECK(apapi_hl_region_begin("outer") == PAPI_OK && apapi_hl_region_begin("outer") == PAPI_OK);
    CHECK(apapi_hl_region_end("outer") == PAPI_OK && apapi_hl_read("outer") == PAPI_OK);
    CHECK(apapi_hl_region_begin("second") == PAPI_OK && apapi_hl_region_begin("third") == PAPI_OK);
    CHECK(apapi_hl_region_end("outer") == PAPI_OK); /* the others go on */
    CHECK(apapi_hl_read("outer") == PAPI_EINVAL);
    CHECK(apapi_hl_region_end("third") == PAPI_OK && apapi_hl_region_end("second") == PAPI_OK);
    CHECK(apapi_hl_region_end("second") == PAPI_EINVAL);
    CHECK(apapi_hl_region_begin(NULL) == PAPI_EINVAL && apapi_hl_read(NULL) == PAPI_EINVAL &&
          apapi_hl_region_end(NULL) == PAPI_EINVAL);
    CHECK(apapi_hl_stop() == PAPI_OK && apapi_hl_finalize() == PAPI_OK);
}

IN_STEP(results_are_those_of_papi_and_regions_may_overlap)
{
    const struct page_program *page = run_program(regions_of_papi).page;

    assert_int_equal(count_of_region(page, "outer"), 1);
    assert_int_equal(count_of_region(page, "outer/second"), 1);
    assert_int_equal(count_of_region(page, "second"), 1);
    assert_int_equal(count_of_region(page, "second/third"), 1);
}
