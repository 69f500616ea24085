/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_APAPI_LOG_H
#define SPANK_APAPI_LOG_H
#include "config/config.h"

/** Writes problems of the configuration to the daemon's log, as errors. */
extern const struct config_sink spank_apapi_log_errors;

/** Keeps problems of the configuration for spank_apapi_log_kept(). */
extern const struct config_sink spank_apapi_log_keep;

/** Print the kept problems if the user gave -v. Call it after the options were read. */
void spank_apapi_log_kept(void);

#endif
