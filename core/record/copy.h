/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_RECORD_COPY_H
#define APAPI_RECORD_COPY_H
#include "apapi/record.h"

/** Make a deep copy, to be freed with apapi_record_clear(). 0; -1 with ENOMEM, `copy` unchanged. */
int record_copy(struct apapi_record *copy, const struct apapi_record *record);

#endif
