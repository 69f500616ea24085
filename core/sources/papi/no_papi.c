/* SPDX-License-Identifier: BSD-3-Clause */
/* Replaces PAPI's source in a build without PAPI. */
#include <errno.h>

#include "sources/source_overflow.h"
#include "sources/sources.h"

static int no_papi(struct apapi_error *err)
{
    return apapi_fail(err, ENOSYS, "built without PAPI");
}

static int no_papi_probe(const char *component, struct apapi_error *err)
{
    (void)component;
    return no_papi(err);
}

static void no_papi_want(const char *component)
{
    (void)component;
}

static void no_papi_list(apapi_component_f visit, void *context)
{
    (void)visit;
    (void)context;
}

static struct apapi_reader *no_papi_open(const char *component, struct apapi_error *err)
{
    (void)component;
    no_papi(err);
    return NULL;
}

/* Nothing can be open, to be read or closed. */
const struct apapi_source apapi_source_papi = {
    .name = "papi",
    .probe = no_papi_probe,
    .want = no_papi_want,
    .list = no_papi_list,
    .open = no_papi_open,
};

static struct source_overflow_counter *no_papi_begin(const struct source_overflow_order *order,
                                                     struct apapi_error *err)
{
    (void)order;
    no_papi(err);
    return NULL;
}

/* There is no counter to be asked for or ended. */
const struct source_overflow apapi_overflow_papi = {.begin = no_papi_begin};
