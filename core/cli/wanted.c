/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/wanted.h"

#include <string.h>

#include "apapi/catalog.h"
#include "apapi/session.h"

static void wanted_add(struct wanted *wanted, const char *name, size_t length)
{
    if (wanted->count < WANTED_MAX && length < sizeof wanted->names[0]) {
        memcpy(wanted->names[wanted->count], name, length);
        wanted->names[wanted->count++][length] = '\0';
    }
}

static void add_any(const char *name, void *context)
{
    wanted_add(context, name, strlen(name));
}

int wanted_parse(int count, char *const words[], struct wanted *wanted, struct apapi_error *err)
{
    wanted->named = count > 0;
    wanted->count = 0;
    if (!wanted->named) {
        apapi_catalog_components(add_any, wanted);
    }
    for (int i = 0; i < count; i++) {
        if (apapi_components_check(words[i], err)) {
            return -1;
        }
        for (const char *name = words[i]; *name; name += *name == ':') {
            size_t length = strcspn(name, ":");

            wanted_add(wanted, name, length);
            name += length;
        }
    }
    return 0;
}
