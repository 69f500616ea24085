/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIT_STEP_FIXTURE_H
#define UNIT_STEP_FIXTURE_H
/* Records of the steps of a job. */
#include "apapi/job.h"
#include "measure/domain.h"
#include "unit/unit.h"

#define S INT64_C(1000000000)
#define BEGIN (1795260000 * S)
#define PACKAGE APAPI_DOMAIN_PACKAGE

static inline void add_domain(struct apapi_record *record, enum apapi_domain domain, double power_w)
{
    record->measurement.domains[domain] = (struct apapi_domain_result){
        .measured = true, .energy_j = power_w * (double)record->measurement.elapsed_ns / S};
}

/* @return a step of constant power; NaN: in which nothing is measured. Seconds since BEGIN. */
static inline struct apapi_record step(const char *name, const char *node, int64_t from_s,
                                       int64_t to_s, double power_w)
{
    struct apapi_record record = {.complete = true, .id = APAPI_IDENTITY_UNKNOWN};

    snprintf(record.id.step, sizeof record.id.step, "%s", name);
    snprintf(record.id.node, sizeof record.id.node, "%s", node);
    record.measurement.start_unix_ns = BEGIN + from_s * S;
    record.measurement.elapsed_ns = (uint64_t)((to_s - from_s) * S);
    unmeasure_domains(record.measurement.domains);
    add_domain(&record, PACKAGE, power_w);
    record.measurement.domains[PACKAGE].measured = !isnan(power_w);
    return record;
}

#endif
