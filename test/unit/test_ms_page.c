/* SPDX-License-Identifier: BSD-3-Clause */
/* libms_common_apapi: figures of a live page that the test writes. */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/shared_page.h"
#include "ms_common/page.h"
#include "session/live.h"
#include "unit/temporary.h"
#include "unit/unit.h"

#define MS UINT64_C(1000000)

static struct apapi_live_page *written;
static int file;

/* The domain's figures at `time_ns`. @param total_j  NAN: a first reading, or none */
static void write_domain(uint64_t time_ns, uint64_t readings, double total_j, double rate_w)
{
    const struct apapi_live_slot slot = {.time_ns = time_ns,
                                         .total = total_j,
                                         .rate = rate_w,
                                         .readings = readings,
                                         .interval_ns = 100 * MS,
                                         .flags = APAPI_LIVE_MEASURED};

    shared_record_write(&written->domains[APAPI_DOMAIN_PACKAGE], &slot, sizeof slot);
}

static void make_page(void)
{
    char path[128];

    make_base();
    snprintf(path, sizeof path, "%s/page", base);
    file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    written = shared_page_create(file, sizeof *written);
    assert_non_null(written);
    assert_int_equal(shared_page_lock(file), 0);
    live_page_init(written);
    written->head.state = APAPI_LIVE_RUNNING;
    setenv(APAPI_LIVE_ENVIRONMENT, path, 1);
}

static void remove_page(void)
{
    unsetenv(APAPI_LIVE_ENVIRONMENT);
    shared_page_unmap(written, sizeof *written);
    close(file);
    remove_base();
}

static double total_j(struct page *page, uint64_t now_ns)
{
    return page_read(page, now_ns)->total;
}

static void assert_j(double is, double should)
{
    if (!(fabs(is - should) < 1e-9)) {
        fail_msg("%.9g J, not %.9g J", is, should);
    }
}

/* 200 W from 1000 ms on, read each 100 ms; counted from 1070 ms on. */
TEST_WITH(a_start_before_the_second_reading, make_page, remove_page)
{
    struct page *page;

    write_domain(1000 * MS, 1, NAN, NAN);
    page = page_open();
    assert_non_null(page);
    page_start(page, 1070 * MS);
    assert_true(isnan(total_j(page, 1070 * MS)) && isnan(total_j(page, 1099 * MS)));
    write_domain(1100 * MS, 2, 20, 200);
    assert_j(total_j(page, 1110 * MS), 8);
    write_domain(1200 * MS, 3, 50, 300);
    assert_j(total_j(page, 1200 * MS), 36);
    page_start(page, 1200 * MS);
    assert_j(total_j(page, 1250 * MS), 15);
    page_close(page);
}
