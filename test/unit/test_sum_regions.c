/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/members.h"
#include "render/regions.h"
#include "sum/members.h"
#include "unit/merge_fixture.h"

/* A node of 100 J that measures package. */
static struct apapi_record node_with(const char *node, struct apapi_region_result *list,
                                     size_t count)
{
    struct apapi_record record = node_record(node, 0);

    set_domain(&record, APAPI_DOMAIN_PACKAGE, 100, (struct apapi_summary){1, 10, 20, 15});
    record.regions.list = list;
    record.regions.count = count;
    return record;
}

static struct apapi_region_result region_of(const char *path, double energy_j)
{
    struct apapi_region_result region = region_unmeasured();

    snprintf(region.path, sizeof region.path, "%s", path);
    region.method = APAPI_REGION_MEASURED;
    region.count = 3;
    region.programs = 1;
    region.threads = 2;
    region.time_ns = 2 * S;
    region.domains[APAPI_DOMAIN_PACKAGE] = (struct apapi_region_energy){energy_j, 0.5, NAN};
    return region;
}

static struct apapi_region_result other_of(enum apapi_region_kind kind, double energy_j)
{
    struct apapi_region_result region = region_of("", energy_j);

    region.kind = kind;
    region.count = 0;
    region.programs = region.threads = APAPI_UNKNOWN;
    return region;
}

static struct apapi_regions sum_of(const struct apapi_record *records, size_t count, size_t max)
{
    struct region_sums sums = {0};
    struct apapi_regions result;

    for (size_t i = 0; i < count; i++) {
        assert_return_code(region_sums_add(&sums, &records[i]), errno);
    }
    assert_return_code(region_sums_result(&sums, max, &result), errno);
    region_sums_free(&sums);
    return result;
}

static double package_j(const struct apapi_region_result *region)
{
    return region->domains[APAPI_DOMAIN_PACKAGE].energy_j;
}

TEST(nodes_add_up_by_path)
{
    struct apapi_region_result first[] = {region_of("a", 10), region_of("b", 20),
                                          other_of(APAPI_REGION_IDLE, 5)};
    struct apapi_region_result second[] = {region_of("b", 2), region_of("a", 30),
                                           other_of(APAPI_REGION_IDLE, 6)};
    struct apapi_record records[] = {node_with("n1", first, 3), node_with("n2", second, 3)};
    struct apapi_regions sum;

    second[1].method = APAPI_REGION_ESTIMATED;
    sum = sum_of(records, 2, 10);
    assert_int_equal(sum.count, 3);
    assert_string_equal(sum.list[0].path, "a");
    assert_value(package_j(&sum.list[0]), 40);
    assert_value(sum.list[0].domains[APAPI_DOMAIN_PACKAGE].uncertainty_j, 1);
    assert_value(sum.list[0].domains[APAPI_DOMAIN_PACKAGE].power_w, 10);
    assert_int_equal(sum.list[0].count, 6);
    assert_int_equal(sum.list[0].threads, 4);
    assert_int_equal(sum.list[0].time_ns, 4 * S);
    assert_int_equal(sum.list[0].method, APAPI_REGION_ESTIMATED);
    assert_value(package_j(&sum.list[1]), 22);
    assert_int_equal(sum.list[2].kind, APAPI_REGION_IDLE);
    assert_value(package_j(&sum.list[2]), 11);
    assert_int_equal(sum.list[2].programs, APAPI_UNKNOWN);
    apapi_regions_clear(&sum);
}

/* A domain that a node does not have is no unknown energy. */
TEST(what_one_node_does_not_know_is_not_known)
{
    struct apapi_region_result first[] = {region_of("a", 10), region_of("b", 20)};
    struct apapi_region_result second[] = {region_of("a", NAN), region_of("b", 1)};
    struct apapi_record records[] = {node_with("n1", first, 2), node_with("n2", second, 2)};
    struct apapi_regions sum;

    set_domain(&records[1], APAPI_DOMAIN_GPU, 50, (struct apapi_summary){1, 10, 20, 15});
    second[1].domains[APAPI_DOMAIN_GPU] = (struct apapi_region_energy){7, 0.1, NAN};
    second[0].method = APAPI_REGION_UNKNOWN;
    strcpy(second[0].reason, "too short");
    sum = sum_of(records, 2, 10);
    assert_string_equal(sum.list[1].path, "a");
    assert_true(isnan(apapi_region_energy_j(&sum.list[1])));
    assert_int_equal(sum.list[1].method, APAPI_REGION_UNKNOWN);
    assert_string_equal(sum.list[1].reason, "too short");
    assert_value(apapi_region_energy_j(&sum.list[0]), 28);
    assert_value(sum.list[0].domains[APAPI_DOMAIN_GPU].energy_j, 7);
    apapi_regions_clear(&sum);
}

TEST(those_of_the_least_energy_are_in_the_rest)
{
    struct apapi_region_result list[] = {region_of("a", 10), region_of("b", 20), region_of("c", 30),
                                         other_of(APAPI_REGION_UNMARKED, 7),
                                         other_of(APAPI_REGION_REST, 1)};
    struct apapi_record record = node_with("n1", list, 5);
    struct apapi_regions sum;

    record.regions.losses.regions = 4;
    sum = sum_of(&record, 1, 1);
    assert_int_equal(sum.count, 3);
    assert_string_equal(sum.list[0].path, "c");
    assert_int_equal(sum.list[1].kind, APAPI_REGION_UNMARKED);
    assert_int_equal(sum.list[2].kind, APAPI_REGION_REST);
    assert_value(package_j(&sum.list[2]), 31);
    assert_int_equal(sum.losses.regions, 6);
    apapi_regions_clear(&sum);
}

/* Names by hostile nodes take bounded memory, and no energy is lost. */
TEST(too_many_paths_go_into_the_rest)
{
    struct region_sums sums = {0};
    struct apapi_regions sum;
    double total_j = 0;

    for (int i = 0; i < 2 * REGION_SUMS_MAX; i++) {
        struct apapi_region_result region = region_of("", 1);
        struct apapi_record record = node_with("n", &region, 1);

        snprintf(region.path, sizeof region.path, "region %d", i);
        assert_return_code(region_sums_add(&sums, &record), errno);
    }
    assert_return_code(region_sums_result(&sums, APAPI_REGIONS_MAX, &sum), errno);
    assert_int_equal(sum.count, APAPI_REGIONS_MAX + 1);
    for (size_t i = 0; i < sum.count; i++) {
        total_j += package_j(&sum.list[i]);
    }
    assert_value(total_j, 2 * REGION_SUMS_MAX);
    apapi_regions_clear(&sum);
    region_sums_free(&sums);
}

TEST(figures_of_merit_add_up_by_name_and_unit)
{
    struct apapi_fom first[] = {{"steps", "steps", 10, 1}, {"work", "GFLOP", 1, 1}};
    struct apapi_fom second[] = {{"steps", "steps", 5, 2}, {"work", "MFLOP", 1, 1}};
    struct apapi_record records[] = {node_with("n1", NULL, 0), node_with("n2", NULL, 0)};
    struct apapi_regions sum;

    records[0].regions.foms = first;
    records[1].regions.foms = second;
    records[0].regions.fom_count = records[1].regions.fom_count = 2;
    sum = sum_of(records, 2, 10);
    assert_int_equal(sum.fom_count, 3);
    assert_value(sum.foms[0].value, 15);
    assert_int_equal(sum.foms[0].programs, 3);
    apapi_regions_clear(&sum);
}

static char *table_of(const struct apapi_regions *regions)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    table_put_regions(regions, 100, "17.0", out);
    fclose(out);
    return text;
}

TEST(a_table_has_the_costliest)
{
    struct apapi_region_result list[8];
    struct apapi_fom foms[] = {{"iterations", "", 50, 1}, {"work", "cells", 1.25e9, 1}};
    struct apapi_regions regions = {
        .count = 8, .list = list, .fom_count = 2, .foms = foms, .losses = {.regions = 2}};
    char *text;

    for (int i = 0; i < 7; i++) {
        list[i] = region_of("solve", 60 - i);
    }
    list[1] = region_of("\x1b[31m", 59);
    list[2].method = APAPI_REGION_UNKNOWN;
    list[2].domains[APAPI_DOMAIN_PACKAGE].energy_j = NAN;
    list[7] = other_of(APAPI_REGION_IDLE, 5);
    text = table_of(&regions);
    assert_string_equal(text,
                        "  region           time        energy                   mean  method\n"
                        "  solve         2.000 s        60.0 J  ±0.83 %       30.00 W  measured\n"
                        "  ?[31m         2.000 s        59.0 J  ±0.85 %       29.50 W  measured\n"
                        "  solve         2.000 s             -                      -  unknown\n"
                        "  solve         2.000 s        57.0 J  ±0.88 %       28.50 W  measured\n"
                        "  solve         2.000 s        56.0 J  ±0.89 %       28.00 W  measured\n"
                        "  4 more regions: apapi regions 17.0\n"
                        "  iterations 50, 2.000 J each\n"
                        "  work 1.250 Gcells, 12.50 Mcells per J\n");
    free(text);
}
