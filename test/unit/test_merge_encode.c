/* SPDX-License-Identifier: BSD-3-Clause */
/* The content of the merged record, and what it omits. */
#include "unit/merge_encode_fixture.h"

ENCODED(what_was_crossed_on_all_nodes)
{
    static struct apapi_crossing some[3] = {
        {"total >= 5J", (int64_t)(1003 * S), 5, "J", 1, "log", ""},
        {"gpu > 9W", (int64_t)(1004 * S), 9.5, "W", 1, "stamp", ""},
        {"gpu > 9W", (int64_t)(1006 * S), 9.75, "W", 4, "stamp", ""}};
    static struct apapi_crossing earlier = {"gpu > 9W", (int64_t)(1002 * S), 9.25, "W", 2, "stamp",
                                            ""};
    struct apapi_record first = step_record("n1", 0), second = step_record("n2", 1);

    first.crossing = some;
    first.crossings = first.crossing_count = 3;
    second.crossing = &earlier;
    second.crossings = second.crossing_count = 1;
    add(&first);
    add(&second);
    encode(NULL);
    assert_int_equal(json_array_size(at(root, "crossings")), 2);
    assert_text("crossings.0.threshold", "total >= 5J");
    assert_number("crossings.0.nodes", 1);
    assert_text("crossings.1.threshold", "gpu > 9W");
    assert_number("crossings.1.nodes", 2);
    assert_number("crossings.1.count", 6);
    assert_text("crossings.1.first", "1970-01-01T00:16:42.000000000Z");
    assert_text("crossings.1.first_node", "n2");
    assert_text("crossings.1.last", "1970-01-01T00:16:46.000000000Z");
    assert_number("crossings.1.value", 9.25);
    assert_text("crossings.1.unit", "W");
    assert_text("crossings.1.action", "stamp");
}

ENCODED(what_all_nodes_have_in_common)
{
    static const char *const absent[] = {"user",        "account", "node",   "node_index",
                                         "verified",    "het_job", "reason", "array_job",
                                         "exit_signal", "restarts"};
    struct apapi_record n1 = step_record("n1", 0), n2 = step_record("n2", 1);

    snprintf(n2.id.user, sizeof n2.id.user, "bob"); /* as the nodes' name services may disagree */
    n2.id.verified = false;
    n1.id.restarts = 1;
    n2.id.restarts = 2;
    n2.id.cores = 16;
    n2.id.gpus = APAPI_UNKNOWN;
    n2.ending.code = 3;
    n2.ending.failed = 2;
    add(&n1);
    add(&n2);
    encode(NULL);
    assert_number("merged", 1);
    assert_text("cluster", "mars");
    assert_number("job", 17);
    assert_text("step", "0");
    assert_number("uid", 1000);
    assert_number("tasks", 8);
    assert_number("cores", 24);
    assert_null(at(root, "gpus"));
    assert_number("exit_code", 3);
    assert_number("failed_tasks", 2);
    assert_absent(absent, COUNT_OF(absent));
}

ENCODED(what_is_missing_has_a_name_and_a_reason)
{
    struct apapi_record n1 = step_record("n1", 0), n2 = step_record("n2", 1);

    n2.complete = false;
    snprintf(n2.reason, sizeof n2.reason, "killed");
    n1.complete = false;
    add(&n1);
    add(&n2);
    encode(NULL);
    assert_true(json_is_false(at(root, "complete"))); /* also because the third one is missing */
    assert_int_equal(apapi_merge_absent(merge, "n10", "no \"answer\"\n"), 0);
    assert_int_equal(apapi_merge_absent(merge, "n9", NULL), 0);
    encode(NULL);
    assert_number("nodes", 4);
    assert_number("recorded", 2);
    assert_int_equal(json_array_size(at(root, "missing")), 2);
    assert_text("missing.0.node", "n9");
    assert_null(at(root, "missing.0.reason"));
    assert_text("missing.1.node", "n10");
    assert_text("missing.1.reason", "no \"answer\"\n");
    assert_int_equal(json_array_size(at(root, "incomplete")), 2);
    assert_text("incomplete.0.node", "n1");
    assert_null(at(root, "incomplete.0.reason"));
    assert_text("incomplete.1.node", "n2");
    assert_text("incomplete.1.reason", "killed");
}

ENCODED(what_is_not_covered_is_beside_the_energy)
{
    static const char *const absent[] = {"domains.gpu.covered", "domains.gpu.rest_j",
                                         "total.covered", "total.rest_j"};
    struct apapi_record n1 = step_record("n1", 0);

    n1.measurement.domains[APAPI_DOMAIN_PACKAGE].covered = 0.75;
    n1.measurement.domains[APAPI_DOMAIN_PACKAGE].rest_j = 500;
    n1.measurement.unknown_domains = 1U << APAPI_DOMAIN_DRAM;
    add(&n1);
    encode(NULL);
    assert_number("domains.package.covered", 0.75);
    assert_number("domains.package.rest_j", 500);
    assert_number("total.covered", 0.75);
    assert_number("total.rest_j", 500);
    assert_true(json_is_true(at(root, "total.partial")));
    assert_string_equal(json_string_value(at(root, "total.missing_domains.0")), "dram");
    assert_number("per_node.0.domains.package.covered", 0.75);
    assert_string_equal(json_string_value(at(root, "per_node.0.unknown_domains.0")), "dram");
    renew_merge();
    n1 = step_record("n1", 0);
    set_domain(&n1, APAPI_DOMAIN_GPU, 500, power_w);
    n1.measurement.domains[APAPI_DOMAIN_PACKAGE].covered = 0.75;
    n1.measurement.domains[APAPI_DOMAIN_PACKAGE].rest_j = 500;
    add(&n1);
    encode(NULL);
    assert_absent(absent, COUNT_OF(absent));
}

/* Component `name` with two events: one that moved, one that is stuck. */
static void set_component(struct apapi_record *record, const char *name, bool estimated)
{
    struct apapi_measurement *m = &record->measurement;
    struct apapi_event_result *events = calloc(2, sizeof *events);

    m->components = calloc(2, sizeof *m->components);
    assert_true(events && m->components);
    m->component_count = 2;
    m->components[0] = (struct apapi_component_result){
        .measured = true, .events = events, .event_count = 2, .missed = 3};
    snprintf(m->components[0].name, sizeof m->components[0].name, "%s", name);
    snprintf(m->components[0].source, sizeof m->components[0].source, "sysfs");
    snprintf(m->components[1].name, sizeof m->components[1].name, "nvml");
    snprintf(m->components[1].reason, sizeof m->components[1].reason, "no driver");
    events[0] = (struct apapi_event_result){.event = {.kind = APAPI_KIND_ENERGY,
                                                      .domain = APAPI_DOMAIN_PACKAGE,
                                                      .accumulates = true,
                                                      .estimated = estimated},
                                            .total = 1000,
                                            .summary = power_w,
                                            .covered_ns = 10 * S,
                                            .incidents = {.samples = 100, .wraps = 2}};
    snprintf(events[0].event.name, sizeof events[0].event.name, "x:::A");
    snprintf(events[0].event.unit, sizeof events[0].event.unit, "J");
    events[1].stuck = true;
    snprintf(events[1].event.name, sizeof events[1].event.name, "x:::B");
}

ENCODED(components_events_notes_and_trust)
{
    struct apapi_record n1 = step_record("n1", 0), n2 = step_record("n2", 1);
    struct apapi_record n3 = step_record("n3", 2);

    set_component(&n1, "rapl", false);
    set_component(&n2, "rapl", true);
    n2.measurement.covered = 0.5;
    n2.measurement.components[1].reason[0] = 'N';
    add(&n1);
    add(&n2);
    add(&n3);
    encode(NULL);
    assert_int_equal(json_array_size(at(root, "components")), 1);
    assert_text("components.0.source", "sysfs");
    assert_number("components.0.nodes", 2);
    assert_int_equal(json_array_size(at(root, "events")), 2);
    assert_null(at(root, "events.0.estimated"));
    assert_true(json_is_true(at(root, "events.1.estimated")));
    assert_number("events.0.total", 1000);
    assert_number("events.0.mean", 100);
    assert_number("events.0.nodes", 1);
    assert_int_equal(json_array_size(at(root, "notes")), 3);
    assert_text("notes.0.component", "nvml");
    assert_text("notes.0.verdict", "not measured");
    assert_text("notes.0.reason", "no driver");
    assert_text("notes.0.names.0", "n1");
    assert_text("notes.1.names.0", "n2");
    assert_text("notes.2.event", "x:::B");
    assert_number("notes.2.nodes", 2);
    assert_number("trust.covered", 0.5);
    assert_number("trust.covered_max", 1);
    assert_number("trust.samples", 100);
    assert_number("trust.wraps", 4);
    assert_number("trust.missed", 6);
    assert_number("per_node.1.covered", 0.5);
    assert_null(at(root, "per_node.2.covered"));
    apapi_record_clear(&n1);
    apapi_record_clear(&n2);
}

static void set_timeline(struct apapi_record *record, float bin_j)
{
    struct apapi_domain_result *domain = &record->measurement.domains[APAPI_DOMAIN_PACKAGE];
    struct apapi_timeline *timeline = &domain->timeline;

    record->measurement.elapsed_ns = 4 * S;
    domain->power_w.mean = 2.5 * (double)bin_j;
    *timeline = (struct apapi_timeline){.bin_ns = S, .length_ns = 4 * S, .count = 4};
    for (size_t i = 0; i < 4; i++) {
        timeline->energy_j[i] = bin_j * (float)(i + 1);
        timeline->covered_pct[i] = 100;
    }
}

ENCODED(a_timeline_of_all_nodes_or_none)
{
    struct apapi_record n1 = step_record("n1", 0), n2 = step_record("n2", 1);
    struct apapi_record n3 = step_record("n3", 2);
    double sum_j = 0;

    set_timeline(&n1, 100);
    set_timeline(&n2, 200);
    add(&n1);
    add(&n2);
    encode(NULL);
    assert_text("timeline.package.start", "1970-01-01T00:16:40.000000000Z");
    assert_number("timeline.package.bin_s", 1);
    assert_int_equal(json_array_size(at(root, "timeline.package.n")), 5); /* n2 begins 1 s later */
    for (size_t i = 0; i < 5; i++) {
        sum_j += json_number_value(json_array_get(at(root, "timeline.package.n"), i)) *
                 json_number_value(at(root, "timeline.package.unit_j"));
    }
    assert_true(fabs(sum_j - 3000) < 10);
    assert_number("domains.package.bin_s", 1);
    assert_number("domains.package.min_w", 100); /* n1 alone */
    assert_number("domains.package.max_w", 1000);
    assert_number("total.max_w", 1000);
    add(&n3);
    encode(NULL);
    assert_null(at(root, "timeline"));
    assert_null(at(root, "domains.package.bin_s"));
    assert_null(at(root, "total.max_w"));
}
