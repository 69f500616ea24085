/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/text.h"
#include "unit/step_fixture.h"

static struct apapi_job *job; /* job of the test that runs */
static char *text;            /* the latest table */

static void make_job(void)
{
    job = apapi_job_create();
    assert_non_null(job);
}

static void free_job(void)
{
    apapi_job_destroy(job);
    free(text);
    text = NULL;
}

#define TABLE(name) TEST_WITH(name, make_job, free_job)

/* Add a step with 100 W of package and 20 W of DRAM. Seconds since BEGIN. */
static void add(const char *name, const char *node, const int64_t span_s[2], bool complete)
{
    struct apapi_record record = step(name, node, span_s[0], span_s[1], 100);

    record.complete = complete;
    add_domain(&record, APAPI_DOMAIN_DRAM, 20);
    assert_int_equal(apapi_job_add(job, &record), 0);
}

#define ADD(name, node, from_s, to_s) add(name, node, (const int64_t[2]){from_s, to_s}, true)

static void add_record(const struct apapi_record *record)
{
    assert_int_equal(apapi_job_add(job, record), 0);
}

/* Format the job into `text`, and begin an empty job. */
static void format(const struct apapi_job_table_head *head)
{
    free(text);
    text = NULL;
    assert_int_equal(apapi_job_table_format(job, head, &text, NULL), 0);
    apapi_job_destroy(job);
    make_job();
    for (char *line = text; *line; line = strchr(line, '\n') + 1) {
        assert_true(strcspn(line, "\n") <= TEXT_COLUMNS);
    }
}

static void assert_text(const char *part)
{
    assert_contains(text, part);
}

TABLE(what_is_missing_is_named)
{
    const struct apapi_job_table_head head = {
        .job = "17", .nodes = 4, .nodelist = "n[1-4]", .left_out = 3};

    ADD("batch", "n1", 0, 10);
    add("0", "n2", (const int64_t[2]){1, 4}, false);
    for (int64_t i = 0; i < 6; i++) {
        add("1", "n2", (const int64_t[2]){5 + i, 6 + i}, false);
    }
    format(&head);
    assert_text("  no record of n[3-4]\n");
    assert_text("  incomplete: step 0 on n2, step 1 on n2, step 1 on n2, step 1 on "
                "n2, step 1 on\n    n2 and 2 more\n");
    assert_text("  3 records had no room\n");
    assert_text("of 4 nodes x 11.0 s;");
}

/* The list has fewer nodes than there are records of, and names one node twice. */
TABLE(records_of_nodes_that_are_not_listed_hide_no_missing_one)
{
    const struct apapi_job_table_head head = {.job = "17", .nodes = 2, .nodelist = "n[1-2],n2"};

    ADD("batch", "n1", 0, 10);
    ADD("0", "n7", 0, 10);
    format(&head);
    assert_true(strncmp(text, "apapi: job 17  3 nodes  2 steps", 31) == 0);
    assert_text("  measured 66.6 % of 3 nodes x 10.0 s;");
    assert_text("  no record of n2\n");
}

TABLE(a_domain_that_a_step_lacks_is_named)
{
    const struct apapi_job_table_head head = {.job = "17"};
    struct apapi_record record = step("1", "n1", 10, 20, 100);

    ADD("0", "n1", 0, 10);
    add_record(&record);
    format(&head);
    assert_text("  total       2.200 kJ      110.0 W\n");
    assert_text("\n  dram known for 50.0 % of the measured time\n");
    assert_null(strstr(text, "package known"));
    assert_text("\n  measured 100.0 % of 1 node x 20.0 s");
    ADD("0", "n2", 0, 10);
    add_record(&record);
    format(&head);
    assert_text("\n  partial total "); /* as in the table of a step */
    assert_text("\n  dram known on 1 of 2 nodes\n");
}

/* A step of 10 s whose counter of the package never moved. */
TABLE(what_no_step_knows_for_a_time_is_not_in_the_total)
{
    const struct apapi_job_table_head head = {.job = "17"};
    struct apapi_record record = step("1", "n1", 0, 10, NAN);

    record.measurement.unknown_domains = 1U << APAPI_DOMAIN_PACKAGE;
    add_domain(&record, APAPI_DOMAIN_DRAM, 20);
    add_record(&record);
    ADD("0", "n1", 10, 20);
    format(&head);
    assert_string_equal(
        text, "apapi: job 17  1 node  2 steps  20.0 s\n"
              "  domain              energy         mean\n"
              "  package           1.000 kJ      100.0 W\n"
              "  dram              0.400 kJ       20.0 W\n"
              "  partial total     1.400 kJ      120.0 W\n"
              "  package: energy of the covered 50.0 %\n"
              "  measured 50.0 % of 1 node x 20.0 s; each moment of a node counts once\n");
}

/* The batch step has the job's cores, a step of srun some of them. */
TABLE(a_job_that_has_a_part_of_its_node_is_told_so)
{
    const struct apapi_job_table_head head = {.job = "17"};
    struct apapi_record record = step("batch", "n1", 0, 10, 300);

    record.id.node_cores = 8;
    for (uint32_t i = 0; i < 2; i++) {
        strcpy(record.id.step, i ? "0" : "batch");
        record.id.cores = i ? 1 : 4;
        add_record(&record);
    }
    format(&head);
    assert_text("\n  4 of 8 cores; the energy is that of the whole node\n");
}
