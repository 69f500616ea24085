/* SPDX-License-Identifier: BSD-3-Clause */
#include "collect/pass_totals.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void pass_totals_put(FILE *out, const struct budget_node *node)
{
    double total_j = node->latest.total_j;
    uint64_t run = node->latest.run;

    /* a node whose step was too short for a total has none */
    fprintf(out, "%s %" PRIu64 " %" PRIu64 " ", node->name, run ? run : 1, node->latest.elapsed_ns);
    if (isnan(total_j)) {
        fputc('-', out);
    } else {
        fprintf(out, "%.9g", total_j);
    }
    fputs(node->ended ? " ended\n" : "\n", out);
}

void pass_totals(const struct budget_sum *sum, const struct forward *forward)
{
    char *lines = NULL;
    size_t size = 0;
    FILE *out = forward_is_open(forward) && sum->count > 0 ? open_memstream(&lines, &size) : NULL;

    if (!out) {
        return;
    }
    for (size_t i = 0; i < sum->count; i++) {
        pass_totals_put(out, &sum->nodes[i]);
    }
    if (fclose(out) != EOF) {
        forward_totals(forward, lines, size);
    }
    free(lines);
}
