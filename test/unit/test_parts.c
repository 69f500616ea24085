/* SPDX-License-Identifier: BSD-3-Clause */
/* Records on their way from srun's collector over a socket to the job's table. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "channel/deadline.h"
#include "gather/forward.h"
#include "gather/parts.h"
#include "unit/step_fixture.h"

#define TOKEN "0123456789abcdef0123456789abcdef"

static struct parts parts;
static struct apapi_record batch; /* record of the batch step */
static struct forward forward;
static int listener;
static char strangers_where[128];

/* @return a step of 4 s with 400 J. */
static struct apapi_record step_of(const char *name, const char *node, uint32_t job, int64_t from_s)
{
    struct apapi_record record = step(name, node, from_s, from_s + 4, 100);

    record.id.job = job;
    record.measurement.covered = 1;
    return record;
}

static void announce(const char *token, char *where, size_t size)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    socklen_t length = sizeof address;
    int name;

    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &length), 0);
    name = (int)(length - offsetof(struct sockaddr_un, sun_path)) - 1;
    snprintf(where, size, "%.*s:%s", name, address.sun_path + 1, token);
}

static void set_up(void)
{
    const struct sockaddr_un address = {.sun_family = AF_UNIX};

    listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(listener >= 0);
    assert_int_equal(bind(listener, (const struct sockaddr *)&address, sizeof address.sun_family),
                     0);
    assert_int_equal(listen(listener, 16), 0);
    assert_int_equal(parts_open(&parts, listener, TOKEN, 17), 0);
    batch = step_of("batch", "n1", 17, 0);
}

static void tear_down(void)
{
    parts_close(&parts);
    close(listener);
}

static void open_forward(const char *token)
{
    char where[128];

    announce(token, where, sizeof where);
    forward_open(&forward, where);
}

static void pass_on_step(const char *name, const char *node, uint32_t job, int64_t from_s)
{
    const struct apapi_record record = step_of(name, node, job, from_s);
    FREED char *line = NULL;

    assert_int_equal(apapi_record_encode(&record, &line, NULL), 0);
    forward_record(&forward, line, strlen(line));
}

static void take_all(void)
{
    parts.receiver.slice_ns = 0; /* how long it takes is the machine's matter */
    receiver_work(&parts.receiver);
}

static void deliver(void)
{
    forward_flush(&forward);
    take_all();
}

static void assert_table_says(size_t nodes, const char *nodelist, const char *what)
{
    FREED char *text = parts_table(&parts, nodes, nodelist);

    assert_non_null(text);
    assert_contains(text, what);
}

#define PREPARED(name) TEST_WITH(name, set_up, tear_down)

PREPARED(a_single_record_is_no_table)
{
    assert_null(parts_table(&parts, 0, ""));
    parts_add(&parts, &batch);
    assert_null(parts_table(&parts, 1, "n1"));
    assert_null(parts_table(&parts, 0, ""));
    assert_table_says(2, "n[1-2]", "measured 50.0 % of 2 nodes");
}

/* salloc does not know the job's number in advance. */
PREPARED(the_first_record_names_the_job)
{
    parts_close(&parts);
    assert_int_equal(parts_open(&parts, listener, TOKEN, APAPI_UNKNOWN), 0);
    open_forward(TOKEN);
    pass_on_step("0", "n1", 18, 0);
    pass_on_step("1", "n1", 17, 0);
    pass_on_step("1", "n1", 18, 0);
    deliver();
    assert_int_equal(parts.count, 2);
    assert_table_says(0, "", "apapi: job 18  1 node  2 steps");
}

PREPARED(rubbish_is_bounded)
{
    open_forward(TOKEN);
    forward_record(&forward, "{", 1);
    forward_record(&forward, "", 0);
    for (size_t i = 0; i < PARTS_MAX; i++) {
        forward_record(&forward, "x", 1);
        if (i % 10000 == 0) {
            receiver_work(&parts.receiver);
        }
    }
    pass_on_step("0", "n1", 17, 0);
    deliver();
    assert_int_equal(parts.count, 0);
    assert_int_equal(parts.left_out, 3);
}

#define SENDERS 12
#define LINES 40

/* Make connections with LINES records each, all of which have arrived. */
static void send_many(void)
{
    const struct apapi_record record = step_of("0", "n1", 17, 0);
    FREED char *line = NULL;

    assert_int_equal(apapi_record_encode(&record, &line, NULL), 0);
    for (int i = 0; i < SENDERS; i++) {
        open_forward(TOKEN);
        for (int k = 0; k < LINES; k++) {
            forward_record(&forward, line, strlen(line));
        }
        forward_flush(&forward);
    }
}

/* In between, the sampler can look for the order to stop. */
PREPARED(what_many_send_is_taken_bit_by_bit)
{
    size_t taken = 0;

    parts.receiver.slice_ns = 1;
    send_many();
    for (int i = 0; i < 2 * SENDERS && taken < (size_t)SENDERS * LINES; i++) {
        receiver_work(&parts.receiver);
        assert_true(parts.lines <= taken + 2 * LINES); /* of a known connection, and a new one */
        taken = parts.lines;
    }
    assert_int_equal(taken, SENDERS * LINES);
}

/* The memory is not the job's. */
PREPARED(memory_for_what_is_sent_is_bounded)
{
    parts.receiver.most_bytes = 32768;
    send_many();
    take_all();
    assert_int_equal(parts.lines, SENDERS * LINES); /* one connection after the other */
    parts.receiver.most_bytes = 8192;
    send_many();
    take_all();
    assert_true(parts.lines < 2 * SENDERS * LINES); /* each connection is cut */
    assert_true(parts.count < parts.lines);
}

PREPARED(timelines_are_bounded)
{
    struct apapi_record record = step_of("0", "n1", 17, 0);
    struct apapi_timeline *timeline = &record.measurement.domains[APAPI_DOMAIN_PACKAGE].timeline;

    timeline->count = 1;
    parts.count = PARTS_TIMELINES;
    parts_add(&parts, &record);
    assert_int_equal(timeline->count, 1);
    assert_int_equal(parts.count, PARTS_TIMELINES + 1);
}

PREPARED(nobody_there_is_no_trouble)
{
    static const char *const wrong[] = {NULL,      "",
                                        ":",       "x",
                                        "00000:",  "00000:" TOKEN,
                                        ":" TOKEN, "0000000000000000000000000000000000:" TOKEN};

    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        forward_open(&forward, wrong[i]);
        pass_on_step("0", "n1", 17, 0);
        forward_flush(&forward);
        pass_on_step("0", "n1", 17, 0);
        forward_flush(&forward);
    }
    take_all();
    assert_int_equal(parts.lines, 0);
}

PREPARED(a_listener_that_never_reads_does_not_hold_it_up)
{
    open_forward(TOKEN);
    for (int i = 0; i < 20000; i++) {
        pass_on_step("0", "n1", 17, i);
    }
    forward_flush(&forward);
    assert_string_equal(forward.name, "");
}

/* Be a stranger who has taken the name: report who it is, and whether it was sent anything. */
static void listen_as_stranger(int out)
{
    const struct sockaddr_un any = {.sun_family = AF_UNIX};
    char byte;
    int peer;

    if (setuid(65534)) {
        _exit(2);
    }
    listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(listener, (const struct sockaddr *)&any, sizeof any.sun_family) ||
        listen(listener, 1)) {
        _exit(2);
    }
    announce(TOKEN, strangers_where, sizeof strangers_where);
    if (write(out, strangers_where, sizeof strangers_where) < 0) {
        _exit(2);
    }
    peer = accept(listener, NULL, NULL);
    _exit(peer >= 0 && read(peer, &byte, 1) == 0 ? 0 : 1);
}

PREPARED(strangers_get_nothing)
{
    int out[2], status;
    pid_t stranger;

    needs_root();
    assert_int_equal(pipe(out), 0);
    stranger = fork();
    if (stranger == 0) {
        listen_as_stranger(out[1]);
    }
    assert_true(read(out[0], strangers_where, sizeof strangers_where) > 0);
    forward_open(&forward, strangers_where);
    assert_string_not_equal(forward.name, "");
    pass_on_step("0", "n1", 17, 0);
    forward_flush(&forward);
    assert_string_equal(forward.name, "");
    assert_int_equal(waitpid(stranger, &status, 0), stranger);
    assert_int_equal(status, 0);
    close(out[0]);
    close(out[1]);
}

/* Start an srun whose step ends while the test waits for its records. */
static pid_t begin_srun(const char *step_name)
{
    pid_t srun;

    open_forward(TOKEN);
    forward_begin(&forward, step_name);
    take_all();
    assert_int_equal(parts.running_count, 1);
    srun = fork();
    if (srun == 0) {
        usleep(20000);
        pass_on_step("0", "n1", 17, 1);
        pass_on_step("0", "n2", 17, 0);
        forward_end(&forward);
        _exit(0);
    }
    return srun;
}

PREPARED(a_running_step_is_waited_for)
{
    pid_t srun = begin_srun("17.0");

    parts_wait(&parts, deadline_now() + 60000 * DEADLINE_MS);
    assert_int_equal(waitpid(srun, NULL, 0), srun);
    assert_int_equal(parts.running_count, 0);
    parts_add(&parts, &batch);
    assert_table_says(2, "n[1-2]", "apapi: job 17  2 nodes  2 steps  5.000 s\n");
    assert_table_says(2, "n[1-2]", "  package      900.0 J ");
}

PREPARED(running_steps_are_bounded)
{
    char name[16];

    open_forward(TOKEN);
    for (int i = 0; i < PARTS_RUNNING + 10; i++) {
        snprintf(name, sizeof name, "17.%d", i);
        forward_begin(&forward, name);
        receiver_work(&parts.receiver);
    }
    take_all();
    assert_int_equal(parts.running_count, PARTS_RUNNING);
    forward_begin(&forward, "17.0"); /* again */
    open_forward(TOKEN);
    forward_begin(&forward, "17.1");
    forward_end(&forward);
    take_all();
    assert_int_equal(parts.running_count, PARTS_RUNNING - 1);
    parts_add(&parts, &batch);
    assert_table_says(1, "n1", "running: steps 17.0, 17.2, 17.3, 17.4, 17.5 and 250");
}

/* --- whose a connection is, for listeners that accept anyone ---------------------------------- */

static struct sender_origin origin_of(const char *address)
{
    struct sockaddr_storage peer = {.ss_family = AF_UNSPEC};
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(4711)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(4711)};

    if (strchr(address, ':')) {
        assert_int_equal(inet_pton(AF_INET6, address, &v6.sin6_addr), 1);
        memcpy(&peer, &v6, sizeof v6);
    } else {
        assert_int_equal(inet_pton(AF_INET, address, &v4.sin_addr), 1);
        memcpy(&peer, &v4, sizeof v4);
    }
    return sender_find_origin(-1, &peer);
}

TEST(origins)
{
    static const struct {
        const char *left, *right;
        bool same;
    } cases[] = {
        {"10.0.0.1", "10.0.0.1", true},
        {"10.0.0.1", "10.0.0.2", false},
        {"10.0.0.1", "::ffff:10.0.0.1", true},
        {"::ffff:10.0.0.1", "::ffff:10.0.0.2", false},
        {"127.0.0.1", "127.255.3.4", true},
        {"127.0.0.1", "::ffff:127.7.7.7", true},
        {"127.0.0.1", "::1", true},
        {"127.0.0.1", "126.0.0.1", false},
        {"fd00:1:2:3::4", "fd00:1:2:3:9:9:9:9", true},
        {"fd00:1:2:3::4", "fd00:1:2:4::4", false},
        {"::1", "::2", false},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct sender_origin left = origin_of(cases[i].left), right = origin_of(cases[i].right);

        print_message("%s and %s\n", cases[i].left, cases[i].right);
        assert_int_equal(memcmp(&left, &right, sizeof left) == 0, cases[i].same);
    }
}

TEST(the_user_of_a_socket_of_this_machine)
{
    const struct sockaddr_storage peer = {.ss_family = AF_UNIX};
    struct sender_origin origin, nobody = sender_find_origin(-1, &peer);
    int ends[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    origin = sender_find_origin(ends[0], &peer);
    assert_int_equal(origin.bytes[0], AF_UNIX);
    assert_int_equal(memcmp(origin.bytes + 1, &(uid_t){getuid()}, sizeof(uid_t)), 0);
    assert_int_equal(nobody.bytes[0], AF_UNIX);
    close(ends[0]);
    close(ends[1]);
}
