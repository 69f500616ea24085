/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_DATABASE_DB_URL_H
#define APAPI_DATABASE_DB_URL_H
#include "database/db_driver.h"

/**
 * Parse a URL.
 * @param url     is changed; `address` points into it
 * @param driver  result
 * @return 0; -1 with errno EINVAL.
 */
int db_url_parse(char *url, const struct db_driver **driver, struct db_address *address,
                 struct apapi_error *err);

#endif
