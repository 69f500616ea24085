/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit/record_fixture.h"

TEST(a_usual_record_comes_back)
{
    struct apapi_record record = usual_record();
    char *line;

    assert_round_trip(&record);
    strcpy(record.id.name, "\x1B[31m\t\"\xC3\xBC\\\"\n\x7F");
    assert_round_trip(&record);
    strcpy(record.id.name, "\xC2\x9B"
                           "31m \xE2\x80\xAEgpj\x7F \xF3\xA0\x81\x81 \xC3\xBC \xF0\x9F\x9A\x80");
    assert_round_trip(&record);
    line = encode(&record); /* what a terminal obeys is escaped, letters are not */
    assert_non_null(strstr(
        line,
        "\"name\":\"\\u009b31m \\u202egpj\\u007f \\udb40\\udc41 \xC3\xBC \xF0\x9F\x9A\x80\""));
    free(line);
    record.id.het_job = 17;
    record.id.het_offset = 3;
    record.id.restarts = 2;
    record.id.verified = true;
    record.ending = (struct apapi_ending){255, 64, 4};
    record.complete = false;
    record.recovered = true;
    record.delayed = true;
    strcpy(record.unwritten, "/acct: No space left on device");
    assert_round_trip(&record);
    apapi_record_clear(&record);
}

TEST(crossings_come_back)
{
    static const struct apapi_crossing crossings[APAPI_CROSSINGS_MAX] = {
        {"total >= 5kJ", START_NS + 1, 5000.125, "J", 1, "log, signal=USR1", "to 4 processes"},
        {"coretemp:::t > 80\302\260C", START_NS + 2, NAN, "", 7, "", ""},
    };
    struct apapi_record record = usual_record();
    char *line = encode(&record);

    assert_null(strstr(line, "crossings"));
    free(line);
    record.crossing = malloc(sizeof crossings);
    assert_non_null(record.crossing);
    memcpy(record.crossing, crossings, sizeof crossings);
    record.crossing_count = record.crossings = 2;
    assert_round_trip(&record);
    line = encode(&record);
    assert_non_null(strstr(line, "{\"threshold\":\"total >= 5kJ\",\"time\":\"2026-11-21T11:20:"
                                 "01.123456790Z\",\"value\":5000.125,\"unit\":\"J\",\"count\":1,"
                                 "\"action\":\"log, signal=USR1\",\"result\":\"to 4 processes\"}"));
    assert_null(strstr(line, "crossings_total"));
    free(line);
    for (size_t i = 2; i < APAPI_CROSSINGS_MAX; i++) {
        record.crossing[i] = crossings[0];
    }
    record.crossing_count = APAPI_CROSSINGS_MAX;
    record.crossings = 1000;
    assert_round_trip(&record);
    apapi_record_clear(&record);
}

TEST(a_whole_record_is_clear)
{
    static const char *const parts[] = {
        "{\"apapi\":1,\"cluster\":\"mars\",\"job\":1747302,\"array_job\":1747300,"
        "\"array_task\":2,\"step\":\"0\",\"name\":\"stream\",\"job_name\":\"triad-sweep\","
        "\"node\":\"n0417\",\"node_index\":0,\"nodes\":2,\"nodelist\":\"n[0417-0418]\",\"tasks\":4,"
        "\"cores\":128,\"node_cores\":128,\"gpus\":4,"
        "\"uid\":1000,\"user\":\"alice\",\"account\":\"physics\",\"partition\":\"batch\","
        "\"qos\":\"normal\",\"start\":\"2026-11-21T11:20:01.123456789Z\","
        "\"boot\":\"9f1c6c0e4b7d4a52b0d3c6a8e7f54321\",\"monotonic_s\":4012345.123456,"
        "\"elapsed_s\":3.004123456,"
        "\"late_s\":0.001200001,\"exit_code\":0,\"complete\":true,"
        "\"end\":\"2026-11-21T11:20:04.127580245Z\",",
        "\"domains\":{\"package\":{\"energy_j\":"
        "1788.62469,\"uncertainty_j\":1.30864,\"mean_w\":595.22469,\"min_w\":182.5,"
        "\"max_w\":725.0,\"p95_w\":719.5}",
        "\"total\":{\"energy_j\":3577.24938,\"mean_w\":1190.44938}",
        "{\"name\":\"rapl\",\"source\":\"sysfs powercap\",\"interval_s\":0.1,\"periods\":31,"
        "\"period_mean_s\":0.100004,\"period_sd_s\":1.25e-5,\"period_longest_s\":0.100211,"
        "\"events\":[",
        "\"max\":362.5,\"p95\":361.125,\"uncertainty_j\":0.654321,\"covered_s\":",
        "\"name\":\"rapl:::DRAM_ENERGY:PACKAGE1\",\"kind\":\"energy\",\"domain\":\"dram\",",
        "\"total\":894.312345,\"raw_total\":894312345,\"scale\":1e-",
        "\"trust\":{\"covered\":0.9991,\"cpu_s\":0.0021,\"uncertainty_j\":2.61728,\"samples\":31,"
        "\"failed\":4,\"wraps\":8,"
        "\"resets\":12,\"refused\":16,\"gaps\":20,\"stalls\":24,\"missed\":0}}"};
    struct apapi_record record = usual_record();
    char *line = encode(&record);

    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        if (!strstr(line, parts[i])) {
            fail_msg("no %s in %s", parts[i], line);
        }
    }
    assert_null(strstr(line, "reason"));
    assert_null(strstr(line, "null"));
    free(line);
    apapi_record_clear(&record);
}

TEST(what_is_not_known_has_no_key)
{
    struct apapi_record record = {.id = APAPI_IDENTITY_UNKNOWN,
                                  .complete = true,
                                  .ending = APAPI_ENDING_UNKNOWN,
                                  .measurement = {.covered = NAN}};
    char *line;

    unmeasure_domains(record.measurement.domains);
    assert_round_trip(&record);
    line = encode(&record);
    assert_string_equal(
        line, "{\"apapi\":1,\"node\":\"\",\"start\":\"1970-01-01T00:00:00.000000000Z\","
              "\"elapsed_s\":0.0,\"late_s\":0.0,\"complete\":true,"
              "\"end\":\"1970-01-01T00:00:00.000000000Z\",\"domains\":{},"
              "\"components\":[],\"trust\":{\"cpu_s\":0.0,\"samples\":0,\"failed\":0,"
              "\"wraps\":0,\"resets\":0,\"refused\":0,\"gaps\":0,\"stalls\":0,\"missed\":0}}");
    free(line);
}

TEST(what_is_not_covered_is_beside_the_energy)
{
    struct apapi_record record = usual_record();
    struct apapi_domain_result *domains = record.measurement.domains;
    char *line;

    domains[APAPI_DOMAIN_PACKAGE].covered = 0.75;
    domains[APAPI_DOMAIN_PACKAGE].rest_j = 596.2;
    domains[APAPI_DOMAIN_DRAM].covered = 0.9;
    domains[APAPI_DOMAIN_DRAM].rest_j = 198.7;
    line = encode(&record);
    assert_non_null(strstr(line, "\"package\":{\"energy_j\":1788.62469,\"uncertainty_j\":1.30864,"
                                 "\"covered\":0.75,\"rest_j\":596.2,"));
    assert_non_null(strstr(line, "\"total\":{\"energy_j\":3577.24938,\"covered\":0.75,"
                                 "\"rest_j\":794.9,"));
    free(line);
    apapi_record_clear(&record);
}

TEST(a_total_names_the_domains_it_lacks)
{
    struct apapi_record record = usual_record(), back;
    char *line;

    record.measurement.domains[APAPI_DOMAIN_PACKAGE] = APAPI_DOMAIN_UNMEASURED;
    record.measurement.unknown_domains = 1U << APAPI_DOMAIN_PACKAGE | 1U << APAPI_DOMAIN_NODE;
    line = encode(&record);
    assert_non_null(strstr(line, "\"total\":{\"energy_j\":1788.62469,\"mean_w\":595.22469,"
                                 "\"missing_domains\":[\"package\"]}"));
    assert_non_null(strstr(line, "\"unknown_domains\":[\"package\",\"node\"]"));
    back = decode(line);
    assert_int_equal(back.measurement.unknown_domains, record.measurement.unknown_domains);
    apapi_record_clear(&back);
    free(line);
    assert_round_trip(&record);
    apapi_record_clear(&record);
}

/* If its total is known, its mean is, too, and the uncertainty of both. */
static void make_extreme_event(struct apapi_event_result *result, size_t number)
{
    bool known = number % 3 == 0;
    static const uint64_t counts[] = {0, 1, INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX};
    uint64_t count = counts[number % COUNT_OF(counts)];

    memset(result->event.name, 'e', APAPI_NAME_SIZE - 1);
    memset(result->event.unit, 'u', APAPI_UNIT_SIZE - 1);
    result->event.kind = number % APAPI_KINDS;
    result->event.domain = number % APAPI_DOMAINS;
    result->event.type = number % 4;
    result->event.accumulates = number % 2;
    result->event.estimated = number % 3 == 0;
    result->event.range_max = count;
    result->event.scale = number % 2 ? 6.103515625e-05 : 1e300;
    result->event.guard_j = number % 3 ? 65536.5 : 0;
    result->event.update_ns = number % 3 ? 976562 : 0;
    result->raw_total = count;
    result->total = known ? 1.23456789e+300 : NAN;
    result->summary = (struct apapi_summary){number % 2 ? -273.15 : NAN, known ? -0.0 : NAN, 1e-300,
                                             number % 3 ? -1.5 : NAN};
    result->uncertainty_j = known ? 1.23456e+300 : NAN;
    result->covered_ns = number;
    result->incidents =
        (struct apapi_incidents){count, count, count, count, count, count, count, count};
    result->stuck = number % 2;
}

static void fill(char *text, size_t size)
{
    memset(text, 'x', size - 1);
    text[size - 1] = '\0';
}

static void fill_identity(struct apapi_identity *id)
{
    fill(id->cluster, sizeof(id->cluster));
    fill(id->step, sizeof(id->step));
    fill(id->name, sizeof(id->name));
    fill(id->node, sizeof(id->node));
    fill(id->user, sizeof(id->user));
    fill(id->account, sizeof(id->account));
    fill(id->partition, sizeof(id->partition));
    fill(id->qos, sizeof(id->qos));
    fill(id->job_name, sizeof(id->job_name));
}

static struct apapi_record extreme_record(void)
{
    struct apapi_record record = {
        .id = {.job = UINT32_MAX - 1, .node_index = 0, .nodes = 1, .tasks = 0, .uid = 0},
        .measurement = {.covered = 1, .component_count = 3}};
    struct apapi_measurement *m = &record.measurement;

    fill_identity(&record.id);
    fill(record.reason, sizeof(record.reason));
    for (int i = 0; i < APAPI_DOMAINS; i++) {
        m->domains[i] = (struct apapi_domain_result){.measured = true,
                                                     .energy_j = i * 1e200,
                                                     .uncertainty_j = i * 1e-9,
                                                     .power_w = {NAN, i, i * 1e-9, i}};
    }
    m->domains[APAPI_DOMAIN_NONE] = APAPI_DOMAIN_UNMEASURED;
    m->domains[APAPI_DOMAIN_GPU] = (struct apapi_domain_result){
        .measured = true, .energy_j = NAN, .uncertainty_j = NAN, .power_w = {NAN, NAN, NAN, NAN}};
    m->components = calloc(3, sizeof(*m->components));
    assert_non_null(m->components);
    for (size_t i = 0; i < 3; i++) {
        fill(m->components[i].name, sizeof(m->components[i].name));
        fill(m->components[i].reason, sizeof(m->components[i].reason));
    }
    m->components[0].measured = true;
    fill(m->components[0].source, sizeof(m->components[0].source));
    m->components[0].missed = UINT64_MAX;
    m->components[1].measured = true;
    m->components[2].reason[0] = '\0';
    return record;
}

TEST(extremes_come_back)
{
    static const int64_t starts[] = {0, -1, 1, INT64_MIN, INT64_MAX, START_NS};
    static const uint64_t durations_ns[] = {
        0,         1, 999999999, 1000000001, UINT64_C(86400123456789), UINT64_C(999999999999999),
        UINT64_MAX};
    struct apapi_event_result events[24];

    memset(events, 0, sizeof(events));
    for (size_t i = 0; i < COUNT_OF(events); i++) {
        make_extreme_event(&events[i], i);
    }
    for (size_t i = 0; i < COUNT_OF(starts) * COUNT_OF(durations_ns); i++) {
        struct apapi_record record = extreme_record();

        set_events(&record.measurement.components[0], events, COUNT_OF(events));
        record.measurement.start_unix_ns = starts[i % COUNT_OF(starts)];
        record.measurement.elapsed_ns = durations_ns[i / COUNT_OF(starts)];
        record.measurement.late_ns = durations_ns[i / COUNT_OF(starts)];
        record.measurement.cpu_ns = durations_ns[i / COUNT_OF(starts)];
        assert_round_trip(&record);
        apapi_record_clear(&record);
    }
}

TEST(every_torn_record_is_refused)
{
    struct apapi_record record = usual_record();
    char *line = encode(&record);
    size_t length = strlen(line);

    for (size_t size = 0; size < length; size++) {
        char *torn = malloc(size ? size : 1); /* no longer: ASan sees a read beyond it */
        struct apapi_record back;

        assert_non_null(torn);
        memcpy(torn, line, size);
        assert_int_equal(apapi_record_decode(torn, size, &back, NULL), -1);
        free(torn);
    }
    free(line);
    apapi_record_clear(&record);
}
