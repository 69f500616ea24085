/* SPDX-License-Identifier: BSD-3-Clause */
/* The head of the table, its domains and its nodes. */
#include "unit/table_fixture.h"

static const struct apapi_table_head sleep_command = {
    .name = "sleep", .user_s = 2.981, .system_s = 0.012, .elapsed_s = 3.002};

TABLE(two_nodes)
{
    struct node node;

    init_measured(&node, "n2", 1, 2);
    add(&node);
    init_measured(&node, "n1", 0, 2);
    set_domain(&node, APAPI_DOMAIN_PACKAGE, 12420, (struct apapi_summary){92.2, 149, 181, NAN});
    add(&node);
    assert_table(&stream_step,
                 "apapi: step 17.0 \"stream\"  2 nodes  1 min 23.4 s  rapl (sysfs powercap)\n"
                 "  domain      energy      mean       min       max\n"
                 "  package   24.82 kJ   297.7 W   184.2 W   362.0 W\n"
                 "  dram       2.04 kJ    24.5 W    19.6 W    28.2 W\n"
                 "  total     26.86 kJ   322.1 W\n"
                 "  mean: energy by time; min, max: the nodes' own, added up\n"
                 "  n1 13.44 kJ   n2 13.42 kJ                 "
                 "covered 99.9 %, 834 samples per node\n");
}

/* A node's uncertainty is its own, and not its part of that of all. */
TABLE(each_node_has_its_uncertainty)
{
    static const double uncertainties_j[] = {1240, 6.2};

    for (uint32_t i = 0; i < 2; i++) {
        struct node node;

        init_node(&node, i ? "n2" : "n1", i, 2);
        set_domain(&node, APAPI_DOMAIN_PACKAGE, 12400, (struct apapi_summary){1, 2, 3, NAN});
        node.record.measurement.domains[APAPI_DOMAIN_PACKAGE].uncertainty_j = uncertainties_j[i];
        add(&node);
    }
    finish(&stream_step);
    assert_text("\n  n1 12.4 kJ \302\26110 %   n2 12.40 kJ \302\2610.05 %");
}

TABLE(one_command_without_slurm)
{
    struct node node;

    init_node(&node, "laptop", 0, 1);
    set_domain(&node, APAPI_DOMAIN_PACKAGE, 42.1234, (struct apapi_summary){NAN, 14.03, 17.5, NAN});
    set_domain(&node, APAPI_DOMAIN_CORE, 12, (struct apapi_summary){1, 4, 5.25, NAN});
    set_domain(&node, APAPI_DOMAIN_PSYS, 90, (struct apapi_summary){0.009, 30, 35, NAN});
    add(&node);
    assert_table(&sleep_command,
                 "apapi: \"sleep\"  3.002 s  rapl (sysfs powercap)\n"
                 "  domain      energy      mean        min       max\n"
                 "  package    42.12 J   14.03 W          -   17.50 W\n"
                 "  total      42.12 J   14.03 W\n"
                 "  (core)     12.00 J    4.00 W    1.000 W    5.25 W\n"
                 "  (psys)     90.00 J   30.00 W   9.000 mW   35.00 W\n"
                 "  in brackets: inside package or around other domains, not to be added\n"
                 "  covered 99.9 %, 834 samples\n"
                 "  elapsed 3.002 s   user 2.981 s   system 0.012 s\n");
}

TABLE(nothing_measured)
{
    struct node node;

    init_node(&node, "vm", 0, 1);
    set_unmeasured(&node, 0, "rapl",
                   "no such folder as /sys/class/powercap/intel-rapl:0 and no MSR device to be "
                   "read; a virtual machine has no meter");
    add(&node);
    assert_table(&sleep_command,
                 "apapi: \"sleep\"  3.002 s\n"
                 "  rapl: not measured (no such folder as /sys/class/powercap/intel-rapl:0 and no\n"
                 "    MSR device to be read; a virtual machine has no meter)\n"
                 "  elapsed 3.002 s   user 2.981 s   system 0.012 s\n");
}

TABLE(nodes_without_a_record)
{
    struct node node;

    init_measured(&node, "n1", 0, 2);
    add(&node);
    assert_int_equal(apapi_merge_absent(merge, "n2", "connection lost"), 0);
    assert_table(&stream_step, "apapi: step 17.0 \"stream\"  2 nodes, 1 missing  1 min 23.4 s\n"
                               "    rapl (sysfs powercap)\n"
                               "  domain              energy      mean       min       max\n"
                               "  package           12.40 kJ   148.6 W   92.00 W   181.0 W\n"
                               "  dram               1.02 kJ    12.2 W    9.80 W    14.1 W\n"
                               "  total of 1 node   13.42 kJ   160.8 W\n"
                               "  n1 13.42 kJ                                        "
                               "covered 99.9 %, 834 samples\n"
                               "  n2: no record (connection lost)\n");
}

TABLE(the_same_reason_is_reported_once)
{
    for (uint32_t i = 0; i < 8; i++) {
        struct node node;
        char name[8];

        snprintf(name, sizeof(name), "n%u", i + 1);
        init_measured(&node, name, i, 10);
        set_domain(&node, APAPI_DOMAIN_PACKAGE, 12000 + i, (struct apapi_summary){1, 2, 3, NAN});
        set_unmeasured(&node, 1, "nvml", "no driver");
        if (i == 3) {
            set_unmeasured(&node, 0, "rapl", "permission denied");
        }
        node.record.complete = i != 6;
        strcpy(node.record.reason, i == 6 ? "the sampler was killed" : "");
        add(&node);
    }
    assert_int_equal(apapi_merge_absent(merge, "n9", "no answer"), 0);
    assert_int_equal(apapi_merge_absent(merge, "n10", "no answer"), 0);
    finish(&stream_step);
    assert_text("\n  nvml: not measured (no driver)\n"
                "  rapl on n4: not measured (permission denied)\n"
                "  n[9-10]: no record (no answer)\n"
                "  n7: incomplete (the sampler was killed)\n");
    assert_text("\n  lowest n1 13.02 kJ   highest n8 13.03 kJ   "
                "mean 13.02 kJ, sd 0.019 %\n");
    assert_text("\n  total of 8 nodes ");
}

static void set_timeline(struct node *node, enum apapi_domain domain, float first_j, float last_j)
{
    node->record.measurement.domains[domain].timeline =
        (struct apapi_timeline){.bin_ns = 640 * MS,
                                .length_ns = 1280 * MS,
                                .count = 2,
                                .energy_j = {first_j, last_j},
                                .covered_pct = {100, 100}};
}

TABLE(extremes_of_all_nodes_together)
{
    struct node node;

    init_measured(&node, "n1", 0, 2);
    set_domain(&node, APAPI_DOMAIN_PACKAGE, 10842, (struct apapi_summary){92, 130, 181, NAN});
    set_domain(&node, APAPI_DOMAIN_DRAM, 834, (struct apapi_summary){9.8, 10, 14.1, NAN});
    set_domain(&node, APAPI_DOMAIN_CORE, 7506, (struct apapi_summary){80, 90, 120, NAN});
    set_timeline(&node, APAPI_DOMAIN_PACKAGE, 64, 96);
    set_timeline(&node, APAPI_DOMAIN_DRAM, 6.4F, 6.4F);
    add(&node);
    strcpy(node.record.id.node, "n2");
    set_timeline(&node, APAPI_DOMAIN_PACKAGE, 96, 80);
    add(&node);
    assert_says(&stream_step,
                "  package   21.68 kJ   260.0 W   250.0 W   275.0 W\n"
                "  dram       1.67 kJ    20.0 W    20.0 W    20.0 W\n"
                "  total     23.35 kJ   280.0 W   270.0 W   295.0 W\n"
                "  (core)    15.01 kJ   180.0 W   160.0 W   240.0 W\n"
                "  in brackets: inside package or around other domains, not to be added\n"
                "  mean: energy by time; min, max: all nodes together, over 640.0 ms\n"
                "  min, max of (core): the nodes' own, added up\n");
}

static void set_uncertainty(struct node *node, enum apapi_domain domain, double uncertainty_j)
{
    node->record.measurement.domains[domain].uncertainty_j = uncertainty_j;
}

/* The record knows "± 52 %", so 281.2 W would be four digits of which one is known. */
TABLE(a_step_of_2_ms_on_a_node_of_240_w_has_no_281_2_w)
{
    struct node node;

    init_node(&node, "n1", 0, 1);
    node.record.measurement.elapsed_ns = 2 * MS;
    node.components[0].interval_ns = 100 * MS;
    node.events[0].incidents.samples = 1;
    set_domain(&node, APAPI_DOMAIN_PACKAGE, 0.5624,
               (struct apapi_summary){281.2, 281.2, 281.2, NAN});
    set_uncertainty(&node, APAPI_DOMAIN_PACKAGE, 0.2924);
    add(&node);
    assert_says(&stream_step, "  domain      energy            mean       min       max\n"
                              "  package     0.56 J ±52 %         -         -         -\n"
                              "  total       0.56 J ±52 %         -\n"
                              "  too short for a power, which is taken over 50.00 ms at least\n"
                              "  covered 99.9 %, 1 sample\n");
}

TABLE(a_domain_that_some_nodes_lack)
{
    for (uint32_t i = 0; i < 4; i++) {
        struct node node;
        char name[8];

        snprintf(name, sizeof(name), "n%u", i);
        init_measured(&node, name, i, 4);
        node.record.measurement.domains[APAPI_DOMAIN_PACKAGE].measured = i != 2;
        add(&node);
    }
    finish(&stream_step);
    assert_text("\n  partial total ");
    assert_text("\n  package measured on 3 of 4 nodes\n");
}

/* As sacct: the step of several components by the first of them. */
TABLE(a_step_of_a_heterogeneous_job_has_its_name)
{
    for (uint32_t offset = 0; offset <= 2; offset++) {
        char name[32];

        for (uint32_t i = 0; i < 2; i++) {
            char node_name[] = "n1";
            struct node node;

            node_name[1] += (char)i;
            init_measured(&node, node_name, i, 2);
            strcpy(node.record.id.step, "0");
            node.record.id.array_job = node.record.id.array_task = APAPI_UNKNOWN;
            node.record.id.het_job = 22;
            node.record.id.het_offset = offset < 2 ? offset : i;
            node.record.id.job = 22 + node.record.id.het_offset;
            add(&node);
        }
        snprintf(name, sizeof name, "apapi: step 22+%u.0 ", offset % 2);
        assert_says(&stream_step, name);
    }
}

static void cover(struct node *node, enum apapi_domain domain, double covered, double rest_j)
{
    node->record.measurement.domains[domain].covered = covered;
    node->record.measurement.domains[domain].rest_j = rest_j;
}

TABLE(energy_of_a_part_of_the_time_says_so)
{
    struct node node;

    init_measured(&node, "n1", 0, 1);
    cover(&node, APAPI_DOMAIN_PACKAGE, 0.8399, NAN);
    cover(&node, APAPI_DOMAIN_DRAM, 0.8391, NAN);
    add(&node);
    finish(&stream_step);
    assert_text("\n  energy of the covered 83.9 %\n");

    /* once is enough */
    node.record.measurement.covered = 0.8393;
    add(&node);
    finish(&stream_step);
    assert_text("covered 83.9 %, ");
    assert_null(strstr(text, "energy of the covered"));
}

/* 10 s of 90 %, 30 s of 50 %: 60 % of the time. */
TABLE(coverage_of_nodes_is_that_of_their_time)
{
    for (uint32_t i = 0; i < 2; i++) {
        struct node node;

        init_measured(&node, i ? "n2" : "n1", i, 2);
        node.record.measurement.elapsed_ns = (i ? 30000 : 9000) * MS;
        node.record.measurement.late_ns = (i ? 0 : 1000) * MS;
        cover(&node, APAPI_DOMAIN_PACKAGE, i ? 0.5 : 0.9, 1000);
        cover(&node, APAPI_DOMAIN_DRAM, 1, 0);
        add(&node);
    }
    finish(&stream_step);
    assert_text("\n  package: energy of the covered 60.0 %\n"
                "  estimate for the rest, not included: package 2.000 kJ\n");
}

TABLE(an_estimate_of_the_rest_stands_apart)
{
    struct node node;

    init_measured(&node, "n1", 0, 1);
    cover(&node, APAPI_DOMAIN_PACKAGE, 0.8, 3100);
    cover(&node, APAPI_DOMAIN_DRAM, 0.8, 255);
    add(&node);
    finish(&stream_step);
    assert_text("  total     13.42 kJ");
    assert_text("\n  energy of the covered 80.0 %\n"
                "  estimate for the rest, not included: package 3.100 kJ, "
                "dram 255.0 J, total\n    3.355 kJ\n");
}

TABLE(a_total_says_which_domain_it_lacks)
{
    struct node node;

    init_measured(&node, "n1", 0, 1);
    node.record.measurement.domains[APAPI_DOMAIN_PACKAGE].measured = false;
    node.record.measurement.unknown_domains = 1U << APAPI_DOMAIN_PACKAGE | 1U << APAPI_DOMAIN_PSYS;
    add(&node);
    finish(&stream_step);
    assert_text("\n  partial total ");
    assert_text("\n  total without package, whose energy is not known\n");
    assert_null(strstr(text, "psys"));
}
