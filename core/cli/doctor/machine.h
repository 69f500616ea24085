/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_DOCTOR_MACHINE_H
#define APAPI_DOCTOR_MACHINE_H
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/** The properties of a machine that decide whether its meters can be read. */
struct machine {
    bool virtual_machine;
    bool container;
    int perf_event_paranoid; /* PARANOID_UNKNOWN: the kernel has no perf */
    uid_t uid;               /* effective user */
    char user[64];
};

#define PARANOID_UNKNOWN 99

/** Examine this machine. */
void machine_look(struct machine *machine);

/**
 * The permissions of the first existing file that a text names: "/dev/ipmi0 has mode 0600, owner
 * root, group root". "" if there is none.
 */
void machine_rights(const char *naming, char *text, size_t size);

#endif
