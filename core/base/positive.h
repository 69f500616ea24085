/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_BASE_POSITIVE_H
#define APAPI_BASE_POSITIVE_H
#include <stdlib.h>

/**
 * Parse a decimal number with nothing before or after it.
 * @param most  < ULONG_MAX
 * @return the number, from 1 to `most`; 0: not such a number.
 */
static inline unsigned long positive_number(const char *text, unsigned long most)
{
    char *end;
    unsigned long number;

    if (*text < '0' || *text > '9') {
        return 0;
    }
    number = strtoul(text, &end, 10); /* ULONG_MAX if it is greater than that */
    return *end || number > most ? 0 : number;
}

#endif
