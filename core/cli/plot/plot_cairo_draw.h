/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PLOT_PLOT_CAIRO_DRAW_H
#define PLOT_PLOT_CAIRO_DRAW_H
#include <cairo.h>
#include <jansson.h>

/* What the parts of a picture have in common, and its regions. */

#define LEFT 64
#define BOTTOM 50
#define INK 0.15

/* Colours of Okabe and Ito, distinct for colour-blind people, without yellow, too pale on paper. */
#define PLOT_COLOURS 8
extern const double plot_colours[PLOT_COLOURS][3];

/* Scale of an axis. */
struct scale {
    double greatest, step, unit; /* [s] or [W] */
    const char *name;
};

struct panel {
    double x, y, width, height; /* of the plot area */
    double regions;             /* height of the bar below it; 0: no job has regions */
    struct scale time, power;
};

/* `align`: 0 starts at x, 0.5 is centred, 1 ends at x; cut to `room`. */
struct text_box {
    double x, y, align, room;
};

void plot_draw_text(cairo_t *cr, const struct text_box *box, const char *text);

void plot_draw_font(cairo_t *cr, double size, cairo_font_weight_t weight);

/** The power of regions over time, one above the other. @param bands  NULL: none */
void plot_draw_bands(cairo_t *cr, const struct panel *panel, const json_t *bands, double length_s);

/** How the energy divides into regions, in the same colours; names without room are omitted. */
void plot_draw_regions(cairo_t *cr, const struct panel *panel, const json_t *regions);

#endif
