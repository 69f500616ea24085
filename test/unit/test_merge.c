/* SPDX-License-Identifier: BSD-3-Clause */
#include "apapi/record.h"
#include "record/record.h"
#include "unit/merge_fixture.h"

static void add_component(struct apapi_record *record, const char *event)
{
    struct apapi_measurement *m = &record->measurement;

    m->components = calloc(1, sizeof(*m->components));
    assert_non_null(m->components);
    m->component_count = 1;
    m->components[0].measured = true;
    m->components[0].events = calloc(2, sizeof(*m->components[0].events));
    assert_non_null(m->components[0].events);
    m->components[0].event_count = 2;
    snprintf(m->components[0].events[0].event.name, APAPI_NAME_SIZE, "%s", event);
    m->components[0].events[0].incidents = (struct apapi_incidents){31, 1, 2, 3, 4, 5, 6, 1};
    m->components[0].events[1].incidents = (struct apapi_incidents){30, 10, 20, 30, 40, 50, 60, 1};
}

MERGED(each_node_comes_once)
{
    struct apapi_record record = node_record("n1", 0);

    assert_int_equal(apapi_merge_count(merge), 0);
    assert_false(apapi_merge_has(merge, "n1"));
    add(&record);
    assert_int_equal(apapi_merge_absent(merge, "n2", "no answer"), 0);
    errno = 0;
    assert_int_equal(apapi_merge_add(merge, &record), -1);
    assert_int_equal(errno, EEXIST);
    errno = 0;
    assert_int_equal(apapi_merge_absent(merge, "n1", "no answer"), -1);
    assert_int_equal(errno, EEXIST);
    assert_int_equal(apapi_merge_absent(merge, "n2", "no answer"), -1);
    assert_int_equal(apapi_merge_count(merge), 2);
    assert_true(apapi_merge_has(merge, "n1"));
    assert_true(apapi_merge_has(merge, "n2"));
    assert_false(apapi_merge_has(merge, "n"));
    assert_false(apapi_merge_has(merge, ""));
}

MERGED(nodes_come_in_the_order_of_their_index)
{
    static const struct {
        const char *name;
        uint32_t index;
    } given[] = {{"b", 2}, {"n10", 0}, {"a", APAPI_UNKNOWN}, {"n2", 1}, {"n3", 3}};
    static const char *const expected[] = {"n10", "n2", "b", "n3", "a", "x9", "x10"};
    struct merge_result result;

    assert_int_equal(apapi_merge_absent(merge, "x10", "lost"), 0);
    assert_int_equal(apapi_merge_absent(merge, "x9", "lost"), 0);
    for (size_t i = 0; i < COUNT_OF(given); i++) {
        struct apapi_record record = node_record(given[i].name, given[i].index);

        add(&record);
    }
    result = worked_out();
    assert_int_equal(result.recorded, COUNT_OF(given));
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        assert_string_equal(result.nodes[i]->name, expected[i]);
        assert_int_equal(result.nodes[i]->state,
                         i < COUNT_OF(given) ? MERGE_RECORDED : MERGE_ABSENT);
    }
    free(result.nodes);
}

MERGED(the_merge_has_copies_of_its_own)
{
    struct apapi_record record = node_record("n1", 0);

    add_component(&record, "rapl:::A");
    add(&record);
    assert_int_equal(apapi_merge_add(merge, &record), -1);
    memset(record.measurement.components[0].events, 'x', sizeof(struct apapi_event_result));
    apapi_record_clear(&record);
    assert_string_equal(merge->only.measurement.components[0].events[0].event.name, "rapl:::A");
    assert_string_equal(merge->events[0].event.name, "rapl:::A");
    errno = 4711;
    apapi_merge_destroy(NULL);
    assert_int_equal(errno, 4711);
}

MERGED(awaited_nodes_come_or_are_given_up)
{
    struct apapi_record record = node_record("n2", 1);
    struct merge_result result;

    add(&record);
    assert_int_equal(apapi_merge_expect(merge, "n[1-3]"), 0);
    assert_int_equal(apapi_merge_expect(merge, "n[2-4]"), 0);
    assert_int_equal(apapi_merge_awaited(merge), 3);
    assert_int_equal(apapi_merge_count(merge), 1);
    assert_true(apapi_merge_awaits(merge, "n1") && !apapi_merge_has(merge, "n1"));
    assert_true(!apapi_merge_awaits(merge, "n2") && apapi_merge_has(merge, "n2"));
    assert_true(!apapi_merge_awaits(merge, "n5") && !apapi_merge_has(merge, "n5"));
    record = node_record("n3", 2);
    add(&record);
    assert_int_equal(apapi_merge_awaited(merge), 2);
    assert_int_equal(apapi_merge_give_up(merge, "late"), 0);
    assert_int_equal(apapi_merge_awaited(merge), 0);
    assert_int_equal(apapi_merge_count(merge), 4);
    result = worked_out();
    assert_int_equal(result.recorded, 2);
    assert_string_equal(result.nodes[2]->name, "n1");
    assert_string_equal(result.nodes[3]->name, "n4");
    free(result.nodes);
    errno = 0;
    assert_int_equal(apapi_merge_expect(merge, "n[1-"), -1);
    assert_int_equal(errno, EINVAL);
}

/* n1: 9 s and 1 s late at 100 W; n2: 5 s at 200 W; n3 has no meter, n4 no record. */
static void add_uneven(void)
{
    struct apapi_record n1 = node_record("n1", 0);
    struct apapi_record n2 = node_record("n2", 1);
    struct apapi_record n3 = node_record("n3", 2);

    n1.measurement.elapsed_ns = 9 * S;
    n1.measurement.late_ns = 1 * S;
    n2.measurement.elapsed_ns = 5 * S;
    n3.measurement.elapsed_ns = 2 * S;
    set_domain(&n1, APAPI_DOMAIN_PACKAGE, 900, (struct apapi_summary){80, 100, 120, 119});
    set_domain(&n2, APAPI_DOMAIN_PACKAGE, 1000, (struct apapi_summary){150, 200, 250, 249});
    set_domain(&n1, APAPI_DOMAIN_DRAM, 90, (struct apapi_summary){NAN, 10, 12, NAN});
    set_domain(&n2, APAPI_DOMAIN_DRAM, NAN, (struct apapi_summary){NAN, 20, 25, NAN});
    set_domain(&n1, APAPI_DOMAIN_PSYS, NAN, (struct apapi_summary){NAN, NAN, NAN, NAN});
    add(&n2);
    add(&n3);
    add(&n1);
    assert_int_equal(apapi_merge_absent(merge, "n4", "lost"), 0);
}

/* A mean below what both had while they were there: a minimum of the whole time is not known. */
MERGED(mean_power_is_energy_by_time)
{
    add_uneven();
    assert_domain(APAPI_DOMAIN_PACKAGE, 2, 1900, (struct apapi_summary){NAN, 1900.0 / 9, 370, NAN},
                  0);
}

/* n2 has memory, and does not know its energy. */
MERGED(what_one_node_does_not_know_is_missing)
{
    struct merge_result result;

    add_uneven();
    assert_domain(APAPI_DOMAIN_DRAM, 1, 90, (struct apapi_summary){NAN, 10, 12, NAN}, 0);
    result = worked_out();
    assert_int_equal(result.domains[APAPI_DOMAIN_DRAM].unknown, 1);
    assert_int_equal(result.missing, 1U << APAPI_DOMAIN_DRAM);
    free(result.nodes);
    assert_domain(APAPI_DOMAIN_PSYS, 0, NAN, (struct apapi_summary){NAN, NAN, NAN, NAN}, 0);
    assert_domain(APAPI_DOMAIN_GPU, 0, NAN, (struct apapi_summary){NAN, NAN, NAN, NAN}, 0);
}

/* Events with names of their own on each node do not fill the memory. */
MERGED(rows_of_events_are_bounded)
{
    for (unsigned i = 0; i < 1000; i++) {
        char name[32];
        struct apapi_record record;

        snprintf(name, sizeof(name), "x%u", i);
        record = node_record(name, i);
        add_component(&record, name);
        snprintf(record.measurement.components[0].reason, 256, "reason %u", i);
        add(&record);
        apapi_record_clear(&record);
    }
    assert_true(merge->event_rows.full && merge->event_rows.keys.count < 500);
    assert_true(merge->note_rows.full && merge->note_rows.keys.count < 500);
    assert_int_equal(apapi_merge_count(merge), 1000);
}

MERGED(totals_add_only_what_adds_up)
{
    struct apapi_record record = node_record("n1", 0);
    struct apapi_measurement *m = &record.measurement;

    assert_true(isnan(apapi_measurement_total_j(m)));
    assert_true(isnan(apapi_measurement_total_w(m)));
    assert_true(isnan(apapi_record_uncertainty_j(m)));
    set_domain(&record, APAPI_DOMAIN_PSYS, 9000, (struct apapi_summary){1, 3000, 4000, NAN});
    set_domain(&record, APAPI_DOMAIN_CORE, 800, (struct apapi_summary){1, 80, 400, NAN});
    assert_true(isnan(apapi_measurement_total_j(m)));
    set_domain(&record, APAPI_DOMAIN_PACKAGE, 1000, (struct apapi_summary){1, 100, 400, NAN});
    set_domain(&record, APAPI_DOMAIN_DRAM, 20, (struct apapi_summary){1, 2, 4, NAN});
    set_domain(&record, APAPI_DOMAIN_GPU, NAN, (struct apapi_summary){NAN, 50, NAN, NAN});
    assert_value(apapi_measurement_total_j(m), 1020);
    assert_value(apapi_measurement_total_w(m), 152);
    assert_value(apapi_record_uncertainty_j(m), 4);
    m->domains[APAPI_DOMAIN_DRAM].uncertainty_j = NAN;
    assert_value(apapi_record_uncertainty_j(m), NAN);
    m->domains[APAPI_DOMAIN_GPU].measured = false;
    assert_value(apapi_measurement_total_w(m), 102);
}

MERGED(incidents_add_up_but_samples_do_not)
{
    const struct apapi_incidents expected = {31, 11, 22, 33, 44, 55, 66, 2};
    struct apapi_record record = node_record("n1", 0);
    struct apapi_incidents sum = apapi_measurement_incidents(&record.measurement);

    assert_int_equal(sum.samples, 0);
    add_component(&record, "e");
    sum = apapi_measurement_incidents(&record.measurement);
    assert_memory_equal(&sum, &expected, sizeof(sum));
    apapi_record_clear(&record);
}
