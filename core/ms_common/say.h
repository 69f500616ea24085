/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MS_COMMON_SAY_H
#define MS_COMMON_SAY_H

/** Print a line to standard error, with the library's name before it. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
