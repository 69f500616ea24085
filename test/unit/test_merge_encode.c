/* SPDX-License-Identifier: BSD-3-Clause */
/* The content of the merged record, and what it omits. */
#include "unit/merge_fixture.h"

static const struct apapi_summary power_w = {90, 100, 110, 109};
static char *line; /* the latest merged record */

static void free_both(void)
{
    free_merge();
    free(line);
    line = NULL;
}

/* A test with an empty merge. */
#define ENCODED(name) TEST_WITH(name, make_merge, free_both)

static void encode(const char *step)
{
    free(line);
    assert_int_equal(apapi_merge_encode(merge, step, &line, NULL), 0);
    assert_null(strchr(line, '\n'));
}

static void assert_has(const char *part)
{
    assert_contains(line, part);
}

static void assert_lacks(const char *const *parts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        fail_if(strstr(line, parts[i]), "%s is there: %s", parts[i], line);
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
    id->job = 17;
    id->node_index = index;
    id->nodes = 3;
    record.measurement.start_unix_ns = (int64_t)((1000 + index) * S);
    record.measurement.cpu_ns = S / 4;
    set_domain(&record, APAPI_DOMAIN_PACKAGE, 1000 * (index + 1), power_w);
    return record;
}

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
    assert_has("\"crossings\":[{\"threshold\":\"total >= 5J\",\"nodes\":1,");
    assert_has("{\"threshold\":\"gpu > 9W\",\"nodes\":2,\"count\":6,"
               "\"first\":\"1970-01-01T00:16:42.000000000Z\",\"first_node\":\"n2\","
               "\"last\":\"1970-01-01T00:16:46.000000000Z\",\"value\":9.25,\"unit\":\"W\","
               "\"action\":\"stamp\"}]");
}

ENCODED(what_is_not_covered_is_beside_the_energy)
{
    struct apapi_record n1 = step_record("n1", 0);

    n1.measurement.domains[APAPI_DOMAIN_PACKAGE].covered = 0.75;
    n1.measurement.domains[APAPI_DOMAIN_PACKAGE].rest_j = 500;
    n1.measurement.unknown_domains = 1U << APAPI_DOMAIN_DRAM;
    add(&n1);
    encode(NULL);
    assert_has("\"domains\":{\"package\":{\"energy_j\":1000.0,\"uncertainty_j\":2.0,"
               "\"covered\":0.75,\"rest_j\":500.0,\"mean_w\":100.0,");
    assert_has("\"total\":{\"energy_j\":1000.0,\"covered\":0.75,\"rest_j\":500.0,"
               "\"mean_w\":100.0,\"nodes\":1,\"partial\":true,\"missing_domains\":[\"dram\"]}");
    assert_has("\"per_node\":[{\"node\":\"n1\",\"energy_j\":1000.0,\"uncertainty_j\":2.0,"
               "\"domains\":{\"package\":{\"energy_j\":1000.0,\"uncertainty_j\":2.0,"
               "\"covered\":0.75}},\"unknown_domains\":[\"dram\"]}]");
    renew_merge(); /* another domain does not say it */
    n1.measurement.unknown_domains = 0;
    set_domain(&n1, APAPI_DOMAIN_GPU, 500, power_w);
    add(&n1);
    encode(NULL);
    assert_has("\"gpu\":{\"energy_j\":500.0,\"uncertainty_j\":2.0,\"mean_w\":100.0,");
    assert_has("\"total\":{\"energy_j\":1500.0,\"mean_w\":200.0,\"nodes\":1}");
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
    events[0] = (struct apapi_event_result){.event = {.name = "x:::A",
                                                      .unit = "J",
                                                      .kind = APAPI_KIND_ENERGY,
                                                      .domain = APAPI_DOMAIN_PACKAGE,
                                                      .accumulates = true,
                                                      .estimated = estimated},
                                            .total = 1000,
                                            .summary = power_w,
                                            .covered_ns = 10 * S,
                                            .incidents = {.samples = 100, .wraps = 2}};
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
    assert_has("\"components\":[{\"name\":\"rapl\",\"source\":\"sysfs\",\"nodes\":2}]");
    assert_has(
        "\"events\":[{\"name\":\"x:::A\",\"kind\":\"energy\",\"domain\":\"package\","
        "\"unit\":\"J\",\"counter\":true,\"total\":1000.0,\"min\":90.0,\"max\":110.0,\"nodes\":1,"
        "\"mean\":100.0},{\"name\":\"x:::A\",\"kind\":\"energy\",\"domain\":\"package\","
        "\"unit\":\"J\",\"counter\":true,\"estimated\":true,");
    assert_has("\"notes\":[{\"component\":\"nvml\",\"verdict\":\"not measured\","
               "\"reason\":\"no driver\",\"nodes\":1,\"names\":[\"n1\"]},{\"component\":\"nvml\","
               "\"verdict\":\"not measured\",\"reason\":\"No driver\",\"nodes\":1,\"names\":["
               "\"n2\"]},{\"event\":\"x:::B\",\"verdict\":\"counter never moved, not counted\","
               "\"nodes\":2,\"names\":[\"n1\",\"n2\"]}]");
    assert_has("\"trust\":{\"covered\":0.5,\"covered_max\":1.0,\"samples\":100,\"samples_max\":100,"
               "\"cpu_s\":0.75,\"uncertainty_j\":6.0,");
    assert_has("\"wraps\":4,");
    assert_has("\"missed\":6");
    assert_has("{\"node\":\"n2\",\"energy_j\":2000.0,\"uncertainty_j\":2.0,\"covered\":0.5,");
    assert_has("{\"node\":\"n3\",\"energy_j\":3000.0,\"uncertainty_j\":2.0,\"domains\":");
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

/* n2 begins a second after n1, which is alone then. */
ENCODED(a_timeline_of_all_nodes_or_none)
{
    static const char *const absent[] = {"\"timeline\"", "\"bin_s\""};
    struct apapi_record n1 = step_record("n1", 0), n2 = step_record("n2", 1);
    struct apapi_record n3 = step_record("n3", 2);

    set_timeline(&n1, 100);
    set_timeline(&n2, 200);
    add(&n1);
    add(&n2);
    encode(NULL);
    assert_has("\"timeline\":{\"package\":{\"unit_j\":1.0,\"n\":[100,400,700,1000,800],"
               "\"start\":\"1970-01-01T00:16:40.000000000Z\",\"bin_s\":1.0}}");
    assert_has("\"mean_w\":600.0,\"min_w\":100.0,\"max_w\":1000.0,\"nodes\":2,\"bin_s\":1.0}");
    add(&n3);
    encode(NULL);
    assert_lacks(absent, COUNT_OF(absent));
}

/* --- limits ----------------------------------------------------------------------------------- */

ENCODED(without_any_record_it_says_which_step)
{
    static const char *const absent[] = {"\"start\"", "\"end\"",   "\"elapsed_s\"", "\"late_s\"",
                                         "\"total\"", "\"trust\"", "\"exit_code\"", "\"name\""};
    static const char *const none[] = {"\"job\":", "\"step\":"};
    static const char *const others[] = {NULL, "", "17", "x.0", "0.0", "4294967295.0", "1+2.0"};

    assert_int_equal(apapi_merge_absent(merge, "n1", "no answer"), 0);
    encode("17.batch");
    assert_has("\"job\":17,\"step\":\"batch\",\"nodes\":1,");
    assert_has("\"recorded\":0,\"missing\":[{\"node\":\"n1\",\"reason\":\"no answer\"}]");
    assert_lacks(absent, COUNT_OF(absent));
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        encode(others[i]);
        assert_lacks(none, COUNT_OF(none));
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
    assert_has("\"job\":17,");
    assert_has("\"job_name\":\"??n\"");
    assert_has("{\"node\":\"\\\"}],\\\"job\\\":0,\",\"energy_j\":");
    assert_has(
        "{\"node\":\"??n\",\"reason\":\"??n\"},{\"node\":\"a\\u001B[31m\\nb\\\\\",\"reason\":"
        "\"a\\u001B[31m\\nb\\\\\"},{\"node\":\"{}\",\"reason\":\"{}\"}]");
}
