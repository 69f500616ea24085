/* SPDX-License-Identifier: BSD-3-Clause */
#include "gather/intake.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "channel/deadline.h"

#define TRUSTED_PATIENCE_NS (5000 * DEADLINE_MS)
#define ORIGIN_MAX 32 /* connections of one origin that have not shown the token */
#define FOREIGN_PATIENCE_NS (2000 * DEADLINE_MS) /* for the token, which is sent at once */
#define CROWDED_PATIENCE_NS (50 * DEADLINE_MS)   /* the same when others are waiting */
#define PATIENCE_MS 500
#define CROWDED_MS 10
#define ACCEPTED_MAX 256 /* in a row, before the plugin is heard again */
#define LISTENER_MARK INTAKE_SENDERS

int intake_open(struct intake *intake, int listener)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = LISTENER_MARK};
    int flags = fcntl(listener, F_GETFL);

    for (size_t i = 0; i < INTAKE_SENDERS; i++) {
        intake->senders[i].fd = -1;
        intake->free[intake->free_count++] = i;
    }
    intake->listener = listener;
    intake->listening = true;
    intake->poll = epoll_create1(EPOLL_CLOEXEC);
    intake->merge = apapi_merge_create();
    if (intake->poll < 0 || !intake->merge || flags < 0 ||
        fcntl(listener, F_SETFL, flags | O_NONBLOCK) ||
        epoll_ctl(intake->poll, EPOLL_CTL_ADD, listener, &event)) {
        return -1;
    }
    return 0;
}

static void listen_if(struct intake *intake, bool wanted)
{
    struct epoll_event event = {.events = wanted ? EPOLLIN : 0, .data.u64 = LISTENER_MARK};

    if (intake->listening != wanted) {
        epoll_ctl(intake->poll, EPOLL_CTL_MOD, intake->listener, &event);
        intake->listening = wanted;
    }
}

static void release(struct intake *intake, struct sender *sender)
{
    sender_end(sender); /* closing removes it from the poll, nobody else has the descriptor */
    intake->free[intake->free_count++] = (size_t)(sender - intake->senders);
}

void intake_expect(struct intake *intake, const char *nodelist)
{
    size_t known;

    if (!*nodelist || (intake->nodelist && strcmp(intake->nodelist, nodelist) == 0)) {
        return;
    }
    free(intake->nodelist);
    intake->nodelist = strdup(nodelist);
    apapi_merge_expect(intake->merge, nodelist);
    known = apapi_merge_count(intake->merge) + apapi_merge_awaited(intake->merge);
    if (intake->nodes > 0 && known > intake->nodes) {
        intake->nodes = known;
    }
}

static void take_damaged(struct intake *intake, const char *node, const char *reason)
{
    intake->refused.damaged++;
    apapi_merge_absent(intake->merge, node, reason);
}

static void pass_on(const struct intake *intake, const struct delivery *delivery)
{
    if (intake->keep) {
        intake->keep(intake->keep_context, delivery->payload, delivery->size);
    }
    if (intake->forward) {
        forward_record(intake->forward, delivery->payload, delivery->size);
    }
}

static void take_record(struct intake *intake, const struct delivery *delivery)
{
    struct apapi_record record;
    struct apapi_error err = {""};
    char reason[sizeof err.text + 16];

    if (apapi_record_decode(delivery->payload, delivery->size, &record, &err)) {
        snprintf(reason, sizeof reason, "unreadable %s", err.text);
        take_damaged(intake, delivery->node, reason);
        return;
    }
    if (strcmp(record.id.node, delivery->node) != 0) {
        take_damaged(intake, delivery->node, "its record is of another node");
    } else if (apapi_merge_add(intake->merge, &record) == 0) {
        pass_on(intake, delivery);
    }
    apapi_record_clear(&record);
}

static bool is_surplus(const struct intake *intake, const char *node)
{
    size_t known = apapi_merge_count(intake->merge) + apapi_merge_awaited(intake->merge);

    return intake->nodes > 0 && known >= intake->nodes && !apapi_merge_awaits(intake->merge, node);
}

static void take(struct intake *intake, const struct delivery *delivery, bool whole)
{
    intake_expect(intake, delivery->nodelist);
    if (apapi_merge_has(intake->merge, delivery->node)) {
        intake->refused.twice++;
    } else if (is_surplus(intake, delivery->node)) {
        intake->refused.surplus++;
    } else if (!whole) {
        take_damaged(intake, delivery->node, "its record was cut off");
    } else if (strcmp(delivery->word, APAPI_WORD_RECORD) == 0) {
        take_record(intake, delivery);
    } else if (strcmp(delivery->word, APAPI_WORD_ABSENT) == 0) {
        intake->silent += delivery->size == 0;
        apapi_merge_absent(intake->merge, delivery->node, delivery->payload);
    } else {
        intake->refused.damaged++;
    }
}

/* @param whole  whether the sender has sent all that it wanted to */
static void finish(struct intake *intake, struct sender *sender, bool whole)
{
    struct delivery delivery;

    if (!sender->trusted) {
        intake->refused.foreign++;
    } else if (sender_parse(sender, &delivery)) {
        intake->refused.damaged++;
    } else if (intake->divert) {
        intake->divert(intake->divert_context, &delivery);
    } else {
        take(intake, &delivery, whole);
    }
    release(intake, sender);
}

static void read_sender(struct intake *intake, struct sender *sender)
{
    enum sender_state state = sender_read(sender, intake->token);

    if (state != SENDER_READING) {
        finish(intake, sender, state == SENDER_DONE);
    }
}

static bool is_of(const struct sender *sender, const struct sender_origin *origin)
{
    return sender->fd >= 0 && !sender->trusted &&
           memcmp(&sender->origin, origin, sizeof *origin) == 0;
}

/* Who holds many connections loses the oldest: they keep nobody else out. */
static void limit_origin(struct intake *intake, const struct sender_origin *origin)
{
    struct sender *oldest = NULL;
    size_t count = 0;

    for (size_t i = 0; i < INTAKE_SENDERS; i++) {
        struct sender *sender = &intake->senders[i];

        if (is_of(sender, origin)) {
            count++;
            oldest = oldest && oldest->begun_ns <= sender->begun_ns ? oldest : sender;
        }
    }
    if (count > ORIGIN_MAX) {
        finish(intake, oldest, false);
    }
}

/* @return whether there was one that can be read from. */
static bool accept_one(struct intake *intake)
{
    size_t place = intake->free[intake->free_count - 1];
    struct sender *sender = &intake->senders[place];
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = place};
    struct sockaddr_storage peer = {.ss_family = AF_UNSPEC};
    struct sender_origin origin;
    socklen_t size = sizeof peer;
    int fd =
        accept4(intake->listener, (struct sockaddr *)&peer, &size, SOCK_CLOEXEC | SOCK_NONBLOCK);

    if (fd < 0) {
        intake->starved = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
        return errno == ECONNABORTED || errno == EINTR;
    }
    intake->free_count--;
    origin = sender_find_origin(fd, &peer);
    sender_begin(sender, fd, &origin, deadline_now());
    read_sender(intake, sender);
    if (sender->fd >= 0 && epoll_ctl(intake->poll, EPOLL_CTL_ADD, fd, &event)) {
        finish(intake, sender, false);
    }
    limit_origin(intake, &origin);
    return true;
}

static void accept_all(struct intake *intake)
{
    for (int i = 0; i < ACCEPTED_MAX && intake->free_count > 0 && accept_one(intake); i++) {
    }
}

static bool is_crowded(const struct intake *intake)
{
    return intake->free_count == 0 || intake->starved;
}

static void end_late_ones(struct intake *intake)
{
    uint64_t now_ns = deadline_now();
    uint64_t foreign_ns = is_crowded(intake) ? CROWDED_PATIENCE_NS : FOREIGN_PATIENCE_NS;

    for (size_t i = 0; i < INTAKE_SENDERS; i++) {
        struct sender *sender = &intake->senders[i];

        if (sender->fd >= 0 &&
            now_ns - sender->begun_ns > (sender->trusted ? TRUSTED_PATIENCE_NS : foreign_ns)) {
            finish(intake, sender, false);
        }
    }
}

void intake_work(struct intake *intake)
{
    struct epoll_event events[INTAKE_SENDERS + 1];
    int count = epoll_wait(intake->poll, events, INTAKE_SENDERS + 1, 0);
    bool more = false;

    intake->starved = false;
    for (int i = 0; i < count; i++) {
        if (events[i].data.u64 == LISTENER_MARK) {
            more = true;
        } else {
            read_sender(intake, &intake->senders[events[i].data.u64]);
        }
    }
    if (more) {
        accept_all(intake);
    }
    end_late_ones(intake);
    listen_if(intake, !is_crowded(intake));
}

int intake_patience_ms(const struct intake *intake)
{
    if (is_crowded(intake)) {
        return CROWDED_MS;
    }
    return intake->free_count < INTAKE_SENDERS ? PATIENCE_MS : -1;
}

bool intake_is_complete(const struct intake *intake)
{
    return apapi_merge_awaited(intake->merge) == 0 &&
           apapi_merge_count(intake->merge) >= intake->nodes;
}

const char *intake_describe(const struct intake *intake, char *text, size_t size)
{
    const struct {
        size_t count;
        const char *one, *many;
    } parts[] = {
        {intake->refused.foreign, "foreign connection refused", "foreign connections refused"},
        {intake->refused.damaged, "damaged record", "damaged records"},
        {intake->refused.twice, "record came twice", "records came twice"},
        {intake->refused.surplus, "record of a node too many", "records of nodes too many"},
    };
    size_t length = 0;

    for (size_t i = 0; i < sizeof parts / sizeof *parts && length < size; i++) {
        if (parts[i].count > 0) {
            length += (size_t)snprintf(text + length, size - length, "%s%zu %s", length ? ", " : "",
                                       parts[i].count,
                                       parts[i].count == 1 ? parts[i].one : parts[i].many);
        }
    }
    return length ? text : NULL;
}

void intake_close(struct intake *intake)
{
    for (size_t i = 0; i < INTAKE_SENDERS; i++) {
        if (intake->senders[i].fd >= 0) {
            release(intake, &intake->senders[i]);
        }
    }
    close(intake->poll);
    free(intake->nodelist);
    apapi_merge_destroy(intake->merge);
}
