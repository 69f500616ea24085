/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef THRESHOLD_ACTION_H
#define THRESHOLD_ACTION_H
#include "threshold/place.h"
#include "threshold/types.h"

/** Read the list of actions up to the end of the text. @return 0; -1 with errno. */
int action_parse(struct place *place, struct threshold *threshold);

/** Read the name of a signal, "USR1" or "SIGUSR1". @return 0; -1 with errno EINVAL. */
int action_parse_signal(struct place *place, int *signal);

/** @return "USR1"; "?" for an unknown number. Static storage. */
const char *action_signal_name(int signal);

/** Write the actions of a threshold without the command: "log, signal=USR1@step, exec". */
void action_text(const struct threshold *threshold, char *text, size_t size);

#endif
