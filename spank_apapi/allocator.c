/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "channel/channel.h"
#include "channel/deadline.h"
#include "child.h"
#include "helpers.h"
#include "hooks.h"
#include "options.h"

#define ANSWER_LIMIT_NS (1000 * DEADLINE_MS)

static struct {
    struct spank_apapi_child collector;
    pid_t pid; /* process that started the collector; 0: none */
} allocator = {.collector = {.channel = -1, .pidfd = -1}};

static struct message allocator_message;

static void allocator_start(void)
{
    uint64_t deadline_ns = deadline_now() + choice->config->start_timeout_ns;
    struct spank_apapi_program program = {.dir = choice->config->libexec_dir,
                                          .name = "apapi-collect"};
    struct spank_apapi_rendezvous rendezvous = SPANK_APAPI_RENDEZVOUS_NONE;

    if (rendezvous_open(&rendezvous)) {
        return;
    }
    program.listener = rendezvous.listener;
    message_start(&allocator_message, APAPI_WORD_CONFIG);
    message_add_pair(&allocator_message, "token", rendezvous.token);
    message_add_pair(&allocator_message, "whole_job", "1");
    message_add_pair(&allocator_message, "job_only", choice_reports_steps(choice) ? NULL : "1");
    if (spank_apapi_child_start(&allocator.collector, &program, NULL) == 0) {
        if (message_send(allocator.collector.channel, &allocator_message, deadline_ns) == 0) {
            allocator.pid = getpid();
            setenv(APAPI_JOB_ENV, rendezvous.where, 1);
        } else { /* it waits for no sruns; there is no table */
            spank_apapi_child_kill(&allocator.collector);
            spank_apapi_child_close(&allocator.collector);
        }
    }
    rendezvous_close(&rendezvous);
}

int spank_apapi_allocator_init_post_opt(void)
{
    spank_apapi_options_finish();
    spank_apapi_options_report();
    unsetenv(APAPI_JOB_ENV); /* belongs to an enclosing job */
    /* sbatch waits for nothing: the sampler of the batch step makes the job's table */
    if (strcmp(program_invocation_short_name, "salloc") == 0 && choice_components(choice, NULL) &&
        choice_reports_job(choice)) {
        allocator_start();
    }
    return ESPANK_SUCCESS;
}

/* @return the table, free it with free(); NULL: no answer. */
static char *allocator_ask(void)
{
    uint64_t deadline_ns = deadline_now() + ANSWER_LIMIT_NS;
    static char nodelist[APAPI_MESSAGE_MAX / 2];
    char *text = NULL;

    message_start(&allocator_message, APAPI_WORD_END);
    message_add_pair(&allocator_message, "nodes", getenv("SLURM_JOB_NUM_NODES"));
    if (spank_apapi_job_nodes(spank_apapi_look_here, NULL, nodelist, sizeof nodelist) == 0) {
        message_add_pair(&allocator_message, "nodelist", nodelist);
    }
    if (message_send(allocator.collector.channel, &allocator_message, deadline_ns) ||
        message_receive_text(allocator.collector.channel, &allocator_message, &text, deadline_ns)) {
        return NULL;
    }
    if (!message_is(&allocator_message, APAPI_WORD_TABLE)) {
        free(text);
        return NULL;
    }
    return text;
}

int spank_apapi_allocator_exit(void)
{
    char *table;

    if (allocator.pid == 0 || allocator.pid != getpid()) {
        return ESPANK_SUCCESS;
    }
    allocator.pid = 0;
    table = allocator_ask();
    if (table) {
        spank_apapi_output_write(STDERR_FILENO, table, deadline_now() + ANSWER_LIMIT_NS);
    } else {
        spank_apapi_child_kill(&allocator.collector);
    }
    free(table);
    spank_apapi_child_close(&allocator.collector);
    return ESPANK_SUCCESS;
}
