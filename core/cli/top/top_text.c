/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi top for people. */
#include <math.h>
#include <string.h>
#include <time.h>

#include "base/count_of.h"
#include "base/duration.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/grid.h"
#include "cli/steps/view.h"

#define CELL_SIZE 48
#define NAME_LEAST 6 /* minimum width of a name */
#define EVENT_LEAST 20

/* Columns of the steps; the domains' follow DOMAIN. */
enum { STEP, USER, NODE, STATE, ELAPSED, POWER, DOMAIN, ENERGY = DOMAIN + APAPI_DOMAINS - 1, NAME };

static const struct grid_column step_columns[] = {[STEP] = {"step", false},
                                                  [USER] = {"user", false},
                                                  [NODE] = {"node", false},
                                                  [STATE] = {"state", false},
                                                  [ELAPSED] = {"elapsed", true},
                                                  [POWER] = {"power", true},
                                                  [DOMAIN] = {"package", true},
                                                  {"dram", true},
                                                  {"gpu", true},
                                                  {"core", true},
                                                  {"uncore", true},
                                                  {"psys", true},
                                                  {"nodepower", true},
                                                  [ENERGY] = {"energy", true},
                                                  [NAME] = {"job name", false}};

enum { STEP_COLUMNS = COUNT_OF(step_columns) };
_Static_assert(STEP_COLUMNS == NAME + 1, "a column for each domain");

enum { EVENT_STEP, EVENT_NODE, EVENT_DOMAIN, EVENT_NOW, EVENT_TOTAL, EVENT_NAME };

static const struct grid_column event_columns[] = {
    [EVENT_STEP] = {"step", false},     [EVENT_NODE] = {"node", false},
    [EVENT_DOMAIN] = {"domain", false}, [EVENT_NOW] = {"now", true},
    [EVENT_TOTAL] = {"total", true},    [EVENT_NAME] = {"event", false}};

/* Which columns and marks are used. */
struct content {
    bool domains[APAPI_DOMAINS];
    bool nodes;
    bool shared; /* several steps on one node */
    bool estimated, failed, stale;
};

/* --- cells ---------------------------------------------------------------------------------- */

/* It precedes the number, which keeps its column. */
static const char *top_text_mark_of(const struct top_figure *figure)
{
    return figure->failed ? "!" : figure->stale ? "?" : figure->estimated ? "*" : "";
}

static void put_now(struct grid *grid, const struct top_figure *figure, const char *unit)
{
    char text[CELL_SIZE];

    units_quantity(text, sizeof text, figure->now, unit);
    grid_format(grid, "%s%s", isnan(figure->now) ? "" : top_text_mark_of(figure), text);
}

static void top_text_put_energy(struct grid *grid, const struct top_figure *figure,
                                enum report_unit unit)
{
    char text[CELL_SIZE];

    if (isnan(figure->total)) {
        grid_put(grid, "-");
    } else {
        report_energy_text(text, sizeof text, figure->total, NAN, unit);
        grid_format(grid, "%s%s", top_text_mark_of(figure), text);
    }
}

static void top_text_put_domains(struct grid *grid, const struct top_figure domains[APAPI_DOMAINS],
                                 const struct content *content)
{
    put_now(grid, &domains[TOP_TOTAL], "W");
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        if (content->domains[d]) {
            put_now(grid, &domains[d], "W");
        } else {
            grid_put(grid, "");
        }
    }
}

static const char *state_text(enum apapi_live_state state)
{
    static const char *const texts[] = {[APAPI_LIVE_STARTING] = "starting",
                                        [APAPI_LIVE_RUNNING] = "",
                                        [APAPI_LIVE_ENDED] = "ended"};

    return texts[state];
}

static void put_who(struct grid *grid, const struct top_step *step, const struct content *content)
{
    char uid[CELL_SIZE] = "-";

    if (step->id.uid != APAPI_UNKNOWN) {
        snprintf(uid, sizeof uid, "%u", step->id.uid);
    }
    grid_put(grid, step->name);
    grid_put(grid, *step->id.user ? step->id.user : uid);
    grid_put(grid, content->nodes ? step->id.node : "");
    grid_put(grid, state_text(step->state));
}

static void top_text_put_step(struct grid *grid, const struct top_step *step,
                              const struct top_form *form, const struct content *content)
{
    char elapsed[CELL_SIZE] = "-";

    if (!isnan(step->elapsed_s)) {
        report_elapsed_text(elapsed, sizeof elapsed, step->elapsed_s);
    }
    put_who(grid, step, content);
    grid_put(grid, elapsed);
    top_text_put_domains(grid, step->domains, content);
    top_text_put_energy(grid, &step->domains[TOP_TOTAL], form->unit);
    grid_put(grid, step->id.job_name);
}

static void put_node(struct grid *grid, const struct top_node *node, const struct content *content)
{
    const char *const cells[] = {"node", "", content->nodes ? node->name : "", "", ""};

    for (size_t i = 0; i < COUNT_OF(cells); i++) {
        grid_put(grid, cells[i]);
    }
    top_text_put_domains(grid, node->domains, content);
    grid_put(grid, "");
    grid_put(grid, "");
}

/* --- tables --------------------------------------------------------------------------------- */

/* Find which marks must be explained. */
static void top_text_look_at(struct content *content, const struct top_figure *figure)
{
    const char *mark = isnan(figure->now) && isnan(figure->total) ? "" : top_text_mark_of(figure);

    content->estimated = content->estimated || *mark == '*';
    content->failed = content->failed || *mark == '!';
    content->stale = content->stale || *mark == '?';
}

static struct content find_content(const struct top_view *view, const struct top_form *form)
{
    struct content content = {.nodes = form->nodes || view->node_count > 1};

    for (size_t i = 0; i < view->count; i++) {
        const struct top_step *step = &view->steps[i];

        for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
            content.domains[d] = content.domains[d] || step->domains[d].measured;
            top_text_look_at(&content, &step->domains[d]);
        }
        for (size_t e = 0; form->events && e < step->event_count; e++) {
            top_text_look_at(&content, &step->events[e].figure);
        }
    }
    for (size_t i = 0; i < view->node_count; i++) {
        content.shared = content.shared || view->nodes[i].steps > 1;
    }
    return content;
}

static int top_text_put_steps(const struct top_view *view, const struct top_form *form,
                              const struct content *content, FILE *out)
{
    struct grid *grid = grid_create(step_columns, STEP_COLUMNS);

    for (size_t i = 0; i < view->count; i++) {
        top_text_put_step(grid, &view->steps[i], form, content);
    }
    for (size_t i = 0; i < view->node_count; i++) {
        if (view->nodes[i].steps > 1) {
            put_node(grid, &view->nodes[i], content);
        }
    }
    grid_yield(grid, USER, NAME_LEAST, false);
    grid_yield(grid, NODE, NAME_LEAST, false);
    for (int column = DOMAIN; column < ENERGY; column++) {
        grid_yield(grid, (size_t)column, GRID_WHOLE, true);
    }
    return grid_finish(grid, NULL, out, form->width);
}

static void top_text_put_event(struct grid *grid, const struct top_step *step,
                               const struct top_event *event, const struct content *content)
{
    bool energetic = event->kind == APAPI_KIND_ENERGY || event->kind == APAPI_KIND_POWER;
    char total[CELL_SIZE];

    if (!event->figure.measured) {
        return;
    }
    units_total(total, sizeof total, event->figure.total, event->unit);
    grid_put(grid, step->name);
    grid_put(grid, content->nodes ? step->id.node : "");
    grid_put(grid, event->domain == APAPI_DOMAIN_NONE ? "" : apapi_domain_name(event->domain));
    put_now(grid, &event->figure, event->now_unit);
    grid_put(grid, energetic || !isnan(event->figure.total) ? total : "");
    grid_put(grid, event->name);
}

/* A domain's line precedes its events'. */
static void put_parts(struct grid *grid, const struct top_step *step, const struct content *content)
{
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        const struct top_event whole = {.unit = "J",
                                        .now_unit = "W",
                                        .kind = APAPI_KIND_ENERGY,
                                        .domain = (enum apapi_domain)d,
                                        .figure = step->domains[d]};

        top_text_put_event(grid, step, &whole, content);
    }
    for (size_t i = 0; i < step->event_count; i++) {
        top_text_put_event(grid, step, &step->events[i], content);
    }
}

static int top_text_put_events(const struct top_view *view, const struct top_form *form,
                               const struct content *content, FILE *out)
{
    struct grid *grid = grid_create(event_columns, COUNT_OF(event_columns));

    for (size_t i = 0; i < view->count; i++) {
        put_parts(grid, &view->steps[i], content);
    }
    grid_yield(grid, EVENT_NODE, NAME_LEAST, true);
    grid_yield(grid, EVENT_DOMAIN, GRID_WHOLE, true);
    grid_yield(grid, EVENT_TOTAL, GRID_WHOLE, true);
    grid_yield(grid, EVENT_NAME, EVENT_LEAST, false);
    return grid_finish(grid, NULL, out, form->width);
}

/* --- around them ---------------------------------------------------------------------------- */

/* One line, cut at the edge of the terminal. */
static void top_text_put_line(FILE *out, const struct top_form *form, const char *text)
{
    char clean[2 * APAPI_TEXT_SIZE], cut[2 * APAPI_TEXT_SIZE + 4];

    text_clean(clean, sizeof clean, text);
    text_shorten(cut, sizeof cut, clean, form->width > NAME_LEAST ? form->width : sizeof cut, 0);
    fprintf(out, "%s\n", cut);
}

static void top_text_put_title(const struct top_view *view, const struct top_form *form, FILE *out)
{
    const char *node = view->node_count == 1 ? view->nodes->name : "";
    const char *hint = form->hint ? form->hint : "";
    time_t seconds = (time_t)(view->unix_ns / NS_PER_S);
    char time[CELL_SIZE], line[2 * APAPI_TEXT_SIZE];
    struct tm date = {0};

    localtime_r(&seconds, &date);
    strftime(time, sizeof time, "%Y-%m-%d %H:%M:%S", &date);
    if (view->count == 0) {
        snprintf(line, sizeof line, "apapi: %s is being measured on this machine  %s%s",
                 form->filtered             ? "no such step"
                 : view->counts.foreign > 0 ? "none of your steps"
                                            : "no step",
                 time, hint);
    } else {
        snprintf(line, sizeof line, "apapi: %zu step%s  %s%s%s%s", view->count,
                 text_plural(view->count), node, *node ? "  " : "", time, hint);
    }
    top_text_put_line(out, form, line);
}

static void top_text_put_note(FILE *out, const struct top_form *form, const char *text)
{
    fputs("  ", out);
    terminal_put(out, text, 2, form->width);
}

static void top_text_put_marks(const struct content *content, const struct top_form *form,
                               FILE *out)
{
    if (content->failed) {
        top_text_put_note(out, form, "! the latest reading of it failed");
    }
    if (content->stale) {
        top_text_put_note(out, form, "? not read for 10 s and more");
    }
    if (content->estimated) {
        top_text_put_note(out, form, "* estimated, by no meter");
    }
}

static void put_counts(const struct apapi_live_counts *counts, const struct top_form *form,
                       FILE *out)
{
    char text[128];

    if (counts->foreign > 0) {
        snprintf(text, sizeof text, "%zu step%s of other users %s not shown", counts->foreign,
                 text_plural(counts->foreign), counts->foreign == 1 ? "is" : "are");
        top_text_put_note(out, form, text);
    }
    if (form->verbose && counts->dead > 0) {
        snprintf(text, sizeof text, "%zu page%s left by a sampler that was killed", counts->dead,
                 text_plural(counts->dead));
        top_text_put_note(out, form, text);
    }
    if (form->verbose && counts->broken > 0) {
        snprintf(text, sizeof text, "%zu file%s not a live page of this version", counts->broken,
                 counts->broken == 1 ? " is" : "s are");
        top_text_put_note(out, form, text);
    }
}

int top_print_text(const struct top_view *view, const struct top_form *form, FILE *out)
{
    struct content content = find_content(view, form);

    top_text_put_title(view, form, out);
    if (top_text_put_steps(view, form, &content, out) ||
        (form->events && top_text_put_events(view, form, &content, out))) {
        return -1;
    }
    if (content.shared) {
        top_text_put_note(out, form,
                          "a step's figures are those of its whole node: steps do not add up");
    }
    top_text_put_marks(&content, form, out);
    put_counts(&view->counts, form, out);
    return 0;
}
