/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi list for people. */
#include <math.h>
#include <stdio.h>

#include "base/count_of.h"
#include "base/duration.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/grid.h"
#include "cli/list/list.h"

static const struct grid_column columns[] = {
    {"event", false},  {"value", true},    {"unit", false}, {"kind", false},
    {"domain", false}, {"range", true},    {"width", true}, {"guard", true},
    {"update", true},  {"measured", true}, {"", false},     {"description", false}};

/* "24.82 kJ", or the reason if there is no value. */
static void value_text(const struct listed_event *listed, char *text, size_t size)
{
    if (*listed->error) {
        snprintf(text, size, "%s", listed->error);
    } else {
        units_total(text, size, listed->value, listed->event.unit);
    }
}

static const char *domain_text(enum apapi_domain domain)
{
    return domain == APAPI_DOMAIN_NONE ? "" : apapi_domain_name(domain);
}

/* "1.00 ms", "below 0.10 ms"; "" if it is not known. */
static void list_text_period(char *text, size_t size, const char *relation, double seconds)
{
    char period[UNITS_SIZE];

    if (seconds > 0) {
        units_short(period, sizeof period, seconds);
        snprintf(text, size, "%s%s", relation, period);
    }
}

static void list_text_measured(char *text, size_t size, const struct listed_update *update)
{
    list_text_period(text, size, "", update->measured_s);
    list_text_period(text, size, "below ", update->below_s);
    list_text_period(text, size, "above ", update->above_s);
}

static void list_text_put_updates(struct grid *grid, const struct listed_event *listed)
{
    char stated[UNITS_SIZE] = "", measured[2 * UNITS_SIZE] = "";

    list_text_period(stated, sizeof stated, "", duration(listed->event.update_ns) / NS_PER_S);
    list_text_measured(measured, sizeof measured, &listed->update);
    grid_put(grid, stated);
    grid_put(grid, measured);
}

static void list_text_put_range(struct grid *grid, const struct listed_event *listed)
{
    char range[UNITS_SIZE] = "", guard[UNITS_SIZE] = "";

    if (!isnan(listed->range)) {
        units_quantity(range, sizeof range, listed->range, listed->event.unit);
    }
    if (!isnan(listed->guard_s)) {
        units_short(guard, sizeof guard, listed->guard_s);
    }
    grid_put(grid, range);
    grid_format(grid, isnan(listed->width) ? "" : "%.0f bits", listed->width);
    grid_put(grid, guard);
}

static void list_text_put_event(struct grid *grid, const struct listed_event *listed)
{
    const struct apapi_event *event = &listed->event;
    char value[sizeof listed->error];

    value_text(listed, value, sizeof value);
    grid_put(grid, event->name);
    grid_put(grid, value);
    grid_put(grid, event->unit);
    grid_put(grid, apapi_kind_name(event->kind));
    grid_put(grid, domain_text(event->domain));
    list_text_put_range(grid, listed);
    list_text_put_updates(grid, listed);
    grid_put(grid, event->estimated ? "estimated" : "");
    grid_put(grid, listed->description);
}

static void list_text_put_ways(const char *component)
{
    struct apapi_way ways[APAPI_WAYS_MAX];
    size_t count = apapi_catalog_ways(component, ways);

    for (size_t i = 0; i < count; i++) {
        printf("%s%s %s", i ? ", " : "  sources in this order: ", apapi_source_name(ways[i].source),
               ways[i].name);
    }
    putchar('\n');
}

static void list_text_put_clean(const char *text)
{
    char clean[sizeof((struct apapi_error *)0)->text];

    text_clean(clean, sizeof clean, text);
    fputs(clean, stdout);
}

static int list_text_put_component(const struct listed *listed, const struct list_view *view)
{
    struct grid *grid = grid_create(columns, COUNT_OF(columns));

    printf("%s (", listed->wanted->name);
    list_text_put_clean(listed->reader->detail);
    puts(")");
    if (view->sources) {
        list_text_put_ways(listed->wanted->name);
    }
    for (size_t i = 0; i < listed->event_count; i++) {
        list_text_put_event(grid, &listed->events[i]);
    }
    return grid_finish(grid, NULL, stdout, view->width);
}

static void put_unreadable(const struct listed *listed, const struct list_view *view)
{
    printf("%s: not readable: ", listed->wanted->name);
    list_text_put_clean(listed->reason.text);
    putchar('\n');
    if (view->sources) {
        list_text_put_ways(listed->wanted->name);
    }
}

static void put_slow(const struct listed *listed, const struct list_view *view)
{
    printf("%s: slow, name it to see its events: apapi list %s\n", listed->wanted->name,
           listed->wanted->name);
    if (view->sources) {
        list_text_put_ways(listed->wanted->name);
    }
}

static void list_text_put_names(const struct listed *components, size_t count, size_t width)
{
    static const char title[] = "also known to PAPI, by name: ";
    char names[1024] = "";
    size_t used = 0;

    for (size_t i = 0; i < count && used < sizeof names; i++) {
        if (components[i].state == LISTED_NAME) {
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "",
                                     components[i].wanted->name);
        }
    }
    if (used > 0) {
        fputs(title, stdout);
        terminal_put(stdout, names, sizeof title - 1, width);
    }
}

static bool list_text_is_here(const struct listed *listed)
{
    return listed->state == LISTED_OPEN || listed->state == LISTED_SLOW;
}

int list_print_names(const struct listed *components, size_t count, const struct list_view *view)
{
    for (size_t i = 0; i < count; i++) {
        if (!view->events && list_text_is_here(&components[i])) {
            puts(components[i].wanted->name);
        }
        for (size_t j = 0; view->events && j < components[i].event_count; j++) {
            puts(components[i].events[j].event.name);
        }
    }
    return 0;
}

int list_print_text(const struct listed *components, size_t count, const struct list_view *view)
{
    for (size_t i = 0; i < count; i++) {
        if (components[i].state == LISTED_OPEN && list_text_put_component(&components[i], view)) {
            return -1;
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (components[i].state == LISTED_UNREADABLE) {
            put_unreadable(&components[i], view);
        } else if (components[i].state == LISTED_SLOW) {
            put_slow(&components[i], view);
        }
    }
    list_text_put_names(components, count, view->width);
    return 0;
}
