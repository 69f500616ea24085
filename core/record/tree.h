/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_RECORD_TREE_H
#define APAPI_RECORD_TREE_H
#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/measurement.h"
#include "apapi/region_result.h"
#include "apapi/share_result.h"
#include "base/json.h"

/* JSON as jansson's trees. New code writes with base/json.h; this file goes with its last user. */

struct field;

/** The result of a function that writes JSON. */
enum fields_outcome { FIELDS_WRITTEN = 0, FIELDS_OUT_OF_MEMORY = -1 };

/* Add what is written to `object`. 0; -1: out of memory. */
int fields_encode(json_t *object, const struct field *fields, const void *base);
int regions_encode(json_t *root, const struct apapi_regions *regions);
int share_encode(json_t *root, const struct apapi_share *share);
int timeline_encode(json_t *object, const struct apapi_timeline *timeline);

/* The same as a new value; NULL: out of memory. */
json_t *fields_object(const struct field *fields, const void *base);
json_t *share_object(const struct apapi_share *share);
json_t *domain_list_json(uint32_t set);

#define FIELD_FIGURES JSON_EXACT
#define FIELD_MEASURED_FIGURES JSON_MEASURED
#define FIELD_ROUGH_FIGURES JSON_ROUGH
#define field_rounded json_rounded

/*
 * Put a single member. Texts are made valid UTF-8 and cut to 1023 bytes. A number that is not
 * finite gets no key. 0; -1 if out of memory, or if `value` is NULL.
 */
int field_put(json_t *object, const char *key, json_t *value);
int field_put_text(json_t *object, const char *key, const char *text);
json_t *field_text(const char *text); /* a JSON string; NULL: out of memory */
int field_put_count(json_t *object, const char *key, uint64_t count);
int field_put_rounded(json_t *object, const char *key, double value, int figures);
int field_put_measured(json_t *object, const char *key, double value); /* nine digits */
int field_put_rough(json_t *object, const char *key, double value);    /* six digits */
int field_put_moment(json_t *object, const char *key, int64_t unix_ns);

enum { FIELDS_NONE = 2 }; /* see fields_put_f */

/**
 * Put the members of element `i` of `list` into its object.
 * @return 0; FIELDS_NONE: the element is left out; other values: out of memory
 */
typedef int (*fields_put_f)(json_t *object, const void *list, size_t i);

/* Put an array, or an object with a member for each domain. 0; -1: out of memory. */
int fields_put_list(json_t *object, const char *key, size_t count, fields_put_f put,
                    const void *list);
int fields_put_domains(json_t *object, const char *key, fields_put_f put, const void *list);

/** Steals the reference to `object`. @return its text if `result` is 0; NULL: out of memory */
char *fields_text(json_t *object, int result);

/** json_dumps(), of which a terminal obeys nothing. */
char *fields_dump(const json_t *value, size_t flags);

/** Remove an array or object without elements. */
void fields_drop_empty(json_t *object, const char *key);

#endif
