/* SPDX-License-Identifier: BSD-3-Clause */
/* srun's report: all nodes of a big step send their records to apapi-collect at once. */
#include <math.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "bench/bench.h"
#include "fake/host.h"

#define NODES 10000
#define QUICK_NODES 100
#define RUNS 5
#define PARSED 100 /* records */
#define LIMIT 1.1  /* times jansson, which only reads the same JSON */
#define LIMIT_MIB 64
#define PATIENCE_NS UINT64_C(60000000000)

static struct message message;

/* The node's message; its length goes to `size`. */
static char *make_delivery(unsigned node, unsigned nodes, size_t *size)
{
    char *line = bench_record_line(&(struct bench_record){4711, 1000, node, nodes});
    char *text = NULL;
    int length =
        asprintf(&text, HOST_TOKEN " record node%05u node[00000-%05u]\n%s", node, nodes - 1, line);

    free(line);
    if (length < 0) {
        bench_die("no memory");
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

/* The nodes, in a process of their own: makes everything, waits for the word, sends it. */
static void be_the_nodes(const struct sockaddr_in *address, unsigned nodes, int channel)
{
    char **texts = calloc(nodes, sizeof(char *));
    size_t *sizes = calloc(nodes, sizeof(size_t));
    char word = 0;
    uint64_t end_ns;

    if (!texts || !sizes) {
        bench_die("no memory");
    }
    for (unsigned i = 0; i < nodes; i++) {
        texts[i] = make_delivery(i, nodes, &sizes[i]);
    }
    if (write(channel, &word, 1) != 1 || read(channel, &word, 1) != 1) {
        _exit(EXIT_FAILURE);
    }
    for (unsigned i = 0; i < nodes; i++) {
        unsigned node = (unsigned)(i * UINT64_C(7919) % nodes); /* not in their order */

        send_one(address, texts[node], sizes[node]);
    }
    end_ns = clock_monotonic_ns();
    _exit(write(channel, &end_ns, sizeof end_ns) == sizeof end_ns ? EXIT_SUCCESS : EXIT_FAILURE);
}

static void send_to_collector(int channel, const char *word, unsigned nodes)
{
    message_start(&message, word);
    message_add_pair(&message, "token", HOST_TOKEN);
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

struct cost {
    double report_ms, memory_mib;
};

/* @return how long jansson reads the records of `nodes` nodes [ms] */
static double run_jansson(unsigned nodes)
{
    char *line = bench_record_line(&(struct bench_record){4711, 1000, 0, nodes});
    uint64_t start_ns = clock_monotonic_ns();

    for (unsigned i = 0; i < PARSED; i++) {
        bench_read_json(line, strlen(line));
    }
    free(line);
    return (double)(clock_monotonic_ns() - start_ns) / 1e6 / PARSED * nodes;
}

static struct cost run(unsigned nodes)
{
    struct sockaddr_in address;
    static char program[] = BENCH_COLLECT;
    int listener = host_listen(&address), nodes_channel[2], channel, status;
    pid_t sender, collector;
    struct rusage usage;
    struct cost cost;
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
    channel = host_start(program, listener, &collector);
    send_to_collector(channel, APAPI_WORD_CONFIG, nodes);
    if (write(nodes_channel[0], &word, 1) != 1 ||
        read(nodes_channel[0], &end_ns, sizeof end_ns) != sizeof end_ns) {
        bench_die("the nodes have not sent everything");
    }
    send_to_collector(channel, APAPI_WORD_END, nodes);
    if (message_receive(channel, &message, clock_monotonic_ns() + PATIENCE_NS)) {
        bench_die("apapi-collect gives no report");
    }
    cost.report_ms = (double)(clock_monotonic_ns() - end_ns) / 1e6;
    check_report(message_text(&message), nodes);
    waitpid(sender, &status, 0);
    wait4(collector, &status, 0, &usage);
    cost.memory_mib = (double)usage.ru_maxrss / 1024;
    close(channel);
    close(nodes_channel[0]);
    return cost;
}

static void add_row(struct bench_table *table, const char *what, unsigned nodes,
                    struct bench_row row)
{
    row.relation = row.yardstick != 0 ? BENCH_YARDSTICK : BENCH_ADDED;
    row.value = row.added = row.ours;
    if (row.yardstick != 0) {
        bench_row_measure(&row);
    }
    snprintf(row.what, sizeof row.what, "%s, %u nodes", what, nodes);
    bench_table_add(table, row);
}

static int by_time(const void *left, const void *right)
{
    const struct cost *a = left, *b = right;

    return a->report_ms < b->report_ms ? -1 : a->report_ms > b->report_ms;
}

/* The median of the times, the most of the memory. */
void bench_collect(struct bench_table *table)
{
    unsigned nodes = table->quick ? QUICK_NODES : NODES;
    size_t runs = table->quick ? 1 : RUNS;
    struct cost costs[RUNS];
    double memory_mib = 0, yardstick_ms = 0;

    for (size_t i = 0; i < runs; i++) {
        costs[i] = run(nodes);
        yardstick_ms += run_jansson(nodes) / (double)runs;
        memory_mib = fmax(memory_mib, costs[i].memory_mib);
    }
    qsort(costs, runs, sizeof *costs, by_time);
    add_row(table, "srun's report", nodes,
            (struct bench_row){.unit = "ms",
                               .limit = LIMIT,
                               .ours = costs[runs / 2].report_ms,
                               .yardstick = yardstick_ms});
    add_row(table, "memory of apapi-collect", nodes,
            (struct bench_row){.unit = "MiB", .limit = LIMIT_MIB, .ours = memory_mib});
}
