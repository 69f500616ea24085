/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi top: the steps that run on this machine, see apapi-top(1). */
#include "base/text.h"
#include "cli/steps/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/count_of.h"
#include "base/hostlist.h"
#include "base/positive.h"
#include "cli/command.h"
#include "cli/grid.h"
#include "cli/top/top_screen.h"
#include "config/config.h"

#define COMMAND "top"
#define DELAY_MIN_S 0.1
#define DELAY_MAX_S 86400.0

static const char *const sorts[] = {[TOP_BY_JOB] = "job",
                                    [TOP_BY_POWER] = "power",
                                    [TOP_BY_ENERGY] = "energy",
                                    [TOP_BY_TIME] = "time"};
#define SORTS COUNT_OF(sorts)

struct top {
    const char *dir; /* NULL: that of apapi.conf */
    const char *jobs;
    struct top_filter filter;
    struct top_form form;
    struct top_view view;
    uint64_t delay_ns;
    unsigned long iterations; /* 0: no end */
    bool json, once, batch, screen;
    bool found; /* something, in one of the looks */
};

/* --- options -------------------------------------------------------------------------------- */

static int set_delay(void *target, const char *text, struct apapi_error *err)
{
    struct top *top = target;
    char *end;
    double seconds = strtod(text, &end);

    if (*text < '0' || *text > '9' || *end || !(seconds >= DELAY_MIN_S && seconds <= DELAY_MAX_S)) {
        return apapi_fail(err, EINVAL, "--delay=%.40s: not a number of seconds from 0.1 to 86400",
                          text);
    }
    top->delay_ns = (uint64_t)(seconds * NS_PER_S);
    return 0;
}

static int set_iterations(void *target, const char *text, struct apapi_error *err)
{
    struct top *top = target;
    top->iterations = positive_number(text, UINT32_MAX);
    return top->iterations
               ? 0
               : apapi_fail(err, EINVAL, "--iterations=%.40s: not a number from 1 on", text);
}

static int top_command_set_sort(void *target, const char *text, struct apapi_error *err)
{
    struct top *top = target;
    for (size_t i = 0; i < SORTS; i++) {
        if (strcmp(sorts[i], text) == 0) {
            top->form.sort = (enum top_sort)i;
            return 0;
        }
    }
    return apapi_fail(err, EINVAL, "--sort=%.40s: valid are job, power, energy and time", text);
}

static int no_node(void *context, const char *name)
{
    (void)context;
    (void)name;
    return 0;
}

static int set_nodes(void *target, const char *text, struct apapi_error *err)
{
    struct top *top = target;
    if (hostlist_each(text, no_node, NULL) <= 0) {
        return apapi_fail(err, EINVAL, "'%.100s' is not a list of nodes like n[1-4]", text);
    }
    top->filter.nodes = text;
    return 0;
}

static int top_command_set_units(void *top, const char *text, struct apapi_error *err)
{
    return report_unit_parse(text, &((struct top *)top)->form.unit, err);
}

static const struct option_row options[] = {
    {'d', "delay", "=SECONDS", "time between two updates, 0.1 or more; default: 2",
     TO_CALL(set_delay)},
    {0, "iterations", "=N", "end after N updates", TO_CALL(set_iterations)},
    {'n', "iterations", "=N", NULL, TO_CALL(set_iterations)}, /* old name */
    {'1', "once", NULL, "one update, in plain text", TO_FLAG(struct top, once)},
    {'b', "batch", NULL, "plain text also on a terminal, one table after the other",
     TO_FLAG(struct top, batch)},
    {0, "json", NULL, "for programs, one line for each update", TO_FLAG(struct top, json)},
    {'j', "jobs", "=JOB[.STEP],...", "17, 17.batch, 17_3 or 17_* of an array, 17+1",
     TO_TEXT(struct top, jobs)},
    {'u', "user", "=USER,...", "names or numbers", TO_TEXT(struct top, filter.users)},
    {'N', "nodelist", "=NODES", "as n[1-4]; if several nodes are on one machine",
     TO_CALL(set_nodes)},
    {0, "node-names", NULL, "show the node's name even if there is only one",
     TO_FLAG(struct top, form.nodes)},
    {0, "nodes", NULL, NULL, TO_FLAG(struct top, form.nodes)}, /* old name */
    {'e', "events", NULL, "also show a line for each domain and each event",
     TO_FLAG(struct top, form.events)},
    {0, "sort", "=WHAT", "job, power, energy or time", TO_CALL(top_command_set_sort)},
    {0, "units", "=UNIT", "unit of energies (JSON: always J): auto, J, kJ, Wh or kWh",
     TO_CALL(top_command_set_units)},
    {0, "dir", "=DIR", "folder of the live pages, instead of live_dir of\napapi.conf",
     TO_TEXT(struct top, dir)},
    {'v', "verbose", NULL, "also show files that are not pages of a running step",
     TO_FLAG(struct top, form.verbose)},
    {0}};

static const struct option_table table = {
    .program = "apapi " COMMAND,
    .head = "usage: apapi top [OPTION]...\n"
            "Show the measured steps that run on this machine: power now, energy so far, by\n"
            "domain. Root sees all steps, users their own. Each step has the figures of its\n"
            "whole node: steps do not add up.\n",
    .foot = "Keys: w, j, t, n sort by power, energy, time, job; e events; space updates now; q\n"
            "quits.\n"
            "Exit status: 0 done, 1 no step of -j was found, or failure, 2 wrong usage.\n",
    .column = 29,
    .rows = options};

/* --- looks ---------------------------------------------------------------------------------- */

static int add_page(const struct apapi_live_page *page, void *context)
{
    struct top *top = context;

    return top_wants(&top->filter, page) ? top_add(&top->view, page) : 0;
}

static int top_command_look(struct top *top)
{
    struct apapi_error err = {0};

    top_clear(&top->view);
    top->view.mono_ns = clock_monotonic_ns();
    top->view.unix_ns = (int64_t)clock_ns(CLOCK_REALTIME);
    if (apapi_live_scan(top->dir, add_page, top, &top->view.counts, &err) ||
        top_work_out(&top->view, top->form.sort)) {
        screen_close();
        return command_fail(COMMAND, *err.text ? err.text : strerror(errno));
    }
    top->found = top->found || top->view.count > 0;
    return 0;
}

static int show_on_screen(struct top *top)
{
    char *text = NULL;
    size_t size, rows;
    FILE *out = open_memstream(&text, &size);

    top->form.width = screen_size(&rows);
    if (!text_of_stream(out, &text, out ? top_print_text(&top->view, &top->form, out) : -1)) {
        return -1;
    }
    screen_show(text);
    free(text);
    return 0;
}

static int top_command_show(struct top *top, bool first)
{
    int result;

    if (top->screen) {
        result = show_on_screen(top);
    } else if (top->json) {
        result = top_print_json(&top->view, top->form.events);
    } else {
        fputs(first ? "" : "\n", stdout);
        top->form.width = terminal_width();
        result = top_print_text(&top->view, &top->form, stdout);
    }
    if (result) {
        screen_close();
        return command_fail(COMMAND, "no memory");
    }
    return top->screen ? 0 : command_finish(COMMAND, EXIT_SUCCESS);
}

/* --- the loop ------------------------------------------------------------------------------- */

/* @return whether to take a new snapshot. */
static bool top_command_obey(struct top *top, char key)
{
    static const struct {
        char key;
        enum top_sort sort;
    } keys[] = {{'n', TOP_BY_JOB}, {'w', TOP_BY_POWER}, {'j', TOP_BY_ENERGY}, {'t', TOP_BY_TIME}};

    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        if (keys[i].key == key) {
            top->form.sort = keys[i].sort;
            top_sort(&top->view, top->form.sort);
        }
    }
    if (key == 'e') {
        top->form.events = !top->form.events;
    }
    return key == ' ';
}

/* @return false: quit. */
static bool wait_on_screen(struct top *top, uint64_t until_ns)
{
    for (;;) {
        char key = '\0';
        enum screen_event event = screen_wait(until_ns, &key);

        if (event == SCREEN_QUIT || (event == SCREEN_KEY && key == 'q')) {
            return false;
        }
        if (event == SCREEN_TIME || (event == SCREEN_KEY && top_command_obey(top, key))) {
            return true;
        }
        if (show_on_screen(top)) {
            return true; /* the next snapshot shows the error */
        }
    }
}

static bool wait_until(struct top *top, uint64_t until_ns)
{
    const struct timespec until = {.tv_sec = (time_t)(until_ns / NS_PER_S),
                                   .tv_nsec = (long)(until_ns % NS_PER_S)};

    if (top->screen) {
        return wait_on_screen(top, until_ns);
    }
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) {
    }
    return true;
}

static int look_again_and_again(struct top *top)
{
    for (unsigned long count = 1;; count++) {
        int status = top_command_look(top);

        if (status == 0) {
            status = top_command_show(top, count == 1);
        }
        if (status || count == top->iterations) {
            return status;
        }
        if (!wait_until(top, top->view.mono_ns + top->delay_ns)) {
            return EXIT_SUCCESS;
        }
    }
}

static int top_command_run(struct top *top)
{
    int status;

    if (!*top->dir) {
        return command_fail(COMMAND, "live_dir is off: running steps cannot be shown");
    }
    top->screen = !top->json && !top->batch && screen_is_possible();
    if (top->screen) {
        top->form.hint = "  sort: w j t n  events: e  quit: q";
        screen_open();
    }
    status = look_again_and_again(top);
    screen_close();
    if (status || !top->jobs || top->found) {
        return status;
    }
    return top->json || top->screen
               ? command_fail(COMMAND, "no such step is being measured on this machine")
               : EXIT_FAILURE; /* the table shows the error */
}

static int parse_and_run(struct top *top, struct config *config, int argc, char **argv)
{
    struct apapi_error err;
    int status = command_options(&table, argc, argv, top);

    if (status >= 0) {
        return status;
    }
    if (top->once) {
        top->iterations = 1;
        top->batch = true;
    }
    if (optind < argc) {
        return command_refuse(COMMAND, "it takes options only; see 'apapi help top'");
    }
    if (job_list_parse(top->jobs, &top->filter.jobs, &err)) {
        return errno == EINVAL ? command_refuse(COMMAND, err.text)
                               : command_fail(COMMAND, err.text);
    }
    top->form.filtered = top->jobs || top->filter.users || top->filter.nodes;
    config_read(config, config_path(), NULL); /* `apapi config --check` reports its errors */
    if (!top->dir) {
        top->dir = config->live_dir;
    }
    return top_command_run(top);
}

int top_command(int argc, char **argv)
{
    static struct top top = {.delay_ns = UINT64_C(2000000000)};
    struct config config;
    int status;

    config_defaults(&config);
    status = parse_and_run(&top, &config, argc, argv);
    config_clear(&config);
    top_clear(&top.view);
    job_list_free(&top.filter.jobs);
    return status;
}
