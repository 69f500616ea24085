/* SPDX-License-Identifier: BSD-3-Clause */
#include "verify/figures.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/json.h"
#include "record/fields.h"

#define VERSION 1

void figures_print_head(void)
{
    printf("%-15s %8s %8s %9s  %-15s %9s %10s %9s %8s\n", "ensemble", "runs", "known", "covered",
           "95 % bounds", "worst e/U", "median U/e", "unflagged", "rough");
}

void figures_print_row(const struct figures *figures)
{
    printf("%-15s %8" PRIu64 " %8" PRIu64 " %7.2f %%  %6.2f ..%6.2f %9.3g %10.3g %9" PRIu64
           " %8" PRIu64 "\n",
           figures->name, figures->runs, figures->known, figures->covered_pct, figures->least_pct,
           figures->greatest_pct, figures->worst, figures->median, figures->unflagged,
           figures->rough);
}

#define MEMBER(member) .mandatory = true, .offset = offsetof(struct figures, member)

static const struct field fields_of_figures[] = {
    {"name", FIELD_TEXT, MEMBER(name), .size = sizeof(((struct figures *)0)->name)},
    {"what", FIELD_TEXT, MEMBER(what), .size = sizeof(((struct figures *)0)->what)},
    {"runs", FIELD_COUNT, MEMBER(runs)},
    {"known", FIELD_COUNT, MEMBER(known)},
    {"covered_pct", FIELD_ROUGH, .offset = offsetof(struct figures, covered_pct)},
    {"least_pct", FIELD_ROUGH, MEMBER(least_pct)},
    {"greatest_pct", FIELD_ROUGH, MEMBER(greatest_pct)},
    {"worst", FIELD_ROUGH, .offset = offsetof(struct figures, worst)},
    {"median", FIELD_ROUGH, .offset = offsetof(struct figures, median)},
    {"unflagged", FIELD_COUNT, MEMBER(unflagged)},
    {"rough", FIELD_COUNT, MEMBER(rough)},
    {0}};

static int figures_put(json_t *object, const void *figures, size_t i)
{
    return fields_encode(object, fields_of_figures, &((const struct figures *)figures)[i]);
}

int figures_print_json(const struct figures *figures, size_t count, const struct play *play)
{
    json_t *object = json_object();

    return json_print(object,
                      field_put(object, "version", json_integer(VERSION)) ||
                          field_put(object, "seed", json_integer((json_int_t)play->seed)) ||
                          field_put(object, "real", json_boolean(play->real)) ||
                          fields_put_list(object, "ensembles", count, figures_put, figures));
}
