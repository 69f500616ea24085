/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_BASE_NUMBER_H
#define APAPI_BASE_NUMBER_H
#include <stdbool.h>
#include <stdint.h>

/** The whole number that a text begins with: decimal, 0x hexadecimal or 0 octal. */
struct whole_number {
    bool negative;
    uint64_t value;   /* of a number that is not negative */
    const char *rest; /* what follows it */
};

/** 0; -1 with errno EINVAL (begins with no number), ERANGE. */
int whole_number_parse(const char *text, struct whole_number *number);

/** The number that a text begins with. */
struct real_number {
    double value;
    const char *rest;
};

/** The same in every locale. 0; -1 with errno EINVAL, ERANGE. */
int real_number_parse(const char *text, struct real_number *number);

#endif
