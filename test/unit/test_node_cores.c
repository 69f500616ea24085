/* SPDX-License-Identifier: BSD-3-Clause */
/* How many cores a node has, as slurm.conf has it. */
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

TEST(forms_of_a_line)
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
        {"NodeName=n2 CPUs=16 ThreadsPerCore=2\n", 8},
        {"NodeName=n2 CoresPerSocket=12\n", 12},
        {"NodeName=DEFAULT Sockets=2 CoresPerSocket=4\nNodeName=n[1-9] State=UNKNOWN\n", 8},
        {"NodeName=DEFAULT CPUs=4\nNodeName=n1\nNodeName=DEFAULT CPUs=2\nNodeName=n2\n", 2},
        {"NodeName=n[1-9] CPUs=4\nNodeName=n2 CPUs=6\n", 6},
        {"NodeName=n1,n2 \\\n  CPUs=8 \\\r\n  RealMemory=1\n", 8},
        {"NodeName=n2 RealMemory=4096\n", 0},
        {"NodeName=n2 CPUs=none\n", 0},
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

TEST(a_file_that_is_included)
{
    put("slurm.conf", "ClusterName=mars\nInclude nodes.conf\n");
    put("nodes.conf", "NodeName=n[1-3] CPUs=8");
    assert_int_equal(config_node_cores(in_base("slurm.conf"), "n2"), 8);
    assert_int_equal(config_node_cores(in_base("none.conf"), "n2"), 0);
}

ALL_TESTS_IN(make_base, remove_base)
