/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_DATABASE_DB_MEMBER_H
#define APAPI_DATABASE_DB_MEMBER_H
#include <stddef.h>

/**
 * The text of a member of the object that a line is, as it stands there.
 * @param line  valid JSON of `size` bytes
 * @param key   without anything that JSON escapes
 * @return where its value begins, an object or array; NULL: there is no such member
 */
const char *json_member(const char *line, size_t size, const char *key, size_t *value_size);

#endif
