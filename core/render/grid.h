/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_RENDER_GRID_H
#define APAPI_RENDER_GRID_H
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
 * @param columns  `count` of them, whose titles must outlive the grid
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

#endif
