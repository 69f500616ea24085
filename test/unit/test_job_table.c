/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of a job: what srun and salloc say of its nodes. test/golden has the other rows. */
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
static void add(const char *name, const char *node, int64_t from_s, int64_t to_s, bool complete)
{
    struct apapi_record record = step(name, node, from_s, to_s, 100);

    record.complete = complete;
    add_domain(&record, APAPI_DOMAIN_DRAM, 20);
    assert_int_equal(apapi_job_add(job, &record), 0);
}

/* Format the job into `text`. */
static void format(const struct apapi_job_table_head *head)
{
    assert_int_equal(apapi_job_table_format(job, head, &text, NULL), 0);
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

    add("batch", "n1", 0, 10, true);
    add("0", "n2", 1, 4, false);
    for (int64_t i = 0; i < 6; i++) {
        add("1", "n2", 5 + i, 6 + i, false);
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

    add("batch", "n1", 0, 10, true);
    add("0", "n7", 0, 10, true);
    format(&head);
    assert_true(strncmp(text, "apapi: job 17  3 nodes  2 steps", 31) == 0);
    assert_text("  measured 66.6 % of 3 nodes x 10.0 s;");
    assert_text("  no record of n2\n");
}
