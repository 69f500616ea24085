/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_APAPI_USER_H
#define SPANK_APAPI_USER_H
#include <stdint.h>
#include <sys/types.h>

#include "channel/message.h"

#define SPANK_APAPI_USER_SIZE 256 /* bytes of a user's name with its NUL */

/**
 * Look up a user's name in this process. Takes as long as the user database.
 * @return 0; -1: no name, and `name` is "".
 */
int spank_apapi_user_name(uid_t uid, char name[SPANK_APAPI_USER_SIZE]);

/**
 * Let an apapi-sampler look it up, which is killed at the deadline, as the user database may hang.
 * @param libexec_dir  absolute path of the sampler's folder
 * @param message      scratch buffer
 * @return 0; -1: not known in time, and `name` is "".
 */
int spank_apapi_user_ask(const char *libexec_dir, uid_t uid, uint64_t deadline_ns,
                         struct message *message, char name[SPANK_APAPI_USER_SIZE]);

#endif
