/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CHANNEL_PACKET_H
#define CHANNEL_PACKET_H
#include <stdbool.h>
#include <stddef.h>

/*
 * The event settings of a user's environment as one text. An environment variable carries it with
 * the job:
 *
 *   KIND SIZE NAME\n<SIZE bytes>\n ...
 *
 * KIND: "eventlist", "eventops" (NAME: the file name, the bytes: its content), "components" (the
 * bytes: APAPI_CMPLIST), "verbose" (APAPI_VERBOSE). libc only.
 */

#define PACKET_VARIABLE "SLURM_APAPI_RULES"
#define PACKET_MAX 65536 /* bytes of the text with its NUL */
#define PACKET_NAME_SIZE 256

#define PACKET_EVENTLIST "eventlist"
#define PACKET_EVENTOPS "eventops"
#define PACKET_COMPONENTS "components"
#define PACKET_VERBOSE "verbose"

/** One part of a packet. */
struct packet_item {
    char name[PACKET_NAME_SIZE];
    const char *bytes; /* within the packet, followed by a newline */
    size_t size;
};

/** Find a part. @return false: no such part, or the text is not a packet. NULL has no parts. */
bool packet_find(const char *packet, const char *kind, struct packet_item *item);

/** @return whether APAPI_VERBOSE is 1 in a packet. */
bool packet_is_verbose(const char *packet);

/**
 * Append a part to a packet.
 * @param name  a longer name loses its beginning
 * @return 0; -1 with errno EMSGSIZE: no room. `packet` is unchanged then.
 */
int packet_add(char packet[PACKET_MAX], const char *kind, const char *name, const char *bytes,
               size_t size);

#endif
