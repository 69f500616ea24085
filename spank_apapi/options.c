/* SPDX-License-Identifier: BSD-3-Clause */
#include "plugin.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "channel/channel.h"
#include "channel/deadline.h"

#define OPTIONAL_ARGUMENT 2
#define REQUIRED_ARGUMENT 1
#define KEPT_MAX 8
#define ASK_LIMIT_NS (2000 * DEADLINE_MS)

/* Slurm 22.05 passes this to srun for an argument that was not given to salloc. */
#define NO_ARGUMENT "(null)"

static struct config config;
struct spank_apapi_choice spank_apapi_choice;
static struct overflow overflow;
static char kept[KEPT_MAX][512]; /* problems of the configuration, for -v */
static size_t kept_count;

static int options_given(int value, const char *argument, int remote);

/* Slurm looks for the value of an option in this variable, see spank(8). */
#define SPANK_VARIABLE "SLURM_SPANK__SLURM_SPANK_OPTION_apapi_apapi"

/* spank_option_register() needs writable texts. */
static struct option {
    char name[24], arginfo[12], usage[96];
    int has_arg;
    char spank_variable[56];
    bool from_environment; /* this plugin has set the variable */
    bool heard;            /* options_given() was called for the option */
    bool of_job;           /* the present call has the value that the job was given */
} table[SPANK_APAPI_OPTIONS] = {
    [SPANK_APAPI_COMPONENTS] = {"apapi", "LIST",
                                "measure energy of these components, for example rapl:nvml, or "
                                "all, or off",
                                OPTIONAL_ARGUMENT, SPANK_VARIABLE},
    [SPANK_APAPI_INTERVAL] = {"apapi-interval", "LIST",
                              "time between two readings, for example 100ms or rapl:50ms:nvml:1s",
                              REQUIRED_ARGUMENT, SPANK_VARIABLE "_interval"},
    [SPANK_APAPI_FORMAT] = {"apapi-format", "FORM",
                            "of the report: table, json, csv, merged or none", REQUIRED_ARGUMENT,
                            SPANK_VARIABLE "_format"},
    [SPANK_APAPI_OUTPUT] = {"apapi-output", "FILE",
                            "report to FILE instead of standard error, with %j as for --output",
                            REQUIRED_ARGUMENT, SPANK_VARIABLE "_output"},
    [SPANK_APAPI_TRACE] = {"apapi-trace", "FILE",
                           "every reading to FILE as CSV on each node, for example trace-%J-%N",
                           REQUIRED_ARGUMENT, SPANK_VARIABLE "_trace"},
    [SPANK_APAPI_REPORT] = {"apapi-report", "WHICH",
                            "tables of a job: all, job, steps (without the job's) or none",
                            REQUIRED_ARGUMENT, SPANK_VARIABLE "_report"},
    [SPANK_APAPI_BUDGET] =
        {"apapi-budget", "BUDGET",
         "energy of the step, or sbatch: of the job; for example 5kWh,warn=80%,signal=USR1",
         REQUIRED_ARGUMENT, SPANK_VARIABLE "_budget"},
    [SPANK_APAPI_SHARE] = {"apapi-share", "on|off",
                           "put the step's share of its nodes' energy into its records",
                           OPTIONAL_ARGUMENT, SPANK_VARIABLE "_share"},
    [SPANK_APAPI_OVERFLOW] = {"apapi-overflow", "TEXT",
                              "when a threshold is crossed: 'total >= 5kJ : signal=USR1'; repeat "
                              "it for others",
                              REQUIRED_ARGUMENT, SPANK_VARIABLE "_overflow"},
};

static void options_log(const char *text, void *context)
{
    (void)context;
    slurm_error("apapi: %s", text);
}

static void options_keep(const char *text, void *context)
{
    (void)context;
    if (kept_count < KEPT_MAX) {
        snprintf(kept[kept_count++], sizeof kept[0], "%s", text);
    }
}

static void options_load(int count, char *const words[], config_complain_f complain)
{
    config_load(&config, count, words, &(const struct config_sink){.complain = complain});
}

void spank_apapi_options_report(void)
{
    for (size_t i = 0; i < kept_count; i++) {
        slurm_verbose("apapi: %s", kept[i]);
    }
    kept_count = 0;
}

static int options_ask(const char *about, const char *text, char *answer, size_t size,
                       struct apapi_error *err)
{
    const struct spank_apapi_question question = {.libexec_dir = config.libexec_dir,
                                                  .about = about,
                                                  .text = text,
                                                  .config = config.path,
                                                  .rules = text == NULL,
                                                  .limit_ns = ASK_LIMIT_NS};

    return spank_apapi_ask(&question, answer, size, err);
}

static bool options_is_preference(enum spank_apapi_option option)
{
    return choice->options[option].given == SPANK_APAPI_PREFERRED;
}

/* A bad value of a variable does not fail the user's command. Nor does a bad value of the job: the
 * site may have changed since the job was submitted. */
static bool options_may_be_bad(enum spank_apapi_option option)
{
    return table[option].of_job || options_is_preference(option);
}

static void options_ignore(enum spank_apapi_option option, const char *text)
{
    if (table[option].of_job) {
        slurm_info("apapi: --%s of the job: %s", table[option].name, text);
    } else {
        slurm_info("apapi: %s is ignored: %s", choice_variable(option), text);
    }
}

/* Print the problem with the name that the user has used. */
static int options_refuse(enum spank_apapi_option option, const char *text)
{
    if (options_may_be_bad(option)) {
        options_ignore(option, text);
    } else if (option == SPANK_APAPI_COMPONENTS) {
        slurm_error("apapi: %s", text);
    } else {
        slurm_error("apapi: --%s: %s", table[option].name, text);
    }
    return -1;
}

static int options_refuse_each(enum spank_apapi_option option, char *lines)
{
    for (const char *line; (line = strsep(&lines, "\n"));) {
        if (*line && options_may_be_bad(option)) {
            options_ignore(option, line);
        } else if (*line) {
            slurm_error("apapi: %s", line);
        }
    }
    return -1;
}

/*
 * The sampler did not answer, as it is missing, hangs or crashes: this must not fail the user's
 * command. The nodes look at the option again.
 */
static int options_go_on(const char *what, const struct apapi_error *err)
{
    slurm_info("apapi: %s could not be checked: %s", what, err->text);
    return 0;
}

static int options_ask_components(const char *list, struct apapi_error *err)
{
    char answer[sizeof err->text];

    return options_ask("components", list, answer, sizeof answer, err);
}

/* apapi-sampler knows PAPI's components, which are not compiled in. */
static int options_check_list(enum spank_apapi_option option, const char *list)
{
    struct apapi_error err;

    if (components_known(list) || options_ask_components(list, &err) == 0) {
        return 0;
    }
    return errno == ENOENT ? options_refuse(option, err.text) : options_go_on(list, &err);
}

static bool options_need_no_check(enum spank_apapi_option option)
{
    const char *text = choice->options[option].text;

    return option == SPANK_APAPI_COMPONENTS && (*text == '\0' || strcmp(text, CONFIG_OFF) == 0);
}

/* Check the components that an option names. */
static int options_check_components(enum spank_apapi_option option)
{
    const char *text = choice->options[option].text;
    char named[CONFIG_LIST_SIZE];

    if (table[option].of_job) {
        return 0; /* a node measures without the components that it lacks */
    }
    if (option == SPANK_APAPI_INTERVAL) {
        return choice_interval_components(text, named, sizeof named) == 0
                   ? 0
                   : options_check_list(option, named);
    }
    return option != SPANK_APAPI_COMPONENTS || options_need_no_check(option)
               ? 0
               : options_check_list(option, text);
}

static int options_gather(const char *variable, struct apapi_error *err)
{
    const char *text = choice->options[SPANK_APAPI_OVERFLOW].text;

    return table[SPANK_APAPI_OVERFLOW].of_job
               ? overflow_inherit(&overflow, text, getenv(variable), err)
               : overflow_add(&overflow, text, err);
}

/*
 * The batch step watches its job, and the collector of an srun watches its step. ENVIRONMENT is
 * BATCH in batch scripts only: a job of salloc has no step that watches it.
 */
static int options_check_scopes(enum spank_apapi_option option, const char *lines)
{
    const char *environment = getenv("ENVIRONMENT");
    bool inherited = !overflow.asked && getenv("SLURM_JOB_ID") && environment &&
                     strcmp(environment, "BATCH") == 0;

    choice->step_limits = overflow_has_scope(lines, "step");
    choice->job_limits = overflow_has_scope(lines, "job");
    if (choice->job_limits && !inherited && strcmp(program_invocation_short_name, "sbatch") != 0) {
        choice->step_limits = choice->job_limits = false;
        return options_refuse(option, "only sbatch has a step that could watch a job: give it to "
                                      "sbatch, or 'step total' to srun");
    }
    return 0;
}

/*
 * Check all thresholds at once: they must not contradict each other. A caret stands below the line
 * before it.
 */
static int options_check_overflow(void)
{
    const enum spank_apapi_option option = SPANK_APAPI_OVERFLOW;
    const char *variable = choice_variable(option);
    char text[1024], *lines = text;
    struct apapi_error err;

    if (!options_is_preference(option) &&
        (options_gather(variable, &err) || setenv(variable, overflow.lines, 1))) {
        return options_refuse(option, err.text);
    }
    if (options_ask("overflow", getenv(variable), text, sizeof text, &err) == 0 ||
        (errno != ENOENT && options_go_on("--apapi-overflow", &err) == 0)) {
        return options_check_scopes(option, getenv(variable));
    }
    options_refuse(option, strsep(&lines, "\n"));
    return options_refuse_each(option, lines);
}

/* A budget of srun is for its step; one of sbatch is for the job, whose batch step watches it. */
static int options_check_budget(void)
{
    const enum spank_apapi_option option = SPANK_APAPI_BUDGET;
    const char *text = choice->options[option].text;
    struct apapi_error err;
    char answer[sizeof err.text];

    if (spank_context() != S_CTX_LOCAL && strcmp(program_invocation_short_name, "sbatch") != 0) {
        return options_refuse(
            option, "salloc has no step that could watch a job: give it to srun or sbatch, or set "
                    "SLURM_APAPI_BUDGET");
    }
    if (spank_context() != S_CTX_LOCAL && strstr(text, "scope=step")) {
        return options_refuse(option, "a budget of sbatch is for the job: scope=job");
    }
    if (options_ask("budget", text, answer, sizeof answer, &err) == 0) {
        return 0;
    }
    if (errno != ENOENT) {
        return options_go_on("--apapi-budget", &err);
    }
    if (strchr(answer, '\n')) {
        *strrchr(answer, '\n') = '\0'; /* a caret has lines of its own */
        return options_refuse(option, answer);
    }
    return options_refuse(option, err.text);
}

/*
 * Pack the event settings of the user's environment. They are read once, here, with the user's
 * rights, and go to the nodes with the job.
 */
static int options_pack(enum spank_apapi_option option)
{
    static char packet[PACKET_MAX];
    static bool packed;
    struct apapi_error err;

    if (packed || (!getenv("APAPI_EVENTLIST") && !getenv("APAPI_EVENTOPS") &&
                   !getenv("APAPI_CMPLIST") && !getenv("APAPI_VERBOSE"))) {
        return 0;
    }
    if (options_ask("rules", NULL, packet, sizeof packet, &err) == 0) {
        packed = true;
        return setenv(PACKET_VARIABLE, packet, 1) ? options_refuse(option, strerror(errno)) : 0;
    }
    return errno == ENOENT ? options_refuse_each(option, packet)
                           : options_go_on("the settings of events are ignored, as they", &err);
}

/* Check APAPI_CMPLIST if it applies. */
static int options_check_listed(enum spank_apapi_option option)
{
    const char *listed = getenv("APAPI_CMPLIST");
    char text[sizeof((struct apapi_error *)0)->text + 16];
    struct apapi_error err;

    if (!listed || !*listed || choice->options[SPANK_APAPI_COMPONENTS].text[0] ||
        (config_components_check(listed, &err) == 0 &&
         (components_known(listed) || options_ask_components(listed, &err) == 0))) {
        return 0;
    }
    if (errno != ENOENT && errno != EINVAL) {
        return options_go_on("APAPI_CMPLIST", &err);
    }
    snprintf(text, sizeof text, "APAPI_CMPLIST: %s", err.text);
    return options_refuse(option, text);
}

/* At the prompt: check whether this user may have the option. */
static int options_check(enum spank_apapi_option option)
{
    char name[SPANK_APAPI_USER_SIZE] = "";
    struct apapi_error err;

    if (!options_need_no_check(option) && choice_check(choice, option, getuid() != 0, &err)) {
        return options_refuse(option, err.text);
    }
    if (choice_needs_permission(choice) && !policy_uid(&config, getuid()) &&
        (spank_apapi_user_name(getuid(), name) || !policy_user(&config, getuid(), name))) {
        return options_refuse(option, "this site lets only certain users ask for measurements, or "
                                      "switch them off");
    }
    if (options_check_components(option) ||
        (option == SPANK_APAPI_OVERFLOW && options_check_overflow()) ||
        (option == SPANK_APAPI_BUDGET && options_check_budget())) {
        return -1;
    }
    if (!choice_asked(choice) || (options_check_listed(option) == 0 && options_pack(option) == 0)) {
        return 0;
    }
    return table[option].of_job ? 0 : -1; /* the job is measured without the user's variables */
}

/* @return 0; -1: an error message was printed. */
static int options_take(enum spank_apapi_option option, const char *argument, int remote)
{
    bool missing = !argument && table[option].has_arg == REQUIRED_ARGUMENT;
    struct apapi_error err;

    if (missing || choice_note(choice, option, argument, &err)) {
        return remote ? -1 : options_refuse(option, missing ? "a value is missing" : err.text);
    }
    if (remote || (table[option].from_environment && options_is_preference(option))) {
        return 0;
    }
    if (argument && *argument == '\0' && option == SPANK_APAPI_COMPONENTS) {
        return options_refuse(option, "the list of components is empty");
    }
    return options_check(option);
}

/* Slurm's variable shows that the job was given the option: then the first call has its value. */
static bool options_is_of_job(enum spank_apapi_option option)
{
    bool first = !table[option].heard;

    table[option].heard = true;
    return first && !table[option].from_environment && getenv(table[option].spank_variable);
}

/* A value of sbatch's own --apapi-budget is for the job, whose batch step watches it. */
static bool options_is_job_budget(enum spank_apapi_option option, const char *argument)
{
    const char *variable = choice_variable(option);

    return option == SPANK_APAPI_BUDGET && table[option].of_job && argument &&
           spank_context() == S_CTX_LOCAL && strncmp(argument, variable, strlen(variable)) != 0;
}

/*
 * Called in srun, sbatch and salloc as the user: for the environment's value, then for the job's
 * value, then for the command line's. Called in slurmstepd as root: up to twice with the same
 * argument ("": none).
 */
static int options_given(int value, const char *argument, int remote)
{
    enum spank_apapi_option option = (enum spank_apapi_option)value;
    bool lacking = table[option].has_arg == OPTIONAL_ARGUMENT && argument &&
                   strcmp(argument, NO_ARGUMENT) == 0;
    int result;

    if (!config_enabled_anywhere(&config)) {
        if (remote && option == SPANK_APAPI_OVERFLOW) {
            choice_note(choice, option, argument, NULL); /* for spank_apapi_options_hide() */
        }
        return 0; /* even if it is malformed: existing scripts must still run */
    }
    table[option].of_job = !remote && options_is_of_job(option);
    if (options_is_job_budget(option, argument)) {
        choice->job_budget = true;
        table[option].of_job = false;
        return 0;
    }
    result = options_take(option, lacking ? NULL : argument, remote);
    if (result) {
        result = options_may_be_bad(option) ? 0 : result;
        choice_drop(choice, option);
    }
    table[option].of_job = false;
    return result;
}

/*
 * Slurm calls the option's function with the value of a variable of its own before it reads the
 * command line, and passes the value to the nodes and to the sruns of a job. So malformed values
 * must not get there.
 */
static void options_environment(enum spank_apapi_option option)
{
    const char *variable = choice_variable(option), *value = getenv(variable);
    char text[CONFIG_LIST_SIZE + 64];

    if (!value || getenv(table[option].spank_variable) || !config_enabled_anywhere(&config) ||
        (option == SPANK_APAPI_OVERFLOW && !value[strspn(value, " \t\n")])) {
        return;
    }
    if (strlen(value) >=
        (option == SPANK_APAPI_OVERFLOW ? OVERFLOW_LINES_SIZE : CONFIG_LIST_SIZE)) {
        options_ignore(option, "it is too long");
        return;
    }
    if (option == SPANK_APAPI_OVERFLOW) {
        value = ""; /* the thresholds stay in their variable */
    }
    snprintf(text, sizeof text, "%s=%s", variable, value);
    options_given(option, text, 0);
    table[option].from_environment =
        options_is_preference(option) && setenv(table[option].spank_variable, text, 1) == 0;
}

/* A job that is submitted within a job does not have that job's options. */
static void options_forget_enclosing(enum spank_apapi_option option)
{
    const char *variable = choice_variable(option);
    const char *given = getenv(table[option].spank_variable);

    if (spank_context() == S_CTX_ALLOCATOR && getenv("SLURM_JOB_ID")) {
        if (option == SPANK_APAPI_OVERFLOW && given && getenv(variable) &&
            strstr(getenv(variable), given)) {
            unsetenv(variable); /* it has the lines of the enclosing job's option */
        }
        unsetenv(table[option].spank_variable);
        unsetenv(table[option].spank_variable + strlen("SLURM_SPANK_")); /* salloc sets both */
        if (option == SPANK_APAPI_REPORT && getenv(APAPI_JOB_ENV) && getenv(variable) &&
            strcmp(getenv(variable), CHOICE_JOB_TABLE) == 0) {
            unsetenv(variable); /* the enclosing job's script has it from its batch step */
        }
    }
}

void spank_apapi_options_init(spank_t spank, int count, char *const words[])
{
    choice->config = &config;
    options_load(count, words, spank_remote(spank) ? options_log : options_keep);
    for (int i = 0; i < SPANK_APAPI_OPTIONS; i++) {
        struct spank_option option = {.name = table[i].name,
                                      .arginfo = table[i].arginfo,
                                      .usage = table[i].usage,
                                      .has_arg = table[i].has_arg,
                                      .val = i,
                                      .cb = options_given};

        spank_option_register(spank, &option);
        if (!spank_remote(spank)) {
            options_forget_enclosing((enum spank_apapi_option)i);
            options_environment((enum spank_apapi_option)i);
        }
    }
}

void spank_apapi_options_finish(void)
{
    for (int i = 0; i < SPANK_APAPI_OPTIONS; i++) {
        if (table[i].from_environment) {
            unsetenv(table[i].spank_variable);
            table[i].from_environment = false;
        }
    }
}

void spank_apapi_options_recover(spank_t spank)
{
    char text[CONFIG_LIST_SIZE + 64];

    for (int i = 0; i < SPANK_APAPI_OPTIONS; i++) {
        if (!choice->options[i].given &&
            spank_getenv(spank, table[i].spank_variable, text, sizeof text) == ESPANK_SUCCESS) {
            options_given(i, text, 1);
        }
    }
}

void spank_apapi_options_hide(spank_t spank)
{
    const enum spank_apapi_option option = SPANK_APAPI_OVERFLOW;
    char of_job[CONFIG_LIST_SIZE];

    if (choice->options[option].given == SPANK_APAPI_ASKED &&
        (spank_getenv(spank, table[option].spank_variable, of_job, sizeof of_job) !=
             ESPANK_SUCCESS ||
         strcmp(of_job, choice->options[option].text) != 0)) {
        spank_unsetenv(spank, choice_variable(option));
    }
}

static void daemon_check_folder(const char *key, const char *folder)
{
    struct apapi_error err;
    char answer[sizeof err.text];

    if (options_ask("folder", folder, answer, sizeof answer, &err)) {
        slurm_error("apapi: no records can be written to %s: %s", key, err.text);
    }
}

/* Log mistakes that users would see at each step and cannot correct. */
int spank_apapi_daemon_init(int count, char *const words[])
{
    struct apapi_error err;

    options_load(count, words, options_log);
    if (config_enabled_anywhere(&config)) {
        if (*config.components && !components_known(config.components) &&
            options_ask_components(config.components, &err)) {
            slurm_error("apapi: default = %s: %s", config.components, err.text);
        }
        daemon_check_folder("acct_dir", config.acct_dir);
        daemon_check_folder("spool_dir", config.spool_dir);
    }
    config_clear(&config);
    return ESPANK_SUCCESS;
}
