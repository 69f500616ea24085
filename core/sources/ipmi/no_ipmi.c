/* SPDX-License-Identifier: BSD-3-Clause */
/* Replaces ipmi.c in a build without FreeIPMI. */
#include <errno.h>
#include <string.h>

#include "sources/sources.h"

static int no_ipmi_probe(const char *component, struct apapi_error *err)
{
    return strcmp(component, "ipmi") == 0
               ? apapi_fail(err, ENOSYS, "built without FreeIPMI")
               : apapi_fail(err, ENOENT, "FreeIPMI has no component '%s'", component);
}

static void no_ipmi_list(apapi_component_f visit, void *context)
{
    visit("ipmi", context);
}

static struct apapi_reader *no_ipmi_open(const char *component, struct apapi_error *err)
{
    no_ipmi_probe(component, err);
    return NULL;
}

/* Nothing can be open, to be read or closed. */
const struct apapi_source apapi_source_ipmi = {
    .name = "ipmi",
    .probe = no_ipmi_probe,
    .list = no_ipmi_list,
    .open = no_ipmi_open,
};
