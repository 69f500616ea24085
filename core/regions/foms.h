/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REGIONS_FOMS_H
#define REGIONS_FOMS_H
#include "apapi/region_result.h"

/* The figures of merit that this process has given. Any thread. */

/** Keep the last value of a name. @return 0; -1 with errno ENOSPC: there are APAPI_FOMS_MAX */
int foms_set(const char *name, double value, const char *unit);

/** Send what the sampler has not got yet. @return 0; -1 with errno EAGAIN (not now), of link_send()
 */
int foms_send(void);

/** @return false: there are not so many. */
bool foms_copy(size_t index, struct apapi_fom *fom);

/** In the child of a fork, which has given none. */
void foms_forget(void);

#endif
