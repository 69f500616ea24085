/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampler/node_mode.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "channel/deadline.h"
#include "node/loop.h"
#include "sampler/log.h"
#include "sampler/process.h"

#define LOG_SOCKET "/dev/log"
#define PATIENCE_NS (1000 * DEADLINE_MS)

bool node_mode_is_asked(int argc, char **argv)
{
    return (argc == 3 || argc == 4) && strcmp(argv[1], NODE_OPTION) == 0;
}

static void node_mode_print(const char *text, void *context)
{
    fprintf(context, "apapi-sampler: %s\n", text);
}

int node_mode_run(char **argv)
{
    const struct node_options options = {.node = argv[2],
                                         .config = argv[3],
                                         .owner = -1,
                                         .say = log_write,
                                         .fail = node_mode_print,
                                         .context = stderr};

    prctl(PR_SET_DUMPABLE, 0);
    umask(077);
    log_open(LOG_SOCKET, "apapi-sampler");
    return node_run(&options);
}

/* slurmd's plugin writes it to slurmd's log. */
static void node_mode_answer(const char *text, void *context)
{
    message_send_text(APAPI_CHANNEL_FD, context, APAPI_WORD_FAILED, text,
                      deadline_now() + PATIENCE_NS);
}

int node_mode_serve(struct message *message)
{
    static char node[NAME_MAX + 1], config[PATH_MAX];
    const char *name = message_value(message, "node"), *path = message_value(message, "config");
    const struct node_options options = {.node = node,
                                         .config = path ? config : NULL,
                                         .owner = APAPI_CHANNEL_FD,
                                         .say = log_write,
                                         .fail = node_mode_answer,
                                         .context = message};

    snprintf(node, sizeof node, "%s", name ? name : "");
    snprintf(config, sizeof config, "%s", path ? path : "");
    process_settle(false);
    return node_run(&options);
}
