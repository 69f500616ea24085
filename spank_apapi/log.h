/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_APAPI_LOG_H
#define SPANK_APAPI_LOG_H
#include "config/config.h"

/** Writes what is wrong with the configuration to the daemon's log, as errors. */
extern const struct config_sink spank_apapi_log_errors;

/** Keeps what is wrong with the configuration for spank_apapi_log_kept(). */
extern const struct config_sink spank_apapi_log_keep;

/** Say what was kept to a user who wants it with -v. Not before the options have been read. */
void spank_apapi_log_kept(void);

#endif
