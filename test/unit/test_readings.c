/* SPDX-License-Identifier: BSD-3-Clause */
/* The page of readings on a node: who writes it, who asks for readings, who reads by himself. */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/clock.h"
#include "channel/ask.h"
#include "fake/energy_event.h"
#include "node/meters.h"
#include "node/readings.h"
#include "node/share_page.h"
#include "unit/temporary.h"
#include "unit/workers_fixture.h"

#define FOREVER_NS (UINT64_C(3600) * 1000000000)
#define FIRST_RAW 5000
#define LATER_RAW 1000000

/* The source of the fake meters, by which "plain" is read. */
static const struct apapi_source fake_way = {.name = "fake", .common = true};

size_t __wrap_apapi_catalog_ways(const char *component, struct apapi_way ways[APAPI_WAYS_MAX])
{
    ways[0] = (struct apapi_way){&fake_way, component};
    return 1;
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

/* A node sampler played by the test. It may answer or be silent. */
static struct {
    struct node_readings readings;
    struct apapi_event events[FAKE_METER_EVENTS];
    struct apapi_reader reader;
    int socket;
    pthread_t thread;
    atomic_bool silent, ends;
    atomic_int asked;
    atomic_ullong raw;
    struct share_page *shares; /* NULL: none */
} node;

static pthread_mutex_t writing = PTHREAD_MUTEX_INITIALIZER;

/* Wait until the thread that answers has written. */
static void node_settle(void)
{
    pthread_mutex_lock(&writing);
    pthread_mutex_unlock(&writing);
}

static void node_write_raw(struct apapi_reading first, uint64_t begin_ns, uint64_t end_ns)
{
    const struct apapi_reading values[FAKE_METER_EVENTS] = {first, {2 * first.raw, first.error}};
    const struct session_reading reading = {
        .component = "plain", .reader = &node.reader, .raw = values, .when = {begin_ns, end_ns}};

    pthread_mutex_lock(&writing);
    node_readings_write(&reading, &node.readings);
    pthread_mutex_unlock(&writing);
}

static void node_write(uint64_t begin_ns, uint64_t end_ns)
{
    uint64_t raw = atomic_fetch_add(&node.raw, FAKE_METER_STEP) + FAKE_METER_STEP;

    node_write_raw((struct apapi_reading){raw, 0}, begin_ns, end_ns);
}

static void *node_answer(void *unused)
{
    struct pollfd watched = {.fd = node.socket, .events = POLLIN};
    char text[ASK_SIZE] = "";

    while (!atomic_load(&node.ends)) {
        if (!atomic_load(&node.silent) && poll(&watched, 1, 10) > 0 &&
            recv(node.socket, text, sizeof text - 1, 0) > 0) {
            uint64_t begin_ns = clock_monotonic_ns();

            if (strncmp(text, ASK_COUNT, strlen(ASK_COUNT)) == 0) {
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

/* Make a page with a reading that is too old for everyone. */
static void node_make_page(void)
{
    int folder = open_base();

    assert_int_equal(node_readings_open(&node.readings, folder, NULL), 0);
    close(folder);
    node_write(1, 1);
}

static void node_listen(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    snprintf(address.sun_path, sizeof address.sun_path, "%s/" ASK_SOCKET, base);
    node.socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(node.socket, (const struct sockaddr *)&address, sizeof address), 0);
}

/* If it is not silent, wait long: a busy machine may need long to run the thread that answers. */
static void be_silent(bool silent)
{
    atomic_store(&node.silent, silent);
    node_source_wait_ns = silent ? 200000000 : 20000000000;
}

static void node_begin(void)
{
    node_describe();
    atomic_store(&node.raw, FIRST_RAW - FAKE_METER_STEP);
    node_make_page();
    node_listen();
    atomic_store(&node.ends, false);
    atomic_store(&node.asked, 0);
    assert_int_equal(pthread_create(&node.thread, NULL, node_answer, NULL), 0);
    node_source_use("/tmp", node_name());
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
    be_silent(false);
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

#define PREPARED(name) TEST_WITH(name, begin, end)

static struct apapi_reader *open_reader(void)
{
    struct apapi_reader *reader;

    node_source_use("/tmp", node_name()); /* ask again, even if it did not answer before */
    reader = apapi_source_node.open("plain", &why);
    fail_if(!reader, "%s", why.text);
    node_settle();
    return reader;
}

static bool opens(void)
{
    struct apapi_reader *reader = apapi_source_node.open("plain", &why);

    node_settle();
    node_source_use("/tmp", node_name());
    if (reader) {
        apapi_source_node.close(reader);
    }
    return reader != NULL;
}

/* The page of readings. */

PREPARED(a_reading_that_is_half_written_is_none)
{
    struct apapi_reading values[FAKE_METER_EVENTS];
    struct apapi_reader *reader;
    uint64_t now_ns;

    node_begin();
    reader = open_reader();
    reader->source->relay->allow_age(reader, FOREVER_NS);
    now_ns = clock_monotonic_ns();
    node_write(now_ns, now_ns + 1);
    node.readings.page->components[0].sequence |= 1; /* the writer was killed */
    reader->source->read(reader, values);
    assert_int_equal(atomic_load(&node.asked), 2);
    assert_int_equal(values[0].raw, atomic_load(&node.raw));
    assert_int_equal(values[1].raw, 2 * atomic_load(&node.raw));
    apapi_source_node.close(reader);
}

static void assert_stale(struct apapi_reader *reader)
{
    struct apapi_reading values[FAKE_METER_EVENTS];

    reader->source->read(reader, values);
    assert_int_equal(values[0].error, ESTALE);
    apapi_source_node.close(reader);
}

PREPARED(another_node_sampler_or_none_is_seen)
{
    struct apapi_reader *reader;

    node_begin();
    reader = open_reader();
    node_readings_close(&node.readings);
    node_make_page();
    assert_stale(reader);
    reader = open_reader();
    node.events[0].scale *= 2; /* of a meter that was opened again */
    assert_stale(reader);
    node_source_use("/tmp", node_name());
    assert_false(opens());
    node_readings_close(&node.readings);
    assert_false(opens());
    node_make_page();
    assert_true(opens());
}

static double most_w(void)
{
    struct apapi_reader *reader = open_reader();
    double power_w = (double)reader->events[0].most_w;

    apapi_source_node.close(reader);
    return power_w;
}

/*
 * The power that the source states is believed until enough was seen. When a node sampler ends, it
 * keeps what was seen for the next one; 5000 readings of each one are enough.
 */
PREPARED(the_highest_power_is_seen_and_kept)
{
    static struct node_idle idle;

    node_begin();
    atomic_store(&node.raw, 0);
    node.reader.count = 1;
    node.events[0] = (struct apapi_event){.name = "plain:::POWER",
                                          .kind = APAPI_KIND_POWER,
                                          .type = APAPI_TYPE_UINT64,
                                          .scale = 0.5 / FAKE_METER_STEP,
                                          .most_w = 500};
    for (int life = 0; life < 2; life++) {
        node_idle_load(&idle, base, "n1", NULL);
        memcpy(node.readings.peaks, idle.kept.peaks, sizeof idle.kept.peaks);
        node_readings_close(&node.readings);
        node_make_page();
        for (uint64_t i = 1; i <= 5000; i++) {
            const struct apapi_reading failed = {100000 * FAKE_METER_STEP, EIO};
            const struct apapi_reading good = {(life == 0 && i == 10 ? 600 : 100) * FAKE_METER_STEP,
                                               0};

            node_write_raw(i == 20 ? failed : good, i, i);
        }
        assert_true(most_w() == (life ? 300 : 500)); /* most_w() makes a reading, too */
        node_readings_keep(&node.readings, idle.kept.peaks);
        assert_int_equal(node_idle_save(&idle.kept, base, "n1", NULL), 0);
    }
    node_readings_keep(&(struct node_readings){.page = NULL}, idle.kept.peaks);
    assert_int_equal(idle.kept.peaks[0].seen, 10002);
    assert_string_equal(idle.kept.peaks[0].name, "plain:::POWER");
}

PREPARED(nothing_in_the_page_is_relied_on)
{
    struct readings_page *page;

    node_begin();
    page = node.readings.page;
    page->component_count = UINT64_MAX;
    assert_true(opens());
    page->component_count = 1;
    page->events[1].event.kind = APAPI_KINDS;
    assert_false(opens());
    page->events[1].event.kind = APAPI_KIND_ENERGY;
    page->components[0].first = READINGS_EVENTS;
    assert_false(opens());
    page->components[0].first = 0;
    page->version++;
    assert_false(opens());
    page->version--;
    page->magic[0] ^= 1;
    assert_false(opens());
    page->magic[0] ^= 1;
    assert_true(opens());
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
    node_end();
    assert_false(opens());
}

PREPARED(one_that_does_not_answer_is_not_waited_for_twice)
{
    be_silent(true);
    node_begin();
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
    reader = open_reader();
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

/* The step reads the same counter by itself after the node sampler has ended. */
PREPARED(a_step_goes_on_where_the_node_sampler_ended)
{
    node_begin();
    intervals.default_ns = APAPI_ROUTE_RELAY_NS;
    create_and_start("plain");
    await(&node.asked, 3);
    atomic_store(&meters[PLAIN].value, LATER_RAW);
    node_end();
    await(&meters[PLAIN].reads, 2);
    halt();
    assert_int_equal(atomic_load(&meters[PLAIN].opens), 1);
    assert_goes_on(atomic_load(&meters[PLAIN].value) - FIRST_RAW - UINT64_C(2) * FAKE_METER_STEP);
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
    await(&node.asked, 1); /* a busy machine needs longer than the call waits */
    assert_true(shares_time_ns() >= before_ns);
    shares_set(before_ns + FOREVER_NS); /* the page is fresh */
    share_end_refresh(&key);
    assert_int_equal(atomic_load(&node.asked), 1);
    shares_set(1);
    node_end();
    share_end_refresh(&key); /* there is no node sampler */
    assert_int_equal(shares_time_ns(), 1);
    munmap(node.shares, sizeof *node.shares);
    close(file);
    close(folder);
}

/* The session of the node sampler. */

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
    assert_int_equal(atomic_load(&meters[PLAIN].reads), before + 2 + 1); /* and the last reading */
    assert_int_equal(m.components[0].period.count, 2); /* the one asked for, and the last one */
}

static struct node_readings own;
static struct node_requests asks;

static void ask_for(const char *word)
{
    int fd = ask_open("/tmp", node_name());

    assert_true(fd >= 0);
    assert_int_equal(ask_send(fd, word, "", clock_monotonic_ns() + FOREVER_NS), 0);
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
    node_requests_take(&asks);
    assert_int_equal(asks.counted_ns, 0);
    await(&meters[PLAIN].reads, before + 1);
    ask_for(ASK_COUNT);
    node_requests_take(&asks);
    await(&meters[PLAIN].reads, before + 2);
    assert_true(asks.counted_ns > 0);
    close(asks.socket);
    halt();
    assert_int_equal(own.page->component_count, 0); /* each step reads this source by itself */
    node_readings_close(&own);
    close(folder);
}
