/* SPDX-License-Identifier: BSD-3-Clause */
#include "ms_common/meters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ms_common/say.h"

#define PATIENCE_NS UINT64_C(5000000000) /* for GPUs and a BMC, which have been opened before */

static void meters_say_problem(const struct apapi_problem *problem, void *context)
{
    (void)context;
    say("%s", problem->text);
}

int meters_init(struct meters *meters)
{
    const struct apapi_problem_sink sink = {meters_say_problem, NULL};
    struct apapi_error err;

    meters->order = secure_getenv("APAPI_SOURCES");
    apapi_environment_read(&meters->environment);
    if (apapi_event_rules_load(&meters->rules, &meters->environment, NULL, &sink, &err)) {
        say("%s", err.text);
        return -1;
    }
    meters->old_events = meters->rules.user_list != NULL;
    apapi_eventlist_destroy(meters->rules.user_list);
    meters->rules.user_list = NULL;
    return 0;
}

static void meters_add(struct meters *wanted, const char *component, uint64_t interval_ns)
{
    struct apapi_named_interval *named = &wanted->intervals.named[wanted->intervals.count++];
    size_t used = strlen(wanted->components);

    snprintf(wanted->components + used, sizeof wanted->components - used, "%s%s", used ? ":" : "",
             component);
    snprintf(named->component, sizeof named->component, "%s", component);
    named->interval_ns = interval_ns;
}

static void meters_want(struct meters *wanted, const struct choice choices[RESOURCES],
                        const struct target targets[RESOURCES])
{
    memset(wanted, 0, sizeof *wanted);
    wanted->intervals.default_ns = APAPI_INTERVAL_DEFAULT_NS;
    for (int r = 0; r < RESOURCES; r++) {
        if (targets[r].measurement && choices[r].way == WAY_METER) {
            meters_add(wanted, choices[r].component, targets[r].interval_ns);
        }
    }
}

static bool meters_are_same(const struct meters *a, const struct meters *b)
{
    for (size_t i = 0; i < a->intervals.count && a->intervals.count == b->intervals.count; i++) {
        if (a->intervals.named[i].interval_ns != b->intervals.named[i].interval_ns) {
            return false;
        }
    }
    return strcmp(a->components, b->components) == 0;
}

static int meters_create(struct meters *meters, apapi_sample_f on_sample, void *context)
{
    const struct apapi_session_config config = {.components = meters->components,
                                                .all_results = true,
                                                .sources = meters->order,
                                                .intervals = &meters->intervals,
                                                .rules = &meters->rules,
                                                .softfail = true, /* definitions of old machines */
                                                .patience_ns = PATIENCE_NS,
                                                .on_sample = on_sample,
                                                .context = context};
    struct apapi_error err;

    meters->session = apapi_session_create(&config, &err);
    if (!meters->session) {
        say("%s", err.text);
        return -1;
    }
    return 0;
}

int meters_open(struct meters *meters, const struct choice choices[RESOURCES],
                const struct target targets[RESOURCES], apapi_sample_f on_sample, void *context)
{
    struct meters wanted;

    meters_want(&wanted, choices, targets);
    if (meters->session && meters_are_same(meters, &wanted)) {
        return 0;
    }
    apapi_session_destroy(meters->session);
    meters->session = NULL;
    memcpy(meters->components, wanted.components, sizeof meters->components);
    meters->intervals = wanted.intervals;
    return *meters->components ? meters_create(meters, on_sample, context) : 0;
}

void meters_clear(struct meters *meters)
{
    apapi_session_destroy(meters->session);
    meters->session = NULL;
    apapi_event_rules_clear(&meters->rules);
}
