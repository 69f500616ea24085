/* SPDX-License-Identifier: BSD-3-Clause */
#include "budget/budget_site.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define NO_LIMIT "none"
#define QOS_PREFIX "qos="
#define WORD_SIZE 128

/* A word of a list: [partition:|qos=NAME:]value. */
struct site_word {
    char text[WORD_SIZE];
    const char *name; /* within `text`; "": for all */
    const char *value;
    bool qos; /* the name is one of a QOS */
};

/* The next word. `rest` is set to the text after it, NULL at the end. 0; -1: it is too long. */
static int site_take(const char **rest, struct site_word *word)
{
    size_t length = strcspn(*rest, ","), space = strspn(*rest, " ");
    char *colon;

    if (length - (space < length ? space : length) >= sizeof word->text) {
        return -1;
    }
    snprintf(word->text, sizeof word->text, "%.*s", space < length ? (int)(length - space) : 0,
             *rest + space);
    *rest = (*rest)[length] ? *rest + length + 1 : NULL;
    colon = strchr(word->text, ':');
    word->name = colon ? word->text : "";
    word->value = colon ? colon + 1 + strspn(colon + 1, " ") : word->text;
    if (colon) {
        *colon = '\0';
    }
    word->qos = strncmp(word->name, QOS_PREFIX, sizeof QOS_PREFIX - 1) == 0;
    word->name += word->qos ? sizeof QOS_PREFIX - 1 : 0;
    return 0;
}

typedef int (*value_check_f)(const char *value, struct apapi_error *err);

static int check_amount(const char *value, struct apapi_error *err)
{
    struct budget budget = BUDGET_NONE;

    return strcmp(value, NO_LIMIT) == 0 ? 0 : budget_parse_amount(value, &budget, err);
}

static int check_action(const char *value, struct apapi_error *err)
{
    struct budget budget = BUDGET_NONE;

    return budget_parse_action(value, &budget, err);
}

static int site_check(const char *list, value_check_f check, struct apapi_error *err)
{
    struct site_word word;

    for (size_t count = 0; list; count++) {
        if (site_take(&list, &word)) {
            return apapi_fail(err, EINVAL, "a word of more than %d bytes", WORD_SIZE - 1);
        }
        if (count > 0 && *word.name == '\0') {
            return apapi_fail(
                err, EINVAL, "'%.40s': the name of a partition or qos=NAME is missing", word.value);
        }
        if (check(word.value, err)) {
            if (err) { /* the caller names the line */
                err->text[strcspn(err->text, "\n")] = '\0';
            }
            return -1;
        }
    }
    return 0;
}

int budget_site_check_amounts(const char *list, struct apapi_error *err)
{
    return site_check(list, check_amount, err);
}

int budget_site_check_actions(const char *list, struct apapi_error *err)
{
    return site_check(list, check_action, err);
}

bool budget_site_varies(const struct budget_site *site)
{
    return (site->max && strchr(site->max, ':')) ||
           (site->standard && strchr(site->standard, ':')) ||
           (site->action && strchr(site->action, ':'));
}

static double word_amount_j(const struct site_word *word)
{
    struct budget budget = BUDGET_NONE;

    return budget_parse_amount(word->value, &budget, NULL) ? INFINITY : budget.amount_j;
}

double budget_site_most_j(const struct budget_site *site)
{
    const char *rest = site->max;
    struct site_word word;
    double most_j = 0;
    bool all = false;

    while (rest && site_take(&rest, &word) == 0) {
        all |= *word.name == '\0';
        most_j = fmax(most_j, word_amount_j(&word));
    }
    return all ? most_j : INFINITY;
}

/* How much a word is about a step: -1: about others; 0: about all. */
static int word_fits(const struct site_word *word, const struct budget_place *place)
{
    if (*word->name == '\0') {
        return 0;
    }
    return strcmp(word->name, word->qos ? place->qos : place->partition) == 0 ? 1 : -1;
}

/* Take a value into a budget, unless that has a stricter one. */
typedef void (*value_take_f)(const struct site_word *word, struct budget *budget);

static void take_amount(const struct site_word *word, struct budget *budget)
{
    double amount_j = word_amount_j(word);

    if (budget->amount_j <= 0 || amount_j < budget->amount_j) {
        budget->amount_j = amount_j;
        snprintf(budget->text, sizeof budget->text, "%.31s", word->value);
    }
}

static void take_action(const struct site_word *word, struct budget *budget)
{
    struct budget action = BUDGET_NONE;

    if (budget_parse_action(word->value, &action, NULL) == 0 &&
        (!budget->acts || action.action < budget->action)) {
        budget->action = action.action;
        budget->acts = true;
        budget->signal = action.signal;
    }
}

/* Take what a list says for the place, the words for all only if no other fits. */
static void site_apply(const char *list, const struct budget_place *place, value_take_f take,
                       struct budget *budget)
{
    struct budget named = BUDGET_NONE, general = BUDGET_NONE;
    struct site_word word;
    bool has_name = false;

    while (list && site_take(&list, &word) == 0) {
        int fits = word_fits(&word, place);

        has_name |= fits > 0;
        if (fits >= 0) {
            take(&word, fits > 0 ? &named : &general);
        }
    }
    *budget = has_name ? named : general;
}

bool budget_site_find(const struct budget_site *site, const struct budget_place *place, bool asked,
                      struct budget *budget)
{
    struct budget limit, standard = BUDGET_NONE, action;

    site_apply(site->max, place, take_amount, &limit);
    site_apply(site->action, place, take_action, &action);
    if (!asked) {
        site_apply(site->standard, place, take_amount, &standard);
    }
    if (limit.amount_j <= 0 || (standard.amount_j > 0 && standard.amount_j < limit.amount_j)) {
        limit = standard;
    }
    if (!(limit.amount_j > 0) || isinf(limit.amount_j)) {
        return false;
    }
    *budget = action;
    budget->amount_j = limit.amount_j;
    budget->warn = BUDGET_SITE_WARN;
    strcpy(budget->text, limit.text);
    return true;
}
