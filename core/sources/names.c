/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of component names, "rapl:nvml". */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "apapi/session.h"
#include "base/nearest.h"
#include "base/text.h"
#include "sources/sources.h"

const char *apapi_components_default(void)
{
    return "rapl:nvml:maxeler:micknc:ipmi";
}

static bool is_named_before(const struct component_names *names, size_t index)
{
    for (size_t i = 0; i < index; i++) {
        if (strcmp(names->name[i], names->name[index]) == 0) {
            return true;
        }
    }
    return false;
}

static int names_split(const char *list, struct component_names *names, struct apapi_error *err)
{
    for (const char *rest = list, *word; rest;) {
        size_t length = text_word(&rest, ":", &word);

        if (length == 0) {
            return apapi_fail(err, EINVAL, "a name is missing in the list of components '%.80s'",
                              list);
        }
        if (length >= APAPI_COMPONENT_SIZE || names->count == COMPONENT_NAMES_MAX) {
            return apapi_fail(err, EINVAL, "the list of components '%.80s' is too long", list);
        }
        memcpy(names->name[names->count], word, length);
        names->name[names->count++][length] = '\0';
    }
    return 0;
}

int component_names_parse(const char *list, struct component_names *names, struct apapi_error *err)
{
    static const char all[] =
#define APAPI_COMPONENT(name, ways) ":" #name
#include "apapi/components.def"
#undef APAPI_COMPONENT
        ;
    bool means_all = strcmp(list, "all") == 0;
    size_t kept = 0;

    names->count = 0;
    if (*list == '\0') {
        return apapi_fail(err, EINVAL, "the list of components is empty");
    }
    if (names_split(means_all ? all + 1 : list, names, err)) {
        return -1;
    }
    for (size_t i = 0; i < names->count; i++) {
        bool estimate = means_all && strcmp(names->name[i], "estimate") == 0;

        if (!estimate && !is_named_before(names, i)) {
            memmove(names->name[kept++], names->name[i], sizeof names->name[i]);
        }
    }
    names->count = kept;
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

int component_names_refuse(const char *name, struct apapi_error *err)
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

int component_names_check(const struct component_names *names, struct apapi_error *err)
{
    for (size_t i = 0; i < names->count; i++) {
        if (!apapi_route_known(names->name[i])) {
            return component_names_refuse(names->name[i], err);
        }
    }
    return 0;
}

int apapi_components_check(const char *components, struct apapi_error *err)
{
    struct component_names names;

    if (!components) {
        return apapi_fail(err, EINVAL, "the list of components is empty");
    }
    return component_names_parse(components, &names, err) || component_names_check(&names, err) ? -1
                                                                                                : 0;
}
