/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_APAPI_DESTINATION_H
#define SPANK_APAPI_DESTINATION_H
#include "apapi/error.h"

/** Where srun's report goes. */
struct spank_apapi_destination {
    const char *path; /* opened when there is something to write; NULL: standard error */
    int fd;           /* -1: not open */
};

/**
 * Write a part of the report; a file is emptied or created before the first one. Waits at most half
 * a second for its reader, and for none that is not there.
 * @return 0; -1 with errno, `err` names the file.
 */
int spank_apapi_destination_write(struct spank_apapi_destination *destination, const char *text,
                                  struct apapi_error *err);

/** Close. @return 0; -1 with errno: not all has been written. */
int spank_apapi_destination_close(struct spank_apapi_destination *destination,
                                  struct apapi_error *err);

#endif
