/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_BASE_HOSTLIST_H
#define APAPI_BASE_HOSTLIST_H
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/names.h"

#define HOSTLIST_MAX 65536 /* names in one list at most */

/** @return 0 to continue; -1 with errno to stop. */
typedef int (*hostlist_visit_f)(void *context, const char *name);

/**
 * Visit each name in a list in Slurm's form: "login,n[001-004,7],r[1-2]n[1-4]".
 * @param visit  NULL: the names are only counted
 * @return the number of names; -1 with errno EINVAL (malformed, or more than HOSTLIST_MAX names;
 * some may have been visited) or that of `visit`.
 */
ssize_t hostlist_each(const char *list, hostlist_visit_f visit, void *context);

/** Append the names of a list. @return as hostlist_each(); also -1 with errno ENOMEM. */
ssize_t hostlist_names(const char *list, struct namelist *names);

/**
 * Write names as a list, sorted and cut off after about `columns` bytes: "n[1-4,7] and 3 more".
 * @return a text, for free(); NULL with ENOMEM
 */
char *hostlist_text(const struct namelist *list, size_t columns);

#endif
