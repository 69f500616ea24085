/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_RENDER_TABLE_H
#define APAPI_RENDER_TABLE_H
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/** Cells in aligned columns, on a terminal or in a pipe (opaque). */
struct grid;

/** A column and its title. */
struct grid_column {
    const char *title;
    bool right; /* for numbers */
};

/**
 * @param columns  `count` of them, at least one, whose titles must outlive the grid
 * @return NULL: out of memory. All functions accept that: grid_finish() reports it.
 */
struct grid *grid_create(const struct grid_column *columns, size_t count);

#define GRID_WHOLE SIZE_MAX

/**
 * How a column is reduced on a narrow terminal. By default only the last one is: it is cut to 12
 * columns, and omitted below that.
 * @param least     minimum width, 4 or more; GRID_WHOLE: it is never cut
 * @param optional  it may be omitted; of several such columns the last one is omitted first
 */
void grid_yield(struct grid *grid, size_t column, size_t least, bool optional);

/** Set the next cell of the row. */
void grid_put(struct grid *grid, const char *text);

/** The same of up to GRID_FORMAT_SIZE bytes, as printf(). */
#define GRID_FORMAT_SIZE 256
void grid_format(struct grid *grid, const char *format, ...) __attribute__((format(printf, 2, 3)));

/**
 * Print it without empty columns, each line indented by 2, and free it.
 * @param grid   NULL, or one for which memory ran out: nothing is printed
 * @param title  a line before it; NULL: none
 * @param width  columns of the terminal; 0: no limit
 * @return 0; -1: out of memory
 */
int grid_finish(struct grid *grid, const char *title, FILE *out, size_t width);

/** @return the width of the terminal at standard output, or COLUMNS; 0: not known. */
size_t terminal_width(void);

/** Print a paragraph, continued with this indent; `width` as for grid_print(). */
void terminal_put(FILE *out, const char *text, size_t indent, size_t width);

/*
 * A table is a list of columns, and rows of cells. It is printed as a text, in columns as wide as
 * their cells, or as CSV. A row has a cell for each column, also for those that are not shown.
 */

/** How a column's cells are written in a text. CSV has a number with nine digits for all but texts.
 */
enum table_form {
    TABLE_TEXT,
    TABLE_RIGHT,    /* a text at the right */
    TABLE_COUNT,    /* a whole number */
    TABLE_NUMBER,   /* with `decimals` */
    TABLE_PERCENT,  /* with `decimals` */
    TABLE_QUANTITY, /* four digits and a prefix: "24.82 kJ" */
    TABLE_KNOWN,    /* with the digits that are known, see units_known_quantity() */
    TABLE_ENERGY,   /* the same [J], and its uncertainty as a share */
    TABLE_DURATION, /* [s]: "5 min 00 s" */
    TABLE_SHORT     /* [s]: "1.20 ms" */
};

struct table_column {
    const char *title; /* in a text; NULL: not there. Without any cell the column is left out */
    const char *key;   /* in CSV, with its unit; NULL: not there */
    const char *unit;  /* of a quantity */
    enum table_form form;
    int decimals;
    size_t least; /* minimum width in a narrow terminal; 0: it is not cut, unless it is the last */
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
    bool csv;
    FILE *out;
    struct grid *grid; /* of a text */
};

/** Begin. @param titles  of CSV: print a line of keys */
struct table table_begin(const struct table_column *columns, size_t count, bool csv, bool titles,
                         FILE *out);

/** Add a row of `count` cells. CSV is printed at once. */
void table_put(const struct table *table, const struct table_cell *cells);

/**
 * Print a text, each line indented by 2.
 * @param heading  of a text: a line before it; NULL: none
 * @return 0; -1: out of memory, nothing is printed
 */
int table_end(struct table *table, const char *heading);

#endif
