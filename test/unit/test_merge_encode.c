/* SPDX-License-Identifier: BSD-3-Clause */
#include <jansson.h>

#include "unit/merge_fixture.h"

static const struct apapi_summary power_w = {90, 100, 110, 109};

static json_t *root; /* the latest merged record */

static void free_both(void)
{
    free_merge();
    json_decref(root);
    root = NULL;
}

/* A test with an empty merge. */
#define ENCODED(name) TEST_WITH(name, make_merge, free_both)

static void encode(const char *step)
{
    FREED char *line = NULL;

    assert_int_equal(apapi_merge_encode(merge, step, &line, NULL), 0);
    assert_null(strchr(line, '\n'));
    json_decref(root);
    root = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(root);
}

/* "domains.package.energy_j", "missing.0.node"; NULL: not there. */
static json_t *at(json_t *value, const char *path)
{
    char text[128], *rest = text;

    snprintf(text, sizeof text, "%s", path);
    for (char *key = strtok_r(text, ".", &rest); key; key = strtok_r(NULL, ".", &rest)) {
        value = json_is_array(value) ? json_array_get(value, strtoul(key, NULL, 10))
                                     : json_object_get(value, key);
    }
    return value;
}

static void assert_number(const char *path, double expected)
{
    fail_if(!json_is_number(at(root, path)), "%s is not there", path);
    assert_value(json_number_value(at(root, path)), expected);
}

static void assert_text(const char *path, const char *expected)
{
    fail_if(!json_is_string(at(root, path)), "%s is not there", path);
    assert_string_equal(json_string_value(at(root, path)), expected);
}

static void assert_absent(const char *const *paths, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        fail_if(at(root, paths[i]), "%s is there", paths[i]);
    }
}

static struct apapi_record step_record(const char *node, uint32_t index)
{
    struct apapi_record record = node_record(node, index);
    struct apapi_identity *id = &record.id;

    *id = APAPI_IDENTITY_UNKNOWN;
    snprintf(id->node, sizeof id->node, "%s", node);
    snprintf(id->cluster, sizeof id->cluster, "mars");
    snprintf(id->step, sizeof id->step, "0");
    snprintf(id->user, sizeof id->user, "alice");
    id->job = 17;
    id->uid = 1000;
    id->node_index = index;
    id->nodes = 3;
    id->tasks = 4;
    id->cores = 8;
    id->gpus = 1;
    id->verified = true;
    record.ending = (struct apapi_ending){0, APAPI_UNKNOWN, APAPI_UNKNOWN};
    record.measurement.start_unix_ns = (int64_t)((1000 + index) * S);
    record.measurement.cpu_ns = S / 4;
    set_domain(&record, APAPI_DOMAIN_PACKAGE, 1000 * (index + 1), power_w);
    return record;
}
/* The content of the merged record, and what it omits. */

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
    CLEARED struct apapi_record n1 = step_record("n1", 0), n2 = step_record("n2", 1);
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

/* --- limits ----------------------------------------------------------------------------------- */

ENCODED(without_any_record_it_says_which_step)
{
    static const char *const absent[] = {"start", "end",   "elapsed_s", "late_s",
                                         "total", "trust", "exit_code", "name"};
    static const char *const others[] = {NULL, "", "17", "x.0", "0.0", "4294967295.0", "1+2.0"};

    assert_int_equal(apapi_merge_absent(merge, "n1", "no answer"), 0);
    encode("17.batch");
    assert_number("job", 17);
    assert_text("step", "batch");
    assert_number("nodes", 1);
    assert_number("recorded", 0);
    assert_text("missing.0.reason", "no answer");
    assert_absent(absent, COUNT_OF(absent));
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        encode(others[i]);
        assert_null(at(root, "job"));
        assert_null(at(root, "step"));
    }
}

ENCODED(hostile_texts_stay_texts)
{
    static const char *const texts[] = {"\"}],\"job\":0,", "\xFF\xFEn", "a\x1B[31m\nb\\", "{}"};

    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct apapi_record record = step_record(texts[i], (uint32_t)i);

        snprintf(record.id.job_name, sizeof record.id.job_name, "%s", texts[1]);
        record.complete = false;
        snprintf(record.reason, sizeof record.reason, "%s", texts[i]);
        add(&record);
    }
    encode(NULL);
    assert_number("job", 17);
    assert_text("job_name", "??n");
    assert_text("per_node.0.node", texts[0]);
    assert_text("per_node.1.node", "??n");
    assert_text("incomplete.2.reason", texts[2]);
    assert_text("incomplete.3.reason", texts[3]);
}
