/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/idle.h"

#include <math.h>

#define IDLE_PART 0.1

static unsigned idle_number(double power_w)
{
    int octave;
    double fraction = frexp(power_w, &octave); /* 0.5 <= fraction < 1 */
    double number = (octave - 1 - IDLE_LEAST + 2 * (fraction - 0.5)) * IDLE_BINS_PER_OCTAVE;

    if (number < 0) {
        return 0;
    }
    return number < IDLE_BINS ? (unsigned)number : IDLE_BINS - 1;
}

static void idle_halve(struct idle_power *idle)
{
    idle->sum_s = 0;
    for (unsigned i = 0; i < IDLE_BINS; i++) {
        idle->bins[i].seconds /= 2;
        idle->bins[i].energy_j /= 2;
        idle->sum_s += idle->bins[i].seconds;
    }
}

void idle_add(struct idle_power *idle, double power_w, double seconds)
{
    struct idle_bin *bin;

    if (!(power_w > 0) || !(seconds > 0) || !isfinite(power_w) || !isfinite(seconds)) {
        return;
    }
    bin = &idle->bins[idle_number(power_w)];
    bin->seconds += (float)seconds;
    bin->energy_j += (float)(power_w * seconds);
    idle->sum_s += seconds;
    if (idle->sum_s > IDLE_MEMORY_S) {
        idle_halve(idle);
    }
}

double idle_power_w(const struct idle_power *idle)
{
    double sum_s = 0;

    if (idle->sum_s < IDLE_ENOUGH_S) {
        return NAN;
    }
    for (unsigned i = 0; i < IDLE_BINS; i++) {
        sum_s += idle->bins[i].seconds;
        if (sum_s >= IDLE_PART * idle->sum_s && idle->bins[i].seconds > 0) {
            return idle->bins[i].energy_j / idle->bins[i].seconds;
        }
    }
    return NAN;
}
