/* SPDX-License-Identifier: BSD-3-Clause */
/* The cluster's name and a node's cores, as slurm.conf has them. */
#include "config/slurm_conf.h"

#include "unit/temporary.h"

static void put(const char *name, const char *text)
{
    write_string(in_base(name), text);
}

static int read_name(char *name, size_t size)
{
    strcpy(name, "x");
    return config_cluster(in_base("slurm.conf"), name, size);
}

TEST(forms_of_a_clusters_line)
{
    static const struct {
        const char *text, *name;
    } cases[] = {
        {"ClusterName=mars\n", "mars"},
        {"SlurmctldHost=h\nclustername = Mars # ours\n", "mars"},
        {"SlurmUser=slurm ClusterName=mars SlurmctldPort=1\n", "mars"},
        {"\tClusterName=\"mars\"", "mars"},
        {"#ClusterName=venus\nClusterName=mars\n", "mars"},
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

TEST(the_name_in_included_files)
{
    char name[32], line[300];

    put("slurm.conf", "ControlHost=h\ninclude names.conf # here\n");
    snprintf(line, sizeof line, "Include %s\n", in_base("more.conf"));
    put("names.conf", line);
    put("more.conf", "ClusterName=mars\nInclude names.conf\n"); /* the files include each other */
    assert_int_equal(read_name(name, sizeof name), 0);
    assert_string_equal(name, "mars");
    assert_int_equal(config_node_cores(in_base("none.conf"), "n2"), 0);
}

TEST(forms_of_a_nodes_line)
{
    static const struct {
        const char *text;
        uint32_t cores;
    } cases[] = {
        {"NodeName=n[1-3] CPUs=8\n", 8},
        {"nodename=n2 Procs=8 # of ours\n", 8},
        {"NodeName=n2 Sockets=2 CoresPerSocket=16 ThreadsPerCore=2 CPUs=64\n", 32},
        {"NodeName=n2 Boards=2 SocketsPerBoard=2 CoresPerSocket=8\n", 32},
        {"NodeName=n2 CPUs=64 CoresPerSocket=16 ThreadsPerCore=2\n", 32},
        {"NodeName=DEFAULT Sockets=2 CoresPerSocket=4\nNodeName=n[1-9] State=UNKNOWN\n", 8},
        {"NodeName=DEFAULT CPUs=4\nNodeName=n1\nNodeName=DEFAULT CPUs=2\nNodeName=n2\n", 2},
        {"NodeName=n[1-9] CPUs=4\nNodeName=n2 CPUs=6\n", 6},
        {"NodeName=n1,n2 \\\n  CPUs=8 \\\r\n  RealMemory=1\n", 8},
        {"NodeName=n2 RealMemory=4096\n", 0},
        {"NodeName=n2 Sockets=999999 CoresPerSocket=999999\n", 0},
        {"NodeName=n20 CPUs=8\nPartitionName=n2 CPUs=8\n", 0},
        {"NodeName=n[2 CPUs=8\n", 0},
        {"", 0},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        put("slurm.conf", cases[i].text);
        assert_int_equal(config_node_cores(in_base("slurm.conf"), "n2"), cases[i].cores);
    }
}

ALL_TESTS_IN(make_base, remove_base)
