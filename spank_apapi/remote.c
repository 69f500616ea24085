/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <limits.h>
#include <slurm/slurm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apapi/live.h"
#include "channel/channel.h"
#include "channel/deadline.h"
#include "channel/report.h"
#include "child.h"
#include "plugin.h"

#define FILES_LIMIT_NS (1000 * DEADLINE_MS)
#define PRINT_LIMIT_NS (500 * DEADLINE_MS)
#define DELIVER_LIMIT_NS (500 * DEADLINE_MS)
#define STEPS_LIMIT_NS (200 * DEADLINE_MS) /* for steps that a script left running */
#define NODELIST_SIZE 4096                 /* a longer list of nodes is left out */

static struct {
    struct spank_apapi_step step;
    struct report_collector collector;
    struct spank_apapi_child sampler;
    bool measuring; /* between init_post_opt and the record */
    bool reports;   /* batch step: the sampler makes its report */
    bool one_table; /* batch step: one table, as the user has chosen no others */
    bool stopping;  /* the sampler knows that the step has ended */
    bool silent;    /* do not report the reason of a failure */
    bool off;       /* nothing is measured on this node; only srun is told */
    bool begun;     /* the first task exists */
    uint32_t ended; /* tasks that have ended */
    struct {
        uint32_t tasks, failed;
        int code, signal;       /* the greatest values */
    } ending;                   /* of the tasks on this node, so far */
    struct apapi_error failure; /* why there is no record; "": no failure */
    char *table;                /* of a batch step; NULL: none */
    bool files;                 /* the sampler writes files, or watches thresholds, of the user */
    char note[256];             /* problem with these files; "": none */
} remote = {.sampler = {.channel = -1, .pidfd = -1}};

static char where[80];        /* where srun collects: the value of APAPI_COLLECT_ENV */
static char folder[PATH_MAX]; /* working folder of the job; "": not known */
static struct message remote_message;
static char *answer; /* text of the sampler's last message; NULL: none */

static bool remote_failed(void)
{
    return remote.failure.text[0] != '\0';
}

/* --- permissions ------------------------------------------------------------------------------ */

/* Check whether the step's user may ask for measurements. An unknown user may not. */
static bool remote_may_ask(spank_t spank)
{
    const struct config *config = choice->config;
    char name[SPANK_APAPI_USER_SIZE], number[24];
    const struct spank_apapi_question question = {.libexec_dir = config->libexec_dir,
                                                  .about = "user",
                                                  .text = number,
                                                  .limit_ns = config->start_timeout_ns};
    uid_t uid = 0;

    if (spank_get_item(spank, S_JOB_UID, &uid) != ESPANK_SUCCESS) {
        return *config->allow_users == '\0';
    }
    if (policy_uid(config, uid)) {
        return true;
    }
    snprintf(number, sizeof number, "%lu", (unsigned long)uid);
    spank_apapi_ask(&question, name, sizeof name, NULL); /* the user database may hang */
    return policy_user(config, uid, name);
}

/*
 * Check whether the step's partition may be measured. In a batch step it comes from Slurm, in other
 * steps from the environment only. Only users who asked get a message, where anything is enabled.
 * @return 0; -1 with the reason noted.
 */
static int remote_check_partition(spank_t spank)
{
    const struct config *config = choice->config;
    char partition[SPANK_APAPI_NAME_SIZE];
    bool known = spank_apapi_look(spank, "SLURM_JOB_PARTITION", partition, sizeof partition);
    bool disabled = known && !config_enabled(config, partition);

    if (known ? !disabled && policy_partition(config, partition) : policy_extern(config)) {
        return 0;
    }
    remote.silent = disabled || !choice_asked(choice);
    return known ? apapi_fail(&remote.failure, EPERM, "this site measures nothing in partition %s",
                              partition)
                 : apapi_fail(&remote.failure, EPERM, "the step's partition is not known");
}

/* --- srun ------------------------------------------------------------------------------------- */

/*
 * Find where the step's srun collects. In a step that srun has not launched, a user could forge the
 * address. The tasks must not see it, nor use another step's.
 */
static void remote_find_srun(spank_t spank)
{
    const char *report = choice_variable(SPANK_APAPI_REPORT);
    char text[80];

    if (!remote.step.batch && remote.step.step != SLURM_EXTERN_CONT &&
        spank_apapi_look(spank, APAPI_COLLECT_ENV, where, sizeof where)) {
        report_parse(where, &remote.collector);
    }
    spank_unsetenv(spank, APAPI_COLLECT_ENV);
    if (spank_apapi_look(spank, APAPI_JOB_ENV, text, sizeof text) &&
        spank_apapi_look(spank, report, text, sizeof text) && strcmp(text, CHOICE_JOB_TABLE) == 0) {
        spank_unsetenv(spank, report); /* the script has it from its batch step */
    }
    spank_unsetenv(spank, APAPI_JOB_ENV);
    spank_unsetenv(spank, APAPI_LIVE_ENVIRONMENT); /* of the script that called srun */
}

/* slurmstepd sets the address for the tasks. Before that, a user could forge it. */
static bool remote_find_address(spank_t spank, char *address, int size)
{
    return spank_apapi_look(spank, "SLURM_LAUNCH_NODE_IPADDR", address, size) ||
           spank_apapi_look(spank, "SLURM_SRUN_COMM_HOST", address, size);
}

/* Report to srun, if srun collects, when the step has ended on this node. */
static void remote_deliver(spank_t spank, const char *word, const char *payload)
{
    uint64_t deadline_ns = deadline_now() + DELIVER_LIMIT_NS;
    char address[64], nodelist[NODELIST_SIZE];
    struct report report = {
        .word = word, .node = remote.step.node, .nodelist = "", .payload = payload};
    struct apapi_error err;

    if (remote.collector.port == 0) {
        return;
    }
    if (spank_apapi_look(spank, "SLURM_STEP_NODELIST", nodelist, sizeof nodelist)) {
        report.nodelist = nodelist;
    }
    if (!remote_find_address(spank, address, sizeof address)) {
        slurm_verbose("apapi: no address of srun in the step's environment");
    } else if (report_send(&remote.collector, address, &report, deadline_ns, &err)) {
        slurm_verbose("apapi: %s", err.text);
    }
}

/* --- the sampler ------------------------------------------------------------------------------ */

/* Note why there will be no record. The first reason counts. */
static void remote_fail(int code, uint64_t limit_ns)
{
    struct apapi_error *failure = remote_failed() ? NULL : &remote.failure;

    switch (code) {
    case EPIPE:
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

/*
 * Wait for a message with this word. Its text is in `answer` then.
 * @return 0; -1 with errno ETIMEDOUT, or any other, with the reason noted.
 */
static int remote_expect(const char *word, uint64_t deadline_ns)
{
    for (bool first = true;; first = false) {
        free(answer);
        answer = NULL;
        if (message_receive_text(remote.sampler.channel, &remote_message, &answer, deadline_ns)) {
            if (errno != ETIMEDOUT) {
                remote_fail(errno, 0);
            }
            return -1;
        }
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
}

/* Send `remote_message`. A sampler that has ended may have sent a reason or its record: the next
 * remote_expect() reads these. */
static void remote_send(uint64_t deadline_ns)
{
    const struct config *config = choice->config;

    if (message_send(remote.sampler.channel, &remote_message, deadline_ns) && errno != EPIPE &&
        errno != ECONNRESET) {
        remote_fail(errno, remote.ended ? config->stop_timeout_ns : config->start_timeout_ns);
    }
}

/* Tell the sampler to begin, and where it sends its totals if srun wants any. */
static void remote_send_begin(spank_t spank, uint64_t deadline_ns)
{
    char address[64];

    message_start(&remote_message, APAPI_WORD_BEGIN);
    message_add_number(&remote_message, "ns", deadline_now());
    message_add_pair(&remote_message, "folder", folder[0] ? folder : NULL);
    if (remote.collector.totals_ms && remote_find_address(spank, address, sizeof address)) {
        message_add_pair(&remote_message, "collect", where);
        message_add_pair(&remote_message, "collect_address", address);
    }
    remote_send(deadline_ns);
}

/* Let the sruns of a batch script report their steps to the sampler of the batch step. */
static void remote_open_rendezvous(spank_t spank, struct spank_apapi_rendezvous *rendezvous)
{
    if (!remote.step.batch || (!choice_reports_job(choice) && !choice_watches_job(choice))) {
        return;
    }
    if (rendezvous_open(rendezvous) == 0 &&
        spank_setenv(spank, APAPI_JOB_ENV, rendezvous->where, 1) != ESPANK_SUCCESS) {
        rendezvous_close(rendezvous);
    }
}

static void remote_describe_job(spank_t spank, const struct spank_apapi_rendezvous *rendezvous)
{
    char nodelist[NODELIST_SIZE];

    if (rendezvous->listener < 0) {
        return;
    }
    message_add_pair(&remote_message, "job_token", rendezvous->token);
    message_add_pair(&remote_message, "job_one", remote.one_table ? "1" : NULL);
    message_add_pair(&remote_message, "job_only",
                     remote.one_table || choice_reports_steps(choice) ? NULL : "1");
    message_add_pair(&remote_message, "job_quiet", choice_reports_job(choice) ? NULL : "1");
    if (spank_apapi_job_nodes(spank_apapi_look, spank, nodelist, sizeof nodelist) == 0) {
        message_add_pair(&remote_message, "job_nodelist", nodelist);
    }
}

/* Requests of a user without permission are ignored. @return NULL: measure nothing. */
static const char *remote_components(spank_t spank, const char *rules)
{
    struct packet_item listed = {.size = 0};
    static char list[CONFIG_LIST_SIZE];

    if (choice_needs_permission(choice) && !remote_may_ask(spank)) {
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

    if (!spank_apapi_look(spank, PACKET_VARIABLE, rules, sizeof rules)) {
        return NULL;
    }
    if (!remote.step.batch && remote.step.step != SLURM_INTERACTIVE_STEP) {
        spank_unsetenv(spank, PACKET_VARIABLE);
    }
    return rules;
}

static void remote_start(spank_t spank, const struct spank_apapi_request *request)
{
    const struct config *config = choice->config;
    struct spank_apapi_program sampler = {.dir = config->libexec_dir, .name = "apapi-sampler"};
    struct spank_apapi_rendezvous rendezvous = SPANK_APAPI_RENDEZVOUS_NONE;

    remote.measuring = true;
    remote.silent = !choice_asked(choice) &&
                    !components_known(config->components); /* only root gets a message */
    remote.reports = remote.step.batch && choice_format(choice) != CONFIG_NONE;
    if (remote_check_partition(spank)) {
        return;
    }
    spank_apapi_step_scopes(spank);
    remote_open_rendezvous(spank, &rendezvous);
    sampler.listener = rendezvous.listener;
    if (spank_apapi_child_start(&remote.sampler, &sampler, &remote.failure) == 0) {
        /* a script has one table at its end, unless the user has chosen other tables */
        remote.one_table = rendezvous.listener >= 0 && choice_prefers_job(choice);
        if (remote.one_table) {
            spank_setenv(spank, choice_variable(SPANK_APAPI_REPORT), CHOICE_JOB_TABLE, 0);
        }
        message_start(&remote_message, APAPI_WORD_CONFIG);
        remote.files = spank_apapi_step_configure(spank, &remote.step, request, &remote_message);
        remote_describe_job(spank, &rendezvous);
        remote_send(deadline_now() + config->start_timeout_ns);
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
           (choice->config->job_total == CONFIG_TOTAL_EXTERN && policy_extern(choice->config));
}

int spank_apapi_remote_init_post_opt(spank_t spank, int count, char *const words[])
{
    struct spank_apapi_request request = {.words = words, .word_count = count};

    spank_apapi_step_read(spank, &remote.step);
    remote_find_srun(spank);
    if (remote.step.batch) {
        spank_apapi_options_recover(spank);
        spank_apapi_step_mark_array(spank, &remote.step);
    }
    request.rules = remote_rules(spank);
    request.components = remote_components(spank, request.rules);
    if (!choice_asked(choice)) {
        request.rules = NULL; /* what the site measures for itself does not depend on the user */
    }
    if (request.components && remote_counts()) {
        remote_start(spank, &request);
    } else if (remote.collector.port != 0) { /* srun waits for a report of each node */
        remote.measuring = remote.silent = remote.off = true;
        apapi_fail(&remote.failure, EPERM, "this site measures nothing on this node");
    }
    if (!remote.step.batch) {
        spank_apapi_options_hide(spank);
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

    if (remote.measuring && !remote_failed() && *choice->config->live_dir &&
        spank_get_item(spank, S_JOB_UID, &uid) == ESPANK_SUCCESS &&
        snprintf(path, sizeof path, APAPI_LIVE_PATH, choice->config->live_dir, remote.step.node,
                 uid, remote.step.job, remote.step.step_name) < (int)sizeof path) {
        spank_setenv(spank, APAPI_LIVE_ENVIRONMENT, path, 1);
    }
    return ESPANK_SUCCESS;
}

/* Tell the sampler of a task, to which it may have to send signals. */
static void remote_send_task(spank_t spank, uint64_t deadline_ns)
{
    pid_t pid;
    bool wanted = choice_given(choice, SPANK_APAPI_OVERFLOW) ||
                  (remote.step.batch && choice_watches_job(choice));

    if (wanted && !remote_failed() && spank_get_item(spank, S_TASK_PID, &pid) == ESPANK_SUCCESS) {
        message_start(&remote_message, APAPI_WORD_TASK);
        message_add_number(&remote_message, "pid", (uint64_t)pid);
        remote_send(deadline_ns);
    }
}

int spank_apapi_remote_task_post_fork(spank_t spank)
{
    uint64_t deadline_ns = deadline_now() + choice->config->start_timeout_ns;

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
                      (double)choice->config->start_timeout_ns / 1e9);
    }
    return ESPANK_SUCCESS;
}

/* Note a problem, which is no failure because there is a record. */
static void remote_note(const char *text)
{
    snprintf(remote.note, sizeof remote.note, "%s", text);
    remote.failure.text[0] = '\0';
}

/*
 * @return the time that the job's table may wait for running steps. The rest of stop_timeout is for
 * the sampler itself. If a signal ended the script, Slurm is ending the steps, too. Otherwise the
 * steps run until the batch step is over, and waiting would only delay its end.
 */
static uint64_t remote_steps_limit_ns(void)
{
    uint64_t limit_ns = choice->config->stop_timeout_ns / 4 * 3;

    if (!remote.reports) {
        return 0;
    }
    return remote.ending.signal || limit_ns < STEPS_LIMIT_NS ? limit_ns : STEPS_LIMIT_NS;
}

/* Note how the task of this task_exit has ended. */
static void remote_add_ending(spank_t spank)
{
    int status;

    if (spank_get_item(spank, S_TASK_EXIT_STATUS, &status) != ESPANK_SUCCESS) {
        return;
    }
    remote.ending.tasks++;
    remote.ending.failed += status != 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) > remote.ending.code) {
        remote.ending.code = WEXITSTATUS(status);
    }
    if (WIFSIGNALED(status) && WTERMSIG(status) > remote.ending.signal) {
        remote.ending.signal = WTERMSIG(status);
    }
}

static void remote_describe_ending(void)
{
    if (remote.ending.tasks == 0) {
        return;
    }
    message_add_number(&remote_message, "exit_code", (uint64_t)remote.ending.code);
    if (remote.ending.signal) {
        message_add_number(&remote_message, "exit_signal", (uint64_t)remote.ending.signal);
    }
    if (remote.ending.failed) {
        message_add_number(&remote_message, "failed_tasks", remote.ending.failed);
    }
}

/* Get the results of a working sampler. */
static void remote_receive(spank_t spank)
{
    uint64_t limit_ns = choice->config->stop_timeout_ns;
    uint64_t deadline_ns = deadline_now() + limit_ns;

    message_start(&remote_message, APAPI_WORD_STOP);
    remote_describe_ending();
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
    remote_deliver(spank, APAPI_WORD_RECORD, answer);
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

/* The step has ended on this node. A failure is logged quietly if no one asked. */
static void remote_finish(spank_t spank)
{
    void (*print)(const char *format, ...) = remote.silent ? slurm_verbose : slurm_info;

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
        print("apapi: step %u.%s not measured on %s: %s", remote.step.job, remote.step.step_name,
              remote.step.node, remote.failure.text);
        remote_deliver(spank, APAPI_WORD_ABSENT,
                       remote.silent && !remote.off ? "" : remote.failure.text);
    }
}

int spank_apapi_remote_task_exit(spank_t spank)
{
    uint32_t tasks = 0;

    if (!remote.measuring) {
        return ESPANK_SUCCESS;
    }
    remote.ended++;
    remote_add_ending(spank);
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
