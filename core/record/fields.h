/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_RECORD_FIELDS_H
#define APAPI_RECORD_FIELDS_H
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/error.h"
#include "base/json.h"

/* --- tables ----------------------------------------------------------------------------------- */

/** How a member of a structure is written in JSON. An unknown member has no key. */
enum field_form {
    FIELD_TEXT,     /* char[size]; unknown: "" */
    FIELD_NUMBER,   /* uint32_t; unknown: APAPI_UNKNOWN */
    FIELD_COUNT,    /* uint64_t; unknown: 0. Above INT64_MAX a string of decimal digits */
    FIELD_DURATION, /* uint64_t [ns], in JSON [s]; unknown: 0 */
    FIELD_MEASURED, /* double, nine digits; unknown: NaN */
    FIELD_ROUGH,    /* the same with six digits: it is not known better */
    FIELD_LEAST,    /* the same, rounded down: it stays a lower bound */
    FIELD_GREATEST, /* the same, rounded up: it stays an upper bound */
    FIELD_AMOUNT,   /* double, nine digits, never below 0; unknown: NaN */
    FIELD_PART,     /* double above 0, six digits; unknown: NaN, 0 */
    FIELD_EXACT,    /* double >= 0, fifteen digits; unknown: 0 */
    FIELD_FLAG,     /* bool; unknown: false */
    FIELD_MOMENT,   /* int64_t [ns since 1970], in JSON "2026-11-21T11:20:01.123456789Z" */
    FIELD_KIND,     /* enum apapi_kind; without a key: energy */
    FIELD_DOMAIN,   /* enum apapi_domain; unknown: APAPI_DOMAIN_NONE */
    FIELD_TYPE,     /* enum apapi_type; without a key: uint64 */
    FIELD_REGION,   /* enum apapi_region_kind; without a key: APAPI_REGION_NAMED */
    FIELD_METHOD    /* enum apapi_region_method */
};

/** What a function that writes JSON returns. */
enum fields_outcome { FIELDS_WRITTEN = 0, FIELDS_OUT_OF_MEMORY = -1 };

/** One member. The list ends with a NULL key. */
struct field {
    const char *key;
    enum field_form form;
    bool mandatory; /* always written, even if 0 or ""; an error if missing */
    size_t offset;
    size_t size; /* FIELD_TEXT: bytes with the NUL */
};

extern const struct field fields_of_record[];    /* in struct apapi_record */
extern const struct field fields_of_trust[];     /* in struct apapi_measurement */
extern const struct field fields_of_domain[];    /* in struct apapi_domain_result */
extern const struct field fields_of_component[]; /* in struct apapi_component_result */
extern const struct field fields_of_event[];     /* in struct apapi_event_result */
extern const struct field fields_of_crossing[];  /* in struct apapi_crossing */

extern const struct field fields_of_region[];        /* in struct apapi_region_result */
extern const struct field fields_of_region_energy[]; /* in struct apapi_region_energy */
extern const struct field fields_of_fom[];           /* in struct apapi_fom */
extern const struct field fields_of_losses[];        /* in struct apapi_region_losses */

extern const struct field fields_of_share[];        /* in struct apapi_share */
extern const struct field fields_of_share_energy[]; /* in struct apapi_share_energy */

/** @return "int64", "uint64", "fp64", "bit64"; NULL when out of range. */
const char *field_type_name(int type);

/** Add the members of the structure at `base` to `object`. 0; -1: out of memory. */
int fields_encode(json_t *object, const struct field *fields, const void *base);

/** The same as a new object; NULL: out of memory. */
json_t *fields_object(const struct field *fields, const void *base);

#define FIELD_FIGURES 15 /* a double keeps every decimal number with so many digits */
#define FIELD_MEASURED_FIGURES 9
#define FIELD_ROUGH_FIGURES 6

/*
 * Put a single member. Texts are made valid UTF-8 and cut to 1023 bytes. A number that is not
 * finite gets no key. 0; -1 if out of memory, or if `value` is NULL.
 */
int field_put(json_t *object, const char *key, json_t *value);
int field_put_text(json_t *object, const char *key, const char *text);
json_t *field_text(const char *text); /* a JSON string; NULL: out of memory */
int field_put_count(json_t *object, const char *key, uint64_t count);
double field_rounded(double value, int figures); /* to so many significant digits */
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

/** json_dumps(), of which a terminal obeys nothing. Everything that is written as JSON comes from
 * here. */
char *fields_dump(const json_t *value, size_t flags);

/** Remove an array or object without elements. */
void fields_drop_empty(json_t *object, const char *key);

/** The current position of the reader, for messages: "components[0].events[2]". */
struct field_path {
    const struct field_path *outer; /* NULL: the top level */
    const char *name;               /* "components"; "": the record itself */
    const size_t *index;            /* array index; NULL: none */
    struct apapi_error *err;
};

/** The value of each field in the order of the list; NULL: not present. */
#define FIELDS_MAX 38
struct field_values {
    const struct tree_node *of[FIELDS_MAX];
};

/** Find the values in an object. Earlier ones are replaced only if the object has them. */
void fields_find(const struct tree_node *object, const struct field *fields,
                 struct field_values *values);

/** Fill the structure at `base` with the values. 0; -1 with EINVAL and `where->err`. */
int fields_read(const struct field_values *values, const struct field *fields, void *base,
                const struct field_path *where);

/** The same directly from an object. */
int fields_decode(const struct tree_node *object, const struct field *fields, void *base,
                  const struct field_path *where);

/** How an array of objects is read. */
struct fields_list {
    const char *key; /* of the array */
    size_t size;     /* of an element [bytes] */
    size_t *count;   /* result: elements that are complete */
    /** Read one object into an element, which is all zero. 0; -1 with errno and path->err. */
    int (*read)(const struct tree_node *object, void *element, const void *context,
                const struct field_path *path);
    const void *context; /* for `read` */
};

/**
 * Read an array, which the object may lack.
 * @param elements  the address of a pointer, which is set to their memory, also on failure
 * @return 0; -1 with errno and `where->err`
 */
int fields_decode_list(const struct tree_node *object, const struct fields_list *list,
                       void *elements, const struct field_path *where);

/** Fill `where->err` with "record: <path>.<key>: <what>". -1 with EINVAL. */
int field_fail(const struct field_path *where, const char *key, const char *what);

#endif
