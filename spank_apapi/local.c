/* SPDX-License-Identifier: BSD-3-Clause */
#include "local.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "apapi/channel.h"
#include "channel/deadline.h"
#include "channel/message.h"
#include "child.h"
#include "log.h"
#include "nodelist.h"
#include "options.h"
#include "output.h"
#include "step.h"

#define WAIT_MORE_NS (500 * DEADLINE_MS) /* srun's grace, and again apapi-collect's */
#define BACKLOG 4096                     /* nodes that report in the same moment */

static struct {
    struct spank_apapi_arguments arguments;
    struct spank_apapi_child collector;
    int listener; /* where the nodes report; closed once the collector has it */
    char token[APAPI_TOKEN_LENGTH + 1];
    pid_t pid; /* the process that has started the collector; 0: nothing is measured */
    uint32_t nodes;
    char step[32];
    struct apapi_error failure; /* "": none */
} local = {.collector = {.channel = -1, .pidfd = -1}, .listener = -1};

static struct message message;

int spank_apapi_local_init(spank_t spank, int count, char *const words[])
{
    spank_apapi_arguments_parse(count, words, &local.arguments, NULL);
    spank_apapi_options_register(spank, &local.arguments);
    return ESPANK_SUCCESS;
}

/* A socket that listens on any free port. @return descriptor; -1 with errno. */
static int local_listen(uint16_t *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t size = sizeof address;
    int fd = spank_apapi_child_keep_away(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));

    if (fd < 0) {
        return -1;
    }
    if (bind(fd, (struct sockaddr *)&address, sizeof address) || listen(fd, BACKLOG) ||
        getsockname(fd, (struct sockaddr *)&address, &size)) {
        int code = errno;

        close(fd);
        errno = code;
        return -1;
    }
    *port = ntohs(address.sin_port);
    return fd;
}

/* @return 0; -1 with errno. */
static int local_token(char token[APAPI_TOKEN_LENGTH + 1])
{
    unsigned char random[APAPI_TOKEN_LENGTH / 2];

    if (getrandom(random, sizeof random, 0) != sizeof random) {
        return -1;
    }
    for (size_t i = 0; i < sizeof random; i++) {
        snprintf(token + 2 * i, 3, "%02x", random[i]);
    }
    return 0;
}

/* Make all that the nodes need to know. @return 0; -1 with the reason in local.failure. */
static int local_announce(void)
{
    char where[sizeof local.token + sizeof "65535:"];
    uint16_t port = 0;

    if (local_token(local.token)) {
        return apapi_fail(&local.failure, errno, "no random numbers: %s", strerror(errno));
    }
    local.listener = local_listen(&port);
    if (local.listener < 0) {
        return apapi_fail(&local.failure, errno, "cannot listen: %s", strerror(errno));
    }
    snprintf(where, sizeof where, "%d:%s", port, local.token);
    if (setenv(APAPI_COLLECT_ENV, where, 1)) {
        return apapi_fail(&local.failure, errno, "cannot set a variable: %s", strerror(errno));
    }
    return 0;
}

int spank_apapi_local_init_post_opt(void)
{
    if (local.listener >= 0) {
        return ESPANK_SUCCESS;
    }
    unsetenv(APAPI_COLLECT_ENV); /* that of a step around this one */
    if (spank_apapi_options_components()) {
        local_announce();
    }
    return ESPANK_SUCCESS;
}

static int local_configure(spank_t spank, uint64_t deadline_ns)
{
    char name[SPANK_APAPI_NAME_SIZE];

    spank_apapi_step_program(spank, name);
    message_start(&message, APAPI_WORD_CONFIG);
    message_add_pair(&message, "token", local.token);
    message_add_pair(&message, "step", local.step);
    message_add_pair(&message, "name", name[0] ? name : NULL);
    message_add_number(&message, "nodes", local.nodes);
    return message_send(local.collector.channel, &message, deadline_ns);
}

/* Has the collector, which has been followed to its exec, said that this failed? */
static int local_check_started(void)
{
    if (message_receive(local.collector.channel, &message, 0)) {
        return errno == ETIMEDOUT
                   ? 0
                   : apapi_fail(&local.failure, errno, "the collector ended before its time");
    }
    return spank_apapi_child_reason(&message, &local.failure);
}

static int local_start_collector(spank_t spank)
{
    uint64_t deadline_ns = deadline_now() + local.arguments.start_timeout_ns;
    const struct spank_apapi_program program = {.dir = local.arguments.libexec_dir,
                                                .name = "apapi-collect",
                                                .listener = local.listener,
                                                .follow = true};

    if (spank_apapi_child_start(&local.collector, &program, deadline_ns, &local.failure) ||
        local_check_started()) {
        return -1;
    }
    if (local_configure(spank, deadline_ns)) {
        return apapi_fail(&local.failure, errno, "cannot talk to the collector: %s",
                          strerror(errno));
    }
    return 0;
}

static void local_collect(spank_t spank)
{
    if (local.failure.text[0] || local_start_collector(spank)) {
        unsetenv(APAPI_COLLECT_ENV);
        spank_apapi_child_kill(&local.collector);
        spank_apapi_child_close(&local.collector);
    }
}

static void local_read_step(spank_t spank)
{
    uint32_t job = 0, step = 0, nodes = 0;
    char step_name[SPANK_APAPI_STEP_SIZE];

    spank_get_item(spank, S_JOB_ID, &job);
    spank_get_item(spank, S_JOB_STEPID, &step);
    spank_get_item(spank, S_JOB_NNODES, &nodes);
    spank_apapi_step_name(step, step_name);
    snprintf(local.step, sizeof local.step, "%u.%s", job, step_name);
    local.nodes = spank_apapi_nodelist_count(nodes);
}

int spank_apapi_local_user_init(spank_t spank, int count, char *const words[])
{
    spank_apapi_log_arguments(count, words);
    if (local.pid == 0 && spank_apapi_options_components()) {
        local.pid = getpid();
        local_read_step(spank);
        local_collect(spank);
    } else if (local.pid == 0) {
        unsetenv(APAPI_COLLECT_ENV);
    }
    if (local.listener >= 0) {
        close(local.listener); /* the collector has a copy */
        local.listener = -1;
    }
    return ESPANK_SUCCESS;
}

static int local_send_end(uint64_t wait_ns)
{
    static char nodelist[APAPI_MESSAGE_MAX / 2];

    spank_apapi_nodelist(local.nodes, nodelist, sizeof nodelist);
    message_start(&message, APAPI_WORD_END);
    message_add_pair(&message, "nodelist", nodelist);
    message_add_number(&message, "wait_ms", wait_ns / DEADLINE_MS);
    return message_send(local.collector.channel, &message, deadline_now() + WAIT_MORE_NS);
}

/* The report is in `message` afterwards. @return 0; -1 with the reason in local.failure. */
static int local_receive_table(void)
{
    uint64_t wait_ns = local.arguments.stop_timeout_ns + WAIT_MORE_NS;
    uint64_t deadline_ns = deadline_now() + wait_ns + WAIT_MORE_NS;

    if (local_send_end(wait_ns) ||
        message_receive(local.collector.channel, &message, deadline_ns)) {
        return errno == ETIMEDOUT
                   ? apapi_fail(&local.failure, errno, "the collector did not answer within %g s",
                                (double)(wait_ns + WAIT_MORE_NS) / 1e9)
                   : apapi_fail(&local.failure, errno, "the collector ended before its time");
    }
    if (message_is(&message, APAPI_WORD_TABLE)) {
        return 0;
    }
    return message_is(&message, APAPI_WORD_FAILED)
               ? spank_apapi_child_reason(&message, &local.failure)
               : apapi_fail(&local.failure, EBADMSG, "the collector gave no report");
}

static void local_print(const char *text)
{
    spank_apapi_output_write(STDERR_FILENO, text, deadline_now() + WAIT_MORE_NS);
}

static void local_print_failure(void)
{
    char line[sizeof local.step + sizeof local.failure.text + 64];

    snprintf(line, sizeof line, "apapi: step %s has no table: %s\n", local.step,
             local.failure.text);
    local_print(line);
}

int spank_apapi_local_exit(void)
{
    if (local.pid == 0 || local.pid != getpid()) {
        return ESPANK_SUCCESS;
    }
    local.pid = 0;
    if (local.collector.channel >= 0 && local_receive_table() == 0) {
        local_print(message_text(&message));
    } else {
        spank_apapi_child_kill(&local.collector);
        local_print_failure();
    }
    spank_apapi_child_close(&local.collector);
    return ESPANK_SUCCESS;
}
