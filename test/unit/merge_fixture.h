/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_MERGE_FIXTURE_H
#define TEST_MERGE_FIXTURE_H
/* Records of nodes, and their merge. */
#include "measure/domain.h"
#include "sum/merge.h"
#include "unit/unit.h"

#define S UINT64_C(1000000000)

static inline struct apapi_record node_record(const char *node, uint32_t index)
{
    struct apapi_record record = {.id = {.node_index = index, .nodes = 2}, .complete = true};
    struct apapi_measurement *m = &record.measurement;

    snprintf(record.id.node, sizeof(record.id.node), "%s", node);
    unmeasure_domains(m->domains);
    m->elapsed_ns = 10 * S;
    m->covered = 1;
    return record;
}

static inline void set_domain(struct apapi_record *record, enum apapi_domain domain,
                              double energy_j, struct apapi_summary power_w)
{
    record->measurement.domains[domain] = (struct apapi_domain_result){
        .measured = true, .energy_j = energy_j, .uncertainty_j = 2, .power_w = power_w};
}

static inline void assert_value(double value, double expected)
{
    if (isnan(expected)) {
        assert_true(isnan(value));
    } else {
        assert_true(fabs(value - expected) <= 1e-12 * fabs(expected));
    }
}

static inline void assert_domain(const struct apapi_merge *merge, enum apapi_domain domain,
                                 const struct merge_domain *expected)
{
    struct merge_domain result;

    merge_domain(merge, domain, &result);
    assert_int_equal(result.nodes, expected->nodes);
    assert_value(result.energy_j, expected->energy_j);
    assert_value(result.power_w.min, expected->power_w.min);
    assert_value(result.power_w.mean, expected->power_w.mean);
    assert_value(result.power_w.max, expected->power_w.max);
    assert_value(result.power_w.p95, expected->power_w.p95);
    assert_value(result.uncertainty_j, expected->uncertainty_j);
    assert_int_equal(result.bin_ns, expected->bin_ns);
}

#endif
