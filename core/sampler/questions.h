/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLER_QUESTIONS_H
#define SAMPLER_QUESTIONS_H
#include <stdio.h>

#include "apapi/error.h"
#include "apapi/events.h"
#include "channel/channel.h"

/**
 * Pack the event settings of the environment. Files are read and checked, comments removed. The
 * content of PACKET_VARIABLE is kept if the environment sets nothing else, or names the same file,
 * which is not read again then.
 * @param problems  gets a line for each problem in the files
 * @return 0; -1 with errno as apapi_eventops_read(), or EMSGSIZE: too large.
 */
int pack_environment(char packet[PACKET_MAX], FILE *problems, struct apapi_error *err);

/**
 * Read the user's list and definitions from a packet.
 * @param rules  user_list and user_ops are set if they are present and valid
 * @return 0; -1 with errno and the reason in `err`. The valid parts are set in this case, too.
 */
int pack_open(const char *packet, struct apapi_event_rules *rules, struct apapi_error *err);

/**
 * Answer a question of the plugin (channel/channel.h).
 * @param text  result, for free(): the answer, or a line for each problem; NULL: no memory
 * @return 0: yes; -1: no
 */
int questions_answer(const struct message *question, char **text);

#endif
