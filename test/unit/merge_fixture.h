/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_MERGE_FIXTURE_H
#define TEST_MERGE_FIXTURE_H
/* Records of several nodes, and the merge of them. */
#include "measure/domain.h"
#include "sum/merge.h"
#include "unit/near.h"

#define S UINT64_C(1000000000)

static struct apapi_merge *merge; /* merge of the test that runs */

static inline void make_merge(void)
{
    merge = apapi_merge_create();
    assert_non_null(merge);
}

static inline void free_merge(void)
{
    apapi_merge_destroy(merge);
}

static inline void renew_merge(void)
{
    free_merge();
    make_merge();
}

/* A test with an empty merge. */
#define MERGED(name) TEST_WITH(name, make_merge, free_merge)

static inline struct merge_result worked_out(void)
{
    struct merge_result result;

    assert_int_equal(merge_work_out(merge, &result), 0);
    return result;
}

/* @return the domain in the result of the step. */
static inline struct merge_domain domain_of(enum apapi_domain domain)
{
    struct merge_result result = worked_out();

    free(result.nodes);
    return result.domains[domain];
}

static inline void add(const struct apapi_record *record)
{
    assert_int_equal(apapi_merge_add(merge, record), 0);
}

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

/* Check a domain of the result. Each node has an uncertainty of 2 J. */
static inline void assert_domain(enum apapi_domain domain, size_t nodes, double energy_j,
                                 struct apapi_summary power_w, uint64_t bin_ns)
{
    struct merge_domain result = domain_of(domain);

    assert_int_equal(result.nodes, nodes);
    assert_near(result.energy_j, energy_j);
    assert_near(result.power_w.min, power_w.min);
    assert_near(result.power_w.mean, power_w.mean);
    assert_near(result.power_w.max, power_w.max);
    assert_near(result.power_w.p95, power_w.p95);
    assert_near(result.uncertainty_j, nodes > 0 ? 2.0 * (double)nodes : NAN);
    assert_int_equal(result.bin_ns, bin_ns);
}

#endif
