/* SPDX-License-Identifier: BSD-3-Clause */
#include "ms_common/choice.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "apapi/catalog.h"
#include "ms_common/field.h"
#include "ms_common/say.h"

#define AMD_GPUS "rocm_smi"

/* What is asked for, and why it cannot be had. */
struct asked {
    bool wanted[RESOURCES];
    bool listed; /* by name */
    const char *order;
    struct apapi_error reasons[RESOURCES];
};

static void choice_names(char *text, size_t size)
{
    size_t used = 0;

    for (int r = 0; r < RESOURCES && used < size; r++) {
        used += (size_t)snprintf(text + used, size - used, "%s%s", r ? ", " : "",
                                 resource_component(r));
    }
}

static int choice_want(struct asked *asked, const char *word, size_t length)
{
    char names[128];

    for (int r = 0; r < RESOURCES; r++) {
        const char *component = resource_component(r);

        if (strlen(component) == length && strncmp(component, word, length) == 0) {
            asked->wanted[r] = true;
            return 0;
        }
    }
    choice_names(names, sizeof names);
    say("APAPI_CMPLIST: %s'%.*s': valid are %s", length ? "unknown component " : "an empty entry, ",
        (int)length, word, names);
    return -1;
}

static int choice_read_list(struct asked *asked, const char *list)
{
    asked->listed = list != NULL;
    for (int r = 0; !list && r < RESOURCES; r++) {
        asked->wanted[r] = true;
    }
    while (list) {
        size_t length = strcspn(list, ":");

        if (choice_want(asked, list, length)) {
            return -1;
        }
        list = list[length] ? list + length + 1 : NULL;
    }
    return 0;
}

/* @return whether it can be measured; the first reason is kept, as it is that of what was named. */
static bool choice_try(struct asked *asked, enum resource resource, const char *component)
{
    struct apapi_error reason = {""};
    struct apapi_reader *reader = apapi_catalog_open(component, asked->order, &reason);

    if (!reader && !asked->reasons[resource].text[0]) {
        asked->reasons[resource] = reason;
    }
    apapi_catalog_close(reader);
    return reader != NULL;
}

static struct choice choice_find(struct asked *asked, enum resource resource,
                                 const struct page *page)
{
    const char *component = resource_component(resource);

    if (choice_try(asked, resource, component)) {
        return (struct choice){WAY_METER, component};
    }
    if (resource == RESOURCE_GPU && choice_try(asked, resource, AMD_GPUS)) {
        return (struct choice){WAY_METER, AMD_GPUS};
    }
    return (struct choice){page_has(page, resource) ? WAY_PAGE : WAY_NONE, NULL};
}

/* The source that has most of them is taken. */
static void choice_want_old_events(void)
{
    size_t count;
    const struct field *fields = fields_of(RESOURCE_CPU, &count);

    for (size_t i = 0; i < count; i++) {
        if (fields[i].part != PART_NONE) {
            apapi_catalog_want(fields[i].pattern);
        }
    }
}

static void choice_announce(const struct asked *asked, bool old_events)
{
    for (int r = 0; r < RESOURCES; r++) {
        if (asked->wanted[r]) {
            apapi_catalog_want(resource_component(r));
        }
    }
    if (asked->wanted[RESOURCE_GPU]) {
        apapi_catalog_want(AMD_GPUS);
    }
    if (old_events) {
        choice_want_old_events();
    }
}

/* @return how many can be measured. */
static int choice_find_all(struct asked *asked, const struct page *page,
                           struct choice choices[RESOURCES])
{
    int found = 0;

    for (int r = 0; r < RESOURCES; r++) {
        choices[r] =
            asked->wanted[r] ? choice_find(asked, r, page) : (struct choice){WAY_NONE, NULL};
        found += choices[r].way != WAY_NONE;
    }
    return found;
}

static void choice_say_missing(const struct asked *asked, const struct choice choices[RESOURCES])
{
    for (int r = 0; r < RESOURCES; r++) {
        if (asked->wanted[r] && choices[r].way == WAY_NONE) {
            say("%s is not measured: %s", resource_component(r), asked->reasons[r].text);
        }
    }
}

int choice_make(struct choice choices[RESOURCES], const struct question *question,
                const struct page *page)
{
    struct asked asked = {.order = question->order};
    struct apapi_error err;
    int found;

    if (asked.order && apapi_catalog_check_order(asked.order, &err)) {
        say("APAPI_SOURCES: %s", err.text);
        return -1;
    }
    if (choice_read_list(&asked, question->list)) {
        return -1;
    }
    choice_announce(&asked, question->old_events);
    found = choice_find_all(&asked, page, choices);
    if (found == 0) {
        say("nothing can be measured here");
    }
    if (found == 0 || asked.listed) {
        choice_say_missing(&asked, choices);
    }
    return found ? 0 : -1;
}
