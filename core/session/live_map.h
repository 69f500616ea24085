/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SESSION_LIVE_MAP_H
#define SESSION_LIVE_MAP_H
#include <stdbool.h>

#include "apapi/live.h"

/**
 * Map the page `name` in `folder` (AT_FDCWD is allowed), if it is one that may be believed.
 * @param path  for `err`
 * @return as apapi_live_open().
 */
const struct apapi_live_page *live_map(int folder, const char *name, const char *path,
                                       struct apapi_error *err);

/** @return whether somebody writes this page: its writer holds a lock that ends with it. */
bool live_has_writer(int file);

#endif
