/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_BASE_NUMBER_H
#define APAPI_BASE_NUMBER_H
#include <stdbool.h>
#include <stdint.h>

/** The whole number at the beginning of a text: decimal, 0x hexadecimal or 0 octal. */
struct whole_number {
    bool negative;
    uint64_t value;   /* of a non-negative number */
    const char *rest; /* the text after it */
};

/** 0; -1 with errno EINVAL (no number), ERANGE. */
int whole_number_parse(const char *text, struct whole_number *number);

/** The number at the beginning of a text. */
struct real_number {
    double value;
    const char *rest;
};

/** Independent of the locale. 0; -1 with errno EINVAL, ERANGE. */
int real_number_parse(const char *text, struct real_number *number);

#endif
