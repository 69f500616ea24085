/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as an event list, and its selection among some events. */
#include "config/selection.h"
#include "fuzz/fuzz_problems.h"

#include "base/array.h"

static const struct apapi_event events[] = {
    {.name = "rapl:::PACKAGE_ENERGY:PACKAGE0"}, {.name = "rapl:::PACKAGE_ENERGY:PACKAGE1"},
    {.name = "rapl:::DRAM_ENERGY:PACKAGE0"},    {.name = "rapl::RAPL_ENERGY_PKG:cpu=0"},
    {.name = "nvml:::Tesla_K20c:power"},
};
#define EVENTS COUNT_OF(events)

static void check_selection(const struct apapi_selection *selection, bool user)
{
    bool taken[EVENTS] = {false};

    REQUIRE(selection->count <= EVENTS);
    for (size_t i = 0; i < selection->count; i++) {
        REQUIRE(selection->indices[i] < EVENTS);
        REQUIRE(!taken[selection->indices[i]]);
        taken[selection->indices[i]] = true;
    }
    REQUIRE(user || selection->unmatched_count == 0);
    REQUIRE(selection->choice != APAPI_CHOICE_ALL || selection->count == EVENTS);
    REQUIRE(selection->choice != APAPI_CHOICE_DEFAULT || (!user && selection->count > 0));
    for (size_t i = 0; i < selection->unmatched_count; i++) {
        REQUIRE(apapi_listed_names(selection->unmatched[i], "rapl"));
    }
}

static void check_list(struct apapi_eventlist *list)
{
    for (int user = 0; user < 2; user++) {
        struct apapi_event_rules rules = {user ? list : NULL, user ? NULL : list, NULL, NULL};
        struct apapi_selection selection;

        REQUIRE(apapi_event_rules_select(&rules, "rapl", events, EVENTS, &selection) == 0);
        check_selection(&selection, user);
        apapi_selection_clear(&selection);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
    struct reported reported = {0};
    const struct apapi_problem_sink sink = {fuzz_problem, &reported};
    struct apapi_error err = {""};
    char *text = fuzz_string(input, size);
    struct apapi_eventlist *list = apapi_eventlist_parse("fuzz", text, size, &sink, &err);

    fuzz_check_reported(&reported, list, &err);
    for (size_t i = 0; i < apapi_eventlist_count(list); i++) {
        const struct apapi_listed *listed = apapi_eventlist_at(list, i);

        REQUIRE(*listed->name && *listed->name != '#');
        REQUIRE(listed->line > (i ? apapi_eventlist_at(list, i - 1)->line : 0));
    }
    if (list) {
        check_list(list);
    }
    apapi_eventlist_destroy(list);
    free(text);
    return 0;
}
