/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulator's side of a load file. */
#include "load.h"

#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

static const uint64_t load_pj_per_uj = 1000000;

struct sim_load *sim_load_create(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    void *load = MAP_FAILED;

    if (fd >= 0 && ftruncate(fd, sizeof(struct sim_load)) == 0) {
        load = mmap(NULL, sizeof(struct sim_load), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    }
    if (fd >= 0) {
        close(fd);
    }
    return load == MAP_FAILED ? NULL : load;
}

/* Find the latest change before now_ns. @return whether it was still there after it was copied */
static int load_find(const struct sim_load_slot *slot, uint64_t now_ns,
                     struct sim_load_change *change)
{
    uint64_t count = __atomic_load_n(&slot->count, __ATOMIC_ACQUIRE), number = count, again;

    *change = (struct sim_load_change){now_ns, 0, 0};
    while (number > 0 && count - number < SIM_LOAD_CHANGES / 2) {
        *change = slot->changes[--number % SIM_LOAD_CHANGES];
        if (change->at_ns <= now_ns) {
            break;
        }
    }
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    again = __atomic_load_n(&slot->count, __ATOMIC_RELAXED);
    return again - number < SIM_LOAD_CHANGES;
}

static uint64_t load_slot_pj(const struct sim_load_slot *slot, uint64_t now_ns)
{
    struct sim_load_change change;

    while (!load_find(slot, now_ns, &change)) {
        ;
    }
    if (change.at_ns > now_ns) {
        return change.energy_pj;
    }
    return change.energy_pj + change.power_uw * (now_ns - change.at_ns) / 1000;
}

uint64_t sim_load_energy_uj(const struct sim_load *load, uint64_t time_ns)
{
    uint64_t energy_pj = 0;

    for (size_t i = 0; i < SIM_LOAD_SLOTS; i++) {
        energy_pj += load_slot_pj(&load->slots[i], load->start_ns + time_ns);
    }
    return energy_pj / load_pj_per_uj;
}
