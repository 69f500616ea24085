/* SPDX-License-Identifier: BSD-3-Clause */
/* The report of a step from its records, in each form. */
#include "render/step_report.h"

#include <jansson.h>

#include "base/text.h"
#include "unit/merge_fixture.h"

static const struct apapi_table_head stream_step = {
    .step = "17.0", .name = "stream", .user_s = NAN, .system_s = NAN, .elapsed_s = NAN};

/* Parts of records, in JSON. */
#define DOMAIN(name, energy_j, min_w, mean_w, max_w, more)                                         \
    "\"" #name "\":{\"energy_j\":" #energy_j ",\"min_w\":" #min_w ",\"mean_w\":" #mean_w           \
    ",\"max_w\":" #max_w more "}"
#define PACKAGE(more) DOMAIN(package, 12400, 92, 148.6, 181, more)
#define DRAM(more) DOMAIN(dram, 1020, 9.8, 12.2, 14.1, more)
#define COVERED(part, rest_j) ",\"covered\":" #part ",\"rest_j\":" #rest_j
#define COMPONENT(name, source, events)                                                            \
    "{\"name\":\"" name "\",\"source\":\"" source "\",\"events\":[" events "]}"
#define UNMEASURED(name, reason) "{\"name\":\"" name "\",\"reason\":\"" reason "\"}"
#define EVENT(name, unit, more) "{\"name\":\"" name "\",\"unit\":\"" unit "\",\"scale\":1" more "}"
#define SAMPLES(count, more) ",\"covered_s\":1,\"samples\":" #count more
#define GAUGE(min, mean, max) ",\"min\":" #min ",\"mean\":" #mean ",\"max\":" #max SAMPLES(834, "")
#define METER(count, more)                                                                         \
    EVENT("rapl:::PACKAGE_ENERGY:PACKAGE0", "J", ",\"domain\":\"package\"" SAMPLES(count, more))
#define RAPL(events) COMPONENT("rapl", "sysfs powercap", events)
/* A domain that has used 100 W for 10 s. */
#define TEN_SECONDS .elapsed_s = 10, .covered = 1
#define OF_100_W(more) DOMAIN(package, 1000, 90, 100, 110, ",\"uncertainty_j\":2" more)
#define CROSSING(threshold, second, value, count, action)                                          \
    "{\"threshold\":\"" threshold "\",\"time\":\"2026-11-21T11:20:0" #second                       \
    "Z\",\"value\":" #value ",\"unit\":\"W\",\"count\":" #count ",\"action\":\"" action "\"}"
/* A component with one event that moved and one that is stuck, and a component without results. */
#define COMPONENTS(estimated, reason)                                                              \
    "{\"name\":\"rapl\",\"source\":\"sysfs\",\"missed\":3,\"events\":[" EVENT(                     \
        "x:::A", "J",                                                                              \
        ",\"domain\":\"package\",\"counter\":true," estimated                                      \
        "\"total\":1000,\"wraps\":2,\"min\":90,\"mean\":100,\"max\":110" SAMPLES(                  \
            100, "")) "," EVENT("x:::B", "",                                                       \
                                ",\"stuck\":true" SAMPLES(0, "")) "]}," UNMEASURED("nvml", reason)
#define TIMELINE(n)                                                                                \
    "\"complete\":true,\"timeline\":{\"bin_s\":1,\"package\":{\"unit_j\":100,\"n\":" n "}}"

#define SHARE(method, idle, energy_j, uncertainty_j)                                               \
    "\"complete\":true,\"share\":{\"method\":\"" method "\",\"idle\":\"" idle                      \
    "\",\"tail_s\":" #uncertainty_j ",\"domains\":{\"package\":{\"energy_j\":" #energy_j           \
    ",\"uncertainty_j\":" #uncertainty_j ",\"idle_w\":50}}}"
#define NO_SHARE "\"complete\":true,\"share\":{\"reason\":\"no node sampler runs\"}"

/* A record. Members that are 0 have usual values. */
struct given {
    const char *node;
    unsigned nodes;
    double elapsed_s, late_s, covered; /* covered < 0: not known */
    const char *domains, *components, *more, *unknown;
    unsigned second; /* second in which it starts */
};

static char *text; /* the latest report */

static void drop(void)
{
    free_merge();
    free(text);
    text = NULL;
}

/* A test with an empty merge. */
#define REPORT(name) TEST_WITH(name, make_merge, drop)

#define OR(text, usual) ((text) ? (text) : (usual))

static void give(struct given given)
{
    char covered[32] = "";
    FREED char *line = NULL;

    if (given.covered >= 0) {
        snprintf(covered, sizeof covered, "\"covered\":%g,",
                 given.covered > 0 ? given.covered : .9991);
    }
    assert_true(
        asprintf(&line,
                 "{\"apapi\":1,\"node\":\"%s\",\"nodes\":%u,\"start\":\"2026-11-21T11:20:0%uZ\","
                 "\"elapsed_s\":%g,\"late_s\":%g,%s,\"domains\":{%s},\"components\":[%s],"
                 "\"trust\":{%s\"unknown_domains\":[%s],\"cpu_s\":0.25}}",
                 OR(given.node, "n1"), given.nodes ? given.nodes : 1, given.second,
                 given.elapsed_s > 0 ? given.elapsed_s : 83.4, given.late_s,
                 OR(given.more, "\"complete\":true"), OR(given.domains, PACKAGE("") "," DRAM("")),
                 OR(given.components, RAPL(METER(834, ""))), covered, OR(given.unknown, "")) > 0);
    fail_if(step_report_add(merge, line), "%s", line);
}

static void assert_narrow(const char *table)
{
    char line[1024];

    for (const char *end; *table; table = end + 1) {
        end = strchr(table, '\n');
        assert_non_null(end);
        snprintf(line, sizeof(line), "%.*s", (int)(end - table), table);
        fail_if(text_columns(line) > TEXT_COLUMNS, "too wide: %s", line);
        for (const char *byte = line; *byte; byte++) {
            assert_true((unsigned char)*byte >= 0x20 && *byte != 0x7F);
        }
    }
}

static void write_report(enum config_format format, const struct apapi_table_head *head)
{
    size_t size;
    FILE *out;

    free(text);
    out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_int_equal(step_report_write(merge, format, head, out), 0);
    fclose(out);
    if (format == CONFIG_TABLE) {
        assert_narrow(text);
    }
}

/* The table of some records has one text and lacks another one; so does their merged record. */
static const struct {
    struct given records[3];
    const char *said, *unsaid, *merged[7], *unmerged;
} cases[] = {
    /* a node has its own uncertainty, not its part of the uncertainty of all nodes */
    {{{"n1", 2, .domains = PACKAGE(",\"uncertainty_j\":1240")},
      {"n2", 2, .domains = PACKAGE(",\"uncertainty_j\":6.2")}},
     .said = "\n  n1 12.4 kJ \302\26110 %   n2 12.40 kJ \302\2610.05 %"},
    /* extremes of all nodes together */
    {{{"n1", 2, 1.28,
       .domains = DOMAIN(package, 166.4, 92, 130, 181, "") "," DOMAIN(
           dram, 12.8, 9.8, 10, 14.1, "") "," DOMAIN(core, 115.2, 80, 90, 120, ""),
       .more = "\"complete\":true,\"timeline\":{\"bin_s\":0.64,\"package\":{\"unit_j\":1,\"n\":[64,"
               "96]},"
               "\"dram\":{\"unit_j\":0.1,\"n\":[64,64]}}"},
      {"n2", 2, 1.28,
       .domains = DOMAIN(package, 166.4, 92, 130, 181, "") "," DOMAIN(
           dram, 12.8, 9.8, 10, 14.1, "") "," DOMAIN(core, 115.2, 80, 90, 120, ""),
       .more = "\"complete\":true,\"timeline\":{\"bin_s\":0.64,\"package\":{\"unit_j\":1,\"n\":[96,"
               "80]},"
               "\"dram\":{\"unit_j\":0.1,\"n\":[64,64]}}"}},
     .said = "  package    332.8 J   260.0 W   250.0 W   275.0 W\n"
             "  dram        25.6 J    20.0 W    20.0 W    20.0 W\n"
             "  total      358.4 J   280.0 W   270.0 W   295.0 W\n"
             "  (core)     230.4 J   180.0 W   160.0 W   240.0 W\n"
             "  in brackets: inside package or around other domains, not to be added\n"
             "  mean: energy by time; min, max: all nodes together, over 640.0 ms\n"
             "  min, max of (core): the nodes' own, added up\n"},
    {{{"n1", 2, .domains = PACKAGE("") "," DRAM("")}, {"n2", 2, .domains = PACKAGE("")}},
     .said = "\n  dram measured on 1 of 2 nodes\n",
     .merged = {"\"nodes\":1,\"partial\":true,\"missing_domains\":[\"dram\"]"}},
    /* the energy of a part of the time says so, once */
    {{{.domains = PACKAGE(",\"covered\":0.8399") "," DRAM(",\"covered\":0.8391")}},
     .said = "\n  energy of the covered 83.9 %\n"},
    {{{.covered = 0.8393,
       .domains = PACKAGE(",\"covered\":0.8399") "," DRAM(",\"covered\":0.8391")}},
     .said = "covered 83.9 %, ",
     .unsaid = "energy of the covered"},
    /* 90 % of 10 s and 50 % of 30 s are 60 % of the time */
    {{{"n1", 2, 9, 1, .domains = PACKAGE(COVERED(0.9, 1000)) "," DRAM(",\"covered\":1")},
      {"n2", 2, 30, .domains = PACKAGE(COVERED(0.5, 1000)) "," DRAM(",\"covered\":1")}},
     .said = "\n  package: energy of the covered 60.0 %\n"
             "  estimate for the rest, not included: package 2.000 kJ\n"},
    {{{.domains = PACKAGE(COVERED(0.8, 3100)) "," DRAM(COVERED(0.8, 255))}},
     .said =
         "\n  energy of the covered 80.0 %\n"
         "  estimate for the rest, not included: package 3.100 kJ, dram 255.0 J, total\n    3.355 "
         "kJ\n"},
    {{{.domains = PACKAGE(COVERED(0.8, 3100)) "," DRAM(COVERED(0.8, 255))}},
     .said = "  total     13.42 kJ"},
    /* a total without a domain names the domain */
    {{{.domains = DRAM(""), .unknown = "\"package\",\"psys\""}},
     .said = "\n  total without package, whose energy is not known\n",
     .unsaid = "psys"},
    {{{.domains = DRAM(""), .unknown = "\"package\",\"psys\""}}, .said = "\n  partial total "},
    /* a power meter is named where its readings are few: of a part of the total, or of the node
       where there is nothing else */
    {{{.domains = DOMAIN(package, 1000, 90, 100, 110, ",\"uncertainty_j\":60"),
       .components =
           RAPL(EVENT("meter:::POWER", "W",
                      ",\"kind\":\"power\",\"domain\":\"package\"" SAMPLES(60, ",\"rough\":1")))}},
     .said = "\n  61 readings of a power meter: errors above 5 % are possible\n"},
    {{{.domains = DOMAIN(node, 1000, 90, 100, 110, ",\"uncertainty_j\":60"),
       .components =
           RAPL(EVENT("meter:::POWER", "W",
                      ",\"kind\":\"power\",\"domain\":\"node\"" SAMPLES(60, ",\"rough\":1")))}},
     .said = "\n  61 readings of a power meter: errors above 5 % are possible\n"},
    {{{.domains = DOMAIN(gpu, 1000, 90, 100, 110, ",\"uncertainty_j\":60"),
       .components = COMPONENT(
           "nvml", "NVML",
           EVENT("meter:::POWER", "W",
                 ",\"kind\":\"power\",\"domain\":\"gpu\"" SAMPLES(
                     60, ",\"rough\":1")) "," EVENT("meter:::ENERGY", "J",
                                                    ",\"kind\":\"energy\",\"counter\":true,"
                                                    "\"domain\":\"gpu\"" SAMPLES(60, "")))}},
     .said = "\n  61 readings: errors above 5 % are possible\n"},
/* a possible error is reported where the uncertainty is large; the total is 13 420 J */
#define UNCERTAIN(package_j)                                                                       \
    PACKAGE(",\"uncertainty_j\":" #package_j) "," DRAM(",\"uncertainty_j\":0")
    {{{.domains = UNCERTAIN(680), .components = RAPL(METER(3, ",\"rough\":1"))}},
     .said = "\n  short run, 4 readings: errors above 5 % are possible\n"},
    {{{.domains = UNCERTAIN(680), .components = RAPL(METER(60, ",\"rough\":2"))}},
     .said = "\n  61 readings: errors above 5 % are possible\n"},
    {{{.domains = UNCERTAIN(660), .components = RAPL(METER(3, ",\"rough\":1"))}},
     .said = "",
     .unsaid = "possible"},
    {{{.domains = UNCERTAIN(680), .components = RAPL(METER(3, ""))}},
     .said = "",
     .unsaid = "possible"},
    {{{.components = RAPL(METER(3, ",\"rough\":1"))}}, .said = "", .unsaid = "possible"},
    {{{.late_s = 0.011}}, .said = "\n  first 11 ms not covered\n"},
    {{{.late_s = 0.010}}, .said = "", .unsaid = "first"},
    {{{.late_s = 12.345}}, .said = "\n  first 12.3 s not covered\n"},
    {{{.more = "\"complete\":true,\"unwritten\":\"/acct: No space left on device\""}},
     .said = "\n  n1: not in the accounting files (/acct: No space left on device)\n"},
    {{{"n1", 2, .covered = 0.99999, .late_s = 0.002},
      {"n2", 2, .covered = 0.951, .late_s = 0.003, .components = RAPL(METER(801, ""))}},
     .said = "\n  covered 95.1 to 99.9 %, 801 to 834 samples per node\n",
     .merged = {"\"late_node\":\"n2\""}},
/* other events have a line each */
#define TEMPERATURE(values)                                                                        \
    EVENT("coretemp:::hwmon0:temp1_input", "C",                                                    \
          ",\"kind\":\"temperature\",\"domain\":\"package\"" values)
#define PACKETS                                                                                    \
    EVENT("net:::a_very_long_interface_name_indeed:rx:packets", "packets",                         \
          ",\"kind\":\"count\",\"counter\":true,\"total\":1048576" SAMPLES(834, ""))
#define FAN(values) EVENT("ipmi:::FAN \\u001b[1m", "W", ",\"kind\":\"power\"" values)
    {{{"n1", 2,
       .components =
           RAPL(TEMPERATURE(GAUGE(40, 45.25, 61)) "," PACKETS "," FAN(GAUGE(40, 45.25, 61)))},
      {"n2", 2,
       .components = RAPL(TEMPERATURE(
           ",\"min\":38.5,\"mean\":51.25,\"max\":70,\"covered_s\":2,\"samples\":9") "," PACKETS
                                                                                    "," FAN(SAMPLES(
                                                                                        834,
                                                                                        "")))}},
     .said = "  event                                         mean           min           max\n"
             "  coretemp:::hwmon0:temp1_input               49.2 C        38.5 C        70.0 C\n"
             "  net:::a_very_...me_indeed:rx:packets                     total 2097152 packets\n"
             "  ipmi:::FAN ?[1m                            45.25 W       40.00 W       61.00 W\n"},
    /* crossings of all nodes: how often, and the first time */
    {{{"n1", 3, TEN_SECONDS, .domains = OF_100_W(""),
       .more =
           "\"complete\":true,\"crossings\":[" CROSSING("total >= 5J", 3, 5, 1, "log") "," CROSSING(
               "gpu > 9W", 4, 9.5, 1, "stamp") "," CROSSING("gpu > 9W", 6, 9.75, 4, "stamp") "]"},
      {"n2", 3, TEN_SECONDS, .domains = OF_100_W(""),
       .more = "\"complete\":true,\"crossings\":[" CROSSING("gpu > 9W", 2, 9.25, 2, "stamp") "]"}},
     .merged =
         {"\"crossings\":[{\"threshold\":\"total >= 5J\",\"nodes\":1,\"count\":1,\"first\":"
          "\"2026-11-21T11:20:03.000000000Z\",\"first_node\":\"n1\",\"last\":"
          "\"2026-11-21T11:20:03.000000000Z\",\"value\":5.0,\"unit\":\"W\",\"action\":\"log\"},"
          "{\"threshold\":\"gpu > 9W\",\"nodes\":2,\"count\":6,\"first\":"
          "\"2026-11-21T11:20:02.000000000Z\",\"first_node\":\"n2\",\"last\":"
          "\"2026-11-21T11:20:06.000000000Z\",\"value\":9.25,\"unit\":\"W\",\"action\":\"stamp\"}"
          "]"}},
    /* energy that is not covered, and unknown energy, are beside the known energy */
    {{{TEN_SECONDS, .domains = OF_100_W(COVERED(0.75, 500)), .unknown = "\"dram\""}},
     .merged = {"\"covered\":0.75,\"rest_j\":500.0,\"mean_w\":100.0,\"min_w\":90.0",
                "\"total\":{\"energy_j\":1000.0,\"covered\":0.75,\"rest_j\":500.0,\"mean_w\":100.0,"
                "\"nodes\":1,\"partial\":true,\"missing_domains\":[\"dram\"]}",
                "\"package\":{\"energy_j\":1000.0,\"uncertainty_j\":2.0,\"covered\":0.75}},"
                "\"unknown_domains\":[\"dram\"]}]"}},
    {{{TEN_SECONDS,
       .domains = OF_100_W(COVERED(0.75, 500)) "," DOMAIN(gpu, 500, 90, 100, 110, "")}},
     .merged = {"\"total\":{\"energy_j\":1500.0,\"mean_w\":200.0,\"nodes\":1}",
                "\"gpu\":{\"energy_j\":500.0,\"mean_w\":100.0,"},
     .unmerged = "\"covered\":0.75,\"rest_j\":500.0,\"mean_w\":200"},
    /* components, events, notes and trust */
    {{{"n1", 3, TEN_SECONDS, .domains = OF_100_W(""), .components = COMPONENTS("", "no driver")},
      {"n2", 3, .elapsed_s = 10, .covered = 0.5, .domains = OF_100_W(""),
       .components = COMPONENTS("\"estimated\":true,", "No driver")},
      {"n3", 3, .elapsed_s = 10, .covered = -1, .domains = OF_100_W(""), .components = ""}},
     .merged =
         {"\"components\":[{\"name\":\"rapl\",\"source\":\"sysfs\",\"nodes\":2}]",
          "\"total\":1000.0,\"min\":90.0,\"max\":110.0,\"nodes\":1,\"mean\":100.0},{\"name\":"
          "\"x:::A\",\"kind\":\"energy\",\"domain\":\"package\",\"unit\":\"J\",\"counter\":"
          "true,\"estimated\":true,",
          "\"notes\":[{\"component\":\"nvml\",\"verdict\":\"not measured\",\"reason\":"
          "\"no driver\",\"nodes\":1,\"names\":[\"n1\"]},{\"component\":\"nvml\",\"verdict\":"
          "\"not measured\",\"reason\":\"No driver\",\"nodes\":1,\"names\":[\"n2\"]},{\"event\":"
          "\"x:::B\",\"verdict\":\"counter never moved, not counted\",\"nodes\":2,\"names\":"
          "[\"n1\",\"n2\"]}]",
          "\"trust\":{\"covered\":0.5,\"covered_max\":1.0,\"samples\":100,\"samples_max\":100,"
          "\"cpu_s\":0.75,\"uncertainty_j\":6.0,\"failed\":0,\"wraps\":4,\"resets\":0,"
          "\"refused\":0,\"gaps\":0,\"stalls\":0,\"missed\":6}",
          "\"node\":\"n2\",\"energy_j\":1000.0,\"uncertainty_j\":2.0,\"covered\":0.5,",
          "\"node\":\"n3\",\"energy_j\":1000.0,\"uncertainty_j\":2.0,\"domains\""}},
    /* a timeline of all nodes, the second of which begins a second later; or no timeline */
    {{{"n1", 3, 4, .domains = DOMAIN(package, 1000, 90, 250, 1000, ""),
       .more = TIMELINE("[1,2,3,4]")},
      {"n2", 3, 4, .domains = DOMAIN(package, 2000, 90, 500, 1000, ""),
       .more = TIMELINE("[2,4,6,8]"), .second = 1}},
     .merged =
         {"\"timeline\":{\"package\":{\"unit_j\":1.0,\"n\":[100,400,700,1000,800],\"start\":"
          "\"2026-11-21T11:20:00.000000000Z\",\"bin_s\":1.0}}",
          "\"mean_w\":600.0,\"min_w\":100.0,\"max_w\":1000.0,\"nodes\":2,\"bin_s\":1.0}},"
          "\"total\":{\"energy_j\":3000.0,\"mean_w\":600.0,\"min_w\":100.0,\"max_w\":1000.0,"}},
    {{{"n1", 3, 4, .domains = DOMAIN(package, 1000, 90, 250, 1000, ""),
       .more = TIMELINE("[1,2,3,4]")},
      {.node = "n2", .elapsed_s = 10}},
     .unmerged = "timeline"},
    /* shares by different methods; idle power that one node does not know; no share */
    {{{"n1", 2, .more = SHARE("cpu-time", "apart", 100, 2)},
      {"n2", 2, .more = SHARE("exclusive", "", 20, 2)}},
     .merged = {"\"share\":{\"method\":\"mixed\",\"idle\":\"mixed\","}},
    {{{"n1", 3, .more = SHARE("cpu-time", "apart", 100, 2)},
      {"n2", 3, .more = SHARE("cpu-time", "included", 20, 22)},
      {"n3", 3, .more = SHARE("cpu-time", "apart", 100, 2)}},
     .said =
         "\n  share of the step: 220 J \302\26112 % (cpu-time, idle power not known, included)\n",
     .merged = {"\"share\":{\"method\":\"cpu-time\",\"idle\":\"included\",\"tail_s\":22.0,"}},
    {{{.more = NO_SHARE}},
     .said = "\n  share of the step: not known, no node sampler runs\n",
     .merged = {"\"share\":{\"reason\":\"no node sampler runs\"}"}},
    {{{"n1", 2, .more = NO_SHARE}, {"n2", 2, .more = SHARE("cpu-time", "apart", 20, 2)}},
     .said = "\n  share not known on 1 of 2 nodes\n",
     .merged = {"\"missing_nodes\":1}"}},
};

REPORT(a_report_says_what_its_records_say)
{
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        for (size_t k = 0; k < 3 && (k == 0 || cases[i].records[k].node); k++) {
            give(cases[i].records[k]);
        }
        write_report(CONFIG_TABLE, &stream_step);
        fail_if((cases[i].said && !strstr(text, cases[i].said)) ||
                    (cases[i].unsaid && strstr(text, cases[i].unsaid)),
                "case %zu: %s\n%s", i, cases[i].said, text);
        write_report(CONFIG_MERGED, &stream_step);
        assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
        for (size_t k = 0; cases[i].merged[k]; k++) {
            assert_contains(text, cases[i].merged[k]);
        }
        fail_if(cases[i].unmerged && strstr(text, cases[i].unmerged), "case %zu: %s", i, text);
        renew_merge();
    }
}

REPORT(the_same_reason_is_reported_once)
{
    for (unsigned i = 0; i < 8; i++) {
        char name[8], domain[128];

        snprintf(name, sizeof(name), "n%u", i + 1);
        snprintf(domain, sizeof domain, "\"package\":{\"energy_j\":%u}," DRAM(""), 12000 + i);
        give((struct given){
            .node = name,
            .nodes = 10,
            .domains = domain,
            .covered = i == 3 ? -1 : 0,
            .components =
                i == 3 ? UNMEASURED("rapl", "permission denied") "," UNMEASURED("nvml", "no driver")
                       : RAPL(METER(834, "")) "," UNMEASURED("nvml", "no driver"),
            .more = i == 6 ? "\"complete\":false,\"reason\":\"the sampler was killed\"" : NULL});
    }
    assert_int_equal(apapi_merge_absent(merge, "n9", "no answer"), 0);
    assert_int_equal(apapi_merge_absent(merge, "n10", "no answer"), 0);
    write_report(CONFIG_TABLE, &stream_step);
    assert_contains(text, "\n  nvml: not measured (no driver)\n"
                          "  rapl on n4: not measured (permission denied)\n"
                          "  n[9-10]: no record (no answer)\n"
                          "  n7: incomplete (the sampler was killed)\n");
    assert_contains(text, "\n  lowest n1 13.02 kJ   highest n8 13.03 kJ   "
                          "mean 13.02 kJ, sd 0.019 %\n");
    assert_contains(text, "\n  total of 8 nodes ");
}

/* Report a meter and other events: x:::e1 and so on, with these members. */
static void give_events(size_t count, const char *members)
{
    static char events[65536] = METER(834, "");
    FREED char *component = NULL;

    for (size_t i = 1, used = strlen(METER(834, "")); i < count; i++) {
        used += (size_t)snprintf(events + used, sizeof events - used, ",{\"name\":\"x:::e%zu\",%s}",
                                 i, members);
    }
    assert_true(asprintf(&component, COMPONENT("rapl", "s", "%s"), events) > 0);
    give((struct given){.components = component});
    write_report(CONFIG_TABLE, &stream_step);
}

REPORT(not_all_of_many_events_are_shown)
{
    give_events(40, "\"kind\":\"count\",\"unit\":\"%\",\"scale\":1" GAUGE(40, 45.25, 61));
    assert_contains(text, "  x:::e20 ");
    assert_contains(text, "\n  ... and 19 more (see the record)\n");
}

REPORT(a_table_of_very_many_events_that_its_domains_show_already)
{
    give_events(300, "\"kind\":\"power\",\"domain\":\"package\",\"unit\":\"W\",\"scale\":1" GAUGE(
                         40, 45.25, 61));
    assert_contains(text, "\n  more than 256 events (see the record)\n");
    assert_null(strstr(text, "more than 0"));
}

REPORT(hostile_texts_stay_harmless)
{
    struct apapi_table_head head = {
        .step = "17.0\x1B[2J", .user_s = 1, .system_s = 2, .elapsed_s = 3};
    char name[400], node[256], reason[256], components[2048];

    memset(name, 'w', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    memcpy(name, "\x1B]0;\xC2\x9B\xFF\n", 8);
    head.name = name;
    sprintf(node, "\\u001b%0*d", 249, 1);
    sprintf(reason, "%0*d", 255, 1);
    snprintf(components, sizeof components,
             COMPONENT("rapl", "\\r\\r\\r\\r\\r\\r\\r\\r",
                       METER(834, "") "," EVENT("\\u001b]0;\\u009b%s", "uuuuuuuuuuuuuuu",
                                                ",\"kind\":\"count\"" GAUGE(
                                                    -1e300, 1e300, 1e300))) "," UNMEASURED("a\\nb",
                                                                                           "%s"),
             reason, reason);
    give((struct given){.node = node,
                        .nodes = UINT32_MAX - 1,
                        .domains = DOMAIN(package, 1e300, -1e300, 1e-300, 1e18, ""),
                        .components = components});
    assert_int_equal(apapi_merge_absent(merge, "x\x1B[31m", "bad\x7F\x1B"), 0);
    write_report(CONFIG_TABLE, &head);
    assert_contains(text, "apapi: step 17.0?[2J \"?]0;???wwwwwwwwwwwwwwwwwwwwww...\"");
    assert_contains(text, "  x?[31m: no record (bad?"
                          "?)\n");
}

REPORT(each_node_has_its_record_or_a_reason)
{
    json_t *array;

    write_report(CONFIG_JSON, &stream_step);
    assert_string_equal(text, "[\n]\n");
    give((struct given){.node = "n1", .components = ""});
    give(
        (struct given){.node = "n2", .components = "", .more = SHARE("cpu-time", "apart", 100, 2)});
    assert_int_equal(apapi_merge_absent(merge, "n3", "it, \"broke\""), 0);
    assert_int_equal(apapi_merge_absent(merge, "n4", ""), 0); /* without a reason */
    write_report(CONFIG_JSON, &stream_step);
    array = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_int_equal(json_array_size(array), 3);
    json_decref(array);
    assert_contains(text, "\n{\"apapi\":1,\"node\":\"n2\",");
    assert_contains(text, "\n{\"apapi\":1,\"node\":\"n3\",\"complete\":false,\"reason\":\"it, "
                          "\\\"broke\\\"\"}\n]");
    write_report(CONFIG_CSV, &stream_step);
    assert_ptr_equal(strstr(text, "step,node,row,name,domain,"), text);
    assert_contains(text, "\n17.0,n1,step,elapsed,,,s,83.4,");
    assert_contains(text, "\n17.0,n1,domain,package,package,energy,J,12400,,W,92,148.6,,181,");
    assert_contains(text, "\n17.0,n2,share,package,package,cpu-time,J,100,2,");
    assert_contains(text, "\n17.0,n2,share,total,,cpu-time,J,100,2,");
    assert_contains(text, "\n17.0,n3,absent,\"it, \"\"broke\"\"\",,,,,,");
    assert_true(step_report_needs_lines(CONFIG_JSON) && step_report_needs_lines(CONFIG_CSV));
    assert_false(step_report_needs_lines(CONFIG_MERGED) || step_report_needs_lines(CONFIG_TABLE));
}

REPORT(without_any_record_it_says_which_step)
{
    static const char *const others[] = {NULL, "", "17", "x.0", "0.0", "4294967295.0", "1+2.0"};
    struct apapi_table_head head = {.step = "17.batch"};

    assert_int_equal(apapi_merge_absent(merge, "n1", "no answer"), 0);
    write_report(CONFIG_MERGED, &head);
    assert_string_equal(text,
                        "{\"merged\":1,\"job\":17,\"step\":\"batch\",\"nodes\":1,\"complete\":"
                        "false,\"recorded\":0,\"missing\":[{\"node\":\"n1\",\"reason\":\"no "
                        "answer\"}],\"incomplete\":[],\"domains\":{},\"components\":[],\"events\":["
                        "],\"notes\":[],\"per_node\":[]}\n");
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        head.step = others[i];
        write_report(CONFIG_MERGED, &head);
        assert_null(strstr(text, "\"job\""));
        assert_null(strstr(text, "\"step\""));
    }
}
