/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_DATABASE_DB_URL_H
#define APAPI_DATABASE_DB_URL_H
#include "database/db_driver.h"

/**
 * Take a URL apart.
 * @param url     is changed, and what `address` refers to
 * @param driver  result
 * @return 0; -1 with errno EINVAL.
 */
int db_url_parse(char *url, const struct db_driver **driver, struct db_address *address,
                 struct apapi_error *err);

#endif
