/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plays srun for apapi-collect: starts it, runs a command that sends data to $PORT with $TOKEN,
 * then reports the end of the step and prints the report.
 *
 *   collect_host COLLECTOR NODES NODELIST WAIT_MS COMMAND [ARGUMENT...]
 *
 * NODELIST is as Slurm writes it, or "" as if srun did not know it. Standard error gets the time
 * that the report took [ms]. With $GONE, the report is not taken. $TOTALS_MS, $BUDGET,
 * $BUDGET_CONFIG and $SLURM_BIN are those of an energy budget. $OVERFLOW has limits, one a line.
 */
#include "fake/host.h"

#include <sys/wait.h>

#include "channel/deadline.h"

#define PATIENCE_NS (120000 * DEADLINE_MS)

static struct message message;

static void send_config(int channel, const char *nodes)
{
    message_start(&message, APAPI_WORD_CONFIG);
    message_add_pair(&message, "token", HOST_TOKEN);
    message_add_pair(&message, "step", "7.0");
    message_add_pair(&message, "name", "app");
    message_add_pair(&message, "nodes", nodes);
    message_add_pair(&message, "totals_ms", getenv("TOTALS_MS"));
    message_add_pair(&message, "budget", getenv("BUDGET"));
    message_add_pair(&message, "overflow", getenv("OVERFLOW"));
    message_add_pair(&message, "config", getenv("BUDGET_CONFIG"));
    message_add_pair(&message, "slurm_bin", getenv("SLURM_BIN"));
    if (message_send(channel, &message, deadline_now() + PATIENCE_NS)) {
        host_die("config");
    }
}

static void print_report(int channel, const char *nodelist, const char *wait_ms)
{
    uint64_t start_ns = deadline_now();

    message_start(&message, APAPI_WORD_END);
    message_add_pair(&message, "nodelist", *nodelist ? nodelist : NULL);
    message_add_pair(&message, "wait_ms", wait_ms);
    if (getenv("GONE")) {
        shutdown(channel, SHUT_RD);
    }
    if (message_send(channel, &message, start_ns + PATIENCE_NS)) {
        host_die("end");
    }
    if (getenv("GONE")) {
        return;
    }
    if (message_receive(channel, &message, start_ns + PATIENCE_NS)) {
        host_die("report");
    }
    fprintf(stderr, "%d\n", (int)((deadline_now() - start_ns) / DEADLINE_MS));
    fputs(message_text(&message), stdout);
}

int main(int argc, char **argv)
{
    struct sockaddr_in address;
    int listener, channel, status;
    char port[8];
    pid_t pid, command;

    if (argc < 6) {
        fputs("usage: collect_host COLLECTOR NODES NODELIST WAIT_MS COMMAND...\n", stderr);
        return 2;
    }
    listener = host_listen(&address);
    snprintf(port, sizeof port, "%d", ntohs(address.sin_port));
    setenv("PORT", port, 1);
    setenv("TOKEN", HOST_TOKEN, 1);
    channel = host_start(argv[1], listener, &pid);
    send_config(channel, argv[2]);
    if (posix_spawnp(&command, argv[5], NULL, NULL, argv + 5, environ) ||
        waitpid(command, &status, 0) != command || status != 0) {
        host_die(argv[5]);
    }
    print_report(channel, argv[3], argv[4]);
    return waitpid(pid, &status, 0) == pid && status == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
