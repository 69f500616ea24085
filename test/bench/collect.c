/* SPDX-License-Identifier: BSD-3-Clause */
/* srun's report: all nodes of a big step send their records to apapi-collect at once. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apapi/record.h"
#include "bench/parts.h"
#include "channel/message.h"
#include "sources/clock.h"

#define NODES 10000
#define QUICK_NODES 500
#define RUNS 5
#define LIMIT_MS 1000
#define LIMIT_MIB 64
#define TOKEN "0123456789abcdef0123456789abcdef"
#define PATIENCE_NS UINT64_C(60000000000)
#define PACKAGES UINT64_C(2)
#define GPUS UINT64_C(4)
#define S UINT64_C(1000000000)

static struct message message;

static struct apapi_event_result energy_event(const char *name, enum apapi_domain domain,
                                              double mean_w)
{
    struct apapi_event_result result = {
        .event = {.unit = "J",
                  .kind = APAPI_KIND_ENERGY,
                  .domain = domain,
                  .type = APAPI_TYPE_UINT64,
                  .accumulates = true,
                  .range_max = 262143328850,
                  .scale = 1e-6,
                  .update_ns = 1000000},
        .raw_total = (uint64_t)(mean_w * 600e6),
        .total = mean_w * 600,
        .summary = {0.8 * mean_w, mean_w, 1.2 * mean_w, 1.1 * mean_w},
        .covered_ns = 600 * S,
        .uncertainty_j = 0.2,
        .incidents = {.samples = 6000, .wraps = 1}};

    snprintf(result.event.name, sizeof result.event.name, "%s", name);
    return result;
}

static void set_domain(struct apapi_record *record, enum apapi_domain domain, double mean_w)
{
    struct apapi_domain_result *result = &record->measurement.domains[domain];

    *result = (struct apapi_domain_result){
        .measured = true,
        .energy_j = mean_w * 600,
        .uncertainty_j = 0.4,
        .power_w = {0.8 * mean_w, mean_w, 1.2 * mean_w, 1.1 * mean_w},
        .timeline = {.bin_ns = 5120000000, .length_ns = 600 * S, .count = 118}};
    for (size_t i = 0; i < result->timeline.count; i++) {
        double length_s = (double)apapi_timeline_bin_length(&result->timeline, i) / 1e9;

        result->timeline.energy_j[i] = (float)(mean_w * length_s * (1 + 0.2 * sin((double)i)));
        result->timeline.covered_pct[i] = 100;
    }
}

static void fill(struct apapi_record *record, unsigned node, unsigned nodes,
                 struct apapi_component_result components[2],
                 struct apapi_event_result events[2 * PACKAGES + GPUS])
{
    char name[APAPI_NAME_SIZE];

    *record = (struct apapi_record){
        .id = {.cluster = "mars",
               .job = 4711,
               .step = "0",
               .name = "stream",
               .node_index = node,
               .nodes = nodes,
               .tasks = 4,
               .uid = 1000,
               .user = "alice",
               .account = "physics",
               .partition = "batch"},
        .complete = true,
        .measurement = {.start_unix_ns = (int64_t)(1700000000 * S + node * UINT64_C(1000003)),
                        .elapsed_ns = 600 * S,
                        .covered = 0.999,
                        .cpu_ns = 2100000,
                        .component_count = 2,
                        .components = components}};
    snprintf(record->id.node, sizeof record->id.node, "node%05u", node);
    for (int i = 0; i < APAPI_DOMAINS; i++) {
        record->measurement.domains[i] = APAPI_DOMAIN_UNMEASURED;
    }
    set_domain(record, APAPI_DOMAIN_PACKAGE, 300 + node % 17);
    set_domain(record, APAPI_DOMAIN_DRAM, 40 + node % 5);
    set_domain(record, APAPI_DOMAIN_GPU, 1200 + node % 31);
    for (unsigned i = 0; i < PACKAGES; i++) {
        snprintf(name, sizeof name, "rapl:::PACKAGE_ENERGY:PACKAGE%u", i);
        events[i] = energy_event(name, APAPI_DOMAIN_PACKAGE, 150);
        snprintf(name, sizeof name, "rapl:::DRAM_ENERGY:PACKAGE%u", i);
        events[PACKAGES + i] = energy_event(name, APAPI_DOMAIN_DRAM, 20);
    }
    for (unsigned i = 0; i < GPUS; i++) {
        snprintf(name, sizeof name, "nvml:::NVIDIA_H100:device_%u:energy", i);
        events[2 * PACKAGES + i] = energy_event(name, APAPI_DOMAIN_GPU, 300);
    }
    components[0] = (struct apapi_component_result){.name = "rapl",
                                                    .measured = true,
                                                    .source = "sysfs powercap",
                                                    .interval_ns = 100000000,
                                                    .period = {6000, 0.1, 1e-05, 0.1004},
                                                    .event_count = 2 * PACKAGES,
                                                    .events = events};
    components[1] = components[0];
    strcpy(components[1].name, "nvml");
    strcpy(components[1].source, "NVML");
    components[1].event_count = GPUS;
    components[1].events = events + 2 * PACKAGES;
}

/* What the node sends; its length goes to `size`. */
static char *make_delivery(unsigned node, unsigned nodes, size_t *size)
{
    static struct apapi_component_result components[2];
    static struct apapi_event_result events[2 * PACKAGES + GPUS];
    static struct apapi_record record;
    char *line, *text = NULL;
    int length;

    fill(&record, node, nodes, components, events);
    if (apapi_record_encode(&record, &line, NULL)) {
        bench_die("a record cannot be written");
    }
    length =
        asprintf(&text, TOKEN " record %s node[00000-%05u]\n%s", record.id.node, nodes - 1, line);
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

static int listen_anywhere(struct sockaddr_in *address)
{
    socklen_t size = sizeof *address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    *address =
        (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (fd < 0 || bind(fd, (struct sockaddr *)address, size) || listen(fd, 4096) ||
        getsockname(fd, (struct sockaddr *)address, &size)) {
        bench_die("no socket on the loopback");
    }
    return fd;
}

static pid_t start_collector(int listener, int *channel)
{
    static char program[] = BENCH_COLLECT;
    char *const argv[] = {program, NULL};
    posix_spawn_file_actions_t actions;
    int pair[2];
    pid_t pid;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) {
        bench_die("no socket");
    }
    posix_spawn_file_actions_init(&actions);
    /* first away from the numbers that they are to get */
    posix_spawn_file_actions_adddup2(&actions, pair[1], 100);
    posix_spawn_file_actions_adddup2(&actions, listener, 101);
    posix_spawn_file_actions_adddup2(&actions, 100, APAPI_CHANNEL_FD);
    posix_spawn_file_actions_adddup2(&actions, 101, APAPI_LISTEN_FD);
    if (posix_spawn(&pid, program, &actions, NULL, argv, environ)) {
        bench_die("apapi-collect does not start");
    }
    posix_spawn_file_actions_destroy(&actions);
    close(pair[1]);
    *channel = pair[0];
    return pid;
}

static void tell_collector(int channel, const char *word, unsigned nodes)
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

struct cost {
    double report_ms, memory_mib;
};

static struct cost run(unsigned nodes)
{
    struct sockaddr_in address;
    int listener = listen_anywhere(&address), nodes_channel[2], channel, status;
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
    collector = start_collector(listener, &channel);
    close(listener);
    tell_collector(channel, APAPI_WORD_CONFIG, nodes);
    if (write(nodes_channel[0], &word, 1) != 1 ||
        read(nodes_channel[0], &end_ns, sizeof end_ns) != sizeof end_ns) {
        bench_die("the nodes have not sent everything");
    }
    tell_collector(channel, APAPI_WORD_END, nodes);
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
    row.relation = BENCH_ADDED;
    row.value = row.ours;
    snprintf(row.what, sizeof row.what, "%s, %u nodes", what, nodes);
    bench_table_add(table, row);
}

static int by_time(const void *left, const void *right)
{
    const struct cost *a = left, *b = right;

    return a->report_ms < b->report_ms ? -1 : a->report_ms > b->report_ms;
}

/* The median of the times, the most of the memory. */
void bench_collect(struct bench_table *table, bool quick)
{
    unsigned nodes = quick ? QUICK_NODES : NODES;
    size_t runs = quick ? 1 : RUNS;
    struct cost costs[RUNS];
    double memory_mib = 0;

    for (size_t i = 0; i < runs; i++) {
        costs[i] = run(nodes);
        memory_mib = fmax(memory_mib, costs[i].memory_mib);
    }
    qsort(costs, runs, sizeof *costs, by_time);
    add_row(table, "srun's report", nodes,
            (struct bench_row){.unit = "ms", .limit = LIMIT_MS, .ours = costs[runs / 2].report_ms});
    add_row(table, "memory of apapi-collect", nodes,
            (struct bench_row){.unit = "MiB", .limit = LIMIT_MIB, .ours = memory_mib});
}
