/* SPDX-License-Identifier: BSD-3-Clause */
/* Figures added up. */
#include <math.h>

#include "cli/steps/view.h"

struct top_figure top_sum(const struct top_figure *a, const struct top_figure *b)
{
    return (struct top_figure){.measured = true,
                               .estimated = a->estimated || b->estimated,
                               .failed = a->failed || b->failed,
                               .stale = a->stale || b->stale,
                               .now = a->now + b->now,
                               .total = a->total + b->total,
                               .age_s = fmax(a->age_s, b->age_s)};
}

void top_add_up(struct top_figure domains[APAPI_DOMAINS])
{
    struct top_figure total = {.now = NAN, .total = NAN, .age_s = NAN};

    for (int d = 0; d < APAPI_DOMAINS; d++) {
        const struct top_figure *part = &domains[d];

        if (part->measured && apapi_domain_adds_up((enum apapi_domain)d)) {
            total = total.measured ? top_sum(&total, part) : *part;
        }
    }
    domains[TOP_TOTAL] = total;
}
