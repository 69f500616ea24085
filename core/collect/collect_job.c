/* SPDX-License-Identifier: BSD-3-Clause */
#include "collect/collect_job.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#include "channel/deadline.h"
#include "gather/parts.h"

#define PLUGIN_PATIENCE_NS (10000 * DEADLINE_MS)

static int collect_job_answer(struct parts *parts, struct message *message)
{
    const char *nodelist = message_value(message, "nodelist");
    char *text;
    int result;

    parts_work(parts);
    text = parts_table(parts, message_number(message, "nodes"), nodelist ? nodelist : "");
    result = message_send_text(APAPI_CHANNEL_FD, message, APAPI_WORD_TABLE, text ? text : "",
                               deadline_now() + PLUGIN_PATIENCE_NS);
    free(text);
    return result;
}

static int collect_job_serve(struct parts *parts, struct message *message)
{
    struct pollfd watched[] = {{.fd = APAPI_CHANNEL_FD, .events = POLLIN},
                               {.fd = parts->receiver.poll, .events = POLLIN}};

    for (;;) {
        if (poll(watched, 2, parts_patience_ms(parts)) < 0 && errno != EINTR) {
            return -1;
        }
        parts_work(parts);
        if (!watched[0].revents) {
            continue;
        }
        if (message_receive(APAPI_CHANNEL_FD, message, deadline_now() + PLUGIN_PATIENCE_NS)) {
            return 0;
        }
        if (message_is(message, APAPI_WORD_END)) {
            return collect_job_answer(parts, message);
        }
    }
}

int collect_job(const char *token, struct message *message)
{
    static struct parts parts;
    bool only = message_value(message, "job_only") != NULL;
    int result = -1;

    if (parts_open(&parts, APAPI_LISTEN_FD, token, APAPI_UNKNOWN) == 0) {
        parts.only = only;
        result = collect_job_serve(&parts, message);
        parts_close(&parts);
    }
    return result;
}
