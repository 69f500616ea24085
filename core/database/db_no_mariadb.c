/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "database/db_driver.h"

static void *db_no_mariadb_refuse(const struct db_address *address, bool writing,
                                  struct apapi_error *err)
{
    (void)address;
    (void)writing;
    apapi_fail(err, ENOTSUP, "apapi was built without MariaDB (WITH_MARIADB): use sqlite:FILE");
    return NULL;
}

const struct db_driver db_mariadb = {.open = db_no_mariadb_refuse};
