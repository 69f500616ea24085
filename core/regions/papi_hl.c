/* SPDX-License-Identifier: BSD-3-Clause */
#include "apapi/papi_hl_compat.h"

#include <errno.h>
#include <stdbool.h>

#include "apapi/region.h"
#include "regions/output.h"
#include "regions/overlap.h"
#include "regions/tally.h"

/* Such a program wants its counters and its output, in a measured step or not. */
static void papi_hl_want(void)
{
    static bool wanted;

    if (!__atomic_load_n(&wanted, __ATOMIC_ACQUIRE)) {
        tally_want(NULL);
        output_want();
        __atomic_store_n(&wanted, true, __ATOMIC_RELEASE);
    }
}

/* Misuses that PAPI takes are none. */
static int papi_hl_result(int result)
{
    return result == 0 || errno == EALREADY || errno == EBUSY || errno == E2BIG ? PAPI_OK
                                                                                : PAPI_EINVAL;
}

int apapi_hl_init(void)
{
    papi_hl_want();
    return PAPI_OK;
}

int apapi_hl_set_events(const char *events)
{
    return tally_want(events) ? PAPI_EMISC : PAPI_OK;
}

int apapi_hl_region_begin(const char *region)
{
    papi_hl_want();
    return papi_hl_result(apapi_region_begin(region));
}

int apapi_hl_read(const char *region)
{
    papi_hl_want();
    return papi_hl_result(apapi_region_read(region));
}

int apapi_hl_region_end(const char *region)
{
    papi_hl_want();
    return papi_hl_result(overlap_end(region));
}

int apapi_hl_stop(void)
{
    return apapi_region_stop() ? PAPI_ESYS : PAPI_OK;
}

int apapi_hl_cleanup_thread(void)
{
    apapi_region_stop();
    return PAPI_OK;
}

void apapi_hl_print_output(void)
{
    apapi_region_stop();
}

int apapi_hl_finalize(void)
{
    return apapi_hl_stop();
}
