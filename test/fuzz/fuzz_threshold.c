/* SPDX-License-Identifier: BSD-3-Clause */
/* Any text as a threshold, as a budget, and as a list of budgets. */
#include "budget/budget_site.h"
#include "fuzz/fuzz.h"
#include "threshold/threshold.h"

static void fuzz_budget(const char *text)
{
    struct budget budget = {.amount_j = 42}, again;
    struct apapi_error err = {""};

    if (budget_parse(text, &budget, &err)) {
        REQUIRE(budget.amount_j == 42 && strstr(err.text, " ^"));
    } else {
        REQUIRE(budget.amount_j > 0 && budget.text[0] != '\0' && budget_signal_name(&budget));
        REQUIRE(strlen(budget.text) + 1 == sizeof budget.text ||
                budget_parse(budget.text, &again, NULL) == 0);
    }
}

static void fuzz_site(const char *text)
{
    const struct budget_site site = {.max = text, .standard = text, .action = text};
    struct budget found;

    if (budget_site_check_amounts(text, NULL) == 0) {
        REQUIRE(budget_site_most_j(&site) > 0);
        if (budget_site_find(&site, &(struct budget_place){"debug", "long"}, false, &found)) {
            REQUIRE(found.amount_j > 0 && found.amount_j <= budget_site_most_j(&site));
        }
    }
    budget_site_check_actions(text, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
    char *text = fuzz_string(input, size);
    struct threshold threshold = {.hold_ns = 42}, again;
    struct apapi_error err = {""};

    if (threshold_parse(text, &threshold, &err)) {
        REQUIRE(threshold.hold_ns == 42 && err.text[0] != '\0' && strstr(err.text, " ^"));
    } else {
        REQUIRE(threshold.actions != 0 && threshold.meter[0] != '\0' && threshold.amount >= 0);
        REQUIRE(threshold_parse(threshold.text, &again, NULL) == 0);
        REQUIRE(again.condition == threshold.condition && again.unit == threshold.unit);
    }
    fuzz_budget(text);
    fuzz_site(text);
    free(text);
    return 0;
}
