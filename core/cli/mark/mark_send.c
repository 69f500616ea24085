/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/mark/mark.h"

#define PATIENCE_NS UINT64_C(200000000)
#define RETRY_MS 5

static int mark_send_left_ms(uint64_t end_ns)
{
    uint64_t now_ns = clock_monotonic_ns();

    return now_ns < end_ns ? (int)((end_ns - now_ns) / 1000000) + 1 : 0;
}

/* As long as the sampler has no room for another connection, try again. */
static int mark_send_connect(const char *page, uint64_t end_ns)
{
    int channel = region_connect(page);

    while (channel < 0 && errno == EAGAIN && mark_send_left_ms(end_ns) > 0) {
        poll(NULL, 0, RETRY_MS);
        channel = region_connect(page);
    }
    return channel;
}

static int mark_send_receive(int channel, struct region_message *answer, uint64_t end_ns)
{
    struct pollfd ready = {.fd = channel, .events = POLLIN};
    int result;

    while ((result = region_receive(channel, answer, NULL)) && errno == EAGAIN) {
        int left_ms = mark_send_left_ms(end_ns);

        if (left_ms == 0 || (poll(&ready, 1, left_ms) < 0 && errno != EINTR)) {
            errno = ETIMEDOUT;
            return -1;
        }
    }
    return result;
}

static int mark_send_ask(int channel, const struct region_message *message,
                         struct region_message *answer, uint64_t end_ns, struct apapi_error *err)
{
    if (region_send(channel, message, -1) || mark_send_receive(channel, answer, end_ns)) {
        return apapi_fail(err, errno, "the step's sampler: %s", strerror(errno));
    }
    return answer->kind == REGION_REFUSED ? apapi_fail(err, EINVAL, "%.200s", answer->name) : 0;
}

int mark_send(const struct region_message *message, struct region_message *answer,
              struct apapi_error *err)
{
    const char *page = secure_getenv("APAPI_LIVE_PAGE");
    uint64_t end_ns = clock_monotonic_ns() + PATIENCE_NS;
    int channel, result, code;

    if (!page || !*page) {
        return apapi_fail(err, ENOTCONN,
                          "this is no measured step: the variable APAPI_LIVE_PAGE is not set");
    }
    channel = mark_send_connect(page, end_ns);
    if (channel < 0) {
        return apapi_fail(err, errno, "the sampler of %.120s: %s", page, strerror(errno));
    }
    result = mark_send_ask(channel, message, answer, end_ns, err);
    code = errno;
    close(channel);
    errno = code;
    return result;
}
