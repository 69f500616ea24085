/* SPDX-License-Identifier: BSD-3-Clause */
/* The cluster's name, as slurm.conf has it. */
#include "config/slurm_conf.h"

#include "unit/temporary.h"
#include "unit/unit.h"

static void put(const char *name, const char *text)
{
    FILE *file = fopen(in_base(name), "w");

    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static int read_name(char *name, size_t size)
{
    strcpy(name, "x");
    return config_cluster(in_base("slurm.conf"), name, size);
}

TEST(forms_of_a_line)
{
    static const struct {
        const char *text, *name;
    } cases[] = {
        {"ClusterName=mars\n", "mars"},
        {"SlurmctldHost=h\nclustername = Mars # ours\n", "mars"},
        {"SlurmUser=slurm ClusterName=mars SlurmctldPort=1\n", "mars"},
        {"\tClusterName=\"mars\"", "mars"},
        {"#ClusterName=venus\nClusterName=mars\n", "mars"},
        {"ClusterName=venus\nClusterName=mars\n", "mars"},
        {"MyClusterName=venus\nClusterNames=venus\n", ""},
        {"ClusterName=\n", ""},
        {"ClusterName=a-name-that-is-longer-than-any-cluster-has\n", ""},
        {"", ""},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char name[32];

        put("slurm.conf", cases[i].text);
        assert_int_equal(read_name(name, sizeof name), *cases[i].name ? 0 : -1);
        assert_string_equal(name, cases[i].name);
    }
}

TEST(files_that_are_included)
{
    char name[32], line[300];

    put("slurm.conf", "ControlHost=h\ninclude names.conf # here\n");
    snprintf(line, sizeof line, "Include %s\n", in_base("more.conf"));
    put("names.conf", line);
    put("more.conf", "ClusterName=mars\nInclude names.conf\n"); /* round and round */
    assert_int_equal(read_name(name, sizeof name), 0);
    assert_string_equal(name, "mars");
}

ALL_TESTS_IN(make_base, remove_base)
