/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_PROGRAM_GRID_H
#define APAPI_PROGRAM_GRID_H
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/** Cells in aligned columns, on a terminal or in a pipe (opaque). */
struct grid;

/** A column and its title. */
struct grid_column {
    const char *title;
    bool right; /* for numbers */
};

/** @param columns  `count` of them, which outlive the grid. @return NULL without memory. */
struct grid *grid_create(const struct grid_column *columns, size_t count);

/** Put the next cell of the row. @return 0; -1 with errno ENOMEM. */
int grid_put(struct grid *grid, const char *text);

/**
 * Print it, columns without content left out, each line indented by 2. On a terminal that is too
 * narrow the last column is shortened, or left out with its last 12 places; no other ever is.
 * @param width  columns of the terminal; 0: no limit
 */
void grid_print(const struct grid *grid, FILE *out, size_t width);

/** Free. NULL is allowed. */
void grid_destroy(struct grid *grid);

/** @return the width of the terminal at standard output, or COLUMNS; 0: neither is known. */
size_t terminal_width(void);

/** Put a paragraph, its later lines indented by `indent`; `width` as for grid_print(). */
void terminal_put(FILE *out, const char *text, size_t indent, size_t width);

#endif
