/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/members.h"
#include "record/record.h"
#include "unit/record_fixture.h"

#define LINE_BYTES_MAX 1048576 /* what readers of accounting files take */

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
    struct apapi_record record = record_with_regions(1), back;
    char *line, *again;

    record.regions.list[0].method = APAPI_REGION_SHARED;
    strcpy(record.regions.list[0].reason, "not told apart from other");
    record.regions.list[0].bins = 3;
    record.regions.list[0].bin_ns = 400000000;
    memcpy(record.regions.list[0].share_pct, (uint8_t[]){100, 0, 55}, 3);
    line = encode(&record);
    back = decode(line);
    again = encode(&back);
    assert_string_equal(line, again);
    assert_int_equal(back.regions.count, 2);
    assert_string_equal(back.regions.list[0].path, "solve/iterate");
    assert_string_equal(back.regions.list[0].reason, "not told apart from other");
    assert_int_equal(back.regions.list[0].kind, APAPI_REGION_NAMED);
    assert_int_equal(back.regions.list[0].method, APAPI_REGION_SHARED);
    assert_int_equal(back.regions.list[0].count, 12);
    assert_int_equal(back.regions.list[0].threads, 8);
    assert_int_equal(back.regions.list[0].bins, 3);
    assert_int_equal(back.regions.list[0].bin_ns, 400000000);
    assert_memory_equal(back.regions.list[0].share_pct, ((uint8_t[]){100, 0, 55}), 3);
    assert_int_equal(back.regions.list[1].bins, 0);
    assert_int_equal(back.regions.list[1].kind, APAPI_REGION_IDLE);
    assert_int_equal(back.regions.list[1].programs, APAPI_UNKNOWN);
    assert_string_equal(back.regions.foms[0].unit, "GFLOP/s");
    assert_true(back.regions.foms[0].value == 12.5);
    assert_int_equal(back.regions.losses.names, 3);
    free(line);
    free(again);
    apapi_record_clear(&back);
    apapi_record_clear(&record);
}

TEST(the_longest_list_fits_into_a_line)
{
    struct apapi_record record = record_with_regions(APAPI_REGIONS_MAX + 2);
    char *line;

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
    free(line);
    apapi_record_clear(&record);
}

TEST(a_copy_has_its_own_regions)
{
    struct apapi_record record = record_with_regions(3), copy;
    char *before = encode(&record), *after;

    assert_int_equal(record_copy(&copy, &record), 0);
    apapi_record_clear(&record);
    after = encode(&copy);
    assert_string_equal(before, after);
    apapi_record_clear(&copy);
    free(before);
    free(after);
}

TEST(wrong_regions_are_refused)
{
    static const struct {
        const char *old, *new, *message;
    } cases[] = {
        {"\"regions\":[", "\"regions\":5,\"x\":[", "record: regions: not an array"},
        {"\"regions\":[", "\"regions\":[7,", "record: regions[0]: not an object"},
        {"\"method\":\"estimated\"", "\"method\":\"guessed\"",
         "record: regions[0].method: not a word that is known"},
        {"\"method\":\"estimated\",", "", "record: regions[0].method: is missing"},
        {"\"kind\":\"idle\"", "\"kind\":\"lazy\"",
         "record: regions[1].kind: not a word that is known"},
        {"\"energy_j\":120.5", "\"energy_j\":-1",
         "record: regions[0].domains.package.energy_j: below 0"},
        {"\"method\":\"estimated\",",
         "\"method\":\"estimated\",\"bins\":{\"bin_s\":0,\"share_pct\":[]},",
         "record: regions[0].bins: not a width and at most 60 shares"},
        {"\"method\":\"estimated\",",
         "\"method\":\"estimated\",\"bins\":{\"bin_s\":1,\"share_pct\":[7,101]},",
         "record: regions[0].bins: a share that is no percentage"},
        {"\"value\":12.5", "\"value\":\"much\"", "record: foms[0].value: not a number"},
        {"\"foms\":[", "\"foms\":{},\"y\":[", "record: foms: not an array"},
        {"\"regions_lost\":{", "\"regions_lost\":3,\"z\":{", "record: regions_lost: not an object"},
    };
    struct apapi_record record = record_with_regions(1), back;
    char *line = encode(&record);

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct apapi_error err = {""};
        const char *place = strstr(line, cases[i].old);
        char *bad = NULL;

        assert_non_null(place);
        assert_true(asprintf(&bad, "%.*s%s%s", (int)(place - line), line, cases[i].new,
                             place + strlen(cases[i].old)) > 0);
        assert_int_equal(apapi_record_decode(bad, strlen(bad), &back, &err), -1);
        assert_int_equal(errno, EINVAL);
        assert_string_equal(err.text, cases[i].message);
        free(bad);
    }
    free(line);
    apapi_record_clear(&record);
}
