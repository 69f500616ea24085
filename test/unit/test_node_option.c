/* SPDX-License-Identifier: BSD-3-Clause */
/* The name of a node in the command line of slurmd. */
#include "node_energy.h"

#include "unit/unit.h"

#define FIND(words, node) node_option_find(words, sizeof(words) - 1, node, sizeof(node))

TEST(each_way_to_write_it)
{
    char node[16] = "";

    assert_true(FIND("slurmd\0-N\0n1\0", node));
    assert_string_equal(node, "n1");
    assert_true(FIND("slurmd\0-Nn2\0", node));
    assert_string_equal(node, "n2");
    assert_true(FIND("slurmd\0-f\0/etc/slurm.conf\0-DvN\0n3\0", node));
    assert_string_equal(node, "n3");
    assert_true(FIND("slurmd\0-D\0-N\0a-name-of-20-letters\0", node));
    assert_string_equal(node, "a-name-of-20-le");
}

TEST(other_options_with_that_letter)
{
    char node[16] = "none";

    assert_false(FIND("slurmd\0-f/etc/New/slurm.conf\0", node));
    assert_false(FIND("slurmd\0-L\0/var/log/N\0", node));
    assert_false(FIND("slurmd\0-dNew\0", node));
    assert_false(FIND("slurmd\0--conf\0NodeName=n1\0", node));
    assert_string_equal(node, "none");
}

TEST(no_name)
{
    char node[16] = "none";

    assert_false(FIND("slurmd\0", node));
    assert_false(FIND("slurmd\0-N\0", node));
    assert_false(FIND("slurmd\0-N\0\0", node));
    assert_string_equal(node, "none");
}
