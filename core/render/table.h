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

/** Print a paragraph; all lines but the first have an indent. `width` 0: no limit. */
void terminal_put(FILE *out, const char *text, size_t indent, size_t width);

/*
 * A table is a list of columns, and rows of cells. It is printed as a text for people, in columns
 * as wide as their cells, or for programs. A row has a cell for each column, also for columns that
 * are not shown.
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
    TABLE_FLAG,     /* a text at the right; in JSON true if the value is above 0 */
    TABLE_COUNT,    /* a whole number */
    TABLE_NUMBER,   /* with `decimals` */
    TABLE_PERCENT,  /* with `decimals` */
    TABLE_QUANTITY, /* four digits and a prefix: "24.82 kJ" */
    TABLE_KNOWN,    /* with the digits that are known, see units_known_quantity() */
    TABLE_ENERGY,   /* as TABLE_KNOWN [J], with the uncertainty as a share */
    TABLE_DURATION, /* [s]: "5 min 00 s" */
    TABLE_SHORT     /* [s]: "1.20 ms" */
};

#define TABLE_WHOLE SIZE_MAX /* `least` of a last column that is neither cut nor omitted */

/* On a narrow terminal the last column is cut, at most to 12 characters, or omitted. */
struct table_column {
    const char *title; /* in a text; NULL: not shown. A column without any cell is left out */
    const char *key;   /* for programs, with the unit; NULL: not shown */
    const char *unit;  /* of a quantity */
    enum table_form form;
    int decimals;
    size_t width;  /* least width, unless the column is left out or the terminal is narrow */
    size_t most;   /* greatest width: longer cells are cut; 0: no limit */
    size_t gap;    /* number of blanks before the column; 0: two */
    size_t least;  /* least width in a narrow terminal; 0: not cut, unless it is the last column */
    bool optional; /* may be omitted in a narrow terminal; the last such column goes first */
    bool kept;     /* shown even without any cell */
    bool rough;    /* six digits for programs, as the number is not known better */
};

struct table_cell {
    double value;       /* NaN: not known */
    const char *text;   /* the text; for a number NULL, or what a text shows instead */
    double uncertainty; /* of TABLE_KNOWN and TABLE_ENERGY; NaN: not known */
};

/* Initializers of cells. */
#define CELL_TEXT(string)                                                                          \
    {                                                                                              \
        .text = (string)                                                                           \
    }
#define CELL(number)                                                                               \
    {                                                                                              \
        .value = (number)                                                                          \
    }
/* A number that is blank in a text if it is not known. */
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
    size_t fit_rows;         /* number of first rows that set the columns' widths; 0: all */
    size_t last;             /* of a text: the last column that is shown */
    struct table_text *text; /* cells of a text; NULL: out of memory, which table_end() reports */
};

/** Begin a table. @param titles  print a line of titles, or of keys for programs */
struct table table_begin(const struct table_column *columns, size_t count, enum table_output output,
                         bool titles, FILE *out);

/** Add a row of `count` cells. For programs it is printed at once. */
void table_put(const struct table *table, const struct table_cell *cells);

/**
 * End a table: print it, if it is a text, and free its memory.
 * @param heading  line before a text; NULL: none
 * @return 0; -1: out of memory, nothing is printed
 */
int table_end(struct table *table, const char *heading);

/** Put a text into an object; "": nothing is put. */
void json_put_word(struct json_writer *json, const char *key, const char *text);

/**
 * Write the cells with a key into the object that is open: texts that are not "", numbers that are
 * known. Numbers of TABLE_QUANTITY have six digits, as those of rough columns.
 */
void table_write_cells(struct json_writer *json, const struct table_column *columns, size_t count,
                       const struct table_cell *cells);

/**
 * Say that an energy may be wrong by more than its uncertainty, if this is large already.
 * @param node_alone  the energy is that of domain node; false: that of the domains that add up
 * @param share       uncertainty of the energy, as a share; NaN: not known
 */
void table_put_doubt(const struct apapi_merge *merge, bool node_alone, double share, FILE *out);

#endif
