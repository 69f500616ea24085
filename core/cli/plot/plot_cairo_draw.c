/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/plot/plot_cairo_draw.h"

#include <stdio.h>
#include <string.h>

#define REGIONS_HEIGHT 16
#define REGIONS_LEAST 24 /* width of one with a name */
#define BAND_COLUMNS 1024

const double plot_colours[PLOT_COLOURS][3] = {
    {0.20, 0.20, 0.20}, {0.00, 0.45, 0.70}, {0.90, 0.62, 0.00}, {0.00, 0.62, 0.45},
    {0.80, 0.47, 0.65}, {0.84, 0.37, 0.00}, {0.34, 0.71, 0.91}, {0.55, 0.45, 0.15}};

void plot_draw_text(cairo_t *cr, const struct text_box *box, const char *text)
{
    cairo_text_extents_t extents;
    char shown[1024];
    size_t size;

    snprintf(shown, sizeof shown, "%s", text);
    size = strlen(shown);
    cairo_text_extents(cr, shown, &extents);
    while (extents.x_advance > box->room && size > 0) {
        do {
            size--;
        } while (size > 0 && ((unsigned char)shown[size] & 0xC0) == 0x80);
        snprintf(shown + size, sizeof shown - size, "%s", size + 4 < sizeof shown ? "…" : "");
        cairo_text_extents(cr, shown, &extents);
    }
    cairo_move_to(cr, box->x - extents.x_advance * box->align, box->y);
    cairo_show_text(cr, shown);
}

void plot_draw_font(cairo_t *cr, double size, cairo_font_weight_t weight)
{
    cairo_select_font_face(cr, "sans-serif", CAIRO_FONT_SLANT_NORMAL, weight);
    cairo_set_font_size(cr, size);
    cairo_set_source_rgb(cr, INK, INK, INK);
}

static void plot_cairo_draw_colour(cairo_t *cr, const double *rgb)
{
    cairo_set_source_rgb(cr, (1 + rgb[0]) / 2, (1 + rgb[1]) / 2, (1 + rgb[2]) / 2);
}

void plot_draw_bands(cairo_t *cr, const struct panel *panel, const json_t *bands, double length_s)
{
    double sum_w[BAND_COLUMNS] = {0};
    const json_t *band;
    size_t k;

    json_array_foreach(bands, k, band)
    {
        const json_t *powers = json_object_get(band, "power_w");
        size_t count = json_array_size(powers);
        double column = panel->width * length_s / panel->time.greatest / (double)count;
        const double *rgb =
            plot_colours[json_integer_value(json_object_get(band, "colour")) % PLOT_COLOURS];
        double scale = panel->height / panel->power.greatest;

        for (size_t i = 0; i < count && i < BAND_COLUMNS; i++) {
            double power_w = json_number_value(json_array_get(powers, i));

            sum_w[i] += power_w;
            cairo_rectangle(cr, panel->x + column * (double)i,
                            panel->y + panel->height - sum_w[i] * scale, column, power_w * scale);
        }
        plot_cairo_draw_colour(cr, rgb);
        cairo_fill(cr);
    }
}

void plot_draw_regions(cairo_t *cr, const struct panel *panel, const json_t *regions)
{
    double x = panel->x, y = panel->y + panel->height + BOTTOM - 6;
    const json_t *region;
    size_t i;

    if (regions) {
        plot_draw_font(cr, 11, CAIRO_FONT_WEIGHT_NORMAL);
        plot_draw_text(cr, &(struct text_box){x - 6, y + 12, 1, LEFT}, "energy");
    }
    json_array_foreach(regions, i, region)
    {
        double width = panel->width * json_number_value(json_object_get(region, "share"));
        const double *rgb = plot_colours[1 + i % (PLOT_COLOURS - 1)];
        char text[1024];

        plot_cairo_draw_colour(cr, rgb);
        cairo_rectangle(cr, x, y, width, REGIONS_HEIGHT);
        cairo_fill(cr);
        snprintf(text, sizeof text, "%s %.0f %%",
                 json_string_value(json_object_get(region, "name")),
                 100 * json_number_value(json_object_get(region, "share")));
        plot_draw_font(cr, 10, CAIRO_FONT_WEIGHT_NORMAL);
        if (width > REGIONS_LEAST) {
            plot_draw_text(cr, &(struct text_box){x + 4, y + 12, 0, width - 6}, text);
        }
        x += width;
    }
}
