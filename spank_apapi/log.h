/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_APAPI_LOG_H
#define SPANK_APAPI_LOG_H

/** Write a line, which says "apapi: " itself, to the daemon's log as an error. */
void spank_apapi_log_error(const char *text);

/**
 * Say what is wrong in plugstack.conf to a user who asked for it with -v. Not before the options
 * have been read.
 */
void spank_apapi_log_arguments(int count, char *const words[]);

#endif
