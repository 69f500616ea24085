/* SPDX-License-Identifier: BSD-3-Clause */
#include "channel/report.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "channel/deadline.h"

#define READ_LIMIT_NS (200 * DEADLINE_MS) /* time for srun to accept or refuse a report */
#define CROWD_LIMIT_NS                                                                             \
    (1000 * DEADLINE_MS) /* time beyond the deadline to try again while srun refuses */
#define PAUSE_MS 5
#define PAUSE_MAX_MS 80
#define TOTALS_MIN_MS 100
#define TOTALS_MAX_MS 9999999
#define PORT_MIN 1024 /* the user can influence the port, so it must not be a system port */

/* Parse the end of the text: nothing, or ':' and the time between two totals. @return false: bad */
static bool report_parse_totals(const char *text, uint64_t *totals_ms)
{
    const char *end = text;

    *totals_ms = 0;
    if (*text == ':') {
        end = text[1] == '0' ? NULL : text_digits(text + 1, TOTALS_MAX_MS, totals_ms);
        end = *totals_ms < TOTALS_MIN_MS ? NULL : end;
    }
    return end && *end == '\0';
}

int report_parse(const char *text, struct report_collector *collector)
{
    uint64_t port = 0, totals_ms;
    const char *token = *text == '0' ? NULL : text_digits(text, UINT16_MAX, &port);

    if (port < PORT_MIN || *token++ != ':' ||
        strspn(token, "0123456789abcdef") != APAPI_TOKEN_LENGTH ||
        !report_parse_totals(token + APAPI_TOKEN_LENGTH, &totals_ms)) {
        errno = EINVAL;
        return -1;
    }
    collector->port = (uint16_t)port;
    collector->totals_ms = (uint32_t)totals_ms;
    memcpy(collector->token, token, APAPI_TOKEN_LENGTH);
    collector->token[APAPI_TOKEN_LENGTH] = '\0';
    return 0;
}

union report_address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

/* @return the size of the address; 0: `text` is not an address. */
static socklen_t report_address(const char *text, uint16_t port, union report_address *address)
{
    memset(address, 0, sizeof *address);
    if (inet_pton(AF_INET, text, &address->v4.sin_addr) == 1) {
        address->v4.sin_family = AF_INET;
        address->v4.sin_port = htons(port);
        return sizeof address->v4;
    }
    if (inet_pton(AF_INET6, text, &address->v6.sin6_addr) == 1) {
        address->v6.sin6_family = AF_INET6;
        address->v6.sin6_port = htons(port);
        return sizeof address->v6;
    }
    return 0;
}

static int report_connect(int fd, const union report_address *address, socklen_t size,
                          uint64_t deadline_ns)
{
    int code = 0;
    socklen_t code_size = sizeof code;

    if (connect(fd, &address->any, size) == 0) {
        return 0;
    }
    if (errno != EINPROGRESS || deadline_wait(fd, POLLOUT, deadline_ns)) {
        return -1;
    }
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &code_size)) {
        return -1;
    }
    errno = code;
    return code ? -1 : 0;
}

static int report_deliver(int fd, const char *token, const struct report *report,
                          uint64_t deadline_ns)
{
    bool listed = report->nodelist[0] && !strpbrk(report->nodelist, " \n");
    char *text;
    int size = asprintf(&text, "%s %s %s%s%s\n%s", token, report->word, report->node,
                        listed ? " " : "", listed ? report->nodelist : "", report->payload);
    int result;

    if (size < 0) {
        return -1;
    }
    result = deadline_send(fd, text, (size_t)size, deadline_ns);
    free(text);
    return result;
}

/*
 * If srun is overloaded, it may close a connection without reading; this causes a reset. An orderly
 * end shows that srun has read everything. A longer silence is no refusal: srun will read later.
 */
static int report_await(int fd, uint64_t deadline_ns)
{
    uint64_t until_ns = deadline_now() + READ_LIMIT_NS;
    char byte;

    if (shutdown(fd, SHUT_WR) ||
        deadline_wait(fd, POLLIN, until_ns < deadline_ns ? until_ns : deadline_ns)) {
        return errno == ECONNRESET || errno == ENOTCONN ? ECONNRESET : 0;
    }
    return recv(fd, &byte, 1, MSG_DONTWAIT) < 0 && errno == ECONNRESET ? ECONNRESET : 0;
}

/* Read the collector's answer, up to the end of the connection. */
static void report_hear(int fd, const struct report *report, uint64_t deadline_ns)
{
    size_t length = 0;
    ssize_t got = 1;

    while (got > 0 && length + 1 < report->answer_size &&
           deadline_wait(fd, POLLIN, deadline_ns) == 0) {
        got = recv(fd, report->answer + length, report->answer_size - 1 - length, MSG_DONTWAIT);
        length += got > 0 ? (size_t)got : 0;
    }
    report->answer[length] = '\0';
}

/* @return 0; an errno. */
static int report_try(const union report_address *target, socklen_t size,
                      const struct report_collector *collector, const struct report *report,
                      uint64_t deadline_ns)
{
    int fd = socket(target->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int code = fd < 0 ? errno : 0;

    if (fd < 0) {
        return code;
    }
    if (report_connect(fd, target, size, deadline_ns) ||
        report_deliver(fd, collector->token, report, deadline_ns)) {
        code = errno;
    } else if (report->answer) {
        shutdown(fd, SHUT_WR);
        report_hear(fd, report, deadline_ns);
    } else {
        code = report_await(fd, deadline_ns);
    }
    close(fd);
    return code;
}

int report_send(const struct report_collector *collector, const char *address,
                const struct report *report, uint64_t deadline_ns, struct apapi_error *err)
{
    union report_address target;
    socklen_t size = report_address(address, collector->port, &target);
    uint64_t end_ns = deadline_ns, pause_ms = PAUSE_MS;
    int code;

    if (size == 0) {
        return apapi_fail(err, EINVAL, "'%.64s' is not an address of srun", address);
    }
    code = report_try(&target, size, collector, report, end_ns);
    while (code == ECONNRESET || code == EPIPE) { /* srun has refused the report */
        end_ns = deadline_ns + CROWD_LIMIT_NS;
        if (deadline_now() + pause_ms * DEADLINE_MS >= end_ns) {
            break;
        }
        poll(NULL, 0, (int)pause_ms);
        pause_ms = pause_ms < PAUSE_MAX_MS ? 2 * pause_ms : pause_ms;
        code = report_try(&target, size, collector, report, end_ns);
    }
    return code == 0 ? 0
                     : apapi_fail(err, code, "cannot reach srun at %s port %d: %s", address,
                                  collector->port, strerror(code));
}
