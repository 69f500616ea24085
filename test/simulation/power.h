/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIMULATION_POWER_H
#define SIMULATION_POWER_H
#include <stddef.h>
#include <stdint.h>

/** From begin_ns on, the power is `from_w`, and goes to `to_w` in a straight line. */
struct power_part {
    uint64_t begin_ns, length_ns;
    double from_w, to_w;
    double before_j; /* energy of the earlier parts */
};

/**
 * The true power of one part of a node: its parts, again and again, with a sine on top of them. Its
 * energy is known exactly.
 */
struct power {
    size_t count, size;
    struct power_part *parts; /* owned by the caller */
    uint64_t period_ns;
    double period_j;
    double sine_w; /* amplitude; 0: none */
    uint64_t sine_ns;
    double min_w, max_w;
};

/** Begin without parts. @param parts  room for `size` parts; it must outlive the power */
void power_init(struct power *power, struct power_part *parts, size_t size);

/** Add a part after the others. Without room, it has no effect. */
void power_add_line(struct power *power, uint64_t length_ns, double from_w, double to_w);

/** Like power_add_line(), with constant power. */
void power_add_part(struct power *power, uint64_t length_ns, double power_w);

/** Add a sine on top of all parts, after they were added. */
void power_add_sine(struct power *power, uint64_t period_ns, double amplitude_w);

/** @return the energy from the beginning of the history until `ns` later [J]. */
double power_energy_j(const struct power *power, uint64_t ns);

static inline double power_between_j(const struct power *power, uint64_t from_ns, uint64_t to_ns)
{
    return power_energy_j(power, to_ns) - power_energy_j(power, from_ns);
}

/** @return the power at a time [W] */
double power_at_w(const struct power *power, uint64_t ns);

static inline int power_varies(const struct power *power)
{
    return power->max_w > power->min_w;
}

#endif
