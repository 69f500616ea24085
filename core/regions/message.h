/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REGIONS_MESSAGE_H
#define REGIONS_MESSAGE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/live.h"

/*
 * Messages of programs and of `apapi mark` to the step's sampler, over the socket with the name of
 * the live page and REGION_SOCKET_SUFFIX, of type SOCK_SEQPACKET. A message is one packet of the
 * size below. Senders wait neither for a connection nor for room nor for an answer. A connection
 * belongs to one process, and ends when the process ends or calls exec.
 *
 *   program to sampler
 *     REGION_REGISTER  first; with one descriptor, the memfd of its program page (regions/page.h),
 *                      sealed by region_seal()
 *   `apapi mark` to sampler; not on a connection with REGION_REGISTER
 *     REGION_BEGIN, REGION_END, REGION_READ   name: a region of the step's shell
 *     REGION_FOM       name value unit: a figure of merit; the last value of a name counts
 *   sampler to program
 *     REGION_RESULTS   after REGION_REGISTER; with one descriptor, the memfd of the program's
 *                      result page, to be mapped for reading only
 *   sampler to `apapi mark`, after each of its messages
 *     REGION_DONE      name: the region. After REGION_READ and REGION_END: value: energy of the
 *                      node in the region so far [J], within_j: its uncertainty; NaN: not known
 *     REGION_REFUSED   name: the reason, in words
 *
 * Texts are of any bytes and end with a NUL.
 */

#define REGION_SOCKET_SUFFIX APAPI_LIVE_REGIONS
#define REGION_MESSAGE_MAGIC "APAPIREM"
#define REGION_MESSAGE_VERSION 2

enum region_message_kind {
    REGION_REGISTER = 1,
    REGION_RESULTS,
    REGION_BEGIN,
    REGION_END,
    REGION_READ,
    REGION_FOM,
    REGION_DONE,
    REGION_REFUSED
};

struct region_message {
    char magic[8];
    uint32_t version;
    uint32_t kind; /* enum region_message_kind */
    double value, within_j;
    char unit[40];
    char name[256];
};

/** Begin a message; other members are 0. @param name  a longer name is cut; NULL: "" */
void region_message_init(struct region_message *message, enum region_message_kind kind,
                         const char *name);

/**
 * Connect to the sampler of a live page, without waiting.
 * @return a descriptor that exec closes, 200 or higher if the process may have so many;
 *         -1 with errno of socket(2) or connect(2), ENAMETOOLONG
 */
int region_connect(const char *live_page);

/**
 * Seal a memfd: its size stays and, from Linux 5.1 on, no memory can be taken out of it. The
 * writer of the memfd must have mapped it before.
 * @return 0; -1 with errno of fcntl(2)
 */
int region_seal(int file);

/** @return whether a file has all the seals of region_seal() that this Linux knows. */
bool region_is_sealed(int file);

/** Send a message, without waiting. @param file  is sent, too; -1: none. @return 0; -1, errno */
int region_send(int socket, const struct region_message *message, int file);

/**
 * Receive a message, without waiting.
 * @param file  set to the descriptor that came with it, closed by exec, or -1; NULL: close it
 * @return 0; -1 with errno EAGAIN (no message yet), EPIPE (the other side has ended), EBADMSG or
 *         errno of recvmsg(2), and *file -1
 */
int region_receive(int socket, struct region_message *message, int *file);

#endif
