/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REGIONS_INTERN_H
#define REGIONS_INTERN_H
#include <stdbool.h>
#include <stdint.h>

#include "regions/page.h"

/*
 * The names of this process, each with a number of its own from 1 on. They are kept for as long as
 * it runs. Any thread; INTERN_OTHER stands for all names that there is no room for.
 */

#define INTERN_NAMES 256
#define INTERN_OTHER (INTERN_NAMES - 1)
#define INTERN_SIZE 256 /* of a name with its NUL; longer ones are cut */

/** @return number of a name; it is added if it is new. Locks only then. */
uint32_t intern_name(const char *name);

/** @return whether intern_name() has returned this number. */
bool intern_knows(uint32_t number);

/** @return whether a number is that of a name; always for INTERN_OTHER. */
bool intern_is(uint32_t number, const char *name);

/** @return a name as it is shown: clean UTF-8 without "/". */
const char *intern_shown(uint32_t number);

/** After a fork: the lock may have been held. */
void intern_unlock(void);

/**
 * Make a name fit to be shown: bytes that are not printable UTF-8, "/" and "\" become "\xNN", an
 * empty name two quotes; the middle of a long one is left out.
 */
void intern_show(char shown[PAGE_NAME_SIZE], const char *name);

#endif
