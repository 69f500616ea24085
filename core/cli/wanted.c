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

/* "rapl:::PACKAGE*", or "rapl:nvml". */
static int wanted_add_word(struct wanted *wanted, const char *word, struct apapi_error *err)
{
    const char *events = strstr(word, between);
    char names[APAPI_COMPONENT_SIZE] = "";

    if (events) {
        snprintf(names, sizeof names, "%.*s", (int)(events - word), word);
    }
    if (apapi_components_check(events ? names : word, err)) {
        return -1;
    }
    if (events) {
        wanted_add(wanted, names, strlen(names), word);
        return 0;
    }
    for (const char *name = word; *name; name += *name == ':') {
        size_t length = strcspn(name, ":");

        wanted_add(wanted, name, length, NULL);
        name += length;
    }
    return 0;
}

int wanted_parse(int count, char *const words[], struct wanted *wanted, struct apapi_error *err)
{
    int result = 0;

    wanted->named = count > 0;
    wanted->count = 0;
    if (!wanted->named) {
        apapi_catalog_components(add_any, wanted);
    }
    for (int i = 0; i < count && result == 0; i++) {
        result = wanted_add_word(wanted, words[i], err);
    }
    return result;
}

bool wanted_event(const struct wanted_component *component, const struct apapi_event *event)
{
    return !component->pattern || apapi_pattern_matches(component->pattern, event->name);
}
