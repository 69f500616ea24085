/* SPDX-License-Identifier: BSD-3-Clause */
/* The choice of events: lists against the events of a source, and the files that are installed. */
#include "base/text.h"
#include "config/definitions.h"
#include "config/selection.h"
#include "unit/problem_log.h"
#include "unit/unit.h"

#define EVENTS_MAX 8

static struct apapi_event_rules rules_of(const char *user, const char *defaults)
{
    struct apapi_event_rules rules = {0};

    if (user) {
        rules.user_list = apapi_eventlist_parse("user", user, strlen(user), NULL, NULL);
        assert_non_null(rules.user_list);
    }
    if (defaults) {
        rules.default_list =
            apapi_eventlist_parse("default", defaults, strlen(defaults), NULL, NULL);
        assert_non_null(rules.default_list);
    }
    return rules;
}

static size_t make_events(const char *names, struct apapi_event events[EVENTS_MAX])
{
    char copy[512], *rest = copy, *name;
    size_t count = 0;

    memset(events, 0, EVENTS_MAX * sizeof *events);
    snprintf(copy, sizeof copy, "%s", names);
    while ((name = strsep(&rest, " "))) {
        snprintf(events[count++].name, APAPI_NAME_SIZE, "%s", name);
    }
    return count;
}

static const char *chosen_names(const struct apapi_selection *selection,
                                const struct apapi_event *events)
{
    static char names[1024];

    names[0] = '\0';
    for (size_t i = 0; i < selection->count; i++) {
        strcat(names, i ? " " : "");
        strcat(names, events[selection->indices[i]].name);
    }
    return names;
}

#define ZONES "rapl:::P:0 rapl:::P:1 rapl:::D:0"

TEST(who_chooses_what)
{
    static const struct {
        const char *user, *defaults, *component, *events;
        int choice;
        const char *chosen;
        size_t unmatched;
    } cases[] = {
        {NULL, NULL, "rapl", ZONES, APAPI_CHOICE_ALL, ZONES, 0},
        {NULL, "rapl:::D:*", "rapl", ZONES, APAPI_CHOICE_DEFAULT, "rapl:::D:0", 0},
        {"rapl:::P:1", "rapl:::D:*", "rapl", ZONES, APAPI_CHOICE_USER, "rapl:::P:1", 0},
        /* the user's list does not speak of it */
        {"nvml:::x", "rapl:::D:*", "rapl", ZONES, APAPI_CHOICE_DEFAULT, "rapl:::D:0", 0},
        {"rapl_x:::P:1", "rapl:::D:*", "rapl", ZONES, APAPI_CHOICE_DEFAULT, "rapl:::D:0", 0},
        {"# nothing", NULL, "rapl", ZONES, APAPI_CHOICE_ALL, ZONES, 0},
        /* it does, in vain */
        {"rapl:::X", "rapl:::D:*", "rapl", ZONES, APAPI_CHOICE_USER, "", 1},
        {"rapl:::X\nrapl:::P:0\nrapl:::Y*\nother:::Z", NULL, "rapl", ZONES, APAPI_CHOICE_USER,
         "rapl:::P:0", 2},
        /* the list's order, then the source's; each event once */
        {"rapl:::D:0\nrapl:::*\nrapl:::P:0", NULL, "rapl", ZONES, APAPI_CHOICE_USER,
         "rapl:::D:0 rapl:::P:0 rapl:::P:1", 0},
        {"*:1\n*:0", NULL, "rapl", ZONES, APAPI_CHOICE_USER, "rapl:::P:1 rapl:::P:0 rapl:::D:0", 0},
        /* defaults for other machines */
        {NULL, "rapl:::Q\nrapl:::P:1", "rapl", ZONES, APAPI_CHOICE_DEFAULT, "rapl:::P:1", 0},
        {NULL, "rapl:::Q", "rapl", ZONES, APAPI_CHOICE_ALL, ZONES, 0},
        {NULL, "nvml:::Q", "rapl", ZONES, APAPI_CHOICE_ALL, ZONES, 0},
        /* a source whose events are called otherwise */
        {"rapl::E*", NULL, "perf_event_uncore", "rapl::E0 x::y", APAPI_CHOICE_USER, "rapl::E0", 0},
        {"powercap:::Z1", NULL, "rapl", "powercap:::Z0 powercap:::Z1", APAPI_CHOICE_USER,
         "powercap:::Z1", 0},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct apapi_event_rules rules = rules_of(cases[i].user, cases[i].defaults);
        struct apapi_event events[EVENTS_MAX];
        struct apapi_selection selection;
        size_t count = make_events(cases[i].events, events);

        assert_int_equal(
            apapi_event_rules_select(&rules, cases[i].component, events, count, &selection), 0);
        if ((int)selection.choice != cases[i].choice ||
            selection.unmatched_count != cases[i].unmatched ||
            strcmp(chosen_names(&selection, events), cases[i].chosen) != 0) {
            fail_msg("case %zu: by %d: %s; %zu unmatched", i, (int)selection.choice,
                     chosen_names(&selection, events), selection.unmatched_count);
        }
        apapi_selection_clear(&selection);
        apapi_event_rules_clear(&rules);
    }
}

TEST(unmatched_entries_are_named)
{
    struct apapi_event_rules rules = rules_of("#\nrapl:::X\nrapl:::P:0\nrapl:::Y*", NULL);
    struct apapi_event events[EVENTS_MAX];
    struct apapi_selection selection;
    size_t count = make_events(ZONES, events);

    assert_int_equal(apapi_event_rules_select(&rules, "rapl", events, count, &selection), 0);
    assert_int_equal(selection.unmatched_count, 2);
    assert_string_equal(selection.unmatched[0]->name, "rapl:::X");
    assert_int_equal(selection.unmatched[0]->line, 2);
    assert_string_equal(selection.unmatched[1]->name, "rapl:::Y*");
    apapi_selection_clear(&selection);
    apapi_event_rules_clear(&rules);
}

/* The files that are installed: names of real events, and what they must become. */
static const struct {
    const char *event;
    bool listed;
    const char *unit0;
    int domain;
} default_events[] = {
    {"rapl:::PACKAGE_ENERGY:PACKAGE0", true, "J", APAPI_DOMAIN_PACKAGE},
    {"rapl:::DRAM_ENERGY:PACKAGE1_DIE0", true, "J", APAPI_DOMAIN_DRAM},
    {"rapl:::PACKAGE_ENERGY_CNT:PACKAGE0", false, NULL, 0},
    {"rapl:::THERMAL_SPEC:PACKAGE0", false, NULL, 0},
    {"rapl::RAPL_ENERGY_PKG:cpu=0", true, "J", APAPI_DOMAIN_PACKAGE},
    {"powercap:::ENERGY_UJ:ZONE0_SUBZONE1", true, "J", -1},
    {"powercap:::POWER_LIMIT_A_UW:ZONE0", false, NULL, 0},
    {"nvml:::NVIDIA_H200:device_0:power", true, "W", APAPI_DOMAIN_GPU},
    {"nvml:::NVIDIA_H200:device_0:total_energy_consumption", true, "J", APAPI_DOMAIN_GPU},
    {"nvml:::NVIDIA_H200:device_0:power_management_limit", false, NULL, 0},
    {"nvml:::NVIDIA_H200:device_0:sm_clock", true, "MHz", APAPI_DOMAIN_GPU},
    {"rocm_smi:::energy_count:device=0", true, "J", APAPI_DOMAIN_GPU},
    {"rocm_smi:::power_cap:device=0:sensor=0", false, NULL, 0},
    {"coretemp:::hwmon0:temp1_input", true,
     "\xc2\xb0"
     "C",
     -1},
    {"net:::eth0:rx:bytes", true, "B", -1},
    {"net:::eth0:tx:byte", true, "B", -1}, /* as PAPI 7.2 cuts it */
    {"net:::eth0:tx:packet", true, "#", -1},
    {"net:::eth0:tx:error", false, "#", -1},
    {"infiniband:::mlx5_0_1_ext:port_xmit_data", true, "B", -1},
    {"ipmi:::SYSTEM_POWER", true, "W", APAPI_DOMAIN_NODE},
    {"cray_pm:::PM_ENERGY:NODE", false, "J", -1},
    {"cray_pm:::PM_POWER:ACC0", false, "W", -1},
    {"cray_pm:::PM_POWER_CAP:NODE", false, NULL, 0},
    {"hwmon:::amd_energy:energy1", false, "J", -1},
    {"hwmon:::power_meter:power1", false, "W", -1},
    {"intel_gpu:::card0:energy1", false, "J", -1},
    {"maxeler:::mgt_1v2_POWER:DEVICE0", true, "W", APAPI_DOMAIN_NONE},
};

TEST(default_files)
{
    static struct problem_log reported;
    struct apapi_problem_sink sink = {log_problem, &reported};
    struct apapi_environment environment = {0};
    struct apapi_event_rules rules;

    assert_int_equal(
        apapi_event_rules_load(&rules, &environment, source_file("config"), &sink, NULL), 0);
    assert_string_equal(reported.text, "");
    assert_non_null(rules.default_list);
    assert_non_null(rules.default_ops);
    for (size_t i = 0; i < COUNT_OF(default_events); i++) {
        const struct apapi_definition *d =
            apapi_eventops_find(rules.default_ops, default_events[i].event);
        bool listed = false;

        for (size_t j = 0; j < apapi_eventlist_count(rules.default_list); j++) {
            listed |= apapi_pattern_matches(apapi_eventlist_at(rules.default_list, j)->name,
                                            default_events[i].event);
        }
        if (listed != default_events[i].listed ||
            (d == NULL) != (default_events[i].unit0 == NULL) ||
            (d && strcmp(d->values[0].unit, default_events[i].unit0) != 0) ||
            (d && (d->has_domain ? (int)d->domain : -1) != default_events[i].domain)) {
            fail_msg("%s", default_events[i].event);
        }
    }
    apapi_event_rules_clear(&rules);
}
