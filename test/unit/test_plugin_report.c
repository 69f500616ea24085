/* SPDX-License-Identifier: BSD-3-Clause */
#include "channel/report.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>

#include "channel/deadline.h"
#include "unit/unit.h"

#define PATIENCE_NS (120000 * DEADLINE_MS)
#define TOKEN "0123456789abcdef0123456789abcdef"

TEST(good_places)
{
    struct report_collector collector = {0};

    assert_int_equal(report_parse("65535:" TOKEN, &collector), 0);
    assert_int_equal(collector.port, 65535);
    assert_int_equal(collector.totals_ms, 0);
    assert_int_equal(report_parse("1024:" TOKEN ":2500", &collector), 0);
    assert_int_equal(collector.port, 1024);
    assert_string_equal(collector.token, TOKEN);
    assert_int_equal(collector.totals_ms, 2500);
}

TEST(bad_places)
{
    static const char *const texts[] = {
        TOKEN,
        "1023:" TOKEN,
        "65536:" TOKEN,
        " 1024:" TOKEN,
        "01024:" TOKEN,
        "1024 :" TOKEN,
        "1024:" TOKEN "0",
        "1024:0123456789abcdef0123456789abcde",
        "1024:0123456789ABCDEF0123456789ABCDEF",
        "1024:" TOKEN ":",
        "1024:" TOKEN ":99",
        "1024:" TOKEN ":1000x",
        "1024:" TOKEN ":12345678",
    };
    struct report_collector collector = {.port = 7};

    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        assert_fails(EINVAL, report_parse(texts[i], &collector));
        assert_int_equal(collector.port, 7);
    }
}

/* Listen on a socket on this machine, and fill in the collector. */
static int listen_here(int backlog, struct report_collector *collector)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(bind(fd, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(fd, backlog), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
    collector->port = ntohs(address.sin_port);
    memcpy(collector->token, TOKEN, sizeof TOKEN);
    return fd;
}

/* Accept one connection and read it to its end. @return the text, for free() */
static void *read_one(void *listener)
{
    int fd = accept(*(int *)listener, NULL, NULL);
    char *text = calloc(1, APAPI_PAYLOAD_MAX + 1);
    size_t length = 0;
    ssize_t count;

    while (text && (count = read(fd, text + length, APAPI_PAYLOAD_MAX - length)) > 0) {
        length += (size_t)count;
    }
    close(fd);
    return text;
}

struct crowd {
    int listener, refusals;
    char *text; /* from the last connection */
};

/* End some connections without reading them, and read one. */
static void *refuse_some(void *context)
{
    struct crowd *crowd = context;
    struct pollfd sent;

    for (int i = 0; i < crowd->refusals; i++) {
        sent = (struct pollfd){.fd = accept(crowd->listener, NULL, NULL), .events = POLLIN};
        poll(&sent, 1, -1); /* unread data causes a reset */
        close(sent.fd);
    }
    crowd->text = read_one(&crowd->listener);
    return NULL;
}

TEST(a_refused_report_is_sent_again)
{
    const struct report report = {
        .word = APAPI_WORD_RECORD, .node = "n1", .nodelist = "", .payload = "{}"};
    struct report_collector collector;
    struct crowd crowd = {.listener = listen_here(5, &collector), .refusals = 4};
    pthread_t reader;

    assert_int_equal(pthread_create(&reader, NULL, refuse_some, &crowd), 0);
    assert_int_equal(
        report_send(&collector, "127.0.0.1", &report, deadline_now() + PATIENCE_NS, &why), 0);
    pthread_join(reader, NULL);
    assert_string_equal(crowd.text, TOKEN " record n1\n{}");
    free(crowd.text);
    close(crowd.listener);
}

static int send_to(const struct report_collector *collector, const char *address,
                   const char *payload, uint64_t patience_ns)
{
    const struct report report = {
        .word = APAPI_WORD_ABSENT, .node = "n1", .nodelist = "", .payload = payload};

    return report_send(collector, address, &report, deadline_now() + patience_ns, &why);
}

TEST(nobody_listens)
{
    struct report_collector collector;

    close(listen_here(5, &collector));
    assert_fails_with(ECONNREFUSED, "127.0.0.1",
                      send_to(&collector, "127.0.0.1", "x", PATIENCE_NS));
}

TEST(what_is_no_address)
{
    static const char *const addresses[] = {"", "localhost", "127.1", "1.2.3.4.5", "::g"};
    struct report_collector collector = {.port = 1, .token = TOKEN};

    for (size_t i = 0; i < COUNT_OF(addresses); i++) {
        assert_fails(EINVAL, send_to(&collector, addresses[i], "x", PATIENCE_NS));
    }
}

TEST(the_other_side_is_gone)
{
    static char payload[64000001]; /* more than buffers of any usual system hold */
    struct report_collector collector;
    int listener = listen_here(5, &collector);
    uint64_t began_ns = deadline_now();

    memset(payload, 'x', sizeof payload - 1);
    /* the connection is queued, but never read */
    setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &(int){4096}, sizeof(int));
    assert_fails(ETIMEDOUT, send_to(&collector, "127.0.0.1", payload, 200 * DEADLINE_MS));
    assert_true(deadline_now() - began_ns < PATIENCE_NS);
    close(listener);
}
