/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MS_COMMON_CHOICE_H
#define MS_COMMON_CHOICE_H
#include <stdbool.h>

#include "ms_common/page.h"
#include "ms_common/resource.h"

/** How a resource is measured. */
enum way { WAY_NONE, WAY_METER, WAY_PAGE };

/** What is measured: one for each resource. */
struct choice {
    enum way way;
    const char *component; /* of WAY_METER; static storage */
};

/** What the user asks for. */
struct question {
    const char *order; /* APAPI_SOURCES; NULL: each component's own order */
    const char *list;  /* APAPI_CMPLIST; NULL: all that can be measured */
    bool old_events;   /* look for events that only the PAPI of the original APAPI has, too */
};

/**
 * Find out what can be measured. Opens devices; says what is wrong.
 * @param page  the live page of this process's step; NULL: none
 * @return 0; -1: a variable is wrong, or nothing can be measured
 */
int choice_make(struct choice choices[RESOURCES], const struct question *question,
                const struct page *page);

#endif
