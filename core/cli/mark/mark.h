/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_MARK_MARK_H
#define APAPI_MARK_MARK_H
#include "apapi/error.h"
#include "regions/message.h"

/**
 * Send a message to the step's sampler and wait for its answer, for at most a fifth of a second.
 * @param answer  result
 * @return 0; -1 with errno and `err`
 *         ENOTCONN   this is no measured step
 *         EINVAL     the sampler refuses it
 *         ETIMEDOUT  it does not answer
 *         or that of connect(2), send(2), recv(2)
 */
int mark_send(const struct region_message *message, struct region_message *answer,
              struct apapi_error *err);

#endif
