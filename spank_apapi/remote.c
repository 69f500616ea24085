/* SPDX-License-Identifier: BSD-3-Clause */
#include "remote.h"

#include <errno.h>
#include <limits.h>
#include <slurm/slurm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apapi/live.h"
#include "channel/deadline.h"
#include "channel/message.h"
#include "channel/packet.h"
#include "child.h"
#include "components.h"
#include "configure.h"
#include "deliver.h"
#include "job_nodes.h"
#include "log.h"
#include "options.h"
#include "output.h"
#include "permission.h"
#include "policy.h"
#include "rendezvous.h"
#include "step.h"

#define FILES_LIMIT_NS (1000 * DEADLINE_MS)
#define PRINT_LIMIT_NS (500 * DEADLINE_MS)
#define NODELIST_SIZE 4096                 /* the sampler gets no longer list of nodes */
#define STEPS_LIMIT_NS (200 * DEADLINE_MS) /* for steps that a script left running */

static struct {
    struct spank_apapi_step step;
    struct report_collector collector;
    struct spank_apapi_child sampler;
    bool measuring; /* between init_post_opt and the record */
    bool reports;   /* batch step: the sampler makes its report */
    bool stopping;  /* the sampler knows that the step has ended */
    bool silent;    /* do not report the reason of a failure */
    bool begun;     /* the first task exists */
    uint32_t ended; /* tasks that have ended */
    struct spank_apapi_ending ending;
    struct apapi_error failure; /* why there is no record; "": no failure */
    char *table;                /* of a batch step; NULL: none */
    bool files;                 /* the sampler writes files, or watches thresholds, of the user */
    char note[256];             /* problem with these files; "": none */
} remote = {.sampler = {.channel = -1, .pidfd = -1}};

static char folder[PATH_MAX]; /* working folder of the job; "": not known */
static struct config remote_config;
static struct message remote_message;
static char *answer; /* text of the sampler's last message; NULL: none */

int spank_apapi_remote_init(spank_t spank, int count, char *const words[])
{
    config_load(&remote_config, count, words, &spank_apapi_log_errors);
    spank_apapi_options_register(spank, &remote_config);
    return ESPANK_SUCCESS;
}

static bool remote_failed(void)
{
    return remote.failure.text[0] != '\0';
}

/* Note why there will be no record. The first reason counts. */
static void remote_fail(int code, uint64_t limit_ns)
{
    struct apapi_error *failure = remote_failed() ? NULL : &remote.failure;

    switch (code) {
    case EPIPE:
    case ECONNRESET:
        apapi_fail(failure, code, "the sampler ended too early");
        break;
    case ETIMEDOUT:
        apapi_fail(failure, code,
                   remote.stopping
                       ? "the record was not ready within %g s: it is in the accounting alone"
                       : "the sampler did not answer within %g s",
                   (double)limit_ns / 1e9);
        break;
    case EBADMSG:
        apapi_fail(failure, code, "the sampler sent an invalid answer");
        break;
    default:
        apapi_fail(failure, code, "cannot talk to the sampler: %s", strerror(code));
    }
}

static int remote_hear(uint64_t deadline_ns)
{
    free(answer);
    answer = NULL;
    return message_receive_text(remote.sampler.channel, &remote_message, &answer, deadline_ns);
}

/*
 * Wait for a message with this word. Its text is in `answer` then.
 * @return 0; -1 with errno ETIMEDOUT, or any other, with the reason noted.
 */
static int remote_expect(const char *word, uint64_t deadline_ns)
{
    for (bool first = true; remote_hear(deadline_ns) == 0; first = false) {
        if (message_is(&remote_message, word)) {
            return 0;
        }
        if (message_is(&remote_message, APAPI_WORD_FAILED)) {
            return spank_apapi_child_reason(&remote_message, &remote.failure);
        }
        if (!first ||
            !message_is(&remote_message, APAPI_WORD_READY)) { /* READY may have been late */
            remote_fail(EBADMSG, 0);
            return -1;
        }
    }
    if (errno != ETIMEDOUT) {
        remote_fail(errno, 0);
    }
    return -1;
}

/* Send `message`. If the sampler has ended, its last message is a better reason than that. */
static void remote_send(uint64_t deadline_ns)
{
    if (message_send(remote.sampler.channel, &remote_message, deadline_ns)) {
        int code = errno;

        remote_expect("", 0);
        remote_fail(code, 0);
    }
}

static void remote_send_begin(spank_t spank, uint64_t deadline_ns)
{
    message_start(&remote_message, APAPI_WORD_BEGIN);
    message_add_number(&remote_message, "ns", deadline_now());
    message_add_pair(&remote_message, "folder", folder[0] ? folder : NULL);
    spank_apapi_deliver_describe(spank, &remote.collector, &remote_message);
    remote_send(deadline_ns);
}

/* Let the sruns of a batch script report their steps to the sampler of the batch step. */
static void remote_open_rendezvous(spank_t spank, struct spank_apapi_rendezvous *rendezvous)
{
    const struct spank_apapi_choice *choice = spank_apapi_options_choice();

    if (!remote.step.batch || (!choice_reports_job(choice) && !choice_watches_job(choice))) {
        return;
    }
    if (rendezvous_open(rendezvous, NULL) == 0 &&
        spank_setenv(spank, APAPI_JOB_ENV, rendezvous->where, 1) != ESPANK_SUCCESS) {
        rendezvous_close(rendezvous);
    }
}

static void remote_describe_job(spank_t spank, const struct spank_apapi_rendezvous *rendezvous)
{
    char nodes[16], nodelist[NODELIST_SIZE];

    if (rendezvous->listener < 0) {
        return;
    }
    message_add_pair(&remote_message, "job_token", rendezvous->token);
    message_add_pair(&remote_message, "job_only",
                     choice_reports_steps(spank_apapi_options_choice()) ? NULL : "1");
    message_add_pair(&remote_message, "job_quiet",
                     choice_reports_job(spank_apapi_options_choice()) ? NULL : "1");
    if (spank_getenv(spank, "SLURM_JOB_NUM_NODES", nodes, sizeof nodes) == ESPANK_SUCCESS) {
        message_add_pair(&remote_message, "job_nodes", nodes);
    }
    if (spank_apapi_job_nodes(spank_apapi_step_look, spank, nodelist, sizeof nodelist) == 0) {
        message_add_pair(&remote_message, "job_nodelist", nodelist);
    }
}

static void remote_configure(spank_t spank, const struct spank_apapi_request *request,
                             const struct spank_apapi_rendezvous *rendezvous, uint64_t deadline_ns)
{
    message_start(&remote_message, APAPI_WORD_CONFIG);
    remote.files = spank_apapi_configure(spank, spank_apapi_options_choice(), &remote.step, request,
                                         &remote_message);
    remote_describe_job(spank, rendezvous);
    remote_send(deadline_ns);
}

/* What a user without permission wants is ignored. @return NULL: measure nothing. */
static const char *remote_components(spank_t spank, const char *rules)
{
    struct packet_item listed = {.size = 0};
    static char list[CONFIG_LIST_SIZE];
    struct spank_apapi_choice *choice = spank_apapi_options_choice();

    if (choice_needs_permission(choice) &&
        !spank_apapi_may_ask(spank, &remote_config, &remote.step)) {
        choice_forget(choice);
    }
    if (packet_find(rules, PACKET_COMPONENTS, &listed) && listed.size < sizeof list) {
        snprintf(list, sizeof list, "%.*s", (int)listed.size, listed.bytes);
    }
    return choice_components(choice, list);
}

/* Take the event settings of the user's environment. Only a script that calls srun may see them. */
static const char *remote_rules(spank_t spank)
{
    static char rules[PACKET_MAX];

    if (spank_getenv(spank, PACKET_VARIABLE, rules, sizeof rules) != ESPANK_SUCCESS) {
        return NULL;
    }
    if (!remote.step.batch && remote.step.step != SLURM_INTERACTIVE_STEP) {
        spank_unsetenv(spank, PACKET_VARIABLE);
    }
    return rules;
}

/* Note a partition that may not be measured. Only users who asked get a message. */
static int remote_check_partition(spank_t spank)
{
    bool disabled = false;
    int result = spank_apapi_may_measure(spank, &remote_config, &disabled, &remote.failure);

    if (result) {
        remote.silent = disabled || !choice_asked(spank_apapi_options_choice());
    }
    return result;
}

static void remote_start(spank_t spank, const struct spank_apapi_request *request)
{
    struct spank_apapi_program sampler = {.dir = remote_config.libexec_dir,
                                          .name = "apapi-sampler"};
    struct spank_apapi_rendezvous rendezvous = SPANK_APAPI_RENDEZVOUS_NONE;

    remote.measuring = true;
    remote.silent = !choice_asked(spank_apapi_options_choice()) &&
                    !components_known(remote_config.components); /* only root gets a message */
    remote.reports =
        remote.step.batch && choice_format(spank_apapi_options_choice()) != CONFIG_NONE;
    if (remote_check_partition(spank)) {
        return;
    }
    spank_apapi_name_user(spank, spank_apapi_options_choice(), &remote.step);
    spank_apapi_configure_scopes(spank, spank_apapi_options_choice());
    remote_open_rendezvous(spank, &rendezvous);
    sampler.listener = rendezvous.listener;
    if (spank_apapi_child_start(&remote.sampler, &sampler, &remote.failure) == 0) {
        remote_configure(spank, request, &rendezvous,
                         deadline_now() + remote_config.start_timeout_ns);
    }
    rendezvous_close(&rendezvous);
}

/*
 * The extern step lasts for the whole allocation on every node. It does not know its partition, so
 * it is not measured if some partitions must not be.
 */
static bool remote_counts(void)
{
    return remote.step.step != SLURM_EXTERN_CONT ||
           (remote_config.job_total == CONFIG_TOTAL_EXTERN && policy_extern(&remote_config));
}

int spank_apapi_remote_init_post_opt(spank_t spank)
{
    struct spank_apapi_request request;

    spank_apapi_step_read(spank, &remote.step);
    spank_apapi_deliver_find(spank, &remote.step, &remote.collector);
    if (remote.step.batch) {
        spank_apapi_options_recover(spank);
    }
    request.rules = remote_rules(spank);
    request.components = remote_components(spank, request.rules);
    if (!choice_asked(spank_apapi_options_choice())) {
        request.rules = NULL; /* what the site measures for itself does not depend on the user */
    }
    if (request.components && remote_counts()) {
        remote_start(spank, &request);
    }
    return ESPANK_SUCCESS;
}

int spank_apapi_remote_user_init(void)
{
    if (remote.measuring && !getcwd(folder, sizeof folder)) {
        folder[0] = '\0';
    }
    return ESPANK_SUCCESS;
}

/* Runs in the task: in slurmstepd, a variable would use memory as long as the step runs. */
int spank_apapi_remote_task_init(spank_t spank)
{
    char path[PATH_MAX];
    uid_t uid = 0;

    if (remote.measuring && !remote_failed() && *remote_config.live_dir &&
        spank_get_item(spank, S_JOB_UID, &uid) == ESPANK_SUCCESS &&
        snprintf(path, sizeof path, APAPI_LIVE_PATH, remote_config.live_dir, remote.step.node, uid,
                 remote.step.job, remote.step.step_name) < (int)sizeof path) {
        spank_setenv(spank, APAPI_LIVE_ENVIRONMENT, path, 1);
    }
    return ESPANK_SUCCESS;
}

/* The sampler may have to send it signals. */
static void remote_send_task(spank_t spank, uint64_t deadline_ns)
{
    pid_t pid;

    const struct spank_apapi_choice *choice = spank_apapi_options_choice();
    bool wanted = choice->options[SPANK_APAPI_OVERFLOW].given ||
                  (remote.step.batch && choice_watches_job(choice));

    if (wanted && !remote_failed() && spank_get_item(spank, S_TASK_PID, &pid) == ESPANK_SUCCESS) {
        message_start(&remote_message, APAPI_WORD_TASK);
        message_add_number(&remote_message, "pid", (uint64_t)pid);
        remote_send(deadline_ns);
    }
}

int spank_apapi_remote_task_post_fork(spank_t spank)
{
    uint64_t deadline_ns = deadline_now() + remote_config.start_timeout_ns;

    if (!remote.measuring) {
        return ESPANK_SUCCESS;
    }
    remote_send_task(spank, deadline_ns);
    if (remote.begun) {
        return ESPANK_SUCCESS;
    }
    remote.begun = true;
    if (!remote_failed()) {
        remote_send_begin(spank, deadline_ns);
    }
    if (!remote_failed() && remote_expect(APAPI_WORD_READY, deadline_ns) && !remote_failed()) {
        slurm_verbose("apapi: the sampler is late: not ready after %g s",
                      (double)remote_config.start_timeout_ns / 1e9);
    }
    return ESPANK_SUCCESS;
}

/* There is a record, so a problem with the rest is no failure. */
static void remote_note(const char *text)
{
    snprintf(remote.note, sizeof remote.note, "%s", text);
    remote.failure.text[0] = '\0';
}

/*
 * How long the job's table may wait for running steps. The rest of stop_timeout is for the sampler
 * itself. If a signal ended the script, Slurm is ending the steps, too. Otherwise they run until
 * the batch step is over, and waiting would only delay that.
 */
static uint64_t remote_steps_limit_ns(void)
{
    uint64_t limit_ns = remote_config.stop_timeout_ns / 4 * 3;

    if (!remote.reports) {
        return 0;
    }
    return remote.ending.signal || limit_ns < STEPS_LIMIT_NS ? limit_ns : STEPS_LIMIT_NS;
}

/* Get the results of a working sampler. */
static void remote_receive(spank_t spank)
{
    uint64_t limit_ns = remote_config.stop_timeout_ns;
    uint64_t deadline_ns = deadline_now() + limit_ns;

    message_start(&remote_message, APAPI_WORD_STOP);
    spank_apapi_ending_describe(&remote.ending, &remote_message);
    message_add_number(&remote_message, "wait_ms", remote_steps_limit_ns() / DEADLINE_MS);
    remote_send(deadline_ns);
    if (remote_failed()) {
        return;
    }
    remote.stopping = remote_expect(APAPI_WORD_STOPPING, deadline_ns) == 0;
    if (remote.stopping && *answer) {
        slurm_info("apapi: messages of the sampler that the system log lost: %s", answer);
    }
    if (!remote.stopping || remote_expect(APAPI_WORD_RECORD, deadline_ns)) {
        remote_fail(errno, limit_ns);
        return;
    }
    spank_apapi_deliver(spank, &remote.collector, remote.step.node, APAPI_WORD_RECORD, answer);
    if (remote.reports && remote_expect(APAPI_WORD_TABLE, deadline_ns)) {
        remote_note("the job's table was not ready in time: apapi show has it");
        return;
    }
    if (remote.reports) {
        remote.table = answer;
        answer = NULL;
    }
    if (remote.files) {
        bool heard = remote_expect(APAPI_WORD_NOTE, deadline_now() + FILES_LIMIT_NS) == 0;

        remote_note(heard ? answer
                          : "what --apapi-output, --apapi-trace or --apapi-overflow asked for "
                            "may not be complete");
    }
}

/* Log a failure, quietly if no one asked for the measurement. */
static void remote_log_failure(void)
{
    void (*print)(const char *format, ...) = remote.silent ? slurm_verbose : slurm_info;

    print("apapi: step %u.%s not measured on %s: %s", remote.step.job, remote.step.step_name,
          remote.step.node, remote.failure.text);
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
        if (!remote.stopping) {
            spank_apapi_child_kill(&remote.sampler);
        }
        remote_log_failure();
        spank_apapi_deliver(spank, &remote.collector, remote.step.node, APAPI_WORD_ABSENT,
                            remote.silent ? "" : remote.failure.text);
    }
}

int spank_apapi_remote_task_exit(spank_t spank)
{
    uint32_t tasks = 0;

    if (!remote.measuring) {
        return ESPANK_SUCCESS;
    }
    remote.ended++;
    spank_apapi_ending_add(spank, &remote.ending);
    spank_get_item(spank, S_JOB_LOCAL_TASK_COUNT, &tasks);
    if (remote.ended == tasks) {
        remote_finish(spank);
        if (remote.note[0] && !remote.step.batch) {
            slurm_spank_log("apapi: %s", remote.note);
        }
    }
    return ESPANK_SUCCESS;
}

/* Descriptor 2 is the job's error file here. */
static void remote_print(void)
{
    uint64_t deadline_ns = deadline_now() + PRINT_LIMIT_NS;
    char line[sizeof remote.failure.text + 64];

    if (remote.note[0]) {
        snprintf(line, sizeof line, "apapi: %s\n", remote.note);
        spank_apapi_output_write(STDERR_FILENO, line, deadline_ns);
    }
    if (remote.table) {
        spank_apapi_output_write(STDERR_FILENO, remote.table, deadline_ns);
    } else if (remote_failed() && remote.reports && !remote.silent) {
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
    spank_apapi_child_close(&remote.sampler);
    free(remote.table);
    remote.table = NULL;
    free(answer);
    answer = NULL;
    return ESPANK_SUCCESS;
}
