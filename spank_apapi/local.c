/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <slurm/slurm.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"
#include "base/text.h"
#include "channel/channel.h"
#include "channel/deadline.h"
#include "child.h"
#include "config/filename.h"
#include "plugin.h"

#define VISIT_ENV "SLURM_APAPI_VISIT"    /* in a step of another job than srun's: that job's ID */
#define WAIT_MORE_NS (500 * DEADLINE_MS) /* extra time for srun, and again for apapi-collect */

#define LOG_LEVEL_INFO 3 /* of Slurm's log.h; srun -Q has a lower level */

/* srun's log level; NULL: not known. Not declared, but exported by every libslurm since 22.05. */
extern int slurm_get_log_level(void) __attribute__((weak));

/* SrunPortRange as {first, last}; NULL: none. Not declared, but exported since 22.05. */
extern uint16_t *slurm_get_srun_port_range(void) __attribute__((weak));

/* For debuggers of MPI: 0 until srun has launched a step. Exported by every srun since 22.05. */
extern volatile int MPIR_debug_state __attribute__((weak));

static struct {
    struct spank_apapi_child collector;
    int listener; /* where the nodes report; closed after the collector has it */
    char token[APAPI_TOKEN_LENGTH + 1];
    pid_t pid; /* process that started the collector; 0: nothing is measured */
    uint32_t job, nodes;
    unsigned long enclosing; /* the job in which srun was called; 0: none */
    char step[32];
    struct apapi_error failure; /* "": none */
} local = {.collector = {.channel = -1, .pidfd = -1}, .listener = -1};

static struct message local_message;

/* hostlist_t is a pointer type up to Slurm 23.02, and a structure since then. */
typedef __typeof__(slurm_hostlist_create("")) nodelist_hosts;

/* @return whether srun was called in another job (--jobid), whose environment says nothing of this
 * one. Components of a heterogeneous job have IDs of their own. */
static bool local_visits(void)
{
    const char *visit = getenv(VISIT_ENV);
    unsigned long visited = visit ? positive_number(visit, UINT32_MAX) : 0;

    return local.enclosing && (local.enclosing != local.job || local.job == visited) &&
           !getenv("SLURM_HET_SIZE");
}

/* SLURM_STEP_NODELIST is not used: if it is set here, it belongs to an enclosing step. */
static const char *nodelist_allocation(void)
{
    const char *names = getenv("SLURM_NODELIST");

    if (local_visits()) {
        return NULL;
    }
    return names ? names : getenv("SLURM_JOB_NODELIST");
}

/* Slurm counts only the first component of a heterogeneous job; the environment has all. */
static uint32_t nodelist_count(uint32_t counted)
{
    const char *text = getenv("SLURM_HET_SIZE") ? getenv("SLURM_NNODES") : NULL;
    unsigned long all = text ? positive_number(text, UINT32_MAX) : 0;

    return all > counted ? (uint32_t)all : counted;
}

/*
 * Find the names of the step's nodes. The environment has the nodes of the allocation, which are
 * the step's nodes if their number is the same.
 * @return "n[1-4,7]"; NULL if not known (always in a heterogeneous job)
 */
static const char *nodelist_of_step(uint32_t nodes)
{
    const char *names = getenv("SLURM_HET_SIZE") ? NULL : nodelist_allocation();
    nodelist_hosts hosts = names ? slurm_hostlist_create(names) : NULL;
    bool all;

    if (!hosts) {
        return NULL;
    }
    all = slurm_hostlist_count(hosts) == (int)nodes;
    slurm_hostlist_destroy(hosts);
    return all ? names : NULL;
}

/* Write the name of the first node of the allocation; "" if not known. */
static void nodelist_first(char *name, size_t size)
{
    const char *names = nodelist_allocation();
    nodelist_hosts hosts = names ? slurm_hostlist_create(names) : NULL;
    char *first = hosts ? slurm_hostlist_shift(hosts) : NULL;

    snprintf(name, size, "%s", first ? first : "");
    free(first);
    if (hosts) {
        slurm_hostlist_destroy(hosts);
    }
}

/* Make everything that the nodes need to know. @return 0; -1 with the reason in local.failure. */
static int local_announce(void)
{
    const uint16_t *ports = slurm_get_srun_port_range ? slurm_get_srun_port_range() : NULL;
    uint32_t totals_ms = choice_totals_ms(choice);
    char where[sizeof local.token + sizeof "65535::4294967295"];
    uint16_t port = 0;

    if (spank_apapi_token(local.token)) {
        return apapi_fail(&local.failure, errno, "no random numbers: %s", strerror(errno));
    }
    local.listener =
        spank_apapi_listen(ports ? ports[0] : 0, ports ? ports[1] : 0, &port, &local.failure);
    if (local.listener < 0) {
        return -1;
    }
    if (totals_ms) {
        snprintf(where, sizeof where, "%d:%s:%u", port, local.token, totals_ms);
    } else {
        snprintf(where, sizeof where, "%d:%s", port, local.token);
    }
    if (setenv(APAPI_COLLECT_ENV, where, 1)) {
        return apapi_fail(&local.failure, errno, "cannot set a variable: %s", strerror(errno));
    }
    return 0;
}

/* Check whether srun prints anything or watches a budget. */
static bool local_wanted(void)
{
    return choice_components(choice, NULL) &&
           (choice_format(choice) != CONFIG_NONE || choice_totals_ms(choice));
}

int spank_apapi_local_init_post_opt(void)
{
    const char *job = getenv("SLURM_JOB_ID"); /* later, srun sets it to the step's job */

    local.enclosing = job ? positive_number(job, UINT32_MAX) : 0;
    spank_apapi_options_finish();
    if (local.listener >= 0) {
        return ESPANK_SUCCESS;
    }
    unsetenv(APAPI_COLLECT_ENV); /* belongs to an enclosing step */
    if (local_wanted()) {
        local_announce();
    }
    return ESPANK_SUCCESS;
}

/* @return whether srun -Q is used: then no one reads what srun prints. */
static bool local_is_quiet(void)
{
    return slurm_get_log_level && slurm_get_log_level() < LOG_LEVEL_INFO;
}

/* Tell the collector how to act on the step as the user: Slurm's commands are in srun's folder. */
static void local_describe_budget(void)
{
    uint32_t totals_ms = choice_totals_ms(choice);
    char program[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    char *slash;

    if (totals_ms == 0) {
        return;
    }
    program[length > 0 ? length : 0] = '\0';
    slash = strrchr(program, '/');
    message_add_number(&local_message, "totals_ms", totals_ms);
    message_add_pair(&local_message, "budget", choice_given(choice, SPANK_APAPI_BUDGET));
    message_add_pair(&local_message, "job_budget",
                     choice->job_budget || choice->job_limits ? "1" : NULL);
    message_add_pair(&local_message, "overflow",
                     choice->step_limits ? getenv(choice_variable(SPANK_APAPI_OVERFLOW)) : NULL);
    message_add_pair(&local_message, "config", choice->config->path);
    if (slash) {
        *slash = '\0';
        message_add_pair(&local_message, "slurm_bin", program);
    }
    message_add_pair(&local_message, "slurm_conf", getenv("SLURM_CONF"));
    message_add_pair(&local_message, "quiet", local_is_quiet() ? "1" : NULL);
}

static void local_describe(spank_t spank)
{
    char name[SPANK_APAPI_NAME_SIZE];

    spank_apapi_step_program(spank, name);
    message_start(&local_message, APAPI_WORD_CONFIG);
    message_add_pair(&local_message, "token", local.token);
    message_add_pair(&local_message, "step", local.step);
    message_add_pair(&local_message, "name", name[0] ? name : NULL);
    message_add_number(&local_message, "nodes", local.nodes);
    message_add_pair(&local_message, "job", local_visits() ? NULL : getenv(APAPI_JOB_ENV));
    message_add_pair(&local_message, "format", config_format_word(choice_format(choice)));
    message_add_pair(&local_message, "verbose",
                     packet_is_verbose(getenv(PACKET_VARIABLE)) ? "1" : NULL);
    local_describe_budget();
}

/* @return 0; -1 with the reason in local.failure. */
static int local_start_collector(spank_t spank)
{
    uint64_t deadline_ns = deadline_now() + choice->config->start_timeout_ns;
    const struct spank_apapi_program program = {.dir = choice->config->libexec_dir,
                                                .name = "apapi-collect",
                                                .listener = local.listener,
                                                .speaks = choice_totals_ms(choice) > 0};

    if (spank_apapi_child_start(&local.collector, &program, &local.failure)) {
        return -1;
    }
    local_describe(spank);
    return message_send(local.collector.channel, &local_message, deadline_ns)
               ? apapi_fail(&local.failure, errno, "cannot talk to the collector: %s",
                            strerror(errno))
               : 0;
}

static void local_read_step(spank_t spank)
{
    uint32_t job = 0, step = 0, nodes = 0;
    char step_name[SPANK_APAPI_STEP_SIZE];

    spank_get_item(spank, S_JOB_ID, &job);
    spank_get_item(spank, S_JOB_STEPID, &step);
    spank_get_item(spank, S_JOB_NNODES, &nodes);
    spank_apapi_step_name(step, step_name);
    snprintf(local.step, sizeof local.step, "%u.%s", job, step_name);
    local.job = job;
    local.nodes = nodelist_count(nodes);
}

/* The tasks of a step in another job, which may call srun, have that job's ID and our nodes. */
static void local_mark_visit(void)
{
    char job[16];

    if (local_visits()) {
        snprintf(job, sizeof job, "%u", local.job);
        setenv(VISIT_ENV, job, 1);
    }
}

int spank_apapi_local_user_init(spank_t spank)
{
    spank_apapi_options_report(); /* only now: before that, srun does not know -v */
    if (local.pid == 0) {
        local_read_step(spank);
        local_mark_visit();
    }
    if (local.pid == 0 && local_wanted()) {
        local.pid = getpid();
        if (local.failure.text[0] || local_start_collector(spank)) {
            unsetenv(APAPI_COLLECT_ENV);
            spank_apapi_child_kill(&local.collector);
            spank_apapi_child_close(&local.collector);
        }
    } else if (local.pid == 0) {
        unsetenv(APAPI_COLLECT_ENV);
    }
    if (local.listener >= 0) {
        close(local.listener); /* the collector has a copy */
        local.listener = -1;
    }
    return ESPANK_SUCCESS;
}

/* The step has ended: receive its report into `local_message`. @return 0; -1 with the reason in
 * local.failure. */
static int local_receive_table(void)
{
    bool launched = !&MPIR_debug_state || MPIR_debug_state;
    uint64_t wait_ns = launched ? choice->config->stop_timeout_ns + WAIT_MORE_NS : 0;
    uint64_t now_ns = deadline_now();
    const char *nodelist = nodelist_of_step(local.nodes);

    message_start(&local_message, APAPI_WORD_END);
    message_add_pair(&local_message, "nodelist",
                     nodelist && strlen(nodelist) < APAPI_MESSAGE_MAX / 2 ? nodelist : NULL);
    message_add_number(&local_message, "wait_ms", wait_ns / DEADLINE_MS);
    if (message_send(local.collector.channel, &local_message, now_ns + WAIT_MORE_NS) ||
        message_receive(local.collector.channel, &local_message, now_ns + wait_ns + WAIT_MORE_NS)) {
        return errno == ETIMEDOUT
                   ? apapi_fail(&local.failure, errno, "the collector did not answer within %g s",
                                (double)(wait_ns + WAIT_MORE_NS) / 1e9)
                   : apapi_fail(&local.failure, errno, "the collector ended too early");
    }
    if (message_is(&local_message, APAPI_WORD_TABLE) ||
        message_is(&local_message, APAPI_WORD_END)) {
        return 0;
    }
    return message_is(&local_message, APAPI_WORD_FAILED)
               ? spank_apapi_child_reason(&local_message, &local.failure)
               : apapi_fail(&local.failure, EBADMSG, "the collector gave no report");
}

/* Print what became of the report, and local.failure. */
static void local_print(const char *what)
{
    char line[sizeof local.step + sizeof local.failure.text + 64];

    snprintf(line, sizeof line, "apapi: step %s%s: %s\n", local.step, what, local.failure.text);
    spank_apapi_output_write(STDERR_FILENO, line, deadline_now() + WAIT_MORE_NS);
}

/* The destination of the report. */
struct destination {
    const char *path; /* opened at the first write; NULL: standard error */
    int fd;           /* -1: not open */
};

static int destination_fail(const struct destination *destination)
{
    return apapi_fail(&local.failure, errno, "%.160s: %s",
                      destination->path ? destination->path : "standard error", strerror(errno));
}

/* Waits at most half a second for a reader, and not at all if there is none. */
static int destination_write(struct destination *destination, const char *text)
{
    const int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;

    if (*text == '\0') {
        return 0;
    }
    if (destination->path && destination->fd < 0) {
        destination->fd = spank_apapi_child_keep_away(open(destination->path, flags, 0666));
        if (destination->fd < 0) {
            return destination_fail(destination);
        }
    }
    return spank_apapi_output_write(destination->path ? destination->fd : STDERR_FILENO, text,
                                    deadline_now() + WAIT_MORE_NS)
               ? destination_fail(destination)
               : 0;
}

/* If the report's file cannot be written, the report goes to standard error. */
static void destination_fall_back(struct destination *destination)
{
    local_print(", here instead");
    if (destination->fd >= 0) {
        close(destination->fd);
    }
    *destination = (struct destination){NULL, -1};
}

/* Write the name of the report's file. @return 0; -1 with the reason in local.failure. */
static int destination_name(const char *pattern, char path[PATH_MAX])
{
    const char *trace = choice_given(choice, SPANK_APAPI_TRACE);
    char node[SPANK_APAPI_NAME_SIZE], unique[PATH_MAX], trace_path[PATH_MAX];
    const struct spank_apapi_naming naming = {
        .job = local.job, .step = strchr(local.step, '.') + 1, .node = node, .uid = getuid()};

    nodelist_first(node, sizeof node);
    if (spank_apapi_name(pattern, &naming, path, PATH_MAX, &local.failure)) {
        return -1;
    }
    return trace && filename_trace(trace, local.nodes, false, unique, sizeof unique) == 0 &&
                   spank_apapi_name(unique, &naming, trace_path, sizeof trace_path, NULL) == 0 &&
                   files_clash(path, trace_path)
               ? apapi_fail(&local.failure, EEXIST, "%.160s is the file of the trace", path)
               : 0;
}

/* Write the report. Its first part is in `local_message`. */
static int local_write_report(void)
{
    const char *pattern = choice_output(choice);
    char path[PATH_MAX];
    struct destination destination = {.path = pattern ? path : NULL, .fd = -1};
    int result = 0;

    if (pattern && destination_name(pattern, path)) {
        destination_fall_back(&destination);
    }
    while (result == 0 && message_is(&local_message, APAPI_WORD_TABLE)) {
        result = destination_write(&destination, message_text(&local_message));
        if (result && destination.path) {
            destination_fall_back(&destination);
            result = destination_write(&destination, message_text(&local_message));
        }
        if (result == 0 && message_receive(local.collector.channel, &local_message,
                                           deadline_now() + WAIT_MORE_NS)) {
            result = apapi_fail(&local.failure, errno, "the collector ended too early");
        }
    }
    if (destination.fd >= 0 && close(destination.fd) && result == 0) {
        result = destination_fail(&destination);
    }
    return result;
}

/* @return whether no one reads the report: srun is quiet, or the job's table includes the step. */
static bool local_is_silent(void)
{
    return choice_format(choice) == CONFIG_NONE || (local_is_quiet() && !choice_output(choice)) ||
           (getenv(APAPI_JOB_ENV) && !local_visits() && !choice_reports_steps(choice));
}

int spank_apapi_local_exit(void)
{
    bool silent;

    if (local.pid == 0 || local.pid != getpid()) {
        return ESPANK_SUCCESS;
    }
    local.pid = 0;
    silent = local_is_silent();
    if (local.collector.channel < 0 || local_receive_table() || (!silent && local_write_report())) {
        spank_apapi_child_kill(&local.collector);
        if (!silent) {
            local_print(" has no report");
        }
    }
    spank_apapi_child_close(&local.collector);
    return ESPANK_SUCCESS;
}

/* --- sbatch and salloc ------------------------------------------------------------------------ */

#define ANSWER_LIMIT_NS (1000 * DEADLINE_MS)

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
    message_start(&local_message, APAPI_WORD_CONFIG);
    message_add_pair(&local_message, "token", rendezvous.token);
    message_add_pair(&local_message, "whole_job", "1");
    message_add_pair(&local_message, "job_only", choice_reports_steps(choice) ? NULL : "1");
    if (spank_apapi_child_start(&local.collector, &program, NULL) == 0) {
        if (message_send(local.collector.channel, &local_message, deadline_ns) == 0) {
            local.pid = getpid();
            setenv(APAPI_JOB_ENV, rendezvous.where, 1);
        } else { /* the collector has no settings; there is no table */
            spank_apapi_child_kill(&local.collector);
            spank_apapi_child_close(&local.collector);
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

    message_start(&local_message, APAPI_WORD_END);
    message_add_pair(&local_message, "nodes", getenv("SLURM_JOB_NUM_NODES"));
    if (spank_apapi_job_nodes(spank_apapi_look_here, NULL, nodelist, sizeof nodelist) == 0) {
        message_add_pair(&local_message, "nodelist", nodelist);
    }
    if (message_send(local.collector.channel, &local_message, deadline_ns) ||
        message_receive_text(local.collector.channel, &local_message, &text, deadline_ns)) {
        return NULL;
    }
    if (!message_is(&local_message, APAPI_WORD_TABLE)) {
        free(text);
        return NULL;
    }
    return text;
}

int spank_apapi_allocator_exit(void)
{
    char *table;

    if (local.pid == 0 || local.pid != getpid()) {
        return ESPANK_SUCCESS;
    }
    local.pid = 0;
    table = allocator_ask();
    if (table) {
        spank_apapi_output_write(STDERR_FILENO, table, deadline_now() + ANSWER_LIMIT_NS);
    } else {
        spank_apapi_child_kill(&local.collector);
    }
    free(table);
    spank_apapi_child_close(&local.collector);
    return ESPANK_SUCCESS;
}
