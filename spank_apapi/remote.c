/* SPDX-License-Identifier: BSD-3-Clause */
#include "remote.h"

#include <errno.h>
#include <slurm/slurm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "channel/deadline.h"
#include "channel/message.h"
#include "child.h"
#include "log.h"
#include "options.h"
#include "output.h"
#include "report.h"
#include "step.h"

#define REPORT_LIMIT_NS (500 * DEADLINE_MS)
#define LEAVE_LIMIT_NS (100 * DEADLINE_MS) /* for a sampler to end after its last word */

static struct {
    struct spank_apapi_arguments arguments;
    struct spank_apapi_step step;
    struct spank_apapi_collector collector;
    struct spank_apapi_child sampler;
    bool measuring;             /* between init_post_opt and the record */
    bool begun;                 /* the first task exists */
    uint32_t ended;             /* tasks */
    struct apapi_error failure; /* why there is no record; "": no reason so far */
    char *table;                /* of a batch step; NULL: none */
} remote = {.sampler = {.channel = -1, .pidfd = -1}};

static struct message message;

int spank_apapi_remote_init(spank_t spank, int count, char *const words[])
{
    spank_apapi_arguments_parse(count, words, &remote.arguments, spank_apapi_log_error);
    spank_apapi_options_register(spank, &remote.arguments);
    return ESPANK_SUCCESS;
}

static bool remote_failed(void)
{
    return remote.failure.text[0] != '\0';
}

/* Note why there will be no record. The first reason is the true one. */
static void remote_fail(int code, uint64_t limit_ns)
{
    struct apapi_error *failure = remote_failed() ? NULL : &remote.failure;

    switch (code) {
    case EPIPE:
    case ECONNRESET:
        apapi_fail(failure, code, "the sampler ended before its time");
        break;
    case ETIMEDOUT:
        apapi_fail(failure, code, "the sampler did not answer within %g s", (double)limit_ns / 1e9);
        break;
    case EBADMSG:
        apapi_fail(failure, code, "the sampler sent what is no answer");
        break;
    default:
        apapi_fail(failure, code, "cannot talk to the sampler: %s", strerror(code));
    }
}

/*
 * Wait for a message with this word; it is in `message` then.
 * @return 0; -1 with errno ETIMEDOUT or, with the reason noted, any other.
 */
static int remote_expect(const char *word, uint64_t deadline_ns)
{
    while (message_receive(remote.sampler.channel, &message, deadline_ns) == 0) {
        if (message_is(&message, word)) {
            return 0;
        }
        if (message_is(&message, APAPI_WORD_FAILED)) {
            return spank_apapi_child_reason(&message, &remote.failure);
        }
        if (!message_is(&message, APAPI_WORD_READY)) {
            remote_fail(EBADMSG, 0);
            return -1;
        }
    }
    if (errno != ETIMEDOUT) {
        remote_fail(errno, 0);
    }
    return -1;
}

/* Send `message`. What the sampler has said before its end is a better reason than the end. */
static void remote_send(uint64_t deadline_ns)
{
    if (message_send(remote.sampler.channel, &message, deadline_ns)) {
        int code = errno;

        remote_expect("", 0);
        remote_fail(code, 0);
    }
}

static void remote_send_now(const char *word, uint64_t deadline_ns)
{
    message_start(&message, word);
    message_add_number(&message, "ns", deadline_now());
    remote_send(deadline_ns);
}

static void remote_configure(spank_t spank, const char *components, uint64_t deadline_ns)
{
    const char *interval = spank_apapi_options_interval();

    message_start(&message, APAPI_WORD_CONFIG);
    message_add_pair(&message, "components", components);
    message_add_pair(&message, "intervals", *interval ? interval : NULL);
    message_add_pair(&message, "acct_dir", remote.arguments.acct_dir);
    spank_apapi_step_describe(spank, &remote.step, &message);
    remote_send(deadline_ns);
}

/* Learn where srun collects; no task shall see it. */
static void remote_read_collector(spank_t spank)
{
    char text[64];

    if (spank_getenv(spank, APAPI_COLLECT_ENV, text, sizeof text) == ESPANK_SUCCESS) {
        spank_apapi_report_parse(text, &remote.collector);
    }
    spank_unsetenv(spank, APAPI_COLLECT_ENV);
}

int spank_apapi_remote_init_post_opt(spank_t spank)
{
    uint64_t deadline_ns = deadline_now() + remote.arguments.start_timeout_ns;
    const char *components = spank_apapi_options_components();
    const struct spank_apapi_program sampler = {
        .dir = remote.arguments.libexec_dir, .name = "apapi-sampler", .listener = -1};

    remote_read_collector(spank);
    spank_apapi_step_read(spank, &remote.step);
    if (!components || remote.step.step == SLURM_EXTERN_CONT) {
        return ESPANK_SUCCESS;
    }
    remote.measuring = true;
    if (spank_apapi_child_start(&remote.sampler, &sampler, deadline_ns, &remote.failure) == 0) {
        remote_configure(spank, components, deadline_ns);
    }
    return ESPANK_SUCCESS;
}

int spank_apapi_remote_task_post_fork(spank_t spank)
{
    uint64_t deadline_ns = deadline_now() + remote.arguments.start_timeout_ns;

    (void)spank;
    if (!remote.measuring || remote.begun) {
        return ESPANK_SUCCESS;
    }
    remote.begun = true;
    if (!remote_failed()) {
        remote_send_now(APAPI_WORD_BEGIN, deadline_ns);
    }
    if (!remote_failed() && remote_expect(APAPI_WORD_READY, deadline_ns) && !remote_failed()) {
        slurm_verbose("apapi: the sampler is late: not ready after %g s",
                      (double)remote.arguments.start_timeout_ns / 1e9);
    }
    return ESPANK_SUCCESS;
}

/* slurmstepd sets the address for the tasks; before that it would be the user's word. */
static void remote_report(spank_t spank, const char *word, const char *payload)
{
    uint64_t deadline_ns = deadline_now() + REPORT_LIMIT_NS;
    const struct spank_apapi_report report = {
        .word = word, .node = remote.step.node, .payload = payload};
    char address[64];
    struct apapi_error err;

    if (remote.collector.port == 0) {
        return;
    }
    if (spank_getenv(spank, "SLURM_LAUNCH_NODE_IPADDR", address, sizeof address) !=
            ESPANK_SUCCESS &&
        spank_getenv(spank, "SLURM_SRUN_COMM_HOST", address, sizeof address) != ESPANK_SUCCESS) {
        slurm_verbose("apapi: no address of srun in the step's environment");
        return;
    }
    if (spank_apapi_report_send(&remote.collector, address, &report, deadline_ns, &err)) {
        slurm_verbose("apapi: %s", err.text);
    }
}

/* Get what a working sampler has measured. */
static void remote_receive(spank_t spank)
{
    uint64_t limit_ns = remote.arguments.stop_timeout_ns;
    uint64_t deadline_ns = deadline_now() + limit_ns;

    remote_send_now(APAPI_WORD_STOP, deadline_ns);
    if (remote_failed()) {
        return;
    }
    if (remote_expect(APAPI_WORD_RECORD, deadline_ns)) {
        remote_fail(errno, limit_ns);
        return;
    }
    remote_report(spank, APAPI_WORD_RECORD, message_text(&message));
    if (!remote.step.batch) {
        return;
    }
    if (remote_expect(APAPI_WORD_TABLE, deadline_ns)) {
        remote_fail(errno, limit_ns);
        return;
    }
    remote.table = strdup(message_text(&message));
}

/* The step has ended on this node. */
static void remote_finish(spank_t spank)
{
    if (!remote.measuring) {
        return;
    }
    remote.measuring = false;
    if (!remote_failed() && !remote.begun) {
        apapi_fail(&remote.failure, ECANCELED, "no task was started");
    }
    if (!remote_failed()) {
        remote_receive(spank);
    }
    if (remote_failed()) {
        spank_apapi_child_kill(&remote.sampler);
        slurm_info("apapi: step %u.%s not measured on %s: %s", remote.step.job,
                   remote.step.step_name, remote.step.node, remote.failure.text);
        remote_report(spank, APAPI_WORD_ABSENT, remote.failure.text);
    }
}

int spank_apapi_remote_task_exit(spank_t spank)
{
    uint32_t tasks = 0;

    if (!remote.measuring) {
        return ESPANK_SUCCESS;
    }
    remote.ended++;
    spank_get_item(spank, S_JOB_LOCAL_TASK_COUNT, &tasks);
    if (remote.ended == tasks) {
        remote_finish(spank);
    }
    return ESPANK_SUCCESS;
}

/* Descriptor 2 is the job's file of errors here. */
static void remote_print(void)
{
    uint64_t deadline_ns = deadline_now() + REPORT_LIMIT_NS;
    char line[sizeof remote.failure.text + 64];

    if (remote.table) {
        spank_apapi_output_write(STDERR_FILENO, remote.table, deadline_ns);
    } else if (remote_failed()) {
        snprintf(line, sizeof line, "apapi: step %u.%s not measured (%s)\n", remote.step.job,
                 remote.step.step_name, remote.failure.text);
        spank_apapi_output_write(STDERR_FILENO, line, deadline_ns);
    }
}

int spank_apapi_remote_exit(spank_t spank)
{
    remote_finish(spank);
    if (remote.step.batch) {
        remote_print();
    }
    if (!spank_apapi_child_ended(&remote.sampler, deadline_now() + LEAVE_LIMIT_NS)) {
        spank_apapi_child_kill(&remote.sampler);
    }
    spank_apapi_child_close(&remote.sampler);
    free(remote.table);
    remote.table = NULL;
    return ESPANK_SUCCESS;
}
