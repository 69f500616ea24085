/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit/record_fixture.h"

/* A short valid record with one place to break. */
static const char minimal[] =
    "{\"apapi\":1,\"node\":\"n1\",\"start\":\"2026-11-21T11:20:01Z\",\"elapsed_s\":3,"
    "\"late_s\":0.0,\"complete\":true,\"domains\":{\"package\":{\"energy_j\":5}},"
    "\"components\":[{\"name\":\"rapl\",\"source\":\"s\",\"events\":[{\"name\":\"e\",\"kind\":"
    "\"energy\",\"unit\":\"J\",\"type\":\"uint64\",\"scale\":1,\"total\":5,\"covered_s\":3,"
    "\"samples\":2}]}],\"trust\":{\"cpu_s\":0.1}}";

static char *replaced(const char *old, const char *new)
{
    const char *place = strstr(minimal, old);
    char *text = NULL;

    assert_non_null(place);
    assert_true(
        asprintf(&text, "%.*s%s%s", (int)(place - minimal), minimal, new, place + strlen(old)) > 0);
    return text;
}

TEST(a_minimal_record_is_read)
{
    struct apapi_record record = decode(minimal);

    assert_int_equal(record.id.job, APAPI_UNKNOWN);
    assert_true(record.measurement.start_unix_ns == INT64_C(1795260001000000000));
    assert_true(record.measurement.elapsed_ns == UINT64_C(3000000000));
    assert_true(isnan(record.measurement.covered));
    assert_true(isnan(record.measurement.domains[APAPI_DOMAIN_PACKAGE].power_w.mean));
    assert_false(record.measurement.domains[APAPI_DOMAIN_DRAM].measured);
    assert_true(isnan(record.measurement.domains[APAPI_DOMAIN_DRAM].energy_j));
    assert_true(isnan(record.measurement.components[0].events[0].summary.max));
    assert_true(isnan(record.measurement.components[0].events[0].summary.p95));
    assert_true(record.measurement.components[0].events[0].uncertainty_j == 0);
    assert_true(isnan(record.measurement.components[0].period.mean_s));
    assert_true(isnan(record.measurement.domains[APAPI_DOMAIN_PACKAGE].uncertainty_j));
    apapi_record_clear(&record);
}

/* A longer one, cut, would name the wrong nodes; other texts are cut. */
TEST(a_list_of_nodes_is_read_whole_or_not_at_all)
{
    for (size_t length = 255; length <= 256; length++) {
        char names[600], list[257] = "", *line;
        struct apapi_record record;

        memset(list, 'n', length);
        snprintf(names, sizeof names, "\"node\":\"n1\",\"name\":\"%s\",\"nodelist\":\"%s\"", list,
                 list);
        line = replaced("\"node\":\"n1\"", names);
        record = decode(line);
        assert_int_equal(strlen(record.id.name), 255);
        assert_int_equal(strlen(record.id.nodelist), length == 255 ? 255 : 0);
        apapi_record_clear(&record);
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
        {"{\"cpu_s\"", "{\"new\":\"x\",\"samples\":\"not read\",\"cpu_s\""},
        {"\"trust\":{", " \n\"trust\"\t: {"},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char *text = replaced(cases[i].old, cases[i].new);
        struct apapi_record record = decode(text);

        assert_true(record.measurement.domains[APAPI_DOMAIN_PACKAGE].energy_j == 5);
        assert_int_equal(record.measurement.components[0].event_count, 1);
        apapi_record_clear(&record);
        free(text);
    }
}

static void assert_not_a_record(const char *text, size_t size, int code, const char *said)
{
    struct apapi_record record = {.id = {.node = "untouched"}};
    struct apapi_error err = {""};

    errno = 0;
    if (apapi_record_decode(text, size, &record, &err) != -1) {
        fail_msg("accepted: %s", text);
    }
    if (!strstr(err.text, said)) {
        fail_msg("\"%s\" is not in \"%s\"", said, err.text);
    }
    assert_int_equal(errno, code);
    assert_string_equal(record.id.node, "untouched");
    assert_int_equal(apapi_record_decode(text, size, &record, NULL), -1);
}

TEST(what_is_wrong_is_named)
{
    static const struct {
        const char *old;
        const char *new;
        int code;
        const char *said;
    } cases[] = {
        {"\"apapi\":1", "\"apapi\":2", ENOTSUP, "version 2"},
        {"\"apapi\":1,", "", EINVAL, "apapi: is missing"},
        {"\"node\":\"n1\",", "", EINVAL, "node: is missing"},
        {"\"node\":\"n1\"", "\"node\":1", EINVAL, "node: not a text"},
        {"\"node\":\"n1\"", "\"node\":\"n1\",\"node\":\"n2\"", EINVAL, "duplicate"},
        {"\"node\":\"n1\"", "\"node\":\"n\\u0000\"", EINVAL, "line 1, column"},
        {"\"node\":", "\"job\":4294967295,\"node\":", EINVAL, "job: out of range"},
        {"2026-11-21T11:20:01Z", "2026-13-21T11:20:01Z", EINVAL, "start: not a time"},
        {"\"elapsed_s\":3", "\"elapsed_s\":1e999", EINVAL, "overflow"},
        {"\"domains\"", "\"domain\"", EINVAL, "domains: is missing"},
        {"{\"energy_j\":5}", "5", EINVAL, "domains.package: not an object"},
        {"{\"energy_j\":5}", "{\"energy_j\":-5}", EINVAL, "domains.package.energy_j: below 0"},
        {"{\"energy_j\":5}", "{\"covered\":1.1}", EINVAL, "domains.package.covered: above 1"},
        {"{\"energy_j\":5}", "{\"rest_j\":-1}", EINVAL, "domains.package.rest_j: below 0"},
        {"{\"cpu_s\"", "{\"unknown_domains\":\"dram\",\"cpu_s\"", EINVAL,
         "trust.unknown_domains: not an array of texts"},
        {"{\"cpu_s\"", "{\"unknown_domains\":[1],\"cpu_s\"", EINVAL,
         "trust.unknown_domains: not an array of texts"},
        {"\"components\"", "\"parts\"", EINVAL, "components: is missing"},
        {"\"components\":[", "\"components\":1,\"x\":[", EINVAL, "components: not an array"},
        {"\"components\":[", "\"components\":[7,", EINVAL, "components[0]: not an object"},
        {"\"source\":\"s\",", "", EINVAL, "components[0].source: is missing"},
        {"\"events\":[", "\"events\":{},\"x\":[", EINVAL, "components[0].events: not an array"},
        {"{\"name\":\"e\"", "null,{\"name\":\"e\"", EINVAL, "components[0].events[0]: not an obj"},
        {"\"kind\":\"energy\"", "\"kind\":5", EINVAL, "components[0].events[0].kind: not a text"},
        {"\"events\":[", "\"common\":[],\"events\":[", EINVAL,
         "components[0].common: not an object"},
        {"\"events\":[", "\"common\":{\"energy\":{\"wraps\":-1}},\"events\":[", EINVAL,
         "components[0].events[0].wraps: below 0"},
        {"\"type\":\"uint64\"", "\"type\":\"int\"", EINVAL,
         "events[0].type: not a word that is known"},
        {"\"scale\":1", "\"scale\":0", EINVAL, "events[0].scale: not above 0"},
        {"\"total\":5", "\"total\":-5", EINVAL, "events[0].total: an energy below 0"},
        {"\"samples\":2}", "\"samples\":2},{\"name\":\"f\"}", EINVAL, "events[1].unit: is missing"},
        {"\"trust\":{\"cpu_s\":0.1}", "\"x\":1", EINVAL, "trust: is missing"},
        {"{\"cpu_s\":0.1}", "{}", EINVAL, "trust.cpu_s: is missing"},
        {"\"cpu_s\":0.1", "\"cpu_s\":0.1,\"covered\":1.1", EINVAL, "trust.covered: above 1"},
        {"\"cpu_s\":0.1}}", "\"cpu_s\":0.1}} x", EINVAL, "end of file expected"},
        {"\"node\":\"n1\"", "\"node\":\"\xFF\"", EINVAL, "line 1, column"},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char *text = replaced(cases[i].old, cases[i].new);

        assert_not_a_record(text, strlen(text), cases[i].code, cases[i].said);
        free(text);
    }
}

TEST(what_is_no_object_is_refused)
{
    static const char *const texts[] = {"", " ", "1", "\"apapi\"", "[]", "null", "{", "\n"};

    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        assert_not_a_record(texts[i], strlen(texts[i]), EINVAL, "record: ");
    }
    assert_not_a_record("[1]", 3, EINVAL, "not a JSON object");
}

TEST(messages_carry_no_escape_sequences)
{
    struct apapi_record record;
    struct apapi_error err = {""};
    static const char text[] = "{\"a\x7F\xC2\x9B[31m\": x\x7F\xC2\x9B }";

    assert_int_equal(apapi_record_decode(text, strlen(text), &record, &err), -1);
    for (const char *byte = err.text; *byte; byte++) {
        assert_true(*byte != '\x1B' && *byte != '\x7F');
    }
    assert_null(strstr(err.text, "\xC2\x9B"));
}
