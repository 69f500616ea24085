/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/members.h"
#include "render/regions.h"
#include "sum/members.h"
#include "unit/merge_fixture.h"
#include "unit/record_fixture.h"

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

/* --- shares ----------------------------------------------------------------------------------- */

static struct apapi_record record_of(const char *node, double package_j)
{
    struct apapi_record record = usual_record();

    snprintf(record.id.node, sizeof record.id.node, "%s", node);
    record.share = apapi_share_unknown();
    strcpy(record.share.method, "cpu-time");
    strcpy(record.share.idle, "apart");
    record.share.domains[APAPI_DOMAIN_PACKAGE] = (struct apapi_share_energy){package_j, 2, NAN, 50};
    return record;
}

static void add_share(struct apapi_record record)
{
    add(&record);
    apapi_record_clear(&record);
}

static char *merged(void)
{
    char *line;

    assert_int_equal(apapi_merge_encode(merge, NULL, &line, NULL), 0);
    return line;
}

static char *table(void)
{
    const struct apapi_table_head head = {.user_s = NAN, .system_s = NAN, .elapsed_s = NAN};
    char *text;

    assert_int_equal(apapi_table_format(merge, &head, &text, NULL), 0);
    return text;
}

static void assert_has(char *text, const char *part)
{
    assert_contains(text, part);
    free(text);
}

MERGED(methods_that_differ_are_mixed)
{
    struct apapi_record all = record_of("n2", 20);

    strcpy(all.share.method, "exclusive");
    strcpy(all.share.idle, "");
    add_share(record_of("n1", 100));
    add_share(all);
    assert_has(merged(), "\"share\":{\"method\":\"mixed\",\"idle\":\"mixed\",");
}

/* One node is enough. */
MERGED(idle_power_that_is_not_known_is_said)
{
    struct apapi_record record = record_of("n2", 20);

    add_share(record_of("n1", 100));
    strcpy(record.share.idle, "included");
    record.share.domains[APAPI_DOMAIN_PACKAGE].uncertainty_j = 22;
    add_share(record);
    add_share(record_of("n3", 100));
    assert_has(merged(), "\"share\":{\"method\":\"cpu-time\",\"idle\":\"included\",");
    assert_has(table(), "\n  share of the step: 220 J ±12 % "
                        "(cpu-time, idle power not known, included)\n");
}

MERGED(nodes_without_a_share_are_counted)
{
    struct apapi_record none = record_of("n1", 100);

    none.share = apapi_share_unknown();
    strcpy(none.share.reason, "no node sampler runs");
    add_share(none);
    assert_has(merged(), "\"share\":{\"reason\":\"no node sampler runs\"}");
    assert_has(table(), "\n  share of the step: not known, no node sampler runs\n");
    add_share(record_of("n2", 20));
    assert_has(merged(), "\"missing_nodes\":1}");
    assert_has(table(), "\n  share not known on 1 of 2 nodes\n");
}
