/* SPDX-License-Identifier: BSD-3-Clause */
#include "helpers.h"

#include "unit/unit.h"

#define GROUP(number) "SLURM_JOB_NODELIST_HET_GROUP_" number
#define FIRST "SLURM_JOB_ID_HET_GROUP_0"
#define ID "SLURM_JOB_ID"
#define SIZE "SLURM_HET_SIZE"
#define LIST "SLURM_JOB_NODELIST"

struct variable {
    const char *name, *value;
};

/* The context is a list of variables that ends with a NULL. */
static bool look(void *context, const char *variable, char *value, size_t size)
{
    for (const struct variable *v = context; v->name; v++) {
        if (strcmp(v->name, variable) == 0) {
            return snprintf(value, size, "%s", v->value) < (int)size;
        }
    }
    return false;
}

TEST(the_nodes_of_all_components)
{
    static struct {
        struct variable variables[7];
        const char *names; /* NULL: not known */
    } cases[] = {
        {{{ID, "9"}, {LIST, "n[1-4]"}}, "n[1-4]"},
        {{{ID, "9"},
          {LIST, "n1"},
          {FIRST, "9"},
          {SIZE, "2"},
          {GROUP("0"), "n1"},
          {GROUP("1"), "n[2-3]"}},
         "n1,n[2-3]"},
        {{{ID, "9"}, {FIRST, "9"}, {SIZE, "2"}, {GROUP("0"), "n1"}, {GROUP("1"), "n2"}}, "n1,n2"},
        /* of the job in which sbatch was called */
        {{{ID, "9"},
          {LIST, "n7"},
          {FIRST, "4"},
          {SIZE, "2"},
          {GROUP("0"), "n7"},
          {GROUP("1"), "n2"}},
         "n7"},
        /* a component is not reported, or there are more than there can be */
        {{{ID, "9"}, {LIST, "n1"}, {FIRST, "9"}, {SIZE, "2"}, {GROUP("0"), "n1"}}, NULL},
        {{{ID, "9"}, {LIST, "n1"}, {FIRST, "9"}, {SIZE, "129"}, {GROUP("0"), "n1"}}, NULL},
        {{{ID, "9"}, {LIST, ""}}, NULL},
        {{{ID, "9"}}, NULL},
    };
    char names[64];

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        int rc = spank_apapi_job_nodes(look, cases[i].variables, names, sizeof names);

        assert_int_equal(rc, cases[i].names ? 0 : -1);
        assert_string_equal(names, cases[i].names ? cases[i].names : "");
    }
}

TEST(all_or_nothing_where_there_is_no_room)
{
    struct variable variables[] = {{ID, "9"},           {FIRST, "9"},        {SIZE, "2"},
                                   {GROUP("0"), "n12"}, {GROUP("1"), "n34"}, {NULL, NULL}};

    for (size_t size = 1; size < sizeof "n12,n34"; size++) {
        FREED char *names = malloc(size);

        assert_non_null(names);
        assert_int_equal(spank_apapi_job_nodes(look, variables, names, size), -1);
        assert_string_equal(names, "");
    }
}

TEST(file_names_from_the_environment)
{
    struct spank_apapi_naming naming = {.job = 9, .step = "0", .node = "n1"};
    char name[64];

    setenv("SLURM_ARRAY_JOB_ID", "7", 1);
    setenv("SLURM_ARRAY_TASK_ID", "3", 1);
    setenv("SLURM_JOB_NAME", "j", 1);
    assert_int_equal(spank_apapi_name("%A-%a-%x-%u", &naming, name, sizeof name, NULL), 0);
    assert_string_equal(name, "7-3-j-root");
    unsetenv("SLURM_ARRAY_JOB_ID");
    unsetenv("SLURM_ARRAY_TASK_ID");
    unsetenv("SLURM_JOB_NAME");
    naming.uid = 4294967290U;
    assert_int_equal(spank_apapi_name("%A-%a-%x-%u", &naming, name, sizeof name, NULL), 0);
    assert_string_equal(name, "9-4294967294--4294967290"); /* as Slurm has it without an array */
}
