/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_BASE_TEXT_FILE_H
#define APAPI_BASE_TEXT_FILE_H
#include <stddef.h>

#include "apapi/error.h"

/**
 * Read a regular file of up to `max` bytes. Never blocks.
 * @return its text, terminated by a NUL, free it with free(); NULL with errno.
 */
char *text_file_read(const char *path, size_t max, struct apapi_error *err);

/** The same of up to APAPI_EVENTS_FILE_MAX bytes. */
char *event_text_read(const char *path, struct apapi_error *err);

/**
 * @return a copy, terminated by a NUL, free it with free(); NULL with errno EINVAL, EFBIG, ENOMEM.
 */
char *event_text_copy(const char *name, const char *text, size_t size, struct apapi_error *err);

/** Replace control characters and invalid UTF-8 bytes by '?'. @return their number. */
size_t event_text_make_printable(char *text);

#endif
