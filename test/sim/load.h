/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Power that programs set themselves, in a file that they and the simulator have mapped. A thread
 * has a slot in it, and writes there since when it draws how much. The simulator adds the slots up.
 */
#ifndef SIMHW_LOAD_H
#define SIMHW_LOAD_H
#include <stdint.h>

enum { SIM_LOAD_SLOTS = 64, SIM_LOAD_CHANGES = 64 };

struct sim_load_change {
    uint64_t at_ns;     /* CLOCK_MONOTONIC */
    uint64_t energy_pj; /* of the slot, up to at_ns */
    uint64_t power_uw;  /* from at_ns on */
};

/* The latest changes. A meter may show a state that is up to one update old. One writer. */
struct sim_load_slot {
    uint64_t count; /* of all changes; counted after the change is complete */
    struct sim_load_change changes[SIM_LOAD_CHANGES];
};

struct sim_load {
    uint64_t start_ns; /* second 0 of the simulation on CLOCK_MONOTONIC */
    struct sim_load_slot slots[SIM_LOAD_SLOTS];
};

/* Let the slot's thread draw `power_uw` from now_ns on. @return its energy until then [pJ] */
static inline uint64_t sim_load_set(struct sim_load *load, unsigned int number, uint64_t power_uw,
                                    uint64_t now_ns)
{
    struct sim_load_slot *slot = &load->slots[number];
    const struct sim_load_change *last =
        &slot->changes[(slot->count + SIM_LOAD_CHANGES - 1) % SIM_LOAD_CHANGES];
    struct sim_load_change *next = &slot->changes[slot->count % SIM_LOAD_CHANGES];
    uint64_t energy_pj = 0;

    if (slot->count > 0) {
        energy_pj = last->energy_pj + last->power_uw * ((now_ns - last->at_ns) / 1000);
        now_ns -= (now_ns - last->at_ns) % 1000;
    }
    *next = (struct sim_load_change){now_ns, energy_pj, power_uw};
    __atomic_store_n(&slot->count, slot->count + 1, __ATOMIC_RELEASE);
    return energy_pj;
}

/* Create the file. @return NULL with errno. */
struct sim_load *sim_load_create(const char *path);

/* @return the energy of all slots until `time_ns` of the simulation. */
uint64_t sim_load_energy_uj(const struct sim_load *load, uint64_t time_ns);

#endif
