/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as a file of event definitions, and as an event list with its selection of events. */
#include <math.h>

#include "apapi/events.h"
#include "base/array.h"
#include "base/text.h"
#include "config/definitions.h"
#include "config/selection.h"
#include "fuzz/fuzz.h"

/* The reports of a parser about one input. */
struct reported {
    size_t errors, warnings;
};

static void fuzz_problem(const struct apapi_problem *problem, void *context)
{
    struct reported *reported = context;

    REQUIRE(strncmp(problem->text, "fuzz:", strlen("fuzz:")) == 0);
    REQUIRE(strlen(problem->text) < 1024);
    for (const char *at = problem->text; *at; at++) {
        REQUIRE((unsigned char)*at >= ' ');
    }
    REQUIRE((problem->line == 0) == (problem->column == 0));
    reported->warnings += problem->warning;
    reported->errors += !problem->warning;
}

/* All or nothing, and nothing in silence. */
static void check_reported(const struct reported *reported, const void *parsed,
                           const struct apapi_error *err)
{
    REQUIRE(reported->errors <= APAPI_PROBLEMS_MAX + 1);
    REQUIRE(reported->warnings <= APAPI_PROBLEMS_MAX + 1);
    REQUIRE(parsed ? reported->errors == 0 : err->text[0] != '\0');
}

/* --- definitions ----------------------------------------------------------------------------- */

static void check_value(const struct apapi_value_definition *value)
{
    REQUIRE(value->stats <= APAPI_STAT_ALL);
    REQUIRE(value->type && value->unit);
    REQUIRE(strlen(value->type) + strlen(value->unit) < APAPI_EVENTS_LINE_MAX);
    REQUIRE(value->factor != 0 && !isinf(value->factor));
}

static void check_definition(const struct apapi_definition *definition)
{
    struct apapi_event event = {.name = "a:::b", .kind = APAPI_KIND_COUNT, .scale = 1};

    REQUIRE(definition->name && *definition->name);
    REQUIRE(*apapi_operation_name(definition->operation) == 'A');
    check_value(&definition->values[0]);
    check_value(&definition->values[1]);
    REQUIRE(definition->raw_units || (definition->range_max == 0 && !definition->accumulates));
    REQUIRE(definition->range_max == 0 || definition->accumulates);
    REQUIRE(apapi_pattern_matches(definition->name, definition->name));
    REQUIRE(apapi_definition_check(definition, &event, NULL) == 0);
    apapi_definition_complete(definition, &event);
    REQUIRE(event.scale > 0 && !isinf(event.scale));
    REQUIRE(event.kind != APAPI_KIND_ENERGY || strcmp(event.unit, "J") == 0);
    REQUIRE(event.kind != APAPI_KIND_POWER || strcmp(event.unit, "W") == 0);
    REQUIRE(apapi_definition_divisor(definition, &event, 0) != 0);
}

static void fuzz_definitions(const char *text, size_t size)
{
    struct reported reported = {0};
    const struct apapi_problem_sink sink = {fuzz_problem, &reported};
    struct apapi_error err = {""};
    struct apapi_eventops *eventops = apapi_eventops_parse("fuzz", text, size, &sink, &err);
    const struct apapi_definition *definition;

    check_reported(&reported, eventops, &err);
    for (size_t i = 0; (definition = apapi_eventops_at(eventops, i)); i++) {
        const struct apapi_definition *found = apapi_eventops_find(eventops, definition->name);

        check_definition(definition);
        REQUIRE(found && found->line <= definition->line);
        REQUIRE(i == 0 || apapi_eventops_at(eventops, i - 1)->line < definition->line);
    }
    apapi_eventops_destroy(eventops);
}

/* --- event lists ----------------------------------------------------------------------------- */

static const struct apapi_event events[] = {
    {.name = "rapl:::PACKAGE_ENERGY:PACKAGE0"}, {.name = "rapl:::PACKAGE_ENERGY:PACKAGE1"},
    {.name = "rapl:::DRAM_ENERGY:PACKAGE0"},    {.name = "rapl::RAPL_ENERGY_PKG:cpu=0"},
    {.name = "nvml:::Tesla_K20c:power"},
};
#define EVENTS COUNT_OF(events)

static void check_selection(const struct apapi_selection *selection, bool user)
{
    bool taken[EVENTS] = {false};

    REQUIRE(selection->count <= EVENTS);
    for (size_t i = 0; i < selection->count; i++) {
        REQUIRE(selection->indices[i] < EVENTS);
        REQUIRE(!taken[selection->indices[i]]);
        taken[selection->indices[i]] = true;
    }
    REQUIRE(user || selection->unmatched_count == 0);
    REQUIRE(selection->choice != APAPI_CHOICE_ALL || selection->count == EVENTS);
    REQUIRE(selection->choice != APAPI_CHOICE_DEFAULT || (!user && selection->count > 0));
    for (size_t i = 0; i < selection->unmatched_count; i++) {
        REQUIRE(apapi_listed_names(selection->unmatched[i], "rapl"));
    }
}

static void check_list(struct apapi_eventlist *list)
{
    for (int user = 0; user < 2; user++) {
        struct apapi_event_rules rules = {user ? list : NULL, user ? NULL : list, NULL, NULL};
        struct apapi_selection selection;

        REQUIRE(apapi_event_rules_select(&rules, "rapl", events, EVENTS, &selection) == 0);
        check_selection(&selection, user);
        apapi_selection_clear(&selection);
    }
}

static void fuzz_list(const char *text, size_t size)
{
    struct reported reported = {0};
    const struct apapi_problem_sink sink = {fuzz_problem, &reported};
    struct apapi_error err = {""};
    struct apapi_eventlist *list = apapi_eventlist_parse("fuzz", text, size, &sink, &err);
    const struct apapi_listed *listed;

    check_reported(&reported, list, &err);
    for (size_t i = 0; (listed = apapi_eventlist_at(list, i)); i++) {
        REQUIRE(*listed->name && *listed->name != '#');
        REQUIRE(listed->line > (i ? apapi_eventlist_at(list, i - 1)->line : 0));
    }
    if (list) {
        check_list(list);
    }
    apapi_eventlist_destroy(list);
}

static void fuzz(char *text, size_t size)
{
    fuzz_definitions(text, size);
    fuzz_list(text, size);
}
