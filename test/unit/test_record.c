/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "apapi/record.h"

#define START_NS INT64_C(1795260001123456789) /* 2026-11-21T11:20:01.123456789Z */
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static struct apapi_event_result energy_event(const char *name, enum apapi_domain domain)
{
    struct apapi_event_result result = {.event = {"", "J", APAPI_KIND_ENERGY, domain,
                                                  APAPI_TYPE_UINT64, true, 262143328850, 1e-6,
                                                  262143.32885, 1000000},
                                        .raw_total = 894312345,
                                        .total = 894.312345,
                                        .summary = {91.25, 297.612345, 362.5, 361.125},
                                        .covered_ns = 3003123456,
                                        .uncertainty_j = 0.654321,
                                        .incidents = {.samples = 31,
                                                      .failed = 1,
                                                      .wraps = 2,
                                                      .resets = 3,
                                                      .refused = 4,
                                                      .gaps = 5,
                                                      .stalls = 6}};

    snprintf(result.event.name, sizeof(result.event.name), "%s", name);
    return result;
}

static void set_events(struct apapi_component_result *component,
                       const struct apapi_event_result *events, size_t count)
{
    component->events = calloc(count, sizeof(*events));
    assert_non_null(component->events);
    memcpy(component->events, events, count * sizeof(*events));
    component->event_count = count;
}

static void unmeasure_domains(struct apapi_measurement *m)
{
    for (int i = 0; i < APAPI_DOMAINS; i++) {
        m->domains[i] = APAPI_DOMAIN_UNMEASURED;
    }
}

/* A usual node: two packages with memory. */
static struct apapi_record usual_record(void)
{
    const struct apapi_event_result events[] = {
        energy_event("rapl:::PACKAGE_ENERGY:PACKAGE0", APAPI_DOMAIN_PACKAGE),
        energy_event("rapl:::PACKAGE_ENERGY:PACKAGE1", APAPI_DOMAIN_PACKAGE),
        energy_event("rapl:::DRAM_ENERGY:PACKAGE0", APAPI_DOMAIN_DRAM),
        energy_event("rapl:::DRAM_ENERGY:PACKAGE1", APAPI_DOMAIN_DRAM)};
    struct apapi_record record = {
        .id = {.cluster = "mars",
               .job = 1747302,
               .array_job = 1747300,
               .array_task = 2,
               .het_job = APAPI_UNKNOWN,
               .het_offset = APAPI_UNKNOWN,
               .step = "0",
               .name = "stream",
               .job_name = "triad-sweep",
               .node = "n0417",
               .node_index = 0,
               .nodes = 2,
               .tasks = 4,
               .cores = 128,
               .gpus = 4,
               .restarts = APAPI_UNKNOWN,
               .uid = 1000,
               .user = "alice",
               .account = "physics",
               .partition = "batch",
               .qos = "normal"},
        .complete = true,
        .ending = {0, APAPI_UNKNOWN, APAPI_UNKNOWN},
        .measurement = {START_NS, 3004123456, 1200001, 0.9991, 2100000, 1, NULL, {{0}}}};
    struct apapi_measurement *m = &record.measurement;

    unmeasure_domains(m);
    m->domains[APAPI_DOMAIN_PACKAGE] = (struct apapi_domain_result){
        true, 1788.62469, 1.30864, {182.5, 595.22469, 725, 719.5}, {0}};
    m->domains[APAPI_DOMAIN_DRAM] = (struct apapi_domain_result){
        true, 1788.62469, 1.30864, {182.5, 595.22469, 725, 719.5}, {0}};
    m->components = calloc(1, sizeof(*m->components));
    assert_non_null(m->components);
    m->components[0] =
        (struct apapi_component_result){.name = "rapl",
                                        .measured = true,
                                        .source = "sysfs powercap",
                                        .interval_ns = 100000000,
                                        .period = {31, 0.100004, 1.25e-05, 0.100211}};
    set_events(&m->components[0], events, COUNT_OF(events));
    return record;
}

static void describe_event(FILE *out, const struct apapi_event_result *result)
{
    const struct apapi_event *event = &result->event;
    const struct apapi_incidents *n = &result->incidents;

    fprintf(out, "\n    %s %s %d %d %d %d %d", event->name, event->unit, event->kind, event->domain,
            event->type, event->accumulates, event->estimated);
    fprintf(out, " range %ju scale %.15g guard %.15g update %ju raw %ju",
            (uintmax_t)event->range_max, event->scale, event->guard_j, (uintmax_t)event->update_ns,
            (uintmax_t)result->raw_total);
    fprintf(out, " total %.9g +- %.6g %.6g %.9g %.6g %.6g covered %ju stuck %d", result->total,
            result->uncertainty_j, result->summary.min, result->summary.mean, result->summary.max,
            result->summary.p95, (uintmax_t)result->covered_ns, result->stuck);
    fprintf(out, " %ju %ju %ju %ju %ju %ju %ju", (uintmax_t)n->samples, (uintmax_t)n->failed,
            (uintmax_t)n->wraps, (uintmax_t)n->resets, (uintmax_t)n->refused, (uintmax_t)n->gaps,
            (uintmax_t)n->stalls);
}

static void describe_measurement(FILE *out, const struct apapi_measurement *m)
{
    fprintf(out, "\n%jd %ju %ju %.9g %ju", (intmax_t)m->start_unix_ns, (uintmax_t)m->elapsed_ns,
            (uintmax_t)m->late_ns, m->covered, (uintmax_t)m->cpu_ns);
    for (int i = 0; i < APAPI_DOMAINS; i++) {
        const struct apapi_domain_result *domain = &m->domains[i];

        fprintf(out, "\n  domain %d %.9g %.6g %.6g %.9g %.6g %.6g", domain->measured,
                domain->energy_j, domain->uncertainty_j, domain->power_w.min, domain->power_w.mean,
                domain->power_w.max, domain->power_w.p95);
    }
    for (size_t i = 0; i < m->component_count; i++) {
        const struct apapi_component_result *component = &m->components[i];

        fprintf(out, "\n  %s %d '%s' '%s' %ju %ju", component->name, component->measured,
                component->source, component->reason, (uintmax_t)component->interval_ns,
                (uintmax_t)component->missed);
        fprintf(out, " period %ju %.6g %.6g %.6g", (uintmax_t)component->period.count,
                component->period.mean_s, component->period.sd_s, component->period.longest_s);
        for (size_t k = 0; k < component->event_count; k++) {
            describe_event(out, &component->events[k]);
        }
    }
}

/* Every member in words, as exact as JSON has to be. */
static char *describe(const struct apapi_record *record)
{
    const struct apapi_identity *id = &record->id;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    fprintf(out, "'%s' %u '%s' '%s' '%s' %u %u %u %u '%s' '%s' '%s' %d '%s'", id->cluster, id->job,
            id->step, id->name, id->node, id->node_index, id->nodes, id->tasks, id->uid, id->user,
            id->account, id->partition, record->complete, record->reason);
    fprintf(out, " %u_%u %u+%u '%s' '%s' %d %u %u %u", id->array_job, id->array_task, id->het_job,
            id->het_offset, id->job_name, id->qos, id->verified, id->cores, id->gpus, id->restarts);
    fprintf(out, " %u %u %u %d %d", record->ending.code, record->ending.signal,
            record->ending.failed, record->recovered, record->delayed);
    describe_measurement(out, &record->measurement);
    assert_int_equal(fclose(out), 0);
    return text;
}

typedef int (*encode_f)(const struct apapi_record *record, char **line, struct apapi_error *err);

static char *encode_as(encode_f form, const struct apapi_record *record)
{
    char *line = NULL;
    struct apapi_error err = {""};

    assert_int_equal(form(record, &line, &err), 0);
    assert_non_null(line);
    assert_null(strchr(line, '\n'));
    return line;
}

static char *encode(const struct apapi_record *record)
{
    return encode_as(apapi_record_encode, record);
}

static struct apapi_record decode(const char *line)
{
    struct apapi_record record;
    struct apapi_error err = {""};

    if (apapi_record_decode(line, strlen(line), &record, &err) < 0) {
        fail_msg("%s", err.text);
    }
    return record;
}

static void assert_comes_back(encode_f form, const struct apapi_record *record)
{
    char *line = encode_as(form, record);
    struct apapi_record back = decode(line);
    char *wished = describe(record);
    char *got = describe(&back);

    assert_string_equal(wished, got);
    free(wished);
    free(got);
    free(line);
    apapi_record_clear(&back);
}

static void assert_round_trip(const struct apapi_record *record)
{
    assert_comes_back(apapi_record_encode, record);
    assert_comes_back(apapi_record_encode_whole, record);
}

static void a_usual_record_comes_back(void **state)
{
    struct apapi_record record = usual_record();

    (void)state;
    assert_round_trip(&record);
    strcpy(record.id.name, "\x1B[31m\t\"\xC3\xBC\\\"\n\x7F");
    assert_round_trip(&record);
    record.id.het_job = 17;
    record.id.het_offset = 3;
    record.id.restarts = 2;
    record.id.verified = true;
    record.ending = (struct apapi_ending){255, 64, 4};
    record.complete = false;
    record.recovered = true;
    record.delayed = true;
    assert_round_trip(&record);
    apapi_record_clear(&record);
}

static void a_whole_record_is_clear(void **state)
{
    static const char *const parts[] = {
        "{\"apapi\":1,\"cluster\":\"mars\",\"job\":1747302,\"array_job\":1747300,"
        "\"array_task\":2,\"step\":\"0\",\"name\":\"stream\",\"job_name\":\"triad-sweep\","
        "\"node\":\"n0417\",\"node_index\":0,\"nodes\":2,\"tasks\":4,\"cores\":128,\"gpus\":4,"
        "\"uid\":1000,\"user\":\"alice\",\"account\":\"physics\",\"partition\":\"batch\","
        "\"qos\":\"normal\",\"start\":\"2026-11-21T11:20:01.123456789Z\",\"elapsed_s\":3.004123456,"
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
    char *line = encode_as(apapi_record_encode_whole, &record);

    (void)state;
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

static void what_is_estimated_is_marked(void **state)
{
    struct apapi_record record = usual_record();
    char *line;

    (void)state;
    line = encode(&record);
    assert_null(strstr(line, "estimated"));
    free(line);
    record.measurement.components[0].events[1].event.estimated = true;
    assert_round_trip(&record);
    line = encode(&record);
    assert_non_null(strstr(line, ",\"estimated\":true,"));
    assert_null(strstr(strstr(line, "estimated") + 1, "estimated"));
    free(line);
    apapi_record_clear(&record);
}

static void what_is_not_known_has_no_key(void **state)
{
    struct apapi_record record = {.id = APAPI_IDENTITY_UNKNOWN,
                                  .complete = true,
                                  .ending = APAPI_ENDING_UNKNOWN,
                                  .measurement = {.covered = NAN}};
    char *line;

    (void)state;
    unmeasure_domains(&record.measurement);
    assert_round_trip(&record);
    line = encode(&record);
    assert_string_equal(line,
                        "{\"apapi\":1,\"node\":\"\",\"start\":\"1970-01-01T00:00:00.000000000Z\","
                        "\"elapsed_s\":0.0,\"late_s\":0.0,\"complete\":true,"
                        "\"end\":\"1970-01-01T00:00:00.000000000Z\",\"domains\":{},"
                        "\"components\":[],\"trust\":{\"cpu_s\":0.0,\"samples\":0}}");
    free(line);
}

/* Where its total is known, so is its mean, and what both tell of the uncertainty. */
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
    result->incidents = (struct apapi_incidents){count, count, count, count, count, count, count};
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
        m->domains[i] =
            (struct apapi_domain_result){true, i * 1e200, i * 1e-9, {NAN, i, i * 1e-9, i}, {0}};
    }
    m->domains[APAPI_DOMAIN_NONE] = APAPI_DOMAIN_UNMEASURED;
    m->domains[APAPI_DOMAIN_GPU] =
        (struct apapi_domain_result){true, NAN, NAN, {NAN, NAN, NAN, NAN}, {0}};
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

static void extremes_come_back(void **state)
{
    static const int64_t starts[] = {0, -1, 1, INT64_MIN, INT64_MAX, START_NS};
    static const uint64_t durations_ns[] = {
        0,         1, 999999999, 1000000001, UINT64_C(86400123456789), UINT64_C(999999999999999),
        UINT64_MAX};
    struct apapi_event_result events[24];

    (void)state;
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

#define USUAL_COVERED_NS UINT64_C(78642123456789)
#define USUAL_ELAPSED_NS UINT64_C(78642223456789)
#define USUAL_LATE_NS 1200001

/* Nothing went wrong, and all numbers have as many digits as numbers have. */
static void be_usual(struct apapi_event_result *result)
{
    result->incidents = (struct apapi_incidents){.samples = 786421};
    result->raw_total = 23405123456789;
    result->total = 23405123.456789;
    result->covered_ns = USUAL_COVERED_NS;
    result->summary = (struct apapi_summary){91.2512345, NAN, 362.512345, 361.125};
    result->summary.mean = result->total * 1e9 / (double)result->covered_ns;
    result->uncertainty_j =
        apapi_event_uncertainty_j(result, USUAL_ELAPSED_NS + USUAL_LATE_NS, 100000000);
}

/* As long as it can be: 120 bins, of which one is known in part. */
static void draw(struct apapi_domain_result *domain)
{
    struct apapi_timeline *timeline = &domain->timeline;

    timeline->bin_ns = 10000000 * (UINT64_C(1) << 16);
    timeline->length_ns = USUAL_ELAPSED_NS;
    timeline->count = APAPI_TIMELINE_BINS;
    for (size_t i = 0; i < APAPI_TIMELINE_BINS; i++) {
        timeline->energy_j[i] = (float)((101 + 7 * i) * 1000);
        timeline->covered_pct[i] = 100;
    }
    timeline->covered_pct[77] = 50;
}

/* The most usual of the big ones: two packages with memory, four GPUs. */
static struct apapi_record node_with_gpus(void)
{
    struct apapi_record record = usual_record();
    struct apapi_measurement *m = &record.measurement;
    struct apapi_component_result *grown = reallocarray(m->components, 2, sizeof(*grown));
    struct apapi_event_result events[4];

    assert_non_null(grown);
    for (int i = 0; i < 4; i++) {
        char name[APAPI_NAME_SIZE];

        snprintf(name, sizeof(name), "nvml:::NVIDIA_H200:device_%d:total_energy_consumption", i);
        events[i] = energy_event(name, APAPI_DOMAIN_GPU);
        events[i].event.range_max = 0;
        events[i].event.guard_j = 0;
        be_usual(&events[i]);
    }
    for (int i = 0; i < 4; i++) {
        be_usual(&grown[0].events[i]);
    }
    m->components = grown;
    grown[1] = (struct apapi_component_result){.name = "nvml",
                                               .measured = true,
                                               .source = "PAPI 7.2.0 nvml",
                                               .interval_ns = 100000000,
                                               .period = {31, 0.100004, 1.25e-05, 0.100211}};
    set_events(&grown[1], events, COUNT_OF(events));
    m->component_count = 2;
    m->domains[APAPI_DOMAIN_GPU] = (struct apapi_domain_result){
        true, 3577.24938, 2.61728, {365, 1190.44938, 1450, 1439.25}, {0}};
    grown[0].period.count = grown[1].period.count = 786421;
    m->elapsed_ns = USUAL_ELAPSED_NS;
    m->late_ns = USUAL_LATE_NS;
    for (int d = APAPI_DOMAIN_PACKAGE; d <= APAPI_DOMAIN_GPU; d++) {
        m->domains[d].energy_j *= 12345.678;
        m->domains[d].uncertainty_j =
            (d == APAPI_DOMAIN_GPU ? 4 : 2) * events[0].uncertainty_j;
        draw(&m->domains[d]);
    }
    return record;
}

static void a_usual_node_takes_four_kilobytes(void **state)
{
    struct apapi_record record = node_with_gpus();
    char *line = encode(&record);

    (void)state;
    if (strlen(line) > 4096) {
        fail_msg("%zu bytes: %s", strlen(line), line);
    }
    free(line);
    assert_round_trip(&record);
    apapi_record_clear(&record);
}

static void what_events_have_in_common_stands_once(void **state)
{
    struct apapi_record record = node_with_gpus();
    struct apapi_event_result *rapl = record.measurement.components[0].events;
    char *line;

    (void)state;
    rapl[1].covered_ns += 5;
    rapl[2].event.kind = rapl[3].event.kind = APAPI_KIND_COUNT;
    rapl[2].uncertainty_j = rapl[3].uncertainty_j = NAN;
    rapl[3].incidents.failed = 7;
    assert_round_trip(&record);
    line = encode(&record);
    assert_non_null(strstr(line, "\"common\":{\"energy\":{\"domain\":\"package\",\"unit\":\"J\","
                                 "\"scale\":1e-6,\"counter\":true,"));
    assert_non_null(strstr(line, "\"count\":{\"domain\":\"dram\",\"unit\":\"J\","));
    assert_non_null(strstr(line, "\"p95\":361.125,\"covered_s\":78642.123456794}"));
    assert_non_null(strstr(line, "\"p95\":361.125,\"failed\":7}"));
    assert_non_null(strstr(line, ":PACKAGE0\",\"total\":23405123.456789,\"min\":91.2512,\"max\""));
    free(line);
    apapi_record_clear(&record);
}

static void what_does_not_follow_is_not_left_out(void **state)
{
    struct apapi_record record = node_with_gpus();
    struct apapi_event_result *rapl = record.measurement.components[0].events;
    char *line;

    (void)state;
    rapl[0].raw_total++;
    rapl[1].summary.mean *= 1.00001;
    rapl[2].uncertainty_j *= 2;
    assert_round_trip(&record);
    line = encode(&record);
    assert_non_null(strstr(line, "\"raw_total\":23405123456790,"));
    assert_non_null(strstr(line, ",\"mean\":"));
    assert_non_null(strstr(line, "\"p95\":361.125,\"uncertainty_j\":"));
    free(line);
    apapi_record_clear(&record);
}

/* They are for the program that measures; a record has what they are made of. */
static void values_are_not_in_the_record(void **state)
{
    struct apapi_record record = usual_record();
    char *line;

    (void)state;
    record.measurement.components[0].events[0].values[0] = (struct apapi_value_result){
        .shown = APAPI_SHOW_ACC, .type = "energy", .unit = "Ws", .factor = 1, .acc = 4711};
    line = encode(&record);
    assert_null(strstr(line, "4711"));
    free(line);
    apapi_record_clear(&record);
}

static void every_torn_record_is_refused(void **state)
{
    struct apapi_record record = usual_record();
    char *line = encode(&record);
    size_t length = strlen(line);

    (void)state;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_usual_record_comes_back),
        cmocka_unit_test(a_whole_record_is_clear),
        cmocka_unit_test(what_is_estimated_is_marked),
        cmocka_unit_test(what_is_not_known_has_no_key),
        cmocka_unit_test(extremes_come_back),
        cmocka_unit_test(a_usual_node_takes_four_kilobytes),
        cmocka_unit_test(what_events_have_in_common_stands_once),
        cmocka_unit_test(what_does_not_follow_is_not_left_out),
        cmocka_unit_test(values_are_not_in_the_record),
        cmocka_unit_test(every_torn_record_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
