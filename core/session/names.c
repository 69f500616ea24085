/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of component names, "rapl:nvml". */
#include "session/names.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "apapi/session.h"
#include "base/nearest.h"
#include "events/selection.h"
#include "sources/sources.h"

const char *apapi_components_default(void)
{
    return "rapl:nvml:maxeler:micknc:ipmi";
}

static int session_names_split(const char *list, struct names *names, struct apapi_error *err)
{
    const char *rest = list;

    for (;;) {
        size_t length = strcspn(rest, ":");

        if (length == 0) {
            return apapi_fail(err, EINVAL, "a name is missing in the list of components '%.80s'",
                              list);
        }
        if (length >= APAPI_COMPONENT_SIZE || names->count == NAMES_MAX) {
            return apapi_fail(err, EINVAL, "the list of components '%.80s' is too long", list);
        }
        memcpy(names->name[names->count], rest, length);
        names->name[names->count++][length] = '\0';
        if (rest[length] == '\0') {
            return 0;
        }
        rest += length + 1;
    }
}

/* Every component that APAPI knows a way to read, but what is no measurement. */
static int expand_all(struct names *names, struct apapi_error *err)
{
    static const char components[] =
#define APAPI_COMPONENT(name, ways) ":" #name
#include "apapi/components.def"
#undef APAPI_COMPONENT
        ;
    size_t kept = 0;

    if (session_names_split(components + 1, names, err)) {
        return -1;
    }
    for (size_t i = 0; i < names->count; i++) {
        if (strcmp(names->name[i], "estimate") != 0) {
            memmove(names->name[kept++], names->name[i], sizeof names->name[i]);
        }
    }
    names->count = kept;
    return 0;
}

static bool is_twice(const struct names *names, size_t index)
{
    for (size_t i = 0; i < index; i++) {
        if (strcmp(names->name[i], names->name[index]) == 0) {
            return true;
        }
    }
    return false;
}

static void remove_duplicates(struct names *names)
{
    size_t kept = 0;

    for (size_t i = 0; i < names->count; i++) {
        if (!is_twice(names, i)) {
            memmove(names->name[kept++], names->name[i], sizeof names->name[i]);
        }
    }
    names->count = kept;
}

bool names_mean_all(const char *list)
{
    return strcmp(list, "all") == 0;
}

int names_parse(const char *list, struct names *names, struct apapi_error *err)
{
    names->count = 0;
    if (*list == '\0') {
        return apapi_fail(err, EINVAL, "the list of components is empty");
    }
    if (names_mean_all(list)) {
        return expand_all(names, err);
    }
    if (session_names_split(list, names, err)) {
        return -1;
    }
    remove_duplicates(names);
    return 0;
}

static int refuse_commas(const char *name, struct apapi_error *err)
{
    char meant[APAPI_COMPONENT_SIZE];

    snprintf(meant, sizeof meant, "%s", name);
    for (char *comma = meant; (comma = strchr(comma, ','));) {
        *comma = ':';
    }
    return apapi_fail(err, ENOENT,
                      "unknown component '%s': names are separated by colons, did you mean '%s'?",
                      name, meant);
}

static int refuse_unknown(const char *name, struct apapi_error *err)
{
    struct apapi_error papi = {""};
    struct nearest nearest;
    char meant[128];

    if (strchr(name, ',')) {
        return refuse_commas(name, err);
    }
    nearest_begin(&nearest, name);
    apapi_catalog_components(nearest_offer, &nearest);
    nearest_text(&nearest, meant, sizeof meant);
    if (*meant) {
        return apapi_fail(err, ENOENT, "unknown component '%s'%s 'apapi list' shows what there is",
                          name, meant);
    }
    apapi_route_papi_check(name, &papi);
    return apapi_fail(err, ENOENT,
                      "unknown component '%s'; 'apapi list' shows what there is (%.120s)", name,
                      papi.text);
}

int names_check(const struct names *names, struct apapi_error *err)
{
    for (size_t i = 0; i < names->count; i++) {
        if (!apapi_route_known(names->name[i])) {
            return refuse_unknown(names->name[i], err);
        }
    }
    return 0;
}

/* What stands before ":::". @return whether that is the name of one component. */
static bool component_of(const char *event, char component[APAPI_COMPONENT_SIZE])
{
    const char *end = strstr(event, ":::");
    size_t length = end ? (size_t)(end - event) : 0;

    if (length == 0 || length >= APAPI_COMPONENT_SIZE || strcspn(event, "*?[") < length) {
        return false;
    }
    memcpy(component, event, length);
    component[length] = '\0';
    return true;
}

int apapi_eventlist_check(const struct apapi_eventlist *list, bool elsewhere,
                          struct apapi_error *err)
{
    char component[APAPI_COMPONENT_SIZE];
    struct apapi_error why = {""};

    for (size_t i = 0; i < apapi_eventlist_count(list); i++) {
        const struct apapi_listed *listed = apapi_eventlist_at(list, i);

        if (!component_of(listed->name, component) || apapi_route_known(component) ||
            (elsewhere && apapi_route_papi_check(component, NULL) && errno == ENOSYS)) {
            continue;
        }
        refuse_unknown(component, &why);
        return apapi_fail(err, ENOENT, "%s: %s", apapi_listed_place(listed).text, why.text);
    }
    return 0;
}

int apapi_components_check(const char *components, struct apapi_error *err)
{
    struct names names;

    if (!components) {
        return apapi_fail(err, EINVAL, "the list of components is empty");
    }
    return names_parse(components, &names, err) || names_check(&names, err) ? -1 : 0;
}
