/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "base/units.h"
#include "output/table_parts.h"

static const char *table_share_idle(const struct apapi_share *share)
{
    if (share->idle[0] == '\0') {
        return "";
    }
    return share->idle[0] == 'c' ? ", idle power by cores" : ", idle power apart";
}

void table_put_share(const struct table *table)
{
    const struct share_sum *sum = &table->merge->share;
    const struct apapi_share *share = &sum->share;
    char energy[UNITS_SIZE];

    if (sum->nodes == 0) {
        if (share->reason[0]) {
            fprintf(table->out, "  share of the step: not known, %s\n", share->reason);
        }
        return;
    }
    units_known_quantity(energy, sizeof(energy), apapi_share_energy_j(share),
                         apapi_share_uncertainty_j(share), "J");
    fprintf(table->out, "  share of the step: %s (%s%s)\n", energy, share->method,
            table_share_idle(share));
    if (sum->lacking > 0) {
        fprintf(table->out, "  share not known on %zu of %zu nodes\n", sum->lacking,
                table->expected);
    }
}
