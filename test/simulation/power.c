/* SPDX-License-Identifier: BSD-3-Clause */
#include "simulation/power.h"

#include <math.h>

#define TURN 6.283185307179586 /* full circle */

void power_init(struct power *power, struct power_part *parts, size_t size)
{
    *power = (struct power){.parts = parts, .size = size};
}

static double power_line_w(const struct power_part *part, uint64_t ns)
{
    double slope = part->to_w - part->from_w;

    return slope == 0 ? part->from_w : part->from_w + slope * (double)ns / (double)part->length_ns;
}

static double power_line_j(const struct power_part *part, uint64_t ns)
{
    double slope = part->to_w - part->from_w;
    double mean_w = slope == 0 ? part->from_w
                               : part->from_w + slope / 2 * ((double)ns / (double)part->length_ns);

    return mean_w * (double)ns / 1e9;
}

static void power_widen(struct power *power, double w)
{
    power->min_w = power->count == 0 ? w : fmin(power->min_w, w);
    power->max_w = fmax(power->max_w, w);
}

void power_add_line(struct power *power, uint64_t length_ns, double from_w, double to_w)
{
    struct power_part *part = &power->parts[power->count];

    if (power->count == power->size || length_ns == 0) {
        return;
    }
    *part = (struct power_part){.begin_ns = power->period_ns,
                                .length_ns = length_ns,
                                .from_w = from_w,
                                .to_w = to_w,
                                .before_j = power->period_j};
    power_widen(power, fmin(from_w, to_w));
    power->count++;
    power_widen(power, fmax(from_w, to_w));
    power->period_ns += length_ns;
    power->period_j += power_line_j(part, length_ns);
}

void power_add_part(struct power *power, uint64_t length_ns, double power_w)
{
    power_add_line(power, length_ns, power_w, power_w);
}

void power_add_sine(struct power *power, uint64_t period_ns, double amplitude_w)
{
    power->sine_ns = period_ns;
    power->sine_w = amplitude_w;
    power->min_w -= amplitude_w;
    power->max_w += amplitude_w;
}

/* @return the part at a time of the period. */
static const struct power_part *power_part_at(const struct power *power, uint64_t ns)
{
    size_t first = 0, count = power->count;

    while (count > 1) {
        size_t half = count / 2;

        if (power->parts[first + half].begin_ns <= ns) {
            first += half;
            count -= half;
        } else {
            count = half;
        }
    }
    return &power->parts[first];
}

static double power_sine_angle(const struct power *power, uint64_t ns)
{
    return TURN * (double)(ns % power->sine_ns) / (double)power->sine_ns;
}

static double power_sine_j(const struct power *power, uint64_t ns)
{
    double share = power->sine_w * ((double)power->sine_ns / 1e9) / TURN;

    return power->sine_w == 0 ? 0 : share * (1 - cos(power_sine_angle(power, ns)));
}

double power_energy_j(const struct power *power, uint64_t ns)
{
    uint64_t periods = ns / power->period_ns, in_period_ns = ns % power->period_ns;
    const struct power_part *part = power_part_at(power, in_period_ns);

    return (double)periods * power->period_j + part->before_j +
           power_line_j(part, in_period_ns - part->begin_ns) + power_sine_j(power, ns);
}

double power_at_w(const struct power *power, uint64_t ns)
{
    uint64_t in_period_ns = ns % power->period_ns;
    const struct power_part *part = power_part_at(power, in_period_ns);
    double sine_w = power->sine_w == 0 ? 0 : power->sine_w * sin(power_sine_angle(power, ns));

    return power_line_w(part, in_period_ns - part->begin_ns) + sine_w;
}
