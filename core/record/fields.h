/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_RECORD_FIELDS_H
#define APAPI_RECORD_FIELDS_H
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
    FIELD_REAL,     /* double, fifteen digits; unknown: NaN */
    FIELD_FLAG,     /* bool; unknown: false */
    FIELD_MOMENT,   /* int64_t [ns since 1970], in JSON "2026-11-21T11:20:01.123456789Z" */
    FIELD_KIND,     /* enum apapi_kind; without a key: energy */
    FIELD_DOMAIN,   /* enum apapi_domain; unknown: APAPI_DOMAIN_NONE */
    FIELD_TYPE,     /* enum apapi_type; without a key: uint64 */
    FIELD_REGION,   /* enum apapi_region_kind; without a key: APAPI_REGION_NAMED */
    FIELD_METHOD    /* enum apapi_region_method */
};

/** One member. The list ends with a NULL key. */
struct field {
    const char *key;
    enum field_form form;
    bool mandatory; /* always written, even if 0 or ""; an error if missing */
    size_t offset;
    size_t size; /* FIELD_TEXT: bytes with the NUL */
};

/* Rows of a table: the tag of the structure, and its member. */
#define FIELD_OF(tag, key, form, mandatory, member)                                                \
    {                                                                                              \
        key, FIELD_##form, mandatory, offsetof(struct tag, member), 0                              \
    }
#define FIELD_TEXT_OF(tag, key, mandatory, member)                                                 \
    {                                                                                              \
        key, FIELD_TEXT, mandatory, offsetof(struct tag, member),                                  \
            sizeof(((struct tag *)NULL)->member)                                                   \
    }
#define FIELD_END                                                                                  \
    {                                                                                              \
        0                                                                                          \
    }

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

/** Write the members of the structure at `base` into the object that is open. */
void fields_write(struct json_writer *json, const struct field *fields, const void *base);

/** Write structures in a row into the array that is open, and close it; an empty one is dropped. */
void fields_write_list(struct json_writer *json, const struct field *fields, const void *list,
                       size_t count, size_t size);

/** The current position of the reader, for messages: "components[0].events[2]". */
struct field_path {
    const struct field_path *outer; /* NULL: the top level */
    const char *name;               /* "components"; "": the record itself */
    const size_t *index;            /* array index; NULL: none */
    struct apapi_error *err;
};

/** Fields of a list. */
#define FIELDS_MAX 38

/**
 * Fill the structure at `base` from an object. What it lacks becomes unknown.
 * @return 0; -1 with EINVAL and `where->err`
 */
int fields_decode(const struct tree_node *object, const struct field *fields, void *base,
                  const struct field_path *where);

/** How an array of objects is read. */
struct fields_list {
    const char *key;            /* of the array */
    size_t size;                /* of an element [bytes] */
    size_t *count;              /* result: elements that are complete */
    const struct field *fields; /* of an element; NULL: `read` knows */
    /** Read one object into an element, which is all zero. 0; -1 with errno and path->err. */
    int (*read)(const struct tree_node *object, void *element, const struct field_path *path);
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
