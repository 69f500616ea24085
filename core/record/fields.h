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
    FIELD_ROUGH,    /* double, six digits: it is not known better; unknown: NaN */
    FIELD_LEAST,    /* as FIELD_ROUGH, rounded down: it stays a lower bound */
    FIELD_GREATEST, /* as FIELD_ROUGH, rounded up: it stays an upper bound */
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
    FIELD_METHOD,   /* enum apapi_region_method */
    FIELD_SET,      /* uint32_t, a set of domains; unknown: 0 */
    FIELD_OBJECT,   /* a structure; unknown: none of its members is known */
    FIELD_DOMAINS,  /* structures by enum apapi_domain, in JSON by name; unknown: energy is NaN */
    FIELD_LIST,     /* pointer to structures, which are read into new memory; unknown: none */
    FIELD_LINE      /* the line of a record in a database; not used for JSON */
};

struct field_path;

/** One member. The list ends with a NULL key. */
struct field {
    const char *key;
    enum field_form form;
    bool mandatory; /* always written, even if 0 or ""; an error if missing */
    bool always;    /* always written, but it may be missing when it is read */
    size_t offset;
    size_t size;                /* of a text with its NUL, or of a structure [bytes] */
    const struct field *fields; /* of a structure */
    size_t count;               /* FIELD_LIST: offset of the size_t with the number of elements */
    /** Reads or checks what `fields` cannot describe; NULL: there is no such thing.
     * @return 0; -1 as fields_decode() */
    int (*read)(const struct tree_node *object, void *structure, const struct field_path *path);
    void (*write)(struct json_writer *json, const void *structure);
};

/* Rows of a table. `tag` is that of the structure, `must` is `mandatory`. */
#define FIELD_OF(tag, name, type, must, member)                                                    \
    {                                                                                              \
        .key = (name), .form = FIELD_##type, .mandatory = (must),                                  \
        .offset = offsetof(struct tag, member)                                                     \
    }
#define FIELD_TEXT_OF(tag, name, must, member)                                                     \
    {                                                                                              \
        .key = (name), .form = FIELD_TEXT, .mandatory = (must),                                    \
        .offset = offsetof(struct tag, member), .size = sizeof(((struct tag *)NULL)->member)       \
    }
#define FIELD_LIST_OF(tag, name, must, member, number, inner, reader)                              \
    {                                                                                              \
        .key = (name), .form = FIELD_LIST, .mandatory = (must),                                    \
        .offset = offsetof(struct tag, member), .size = sizeof *((struct tag *)NULL)->member,      \
        .fields = (inner), .count = offsetof(struct tag, number), .read = (reader)                 \
    }
#define FIELD_DOMAINS_OF(tag, name, must, member, inner, reader)                                   \
    {                                                                                              \
        .key = (name), .form = FIELD_DOMAINS, .mandatory = (must),                                 \
        .offset = offsetof(struct tag, member), .size = sizeof *((struct tag *)NULL)->member,      \
        .fields = (inner), .read = (reader)                                                        \
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

/** Write the members of the structure at `base` into the object that is open. */
void fields_write(struct json_writer *json, const struct field *fields, const void *base);

/** Write the names of a set of domains as an array; nothing if there are none. */
void domain_list_write(struct json_writer *json, const char *key, uint32_t set);

/** The current position of the reader, for messages: "components[0].events[2]". */
struct field_path {
    const struct field_path *outer; /* NULL: the top level */
    const char *name;               /* "components"; "": the record itself */
    const size_t *index;            /* array index; NULL: none */
    struct apapi_error *err;
};

/** The greatest number of fields in a table. */
#define FIELDS_MAX 39

/**
 * Fill the structure at `base`, all zero, from an object. Members that it lacks become unknown.
 * @return 0; -1 with EINVAL, ENOMEM and `where->err`: the caller frees lists that were read
 */
int fields_decode(const struct tree_node *object, const struct field *fields, void *base,
                  const struct field_path *where);

/** Fill `where->err` with "record: <path>.<key>: <what>". -1 with EINVAL. */
int field_fail(const struct field_path *where, const char *key, const char *what);

#endif
