/* SPDX-License-Identifier: BSD-3-Clause */
#include "history/power.h"

enum shape { SHAPE_CONSTANT, SHAPE_SQUARE, SHAPE_BURSTS, SHAPE_STEPS, SHAPES };

static void power_add_part(struct power *power, uint64_t part_ns, double part_w)
{
    power->part_ns[power->count] = part_ns;
    power->part_w[power->count++] = part_w;
    power->period_ns += part_ns;
    power->period_j += part_w * (double)part_ns / 1e9;
    power->min_w = power->count == 1 ? part_w : fmin(power->min_w, part_w);
    power->max_w = fmax(power->max_w, part_w);
}

/* Whole joules for each second, and whole microjoules for each part: sums are exact. */
static double power_some_w(struct random *random, double most_w)
{
    return 1 + floor(random_between(random, 0, most_w - 1));
}

void power_generate(struct power *power, struct random *random, double most_w)
{
    enum shape shape = (enum shape)random_below(random, SHAPES);
    double base_w = power_some_w(random, most_w / 4);
    uint64_t part_ns = 1000 * random_scale(random, 100, 1e6);
    size_t parts = 2 + random_below(random, POWER_PARTS - 1);

    *power = (struct power){.count = 0};
    switch (shape) {
    case SHAPE_CONSTANT:
        power_add_part(power, 1000000000, power_some_w(random, most_w));
        break;
    case SHAPE_SQUARE:
        power_add_part(power, part_ns, base_w);
        power_add_part(power, part_ns, power_some_w(random, most_w));
        break;
    case SHAPE_BURSTS:
        power_add_part(power, part_ns * (1 + random_below(random, 50)), base_w);
        power_add_part(power, part_ns, power_some_w(random, most_w));
        break;
    case SHAPE_STEPS:
    case SHAPES:
        for (size_t i = 0; i < parts - 1; i++) {
            power_add_part(power, 1000 * random_scale(random, 100, 1e6),
                           power_some_w(random, most_w));
        }
        break;
    }
}

double power_energy_j(const struct power *power, uint64_t ns)
{
    double energy_j = (double)(ns / power->period_ns) * power->period_j;

    ns %= power->period_ns;
    for (size_t i = 0; ns > 0 && i < power->count; i++) {
        uint64_t part_ns = ns < power->part_ns[i] ? ns : power->part_ns[i];

        energy_j += power->part_w[i] * (double)part_ns / 1e9;
        ns -= part_ns;
    }
    return energy_j;
}

double power_at_w(const struct power *power, uint64_t ns)
{
    size_t i = 0;

    ns %= power->period_ns;
    while (ns >= power->part_ns[i]) {
        ns -= power->part_ns[i++];
    }
    return power->part_w[i];
}
