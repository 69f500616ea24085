/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_STORE_SCAN_HEAD_H
#define APAPI_STORE_SCAN_HEAD_H
#include <stdbool.h>
#include <stddef.h>

/** One "key":value of the object in a line, as written. */
struct head_pair {
    const char *key, *value; /* without NUL; a text without its quotes */
    size_t key_size, value_size;
    bool text; /* otherwise a number, true or false */
};

struct head {
    const char *at, *end;
};

/** @return whether the line begins as apapi_record_encode() writes it. */
bool head_begin(struct head *head, const char *line, size_t size);

/**
 * The next pair.
 * @return false at the end of the line, at the first object or array, and at anything that differs
 * from the form of apapi_record_encode().
 */
bool head_next(struct head *head, struct head_pair *pair);

/** @return whether the text equals these bytes. */
bool head_is(const char *text, size_t size, const char *wanted);

#endif
