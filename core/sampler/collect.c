/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * apapi-collect: takes the records of a step from its nodes and makes one table of them. Started by
 * the plugin in srun, which it talks to over APAPI_CHANNEL_FD; ends when srun does.
 */
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
#include "channel/deadline.h"
#include "channel/message.h"
#include "sampler/sender.h"

#define SENDERS_MAX 64 /* at once; others wait in the listening socket's queue */
#define SENDER_PATIENCE_NS (5000 * DEADLINE_MS)
#define PLUGIN_PATIENCE_NS (10000 * DEADLINE_MS)

struct collector {
    char token[APAPI_TOKEN_LENGTH + 1];
    char step[64];
    char name[APAPI_TEXT_SIZE];
    size_t nodes;   /* how many records to expect */
    char *nodelist; /* their names, "n1,n2"; NULL: not known */
    struct apapi_merge *merge;
    struct sender senders[SENDERS_MAX];
    bool ending; /* the step has ended: `end_ns` is the time to give up */
    uint64_t end_ns;
};

/* Too large for the stack; one at a time is enough. */
static struct message message;

static void copy_value(const char *key, char *text, size_t size)
{
    const char *value = message_value(&message, key);

    snprintf(text, size, "%s", value ? value : "");
}

static int configure(struct collector *collector)
{
    const char *nodes;

    if (message_receive(APAPI_CHANNEL_FD, &message, deadline_now() + PLUGIN_PATIENCE_NS) ||
        !message_is(&message, APAPI_WORD_CONFIG)) {
        return -1;
    }
    copy_value("token", collector->token, sizeof collector->token);
    copy_value("step", collector->step, sizeof collector->step);
    copy_value("name", collector->name, sizeof collector->name);
    nodes = message_value(&message, "nodes");
    collector->nodes = nodes ? strtoul(nodes, NULL, 10) : 0;
    for (size_t i = 0; i < SENDERS_MAX; i++) {
        collector->senders[i].fd = -1;
    }
    collector->merge = apapi_merge_create();
    return strlen(collector->token) == APAPI_TOKEN_LENGTH && collector->merge ? 0 : -1;
}

static struct sender *free_sender(struct collector *collector)
{
    for (size_t i = 0; i < SENDERS_MAX; i++) {
        if (collector->senders[i].fd < 0) {
            return &collector->senders[i];
        }
    }
    return NULL;
}

static void accept_sender(struct collector *collector)
{
    struct sender *sender = free_sender(collector);
    int fd = sender ? accept4(APAPI_LISTEN_FD, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK) : -1;

    if (fd >= 0) {
        sender_begin(sender, fd, deadline_now() + SENDER_PATIENCE_NS);
    }
}

static void read_sender(struct collector *collector, struct sender *sender)
{
    enum sender_state state = sender_read(sender);

    if (state == SENDER_DONE) {
        sender_deliver(sender, collector->token, collector->merge);
    }
    if (state != SENDER_READING) {
        sender_end(sender);
    }
}

static void drop_late_senders(struct collector *collector)
{
    uint64_t now_ns = deadline_now();

    for (size_t i = 0; i < SENDERS_MAX; i++) {
        struct sender *sender = &collector->senders[i];

        if (sender->fd >= 0 && sender->deadline_ns <= now_ns) {
            sender_end(sender);
        }
    }
}

/* Call `visit` for each name of "n1,n2" as long as it returns true. @return whether all did. */
static bool every_node(const struct collector *collector,
                       bool (*visit)(struct apapi_merge *merge, const char *node))
{
    const char *rest = collector->nodelist;

    while (rest && *rest) {
        char node[APAPI_TEXT_SIZE];
        size_t length = strcspn(rest, ",");

        snprintf(node, sizeof node, "%.*s", (int)length, rest);
        if (!visit(collector->merge, node)) {
            return false;
        }
        rest += length + (rest[length] == ',');
    }
    return true;
}

static bool has_node(struct apapi_merge *merge, const char *node)
{
    return apapi_merge_has(merge, node);
}

static bool note_missing(struct apapi_merge *merge, const char *node)
{
    if (!apapi_merge_has(merge, node)) {
        apapi_merge_absent(merge, node, "it did not answer in time");
    }
    return true;
}

static bool all_there(const struct collector *collector)
{
    return collector->nodelist ? every_node(collector, has_node)
                               : apapi_merge_count(collector->merge) >= collector->nodes;
}

static void begin_end(struct collector *collector)
{
    const char *nodelist = message_value(&message, "nodelist");
    const char *wait_ms = message_value(&message, "wait_ms");

    collector->ending = true;
    collector->end_ns = deadline_now() + (wait_ms ? strtoull(wait_ms, NULL, 10) : 0) * DEADLINE_MS;
    free(collector->nodelist);
    collector->nodelist = nodelist && *nodelist ? strdup(nodelist) : NULL;
}

/* @return whether srun is still there. */
static bool hear_plugin(struct collector *collector)
{
    if (message_receive(APAPI_CHANNEL_FD, &message, deadline_now() + PLUGIN_PATIENCE_NS)) {
        return false;
    }
    if (message_is(&message, APAPI_WORD_END)) {
        begin_end(collector);
    }
    return true;
}

static int left_ms(const struct collector *collector)
{
    uint64_t now_ns = deadline_now();

    if (!collector->ending) {
        return 1000;
    }
    return collector->end_ns > now_ns
               ? (int)((collector->end_ns - now_ns + DEADLINE_MS - 1) / DEADLINE_MS)
               : 0;
}

/* Wait for something to happen and deal with it. @return whether srun is still there. */
static bool turn(struct collector *collector)
{
    struct pollfd watched[SENDERS_MAX + 2] = {
        {.fd = APAPI_CHANNEL_FD, .events = POLLIN},
        {.fd = free_sender(collector) ? APAPI_LISTEN_FD : -1, .events = POLLIN}};

    for (size_t i = 0; i < SENDERS_MAX; i++) {
        watched[i + 2] = (struct pollfd){.fd = collector->senders[i].fd, .events = POLLIN};
    }
    if (poll(watched, SENDERS_MAX + 2, left_ms(collector)) < 0) {
        return errno == EINTR;
    }
    for (size_t i = 0; i < SENDERS_MAX; i++) {
        if (watched[i + 2].revents) {
            read_sender(collector, &collector->senders[i]);
        }
    }
    if (watched[1].revents) {
        accept_sender(collector);
    }
    drop_late_senders(collector);
    return watched[0].revents ? hear_plugin(collector) : true;
}

static bool is_over(const struct collector *collector)
{
    return collector->ending && (all_there(collector) || deadline_now() >= collector->end_ns);
}

static void send_table(struct collector *collector)
{
    const struct apapi_table_head head = {.step = collector->step,
                                          .name = collector->name,
                                          .user_s = NAN,
                                          .system_s = NAN,
                                          .elapsed_s = NAN};
    char *text = NULL;

    every_node(collector, note_missing);
    if (apapi_table_format(collector->merge, &head, &text, NULL)) {
        return;
    }
    message_start(&message, APAPI_WORD_TABLE);
    message_add_text(&message, text);
    message_send(APAPI_CHANNEL_FD, &message, deadline_now() + PLUGIN_PATIENCE_NS);
    free(text);
}

static void destroy(struct collector *collector)
{
    for (size_t i = 0; i < SENDERS_MAX; i++) {
        sender_end(&collector->senders[i]);
    }
    apapi_merge_destroy(collector->merge);
    free(collector->nodelist);
}

static int run(void)
{
    static struct collector collector;
    sigset_t all;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    fcntl(APAPI_CHANNEL_FD, F_SETFD, FD_CLOEXEC);
    fcntl(APAPI_LISTEN_FD, F_SETFD, FD_CLOEXEC);
    prctl(PR_SET_DUMPABLE, 0); /* the token is in this memory */
    if (configure(&collector)) {
        return EXIT_FAILURE;
    }
    while (!is_over(&collector)) {
        if (!turn(&collector)) {
            destroy(&collector);
            return EXIT_SUCCESS;
        }
    }
    send_table(&collector);
    destroy(&collector);
    return EXIT_SUCCESS;
}

static bool is_socket(int fd)
{
    struct stat file;

    return fstat(fd, &file) == 0 && S_ISSOCK(file.st_mode);
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc == 1 && is_socket(APAPI_CHANNEL_FD) && is_socket(APAPI_LISTEN_FD)) {
        return run();
    }
    fprintf(stderr, "apapi-collect is started by spank_apapi.so in srun.\n");
    return 2;
}
