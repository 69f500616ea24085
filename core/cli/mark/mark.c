/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi mark: marks a region of a job script. */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apapi/error.h"
#include "base/array.h"
#include "base/child.h"
#include "base/clock.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/command.h"
#include "regions/message.h"

/* --- to the sampler ------------------------------------------------------------------------- */

#define PATIENCE_NS UINT64_C(200000000)
#define RETRY_MS 5

static int mark_receive(int channel, struct region_message *answer, uint64_t end_ns)
{
    struct pollfd ready = {.fd = channel, .events = POLLIN};
    int result;

    while ((result = region_receive(channel, answer, NULL)) && errno == EAGAIN) {
        int wait_ms = clock_left_ms(end_ns);

        if (wait_ms == 0 || (poll(&ready, 1, wait_ms) < 0 && errno != EINTR)) {
            errno = ETIMEDOUT;
            return -1;
        }
    }
    return result;
}

static int mark_send(const struct region_message *message, struct region_message *answer,
                     struct apapi_error *err)
{
    const char *page = secure_getenv("APAPI_LIVE_PAGE");
    uint64_t end_ns = clock_monotonic_ns() + PATIENCE_NS;
    int channel, result = 0, code;

    if (!page || !*page) {
        return apapi_fail(err, ENOTCONN,
                          "this is no measured step: the variable APAPI_LIVE_PAGE is not set");
    }
    /* while the sampler has no room for another connection, try again */
    while ((channel = region_connect(page)) < 0 && errno == EAGAIN && clock_left_ms(end_ns) > 0) {
        poll(NULL, 0, RETRY_MS);
    }
    if (channel < 0) {
        return apapi_fail(err, errno, "the sampler of %.120s: %s", page, strerror(errno));
    }
    if (region_send(channel, message, -1) || mark_receive(channel, answer, end_ns)) {
        result = apapi_fail(err, errno, "the step's sampler: %s", strerror(errno));
    } else if (answer->kind == REGION_REFUSED) {
        result = apapi_fail(err, EINVAL, "%.200s", answer->name);
    }
    code = errno;
    close(channel);
    errno = code;
    return result;
}

/* --- the command ---------------------------------------------------------------------------- */

#define COMMAND "mark"
#define NAME_MOST (sizeof((struct region_message *)0)->name - 1)

struct options {
    bool strict, verbose;
    char **words; /* NAME and what follows it */
    int count;
};

static const struct option_row rows[] = {
    {0, "strict", NULL, "exit status 1 if the mark has no effect", TO_FLAG(struct options, strict)},
    {'v', "verbose", NULL, "say why, if this is no measured step",
     TO_FLAG(struct options, verbose)},
    {0}};

static const struct option_table table = {
    .program = "apapi " COMMAND,
    .head =
        "usage: apapi mark [OPTION]... begin NAME\n"
        "       apapi mark [OPTION]... end NAME\n"
        "       apapi mark [OPTION]... read NAME\n"
        "       apapi mark [OPTION]... run NAME -- COMMAND [ARG]...\n"
        "       apapi mark [OPTION]... fom NAME VALUE [UNIT]\n"
        "Mark the regions of a script, whose energy the record of the step then names: where\n"
        "region NAME begins and ends, the energy in it so far, or a region around one\n"
        "COMMAND; and a figure of merit, a result that the energy is compared with. Outside of\n"
        "a measured step this does nothing.\n",
    .foot = "Exit status: 0 done, 1 failure (with --strict), 2 wrong usage; of 'run' that of\n"
            "COMMAND.\n",
    .column = 17,
    .words_end = true,
    .rows = rows};

/* Report that a mark has no effect. The script goes on without --strict. @return exit status */
static int say(const struct options *options, const struct apapi_error *err, int code)
{
    if (code != ENOTCONN || options->strict || options->verbose) {
        command_fail(COMMAND, "%s", err->text);
    }
    return options->strict ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int mark_region(const struct options *options, enum region_message_kind kind)
{
    struct region_message message, answer = {.value = NAN};
    struct real_number number;
    struct apapi_error err;

    region_message_init(&message, kind, options->words[0]);
    if (kind == REGION_FOM) {
        if (real_number_parse(options->words[1], &number) || *number.rest) {
            return command_refuse(COMMAND, "fom: VALUE '%.60s' is not a number", options->words[1]);
        }
        message.value = number.value;
        snprintf(message.unit, sizeof message.unit, "%s",
                 options->count > 2 ? options->words[2] : "");
    }
    if (mark_send(&message, &answer, &err)) {
        return say(options, &err, errno);
    }
    if (kind == REGION_READ && !isfinite(answer.value)) {
        return say(options, &(struct apapi_error){"the energy is not known yet"}, EAGAIN);
    } else if (kind == REGION_READ) {
        const struct units_text share = units_share(answer.within_j / fabs(answer.value));

        printf("%.9g J%s%s\n", answer.value, *share.text ? " " : "", share.text);
    }
    return command_finish(COMMAND, EXIT_SUCCESS);
}

static int mark_run(const struct options *options)
{
    struct signals signals;
    struct apapi_error err;
    struct child_end end;
    int result, code;

    mark_region(options, REGION_BEGIN);
    signals_catch(&signals);
    result = child_run(options->words + 1, &signals, NULL, &end, &err);
    code = errno;
    signals_restore(&signals);
    if (result) {
        command_fail(COMMAND, "%s", err.text);
    }
    mark_region(options, REGION_END);
    if (!result && WIFSIGNALED(end.status)) { /* end by the same signal, without a second core */
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        signal(WTERMSIG(end.status), SIG_DFL);
        raise(WTERMSIG(end.status));
    }
    return result ? child_start_failure(code) : child_exit_code(end.status);
}

static const struct mark_verb {
    const char *name;
    enum region_message_kind kind;
    int least, most; /* number of words after the verb; most 0: any number, as for `run` */
} verbs[] = {{"begin", REGION_BEGIN, 1, 1},
             {"end", REGION_END, 1, 1},
             {"read", REGION_READ, 1, 1},
             {"run", REGION_BEGIN, 2, 0},
             {"fom", REGION_FOM, 2, 3}};

static int mark_command_refuse(const char *verb)
{
    return command_refuse(
        COMMAND,
        "%.60s%sexpected begin, end or read NAME, run NAME -- COMMAND, or fom NAME VALUE [UNIT]",
        verb, *verb ? ": " : "");
}

int mark_command(int argc, char **argv)
{
    static struct options options;
    int status = option_table_read(&table, argc, argv, &options);
    const char *name = argc > optind ? argv[optind] : "";

    if (status >= 0) {
        return status;
    }
    options.words = argv + optind + 1;
    options.count = argc - optind - 1;
    for (size_t i = 0; i < COUNT_OF(verbs); i++) {
        const struct mark_verb *verb = &verbs[i];

        if (strcmp(verb->name, name) != 0) {
            continue;
        }
        if (verb->most == 0 && options.count > 1 && strcmp(options.words[1], "--") == 0) {
            options.words[1] = options.words[0];
            options.words++;
            options.count--;
        }
        if (options.count < verb->least || (verb->most > 0 && options.count > verb->most)) {
            return mark_command_refuse(name);
        }
        if (*options.words[0] && strlen(options.words[0]) <= NAME_MOST) {
            return verb->most == 0 ? mark_run(&options) : mark_region(&options, verb->kind);
        }
        return command_refuse(COMMAND, "NAME has %zu bytes, expected 1 to %zu",
                              strlen(options.words[0]), NAME_MOST);
    }
    return mark_command_refuse(name);
}
