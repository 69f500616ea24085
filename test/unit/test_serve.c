/* SPDX-License-Identifier: BSD-3-Clause */
/* The socket of a step's regions: who sends much, and who has sent something before the end. */
#include "base/clock.h"
#include "regions/message.h"
#include "regions/observe/observe.h"
#include "session/live.h"
#include "unit/temporary.h"
#include "unit/unit.h"

#define CONNECTIONS 20
#define PAIRS 20 /* begin and end, of each connection */
#define BURST_NS UINT64_C(50000000)
#define PATIENCE_NS UINT64_C(10000000000)

static struct apapi_live_page live;
static struct observer *observer;
static struct serve *serve;
static char live_path[128];

static void open_serve(void)
{
    make_base();
    snprintf(live_path, sizeof live_path, "%s/1.0", base);
    live_page_init(&live);
    live.head.start_ns = clock_monotonic_ns();
    observer = observe_create(&live);
    serve = serve_open(live_path, geteuid(), observer, NULL);
    assert_true(observer && serve);
}

static void close_serve(void)
{
    serve_close(serve);
    observe_destroy(observer);
    remove_base();
}

static int send_one(int channel, enum region_message_kind kind)
{
    struct region_message message;

    region_message_init(&message, kind, "flood");
    return region_send(channel, &message, -1);
}

TEST_WITH(a_flood_gets_a_tenth_of_a_core, open_serve, close_serve)
{
    uint64_t first_ns = clock_monotonic_ns(), cpu_ns = 0, batch_ns = 0, allowed_ns;
    int channel = region_connect(live_path);

    assert_true(channel >= 0);
    while (serve_descriptor(serve) >= 0 && clock_monotonic_ns() - first_ns < PATIENCE_NS) {
        uint64_t begin_ns;

        while (send_one(channel, REGION_BEGIN) == 0 && send_one(channel, REGION_END) == 0) {
        }
        begin_ns = clock_thread_cpu_ns();
        serve_work(serve);
        batch_ns = clock_thread_cpu_ns() - begin_ns;
        cpu_ns += batch_ns;
    }
    allowed_ns = BURST_NS + (clock_monotonic_ns() - first_ns) / 10;
    assert_true(cpu_ns - batch_ns <= allowed_ns * 3 / 2); /* the calls themselves take some, too */
    if (serve_descriptor(serve) >= 0) {
        close(channel);
        skip(); /* the machine had no more for it */
    }
    while (serve_descriptor(serve) < 0) {
        int pause_ms = serve_pause_ms(serve);

        assert_true(pause_ms <= 1000);
        usleep(pause_ms > 0 ? (useconds_t)pause_ms * 1000 : 0); /* it may be over by now */
    }
    assert_true(serve_work(serve) > 0);
    close(channel);
}

TEST_WITH(what_was_sent_before_the_end_is_read, open_serve, close_serve)
{
    struct apapi_regions regions;
    uint64_t count = 0;
    int channel;

    for (int i = 0; i < CONNECTIONS; i++) {
        channel = region_connect(live_path);
        assert_true(channel >= 0);
        assert_int_equal(send_one(channel, REGION_READ), 0);
        while (serve_work(serve) > 0) { /* it has an answer that nobody reads */
        }
        for (int k = 0; k < PAIRS; k++) {
            if (send_one(channel, REGION_BEGIN) || send_one(channel, REGION_END)) {
                fail_msg("the socket takes less than %d messages", 2 * k);
            }
        }
        close(channel);
    }
    serve_close(serve);
    serve = NULL;
    assert_int_equal(observe_result(observer, NULL, &regions), 0);
    for (size_t i = 0; i < regions.count; i++) {
        count += regions.list[i].kind == APAPI_REGION_NAMED ? regions.list[i].count : 0;
    }
    assert_int_equal(count, CONNECTIONS * PAIRS);
    apapi_regions_clear(&regions);
}

TEST_WITH(a_program_without_a_page_is_refused_and_counted, open_serve, close_serve)
{
    struct apapi_regions regions;
    int channel = region_connect(live_path);

    assert_true(channel >= 0);
    assert_int_equal(send_one(channel, REGION_REGISTER), 0);
    while (serve_work(serve) > 0) {
    }
    close(channel);
    assert_int_equal(observe_result(observer, NULL, &regions), 0);
    assert_int_equal(regions.losses.refused, 1);
}
