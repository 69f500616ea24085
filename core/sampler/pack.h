/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLER_PACK_H
#define SAMPLER_PACK_H
#include <stdio.h>

#include "apapi/error.h"
#include "apapi/events.h"
#include "channel/packet.h"

/**
 * Pack up what the environment says of events: the files are read and checked, comments left out.
 * What PACKET_VARIABLE has already stays if the environment says nothing else, or names the same
 * file, which is then not read again.
 * @param problems  what is wrong with the files, a line each
 * @return 0; -1 with errno as apapi_eventops_read(), or EMSGSIZE: it is too much to travel.
 */
int pack_environment(char packet[PACKET_MAX], FILE *problems, struct apapi_error *err);

/**
 * Take the user's list and definitions out of a packet.
 * @param rules  user_list and user_ops are set where they are there and good
 * @return 0; -1 with errno, `err` says what is wrong: what is good was taken all the same.
 */
int pack_open(const char *packet, struct apapi_event_rules *rules, struct apapi_error *err);

#endif
