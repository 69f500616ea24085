/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_APAPI_OUTPUT_H
#define SPANK_APAPI_OUTPUT_H
#include <stdint.h>

/**
 * Write a text to a descriptor of the host without blocking, in one piece if possible, even if
 * other processes write there. The descriptor's flags stay unchanged. Raises no SIGPIPE. What
 * cannot be written by the deadline is dropped.
 * @return 0; -1 with errno ETIMEDOUT or that of write(2).
 */
int spank_apapi_output_write(int fd, const char *text, uint64_t deadline_ns);

#endif
