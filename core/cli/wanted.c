/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/wanted.h"

#include <stdio.h>
#include <string.h>

#include "apapi/catalog.h"
#include "apapi/session.h"
#include "base/text.h"

static const char between[] = ":::"; /* separates component and event */

static void wanted_add(struct wanted *wanted, const char *name, size_t length, const char *pattern)
{
    struct wanted_component *component = &wanted->components[wanted->count];

    if (wanted->count < WANTED_MAX && length < sizeof component->name) {
        memcpy(component->name, name, length);
        component->name[length] = '\0';
        component->pattern = pattern;
        wanted->count++;
    }
}

static void add_any(const char *name, void *context)
{
    wanted_add(context, name, strlen(name), NULL);
}

static int wanted_add_events(struct wanted *wanted, const char *pattern, struct apapi_error *err)
{
    size_t length = (size_t)(strstr(pattern, between) - pattern);
    char name[APAPI_COMPONENT_SIZE];

    snprintf(name, sizeof name, "%.*s", (int)length, pattern);
    if (apapi_components_check(name, err)) {
        return -1;
    }
    wanted_add(wanted, name, strlen(name), pattern);
    return 0;
}

static int wanted_add_components(struct wanted *wanted, const char *list, struct apapi_error *err)
{
    if (apapi_components_check(list, err)) {
        return -1;
    }
    for (const char *name = list; *name; name += *name == ':') {
        size_t length = strcspn(name, ":");

        wanted_add(wanted, name, length, NULL);
        name += length;
    }
    return 0;
}

int wanted_parse(int count, char *const words[], struct wanted *wanted, struct apapi_error *err)
{
    wanted->named = count > 0;
    wanted->count = 0;
    if (!wanted->named) {
        apapi_catalog_components(add_any, wanted);
    }
    for (int i = 0; i < count; i++) {
        int result = strstr(words[i], between) ? wanted_add_events(wanted, words[i], err)
                                               : wanted_add_components(wanted, words[i], err);

        if (result) {
            return -1;
        }
    }
    return 0;
}

bool wanted_event(const struct wanted_component *component, const struct apapi_event *event)
{
    return !component->pattern || apapi_pattern_matches(component->pattern, event->name);
}
