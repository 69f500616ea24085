/* SPDX-License-Identifier: BSD-3-Clause */
#include "gather/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hostlist.h"
#include "channel/deadline.h"

#define STEP_NAME_SIZE (JOB_ID_SIZE + 48)
#define PARTS_BYTES (16 << 20) /* most memory of all senders; it is not the job's memory */
#define PLUGIN_PATIENCE_NS (10000 * DEADLINE_MS)
#define PARTS_SLICE_NS (10 * DEADLINE_MS) /* longest delay of the order to stop */

/* Each component of a heterogeneous job has its own ID. The job has the first component's ID. */
static bool is_of_job(struct parts *parts, const struct apapi_identity *id)
{
    if (parts->id == APAPI_UNKNOWN) {
        parts->id = id->het_job == APAPI_UNKNOWN ? id->job : id->het_job;
    }
    if (id->job == parts->id && id->het_job == APAPI_UNKNOWN) {
        job_id_text(id, parts->name, sizeof parts->name);
    }
    return id->job == parts->id || id->het_job == parts->id;
}

static void parts_add_to_job(struct parts *parts, struct apapi_record *record)
{
    if (!is_of_job(parts, &record->id)) {
        return;
    }
    for (int d = 0; d < APAPI_DOMAINS && parts->count >= PARTS_TIMELINES; d++) {
        record->measurement.domains[d].timeline.count = 0;
    }
    if (apapi_job_add(parts->job, record)) {
        parts->left_out++;
    } else {
        parts->count++;
    }
}

/* The user may send any number of lines, so only the first PARTS_MAX lines are decoded. */
static void parts_take_line(struct parts *parts, const char *line, size_t size)
{
    struct apapi_record record;

    if (parts->lines++ >= PARTS_MAX) {
        parts->left_out++;
    } else if (apapi_record_decode(line, size, &record, NULL) == 0) {
        parts_add_to_job(parts, &record);
        apapi_record_clear(&record);
    }
}

/* If the connection broke in the middle of a line, that line is no valid record. */
static void take_lines(struct parts *parts, const struct delivery *delivery)
{
    const char *line = delivery->payload, *end = line + delivery->size;

    while (line < end) {
        size_t size = strcspn(line, "\n");

        parts_take_line(parts, line, size);
        line += size + 1;
    }
}

static size_t find_running(const struct parts *parts, const char *step)
{
    size_t index = 0;

    while (index < parts->running_count && strcmp(parts->running[index], step) != 0) {
        index++;
    }
    return index;
}

static void note_running(struct parts *parts, const char *step)
{
    if (parts->running_count < PARTS_RUNNING && strlen(step) < sizeof parts->running[0] &&
        find_running(parts, step) == parts->running_count) {
        strcpy(parts->running[parts->running_count++], step);
    }
}

static void note_ended(struct parts *parts, const char *step)
{
    size_t index = find_running(parts, step);

    if (index < parts->running_count) {
        parts->running_count--;
        memmove(parts->running[index], parts->running[index + 1],
                (parts->running_count - index) * sizeof parts->running[0]);
    }
}

/* @param lines  NULL: the step has ended */
static void parts_tell_totals(const struct parts *parts, const char *step, const char *lines)
{
    if (parts->totals && find_running(parts, step) < parts->running_count) {
        parts->totals(parts->totals_context, step, lines);
    }
}

static void parts_take(void *context, const struct delivery *delivery)
{
    if (strcmp(delivery->word, APAPI_WORD_RECORDS) == 0) {
        take_lines(context, delivery);
    } else if (strcmp(delivery->word, APAPI_WORD_RUNNING) == 0) {
        note_running(context, delivery->node);
    } else if (strcmp(delivery->word, APAPI_WORD_ENDED) == 0) {
        parts_tell_totals(context, delivery->node, NULL);
        note_ended(context, delivery->node);
    } else if (strcmp(delivery->word, APAPI_WORD_TOTALS) == 0) {
        parts_tell_totals(context, delivery->node, delivery->payload);
    }
}

int parts_open(struct parts *parts, int listener, const char *token, uint32_t job)
{
    memset(parts, 0, sizeof *parts);
    fcntl(listener, F_SETFD, FD_CLOEXEC);
    parts->id = job;
    parts->receiver.take = parts_take;
    parts->receiver.context = parts;
    parts->receiver.most_bytes = PARTS_BYTES;
    parts->receiver.slice_ns = PARTS_SLICE_NS;
    snprintf(parts->receiver.token, sizeof parts->receiver.token, "%s", token);
    parts->job = apapi_job_create();
    if (!parts->job || receiver_open(&parts->receiver, listener)) {
        apapi_job_destroy(parts->job);
        parts->job = NULL;
        return -1;
    }
    return 0;
}

void parts_add(struct parts *parts, const struct apapi_record *record)
{
    struct apapi_record copy = *record; /* parts_add_to_job() changes it */

    parts_add_to_job(parts, &copy);
    parts->own = true;
}

void parts_wait(struct parts *parts, uint64_t deadline_ns)
{
    struct pollfd watched = {.fd = parts->receiver.poll, .events = POLLIN};
    int left_ms;

    parts->receiver.slice_ns = 0; /* the order to stop has come: work without a limit of time */
    receiver_work(&parts->receiver);
    /* open connections may still bring records of a step */
    while ((parts->running_count > 0 || parts->receiver.free_count < RECEIVER_SENDERS) &&
           (left_ms = clock_left_ms(deadline_ns)) > 0) {
        poll(&watched, 1, clock_sooner_ms(receiver_patience_ms(&parts->receiver), left_ms));
        receiver_work(&parts->receiver);
    }
}

struct missing {
    const struct apapi_job *job;
    size_t count;
};

static int parts_count_missing(void *context, const char *node)
{
    struct missing *missing = context;

    missing->count += !apapi_job_has_node(missing->job, node);
    return 0;
}

/* A single step's own table is enough, unless the batch step lacks nodes or steps still run. */
static bool is_worth_showing(const struct parts *parts, size_t nodes, const char *nodelist)
{
    struct missing missing = {.job = parts->job};
    struct apapi_job_total total;

    if (apapi_job_total(parts->job, &total)) {
        return false;
    }
    if (parts->only) {
        return total.records > 0;
    }
    hostlist_each(nodelist, parts_count_missing, &missing);
    return total.steps > 1 || (total.records > 0 && parts->running_count > 0) ||
           (parts->own && (nodes > total.nodes || missing.count > 0));
}

/* Steps are reported with the job's number, but the table shows Slurm's name of an array task. */
static void parts_name_step(const struct parts *parts, const char *step, char text[STEP_NAME_SIZE])
{
    char number[16];
    size_t size = (size_t)snprintf(number, sizeof number, "%u.", parts->id);

    if (*parts->name && strncmp(step, number, size) == 0) {
        snprintf(text, STEP_NAME_SIZE, "%s.%s", parts->name, step + size);
    } else {
        snprintf(text, STEP_NAME_SIZE, "%s", step);
    }
}

char *parts_table(struct parts *parts, size_t nodes, const char *nodelist)
{
    char job[JOB_ID_SIZE], steps[PARTS_RUNNING][STEP_NAME_SIZE], *text = NULL;
    const char *running[PARTS_RUNNING];
    const struct apapi_job_table_head head = {.job = job,
                                              .nodes = nodes,
                                              .nodelist = nodelist,
                                              .left_out = parts->left_out,
                                              .running = running,
                                              .running_count = parts->running_count};

    if (!is_worth_showing(parts, nodes, nodelist)) {
        return NULL;
    }
    for (size_t i = 0; i < parts->running_count; i++) {
        parts_name_step(parts, parts->running[i], steps[i]);
        running[i] = steps[i];
    }
    if (*parts->name) {
        snprintf(job, sizeof job, "%s", parts->name);
    } else {
        snprintf(job, sizeof job, "%u", parts->id);
    }
    apapi_job_table_format(parts->job, &head, &text, NULL);
    return text;
}

static int parts_answer(struct parts *parts, struct message *message)
{
    const char *nodelist = message_value(message, "nodelist");
    char *text;
    int result;

    receiver_work(&parts->receiver);
    text = parts_table(parts, message_number(message, "nodes"), nodelist ? nodelist : "");
    result = message_send_text(APAPI_CHANNEL_FD, message, APAPI_WORD_TABLE, text ? text : "",
                               deadline_now() + PLUGIN_PATIENCE_NS);
    free(text);
    return result;
}

int parts_serve(struct parts *parts, struct message *message)
{
    struct pollfd watched[] = {{.fd = APAPI_CHANNEL_FD, .events = POLLIN},
                               {.fd = parts->receiver.poll, .events = POLLIN}};

    for (;;) {
        if (poll(watched, 2, receiver_patience_ms(&parts->receiver)) < 0 && errno != EINTR) {
            return -1;
        }
        receiver_work(&parts->receiver);
        if (!watched[0].revents) {
            continue;
        }
        if (message_receive(APAPI_CHANNEL_FD, message, deadline_now() + PLUGIN_PATIENCE_NS)) {
            return 0;
        }
        if (message_is(message, APAPI_WORD_END)) {
            return parts_answer(parts, message);
        }
    }
}

void parts_close(struct parts *parts)
{
    if (parts->job) {
        receiver_close(&parts->receiver);
        apapi_job_destroy(parts->job);
        parts->job = NULL;
    }
}
