/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit/record_fixture.h"

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

static void add(struct apapi_merge *merge, struct apapi_record record)
{
    assert_int_equal(apapi_merge_add(merge, &record), 0);
    apapi_record_clear(&record);
}

static char *merged(const struct apapi_merge *merge)
{
    char *line;

    assert_int_equal(apapi_merge_encode(merge, NULL, &line, NULL), 0);
    return line;
}

static char *table(const struct apapi_merge *merge)
{
    const struct apapi_table_head head = {.user_s = NAN, .system_s = NAN, .elapsed_s = NAN};
    char *text;

    assert_int_equal(apapi_table_format(merge, &head, &text, NULL), 0);
    return text;
}

static void assert_has(char *text, const char *part)
{
    if (!strstr(text, part)) {
        fail_msg("%s\nis not in\n%s", part, text);
    }
    free(text);
}

TEST(methods_that_differ_are_mixed)
{
    struct apapi_merge *merge = apapi_merge_create();
    struct apapi_record all = record_of("n2", 20);

    strcpy(all.share.method, "exclusive");
    strcpy(all.share.idle, "");
    add(merge, record_of("n1", 100));
    add(merge, all);
    assert_has(merged(merge), "\"share\":{\"method\":\"mixed\",\"idle\":\"mixed\",");
    apapi_merge_destroy(merge);
}

/* One node is enough. */
TEST(idle_power_that_is_not_known_is_said)
{
    struct apapi_merge *merge = apapi_merge_create();
    struct apapi_record record = record_of("n2", 20);

    add(merge, record_of("n1", 100));
    strcpy(record.share.idle, "included");
    record.share.domains[APAPI_DOMAIN_PACKAGE].uncertainty_j = 22;
    add(merge, record);
    add(merge, record_of("n3", 100));
    assert_has(merged(merge), "\"share\":{\"method\":\"cpu-time\",\"idle\":\"included\",");
    assert_has(table(merge), "\n  share of the step: 220 J ±12 % "
                             "(cpu-time, idle power not known, included)\n");
    apapi_merge_destroy(merge);
}

TEST(nodes_without_a_share_are_counted)
{
    struct apapi_merge *merge = apapi_merge_create();
    struct apapi_record none = record_of("n1", 100);

    none.share = apapi_share_unknown();
    strcpy(none.share.reason, "no node sampler runs");
    add(merge, none);
    assert_has(merged(merge), "\"share\":{\"reason\":\"no node sampler runs\"}");
    assert_has(table(merge), "\n  share of the step: not known, no node sampler runs\n");
    add(merge, record_of("n2", 20));
    assert_has(merged(merge), "\"missing_nodes\":1}");
    assert_has(table(merge), "\n  share not known on 1 of 2 nodes\n");
    apapi_merge_destroy(merge);
}
