/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_DATABASE_DB_LOAD_JOBS_H
#define APAPI_DATABASE_DB_LOAD_JOBS_H
#include "database/db.h"

/** Calculate the totals of the stale jobs. @return their number; -1 */
int64_t load_jobs(struct db *db, struct apapi_error *err);

#endif
