/* SPDX-License-Identifier: BSD-3-Clause */
/* Any text as a threshold, as a budget, and as a list of budgets. */
#include "fuzz/fuzz.h"
#include "limit/limit.h"

static void fuzz_budget(const char *text)
{
    struct limit budget = {.amount = 42};
    struct apapi_error err = {""};

    if (limit_parse_budget(text, &budget, &err)) {
        REQUIRE(budget.amount == 42 && strstr(err.text, " ^"));
    } else {
        REQUIRE(budget.amount > 0 && strstr(budget.text, "budget of ") == budget.text);
        REQUIRE(limit_first_signal(&budget));
    }
}

static void fuzz_site(const char *text)
{
    const struct limit_site site = {text, text, text, "debug", "long"};
    static struct limit_list list;

    if (limit_site_check(text, false, NULL, NULL) == 0) {
        REQUIRE(limit_site_most_j(&site) > 0);
        list.count = 0;
        limit_list_add_site(&list, LIMIT_STEP, &site);
        for (size_t i = 0; i < list.count; i++) {
            REQUIRE(list.limits[i].amount > 0 && list.limits[i].amount <= limit_site_most_j(&site));
        }
    }
    limit_site_check(text, true, NULL, NULL);
}

static void fuzz(char *text, size_t size)
{
    struct limit limit = {.hold_ns = 42}, again;
    struct apapi_error err = {""};

    (void)size;
    if (limit_parse(text, &limit, &err)) {
        REQUIRE(limit.hold_ns == 42 && err.text[0] != '\0' && strstr(err.text, " ^"));
    } else {
        REQUIRE(limit.actions != 0 && limit.meter[0] != '\0' && limit.amount >= 0);
        REQUIRE(limit_parse(limit.text, &again, NULL) == 0);
        REQUIRE(again.condition == limit.condition && again.unit == limit.unit);
    }
    fuzz_budget(text);
    fuzz_site(text);
}
