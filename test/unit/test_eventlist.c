/* SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>

#include "base/text.h"
#include "config/definitions.h"
#include "config/selection.h"
#include "unit/problem_log.h"
#include "unit/temporary.h"

static struct problem_log reported;

static struct apapi_eventlist *parse(const char *text)
{
    struct apapi_problem_sink sink = {log_problem, &reported};

    memset(&reported, 0, sizeof reported);
    return apapi_eventlist_parse("list", text, strlen(text), &sink, NULL);
}

/* @return the list's entries that name the component, joined by blanks. */
static const char *grouped(const struct apapi_eventlist *list, const char *component)
{
    static char names[8192];
    const struct apapi_listed *listed;

    names[0] = '\0';
    for (size_t i = 0; (listed = apapi_eventlist_at(list, i)); i++) {
        if (apapi_listed_names(listed, component)) {
            strcat(names, *names ? " " : "");
            strcat(names, listed->name);
        }
    }
    return names;
}

TEST(names_comments_and_blanks)
{
    struct apapi_eventlist *list = parse("# rapl\r\n"
                                         "\r\n"
                                         "rapl:::B \r\n"
                                         "\trapl:::A\r\n"
                                         "  # indented\n"
                                         "rapl:::B\n"
                                         "nvml:::x");

    assert_string_equal(grouped(list, "rapl"), "rapl:::B rapl:::A rapl:::B");
    assert_string_equal(grouped(list, "nvml"), "nvml:::x");
    assert_int_equal(apapi_eventlist_at(list, 3)->line, 7);
    assert_null(apapi_eventlist_at(list, 4));
    apapi_eventlist_destroy(list);
}

TEST(bad_lines_are_reported)
{
    static char longest[APAPI_EVENTS_LINE_MAX + 2];
    struct apapi_problem_sink sink = {log_problem, &reported};
    const char *text = "rapl:::A\tsome energy\n"
                       "ok:::x\n"
                       "nvml:::x,APAPI_OP1_NOP,APAPI_STAT_ALL,APAPI_STAT_NO,0,a,b,1,c,d,1\n"
                       "\x7f"
                       "ELF\x02\x01\n";

    memset(&reported, 0, sizeof reported);
    assert_fails_saying(EINVAL, "list: 3 lines are bad, the first is line 1",
                        apapi_eventlist_parse("list", text, strlen(text), &sink, &why));
    assert_contains(reported.text, "list:1:9: expected the name of an event, found byte 0x09");
    assert_contains(reported.text, "list:3:1: expected the name of an event, found a definition");
    assert_contains(reported.text, "list:4:1: expected the name of an event, found byte 0x7f in "
                                   "'?ELF");
    memset(longest, 'x', sizeof longest - 1);
    assert_null(parse(longest));
    assert_contains(reported.text, "found 4096 bytes");
    longest[APAPI_EVENTS_LINE_MAX] = '\0';
    apapi_eventlist_destroy(parse(longest));
    assert_int_equal(reported.errors, 0);
}

TEST(environment)
{
    static const struct {
        const char *text;
        long number;
    } numbers[] = {
        {"-1", -1}, {"0x10", 16}, {"", 0}, {"1x", 0}, {"9999999999999999999999", 0},
    };
    struct apapi_environment environment;

    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        setenv("APAPI_VERBOSE", numbers[i].text, 1);
        setenv("APAPI_SOFTFAIL", numbers[i].text, 1);
        apapi_environment_read(&environment);
        assert_int_equal(environment.verbose, numbers[i].number);
        assert_int_equal(environment.softfail, numbers[i].number != 0);
    }
    setenv("APAPI_EVENTLIST", "", 1);
    setenv("APAPI_EVENTOPS", "/a b", 1);
    setenv("APAPI_CMPLIST", "", 1);
    unsetenv("APAPI_VERBOSE");
    apapi_environment_read(&environment);
    assert_null(environment.eventlist);
    assert_string_equal(environment.eventops, "/a b");
    assert_string_equal(environment.components, "");
    assert_int_equal(environment.verbose, 0);
    unsetenv("APAPI_EVENTOPS");
    unsetenv("APAPI_CMPLIST");
}

/* --- patterns --------------------------------------------------------------------------------- */

/* To try each place of each star would take years. */
TEST(many_stars_take_no_time)
{
    char pattern[512] = "", name[192];

    for (int i = 0; i < 100; i++) {
        strcat(pattern, "*a");
    }
    strcat(pattern, "b");
    memset(name, 'a', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_false(apapi_pattern_matches(pattern, name));
}

/* --- files ------------------------------------------------------------------------------------ */

#define LINE "x:::y,APAPI_OP1_NOP,APAPI_STAT_ALL,APAPI_STAT_NO,0,t,u,1,-,-,1\n"

static const struct apapi_problem_sink sink = {log_problem, &reported};

static const char *write_file(const char *name, const char *text, size_t size)
{
    write_bytes(in_base(name), text, size);
    return in_base(name);
}

static void make_folder(void)
{
    memset(&reported, 0, sizeof reported);
    make_base();
}

/* Check that both readers refuse the file with the same message. */
static void refuse(const char *path, int code, const char *says)
{
    assert_fails_with(code, says, apapi_eventops_read(path, &sink, &why));
    assert_fails_with(code, says, apapi_eventlist_read(path, &sink, &why));
}

#define IN_FOLDER(name) TEST_WITH(name, make_folder, remove_base)

/* A FIFO without a writer would block open(2); one with a writer would block read(2). */
IN_FOLDER(files_that_are_none)
{
    int writer;

    alarm(120);
    assert_int_equal(mkfifo(in_base("fifo"), 0600), 0);
    refuse(in_base("fifo"), EINVAL, "fifo is not a regular file");
    writer = open(in_base("fifo"), O_RDWR | O_CLOEXEC);
    refuse(in_base("fifo"), EINVAL, "fifo is not a regular file");
    close(writer);
    alarm(0);
    refuse(in_base("missing"), ENOENT, "missing: No such file");
    refuse("", ENOENT, "No such file");
    refuse(base, EISDIR, "is a folder");
    refuse(write_file("empty", "", 0), EINVAL, "empty is empty");
    refuse(write_file("binary", "rapl\0x\n", 7), EINVAL, "binary is not text: its byte 5 is 0");
    refuse("/dev/zero", EINVAL, "/dev/zero is not a regular file");
    refuse("/proc/self/environ/x", ENOTDIR, "Not a directory");
}

IN_FOLDER(sizes)
{
    char path[256], *text = malloc(APAPI_EVENTS_FILE_MAX + 1);
    struct apapi_eventops *ops;

    memset(text, '#', APAPI_EVENTS_FILE_MAX + 1);
    memcpy(text, LINE, strlen(LINE));
    strcpy(path, write_file("large", text, APAPI_EVENTS_FILE_MAX));
    ops = apapi_eventops_read(path, &sink, NULL);
    assert_true(apapi_eventops_at(ops, 0) && !apapi_eventops_at(ops, 1));
    apapi_eventops_destroy(ops);
    refuse(write_file("larger", text, APAPI_EVENTS_FILE_MAX + 1), EFBIG,
           "larger is too large: more than 10000000 bytes");
    assert_int_equal(truncate(path, 100000000), 0);
    refuse(path, EFBIG, "too large");
    assert_fails(EFBIG, apapi_eventops_parse("text", text, APAPI_EVENTS_FILE_MAX + 1, NULL, NULL));
    free(text);
}

IN_FOLDER(softfail_forgives_default_files_only)
{
    char bad[256];
    struct apapi_environment environment = {0};
    struct apapi_event_rules rules = {.user_list = NULL};

    write_file("default_eventlist.txt", "\x01\n", 2);
    write_file("default_eventops.csv", LINE, strlen(LINE));
    assert_fails_with(EINVAL, "default_eventlist.txt: line 1 is bad",
                      apapi_event_rules_load(&rules, &environment, base, &sink, &why));
    assert_null(rules.default_ops);

    environment.softfail = true;
    assert_int_equal(apapi_event_rules_load(&rules, &environment, base, &sink, NULL), 0);
    assert_null(rules.default_list);
    assert_true(apapi_eventops_at(rules.default_ops, 0) &&
                !apapi_eventops_at(rules.default_ops, 1));
    assert_int_equal(reported.rests, 1);
    apapi_event_rules_clear(&rules);

    strcpy(bad, in_base("missing"));
    environment.eventops = bad;
    assert_fails(ENOENT, apapi_event_rules_load(&rules, &environment, base, &sink, NULL));
}

/* --- the choice of events --------------------------------------------------------------------- */

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
        /* the user's list does not name the component */
        {"nvml:::x", "rapl:::D:*", "rapl", ZONES, APAPI_CHOICE_DEFAULT, "rapl:::D:0", 0},
        {"rapl_x:::P:1", "rapl:::D:*", "rapl", ZONES, APAPI_CHOICE_DEFAULT, "rapl:::D:0", 0},
        {"# nothing", NULL, "rapl", ZONES, APAPI_CHOICE_ALL, ZONES, 0},
        /* the user's list names the component, but none of its events */
        {"rapl", "rapl:::D:*", "rapl", ZONES, APAPI_CHOICE_USER, "", 1},
        {"rapl[x]", "rapl:::D:*", "rapl", ZONES, APAPI_CHOICE_USER, "", 1},
        {"rapl:::X", "rapl:::D:*", "rapl", ZONES, APAPI_CHOICE_USER, "", 1},
        {"rapl:::X\nrapl:::P:0\nrapl:::Y*\nother:::Z", NULL, "rapl", ZONES, APAPI_CHOICE_USER,
         "rapl:::P:0", 2},
        /* events come in the order of the list, then of the source; each event once */
        {"rapl:::D:0\nrapl:::*\nrapl:::P:0", NULL, "rapl", ZONES, APAPI_CHOICE_USER,
         "rapl:::D:0 rapl:::P:0 rapl:::P:1", 0},
        {"*:1\n*:0", NULL, "rapl", ZONES, APAPI_CHOICE_USER, "rapl:::P:1 rapl:::P:0 rapl:::D:0", 0},
        /* a default list for other machines */
        {NULL, "rapl:::Q\nrapl:::P:1", "rapl", ZONES, APAPI_CHOICE_DEFAULT, "rapl:::P:1", 0},
        {NULL, "rapl:::Q", "rapl", ZONES, APAPI_CHOICE_ALL, ZONES, 0},
        {NULL, "nvml:::Q", "rapl", ZONES, APAPI_CHOICE_ALL, ZONES, 0},
        /* a source whose names of events begin with another name */
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
        fail_if((int)selection.choice != cases[i].choice ||
                    selection.unmatched_count != cases[i].unmatched ||
                    strcmp(chosen_names(&selection, events), cases[i].chosen) != 0,
                "case %zu: by %d: %s; %zu unmatched", i, (int)selection.choice,
                chosen_names(&selection, events), selection.unmatched_count);
        if (selection.unmatched_count == 2) {
            assert_string_equal(selection.unmatched[1]->name, "rapl:::Y*");
            assert_int_equal(selection.unmatched[1]->line, 3);
        }
        apapi_selection_clear(&selection);
        apapi_event_rules_clear(&rules);
    }
}

/* The lists that are installed name real events. A name, and the definition that it must get. */
static const struct {
    const char *event;
    bool listed;
    const char *unit0;
    int domain;
} default_events[] = {
    {"rapl:::PACKAGE_ENERGY:PACKAGE0", true, "J", APAPI_DOMAIN_PACKAGE},
    {"rapl:::PACKAGE_ENERGY_CNT:PACKAGE0", false, NULL, 0},
    {"rapl::RAPL_ENERGY_PKG:cpu=0", true, "J", APAPI_DOMAIN_PACKAGE},
    {"powercap:::ENERGY_UJ:ZONE0_SUBZONE1", true, "J", -1},
    {"powercap:::POWER_LIMIT_A_UW:ZONE0", false, NULL, 0},
    {"nvml:::NVIDIA_H200:device_0:power", true, "W", APAPI_DOMAIN_GPU},
    {"nvml:::NVIDIA_H200:device_0:total_energy_consumption", true, "J", APAPI_DOMAIN_GPU},
    {"nvml:::NVIDIA_H200:device_0:sm_clock", true, "MHz", APAPI_DOMAIN_GPU},
    {"rocm_smi:::energy_count:device=0", true, "J", APAPI_DOMAIN_GPU},
    {"coretemp:::hwmon0:temp1_input", true,
     "\xc2\xb0"
     "C",
     -1},
    {"net:::eth0:tx:byte", true, "B", -1}, /* as PAPI 7.2 cuts it */
    {"net:::eth0:tx:error", false, "#", -1},
    {"infiniband:::mlx5_0_1_ext:port_xmit_data", true, "B", -1},
    {"ipmi:::SYSTEM_POWER", true, "W", APAPI_DOMAIN_NODE},
    {"cray_pm:::PM_ENERGY:NODE", false, "J", -1},
    {"maxeler:::mgt_1v2_POWER:DEVICE0", true, "W", APAPI_DOMAIN_NONE},
};

TEST(default_files)
{
    struct apapi_environment environment = {0};
    struct apapi_event_rules rules;

    memset(&reported, 0, sizeof reported);
    assert_int_equal(
        apapi_event_rules_load(&rules, &environment, source_file("config"), &sink, NULL), 0);
    assert_string_equal(reported.text, "");
    assert_non_null(rules.default_list);
    assert_non_null(rules.default_ops);
    for (size_t i = 0; i < COUNT_OF(default_events); i++) {
        const struct apapi_definition *d =
            apapi_eventops_find(rules.default_ops, default_events[i].event);
        const struct apapi_listed *entry;
        bool listed = false;

        for (size_t j = 0; (entry = apapi_eventlist_at(rules.default_list, j)); j++) {
            listed |= apapi_pattern_matches(entry->name, default_events[i].event);
        }
        fail_if(listed != default_events[i].listed ||
                    (d == NULL) != (default_events[i].unit0 == NULL) ||
                    (d && strcmp(d->values[0].unit, default_events[i].unit0) != 0) ||
                    (d && (d->has_domain ? (int)d->domain : -1) != default_events[i].domain),
                "%s", default_events[i].event);
    }
    apapi_event_rules_clear(&rules);
}
