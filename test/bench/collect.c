/* SPDX-License-Identifier: BSD-3-Clause */
/* srun's report: all nodes of a big step send their records to apapi-collect at the same time. */
#include <arpa/inet.h>
#include <math.h>
#include <netinet/in.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "bench/bench.h"
#include "channel/channel.h"

#define NODES 10000
#define QUICK_NODES 100
#define PARSED 100 /* number of records that jansson reads */
#define LIMIT 1.1  /* factor of jansson's time, which only reads the same JSON */
#define LIMIT_MIB 64
#define TOKEN "0123456789abcdef0123456789abcdef"
#define PATIENCE_NS UINT64_C(60000000000)

static struct message message;

/* @return the message of a node, for free(). @param size  result: its length */
static char *make_delivery(FILE *records, unsigned node, unsigned nodes, size_t *size)
{
    char *line = NULL, *text = NULL;
    size_t room = 0;
    int length = getline(&line, &room, records) < 0
                     ? -1
                     : asprintf(&text, TOKEN " record n%u n[0-%u]\n%s", node, nodes - 1, line);

    free(line);
    if (length < 0) {
        bench_die("no record");
    }
    *size = (size_t)length;
    return text;
}

static void send_one(const struct sockaddr_in *address, const char *text, size_t size)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || connect(fd, (const struct sockaddr *)address, sizeof *address)) {
        bench_die("apapi-collect cannot be reached");
    }
    while (size > 0) {
        ssize_t sent = send(fd, text, size, MSG_NOSIGNAL);

        if (sent < 0) {
            bench_die("apapi-collect does not take a record");
        }
        text += sent;
        size -= (size_t)sent;
    }
    close(fd);
}

/* Be all nodes, in another process: make all messages, wait for the order, and send them. */
static void be_the_nodes(const struct sockaddr_in *address, unsigned nodes, int channel)
{
    FILE *records = bench_open_records(nodes, true);
    char **texts = calloc(nodes, sizeof(char *));
    size_t *sizes = calloc(nodes, sizeof(size_t));
    char word = 0;
    uint64_t end_ns;

    if (!texts || !sizes) {
        bench_die("no memory");
    }
    for (unsigned i = 0; i < nodes; i++) {
        texts[i] = make_delivery(records, i, nodes, &sizes[i]);
    }
    pclose(records);
    if (write(channel, &word, 1) != 1 || read(channel, &word, 1) != 1) {
        _exit(EXIT_FAILURE);
    }
    for (unsigned i = 0; i < nodes; i++) {
        unsigned node = (unsigned)(i * UINT64_C(7919) % nodes); /* in another order than theirs */

        send_one(address, texts[node], sizes[node]);
    }
    end_ns = clock_monotonic_ns();
    _exit(write(channel, &end_ns, sizeof end_ns) == sizeof end_ns ? EXIT_SUCCESS : EXIT_FAILURE);
}

static void send_to_collector(int channel, const char *word, unsigned nodes)
{
    message_start(&message, word);
    message_add_pair(&message, "token", TOKEN);
    message_add_pair(&message, "step", "4711.0");
    message_add_number(&message, "nodes", nodes);
    message_add_number(&message, "wait_ms", PATIENCE_NS / 1000000);
    if (message_send(channel, &message, clock_monotonic_ns() + PATIENCE_NS)) {
        bench_die("apapi-collect does not listen");
    }
}

static void check_report(const char *report, unsigned nodes)
{
    char part[32];

    snprintf(part, sizeof part, "  %u nodes  ", nodes);
    if (!strstr(report, part) || !strstr(report, "all nodes together") ||
        strstr(report, "no record")) {
        fputs(report, stderr);
        bench_die("the report is wrong");
    }
}

struct collecting {
    unsigned nodes;
    double memory_mib; /* greatest of all runs */
};

/* @return the time in which jansson reads the records of the nodes [ms] */
static double run_jansson(void *context)
{
    const struct collecting *collecting = context;
    FILE *records = bench_open_records(1, true);
    size_t size;
    char *text = make_delivery(records, 0, 1, &size), *line = strchr(text, '\n') + 1;
    uint64_t start_ns = clock_monotonic_ns();

    for (unsigned i = 0; i < PARSED; i++) {
        bench_read_json(line, strlen(line));
    }
    start_ns = clock_monotonic_ns() - start_ns;
    free(text);
    pclose(records);
    return (double)start_ns / 1e6 / PARSED * collecting->nodes;
}

/* Listen on the loopback, on any port. @return the socket */
static int listen_for_nodes(struct sockaddr_in *address)
{
    socklen_t size = sizeof *address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    *address =
        (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (fd < 0 || bind(fd, (struct sockaddr *)address, size) || listen(fd, 4096) ||
        getsockname(fd, (struct sockaddr *)address, &size)) {
        bench_die("listen");
    }
    return fd;
}

/* Start the collector. @return the channel to it */
static int start_collector(int listener, pid_t *pid)
{
    char *const argv[] = {(char[]){BENCH_COLLECT}, NULL};
    posix_spawn_file_actions_t actions;
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) {
        bench_die("socketpair");
    }
    posix_spawn_file_actions_init(&actions);
    /* first move the descriptors away from the numbers that they are to get */
    posix_spawn_file_actions_adddup2(&actions, pair[1], 100);
    posix_spawn_file_actions_adddup2(&actions, listener, 101);
    posix_spawn_file_actions_adddup2(&actions, 100, APAPI_CHANNEL_FD);
    posix_spawn_file_actions_adddup2(&actions, 101, APAPI_LISTEN_FD);
    posix_spawn_file_actions_addclose(&actions, 100);
    posix_spawn_file_actions_addclose(&actions, 101);
    if (posix_spawn(pid, argv[0], &actions, NULL, argv, environ)) {
        bench_die(argv[0]);
    }
    posix_spawn_file_actions_destroy(&actions);
    close(pair[1]);
    close(listener);
    return pair[0];
}

/* @return the time from the last record to the report [ms] */
static double run_collect(void *context)
{
    struct collecting *collecting = context;
    unsigned nodes = collecting->nodes;
    struct sockaddr_in address;
    int listener = listen_for_nodes(&address), nodes_channel[2], channel, status;
    pid_t sender, collector;
    struct rusage usage;
    uint64_t end_ns = 0;
    char word;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, nodes_channel) ||
        (sender = fork()) < 0) {
        bench_die("no process");
    }
    if (sender == 0) {
        close(nodes_channel[0]);
        be_the_nodes(&address, nodes, nodes_channel[1]);
    }
    close(nodes_channel[1]);
    if (read(nodes_channel[0], &word, 1) != 1) {
        bench_die("no records");
    }
    channel = start_collector(listener, &collector);
    send_to_collector(channel, APAPI_WORD_CONFIG, nodes);
    if (write(nodes_channel[0], &word, 1) != 1 ||
        read(nodes_channel[0], &end_ns, sizeof end_ns) != sizeof end_ns) {
        bench_die("the nodes have not sent everything");
    }
    send_to_collector(channel, APAPI_WORD_END, nodes);
    if (message_receive(channel, &message, clock_monotonic_ns() + PATIENCE_NS)) {
        bench_die("apapi-collect gives no report");
    }
    end_ns = clock_monotonic_ns() - end_ns;
    check_report(message_text(&message), nodes);
    waitpid(sender, &status, 0);
    wait4(collector, &status, 0, &usage);
    collecting->memory_mib = fmax(collecting->memory_mib, (double)usage.ru_maxrss / 1024);
    close(channel);
    close(nodes_channel[0]);
    return (double)end_ns / 1e6;
}

static double run_memory(void *context)
{
    return ((const struct collecting *)context)->memory_mib;
}

void bench_collect(struct bench_table *table)
{
    struct collecting collecting = {.nodes = table->quick ? QUICK_NODES : NODES};

    bench_compare(table, (struct bench_row){"srun's report, 10000 nodes", "ms", 5, 1, LIMIT},
                  &collecting, run_collect, NULL, run_jansson);
    bench_compare(
        table, (struct bench_row){"memory of apapi-collect, 10000 nodes", "MiB", 1, 1, LIMIT_MIB},
        &collecting, run_memory, NULL, NULL);
}
