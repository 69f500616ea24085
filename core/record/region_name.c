/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "apapi/region_result.h"
#include "base/array.h"

const char *apapi_region_kind_name(enum apapi_region_kind kind)
{
    static const char *const names[] = {[APAPI_REGION_NAMED] = "region",
                                        [APAPI_REGION_UNMARKED] = "unmarked",
                                        [APAPI_REGION_IDLE] = "idle",
                                        [APAPI_REGION_REST] = "rest"};

    return (size_t)kind < COUNT_OF(names) ? names[kind] : "?";
}

const char *apapi_region_method_name(enum apapi_region_method method)
{
    static const char *const names[] = {[APAPI_REGION_UNKNOWN] = "unknown",
                                        [APAPI_REGION_MEASURED] = "measured",
                                        [APAPI_REGION_ESTIMATED] = "estimated",
                                        [APAPI_REGION_SHARED] = "shared"};

    return (size_t)method < COUNT_OF(names) ? names[method] : "?";
}

double apapi_region_energy_j(const struct apapi_region_result *region)
{
    double sum_j = NAN;

    for (int domain = 0; domain < APAPI_DOMAINS; domain++) {
        double energy_j = region->domains[domain].energy_j;

        if (apapi_domain_adds_up(domain) && !isnan(energy_j)) {
            sum_j = (isnan(sum_j) ? 0 : sum_j) + energy_j;
        }
    }
    return sum_j;
}

void apapi_regions_clear(struct apapi_regions *regions)
{
    int saved = errno;

    if (regions) {
        free(regions->list);
        free(regions->foms);
        memset(regions, 0, sizeof(*regions));
    }
    errno = saved;
}
