/* SPDX-License-Identifier: BSD-3-Clause */
#include "sources/ipmi/ipmi_library.h"

#include <errno.h>
#include <stddef.h>

#include "base/shared_library.h"

static const struct library_symbol symbols[] = {
#define FUNCTION(name) LIBRARY_SYMBOL(#name, struct ipmi_library, name),
    IPMI_FUNCTIONS(FUNCTION)
#undef FUNCTION
        {NULL, 0}};

int ipmi_library_load(struct ipmi_library *library, struct apapi_error *err)
{
    struct apapi_error why;

    if (shared_library_load(APAPI_FREEIPMI_LIBRARY, symbols, library, &why)) {
        return apapi_fail(err, ENOSYS, "no FreeIPMI: %.200s", why.text);
    }
    return 0;
}
