/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/meter.h"
#include "record/members.h"
#include "record/record.h"
#include "unit/near.h"
#include "unit/record_fixture.h"

/* Characters that a terminal obeys are escaped, letters are not. */
TEST(a_hostile_name_comes_back)
{
    CLEARED struct apapi_record record = usual_record();
    FREED char *line = NULL;

    strcpy(record.id.name, "\x1B[\t\"\xC2\x9B"
                           "31m \xE2\x80\xAEgpj\x7F \xF3\xA0\x81\x81 \xC3\xBC \xF0\x9F\x9A\x80");
    record.ending = (struct apapi_ending){255, 64, 4};
    record.recovered = record.delayed = record.id.verified = true;
    assert_round_trip(&record);
    line = encode(&record);
    assert_contains(line, "\"name\":\"\\u001B[\\t\\\"\\u009b31m \\u202egpj\\u007f \\udb40\\udc41 "
                          "\xC3\xBC \xF0\x9F\x9A\x80\"");
}

TEST(crossings_come_back)
{
    static const struct apapi_crossing crossings[APAPI_CROSSINGS_MAX] = {
        {"total >= 5kJ", START_NS + 1, 5000.125, "J", 1, "log, signal=USR1", "to 4 processes"},
        {"coretemp:::t > 80\302\260C", START_NS + 2, NAN, "", 7, "", ""},
    };
    CLEARED struct apapi_record record = usual_record();
    char *line = encode(&record);

    assert_null(strstr(line, "crossings"));
    free(line);
    record.crossing = malloc(sizeof crossings);
    assert_non_null(record.crossing);
    memcpy(record.crossing, crossings, sizeof crossings);
    record.crossing_count = record.crossings = 2;
    assert_round_trip(&record);
    line = encode(&record);
    assert_contains(line, "{\"threshold\":\"total >= 5kJ\",\"time\":\"2026-11-21T11:20:"
                          "01.123456790Z\",\"value\":5000.125,\"unit\":\"J\",\"count\":1,"
                          "\"action\":\"log, signal=USR1\",\"result\":\"to 4 processes\"}");
    assert_null(strstr(line, "crossings_total"));
    free(line);
    for (size_t i = 2; i < APAPI_CROSSINGS_MAX; i++) {
        record.crossing[i] = crossings[0];
    }
    record.crossing_count = APAPI_CROSSINGS_MAX;
    record.crossings = 1000;
    assert_round_trip(&record);
}

TEST(the_figures_of_a_record)
{
    static const char *const parts[] = {
        "\"start\":\"2026-11-21T11:20:01.123456789Z\",\"boot\":"
        "\"9f1c6c0e4b7d4a52b0d3c6a8e7f54321\","
        "\"monotonic_s\":4012345.123456,\"elapsed_s\":3.004123456,\"late_s\":0.001200001,"
        "\"exit_code\":0,\"complete\":true,\"end\":\"2026-11-21T11:20:04.127580245Z\",",
        "\"domains\":{\"package\":{\"energy_j\":1788.62469,\"uncertainty_j\":1.30864,"
        "\"mean_w\":595.22469,\"min_w\":197.246,\"max_w\":200.9,\"p95_w\":719.5}",
        "\"min_w\":-20.0001,\"max_w\":1000000.0,", /* rounded outwards */
        "\"total\":{\"energy_j\":3577.24938,\"mean_w\":1190.44938}",
        "\"components\":[{\"name\":\"rapl\",\"source\":\"sysfs powercap\",\"interval_s\":0.1,"
        "\"periods\":31,\"period_mean_s\":0.100004,\"period_sd_s\":1.25e-5,",
        "\"trust\":{\"covered\":0.9991,\"cpu_s\":0.0021,\"uncertainty_j\":2.61728,\"samples\":31,"
        "\"failed\":4,\"wraps\":8,\"resets\":12,\"refused\":16,\"gaps\":20,\"stalls\":24,"
        "\"missed\":0}}"};
    CLEARED struct apapi_record record = usual_record();
    struct apapi_domain_result *domains = record.measurement.domains;
    FREED char *line = NULL;

    domains[APAPI_DOMAIN_PACKAGE].power_w.min = 197.2467;
    domains[APAPI_DOMAIN_PACKAGE].power_w.max = 200.899358;
    domains[APAPI_DOMAIN_DRAM].power_w.min = -20.00001;
    domains[APAPI_DOMAIN_DRAM].power_w.max = 999999.5;
    line = encode(&record);
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        assert_contains(line, parts[i]);
    }
    assert_null(strstr(line, "reason"));
    assert_null(strstr(line, "null"));
}

TEST(what_is_not_known_has_no_key)
{
    struct apapi_record record = {.id = APAPI_IDENTITY_UNKNOWN,
                                  .complete = true,
                                  .ending = APAPI_ENDING_UNKNOWN,
                                  .measurement = {.covered = NAN}};
    FREED char *line = NULL;

    unmeasure_domains(record.measurement.domains);
    assert_round_trip(&record);
    line = encode(&record);
    assert_string_equal(
        line, "{\"apapi\":1,\"node\":\"\",\"start\":\"1970-01-01T00:00:00.000000000Z\","
              "\"elapsed_s\":0.0,\"late_s\":0.0,\"complete\":true,"
              "\"end\":\"1970-01-01T00:00:00.000000000Z\",\"domains\":{},"
              "\"components\":[],\"trust\":{\"cpu_s\":0.0,\"samples\":0,\"failed\":0,"
              "\"wraps\":0,\"resets\":0,\"refused\":0,\"gaps\":0,\"stalls\":0,\"missed\":0}}");
}

TEST(a_total_names_the_domains_it_lacks)
{
    CLEARED struct apapi_record record = usual_record(), back = {.id = {.job = 0}};
    FREED char *line = NULL;

    record.measurement.domains[APAPI_DOMAIN_PACKAGE] = APAPI_DOMAIN_UNMEASURED;
    record.measurement.unknown_domains = 1U << APAPI_DOMAIN_PACKAGE | 1U << APAPI_DOMAIN_NODE;
    line = encode(&record);
    assert_contains(line, "\"total\":{\"energy_j\":1788.62469,\"mean_w\":595.22469,"
                          "\"missing_domains\":[\"package\"]}");
    assert_contains(line, "\"unknown_domains\":[\"package\",\"node\"]");
    back = decode(line);
    assert_int_equal(back.measurement.unknown_domains, record.measurement.unknown_domains);
    assert_round_trip(&record);
}

TEST(faults_of_meters_that_no_event_shows_are_kept)
{
    CLEARED struct apapi_record record = usual_record(), back = {.id = {.job = 0}};
    FREED char *line = NULL;

    record.measurement.incidents = (struct apapi_incidents){.resets = 100, .rough = 2};
    line = encode(&record);
    assert_contains(line, "\"wraps\":8,\"resets\":100,");
    back = decode(line);
    assert_int_equal(apapi_measurement_incidents(&back.measurement).resets, 100);
    assert_int_equal(apapi_measurement_incidents(&back.measurement).rough, 2);
    assert_int_equal(apapi_measurement_incidents(&back.measurement).wraps, 8);
    assert_round_trip(&record);
}

/* --- decoding --------------------------------------------------------------------------------- */

/* A short valid record, in which one place can be made wrong. */
static const char minimal[] =
    "{\"apapi\":1,\"node\":\"n1\",\"start\":\"2026-11-21T11:20:01Z\",\"elapsed_s\":3,"
    "\"late_s\":0.0,\"complete\":true,\"domains\":{\"package\":{\"energy_j\":5}},"
    "\"components\":[{\"name\":\"rapl\",\"source\":\"s\",\"events\":[{\"name\":\"e\",\"kind\":"
    "\"energy\",\"unit\":\"J\",\"type\":\"uint64\",\"scale\":1,\"total\":5,\"covered_s\":3,"
    "\"samples\":2}]}],\"trust\":{\"cpu_s\":0.1}}";

/* @return the line with the first `old` replaced, for free(). */
static char *replaced(const char *line, const char *old, const char *new)
{
    const char *place = strstr(line, old);
    char *text = NULL;

    assert_non_null(place);
    assert_true(asprintf(&text, "%.*s%s%s", (int)(place - line), line, new, place + strlen(old)) >
                0);
    return text;
}

static void assert_not_a_record(const char *text, int code, const char *said)
{
    struct apapi_record record = {.id = {.node = "untouched"}};

    assert_fails_with(code, said, apapi_record_decode(text, strlen(text), &record, &why));
    assert_string_equal(record.id.node, "untouched");
    assert_int_equal(apapi_record_decode(text, strlen(text), &record, NULL), -1);
}

/* A change that makes a line invalid, and the message about it. */
struct wrong {
    const char *old, *new, *said;
};

static void assert_wrong(const char *line, const struct wrong *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        FREED char *text = replaced(line, cases[i].old, cases[i].new);

        assert_not_a_record(text, EINVAL, cases[i].said);
    }
}

TEST(extremes_come_back)
{
    static const struct {
        const char *old, *new;
    } cases[] = {
        {"2026-11-21T11:20:01Z", "1677-09-21T00:12:43.145224192Z"},
        {"2026-11-21T11:20:01Z", "2262-04-11T23:47:16.854775807Z"},
        {"2026-11-21T11:20:01Z", "1969-12-31T23:59:59.999999999Z"},
        {"\"elapsed_s\":3", "\"elapsed_s\":999999.999999999"},
        {"\"elapsed_s\":3", "\"elapsed_s\":18446744073.7096"},
        {"\"node\":", "\"job\":4294967294,\"node\":"},
        {"\"total\":5", "\"total\":1.23456789e300,\"raw_total\":\"18446744073709551615\""},
        {"\"scale\":1", "\"scale\":6.103515625e-5"},
        {"\"covered_s\":3", "\"min\":-273.15,\"mean\":-0.0,\"max\":1e-300,\"covered_s\":1e-9"},
        {"\"samples\":2", "\"samples\":\"9223372036854775808\",\"stuck\":true"},
        {"\"kind\":\"energy\"", "\"kind\":\"temperature\",\"domain\":\"psys\""},
        {"\"type\":\"uint64\"", "\"type\":\"fp64\",\"estimated\":true"},
        {"{\"energy_j\":5}", "{\"energy_j\":6e200,\"uncertainty_j\":1e-9}"},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        FREED char *text = replaced(minimal, cases[i].old, cases[i].new), *line = NULL;
        CLEARED struct apapi_record record = decode(text);

        line = encode(&record);
        assert_contains(line, cases[i].new);
        assert_round_trip(&record);
    }
}

/* A list of nodes that was cut would name wrong nodes, so it is left out. Other texts are cut. */
TEST(a_list_of_nodes_is_read_whole_or_not_at_all)
{
    for (size_t length = 255; length <= 256; length++) {
        char names[600], list[257] = "", *line;
        CLEARED struct apapi_record record = {.id = {.job = 0}};

        memset(list, 'n', length);
        snprintf(names, sizeof names, "\"node\":\"n1\",\"name\":\"%s\",\"nodelist\":\"%s\"", list,
                 list);
        line = replaced(minimal, "\"node\":\"n1\"", names);
        record = decode(line);
        assert_int_equal(strlen(record.id.name), 255);
        assert_int_equal(strlen(record.id.nodelist), length == 255 ? 255 : 0);
        free(line);
    }
}

TEST(newer_keys_are_ignored)
{
    static const struct {
        const char *old;
        const char *new;
    } cases[] = {
        {"{\"apapi\":1,", "{\"apapi\":1,\"new\":{\"deep\":[1,null]},"},
        {"\"package\":", "\"bathtub\":{\"energy_j\":3},\"package\":"},
        {"{\"energy_j\":5}", "{\"energy_j\":5,\"energy_cal\":null}"},
        {"\"kind\":", "\"new\":[],\"domain\":\"bathtub\",\"kind\":"},
        {"{\"cpu_s\"", "{\"unknown_domains\":[\"bathtub\"],\"cpu_s\""},
        {"{\"cpu_s\"", "{\"new\":\"x\",\"cpu_s\""},
        {"\"trust\":{", " \n\"trust\"\t: {"},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        FREED char *text = replaced(minimal, cases[i].old, cases[i].new);
        CLEARED struct apapi_record record = decode(text);

        assert_true(record.measurement.domains[APAPI_DOMAIN_PACKAGE].energy_j == 5);
        assert_int_equal(record.measurement.components[0].event_count, 1);
    }
}

#define WITH_SHARE(share) "\"apapi\":1", "\"apapi\":1,\"share\":" share

TEST(what_is_wrong_is_named)
{
    static const struct wrong cases[] = {
        {"\"apapi\":1,", "", "apapi: is missing"},
        {"\"node\":\"n1\",", "", "node: is missing"},
        {"\"node\":\"n1\"", "\"node\":1", "node: not a text"},
        {"\"node\":\"n1\"", "\"node\":\"n1\",\"node\":\"n2\"", "duplicate"},
        {"\"node\":\"n1\"", "\"node\":\"n\\u0000\"", "line 1, column"},
        {"\"node\":", "\"job\":4294967295,\"node\":", "job: out of range"},
        {"2026-11-21T11:20:01Z", "2026-13-21T11:20:01Z", "start: not a time"},
        {"\"elapsed_s\":3", "\"elapsed_s\":1e999", "overflow"},
        {"\"domains\"", "\"domain\"", "domains: is missing"},
        {"{\"energy_j\":5}", "5", "domains.package: not an object"},
        {"{\"energy_j\":5}", "{\"energy_j\":-5}", "domains.package.energy_j: below 0"},
        {"{\"energy_j\":5}", "{\"energy_j\":5,\"covered\":1.1}", "package.covered: above 1"},
        {"{\"cpu_s\"", "{\"unknown_domains\":\"dram\",\"cpu_s\"",
         "trust.unknown_domains: not an array of texts"},
        {"{\"cpu_s\"", "{\"unknown_domains\":[1],\"cpu_s\"",
         "trust.unknown_domains: not an array of texts"},
        {"\"late_s\":0.0", "\"late_s\":-3", "late_s: below 0"},
        {"\"late_s\":0.0", "\"late_s\":1e11", "late_s: too long"},
        {"\"complete\":true", "\"complete\":1", "complete: not true or false"},
        {"\"kind\":\"energy\"", "\"kind\":\"?\"", "kind: not a word that is known"},
        {"\"samples\":2", "\"samples\":2.0", "samples: not an integer"},
        {"\"samples\":2", "\"samples\":\"2x\"", "samples: not a count"},
        {"\"samples\":2", "\"samples\":\"18446744073709551616\"", "samples: not a count"},
        {"2026-11-21T11:20:01Z", "9999-11-21T11:20:01Z", "start: not a time"},
        {"\"components\"", "\"parts\"", "components: is missing"},
        {"\"components\":[", "\"components\":1,\"x\":[", "components: not an array"},
        {"\"components\":[", "\"components\":[7,", "components[0]: not an object"},
        {"\"source\":\"s\",", "", "components[0].source: is missing"},
        {"\"scale\":1", "\"scale\":1,\"wraps\":-1", "components[0].events[0].wraps: below 0"},
        {"\"type\":\"uint64\"", "\"type\":\"int\"", "events[0].type: not a word that is known"},
        {"\"scale\":1", "\"scale\":0", "events[0].scale: not above 0"},
        {"\"total\":5", "\"total\":-5", "events[0].total: an energy below 0"},
        {"\"samples\":2}", "\"samples\":2},{\"name\":\"f\"}", "events[1].unit: is missing"},
        {"\"trust\":{\"cpu_s\":0.1}", "\"x\":1", "trust: is missing"},
        {"{\"cpu_s\":0.1}", "{}", "trust.cpu_s: is missing"},
        {"\"cpu_s\":0.1", "\"cpu_s\":0.1,\"resets\":-1", "trust.resets: below 0"},
        {"\"cpu_s\":0.1", "\"cpu_s\":0.1,\"covered\":1.1", "trust.covered: above 1"},
        {"\"node\":\"n1\"", "\"node\":\"\xFF\"", "line 1, column"},
        {WITH_SHARE("3"), "record: share: not an object"},
        {WITH_SHARE("{}"), "record: share.method: is missing, without a reason"},
        {WITH_SHARE("{\"method\":\"cpu-time\"}"), "record: share.domains: is missing"},
        {WITH_SHARE("{\"method\":\"cpu-time\",\"domains\":[]}"),
         "record: share.domains: not an object"},
        {WITH_SHARE("{\"method\":\"cpu-time\",\"domains\":{\"gpu\":{}}}"),
         "record: share.domains.gpu.energy_j: is missing"},
    };
    FREED char *newer = replaced(minimal, "\"apapi\":1", "\"apapi\":2");

    assert_not_a_record(newer, ENOTSUP, "version 2");
    assert_wrong(minimal, cases, COUNT_OF(cases));
}

TEST(messages_carry_no_escape_sequences)
{
    struct apapi_record record;
    static const char text[] = "{\"a\x7F\xC2\x9B[31m\": x\x7F\xC2\x9B }";

    assert_fails(EINVAL, apapi_record_decode(text, strlen(text), &record, &why));
    assert_null(strpbrk(why.text, "\x1B\x7F"));
    assert_null(strstr(why.text, "\xC2\x9B"));
}

/* --- shares ----------------------------------------------------------------------------------- */

TEST(a_share_comes_back)
{
    CLEARED struct apapi_record record = usual_record(), back = {.id = {.job = 0}};
    FREED char *line = NULL;

    record.share = apapi_share_unknown();
    strcpy(record.share.method, "cpu-time");
    strcpy(record.share.idle, "cores");
    record.share.interval_ns = 1000000000;
    record.share.domains[APAPI_DOMAIN_PACKAGE] = (struct apapi_share_energy){120.5, 1.5, 20, 80};
    record.share.domains[APAPI_DOMAIN_DRAM] = (struct apapi_share_energy){10, 0.5, 0, NAN};
    record.share.domains[APAPI_DOMAIN_NODE] = (struct apapi_share_energy){200, 9, NAN, NAN};
    line = encode(&record);
    assert_contains(line,
                    "\"share\":{\"method\":\"cpu-time\",\"idle\":\"cores\",\"interval_s\":1.0,"
                    "\"domains\":{\"package\":{\"energy_j\":120.5,\"uncertainty_j\":1.5,"
                    "\"idle_j\":20.0,\"idle_w\":80.0},"
                    "\"dram\":{\"energy_j\":10.0,\"uncertainty_j\":0.5,\"idle_j\":0.0},"
                    "\"node\":{\"energy_j\":200.0,\"uncertainty_j\":9.0}},"
                    "\"total\":{\"energy_j\":130.5,\"uncertainty_j\":2.0}}");
    assert_round_trip(&record);
    back = decode(line);
    assert_true(apapi_share_known(&back.share));
    assert_true(apapi_share_energy_j(&back.share) == 130.5);
    assert_true(apapi_share_uncertainty_j(&back.share) == 2);
}

/* --- regions ---------------------------------------------------------------------------------- */

#define LINE_BYTES_MAX 1048576 /* longest line that readers of accounting files take */

static struct apapi_region_result region_of(const char *path, uint64_t time_ns, double energy_j)
{
    struct apapi_region_result region = region_unmeasured();

    snprintf(region.path, sizeof(region.path), "%s", path);
    region.method = APAPI_REGION_ESTIMATED;
    region.count = 12;
    region.programs = 2;
    region.threads = 8;
    region.time_ns = time_ns;
    region.domains[APAPI_DOMAIN_PACKAGE] = (struct apapi_region_energy){energy_j, 1.5, NAN};
    region.domains[APAPI_DOMAIN_PACKAGE].power_w = region_power_w(&region, APAPI_DOMAIN_PACKAGE);
    return region;
}

static struct apapi_record record_with_regions(size_t count)
{
    struct apapi_record record = usual_record();

    record.regions.list = calloc(count + 1, sizeof(*record.regions.list));
    assert_non_null(record.regions.list);
    for (size_t i = 0; i < count; i++) {
        record.regions.list[i] = region_of("solve/iterate", 2000000000, 120.5);
    }
    record.regions.list[count] = region_of("", 3004123456, 7);
    record.regions.list[count].kind = APAPI_REGION_IDLE;
    record.regions.list[count].programs = APAPI_UNKNOWN;
    record.regions.count = count + 1;
    record.regions.foms = calloc(1, sizeof(*record.regions.foms));
    assert_non_null(record.regions.foms);
    record.regions.foms[0] = (struct apapi_fom){"GFLOP", "GFLOP/s", 12.5, 2};
    record.regions.fom_count = 1;
    record.regions.losses.names = 3;
    return record;
}

TEST(regions_come_back)
{
    CLEARED struct apapi_record record = record_with_regions(1);
    FREED char *line = NULL;

    record.regions.list[0].method = APAPI_REGION_SHARED;
    strcpy(record.regions.list[0].reason, "not told apart from other");
    record.regions.list[0].bins = 3;
    record.regions.list[0].bin_ns = 400000000;
    memcpy(record.regions.list[0].share_pct, (uint8_t[]){100, 0, 55}, 3);
    line = encode(&record);
    assert_contains(
        line,
        "\"regions\":[{\"name\":\"solve/iterate\",\"method\":\"shared\",\"reason\":"
        "\"not told apart from other\",\"count\":12,\"programs\":2,\"threads\":8,\"time_s\":2.0,"
        "\"domains\":{\"package\":{\"energy_j\":120.5,\"uncertainty_j\":1.5,\"power_w\":60.25}},"
        "\"bins\":{\"bin_s\":0.4,\"share_pct\":[100,0,55]}},{\"kind\":\"idle\",\"method\":"
        "\"estimated\",\"count\":12,\"threads\":8,\"time_s\":3.004123456,\"domains\":{\"package\":"
        "{\"energy_j\":7.0,\"uncertainty_j\":1.5,\"power_w\":2.3301306}}}],\"foms\":[{\"name\":"
        "\"GFLOP\",\"value\":12.5,\"unit\":\"GFLOP/"
        "s\",\"programs\":2}],\"regions_lost\":{\"names\":3}}");
    assert_round_trip(&record);
}

TEST(the_longest_list_fits_into_a_line)
{
    CLEARED struct apapi_record record = record_with_regions(APAPI_REGIONS_MAX + 2);
    FREED char *line = NULL;

    for (size_t i = 0; i < record.regions.count; i++) {
        memset(record.regions.list[i].path, '"', sizeof(record.regions.list[i].path) - 1);
        memset(record.regions.list[i].reason, '\1', sizeof(record.regions.list[i].reason) - 1);
        for (int d = 0; d < APAPI_DOMAINS; d++) {
            record.regions.list[i].domains[d] =
                (struct apapi_region_energy){123.456789e-7, 123.456e-7, 1.23456789e-7};
        }
    }
    line = encode(&record);
    assert_true(strlen(line) < LINE_BYTES_MAX);
}

TEST(wrong_regions_are_refused)
{
    static const struct wrong cases[] = {
        {"\"method\":\"estimated\"", "\"method\":\"guessed\"",
         "record: regions[0].method: not a word that is known"},
        {"\"method\":\"estimated\",", "", "record: regions[0].method: is missing"},
        {"\"kind\":\"idle\"", "\"kind\":\"lazy\"",
         "record: regions[1].kind: not a word that is known"},
        {"\"method\":\"estimated\",",
         "\"method\":\"estimated\",\"bins\":{\"bin_s\":0,\"share_pct\":[]},",
         "record: regions[0].bins: not a width and at most 60 shares"},
        {"\"method\":\"estimated\",",
         "\"method\":\"estimated\",\"bins\":{\"bin_s\":1,\"share_pct\":[7,101]},",
         "record: regions[0].bins: a share that is no percentage"},
        {"\"regions_lost\":{", "\"regions_lost\":3,\"z\":{", "record: regions_lost: not an object"},
    };
    CLEARED struct apapi_record record = record_with_regions(1);
    FREED char *line = encode(&record);

    assert_wrong(line, cases, COUNT_OF(cases));
}

/* --- timeline --------------------------------------------------------------------------------- */

#define TIMELINE(bin_s, unit_j, n, more)                                                           \
    "\"trust\"", "\"timeline\":{\"bin_s\":" #bin_s ",\"package\":{\"unit_j\":" #unit_j             \
                 ",\"n\":" n more "}},\"trust\""

/* A bin of 100 W, an unknown one, one of 300 W, and one that has only begun. */
TEST(what_is_not_known_is_null_and_comes_back_unknown)
{
    FREED char *text = replaced(minimal, TIMELINE(1.25, 0.1, "[1250,null,1500]", ""));
    CLEARED struct apapi_record record = decode(text);
    const struct apapi_timeline *timeline =
        &record.measurement.domains[APAPI_DOMAIN_PACKAGE].timeline;

    assert_true(isnan(apapi_timeline_power_w(timeline, 1)));
    assert_within(apapi_timeline_power_w(timeline, 2), 300, 1e-3);
    assert_int_equal(timeline->length_ns, 3000000000);
    assert_round_trip(&record);
}

TEST(bad_timelines_are_refused)
{
    static const struct wrong cases[] = {
        {TIMELINE(0, 1, "[1]", ""), "timeline.bin_s: not a width"},
        {TIMELINE(3, 0, "[1]", ""), "timeline.package: unit_j: not above 0"},
        {TIMELINE(3, 1, "[]", ""), "timeline.package: n: not an array"},
        {TIMELINE(3, 1, "[-1]", ""), "n: not a whole number"},
        {TIMELINE(3, 1, "[1.5]", ""), "n: not a whole number"},
        {TIMELINE(1, 1, "[1,1,1,1,1]", ""), "n: bins of another length"},
        {TIMELINE(3, 1, "[1]", ",\"covered_pct\":{\"x\":5}"), "not a bin"},
        {TIMELINE(3, 1, "[1]", ",\"covered_pct\":{\"0\":500}"), "share"},
        {TIMELINE(3, 1, "[1]", ",\"covered_pct\":[5]"), "not an object"},
    };

    assert_wrong(minimal, cases, COUNT_OF(cases));
}

/* --- size ------------------------------------------------------------------------------------- */

/* Make the longest timeline: 120 bins, one of which is covered in part. */
static void draw_longest(struct apapi_domain_result *domain)
{
    struct apapi_timeline *timeline = &domain->timeline;

    timeline->bin_ns = 10000000 * (UINT64_C(1) << 16);
    timeline->length_ns = 78642223456789;
    timeline->count = APAPI_TIMELINE_BINS;
    for (size_t i = 0; i < APAPI_TIMELINE_BINS; i++) {
        timeline->energy_j[i] = (float)((101.3 + 7 * (double)i) * 1000);
        timeline->covered_pct[i] = i == 77 ? 0.5F : 100;
    }
}

/* The usual big node has two packages with memory and four GPUs. A day, with long numbers only. */
TEST(a_usual_line_has_at_most_six_kilobytes)
{
    const struct apapi_incidents nothing_went_wrong = {.samples = 786421};
    CLEARED struct apapi_record record = usual_record(), back = {.id = {.job = 0}};
    struct apapi_measurement *m = &record.measurement;
    struct apapi_component_result *component = reallocarray(m->components, 2, sizeof *component);
    struct apapi_event_result gpus[4];
    FREED char *line = NULL;

    assert_non_null(component);
    m->components = component;
    m->component_count = 2;
    for (int i = 0; i < 4; i++) {
        gpus[i] = energy_event("", APAPI_DOMAIN_GPU);
        snprintf(gpus[i].event.name, sizeof gpus[i].event.name,
                 "nvml:::NVIDIA_H200:device_%d:total_energy_consumption", i);
        component[0].events[i].total = gpus[i].total = 23405123.456789;
        component[0].events[i].covered_ns = gpus[i].covered_ns = 78642123456789;
        component[0].events[i].incidents = gpus[i].incidents = nothing_went_wrong;
        gpus[i].event.range_max = 0;
        gpus[i].event.guard_j = 0;
    }
    component[1] = component[0];
    strcpy(component[1].name, "nvml");
    strcpy(component[1].source, "PAPI 7.2.0 nvml");
    set_events(&component[1], gpus, COUNT_OF(gpus));
    m->elapsed_ns = 78642223456789;
    m->domains[APAPI_DOMAIN_GPU] = m->domains[APAPI_DOMAIN_PACKAGE];
    for (int d = APAPI_DOMAIN_PACKAGE; d <= APAPI_DOMAIN_GPU; d++) {
        draw_longest(&m->domains[d]);
    }
    line = encode(&record);
    fail_if(strlen(line) >= 6144, "%zu bytes: %s", strlen(line), line);
    back = decode(line);
    assert_int_equal(back.measurement.domains[APAPI_DOMAIN_GPU].timeline.count, 120);
    assert_within(apapi_timeline_energy_j(&back.measurement.domains[APAPI_DOMAIN_GPU].timeline),
                  apapi_timeline_energy_j(&m->domains[APAPI_DOMAIN_GPU].timeline), 1e-5);
}
