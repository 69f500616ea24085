/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_DATABASE_DB_MEMBER_H
#define APAPI_DATABASE_DB_MEMBER_H
#include <stddef.h>

/**
 * Find a member of the object in a line, without parsing it.
 * @param line  valid JSON of `size` bytes
 * @param key   without anything that JSON escapes
 * @return the start of its value, an object or array; NULL: no such member
 */
const char *json_member(const char *line, size_t size, const char *key, size_t *value_size);

#endif
