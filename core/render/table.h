/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_RENDER_TABLE_H
#define APAPI_RENDER_TABLE_H
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "apapi/record.h"
#include "base/json.h"

/** @return the width of the terminal at standard output, or COLUMNS; 0: not known. */
size_t terminal_width(void);

/** @return the height of the terminal at standard output [lines]; 0: not known. */
size_t terminal_height(void);

/** Print a paragraph, continued with this indent; `width` 0: no limit. */
void terminal_put(FILE *out, const char *text, size_t indent, size_t width);

/*
 * A table is a list of columns, and rows of cells. It is printed as a text, in columns as wide as
 * their cells, or for programs. A row has a cell for each column, also for those that are not
 * shown.
 */

enum table_output {
    TABLE_FOR_PEOPLE, /* a text */
    TABLE_CSV,
    TABLE_PARSABLE /* as sacct's -P: with bars, and without quotes */
};

/**
 * Write a text as one field, with '?' for control characters. CSV: quoted if needed, and a ' before
 * what a spreadsheet would take for a formula. TABLE_PARSABLE: '?' for a bar, which ends a field.
 */
void table_put_text(FILE *out, enum table_output output, const char *text);

/** How a column's cells are written in a text. CSV has a number with nine digits for all but texts.
 */
enum table_form {
    TABLE_TEXT,
    TABLE_RIGHT,    /* a text at the right */
    TABLE_FLAG,     /* the same; in JSON true if the value is above 0 */
    TABLE_COUNT,    /* a whole number */
    TABLE_NUMBER,   /* with `decimals` */
    TABLE_PERCENT,  /* with `decimals` */
    TABLE_QUANTITY, /* four digits and a prefix: "24.82 kJ" */
    TABLE_KNOWN,    /* with the digits that are known, see units_known_quantity() */
    TABLE_ENERGY,   /* the same [J], and its uncertainty as a share */
    TABLE_DURATION, /* [s]: "5 min 00 s" */
    TABLE_SHORT     /* [s]: "1.20 ms" */
};

#define TABLE_WHOLE SIZE_MAX /* of the last column: it is neither cut nor omitted */

/* On a narrow terminal the last column is cut to 12 columns, and omitted below that. */
struct table_column {
    const char *title; /* in a text; NULL: not there. Without any cell the column is left out */
    const char *key;   /* in CSV, with its unit; NULL: not there */
    const char *unit;  /* of a quantity */
    enum table_form form;
    int decimals;
    size_t width;  /* at least, unless it is left out or the terminal is narrow */
    size_t most;   /* longer cells are cut; 0: none */
    size_t gap;    /* blanks before it; 0: two */
    size_t least;  /* minimum width in a narrow terminal; 0: it is not cut, unless it is the last */
    bool optional; /* it may be omitted there; of several such columns the last one goes first */
    bool kept;     /* it is there without any cell, too */
    bool rough;    /* CSV has six digits, as it is not known better */
};

struct table_cell {
    double value;       /* NaN: not known */
    const char *text;   /* of a text; of a number NULL, or what a text shows instead of it */
    double uncertainty; /* of TABLE_KNOWN and TABLE_ENERGY; NaN: not known */
};

/* Initializers. */
#define CELL_TEXT(string)                                                                          \
    {                                                                                              \
        .text = (string)                                                                           \
    }
#define CELL(number)                                                                               \
    {                                                                                              \
        .value = (number)                                                                          \
    }
/* In a text nothing if it is not known. */
#define CELL_OR_BLANK(number)                                                                      \
    {                                                                                              \
        .value = (number), .text = isnan(number) ? "" : NULL                                       \
    }

struct table {
    const struct table_column *columns; /* must outlive the table */
    size_t count;
    enum table_output output;
    bool titles;
    FILE *out;
    size_t indent;           /* of a text: before each line */
    size_t width;            /* columns of the terminal; 0: no limit */
    size_t fit_rows;         /* the first ones, which say how wide columns are; 0: all */
    size_t last;             /* column of it */
    struct table_text *text; /* its cells; NULL: out of memory, which table_end() reports */
};

/** Begin. @param titles  there is a line of titles, of CSV one of keys */
struct table table_begin(const struct table_column *columns, size_t count, enum table_output output,
                         bool titles, FILE *out);

/** Add a row of `count` cells. For programs it is printed at once. */
void table_put(const struct table *table, const struct table_cell *cells);

/**
 * Print a text.
 * @param heading  of a text: a line before it; NULL: none
 * @return 0; -1: out of memory, nothing is printed
 */
int table_end(struct table *table, const char *heading);

/** Put a text into an object; "": none, no member. */
void json_put_word(struct json_writer *json, const char *key, const char *text);

/**
 * Write the cells with a key into the object that is open: a text that is not "", a number that is
 * known. Of numbers those of TABLE_QUANTITY have six digits, too.
 */
void table_write_cells(struct json_writer *json, const struct table_column *columns, size_t count,
                       const struct table_cell *cells);

/**
 * Say that an energy may be wrong by more than its uncertainty, where that is large already.
 * @param node_alone  the energy is that of the domain node, else of those that add up
 * @param share       its uncertainty, as a share; NaN: not known
 */
void table_put_doubt(const struct apapi_merge *merge, bool node_alone, double share, FILE *out);

#endif
