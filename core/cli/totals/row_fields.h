/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_TOTALS_ROW_FIELDS_H
#define APAPI_TOTALS_ROW_FIELDS_H
#include "cli/totals/totals.h"
#include "render/table.h"

enum report_kind {
    REPORT_TEXT,
    REPORT_LIST,    /* char *, allocated */
    REPORT_BUFFER,  /* char[] */
    REPORT_COUNT,   /* this and the following: double, NaN: unknown */
    REPORT_ENERGY,  /* J */
    REPORT_POWER,   /* W */
    REPORT_SECONDS, /* s */
    REPORT_PERCENT,
    REPORT_MASS, /* g */
    REPORT_MONEY,
    REPORT_MOMENT, /* int64_t, ns since 1970 */
    REPORT_FLAG    /* bool */
};

/** A field that users can select. */
struct report_field {
    const char *name;
    enum report_kind kind;
    size_t width;  /* of a column of a table */
    size_t offset; /* in struct report_row */
    const char *help;
};

enum report_unit {
    REPORT_UNIT_AUTO,
    REPORT_UNIT_J,
    REPORT_UNIT_KJ,
    REPORT_UNIT_WH,
    REPORT_UNIT_KWH
};

#define REPORT_COLUMNS_MAX 64
struct report_column {
    const struct report_field *field;
    size_t width;
    bool given; /* set by the user */
};
struct report_format {
    struct report_column columns[REPORT_COLUMNS_MAX];
    size_t count;
    enum report_unit unit;
    const char *currency;
};

/** @return a row of which nothing is known: all its fields are blank. */
struct report_row report_row_empty(void);

/** @return field number `index`; NULL after the last one. */
const struct report_field *report_field_at(size_t index);

/** Their names separated by commas; only those of numbers, for sorting. */
void report_fields_list(bool numbers_only, char *text, size_t size);

/** "jobid,energy%12". @return 0; -1 with errno EINVAL (a field), ERANGE (a width, or too many). */
int report_format_parse(const char *list, struct report_format *format, struct apapi_error *err);

/** @return 0; -1 with errno EINVAL. */
int report_unit_parse(const char *text, enum report_unit *unit, struct apapi_error *err);

/** In sacct's form: [D-]HH:MM:SS. */
void report_elapsed_text(char *text, size_t size, double seconds);

/** "24.82 kJ", with no more digits than are known. @param uncertainty_j  NaN: unknown */
void report_energy_text(char *text, size_t size, double energy_j, double uncertainty_j,
                        enum report_unit unit);

/** A field with a numeric value, for sorting. NULL with `err`. */
const struct report_field *report_field_sortable(const char *name, struct apapi_error *err);

/** The value of such a field. */
double report_field_number(const struct report_field *field, const struct report_row *row);

/** @return whether its number is known to six digits only, else to nine. */
bool report_field_is_rough(const struct report_field *field);

/**
 * @param text  its room: for people "24.82 kJ", "" if not known
 * @return the cell of a table, with the number in its unit
 */
struct table_cell report_field_cell(const struct report_field *field, const struct report_row *row,
                                    const struct report_format *format, char *text, size_t size);

/** The text of a text field; NULL: not a text field. */
const char *report_field_string(const struct report_field *field, const struct report_row *row);

/** The name with its unit, for programs: "energy_j". */
void report_field_key(const struct report_field *field, enum report_unit unit, char *key,
                      size_t size);

/**
 * Sort rows by a numeric field: the greatest first, unknown ones last, otherwise stable.
 * @param order  numbers of `count` rows; result
 * @return 0; -1 with errno ENOMEM.
 */
int report_sort(const struct report_ledger *ledger, const struct report_field *field,
                const struct rates *rates, uint32_t *order, size_t count);

#endif
