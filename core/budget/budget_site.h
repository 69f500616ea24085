/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BUDGET_BUDGET_SITE_H
#define BUDGET_BUDGET_SITE_H
#include "budget/budget.h"

/*
 * The budgets of a site: section [budget] of apapi.conf. Each value is a list, "20kWh,debug:1kWh,
 * qos=long:50kWh": the first word for all, the others for a partition or a QOS.
 */

#define BUDGET_SECTION "budget"
#define BUDGET_MAX_KEY "max_budget"
#define BUDGET_DEFAULT_KEY "default_budget"
#define BUDGET_ACTION_KEY "budget_action"
#define BUDGET_INTERVAL_KEY "interval"
#define BUDGET_SITE_WARN 0.8 /* part of a site's budget at which a line is printed */

/** The lists of a site. Borrowed. */
struct budget_site {
    const char *max;      /* NULL: none, and so on */
    const char *standard; /* for steps whose user gives no budget */
    const char *action;   /* at these */
};

/** What a step belongs to. */
struct budget_place {
    const char *partition, *qos; /* "": not known */
};

/** Check a list of amounts. 0; -1 with errno EINVAL, `err` names the word. */
int budget_site_check_amounts(const char *list, struct apapi_error *err);

/** The same for a list of actions. */
int budget_site_check_actions(const char *list, struct apapi_error *err);

/** @return whether a list depends on partition or QOS. */
bool budget_site_varies(const struct budget_site *site);

/**
 * @return the greatest amount that the site permits anywhere [J]; INFINITY: it has no limit, or
 *         none in some places
 */
double budget_site_most_j(const struct budget_site *site);

/**
 * The site's budget of a step: the smaller one of its limit and, if the user gave no budget, its
 * default. Words for the partition and the QOS replace the word for all; if both have one, the
 * smaller amount and the stricter action apply.
 * @param asked   whether the user gave a budget
 * @param budget  result, set if there is one
 */
bool budget_site_find(const struct budget_site *site, const struct budget_place *place, bool asked,
                      struct budget *budget);

#endif
