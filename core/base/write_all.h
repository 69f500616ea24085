/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_BASE_WRITE_ALL_H
#define APAPI_BASE_WRITE_ALL_H
#include <stddef.h>

/** Write everything, even if a non-blocking pipe is full at times. 0; -1 with errno of write(). */
int write_all(int fd, const char *bytes, size_t size);

#endif
