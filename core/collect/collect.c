/* SPDX-License-Identifier: BSD-3-Clause */
/* The program beside srun: it takes the records of a step's nodes, and prints its report. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apapi/record.h"
#include "base/clock.h"
#include "base/option_table.h"
#include "channel/channel.h"
#include "channel/deadline.h"
#include "collect/limits.h"
#include "config/config.h"
#include "gather/parts.h"
#include "gather/receiver.h"
#include "render/step_report.h"

/* --- the job's table ------------------------------------------------------------------------ */

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
        if (poll(watched, 2, receiver_patience_ms(&parts->receiver)) < 0 && errno != EINTR) {
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

static int collect_job(const char *token, struct message *message)
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

/* --- the program ---------------------------------------------------------------------------- */

#define PART_BYTES 65536
#define ORPHAN_NS (2000 * DEADLINE_MS) /* wait for the records of a step whose srun was killed */

struct collector {
    char step[64];
    char name[APAPI_TEXT_SIZE];
    struct receiver receiver;
    struct forward forward;
    bool whole_job; /* started by salloc: collects what other sruns forward */
    bool alone;     /* srun has ended */
    bool ending;    /* the step has ended; give up at `end_ns` */
    uint64_t end_ns;
    enum config_format format;
    bool verbose;
    struct step_report step_report;
    struct collect_limits limits;
};

/* Too large for the stack. */
static struct message message;

static void copy_value(const char *key, char *text, size_t size)
{
    const char *value = message_value(&message, key);

    snprintf(text, size, "%s", value ? value : "");
}

static int collect_configure(struct collector *collector)
{
    const char *format;

    if (message_receive(APAPI_CHANNEL_FD, &message, deadline_now() + PLUGIN_PATIENCE_NS) ||
        !message_is(&message, APAPI_WORD_CONFIG)) {
        return -1;
    }
    format = message_value(&message, "format");
    copy_value("token", collector->receiver.token, sizeof collector->receiver.token);
    copy_value("step", collector->step, sizeof collector->step);
    copy_value("name", collector->name, sizeof collector->name);
    collector->verbose = message_value(&message, "verbose");
    if (format && config_format_parse(format, &collector->format, NULL)) {
        return -1;
    }
    if (step_report_needs_lines(collector->format)) {
        collector->receiver.keep = step_report_keep;
        collector->receiver.keep_context = &collector->step_report;
    }
    forward_open(&collector->forward, message_value(&message, "job"));
    collector->receiver.forward = &collector->forward;
    collector->receiver.nodes = message_number(&message, "nodes");
    collector->whole_job = message_value(&message, "whole_job");
    if (collector->whole_job) {
        return 0;
    }
    if (strlen(collector->receiver.token) != APAPI_TOKEN_LENGTH ||
        receiver_open(&collector->receiver, APAPI_LISTEN_FD)) {
        return -1;
    }
    collect_limits_begin(&collector->limits, &message, &collector->receiver);
    forward_begin(&collector->forward, collector->step);
    return 0;
}

static void begin_end(struct collector *collector)
{
    const char *nodelist = message_value(&message, "nodelist");

    collect_limits_end(&collector->limits);
    collector->ending = true;
    collector->end_ns = deadline_now() + message_number(&message, "wait_ms") * DEADLINE_MS;
    receiver_expect(&collector->receiver, nodelist ? nodelist : "");
}

/* srun has ended. Records that its step may still send go into the job's table. */
static void begin_alone(struct collector *collector)
{
    collector->alone = true;
    collect_limits_end(&collector->limits);
    collector->ending = true;
    collector->end_ns = deadline_now() + (forward_is_open(&collector->forward) ? ORPHAN_NS : 0);
}

/* The energy of short steps is known only now. */
static void collect_end_forward(struct collector *collector)
{
    collect_limits_pass(&collector->limits);
    forward_end(&collector->forward);
}

/* Wait for an event and handle it. */
static void wait_and_handle(struct collector *collector)
{
    struct pollfd watched[] = {{.fd = collector->alone ? -1 : APAPI_CHANNEL_FD, .events = POLLIN},
                               {.fd = collector->receiver.poll, .events = POLLIN},
                               {.fd = collect_limits_fd(&collector->limits), .events = POLLIN}};
    int wait_ms = clock_sooner_ms(receiver_patience_ms(&collector->receiver),
                                  collect_limits_pause_ms(&collector->limits));

    wait_ms = clock_sooner_ms(wait_ms, collector->ending ? clock_left_ms(collector->end_ns) : -1);
    if (poll(watched, 3, wait_ms) < 0) {
        return;
    }
    receiver_work(&collector->receiver);
    collect_limits_work(&collector->limits);
    if (receiver_is_complete(&collector->receiver)) {
        collect_end_forward(collector); /* srun may take long to end, or may be killed */
    }
    if (!watched[0].revents) {
        return;
    }
    if (message_receive(APAPI_CHANNEL_FD, &message, deadline_now() + PLUGIN_PATIENCE_NS)) {
        begin_alone(collector);
    } else if (message_is(&message, APAPI_WORD_END)) {
        begin_end(collector);
    }
}

/* A report may be longer than a message. */
static int collect_send_part(const char *text, size_t size)
{
    static char part[PART_BYTES + 1];

    memcpy(part, text, size);
    part[size] = '\0';
    message_start(&message, APAPI_WORD_TABLE);
    message_add_text(&message, part);
    return message_send(APAPI_CHANNEL_FD, &message, deadline_now() + PLUGIN_PATIENCE_NS);
}

static ssize_t send_some(void *cookie, const char *bytes, size_t size)
{
    (void)cookie;
    for (size_t sent = 0; sent < size; sent += PART_BYTES) {
        if (collect_send_part(bytes + sent, size - sent < PART_BYTES ? size - sent : PART_BYTES)) {
            return 0;
        }
    }
    return (ssize_t)size;
}

/* @return 0; -1: not all of the report has reached srun. So does the next one. */
static int send_step_report(const struct collector *collector)
{
    const struct receiver *receiver = &collector->receiver;
    const cookie_io_functions_t calls = {.write = send_some};
    static char buffer[PART_BYTES];
    FILE *out = fopencookie(NULL, "w", calls);
    char note[256];
    const struct apapi_table_head head = {.step = collector->step,
                                          .name = collector->name,
                                          .user_s = NAN,
                                          .system_s = NAN,
                                          .elapsed_s = NAN,
                                          .note = receiver_describe(receiver, note, sizeof note),
                                          .nodes = receiver->nodes,
                                          .verbose = collector->verbose};
    int result = -1;

    if (out) {
        setvbuf(out, buffer, _IOFBF, sizeof buffer);
        result = step_report_write(&collector->step_report, collector->format, &head,
                                   receiver->merge, out);
        result = ferror(out) ? -1 : result;
        result = fclose(out) == EOF ? -1 : result;
    }
    return result;
}

/* Without its end srun says that the report is not whole. */
static int send_report(struct collector *collector)
{
    const struct receiver *receiver = &collector->receiver;

    apapi_merge_give_up(receiver->merge, "it did not answer in time");
    if (collector->format != CONFIG_NONE && receiver->silent < receiver->nodes &&
        send_step_report(collector)) {
        return -1;
    }
    message_start(&message, APAPI_WORD_END);
    return message_send(APAPI_CHANNEL_FD, &message, deadline_now() + PLUGIN_PATIENCE_NS);
}

static int collect_run(void)
{
    static struct collector collector;
    int result = 0;
    sigset_t all;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    fcntl(APAPI_CHANNEL_FD, F_SETFD, FD_CLOEXEC);
    fcntl(APAPI_LISTEN_FD, F_SETFD, FD_CLOEXEC);
    prctl(PR_SET_DUMPABLE, 0); /* this process's memory holds the token */
    if (collect_configure(&collector)) {
        return EXIT_FAILURE;
    }
    if (collector.whole_job) {
        return collect_job(collector.receiver.token, &message) ? EXIT_FAILURE : EXIT_SUCCESS;
    }
    while (!collector.ending ||
           (!receiver_is_complete(&collector.receiver) && deadline_now() < collector.end_ns)) {
        wait_and_handle(&collector);
    }
    if (collector.alone && !receiver_is_complete(&collector.receiver)) {
        forward_flush(&collector.forward); /* the step of a killed srun may still run */
    } else {
        collect_end_forward(&collector);
    }
    if (!collector.alone) {
        result = send_report(&collector);
    }
    step_report_clear(&collector.step_report);
    receiver_close(&collector.receiver);
    return result ? EXIT_FAILURE : EXIT_SUCCESS;
}

static bool is_socket(int fd)
{
    struct stat file;

    return fstat(fd, &file) == 0 && S_ISSOCK(file.st_mode);
}

static const struct option_table table = {
    .program = "apapi-collect",
    .head = "apapi-collect is started by spank_apapi.so in srun and salloc.\n",
    .foot = "",
    .rows = (const struct option_row[]){{0}}};

int main(int argc, char **argv)
{
    int status;

    if (argc == 1 && is_socket(APAPI_CHANNEL_FD) && is_socket(APAPI_LISTEN_FD)) {
        unsetenv("LANG"); /* which the plugin has set: that of who reads the table is not known */
        return collect_run();
    }
    status = option_table_read(&table, argc, argv, NULL);
    if (status >= 0) {
        return status;
    }
    option_table_help(&table, stderr);
    return USAGE_ERROR;
}
