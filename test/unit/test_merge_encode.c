/* SPDX-License-Identifier: BSD-3-Clause */
/* What a merged record says of the records of a step. */
#include "unit/merge_fixture.h"

/* A record of node n1, n2 or n3, whose first reading is at 00:16:40 and so many seconds. */
#define NAMED(node, seconds, domains, components, more, trust)                                     \
    "{\"apapi\":1,\"cluster\":\"mars\",\"job\":17,\"step\":\"0\",\"node\":\"" node                 \
    "\",\"node_index\":" #seconds ",\"nodes\":3,\"tasks\":4,\"cores\":8,\"gpus\":1,\"uid\":1000,"  \
    "\"user\":\"alice\",\"verified\":true,\"start\":\"1970-01-01T00:16:4" #seconds                 \
    "Z\",\"late_s\":0,\"exit_code\":0,\"domains\":{" domains "},\"components\":[" components       \
    "]," more "\"trust\":{\"cpu_s\":0.25" trust "}}"
#define USUAL "\"elapsed_s\":10,\"complete\":true,"
#define COVERED ",\"covered\":1"
#define DOMAIN(name, energy_j, mean_w, more)                                                       \
    "\"" name "\":{\"energy_j\":" #energy_j                                                        \
    ",\"uncertainty_j\":2,\"min_w\":90,\"mean_w\":" #mean_w ",\"max_w\":110,\"p95_w\":109" more    \
    "}"
#define CROSSING(threshold, second, value, count, action)                                          \
    "{\"threshold\":\"" threshold "\",\"time\":\"1970-01-01T00:16:4" #second                       \
    "Z\",\"value\":" #value ",\"unit\":\"W\",\"count\":" #count ",\"action\":\"" action "\"}"
/* A component with an event that moved and one that is stuck, and one that was not measured. */
#define COMPONENTS(estimated, reason)                                                              \
    "{\"name\":\"rapl\",\"source\":\"sysfs\",\"missed\":3,\"events\":[{\"name\":\"x:::A\","        \
    "\"domain\":\"package\",\"unit\":\"J\",\"scale\":1,\"counter\":true," estimated                \
    "\"total\":1000,\"min\":90,\"mean\":100,\"max\":110,\"covered_s\":10,\"samples\":100,"         \
    "\"wraps\":2},{\"name\":\"x:::B\",\"unit\":\"\",\"scale\":1,\"covered_s\":0,\"samples\":0,"    \
    "\"stuck\":true}]},{\"name\":\"nvml\",\"reason\":\"" reason "\"}"
#define TIMELINE(n)                                                                                \
    "\"elapsed_s\":4,\"complete\":true,\"timeline\":{\"bin_s\":1,\"package\":{\"unit_j\":100,"     \
    "\"n\":" n "}},"

static void add_line(const char *line)
{
    struct apapi_record record;

    fail_if(apapi_record_decode(line, strlen(line), &record, &why), "%s: %s", why.text, line);
    add(&record);
    apapi_record_clear(&record);
}

static const struct {
    const char *records[3];
    const char *said[6], *unsaid[4];
} cases[] = {
    /* what was crossed on all nodes: how often, and the first time */
    {.records = {NAMED("n1", 0, DOMAIN("package", 1000, 100, ""), "",
                       USUAL "\"crossings\":[" CROSSING("total >= 5J", 3, 5, 1, "log") "," CROSSING(
                           "gpu > 9W", 4, 9.5, 1, "stamp") "," CROSSING("gpu > 9W", 6, 9.75, 4,
                                                                        "stamp") "],",
                       COVERED),
                 NAMED("n2", 1, DOMAIN("package", 2000, 100, ""), "",
                       USUAL "\"crossings\":[" CROSSING("gpu > 9W", 2, 9.25, 2, "stamp") "],",
                       COVERED)},
     .said = {"\"crossings\":[{\"threshold\":\"total >= "
              "5J\",\"nodes\":1,\"count\":1,\"first\":\"1970-01-01T00:16:43.000000000Z\",\"first_"
              "node\":\"n1\",\"last\":\"1970-01-01T00:16:43.000000000Z\",\"value\":5.0,\"unit\":"
              "\"W\",\"action\":\"log\"},{\"threshold\":\"gpu > "
              "9W\",\"nodes\":2,\"count\":6,\"first\":\"1970-01-01T00:16:42.000000000Z\",\"first_"
              "node\":\"n2\",\"last\":\"1970-01-01T00:16:46.000000000Z\",\"value\":9.25,\"unit\":"
              "\"W\",\"action\":\"stamp\"}]"}},
    /* what is not covered, and is not known, is beside the energy */
    {.records = {NAMED("n1", 0, DOMAIN("package", 1000, 100, ",\"covered\":0.75,\"rest_j\":500"),
                       "", USUAL, COVERED ",\"unknown_domains\":[\"dram\"]")},
     .said = {"\"covered\":0.75,\"rest_j\":500.0,\"mean_w\":100.0,\"min_w\":90.0",
              "\"total\":{\"energy_j\":1000.0,\"covered\":0.75,\"rest_j\":500.0,\"mean_w\":100.0,"
              "\"nodes\":1,\"partial\":true,\"missing_domains\":[\"dram\"]}",
              "\"package\":{\"energy_j\":1000.0,\"uncertainty_j\":2.0,\"covered\":0.75}},\"unknown_"
              "domains\":[\"dram\"]}]"}},
    {.records = {NAMED("n1", 0,
                       DOMAIN("package", 1000, 100,
                              ",\"covered\":0.75,\"rest_j\":500") "," DOMAIN("gpu", 500, 100, ""),
                       "", USUAL, COVERED)},
     .said = {"\"total\":{\"energy_j\":1500.0,\"mean_w\":200.0,\"nodes\":1}",
              "\"gpu\":{\"energy_j\":500.0,\"uncertainty_j\":2.0,\"mean_w\":100.0,"},
     .unsaid = {"\"covered\":0.75,\"rest_j\":500.0,\"mean_w\":200"}},
    /* components, events, notes and trust */
    {.records = {NAMED("n1", 0, DOMAIN("package", 1000, 100, ""), COMPONENTS("", "no driver"),
                       USUAL, COVERED),
                 NAMED("n2", 1, DOMAIN("package", 2000, 100, ""),
                       COMPONENTS("\"estimated\":true,", "No driver"), USUAL, ",\"covered\":0.5"),
                 NAMED("n3", 2, DOMAIN("package", 3000, 100, ""), "", USUAL, "")},
     .said = {"\"components\":[{\"name\":\"rapl\",\"source\":\"sysfs\",\"nodes\":2}]",
              "\"total\":1000.0,\"min\":90.0,\"max\":110.0,\"nodes\":1,\"mean\":100.0},{\"name\":"
              "\"x:::A\",\"kind\":\"energy\",\"domain\":\"package\",\"unit\":\"J\",\"counter\":"
              "true,\"estimated\":true,",
              "\"notes\":[{\"component\":\"nvml\",\"verdict\":\"not measured\",\"reason\":\"no "
              "driver\",\"nodes\":1,\"names\":[\"n1\"]},{\"component\":\"nvml\",\"verdict\":\"not "
              "measured\",\"reason\":\"No "
              "driver\",\"nodes\":1,\"names\":[\"n2\"]},{\"event\":\"x:::B\",\"verdict\":\"counter "
              "never moved, not counted\",\"nodes\":2,\"names\":[\"n1\",\"n2\"]}]",
              "\"trust\":{\"covered\":0.5,\"covered_max\":1.0,\"samples\":100,\"samples_max\":100,"
              "\"cpu_s\":0.75,\"uncertainty_j\":6.0,\"failed\":0,\"wraps\":4,\"resets\":0,"
              "\"refused\":0,\"gaps\":0,\"stalls\":0,\"missed\":6}",
              "\"node\":\"n2\",\"energy_j\":2000.0,\"uncertainty_j\":2.0,\"covered\":0.5,",
              "\"node\":\"n3\",\"energy_j\":3000.0,\"uncertainty_j\":2.0,\"domains\""}},
    /* a timeline of all nodes, of which the second begins a second later, or none */
    {.records = {NAMED("n1", 0, DOMAIN("package", 1000, 250, ""), "", TIMELINE("[1,2,3,4]"),
                       COVERED),
                 NAMED("n2", 1, DOMAIN("package", 2000, 500, ""), "", TIMELINE("[2,4,6,8]"),
                       COVERED)},
     .said = {"\"timeline\":{\"package\":{\"unit_j\":1.0,\"n\":[100,400,700,1000,800],\"start\":"
              "\"1970-01-01T00:16:40.000000000Z\",\"bin_s\":1.0}}",
              "\"mean_w\":600.0,\"min_w\":100.0,\"max_w\":1000.0,\"nodes\":2,\"bin_s\":1.0}},"
              "\"total\":{\"energy_j\":3000.0,\"mean_w\":600.0,\"min_w\":100.0,\"max_w\":1000.0,"}},
    {.records = {NAMED("n1", 0, DOMAIN("package", 1000, 250, ""), "", TIMELINE("[1,2,3,4]"),
                       COVERED),
                 NAMED("n2", 1, DOMAIN("package", 2000, 500, ""), "", USUAL, COVERED)},
     .said = {"\"merged\""},
     .unsaid = {"timeline", "bin_s", "max_w\":1000"}},
};

MERGED(a_merged_record_says_what_its_records_say)
{
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        FREED char *line = NULL;

        for (size_t k = 0; k < 3 && cases[i].records[k]; k++) {
            add_line(cases[i].records[k]);
        }
        assert_int_equal(apapi_merge_encode(merge, NULL, &line, NULL), 0);
        assert_null(strchr(line, '\n'));
        for (size_t k = 0; k < 6 && cases[i].said[k]; k++) {
            assert_contains(line, cases[i].said[k]);
        }
        for (size_t k = 0; k < 4 && cases[i].unsaid[k]; k++) {
            fail_if(strstr(line, cases[i].unsaid[k]), "case %zu: %s", i, line);
        }
        renew_merge();
    }
}

MERGED(without_any_record_it_says_which_step)
{
    static const char *const others[] = {NULL, "", "17", "x.0", "0.0", "4294967295.0", "1+2.0"};
    FREED char *line = NULL;

    assert_int_equal(apapi_merge_absent(merge, "n1", "no answer"), 0);
    assert_int_equal(apapi_merge_encode(merge, "17.batch", &line, NULL), 0);
    assert_string_equal(line,
                        "{\"merged\":1,\"job\":17,\"step\":\"batch\",\"nodes\":1,\"complete\":"
                        "false,\"recorded\":0,\"missing\":[{\"node\":\"n1\",\"reason\":\"no "
                        "answer\"}],\"incomplete\":[],\"domains\":{},\"components\":[],\"events\":["
                        "],\"notes\":[],\"per_node\":[]}");
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        FREED char *other = NULL;

        assert_int_equal(apapi_merge_encode(merge, others[i], &other, NULL), 0);
        assert_null(strstr(other, "\"job\""));
        assert_null(strstr(other, "\"step\""));
    }
}
