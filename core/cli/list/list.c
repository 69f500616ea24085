/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi list: components, their events, how they are read, and how often their values change. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apapi/catalog.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/command.h"
#include "config/config.h"
#include "record/fields.h"
#include "render/table.h"

#define DESCRIPTION_SIZE 160
#define ANSWER_S 30 /* a BMC may need many seconds */

/** An event of `apapi list`. Unknown texts are "", other unknown numbers NaN. */
struct listed_event {
    struct apapi_event event;
    char description[DESCRIPTION_SIZE];
    double range;   /* value at which a counter wraps [event.unit] */
    double width;   /* of a counter's raw values [bits] */
    double guard_s; /* longest time between readings that cannot miss a wrap [s] */
    double value;   /* value of one reading [event.unit] */
    char error[64];
};

/** One component: its events, or the reason why it cannot be opened. */
struct listed {
    const char *name;
    enum listed_state { LISTED_OPEN, LISTED_UNREADABLE, LISTED_SLOW, LISTED_NAME } state;
    struct apapi_reader *reader; /* LISTED_OPEN */
    struct apapi_error reason;   /* LISTED_UNREADABLE */
    int error;                   /* errno that belongs to `reason` */
    struct listed_event *events;
    size_t event_count;
};

struct list {
    bool json, names; /* options */
    struct wanted wanted;
    struct listed components[WANTED_MAX];
};

/* --- for people ----------------------------------------------------------------------------- */

static const struct table_column columns[] = {{.title = "event"},
                                              {.title = "value", .form = TABLE_RIGHT},
                                              {.title = "unit"},
                                              {.title = "kind"},
                                              {.title = "domain"},
                                              {.title = "range", .form = TABLE_RIGHT},
                                              {.title = "width", .form = TABLE_RIGHT},
                                              {.title = "guard", .form = TABLE_SHORT},
                                              {.title = "update", .form = TABLE_SHORT},
                                              {.title = ""},
                                              {.title = "description"}};

static void put_event(const struct table *table, const struct listed_event *listed)
{
    const struct apapi_event *event = &listed->event;

    table_put(
        table,
        (const struct table_cell[]){
            CELL_TEXT(event->name),
            CELL_TEXT(*listed->error ? listed->error
                                     : units_total(listed->value, event->unit).text),
            CELL_TEXT(event->unit),
            CELL_TEXT(apapi_kind_name(event->kind)),
            CELL_TEXT(event->domain == APAPI_DOMAIN_NONE ? "" : apapi_domain_name(event->domain)),
            CELL_TEXT(isnan(listed->range) ? "" : units_quantity(listed->range, event->unit).text),
            CELL_TEXT(units_part(!isnan(listed->width), "%.0f bits", listed->width).text),
            CELL_OR_BLANK(listed->guard_s),
            {.value = duration(event->update_ns) / NS_PER_S,
             .text = event->update_ns > 0 ? NULL : ""},
            CELL_TEXT(event->estimated ? "estimated" : ""),
            CELL_TEXT(listed->description)});
}

static void put_names(const struct list *list)
{
    static const char title[] = "also known to PAPI, by name: ";
    char names[1024] = "";

    for (size_t i = 0; i < list->wanted.count; i++) {
        if (list->components[i].state == LISTED_NAME) {
            text_append(names, sizeof names, ", ", "%s", list->components[i].name);
        }
    }
    if (*names) {
        fputs(title, stdout);
        terminal_put(stdout, names, sizeof title - 1, terminal_width());
    }
}

static int list_print_text(const struct list *list)
{
    for (size_t i = 0; i < list->wanted.count; i++) {
        const struct listed *listed = &list->components[i];
        char clean[sizeof listed->reason.text];
        struct table table;

        if (listed->state == LISTED_OPEN) {
            text_clean(clean, sizeof clean, listed->reader->detail);
            printf("%s (%s)\n", listed->name, clean);
            table = table_begin(columns, COUNT_OF(columns), TABLE_FOR_PEOPLE, true, stdout);
            for (size_t k = 0; k < listed->event_count; k++) {
                put_event(&table, &listed->events[k]);
            }
            if (table_end(&table, NULL)) {
                return -1;
            }
        }
    }
    for (size_t i = 0; i < list->wanted.count; i++) {
        const struct listed *listed = &list->components[i];
        const char *name = listed->name;
        char clean[sizeof listed->reason.text];

        if (listed->state == LISTED_UNREADABLE) {
            text_clean(clean, sizeof clean, listed->reason.text);
            printf("%s: not readable: %s\n", name, clean);
        } else if (listed->state == LISTED_SLOW) {
            printf("%s: slow, name it to see its events: apapi list %s\n", name, name);
        }
    }
    put_names(list);
    return 0;
}

/* Print names of components; of events instead, if components were named. */
static int list_print_names(const struct list *list)
{
    for (size_t i = 0; i < list->wanted.count; i++) {
        const struct listed *listed = &list->components[i];

        if (!list->wanted.named && (listed->state == LISTED_OPEN || listed->state == LISTED_SLOW)) {
            puts(listed->name);
        }
        for (size_t j = 0; list->wanted.named && j < listed->event_count; j++) {
            puts(listed->events[j].event.name);
        }
    }
    return 0;
}

/* --- for programs --------------------------------------------------------------------------- */

static const struct field fields_of_listed[] = {
    FIELD_TEXT_OF(listed_event, "name", true, event.name),
    FIELD_TEXT_OF(listed_event, "description", false, description),
    FIELD_OF(listed_event, "kind", KIND, true, event.kind),
    FIELD_OF(listed_event, "domain", DOMAIN, false, event.domain),
    FIELD_TEXT_OF(listed_event, "unit", true, event.unit),
    FIELD_OF(listed_event, "counter", FLAG, true, event.accumulates),
    FIELD_OF(listed_event, "estimated", FLAG, true, event.estimated),
    FIELD_OF(listed_event, "range", EXACT, true, range),
    FIELD_OF(listed_event, "width_bits", EXACT, true, width),
    FIELD_OF(listed_event, "guard_s", EXACT, true, guard_s),
    FIELD_OF(listed_event, "value", EXACT, true, value),
    FIELD_OF(listed_event, "update_s", DURATION, false, event.update_ns),
    FIELD_TEXT_OF(listed_event, "error", false, error),
    FIELD_END};

static void put_json(struct json_writer *json, const struct listed *listed)
{
    json_begin_object(json, NULL);
    json_put_text(json, "name", listed->name);
    if (listed->state == LISTED_OPEN) {
        json_put_flag(json, "readable", true);
        json_put_text(json, "source", apapi_source_name(listed->reader->source));
        json_put_text(json, "detail", listed->reader->detail);
        json_begin_array(json, "events");
        for (size_t i = 0; i < listed->event_count; i++) {
            json_begin_object(json, NULL);
            fields_write(json, fields_of_listed, &listed->events[i]);
            json_end(json);
        }
        json_end(json);
    } else if (listed->state == LISTED_UNREADABLE) {
        const char *name = strerrorname_np(listed->error);

        json_put_flag(json, "readable", false);
        json_put_text(json, "errno", name ? name : "?");
        json_put_text(json, "reason", listed->reason.text);
    } else if (listed->state == LISTED_SLOW) {
        json_put_flag(json, "slow", true);
    }
    json_end(json);
}

static int list_print_json(const struct list *list)
{
    struct json_writer json = {.out = stdout};

    json_begin_object(&json, NULL);
    json_put_count(&json, "version", 1);
    json_begin_array(&json, "components");
    for (size_t i = 0; i < list->wanted.count; i++) {
        put_json(&json, &list->components[i]);
    }
    json_end(&json);
    json_end(&json);
    return json_finish(&json);
}

/* --- the command ---------------------------------------------------------------------------- */

static const struct option_row options[] = {
    {0, "json", NULL, "for programs", TO_FLAG(struct list, json)},
    {0, "names", NULL, "only the names, one in a line: events of COMPONENTs, else components",
     TO_FLAG(struct list, names)},
    {0}};

static const struct option_table table = {
    .program = "apapi list",
    .head = "usage: apapi list [OPTION]... [COMPONENT]...\n"
            "Show the components that can be measured here, the source that reads each of them,\n"
            "and its events with their present values. COMPONENT may be a list as in rapl:nvml.\n"
            "Without arguments: all components; those that are slow to open, and those that only\n"
            "PAPI knows, by name only.\n",
    .foot = "APAPI_SOURCES sets the sources and their order, as in sysfs:papi.\n"
            "Exit status: 0 done, 1 a named component cannot be read here, 2 wrong usage.\n",
    .column = 17,
    .rows = options};

static void fill_event(const struct apapi_reader *reader, size_t index,
                       const struct apapi_reading *reading, struct listed_event *listed)
{
    double values = (double)reader->events[index].range_max + 1; /* 1: the range is not known */
    uint64_t guard_ns;

    listed->event = reader->events[index];
    guard_ns = listed->event.accumulates ? apapi_event_guard_ns(&listed->event) : UINT64_MAX;
    listed->range = values > 1                  ? values * listed->event.scale
                    : listed->event.guard_j > 0 ? listed->event.guard_j
                                                : NAN;
    listed->width = listed->event.accumulates && values > 1 ? ceil(log2(values)) : NAN;
    listed->guard_s = guard_ns == UINT64_MAX ? NAN : (double)guard_ns / 1e9;
    listed->value = reading->error ? NAN : apapi_event_value(&listed->event, reading->raw);
    if (reading->error) {
        snprintf(listed->error, sizeof listed->error, "%s", strerror(reading->error));
    }
    apapi_catalog_describe(reader, index, listed->description, DESCRIPTION_SIZE);
}

static int list_read_events(struct listed *listed, struct apapi_error *err)
{
    struct apapi_reader *reader = listed->reader;
    struct apapi_reading *readings = calloc(reader->count + 1, sizeof *readings);

    listed->events = calloc(reader->count + 1, sizeof *listed->events);
    if (!readings || !listed->events) {
        free(readings);
        return apapi_fail(err, ENOMEM, "no memory");
    }
    apapi_catalog_read(reader, readings);
    for (size_t i = 0; i < reader->count; i++) {
        fill_event(reader, i, &readings[i], &listed->events[listed->event_count++]);
    }
    free(readings);
    return 0;
}

static char no_answer[96]; /* what is said if the present component does not answer */

static void list_give_up(int number)
{
    (void)number;
    (void)!write(STDERR_FILENO, no_answer, strlen(no_answer));
    _exit(EXIT_FAILURE);
}

static void list_limit_time(const char *component)
{
    snprintf(no_answer, sizeof no_answer, "apapi list: %s: no answer within %d s\n", component,
             ANSWER_S);
    signal(SIGALRM, list_give_up);
    alarm(ANSWER_S);
}

static int list_open_all(struct list *list, const char *order, struct apapi_error *err)
{
    for (size_t i = 0; i < list->wanted.count; i++) {
        struct listed *listed = &list->components[i];

        listed->name = list->wanted.names[i];
        if (!list->wanted.named && !apapi_catalog_has_route(listed->name)) {
            listed->state = LISTED_NAME;
        } else if (!list->wanted.named && apapi_catalog_slow(listed->name, order)) {
            listed->state = LISTED_SLOW;
        }
        if (listed->state == LISTED_OPEN) {
            char all[APAPI_NAME_SIZE];

            apapi_catalog_want(listed->name);
            /* also want the events that are measured only if they are named */
            snprintf(all, sizeof all, "%s:::?*", listed->name);
            apapi_catalog_want(all);
        }
    }
    for (size_t i = 0; i < list->wanted.count; i++) {
        struct listed *listed = &list->components[i];

        if (listed->state != LISTED_OPEN) {
            continue;
        }
        list_limit_time(listed->name);
        listed->reader = apapi_catalog_open(listed->name, order, &listed->reason);
        if (!listed->reader) {
            listed->error = errno;
            listed->state = LISTED_UNREADABLE;
        } else if (list_read_events(listed, err)) {
            return -1;
        }
    }
    alarm(0);
    return 0;
}

static int list_print(const struct list *list)
{
    int status = EXIT_SUCCESS;

    if ((list->json ? list_print_json : list->names ? list_print_names : list_print_text)(list)) {
        return command_fail("list", "no memory");
    }
    for (size_t i = 0; i < list->wanted.count; i++) {
        if (list->wanted.named && list->components[i].state != LISTED_OPEN) {
            status = EXIT_FAILURE;
        }
    }
    return command_finish("list", status);
}

int list_command(int argc, char **argv)
{
    const char *order = secure_getenv("APAPI_SOURCES");
    static struct list list;
    struct apapi_error err;
    int status = option_table_read(&table, argc, argv, &list);

    if (status >= 0) {
        return status;
    }
    if (list.json && list.names) {
        return command_refuse("list", "either --json or --names");
    }
    config_use_sources(table.program);
    if (wanted_parse(argc - optind, argv + optind, &list.wanted, &err) ||
        (order && apapi_catalog_check_order(order, &err))) {
        return command_refuse("list", "%s", err.text);
    }
    status = list_open_all(&list, order, &err) ? command_fail("list", "%s", err.text)
                                               : list_print(&list);
    for (size_t i = 0; i < list.wanted.count; i++) {
        apapi_catalog_close(list.components[i].reader);
        free(list.components[i].events);
    }
    return status;
}
