/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi top: the power of the steps that run on this machine. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/text.h"
#include "base/thread.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/records/input.h"
#include "cli/steps/steps.h"
#include "record/fields.h"
#include "render/table.h"

/* How steps are shown. */
struct top_form {
    enum top_sort sort;
    bool verbose;
    bool filtered; /* steps are selected by options */
    size_t width;  /* columns; 0: no limit */
    size_t height; /* lines of the screen, if it is cleared for each update; 0: no limit */
};

/* --- for people ----------------------------------------------------------------------------- */

#define CELL_SIZE (UNITS_SIZE + 8)
#define NAME_LEAST 6 /* least width of a name */

/* Columns of the steps. Columns of domains begin at DOMAIN. */
enum { STEP, USER, NODE, STATE, ELAPSED, POWER, DOMAIN, ENERGY = DOMAIN + APAPI_DOMAINS - 1, NAME };

#define DOMAIN_COLUMN(name)                                                                        \
    {                                                                                              \
        .title = (name), .form = TABLE_RIGHT, .optional = true                                     \
    }

static const struct table_column step_columns[] = {
    [STEP] = {.title = "step"},
    [USER] = {.title = "user", .least = NAME_LEAST},
    [NODE] = {.title = "node", .least = NAME_LEAST},
    [STATE] = {.title = "state"},
    [ELAPSED] = {.title = "elapsed", .form = TABLE_RIGHT},
    [POWER] = {.title = "power", .form = TABLE_RIGHT},
    [DOMAIN] = DOMAIN_COLUMN("package"),
    DOMAIN_COLUMN("dram"),
    DOMAIN_COLUMN("gpu"),
    DOMAIN_COLUMN("core"),
    DOMAIN_COLUMN("uncore"),
    DOMAIN_COLUMN("psys"),
    DOMAIN_COLUMN("nodepower"),
    [ENERGY] = {.title = "energy", .form = TABLE_RIGHT},
    [NAME] = {.title = "job name"}};

enum { STEP_COLUMNS = COUNT_OF(step_columns) };
_Static_assert(STEP_COLUMNS == NAME + 1, "a column for each domain");

/* Columns and marks that the table needs. */
struct content {
    bool domains[APAPI_DOMAINS];
    bool nodes;
    bool shared; /* several steps run on one node */
    bool estimated, failed, stale;
};

/* --- cells ---------------------------------------------------------------------------------- */

/* @return the mark before a number. The number stays aligned with others. */
static const char *mark_of(const struct top_figure *figure)
{
    return figure->failed ? "!" : figure->stale ? "?" : figure->estimated ? "*" : "";
}

/* A row of a step or node, with the powers of its domains. */
struct step_row {
    struct table_cell cells[STEP_COLUMNS];
    char powers[APAPI_DOMAINS][CELL_SIZE]; /* powers[0] is the total's */
};

static void fill_row(struct step_row *row, const struct top_figure domains[APAPI_DOMAINS],
                     const struct content *content)
{
    for (size_t i = 0; i < STEP_COLUMNS; i++) {
        row->cells[i] = (struct table_cell)CELL_TEXT("");
    }
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        if (d == TOP_TOTAL || content->domains[d]) {
            snprintf(row->powers[d], CELL_SIZE, "%s%s",
                     isnan(domains[d].now) ? "" : mark_of(&domains[d]),
                     units_quantity(domains[d].now, "W").text);
            row->cells[POWER + d].text = row->powers[d];
        }
    }
}

static const char *const states[] = {[APAPI_LIVE_STARTING] = "starting",
                                     [APAPI_LIVE_RUNNING] = "running",
                                     [APAPI_LIVE_ENDED] = "ended"};

static void put_step(const struct table *table, const struct top_step *step,
                     const struct content *content)
{
    const struct top_figure *total = &step->domains[TOP_TOTAL];
    char uid[CELL_SIZE] = "-", energy[CELL_SIZE] = "-";
    struct units_text elapsed = {"-"};
    struct step_row row;

    if (step->id.uid != APAPI_UNKNOWN) {
        snprintf(uid, sizeof uid, "%u", step->id.uid);
    }
    if (!isnan(step->elapsed_s)) {
        elapsed = elapsed_text(step->elapsed_s);
    }
    if (!isnan(total->total)) {
        snprintf(energy, sizeof energy, "%s%s", mark_of(total),
                 units_energy(total->total, total->uncertainty_j, true).text);
    }
    fill_row(&row, step->domains, content);
    row.cells[STEP].text = step->name;
    row.cells[USER].text = *step->id.user ? step->id.user : uid;
    row.cells[NODE].text = content->nodes ? step->id.node : "";
    row.cells[STATE].text = step->state == APAPI_LIVE_RUNNING ? "" : states[step->state];
    row.cells[ELAPSED].text = elapsed.text;
    row.cells[ENERGY].text = energy;
    row.cells[NAME].text = step->id.job_name;
    table_put(table, row.cells);
}

/* --- tables --------------------------------------------------------------------------------- */

/* Find out which columns are needed, and which marks must be explained. */
static struct content find_content(const struct top_view *view)
{
    struct content content = {.nodes = view->node_count > 1};

    for (size_t i = 0; i < view->count; i++) {
        const struct top_step *step = &view->steps[i];

        for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
            const struct top_figure *figure = &step->domains[d];
            char mark = isnan(figure->now) && isnan(figure->total) ? '\0' : *mark_of(figure);

            content.domains[d] |= figure->measured;
            content.estimated |= mark == '*';
            content.failed |= mark == '!';
            content.stale |= mark == '?';
        }
    }
    for (size_t i = 0; i < view->node_count; i++) {
        content.shared = content.shared || view->nodes[i].steps > 1;
    }
    return content;
}

static int put_steps(const struct top_view *view, const struct content *content, FILE *out)
{
    struct table table = table_begin(step_columns, STEP_COLUMNS, TABLE_FOR_PEOPLE, true, out);

    for (size_t i = 0; i < view->count; i++) {
        put_step(&table, &view->steps[i], content);
    }
    for (size_t i = 0; i < view->node_count; i++) {
        struct step_row row;

        if (view->nodes[i].steps > 1) {
            fill_row(&row, view->nodes[i].domains, content);
            row.cells[STEP].text = "node";
            row.cells[NODE].text = content->nodes ? view->nodes[i].name : "";
            table_put(&table, row.cells);
        }
    }
    return table_end(&table, NULL);
}

/* --- around them ---------------------------------------------------------------------------- */

/* Print the title, cut at the edge of the terminal. */
static void put_title(const struct top_view *view, const struct top_form *form)
{
    const char *node = view->node_count == 1 ? view->nodes->name : "";
    const struct units_text time = units_local_time(view->unix_ns, "%Y-%m-%d %H:%M:%S");
    char line[2 * APAPI_TEXT_SIZE], cut[sizeof line + 4];

    if (view->count == 0) {
        snprintf(line, sizeof line, "apapi: %s is being measured on this machine  %s",
                 form->filtered             ? "no such step"
                 : view->counts.foreign > 0 ? "none of your steps"
                                            : "no step",
                 time.text);
    } else {
        snprintf(line, sizeof line, "apapi: %zu step%s  %s%s%s", view->count,
                 text_plural(view->count), node, *node ? "  " : "", time.text);
    }
    text_shorten(cut, sizeof cut, line, form->width > NAME_LEAST ? form->width : sizeof cut, 0);
    puts(cut);
}

static void put_notes(const struct top_view *view, const struct content *content,
                      const struct top_form *form, FILE *out)
{
    const struct {
        size_t count; /* 0: the note does not apply */
        const char *one, *many;
    } notes[] = {{content->shared,
                  "a step's figures are those of its whole node: steps do not add up", NULL},
                 {content->failed, "! the latest reading of it failed", NULL},
                 {content->stale, "? not read for 10 s and more", NULL},
                 {content->estimated, "* estimated, by no meter", NULL},
                 {view->counts.foreign, "step of other users is not shown",
                  "steps of other users are not shown"},
                 {form->verbose ? view->counts.dead : 0, "page left by a sampler that was killed",
                  "pages left by a sampler that was killed"},
                 {form->verbose ? view->counts.broken : 0,
                  "file is not a live page of this version",
                  "files are not a live page of this version"}};

    for (size_t i = 0; i < COUNT_OF(notes); i++) {
        char text[128];

        if (notes[i].count > 0) {
            snprintf(text, sizeof text, "%s%s",
                     units_part(notes[i].many, "%zu ", notes[i].count).text,
                     notes[i].many && notes[i].count > 1 ? notes[i].many : notes[i].one);
            fputs("  ", out);
            terminal_put(out, text, 2, form->width);
        }
    }
}

static size_t count_lines(const char *text)
{
    size_t lines = 0;

    while ((text = strchr(text, '\n'))) {
        text++;
        lines++;
    }
    return lines;
}

static const char *skip_lines(const char *text, size_t count)
{
    while (count-- > 0) {
        text = strchr(text, '\n') + 1;
    }
    return text;
}

/* Print the first steps that fit on the screen, and all rows of nodes and notes. */
static void put_fitting(const char *text, size_t steps, size_t height)
{
    size_t rows = steps > 0 ? steps + 1 : 0;      /* with the headings */
    size_t around = 3 + count_lines(text) - rows; /* other lines, title, "N more" and cursor */
    size_t room = height > around ? height - around : 1;
    size_t shown = height == 0 || rows <= room + 1 ? rows : room;
    const char *rest = skip_lines(text, shown);

    printf("%.*s", (int)(rest - text), text);
    if (shown < rows) {
        printf("  %zu more\n", rows - shown);
    }
    fputs(skip_lines(rest, rows - shown), stdout);
}

static int top_print_text(const struct top_view *view, const struct top_form *form)
{
    struct content content = find_content(view);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    int result = out ? put_steps(view, &content, out) : -1;

    if (out) {
        put_notes(view, &content, form, out);
        result = fclose(out) ? -1 : result;
    }
    if (result == 0) {
        put_title(view, form);
        put_fitting(text, view->count, form->height);
    }
    free(text);
    return result;
}

/* --- for programs --------------------------------------------------------------------------- */

static const struct field step_fields[] = {
    FIELD_TEXT_OF(top_step, "cluster", false, id.cluster),
    FIELD_OF(top_step, "job", NUMBER, false, id.job),
    FIELD_OF(top_step, "array_job", NUMBER, false, id.array_job),
    FIELD_OF(top_step, "array_task", NUMBER, false, id.array_task),
    FIELD_OF(top_step, "het_job", NUMBER, false, id.het_job),
    FIELD_OF(top_step, "het_offset", NUMBER, false, id.het_offset),
    FIELD_TEXT_OF(top_step, "step", false, id.step),
    FIELD_TEXT_OF(top_step, "job_name", false, id.job_name),
    FIELD_TEXT_OF(top_step, "node", true, id.node),
    FIELD_OF(top_step, "tasks", NUMBER, false, id.tasks),
    FIELD_OF(top_step, "uid", NUMBER, false, id.uid),
    FIELD_TEXT_OF(top_step, "user", false, id.user),
    FIELD_OF(top_step, "elapsed_s", MEASURED, false, elapsed_s),
    FIELD_END};

static const struct field figure_fields[] = {
    FIELD_OF(top_figure, "power_w", MEASURED, false, now),
    FIELD_OF(top_figure, "energy_j", MEASURED, false, total),
    FIELD_OF(top_figure, "uncertainty_j", ROUGH, false, uncertainty_j),
    FIELD_OF(top_figure, "age_s", ROUGH, false, age_s),
    FIELD_OF(top_figure, "estimated", FLAG, false, estimated),
    FIELD_OF(top_figure, "failed", FLAG, false, failed),
    FIELD_OF(top_figure, "stale", FLAG, false, stale),
    {0}};

static void put_figure(struct json_writer *json, const char *key, const struct top_figure *figure)
{
    json_begin_object(json, key);
    fields_write(json, figure_fields, figure);
    json_end(json);
}

static void json_domains(struct json_writer *json, const struct top_figure *domains)
{
    json_begin_object(json, "domains");
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        if (domains[d].measured) {
            put_figure(json, apapi_domain_name(d), &domains[d]);
        }
    }
    json_end(json);
    if (domains[TOP_TOTAL].measured) {
        put_figure(json, "total", &domains[TOP_TOTAL]);
    }
}

/* Print one line to standard output. @return 0; -1 with errno ENOMEM. */
static int top_print_json(const struct top_view *view)
{
    struct json_writer json = {.out = stdout};

    json_begin_object(&json, NULL);
    json_put_count(&json, "version", 1);
    json_put_moment(&json, "time", view->unix_ns);
    json_begin_array(&json, "steps");
    for (size_t i = 0; i < view->count; i++) {
        const struct top_step *step = &view->steps[i];

        json_begin_object(&json, NULL);
        fields_write(&json, step_fields, step);
        json_put_text(&json, "state", states[step->state]);
        if (step->start_unix_ns > 0) {
            json_put_moment(&json, "start", step->start_unix_ns);
        }
        json_domains(&json, step->domains);
        json_end(&json);
    }
    json_end(&json);
    json_begin_array(&json, "nodes");
    for (size_t i = 0; i < view->node_count; i++) {
        json_begin_object(&json, NULL);
        json_put_text(&json, "node", view->nodes[i].name);
        json_put_count(&json, "steps", view->nodes[i].steps);
        json_domains(&json, view->nodes[i].domains);
        json_end(&json);
    }
    json_end(&json);
    json_put_count(&json, "foreign", view->counts.foreign);
    json_put_count(&json, "dead", view->counts.dead);
    json_put_count(&json, "broken", view->counts.broken);
    json_end(&json);
    return json_finish(&json);
}

/* --- the command ---------------------------------------------------------------------------- */

#define COMMAND "top"
#define DELAY_MIN_S 0.1
#define DELAY_MAX_S 86400.0

struct top {
    struct query query;
    const char *dir; /* NULL: live_dir of apapi.conf */
    struct top_form form;
    struct top_view view;
    uint64_t delay_ns;
    size_t iterations; /* 0: no end */
    bool json, once;
    bool clears; /* clear the terminal before each table */
    bool found;  /* an update has shown at least one step */
};

/* --- options -------------------------------------------------------------------------------- */

static int set_delay(void *target, const char *text, struct apapi_error *err)
{
    struct top *top = target;
    char *end;
    double seconds = strtod(text, &end);

    if (!strchr("0123456789.", *text) || *end ||
        !(seconds >= DELAY_MIN_S && seconds <= DELAY_MAX_S)) {
        return apapi_fail(err, EINVAL, "--delay=%.40s: not a number of seconds from 0.1 to 86400",
                          text);
    }
    top->delay_ns = (uint64_t)(seconds * NS_PER_S);
    return 0;
}

static const struct option_row options[] = {
    {'d', "delay", "=SECONDS", "time between two updates, 0.1 or more; default: 2",
     TO_CALL(set_delay)},
    {0, "iterations", "=N", "end after N updates", TO_COUNT(struct top, iterations)},
    {'n', "iterations", "=N", NULL, TO_COUNT(struct top, iterations)}, /* as top(1) */
    {'1', "once", NULL, "one update; the terminal is not cleared", TO_FLAG(struct top, once)},
    {0, "json", NULL, "for programs, one line for each update", TO_FLAG(struct top, json)},
    {'j', "jobs", "=JOB[.STEP],...", "17, 17.batch, 17_3 or 17_* of an array, 17+1",
     TO_WORDS(struct top, query.jobs)},
    {'u', "user", "=USER,...", "names or numbers", TO_WORDS(struct top, query.wanted.user)},
    {'N', "nodelist", "=NODES", "as n[1-4]; if several nodes are on one machine",
     TO_WORDS(struct top, query.wanted.nodes)},
    {0, "sort", "=WHAT", "job, power, energy or time",
     TO_CHOICE(struct top, form.sort, "job, power, energy and time")},
    {0, "dir", "=DIR", "folder of the live pages, instead of live_dir of\napapi.conf",
     TO_TEXT(struct top, dir)},
    {'v', "verbose", NULL, "also count files that are not pages of a running step",
     TO_FLAG(struct top, form.verbose)},
    {0}};

static const struct option_table table = {
    .program = "apapi " COMMAND,
    .head = "usage: apapi top [OPTION]...\n"
            "Show the measured steps that run on this machine: power now, energy so far, by\n"
            "domain. Root sees all steps, users their own. Each step has the figures of its\n"
            "whole node: steps do not add up.\n",
    .foot = "Exit status: 0 done, 1 no step of -j was found, or failure, 2 wrong usage.\n",
    .column = 29,
    .rows = options};

/* --- looks ---------------------------------------------------------------------------------- */

static int add_page(const struct apapi_live_page *page, void *context)
{
    struct top *top = context;

    return top_wants(&top->query, page) ? top_add(&top->view, page) : 0;
}

static int look(struct top *top)
{
    struct apapi_error err = {0};

    top_clear(&top->view);
    top->view.mono_ns = clock_monotonic_ns();
    top->view.unix_ns = (int64_t)clock_ns(CLOCK_REALTIME);
    if (apapi_live_scan(top->dir, add_page, top, &top->view.counts, &err) ||
        top_work_out(&top->view, top->form.sort)) {
        return command_fail(COMMAND, "%s", *err.text ? err.text : strerror(errno));
    }
    top->found = top->found || top->view.count > 0;
    return 0;
}

static int show(const struct top *top, bool first)
{
    int result;

    if (top->json) {
        result = top_print_json(&top->view);
    } else {
        fputs(top->clears ? "\033[H\033[2J" : first ? "" : "\n", stdout);
        result = top_print_text(&top->view, &top->form);
    }
    return result ? command_fail(COMMAND, "no memory") : command_finish(COMMAND, EXIT_SUCCESS);
}

/* --- the loop ------------------------------------------------------------------------------- */

static int run(struct top *top)
{
    const char *terminal = secure_getenv("TERM");
    int status;

    if (!*top->dir) {
        return command_fail(COMMAND, "live_dir is off: running steps cannot be shown");
    }
    top->clears = !top->once && isatty(STDOUT_FILENO) && terminal && *terminal &&
                  strcmp(terminal, "dumb") != 0;
    for (size_t count = 1;; count++) {
        struct timespec until;

        top->form.width = terminal_width();
        top->form.height = top->clears ? terminal_height() : 0;
        status = look(top);
        status = status ? status : show(top, count == 1);
        if (status || count == top->iterations) {
            break;
        }
        until = thread_deadline(top->view.mono_ns + top->delay_ns);
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) {
        }
    }
    if (status || !top->query.jobs || top->found) {
        return status;
    }
    return top->json ? command_fail(COMMAND, "no such step is being measured on this machine")
                     : EXIT_FAILURE; /* the table shows the error */
}

int top_command(int argc, char **argv)
{
    static struct top top = {.query = {.command = COMMAND, .of_nodes = true},
                             .delay_ns = UINT64_C(2000000000)};
    struct query *query = &top.query;
    int status = option_table_read(&table, argc, argv, &top);

    if (status >= 0) {
        return status;
    }
    if (optind < argc) {
        return command_refuse(COMMAND, "it takes options only; see 'apapi help top'");
    }
    top.iterations = top.once ? 1 : top.iterations;
    top.form.filtered = query->jobs || query->wanted.user || query->wanted.nodes;
    status = records_begin(query);
    top.dir = top.dir ? top.dir : query->config->live_dir;
    status = records_end(query, status ? status : run(&top));
    top_clear(&top.view);
    return status;
}
