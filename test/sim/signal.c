/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Signals as pure functions of time.
 *
 * Energy is computed in 128-bit integers and rounded down once, so that it is exact and never runs
 * backwards: the largest intermediate value, a slope of 1e12 uW/s times (1e13 us)^2, is 1e38 after
 * 115 days and fits into 127 bits.
 */
#include "simhw.h"

#include <math.h>

__extension__ typedef __int128 signal_wide;

static const int64_t signal_us_per_s = 1000000;
static const uint64_t signal_ns_per_us = 1000;
static const double signal_pi = 3.14159265358979323846;

/* Integral of power + slope * t, in uW*s: (2 * power * t + slope * t^2) / 2 with t in us. */
static uint64_t signal_ramp_uj(const struct sim_power *power, uint64_t time_ns)
{
    signal_wide time_us = (signal_wide)(time_ns / signal_ns_per_us);
    signal_wide power_uw = (signal_wide)power->power_uw;
    signal_wide slope = power->slope_uw_s;
    signal_wide sum;

    if (slope < 0 && time_us > power_uw * signal_us_per_s / -slope) {
        time_us = power_uw * signal_us_per_s / -slope;
    }
    sum = 2 * power_uw * time_us * signal_us_per_s + slope * time_us * time_us;
    return (uint64_t)(sum / ((signal_wide)2 * signal_us_per_s * signal_us_per_s));
}

static uint64_t signal_square_uj(const struct sim_power *power, uint64_t time_ns)
{
    uint64_t low_ns = power->period_ns / 2;
    uint64_t high_ns = power->period_ns - low_ns;
    uint64_t periods = time_ns / power->period_ns;
    uint64_t rest_ns = time_ns % power->period_ns;
    signal_wide total_low_ns = (signal_wide)periods * low_ns;
    signal_wide total_high_ns = (signal_wide)periods * high_ns;

    if (rest_ns > low_ns) {
        total_low_ns += low_ns;
        total_high_ns += rest_ns - low_ns;
    } else {
        total_low_ns += rest_ns;
    }
    return (uint64_t)((power->power_uw * total_low_ns + power->high_uw * total_high_ns) /
                      SIM_NS_PER_S);
}

static uint64_t signal_constant_uj(const struct sim_power *power, uint64_t time_ns)
{
    return (uint64_t)((signal_wide)power->power_uw * time_ns / SIM_NS_PER_S);
}

uint64_t sim_power_energy_uj(const struct sim_power *power, uint64_t time_ns)
{
    switch (power->shape) {
    case SIM_RAMP:
        return signal_ramp_uj(power, time_ns);
    case SIM_SQUARE:
        return signal_square_uj(power, time_ns);
    case SIM_LOADED:
        return signal_constant_uj(power, time_ns) + sim_load_energy_uj(power->load, time_ns);
    case SIM_CONSTANT:
        break;
    }
    return signal_constant_uj(power, time_ns);
}

int64_t sim_gauge_value(const struct sim_gauge *gauge, uint64_t time_ns)
{
    double turn = (double)(time_ns % gauge->period_ns) / (double)gauge->period_ns;

    return llround(gauge->mean + gauge->amplitude * sin(2 * signal_pi * turn));
}

uint64_t sim_register_value(const struct sim_register *reg, uint64_t time_ns)
{
    signal_wide counts;

    if (!reg->counts) {
        return reg->value;
    }
    counts = (signal_wide)reg->power_uw * time_ns * ((signal_wide)1 << reg->unit_exponent) /
             ((signal_wide)signal_us_per_s * SIM_NS_PER_S);
    return (uint64_t)(reg->value + counts) & UINT32_MAX;
}
