/* SPDX-License-Identifier: BSD-3-Clause */
/* atime: run a program and say what energy it cost, like time(1). */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apapi/events.h"
#include "apapi/session.h"
#include "atime/options.h"
#include "atime/region_watch.h"
#include "atime/runs.h"
#include "base/files.h"
#include "base/option_table.h"
#include "base/text.h"
#include "config/config.h"
#include "config/installed.h"
#include "session/trace.h"

#define KILL_WAIT_NS UINT64_C(30000000000) /* Slurm's default of KillWait */
#define PATIENCE_NS UINT64_C(2000000000)   /* with explicit selections: GPUs, a BMC */

/* Files and objects that atime keeps open while it measures. */
struct atime {
    const struct options *options;
    struct process process;
    int output; /* -1: not open */
    struct trace *trace;
    struct apapi_environment environment;
    struct apapi_event_rules rules;
    struct apapi_session *session;
    struct crossings limits;
    struct region_watch *regions; /* NULL: none */
    int markdown;                 /* -1: not open */
    struct report reports[2];
};

typedef int (*atime_fill_f)(FILE *out, const struct atime *atime, struct apapi_error *err);

static int atime_complain(const char *text)
{
    fprintf(stderr, "atime: %s\n", text);
    return EXIT_FAILURE;
}

/* If the caller has closed standard error, messages must not get into the file. */
static int above_standard(int fd)
{
    int higher;

    if (fd < 0 || fd > STDERR_FILENO) {
        return fd;
    }
    higher = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(fd);
    return higher;
}

/* Create or truncate a file that a user named; a descriptor above standard error. */
static int output_open(const char *path, struct apapi_error *err)
{
    int fd = above_standard(open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666));

    return fd < 0 ? apapi_fail(err, errno, "cannot write %.160s: %s", path, strerror(errno)) : fd;
}

static int open_trace(struct atime *atime, struct apapi_error *err)
{
    FILE *file;
    int fd;

    if (!atime->options->trace) {
        return 0;
    }
    fd = output_open(atime->options->trace, err);
    if (fd < 0) {
        return -1;
    }
    file = fdopen(fd, "w");
    if (!file) {
        close(fd);
        return apapi_fail(err, ENOMEM, "no memory");
    }
    atime->trace = trace_create(file, atime->options->trace, err);
    return atime->trace ? 0 : -1;
}

static int open_files(struct atime *atime, struct apapi_error *err)
{
    const struct options *options = atime->options;

    atime->output = options->output ? output_open(options->output, err) : STDERR_FILENO;
    if (options->markdown) {
        atime->markdown = output_open(options->markdown, err);
    }
    return atime->output < 0 || (options->markdown && atime->markdown < 0) ? -1
                                                                           : open_trace(atime, err);
}

/* Print each bad line of an event file, and each suspicious one. */
static void atime_print_problem(const struct apapi_problem *problem, void *context)
{
    (void)context;
    atime_complain(problem->text);
}

/* Load the event files of the environment and the installed ones. */
static int load_rules(struct atime *atime, struct apapi_error *err)
{
    const struct apapi_problem_sink sink = {atime_print_problem, NULL};

    apapi_environment_read(&atime->environment);
    return apapi_event_rules_load(&atime->rules, &atime->environment,
                                  installed_path(INSTALLED_CONFIG), &sink, err);
}

static int atime_open_session(struct atime *atime, struct apapi_error *err)
{
    const struct options *options = atime->options;
    const struct apapi_session_config config = {
        .components = options->components,
        .all_results = options->verbose,
        .sources = secure_getenv("APAPI_SOURCES"),
        .intervals = &options->intervals,
        .rules = &atime->rules,
        .softfail = atime->environment.softfail,
        .on_sample = atime->trace ? trace_sample : NULL,
        .context = atime->trace,
        .patience_ns = options->components || atime->limits.open ? PATIENCE_NS : 0,
        .live = region_watch_page(atime->regions),
        .on_live = atime->regions ? region_watch_reading : NULL,
        .live_context = atime->regions,
    };

    atime->session = apapi_session_create(&config, err);
    return atime->session ? 0 : -1;
}

/* A process that runs already has another environment. */
static void atime_open_regions(struct atime *atime)
{
    struct apapi_error err;

    if (atime->options->pid) {
        return;
    }
    atime->regions = region_watch_open(&err);
    if (!atime->regions && errno != EALREADY && atime->options->verbose) {
        fprintf(stderr, "atime: no regions: %s\n", err.text);
    }
}

/* --- limits ----------------------------------------------------------------------------------- */

/* The mistake, the text and a caret: the first line says who speaks. */
static int limits_refuse(const char *text)
{
    char clean[sizeof((struct apapi_error *)0)->text], line[sizeof clean];

    fputs("atime: --overflow: ", stderr);
    while (text_next_line(&text, line, sizeof line)) {
        text_clean(clean, sizeof clean, line);
        fprintf(stderr, "%s\n", clean);
    }
    return USAGE_ERROR;
}

static void limits_launch(const struct job_launch *launch, const void *context)
{
    (void)context;
    shell_plug(STDERR_FILENO);
    shell_become(launch->text, launch->variables);
}

/* Call it before there are threads. @return -1: continue; otherwise the exit status. */
static int limits_open(const struct options *options, struct crossings *limits)
{
    static char node[APAPI_TEXT_SIZE];
    struct process_stat process = {.parent = getpid()}; /* of the program, which this one starts */
    struct actor_config config = {.node = node,
                                  .said_by = "atime",
                                  .line_fd = STDERR_FILENO,
                                  .uid = getuid(),
                                  .kill_wait_ns = KILL_WAIT_NS,
                                  .launch = limits_launch};
    struct limit_list *list = &limits->limits;
    struct apapi_error err;

    for (size_t i = 0; i < options->overflow_count; i++) {
        if (limit_list_add(list, options->overflows[i], &err) ||
            (list->limits[i].scope != LIMIT_NODE &&
             limit_refuse(&list->limits[i], LIMIT_METER, EINVAL,
                          "atime measures this node: steps and jobs are Slurm's", &err))) {
            return limits_refuse(err.text);
        }
    }
    if (options->pid && process_stat_read(options->pid, &process)) {
        process.parent = getpid();
    }
    config.parent = process.parent;
    gethostname(node, sizeof node - 1);
    if (list->count > 0 && crossings_open(limits, &config, &err)) {
        fprintf(stderr, "atime: --overflow: %s\n", err.text);
        return EXIT_FAILURE;
    }
    return -1;
}

/* Its component may not have opened in the time that atime waits for it. */
static int limits_set(struct crossings *limits, struct apapi_session *session)
{
    const struct limit *waiting;
    struct apapi_error err;

    if (crossings_set(limits, session, &err) ||
        ((waiting = crossings_waiting(limits)) &&
         limit_refuse(waiting, LIMIT_METER, EAGAIN, "its component is not ready", &err))) {
        return limits_refuse(err.text);
    }
    return -1;
}

/* ---------------------------------------------------------------------------------------------- */

/* @return -1: continue; otherwise the exit status. */
static int atime_open_all(struct atime *atime)
{
    struct apapi_error err;
    int status = limits_open(atime->options, &atime->limits);

    if (status >= 0) {
        return status;
    }
    if (atime->options->pid && process_open(atime->options->pid, &atime->process, &err)) {
        return atime_complain(err.text);
    }
    config_use_sources(NULL);
    atime_open_regions(atime);
    if (load_rules(atime, &err) || open_files(atime, &err) || atime_open_session(atime, &err)) {
        return options_refuse(err.text);
    }
    return limits_set(&atime->limits, atime->session);
}

/* Writes what `fill` writes into `fd`, all or nothing. */
static int atime_write(int fd, const char *path, atime_fill_f fill, const struct atime *atime,
                       struct apapi_error *err)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    int result = out ? fill(out, atime, err) : apapi_fail(err, ENOMEM, "no memory");

    if (out && fclose(out) == EOF && result == 0) {
        result = apapi_fail(err, ENOMEM, "no memory");
    }
    if (result == 0 && write_all(fd, text, size)) {
        result = apapi_fail(err, errno, "%.160s: %s", path, strerror(errno));
    }
    free(text);
    return result;
}

static int atime_fill_report(FILE *out, const struct atime *atime, struct apapi_error *err)
{
    const struct options *options = atime->options;

    return options->other && atime->reports[1].count > 0
               ? options->compare_report(out, atime->reports, err)
               : options->report(out, atime->reports, err);
}

static int atime_fill_markdown(FILE *out, const struct atime *atime, struct apapi_error *err)
{
    (void)err;
    report_markdown(out, atime->reports, atime->options->other ? 2 : 1);
    return 0;
}

static void atime_report(const struct atime *atime)
{
    const struct options *options = atime->options;
    struct apapi_error err;

    signal(SIGPIPE, SIG_IGN); /* the program's exit status counts even if no one reads the report */
    if (atime->reports[0].count == 0) {
        return;
    }
    if (atime_write(atime->output, options->output ? options->output : "standard error",
                    atime_fill_report, atime, &err)) {
        fprintf(stderr, "atime: no report: %s\n", err.text);
    }
    if (options->markdown &&
        atime_write(atime->markdown, options->markdown, atime_fill_markdown, atime, &err)) {
        fprintf(stderr, "atime: no table in Markdown: %s\n", err.text);
    }
}

static struct report atime_wanted(const struct options *options, char *const *program)
{
    return (struct report){.program = program,
                           .pid = options->pid,
                           .runs_wanted = options->runs,
                           .warmups = options->warmups,
                           .verbose = options->verbose};
}

static int atime_exit_code(const struct atime *atime)
{
    int status = runs_exit_code(&atime->reports[0]);

    return status || !atime->options->other ? status : runs_exit_code(&atime->reports[1]);
}

/* @return the exit status. */
static int atime_measure(struct atime *atime)
{
    const struct options *options = atime->options;
    const struct measuring measuring = {.session = atime->session,
                                        .trace = atime->trace,
                                        .limits = &atime->limits,
                                        .regions = atime->regions,
                                        .verbose = options->verbose,
                                        .process = options->pid ? &atime->process : NULL,
                                        .progress = isatty(STDERR_FILENO) ? stderr : NULL};
    struct apapi_error err;
    int status = -1;

    atime->reports[0] = atime_wanted(options, options->program);
    atime->reports[1] = atime_wanted(options, options->other);
    if (runs_measure(&measuring, atime->reports, options->other ? 2 : 1, &err)) {
        status = child_start_failure(errno);
        atime_complain(err.text);
    }
    atime_report(atime);
    status = status < 0 ? atime_exit_code(atime) : status;
    runs_clear(&atime->reports[0]);
    runs_clear(&atime->reports[1]);
    return status;
}

static void atime_close_all(struct atime *atime)
{
    struct apapi_error err;

    if (trace_finish(atime->trace, &err)) {
        atime_complain(err.text);
    }
    apapi_session_destroy(atime->session);
    region_watch_close(atime->regions); /* only now: the session wrote to its page */
    crossings_end(&atime->limits);
    apapi_event_rules_clear(&atime->rules);
    if (atime->output > STDERR_FILENO) {
        close(atime->output);
    }
    if (atime->markdown >= 0) {
        close(atime->markdown);
    }
    process_close(&atime->process);
}

int main(int argc, char **argv)
{
    static struct options options;
    static struct atime atime = {
        .options = &options, .process = {.fd = -1}, .output = -1, .markdown = -1}; /* large */
    int status = options_parse(argc, argv, &options);

    if (status >= 0) {
        return status;
    }
    apapi_source_set("descriptors", "close_on_exec",
                     "all"); /* the program inherits no descriptors */
    status = atime_open_all(&atime);
    if (status < 0) {
        status = atime_measure(&atime);
    }
    atime_close_all(&atime);
    return status;
}
