/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi-collect runs beside srun: it takes the records of a step's nodes and makes the report. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apapi/record.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/option_table.h"
#include "base/text.h"
#include "base/units.h"
#include "channel/channel.h"
#include "channel/deadline.h"
#include "collect/limits.h"
#include "config/config.h"
#include "gather/forward.h"
#include "gather/parts.h"
#include "gather/receiver.h"
#include "render/step_report.h"
#include "sum/merge.h"

/* --- the job's table ------------------------------------------------------------------------ */

#define PLUGIN_PATIENCE_NS (10000 * DEADLINE_MS)

static int collect_job(const char *token, struct message *message)
{
    static struct parts parts;
    bool only = message_value(message, "job_only") != NULL;
    int result = -1;

    if (parts_open(&parts, APAPI_LISTEN_FD, token, APAPI_UNKNOWN) == 0) {
        parts.only = only;
        result = parts_serve(&parts, message);
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
    size_t nodes; /* of the step; 0: not known */
    struct apapi_merge *merge;
    size_t silent;  /* nodes that have nothing to report */
    char *nodelist; /* the last one received; NULL: none */
    bool whole_job; /* started by salloc: collects what other sruns forward */
    bool alone;     /* srun has ended */
    bool ending;    /* the step has ended; give up at `end_ns` */
    bool launched;  /* the step was launched on all nodes, as far as srun knows */
    uint64_t end_ns;
    enum config_format format;
    bool verbose;
    struct step_limits limits;
};

/* Too large for the stack. */
static struct message message;

/* --- the nodes' records --- */

static size_t collect_known(const struct collector *collector)
{
    return apapi_merge_count(collector->merge) + apapi_merge_awaited(collector->merge);
}

static bool collect_is_complete(const struct collector *collector)
{
    return apapi_merge_awaited(collector->merge) == 0 &&
           apapi_merge_count(collector->merge) >= collector->nodes;
}

static void collect_expect(struct collector *collector, const char *nodelist)
{
    if (!*nodelist || (collector->nodelist && strcmp(collector->nodelist, nodelist) == 0)) {
        return;
    }
    free(collector->nodelist);
    collector->nodelist = strdup(nodelist);
    apapi_merge_expect(collector->merge, nodelist);
    if (collector->nodes > 0 && collect_known(collector) > collector->nodes) {
        collector->nodes = collect_known(collector);
    }
}

static void collect_damaged(struct collector *collector, const char *node, const char *reason)
{
    collector->receiver.refused.damaged++;
    apapi_merge_absent(collector->merge, node, reason);
}

static void collect_record(struct collector *collector, const struct delivery *delivery)
{
    struct apapi_record record;
    struct apapi_error err = {""};
    char reason[sizeof err.text + 16];

    if (apapi_record_decode(delivery->payload, delivery->size, &record, &err)) {
        snprintf(reason, sizeof reason, "unreadable %s", err.text);
        collect_damaged(collector, delivery->node, reason);
        return;
    }
    if (strcmp(record.id.node, delivery->node) != 0) {
        collect_damaged(collector, delivery->node, "its record is of another node");
        apapi_record_clear(&record);
        return;
    }
    step_limits_take_record(&collector->limits, &record);
    if (apapi_merge_add(collector->merge, &record) == 0) {
        step_limits_take_end(&collector->limits, delivery->node,
                             apapi_measurement_total_j(&record.measurement));
        if (step_report_needs_lines(collector->format)) {
            step_report_keep(collector->merge, delivery->payload, delivery->size);
        }
        forward_record(&collector->forward, delivery->payload, delivery->size);
    }
    apapi_record_clear(&record);
}

static void collect_take(void *context, const struct delivery *delivery)
{
    struct collector *collector = context;

    if (delivery->fd >= 0 && collector->limits.begun_ns) {
        step_limits_take_total(&collector->limits, delivery);
        return;
    }
    collect_expect(collector, delivery->nodelist);
    if (apapi_merge_has(collector->merge, delivery->node)) {
        collector->receiver.refused.twice++;
    } else if (collector->nodes > 0 && collect_known(collector) >= collector->nodes &&
               !apapi_merge_awaits(collector->merge, delivery->node)) {
        collector->receiver.refused.surplus++;
    } else if (!delivery->whole) {
        collect_damaged(collector, delivery->node, "its record was cut off");
    } else if (strcmp(delivery->word, APAPI_WORD_RECORD) == 0) {
        collect_record(collector, delivery);
    } else if (strcmp(delivery->word, APAPI_WORD_ABSENT) == 0) {
        collector->silent += delivery->size == 0;
        step_limits_take_end(&collector->limits, delivery->node, NAN);
        apapi_merge_absent(collector->merge, delivery->node, delivery->payload);
    } else {
        collector->receiver.refused.damaged++;
    }
}

/* A text about refused messages. @return `text`; NULL: there are none. */
static const char *collect_describe(const struct receiver_refused *refused, char *text, size_t size)
{
    const struct {
        size_t count;
        const char *one, *many;
    } parts[] = {
        {refused->foreign, "foreign connection refused", "foreign connections refused"},
        {refused->damaged, "damaged record", "damaged records"},
        {refused->twice, "record came twice", "records came twice"},
        {refused->surplus, "record of an unexpected node", "records of unexpected nodes"},
    };
    size_t length = 0;

    for (size_t i = 0; i < COUNT_OF(parts) && length < size; i++) {
        if (parts[i].count > 0) {
            length += (size_t)snprintf(text + length, size - length, "%s%zu %s", length ? ", " : "",
                                       parts[i].count,
                                       parts[i].count == 1 ? parts[i].one : parts[i].many);
        }
    }
    return length ? text : NULL;
}

/* --- the plugin's messages --- */

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
    forward_open(&collector->forward, message_value(&message, "job"));
    collector->nodes = message_number(&message, "nodes");
    collector->whole_job = message_value(&message, "whole_job");
    if (collector->whole_job) {
        return 0;
    }
    collector->receiver.take = collect_take;
    collector->receiver.context = collector;
    collector->merge = apapi_merge_create();
    if (strlen(collector->receiver.token) != APAPI_TOKEN_LENGTH || !collector->merge ||
        receiver_open(&collector->receiver, APAPI_LISTEN_FD)) {
        return -1;
    }
    step_limits_begin(&collector->limits, &message, &collector->forward);
    forward_begin(&collector->forward, collector->step);
    return 0;
}

/* @param alone  srun has ended: records that its step may still send go into the job's table */
static void begin_end(struct collector *collector, bool alone)
{
    const char *nodelist = alone ? NULL : message_value(&message, "nodelist");
    uint64_t orphan_ns = forward_is_open(&collector->forward) ? ORPHAN_NS : 0;
    uint64_t wait_ns = alone ? orphan_ns : message_number(&message, "wait_ms") * DEADLINE_MS;

    step_limits_end(&collector->limits);
    collector->alone = alone;
    collector->ending = true;
    collector->launched = alone || wait_ns > 0;
    collector->end_ns = deadline_now() + wait_ns;
    collect_expect(collector, nodelist ? nodelist : "");
}

/* Pass on the totals, too: the energy of short steps is known only now. */
static void collect_end_forward(struct collector *collector)
{
    step_limits_pass(&collector->limits);
    forward_end(&collector->forward);
}

/* Wait for an event and handle it. */
static void wait_and_handle(struct collector *collector)
{
    struct pollfd watched[] = {{.fd = collector->alone ? -1 : APAPI_CHANNEL_FD, .events = POLLIN},
                               {.fd = collector->receiver.poll, .events = POLLIN},
                               {.fd = step_limits_fd(&collector->limits), .events = POLLIN}};
    int wait_ms = clock_sooner_ms(receiver_patience_ms(&collector->receiver),
                                  step_limits_pause_ms(&collector->limits));

    wait_ms = clock_sooner_ms(wait_ms, collector->ending ? clock_left_ms(collector->end_ns) : -1);
    if (poll(watched, 3, wait_ms) < 0) {
        return;
    }
    receiver_work(&collector->receiver);
    step_limits_work(&collector->limits);
    if (collect_is_complete(collector)) {
        collect_end_forward(collector); /* srun may take long to end, or may be killed */
    }
    if (!watched[0].revents) {
        return;
    }
    if (message_receive(APAPI_CHANNEL_FD, &message, deadline_now() + PLUGIN_PATIENCE_NS)) {
        begin_end(collector, true);
    } else if (message_is(&message, APAPI_WORD_END)) {
        begin_end(collector, false);
    }
}

/* A report may be longer than a message. */
static ssize_t send_some(void *cookie, const char *bytes, size_t size)
{
    static char part[PART_BYTES + 1];

    (void)cookie;
    for (size_t sent = 0, length; sent < size; sent += length) {
        length = size - sent < PART_BYTES ? size - sent : PART_BYTES;
        memcpy(part, bytes + sent, length);
        part[length] = '\0';
        if (message_send_text(APAPI_CHANNEL_FD, &message, APAPI_WORD_TABLE, part,
                              deadline_now() + PLUGIN_PATIENCE_NS)) {
            return 0;
        }
    }
    return (ssize_t)size;
}

/* @return 0; -1: not all of the report has reached srun. */
static int send_step_report(const struct collector *collector)
{
    const cookie_io_functions_t calls = {.write = send_some};
    static char buffer[PART_BYTES];
    FILE *out = fopencookie(NULL, "w", calls);
    char note[256];
    const struct apapi_table_head head = {
        .step = collector->step,
        .name = collector->name,
        .user_s = NAN,
        .system_s = NAN,
        .elapsed_s = NAN,
        .note = collect_describe(&collector->receiver.refused, note, sizeof note),
        .nodes = collector->nodes,
        .verbose = collector->verbose};
    int result = -1;

    if (out) {
        setvbuf(out, buffer, _IOFBF, sizeof buffer);
        result = step_report_write(collector->merge, collector->format, &head, out);
        result = ferror(out) ? -1 : result;
        result = fclose(out) == EOF ? -1 : result;
    }
    return result;
}

/* Without the end, srun says that the report is incomplete. @return as send_step_report(). */
static int send_report(struct collector *collector)
{
    bool ran = collector->launched || apapi_merge_count(collector->merge) > 0;

    step_limits_report(&collector->limits, collector->merge);
    apapi_merge_give_up(collector->merge, collector->launched ? "it did not answer in time"
                                                              : "the step was not launched");
    if (collector->format != CONFIG_NONE && ran && collector->silent < collector->nodes &&
        send_step_report(collector)) {
        return -1;
    }
    message_start(&message, APAPI_WORD_END);
    return message_send(APAPI_CHANNEL_FD, &message, deadline_now() + PLUGIN_PATIENCE_NS);
}

static int collect_run(void)
{
    static struct collector collector;
    int result;
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
           (!collect_is_complete(&collector) && deadline_now() < collector.end_ns)) {
        wait_and_handle(&collector);
    }
    if (collector.alone && !collect_is_complete(&collector)) {
        forward_flush(&collector.forward); /* the step of a killed srun may still run */
    } else {
        collect_end_forward(&collector);
    }
    result = collector.alone ? 0 : send_report(&collector);
    receiver_close(&collector.receiver);
    free(collector.nodelist);
    apapi_merge_destroy(collector.merge);
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
        unsetenv("LANG"); /* the plugin has set it: the language of the reader is not known */
        return collect_run();
    }
    status = option_table_read(&table, argc, argv, NULL);
    if (status >= 0) {
        return status;
    }
    option_table_help(&table, stderr);
    return USAGE_ERROR;
}
