/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as a file of event definitions. */
#include <math.h>

#include "base/text.h"
#include "config/definitions.h"
#include "fuzz/fuzz_problems.h"

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

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
    struct reported reported = {0};
    const struct apapi_problem_sink sink = {fuzz_problem, &reported};
    struct apapi_error err = {""};
    char *text = fuzz_string(input, size);
    struct apapi_eventops *eventops = apapi_eventops_parse("fuzz", text, size, &sink, &err);

    fuzz_check_reported(&reported, eventops, &err);
    for (size_t i = 0; i < apapi_eventops_count(eventops); i++) {
        const struct apapi_definition *definition = apapi_eventops_at(eventops, i);
        const struct apapi_definition *found = apapi_eventops_find(eventops, definition->name);

        check_definition(definition);
        REQUIRE(found && found->line <= definition->line);
        REQUIRE(i == 0 || apapi_eventops_at(eventops, i - 1)->line < definition->line);
    }
    apapi_eventops_destroy(eventops);
    free(text);
    return 0;
}
