/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIMULATION_WRITTEN_H
#define SIMULATION_WRITTEN_H
#include <stdlib.h>
#include <string.h>

#include "apapi/record.h"

/** Write a measurement as in the accounting file, and read it again. @return 0; -1. */
static inline int written_read(const struct apapi_measurement *m, struct apapi_record *copy,
                               struct apapi_error *err)
{
    struct apapi_record record = {.id = APAPI_IDENTITY_UNKNOWN,
                                  .complete = true,
                                  .ending = APAPI_ENDING_UNKNOWN,
                                  .measurement = *m};
    char *line = NULL;
    int rc = -1;

    strcpy(record.id.node, "n1");
    if (apapi_record_encode(&record, &line, err) == 0) {
        rc = apapi_record_decode(line, strlen(line), copy, err);
    }
    free(line);
    return rc;
}

#endif
