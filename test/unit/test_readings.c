/* SPDX-License-Identifier: BSD-3-Clause */
/* The page of what the meters show: who writes it, who asks for readings, and who is on his own. */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/clock.h"
#include "channel/ask.h"
#include "fake/energy_event.h"
#include "node/meters.h"
#include "node/readings.h"
#include "node/share_page.h"
#include "sources/sources.h"
#include "unit/temporary.h"
#include "unit/workers_fixture.h"

#define FOREVER_NS (UINT64_C(3600) * 1000000000)
#define FIRST_RAW 5000
#define LATER_RAW 1000000

/* The fake meters' source: the way by which "plain" is read. */
static const struct apapi_source fake_way = {.name = "fake"};

size_t __wrap_apapi_catalog_ways(const char *component, struct apapi_way ways[APAPI_WAYS_MAX])
{
    ways[0] = (struct apapi_way){&fake_way, component};
    return 1;
}

/* A busy machine may need long to run the thread that answers. */
#define ANSWER_NS UINT64_C(20000000000)

static atomic_ullong
    answer_ns; /* more patience than the product has, but not to look at the page */

int __real_readings_page_await(const struct readings_page *page,
                               const struct readings_wanted *wanted, struct apapi_reading *readings,
                               uint64_t times_ns[2]);

int __wrap_readings_page_await(const struct readings_page *page,
                               const struct readings_wanted *wanted, struct apapi_reading *readings,
                               uint64_t times_ns[2])
{
    struct readings_wanted patient = *wanted;

    if (patient.deadline_ns > clock_monotonic_ns()) {
        patient.deadline_ns += atomic_load(&answer_ns);
    }
    return __real_readings_page_await(page, &patient, readings, times_ns);
}

static const char *node_name(void)
{
    return base + strlen("/tmp/");
}

static int open_base(void)
{
    int folder = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    assert_true(folder >= 0);
    return folder;
}

/* A node sampler that the test plays: it answers, or not. */
static struct {
    struct node_readings readings;
    struct apapi_event events[FAKE_METER_EVENTS];
    struct apapi_reader reader;
    int number, socket;
    pthread_t thread;
    pthread_mutex_t writes;
    atomic_bool silent, ends;
    atomic_int asked;
    atomic_ullong raw;
    struct share_page *shares; /* NULL: none */
} node = {.writes = PTHREAD_MUTEX_INITIALIZER};

static void node_write(uint64_t begin_ns, uint64_t end_ns)
{
    uint64_t raw = atomic_fetch_add(&node.raw, FAKE_METER_STEP) + FAKE_METER_STEP;
    const struct apapi_reading values[FAKE_METER_EVENTS] = {{raw, 0}, {2 * raw, 0}};

    pthread_mutex_lock(&node.writes);
    readings_page_write(node.readings.page, node.number, values, begin_ns, end_ns);
    pthread_mutex_unlock(&node.writes);
}

static void *node_answer(void *unused)
{
    struct pollfd watched = {.fd = node.socket, .events = POLLIN};
    struct ask ask;

    while (!atomic_load(&node.ends)) {
        if (!atomic_load(&node.silent) && poll(&watched, 1, 10) > 0 &&
            recv(node.socket, &ask, sizeof ask, 0) == sizeof ask) {
            uint64_t begin_ns = clock_monotonic_ns();

            if (ask.kind == ASK_COUNT) {
                __atomic_store_n(&node.shares->head.time_ns, begin_ns, __ATOMIC_RELEASE);
            }
            atomic_fetch_add(&node.asked, 1);
            node_write(begin_ns, clock_monotonic_ns());
        }
    }
    return unused;
}

static void node_describe(void)
{
    for (int i = 0; i < FAKE_METER_EVENTS; i++) {
        node.events[i] = fake_energy_event;
        node.events[i].update_ns = 0;
        snprintf(node.events[i].name, sizeof node.events[i].name, "plain:::ENERGY%d", i);
    }
    node.reader = (struct apapi_reader){
        .source = &fake_way, .events = node.events, .count = FAKE_METER_EVENTS};
    snprintf(node.reader.detail, sizeof node.reader.detail, "fake plain");
}

static void node_make_page(void)
{
    int folder = open_base();

    node.readings = (struct node_readings){.page = NULL};
    assert_int_equal(node_readings_open(&node.readings, folder, NULL), 0);
    close(folder);
    node_describe();
    node.number = readings_page_add(node.readings.page, "plain", &node.reader);
    assert_int_equal(node.number, 0);
}

static void node_listen(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    snprintf(address.sun_path, sizeof address.sun_path, "%s/" ASK_SOCKET, base);
    node.socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(node.socket, (const struct sockaddr *)&address, sizeof address), 0);
}

static void node_begin_as(bool silent)
{
    node_make_page();
    node_listen();
    atomic_store(&node.silent, silent);
    atomic_store(&answer_ns, silent ? 0 : ANSWER_NS);
    atomic_store(&node.ends, false);
    atomic_store(&node.asked, 0);
    atomic_store(&node.raw, FIRST_RAW);
    assert_int_equal(pthread_create(&node.thread, NULL, node_answer, NULL), 0);
    node_source_use("/tmp", node_name());
}

static void node_begin(void)
{
    node_begin_as(false);
}

static void node_end(void)
{
    if (node.socket >= 0) {
        atomic_store(&node.ends, true);
        pthread_join(node.thread, NULL);
        close(node.socket);
        node.socket = -1;
    }
}

static void begin(void)
{
    node.socket = -1;
    node.readings.page = NULL;
    make_base();
    prepare();
}

static void end(void)
{
    clean_up();
    node_source_use(NULL, "");
    node_end();
    if (node.readings.page) {
        node_readings_close(&node.readings);
    }
    remove_base();
}

/* The page. */

static struct readings_wanted wanted(uint64_t since_ns)
{
    return (struct readings_wanted){.number = 0,
                                    .life = readings_page_life(node.readings.page),
                                    .count = FAKE_METER_EVENTS,
                                    .since_ns = since_ns,
                                    .deadline_ns = clock_monotonic_ns()};
}

static int await_since(uint64_t since_ns, struct apapi_reading *values)
{
    const struct readings_wanted what = wanted(since_ns);
    uint64_t times_ns[2];

    return readings_page_await(node.readings.page, &what, values, times_ns);
}

#define PREPARED(name) TEST_WITH(name, begin, end)

PREPARED(any_reading_that_began_later_answers)
{
    struct apapi_reading values[FAKE_METER_EVENTS];

    node_make_page();
    atomic_store(&node.raw, 0);
    assert_int_equal(await_since(1, values), ETIMEDOUT); /* there is none */
    node_write(1000, 1010);
    assert_int_equal(await_since(1000, values), 0);
    assert_int_equal(values[0].raw, FAKE_METER_STEP);
    assert_int_equal(values[1].raw, 2 * FAKE_METER_STEP);
    assert_int_equal(await_since(1001, values), ETIMEDOUT);
}

PREPARED(a_reading_that_is_half_written_is_none)
{
    struct apapi_reading values[FAKE_METER_EVENTS];

    node_make_page();
    node_write(1000, 1010);
    node.readings.page->components[0].sequence |= 1; /* its writer was killed */
    assert_int_equal(await_since(1, values), ETIMEDOUT);
    node_write(1020, 1030);
    assert_int_equal(await_since(1, values), 0);
}

PREPARED(another_node_sampler_or_none_is_seen)
{
    struct apapi_reading values[FAKE_METER_EVENTS];
    struct readings_wanted what;
    uint64_t times_ns[2];

    node_make_page();
    node_write(1000, 1010);
    what = wanted(1);
    readings_page_begin(node.readings.page, what.life + 1);
    assert_int_equal(readings_page_await(node.readings.page, &what, values, times_ns), ESTALE);
    assert_int_equal(readings_page_find(node.readings.page, "plain"), -1);
    what.life++;
    readings_page_add(node.readings.page, "plain", &node.reader);
    readings_page_withdraw(node.readings.page, 0);
    assert_int_equal(readings_page_await(node.readings.page, &what, values, times_ns), ESTALE);
    assert_int_equal(readings_page_find(node.readings.page, "plain"), -1);
    readings_page_end(node.readings.page);
    assert_false(readings_page_is_valid(node.readings.page));
}

/* Its source's word is believed until enough has been seen. */
PREPARED(the_highest_power_is_seen)
{
    struct readings_page *page;
    const struct apapi_event gauge = {
        .kind = APAPI_KIND_POWER, .type = APAPI_TYPE_UINT64, .scale = 0.5, .most_w = 500};
    const struct apapi_reader reader = {.source = &fake_way, .events = &gauge, .count = 1};
    struct apapi_event event;
    int number;

    node_make_page();
    page = node.readings.page;
    number = readings_page_add(page, "gauge", &reader);
    for (uint64_t i = 1; i <= 10000; i++) {
        const struct apapi_reading failed = {100000, EIO}, good = {i == 10 ? 600 : 100, 0};

        readings_page_write(page, number, i == 20 ? &failed : &good, i, i);
        assert_true(readings_page_event(page, number, 0, &event));
        assert_true(event.most_w == 500);
    }
    readings_page_write(page, number, &(struct apapi_reading){100, 0}, 10001, 10001);
    assert_true(readings_page_event(page, number, 0, &event));
    assert_true(event.most_w == 300);
}

/* A node sampler that ends keeps it for the next one: 5000 readings of each are enough. */
PREPARED(the_highest_power_is_kept)
{
    static struct node_readings lives[2];
    const struct apapi_event gauge = {.name = "gauge:::POWER",
                                      .kind = APAPI_KIND_POWER,
                                      .type = APAPI_TYPE_UINT64,
                                      .scale = 0.5,
                                      .most_w = 500};
    const struct apapi_source common = {.name = "fake", .common = true};
    const struct apapi_reader reader = {.source = &common, .events = &gauge, .count = 1};
    static struct node_idle idle;
    struct apapi_event event;

    for (int life = 0; life < 2; life++) {
        int folder = open_base();

        node_idle_load(&idle, base, "n1", NULL);
        memcpy(lives[life].peaks, idle.peaks, sizeof idle.peaks);
        assert_int_equal(node_readings_open(&lives[life], folder, NULL), 0);
        for (uint64_t i = 1; i <= 5000; i++) {
            const struct apapi_reading raw = {life == 0 && i == 10 ? 600 : 100, 0};
            const struct session_reading reading = {
                .component = "gauge", .reader = &reader, .raw = &raw, .when = {i, i}};

            node_readings_write(&reading, &lives[life]);
        }
        assert_true(readings_page_event(lives[life].page, 0, 0, &event));
        assert_true(event.most_w == (life ? 300 : 500));
        node_readings_keep(&lives[life], idle.peaks);
        assert_int_equal(node_idle_save(&idle, base, "n1", NULL), 0);
        node_readings_close(&lives[life]);
        close(folder);
    }
    node_readings_keep(&(struct node_readings){.page = NULL}, idle.peaks);
    assert_int_equal(idle.peaks[0].seen, 10000);
    assert_string_equal(idle.peaks[0].name, gauge.name);
}

PREPARED(nothing_in_the_page_is_relied_on)
{
    struct readings_page *page;
    struct apapi_event event;

    node_make_page();
    page = node.readings.page;
    assert_true(readings_page_is_valid(page));
    assert_true(readings_page_event(page, 0, 0, &event));
    assert_string_equal(event.name, "plain:::ENERGY0");
    page->events[0].event.kind = APAPI_KINDS;
    assert_false(readings_page_event(page, 0, 0, &event));
    page->components[0].first = READINGS_EVENTS;
    assert_int_equal(readings_page_find(page, "plain"), -1);
    page->component_count = UINT64_MAX;
    assert_int_equal(readings_page_find(page, "other"), -1);
    page->version++;
    assert_false(readings_page_is_valid(page));
    page->version--;
    page->magic[0] ^= 1;
    assert_false(readings_page_is_valid(page));
}

/* The source. */

static bool opens(void)
{
    struct apapi_reader *reader = apapi_source_node.open("plain", &why);

    node_source_use("/tmp", node_name()); /* one that did not answer is asked again */
    if (reader) {
        apapi_source_node.close(reader);
    }
    return reader != NULL;
}

PREPARED(a_page_of_others_is_not_used)
{
    node_begin();
    assert_true(opens());
    assert_int_equal(chmod(in_base(READINGS_PAGE), 0620), 0);
    assert_false(opens());
    assert_int_equal(chmod(in_base(READINGS_PAGE), 0600), 0);
    assert_int_equal(rename(in_base(READINGS_PAGE), in_base("elsewhere")), 0);
    assert_false(opens());
    assert_int_equal(symlink("elsewhere", in_base(READINGS_PAGE)), 0);
    assert_false(opens());
    assert_int_equal(unlink(in_base(READINGS_PAGE)), 0);
    assert_int_equal(rename(in_base("elsewhere"), in_base(READINGS_PAGE)), 0);
    assert_true(opens());
    node.readings.page->version++;
    assert_false(opens());
    node.readings.page->version--;
    node_end();
    assert_false(opens());
}

PREPARED(one_that_does_not_answer_is_not_waited_for_twice)
{
    node_begin_as(true);
    assert_fails(ETIMEDOUT, apapi_source_node.open("plain", &why));
    assert_int_equal(apapi_source_node.probe("plain", &why), -1);
    assert_fails(ENOSYS, apapi_source_node.open("plain", &why));
}

PREPARED(a_reading_that_others_asked_for_is_taken_once)
{
    struct apapi_reading values[FAKE_METER_EVENTS];
    struct apapi_reader *reader;
    uint64_t now_ns, times_ns[2];

    node_begin();
    reader = apapi_source_node.open("plain", &why);
    assert_non_null(reader);
    assert_int_equal(atomic_load(&node.asked), 1);
    reader->source->relay->allow_age(reader, FOREVER_NS);
    now_ns = clock_monotonic_ns();
    node_write(now_ns, now_ns + 1);
    reader->source->read(reader, values);
    assert_int_equal(atomic_load(&node.asked), 1);
    assert_int_equal(values[0].raw, atomic_load(&node.raw));
    reader->source->relay->when(reader, &times_ns[0], &times_ns[1]);
    assert_int_equal(times_ns[0], now_ns);
    reader->source->read(reader, values);
    assert_int_equal(atomic_load(&node.asked), 2);
    reader->source->relay->allow_age(reader, 0);
    now_ns = clock_monotonic_ns();
    node_write(now_ns, now_ns);
    reader->source->read(reader, values);
    assert_int_equal(atomic_load(&node.asked), 3);
    apapi_source_node.close(reader);
}

/* A session whose meter is read by the node sampler. */

static void start_step(void)
{
    intervals.default_ns = APAPI_ROUTE_RELAY_NS;
    create_and_start("plain");
}

static void assert_goes_on(uint64_t raw)
{
    const struct apapi_component_result *plain = &m.components[0];

    assert_true(plain->measured);
    assert_string_equal(plain->reason, "");
    assert_string_equal(plain->source, "fake plain");
    assert_int_equal(plain->outages, 0);
    assert_int_equal(plain->events[0].incidents.resets, 0);
    assert_int_equal(plain->events[0].incidents.refused, 0);
    fail_if(fabs(plain->events[0].total - (double)raw * 1e-6) > 1e-9, "%g J, not %g J",
            plain->events[0].total, (double)raw * 1e-6);
}

PREPARED(a_step_does_not_open_the_meter)
{
    node_begin();
    start_step();
    await(&node.asked, 3);
    halt();
    assert_int_equal(atomic_load(&meters[PLAIN].opens), 0);
    assert_string_equal(m.components[0].source, "fake plain, node sampler");
    /* the first one was to see whether it answers */
    assert_energy(&m.components[0].events[0], atomic_load(&node.asked) - 2);
}

PREPARED(a_step_that_reads_often_opens_the_meter)
{
    node_begin();
    intervals.default_ns = APAPI_ROUTE_RELAY_NS - 1;
    create_and_start("plain");
    halt();
    assert_int_equal(atomic_load(&meters[PLAIN].opens), 1);
    assert_int_equal(atomic_load(&node.asked), 0);
}

/* The same counter, as the step reads it itself from then on. */
static void go_on_alone(bool hangs)
{
    start_step();
    await(&node.asked, 3);
    atomic_store(&meters[PLAIN].value, LATER_RAW);
    if (hangs) {
        atomic_store(&answer_ns, 0);
        atomic_store(&node.silent, true);
    } else {
        node_end();
    }
    await(&meters[PLAIN].reads, 2);
    halt();
    assert_int_equal(atomic_load(&meters[PLAIN].opens), 1);
    assert_goes_on(atomic_load(&meters[PLAIN].value) - FIRST_RAW - UINT64_C(2) * FAKE_METER_STEP);
}

PREPARED(a_step_goes_on_where_the_node_sampler_ended)
{
    node_begin();
    go_on_alone(false);
}

PREPARED(a_step_goes_on_where_the_node_sampler_hangs)
{
    node_begin();
    go_on_alone(true);
}

/* The shares of a step that ends. */

static void shares_set(uint64_t time_ns)
{
    __atomic_store_n(&node.shares->head.time_ns, time_ns, __ATOMIC_RELEASE);
}

static uint64_t shares_time_ns(void)
{
    return __atomic_load_n(&node.shares->head.time_ns, __ATOMIC_ACQUIRE);
}

PREPARED(a_page_of_shares_that_is_old_is_refreshed)
{
    const struct share_key key = {"/tmp", node_name(), 7, "0"};
    int folder = open_base(), file;
    uint64_t before_ns = clock_monotonic_ns();

    node.shares = node_folder_map(folder, NODE_SHARES, sizeof *node.shares, &file, NULL);
    assert_non_null(node.shares);
    share_page_init(node.shares);
    shares_set(1);
    node_begin();
    share_end_refresh(&key);
    await(&node.asked, 1); /* a busy machine needs longer than it waits */
    assert_true(shares_time_ns() >= before_ns);
    shares_set(before_ns + FOREVER_NS); /* it is fresh */
    share_end_refresh(&key);
    assert_int_equal(atomic_load(&node.asked), 1);
    shares_set(1);
    node_end();
    share_end_refresh(&key); /* nobody is there */
    assert_int_equal(shares_time_ns(), 1);
    munmap(node.shares, sizeof *node.shares);
    close(file);
    close(folder);
}

/* The node sampler's own session. */

PREPARED(requests_of_many_are_one_reading)
{
    int before;

    intervals.default_ns = FOREVER_NS;
    create_and_start("plain");
    before = atomic_load(&meters[PLAIN].reads);
    atomic_store(&meters[PLAIN].read_hangs, true);
    session_read_now(session, "plain", false);
    await(&meters[PLAIN].stuck, 1);
    for (int i = 0; i < 100; i++) {
        session_read_now(session, i % 2 ? "plain" : NULL, i == 50);
    }
    session_read_now(session, "other", true);
    atomic_store(&meters[PLAIN].read_hangs, false);
    await(&meters[PLAIN].reads, before + 2);
    halt();
    assert_int_equal(atomic_load(&meters[PLAIN].reads), before + 2 + 1); /* and the last one */
    assert_int_equal(m.components[0].period.count, 2); /* one counted, between first and last */
}

static struct node_readings own;
static struct node_requests asks;

static void ask_for(enum ask_kind kind)
{
    int fd = ask_open("/tmp", node_name());

    assert_true(fd >= 0);
    assert_int_equal(ask_send(fd, kind, NULL, clock_monotonic_ns() + FOREVER_NS), 0);
    close(fd);
}

PREPARED(whoever_asks_is_shown_a_reading)
{
    int folder = open_base(), before;

    intervals.default_ns = FOREVER_NS;
    create("plain");
    assert_int_equal(node_readings_open(&own, folder, &why), 0);
    session_listen(session, node_readings_write, &own);
    start_again();
    assert_int_equal(node_requests_open(&asks, folder, session, &why), 0);
    before = atomic_load(&meters[PLAIN].reads);
    ask_for(ASK_LOOK);
    await(&meters[PLAIN].reads, before + 1);
    ask_for(ASK_COUNT);
    await(&meters[PLAIN].reads, before + 2);
    assert_true(atomic_load(&asks.counted_ns) > 0);
    node_requests_close(&asks);
    halt();
    assert_int_equal(own.count, 1);
    assert_string_equal(own.known[0].component, "plain");
    node_readings_close(&own);
    close(folder);
}
