/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEASURE_UNMEASURED_H
#define MEASURE_UNMEASURED_H
#include "apapi/measurement.h"

static inline void unmeasure_domains(struct apapi_domain_result domains[APAPI_DOMAINS])
{
    for (int i = 0; i < APAPI_DOMAINS; i++) {
        domains[i] = APAPI_DOMAIN_UNMEASURED;
    }
}

#endif
