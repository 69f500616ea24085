/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_APAPI_TOKEN_H
#define SPANK_APAPI_TOKEN_H
#include "channel/channel.h"

/** Make a random token. @return 0; -1 with errno. */
int spank_apapi_token(char token[APAPI_TOKEN_LENGTH + 1]);

#endif
