/* SPDX-License-Identifier: BSD-3-Clause */
#include "token.h"

#include <stdio.h>
#include <sys/random.h>

int spank_apapi_token(char token[APAPI_TOKEN_LENGTH + 1])
{
    unsigned char random[APAPI_TOKEN_LENGTH / 2];

    if (getrandom(random, sizeof random, 0) != sizeof random) {
        return -1;
    }
    for (size_t i = 0; i < sizeof random; i++) {
        snprintf(token + 2 * i, 3, "%02x", random[i]);
    }
    return 0;
}
