/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_BASE_TEXT_FILE_H
#define APAPI_BASE_TEXT_FILE_H
#include <stddef.h>

#include "apapi/error.h"

/** @return the whole file with a NUL behind it, freed by free(); NULL with errno. Never blocks. */
char *event_text_read(const char *path, struct apapi_error *err);

/** @return a copy with a NUL behind it, freed by free(); NULL with errno EINVAL, EFBIG, ENOMEM. */
char *event_text_copy(const char *name, const char *text, size_t size, struct apapi_error *err);

/** Put '?' for each control character and each byte that is no UTF-8. @return how many. */
size_t event_text_make_printable(char *text);

/** @return the text without surrounding blanks; those behind it are cut off in place. */
char *event_text_trim(char *text);

#endif
