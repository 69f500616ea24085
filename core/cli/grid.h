/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_CLI_GRID_H
#define APAPI_CLI_GRID_H
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

/** @param columns  `count` of them, which outlive the grid. @return NULL without memory. */
struct grid *grid_create(const struct grid_column *columns, size_t count);

#define GRID_WHOLE SIZE_MAX

/**
 * How a column gives way on a terminal that is too narrow. Without it none does but the last one,
 * which is cut to 12 columns and then left out.
 * @param least     columns that it is cut to, 4 or more; GRID_WHOLE: it is never cut
 * @param optional  it may be left out; of several such columns the last one first
 */
void grid_yield(struct grid *grid, size_t column, size_t least, bool optional);

/** Put the next cell of the row. @return 0; -1 with errno ENOMEM. */
int grid_put(struct grid *grid, const char *text);

/**
 * Print it, columns without content left out, each line indented by 2.
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
