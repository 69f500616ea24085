/* SPDX-License-Identifier: BSD-3-Clause */
/* Any text as a line of a node's own record. */
#include <errno.h>
#include <math.h>

#include "fuzz/fuzz.h"
#include "record/hour.h"

static bool is_energy(double energy_j)
{
    return isnan(energy_j) || (energy_j >= 0 && isfinite(energy_j));
}

static bool is_sum(const struct hour_sum *sum)
{
    return is_energy(sum->energy_j) && is_energy(sum->steps_j) && is_energy(sum->idle_j) &&
           !isinf(sum->unattributed_j);
}

static void check(const struct hour *hour)
{
    REQUIRE(hour->node[0] != '\0' && hour->end_ns >= hour->start_ns && hour->start_ns >= 0);
    REQUIRE(hour->measured_s >= 0 && isfinite(hour->measured_s));
    REQUIRE(is_sum(&hour->total) && is_sum(&hour->node_meter));
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        REQUIRE(is_sum(&hour->domains[d]));
    }
    REQUIRE(hour->gap_count <= HOUR_GAPS_MAX && hour->gap_total >= hour->gap_count);
    for (size_t i = 0; i < hour->gap_count; i++) {
        REQUIRE(is_energy(hour->gaps[i].elapsed_s));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
    static struct tree tree;
    struct hour hour = {.steps = 42};
    struct apapi_error err = {""};
    int got = hour_decode(&tree, (const char *)input, size, &hour, &err);

    if (got > 0) {
        check(&hour);
    } else if (got < 0) {
        REQUIRE((errno == EINVAL || errno == ENOTSUP) && err.text[0] != '\0');
    }
    return 0;
}
