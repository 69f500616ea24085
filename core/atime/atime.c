/* SPDX-License-Identifier: BSD-3-Clause */
/* atime: run a program and say what energy it cost, like time(1). */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "apapi/events.h"
#include "apapi/interval.h"
#include "apapi/session.h"
#include "atime/region_watch.h"
#include "atime/report.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/option_table.h"
#include "base/text.h"
#include "base/units.h"
#include "config/config.h"
#include "config/installed.h"
#include "limit/crossings.h"
#include "measure/domain.h"
#include "session/trace.h"

#define PATIENCE_NS UINT64_C(2000000000) /* wait for selected components: GPUs, a BMC */

/* --- options ---------------------------------------------------------------------------------- */

/** The options of the command line and the environment. The texts are borrowed. */
struct options {
    const char *components; /* NULL: the default */
    struct apapi_intervals intervals;
    int form;           /* index in `formats` */
    const char *output; /* path; NULL: standard error */
    const char *trace;  /* path; NULL: none */
    size_t runs, warmups;
    bool compare;
    char **other; /* --compare: the second program; NULL: none */
    bool verbose;
    size_t overflow_count;
    const char *overflows[LIMITS_MAX + 1]; /* as given */
    char **program;                        /* NULL-terminated */
};

static const struct {
    report_f report;
    compare_f compare; /* NULL: none */
} formats[] = {{report_table, compare_table}, {report_json, compare_json}, {report_csv, NULL}};

/* Print what is wrong. @return `status` */
static int complain(int status, const char *text)
{
    fprintf(stderr, "atime: %s\n", text);
    return status;
}

static int set_components(void *target, const char *text, struct apapi_error *err)
{
    struct options *options = target;

    options->components = text;
    return apapi_components_check(text, err);
}

static int set_intervals(void *target, const char *text, struct apapi_error *err)
{
    struct options *options = target;
    int result = apapi_intervals_parse(text, &options->intervals, err);

    for (size_t i = 0; i < options->intervals.count && result == 0; i++) {
        result = apapi_components_check(options->intervals.named[i].component, err);
    }
    return result;
}

/* Keep a threshold, and one too many; limits_open() parses them: a mistake takes several lines. */
static int set_overflow(void *target, const char *text, struct apapi_error *err)
{
    struct options *options = target;

    (void)err;
    if (options->overflow_count < COUNT_OF(options->overflows)) {
        options->overflows[options->overflow_count++] = text;
    }
    return 0;
}

static char components_help[256];

static const struct option_row option_rows[] = {
    {'c', "components", " LIST", components_help, TO_CALL(set_components)},
    {'t', "intervals", " LIST", "time between two readings: 100ms, or nvml:250ms:ipmi:3s",
     TO_CALL(set_intervals)},
    {'f', "format", " FORM", "table (default), json or csv",
     TO_CHOICE(struct options, form, "table, json and csv")},
    {'o', "output", " FILE", "report to FILE instead of standard error",
     TO_TEXT(struct options, output)},
    {0, "trace", " FILE", "write every reading to FILE as CSV", TO_TEXT(struct options, trace)},
    {0, "overflow", " TEXT",
     "when a threshold is crossed: 'total >= 5kJ : signal=USR1';\n"
     "may be repeated",
     TO_CALL(set_overflow)},
    {'r', "runs", " N", "run PROGRAM N times: mean, standard deviation, confidence",
     TO_COUNT(struct options, runs)},
    {0, "warmup", " N", "run PROGRAM N times before, without measuring",
     TO_COUNT(struct options, warmups)},
    {0, "compare", NULL, "two programs in turn, A [ARG]... -- B [ARG]...: the difference",
     TO_FLAG(struct options, compare)},
    {'v', "verbose", NULL, "all events, and how far the numbers can be trusted",
     TO_FLAG(struct options, verbose)},
    {0}};

static const struct option_table table = {
    .program = "atime",
    .head = "usage: atime [OPTION]... PROGRAM [ARG]...\n"
            "       atime -r N --compare [OPTION]... PROGRAM [ARG]... -- PROGRAM [ARG]...\n"
            "Run PROGRAM, and report the energy that the machine used meanwhile.\n",
    .foot = "Exit status: that of PROGRAM, 128+n if signal n ended it, 127 not found, 126 not\n"
            "executable; 2 wrong usage.\n",
    .column = 25,
    .words_end = true,
    .rows = option_rows};

/* @return whether the text is the number 1, in any base, like the original APAPI. */
static bool is_one(const char *text)
{
    char *end;

    return text && *text && strtol(text, &end, 0) == 1 && *end == '\0';
}

/* Divide the words at their first "--". @return -1: continue; otherwise the exit status. */
static int check_comparison(char **words, struct options *options)
{
    if (!options->compare) {
        return -1;
    }
    if (options->runs < 2) {
        return complain(USAGE_ERROR, "--compare: each program has to run several times: add -r 10");
    }
    if (!formats[options->form].compare) {
        return complain(USAGE_ERROR, "--compare: only with -f table or -f json");
    }
    for (size_t i = 1; words[0] && words[i]; i++) {
        if (strcmp(words[i], "--") == 0 && words[i + 1]) {
            words[i] = NULL;
            options->other = words + i + 1;
            return -1;
        }
    }
    return complain(USAGE_ERROR, "--compare: two programs are needed: A [ARG]... -- B [ARG]...");
}

/* Print errors and --help. @return -1: continue; otherwise the exit status. */
static int options_parse(int argc, char **argv, struct options *options)
{
    const char *components = secure_getenv("APAPI_CMPLIST");
    struct apapi_error err;
    int status;

    snprintf(components_help, sizeof components_help,
             "what to measure, for example rapl:nvml, or all\n"
             "(default: $APAPI_CMPLIST, else %s)",
             apapi_components_default());
    *options = (struct options){.intervals = {.default_ns = APAPI_INTERVAL_DEFAULT_NS}, .runs = 1};
    status = option_table_read(&table, argc, argv, options);
    if (status < 0 && optind == argc) {
        option_table_help(&table, stderr);
        status = USAGE_ERROR;
    }
    if (status < 0) {
        status = check_comparison(argv + optind, options);
    }
    options->program = argv + optind;
    options->verbose |= is_one(secure_getenv("APAPI_VERBOSE"));
    if (status < 0 && !options->components && components && *components &&
        set_components(options, components, &err)) {
        status = complain(USAGE_ERROR, err.text);
    }
    return status;
}

/* ---------------------------------------------------------------------------------------------- */

/* Files and objects that atime keeps open while it measures. */
struct atime {
    const struct options *options;
    int output; /* -1: not open */
    struct trace *trace;
    struct apapi_environment environment;
    struct apapi_event_rules rules;
    struct apapi_session *session;
    struct crossings limits;
    struct region_watch *regions; /* NULL: none */
    struct report reports[2];     /* of each program */
    int error;                    /* errno of a program that was not started; 0 */
};

/*
 * Create or truncate a file that a user named. @return a descriptor above standard error: if the
 * caller has closed standard error, messages must not get into the file.
 */
static int output_open(const char *path, struct apapi_error *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);

    if (fd >= 0 && fd <= STDERR_FILENO) {
        int higher = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

        close(fd);
        fd = higher;
    }
    return fd < 0 ? apapi_fail(err, errno, "cannot write %.160s: %s", path, strerror(errno)) : fd;
}

static int open_files(struct atime *atime, struct apapi_error *err)
{
    const char *output = atime->options->output;
    FILE *file;
    int fd;

    atime->output = output ? output_open(output, err) : STDERR_FILENO;
    if (atime->output < 0) {
        return -1;
    }
    if (!atime->options->trace) {
        return 0;
    }
    fd = output_open(atime->options->trace, err);
    if (fd < 0) {
        return -1;
    }
    if (output && files_clash(output, atime->options->trace)) {
        close(fd);
        return apapi_fail(err, EINVAL, "-o and --trace are the same file: %.160s", output);
    }
    file = fdopen(fd, "w");
    if (!file) {
        close(fd);
        return apapi_fail(err, ENOMEM, "no memory");
    }
    atime->trace = trace_create(file, atime->options->trace, err);
    return atime->trace ? 0 : -1;
}

/* Print each bad line of an event file, and each suspicious one. */
static void atime_print_problem(const struct apapi_problem *problem, void *context)
{
    (void)context;
    complain(EXIT_FAILURE, problem->text);
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

/* --- limits ----------------------------------------------------------------------------------- */

/* Print the mistake, the text and a caret; the first line begins with the program's name. */
static int limits_refuse(struct atime *atime, const char *text)
{
    char clean[sizeof((struct apapi_error *)0)->text], line[sizeof clean];

    atime->error = errno;
    fputs("atime: --overflow: ", stderr);
    while (text_next_line(&text, line, sizeof line)) {
        text_clean(clean, sizeof clean, line);
        fprintf(stderr, "%s\n", clean);
    }
    return USAGE_ERROR;
}

/* Call it before there are threads. @return -1: continue; otherwise the exit status. */
static int limits_open(struct atime *atime)
{
    static char node[APAPI_TEXT_SIZE];
    struct actor_config config = {.node = node,
                                  .said_by = "atime",
                                  .line_fd = STDERR_FILENO,
                                  .uid = getuid(),
                                  .parent = getpid(),
                                  .kill_wait_ns = KILL_WAIT_S * NS_PER_S};
    struct limit_list *list = &atime->limits.limits;
    struct apapi_error err;

    for (size_t i = 0; i < atime->options->overflow_count; i++) {
        if (limit_list_add(list, atime->options->overflows[i], &err) ||
            (list->limits[i].scope != LIMIT_NODE &&
             limit_refuse(&list->limits[i], LIMIT_METER, EINVAL,
                          "atime measures this node: steps and jobs are Slurm's", &err))) {
            return limits_refuse(atime, err.text);
        }
    }
    gethostname(node, sizeof node - 1);
    return list->count > 0 && crossings_open(&atime->limits, &config, &err)
               ? limits_refuse(atime, err.text)
               : -1;
}

/* ---------------------------------------------------------------------------------------------- */

/* @return -1: continue; otherwise the exit status. */
static int atime_open_all(struct atime *atime)
{
    const struct apapi_problem_sink sink = {atime_print_problem, NULL};
    const struct limit *waiting;
    struct apapi_error err;
    int status = limits_open(atime);

    if (status >= 0) {
        return status;
    }
    config_use_sources("atime");
    atime->regions = region_watch_open(&err);
    if (!atime->regions && errno != EALREADY && atime->options->verbose) {
        fprintf(stderr, "atime: no regions: %s\n", err.text);
    }
    apapi_environment_read(&atime->environment);
    if (apapi_event_rules_load(&atime->rules, &atime->environment, installed_path(INSTALLED_CONFIG),
                               &sink, &err) ||
        open_files(atime, &err) || atime_open_session(atime, &err)) {
        atime->error = errno;
        return complain(USAGE_ERROR, err.text);
    }
    /* a limit's component may not have opened in the time that atime waits for it */
    return crossings_set(&atime->limits, atime->session, &err) ||
                   ((waiting = crossings_waiting(&atime->limits)) &&
                    limit_refuse(waiting, LIMIT_METER, EBUSY, "its component is not ready", &err))
               ? limits_refuse(atime, err.text)
               : -1;
}

/* --- runs ------------------------------------------------------------------------------------- */

static void name_record(const struct report *report, struct apapi_record *record)
{
    char path[APAPI_TEXT_SIZE];

    record->id = APAPI_IDENTITY_UNKNOWN;
    record->id.node_index = 0;
    record->id.nodes = 1;
    record->id.uid = (uint32_t)getuid();
    record->ending = APAPI_ENDING_UNKNOWN;
    gethostname(record->id.node, sizeof record->id.node - 1);
    snprintf(path, sizeof path, "%s", report->program[0]);
    snprintf(record->id.name, sizeof record->id.name, "%s", basename(path));
}

static void unmeasured(struct apapi_record *record, const char *reason)
{
    struct apapi_measurement *m = &record->measurement;

    record->complete = false;
    snprintf(record->reason, sizeof record->reason, "%s", reason);
    *m = (struct apapi_measurement){.start_unix_ns = clock_unix_ns(), .covered = NAN};
    unmeasure_domains(m->domains);
}

static void runs_start(struct atime *atime, struct apapi_record *record)
{
    struct apapi_error err;

    record->complete = true;
    region_watch_begin(atime->regions);
    crossings_forget(&atime->limits);
    if (atime->trace) {
        trace_next_run(atime->trace);
    }
    if (apapi_session_start(atime->session, 0, &err)) {
        unmeasured(record, err.text);
    }
}

static void runs_stop(struct atime *atime, bool last, struct apapi_record *record)
{
    struct apapi_error err;

    if (!record->complete) {
        region_watch_end(atime->regions, NULL);
        return; /* the session was not started */
    }
    apapi_session_stop(atime->session, NULL);
    if (apapi_session_measurement(atime->session, &record->measurement, &err)) {
        unmeasured(record, err.text);
    }
    region_watch_end(atime->regions, record);
    if (last) {
        crossings_end(&atime->limits);
    } else {
        crossings_end_run(&atime->limits);
    }
    crossings_copy(&atime->limits, record);
}

static void add_process(pid_t pid, void *limits)
{
    if (crossings_add_task(limits, pid)) {
        fprintf(stderr, "atime: --overflow: no signals: %s\n", strerror(errno));
    }
}

/* The program runs even if the measurement fails. */
static int run_once(struct atime *atime, const struct signals *signals, struct report *report,
                    bool last, struct apapi_error *err)
{
    const struct child_started started = {add_process, &atime->limits};
    struct run *run = &report->runs[report->count];
    int result;

    name_record(report, &run->record);
    runs_start(atime, &run->record);
    result = child_run(report->program, signals, &started, &run->end, err);
    if (result == 0) {
        runs_stop(atime, last, &run->record);
        report->count++;
    }
    return result;
}

/* Run each program once. The first program runs whatever signals have come. */
static int runs_round(struct atime *atime, const struct signals *signals, struct report *reports,
                      size_t count, struct apapi_error *err)
{
    char name[APAPI_TEXT_SIZE];

    for (size_t i = 0; i < count && (i == 0 || signals_last(signals) == 0); i++) {
        bool last = i + 1 == count && reports[i].count + 1 == reports[i].runs_wanted;

        if (run_once(atime, signals, &reports[i], last, err)) {
            return -1;
        }
        if (isatty(STDERR_FILENO) && reports[i].runs_wanted > 1) {
            const struct run *run = &reports[i].runs[reports[i].count - 1];
            double energy_j = run_figure(run, ENERGY, WHOLE);

            text_clean(name, sizeof name, run->record.id.name);
            fprintf(stderr, "atime: \"%s\": run %zu of %zu%s%s\n", name, reports[i].count,
                    reports[i].runs_wanted, isnan(energy_j) ? "" : ", ",
                    isnan(energy_j) ? "" : units_quantity(energy_j, "J").text);
        }
    }
    return 0;
}

/* @return 0; 1: a signal has ended the warm-up; -1 with errno, as runs_measure(). */
static int runs_warm_up(const struct signals *signals, struct report *reports, size_t count,
                        struct apapi_error *err)
{
    for (size_t round = 0; round < reports->warmups; round++) {
        for (size_t i = 0; i < count; i++) {
            if (child_run(reports[i].program, signals, NULL, &reports[i].warmup, err)) {
                return -1;
            }
            if (signals_last(signals) != 0) {
                return 1;
            }
        }
    }
    return 0;
}

/*
 * Measure as often as `runs_wanted`, unless a signal arrives. Several programs take turns, so that
 * a machine that gets warmer or busier treats them alike.
 * @param count  of atime->reports; each gets `runs` and `count`; free them with runs_clear()
 * @return 0; -1 with errno if a program could not be started: no further run was started.
 */
static int runs_measure(struct atime *atime, size_t count, struct apapi_error *err)
{
    struct report *reports = atime->reports;
    struct signals signals;
    int result, error;

    for (size_t i = 0; i < count; i++) {
        reports[i].runs = calloc(reports[i].runs_wanted, sizeof *reports[i].runs);
        if (!reports[i].runs) {
            return apapi_fail(err, ENOMEM, "no memory");
        }
    }
    signals_catch(&signals);
    if (region_watch_publish(atime->regions, err) && atime->options->verbose) {
        fprintf(stderr, "atime: no regions: %s\n", err->text); /* the program runs without them */
    }
    result = runs_warm_up(&signals, reports, count, err);
    error = errno;
    while (result == 0 && reports->count < reports->runs_wanted) {
        result = runs_round(atime, &signals, reports, count, err);
        error = errno;
        if (signals_last(&signals) != 0) {
            break;
        }
    }
    region_watch_withdraw(atime->regions);
    signals_restore(&signals);
    errno = error;
    return result < 0 ? -1 : 0;
}

/* @return exit status of the first run that failed, or 0; without a run, of the last warm-up. */
static int runs_exit_code(const struct report *report)
{
    for (size_t i = 0; i < report->count; i++) {
        int code = child_exit_code(report->runs[i].end.status);

        if (code) {
            return code;
        }
    }
    return report->count == 0 ? child_exit_code(report->warmup.status) : 0;
}

static void runs_clear(struct report *report)
{
    for (size_t i = 0; i < report->count; i++) {
        apapi_record_clear(&report->runs[i].record);
    }
    free(report->runs);
    report->runs = NULL;
    report->count = 0;
}

/* ---------------------------------------------------------------------------------------------- */

/* Write the report, which is formatted as a whole before. */
static int atime_write(const struct atime *atime, struct apapi_error *err)
{
    const struct options *options = atime->options;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    int result = !out ? apapi_fail(err, ENOMEM, "no memory")
                 : options->other && atime->reports[1].count > 0
                     ? formats[options->form].compare(out, atime->reports, err)
                     : formats[options->form].report(out, atime->reports, err);

    if (out && fclose(out) == EOF && result == 0) {
        result = apapi_fail(err, ENOMEM, "no memory");
    }
    if (result == 0 && write_all(atime->output, text, size)) {
        result = apapi_fail(err, errno, "%.160s: %s",
                            options->output ? options->output : "standard error", strerror(errno));
        if (options->output && write_all(STDERR_FILENO, text, size) == 0) {
            result = 0;
            fprintf(stderr, "atime: the report stands here: %s\n", err->text);
        }
    }
    free(text);
    return result;
}

/* @return the exit status. */
static int atime_measure(struct atime *atime)
{
    const struct options *options = atime->options;
    size_t count = options->other ? 2 : 1;
    struct apapi_error err;
    int status = 0;

    for (size_t i = 0; i < count; i++) {
        atime->reports[i] = (struct report){.program = i ? options->other : options->program,
                                            .runs_wanted = options->runs,
                                            .warmups = options->warmups,
                                            .verbose = options->verbose};
    }
    if (runs_measure(atime, count, &err)) {
        status = child_start_failure(errno);
        atime->error = atime->reports[0].count > 0 ? 0 : errno;
        complain(EXIT_FAILURE, err.text);
    }
    if (atime->reports[0].count > 0 && atime_write(atime, &err)) {
        fprintf(stderr, "atime: no report: %s\n", err.text);
    }
    for (size_t i = 0; i < count; i++) {
        status = status ? status : runs_exit_code(&atime->reports[i]);
        runs_clear(&atime->reports[i]);
    }
    return status;
}

static void atime_close_all(struct atime *atime)
{
    struct apapi_error err;

    if (trace_finish(atime->trace, &err)) {
        complain(EXIT_FAILURE, err.text);
    }
    apapi_session_destroy(atime->session);
    region_watch_close(atime->regions); /* only now: the session wrote to its page */
    crossings_end(&atime->limits);
    apapi_event_rules_clear(&atime->rules);
    if (atime->output > STDERR_FILENO) {
        close(atime->output);
    }
}

/* With less than 128 KiB of stack, this process would be ended while it measures. */
static bool atime_has_stack(struct atime *atime)
{
    struct rlimit stack;

    if (getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur < 128 * UINT64_C(1024)) {
        complain(EXIT_FAILURE, "the stack has less than 128 KiB (ulimit -s)");
        atime->error = ENOMEM;
    }
    return atime->error == 0;
}

/* Run the program unmeasured if descriptors, memory, stack or threads are short: it may need fewer.
 */
static void atime_step_aside(const struct atime *atime)
{
    const struct options *options = atime->options;
    int error = atime->error;

    if ((error == EMFILE || error == ENFILE || error == ENOMEM || error == EAGAIN) &&
        options->runs == 1 && !options->other) {
        fputs("atime: the program is not measured\n", stderr);
        execvp(options->program[0], options->program);
    }
}

static void note_nothing(int number)
{
    (void)number;
}

/* Catch a signal instead of ignoring it, so that the program gets the disposition of atime. */
static void atime_survive(int number)
{
    if (signal(number, note_nothing) == SIG_IGN) {
        signal(number, SIG_IGN);
    }
}

int main(int argc, char **argv)
{
    static struct options options;
    static struct atime atime = {.options = &options, .output = -1}; /* large */
    int status = options_parse(argc, argv, &options);

    if (status >= 0) {
        return status;
    }
    /* the program's exit status counts even if report and trace have no reader, or reach a limit */
    atime_survive(SIGPIPE);
    atime_survive(SIGXFSZ);
    child_note_descriptors();
    status = atime_has_stack(&atime) ? atime_open_all(&atime) : EXIT_FAILURE;
    if (status < 0) {
        status = atime_measure(&atime);
    }
    atime_close_all(&atime);
    atime_step_aside(&atime);
    return status;
}
