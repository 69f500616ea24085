/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_DOCTOR_MACHINE_H
#define APAPI_DOCTOR_MACHINE_H
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/** What of a machine decides whether its meters can be read. */
struct machine {
    bool virtual_machine;
    bool container;
    int perf_event_paranoid; /* PARANOID_UNKNOWN: the kernel has no perf */
    uid_t uid;               /* the effective one */
    char user[64];
};

#define PARANOID_UNKNOWN 99

/** Look at this machine. */
void machine_look(struct machine *machine);

/**
 * Who may read the first file that a text names: "/dev/ipmi0 has mode 0600, owner root, group
 * root".
 * "" if it names none that is there.
 */
void machine_rights(const char *naming, char *text, size_t size);

#endif
