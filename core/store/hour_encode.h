/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_STORE_HOUR_ENCODE_H
#define APAPI_STORE_HOUR_ENCODE_H
#include "store/hour.h"

/**
 * @param type  "hour", "day"
 * @return the line, without the newline, free it with free(); NULL: out of memory
 */
char *hour_encode(const struct hour *hour, const char *type);

#endif
