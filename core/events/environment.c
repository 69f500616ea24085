/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>

#include "apapi/events.h"

/* Anything except a complete integer counts as unset, as in the original APAPI. */
static long integer_of(const char *variable)
{
    const char *text = secure_getenv(variable);
    char *end;
    long number;

    if (!text) {
        return 0;
    }
    errno = 0;
    number = strtol(text, &end, 0);
    return errno == 0 && end != text && *end == '\0' ? number : 0;
}

static const char *environment_path_of(const char *variable)
{
    const char *text = secure_getenv(variable);

    return text && *text ? text : NULL;
}

void apapi_environment_read(struct apapi_environment *environment)
{
    int saved = errno;

    *environment = (struct apapi_environment){
        .eventlist = environment_path_of("APAPI_EVENTLIST"),
        .eventops = environment_path_of("APAPI_EVENTOPS"),
        .components = secure_getenv("APAPI_CMPLIST"),
        .verbose = integer_of("APAPI_VERBOSE"),
        .softfail = integer_of("APAPI_SOFTFAIL") != 0,
    };
    errno = saved;
}
