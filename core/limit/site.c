/* SPDX-License-Identifier: BSD-3-Clause */
/* The lists of a site: section [budget] of apapi.conf. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "limit/limit.h"

/* A word of a list: [partition:|qos=NAME:]value. */
struct site_word {
    char text[128];
    const char *name; /* within `text`; "": for all */
    const char *value;
    bool qos; /* the name is a QOS, not a partition */
};

/* Take a word. `rest` becomes the text after it, NULL at the end. @return 0; -1: it is too long */
static int site_take(const char **rest, struct site_word *word)
{
    const char *begin;
    size_t length = text_name(rest, &begin);
    char *colon;

    if (length >= sizeof word->text) {
        return -1;
    }
    snprintf(word->text, sizeof word->text, "%.*s", (int)length, begin);
    colon = strchr(word->text, ':');
    word->name = colon ? word->text : "";
    word->value = colon ? colon + 1 + strspn(colon + 1, " ") : word->text;
    if (colon) {
        *colon = '\0';
    }
    word->qos = strncmp(word->name, "qos=", 4) == 0;
    word->name += word->qos ? 4 : 0;
    return 0;
}

bool limit_site_varies(const struct limit_site *site)
{
    return (site->max && strchr(site->max, ':')) ||
           (site->standard && strchr(site->standard, ':')) ||
           (site->action && strchr(site->action, ':'));
}

double limit_site_most_j(const struct limit_site *site)
{
    const char *rest = site->max;
    struct site_word word = {.name = ""};
    struct limit value;
    double most_j = 0;
    bool all = false;

    while (rest && site_take(&rest, &word) == 0) {
        limit_parse_site(word.value, false, &value, NULL);
        all |= *word.name == '\0';
        most_j = fmax(most_j, value.amount);
    }
    return all ? most_j : INFINITY;
}

/*
 * Find the list's value for the partition and QOS of `site`: the strictest of the words for one of
 * them, or else the word for all. `result` is unchanged if there is no such word.
 */
static void site_apply(const struct limit_site *site, const char *list, bool actions,
                       struct limit *result)
{
    struct site_word word = {.name = ""};
    struct limit value;
    bool any = false, named = false;

    while (list && site_take(&list, &word) == 0) {
        bool names = *word.name != '\0';

        if (names ? strcmp(word.name, word.qos ? site->qos : site->partition) != 0 : named) {
            continue;
        }
        limit_parse_site(word.value, actions, &value, NULL);
        if (!any || names > named ||
            (actions ? value.actions > result->actions : value.amount < result->amount)) {
            *result = value;
        }
        any = true;
        named |= names;
    }
}

/* @return whether an earlier word has the name of `word`. @param rest  the list after `word` */
static bool site_is_double(const char *list, const char *rest, const struct site_word *word)
{
    struct site_word before;

    while (site_take(&list, &before) == 0 && list != rest) {
        if (before.qos == word->qos && strcmp(before.name, word->name) == 0) {
            return true;
        }
    }
    return false;
}

int limit_site_check(const char *list, bool actions, const char *max, struct apapi_error *err)
{
    struct site_word word;

    for (const char *rest = list; rest;) {
        struct limit_site place = {.partition = "", .qos = ""};
        struct limit value, most = {.amount = INFINITY};
        bool first = rest == list;

        if (site_take(&rest, &word)) {
            return apapi_fail(err, EINVAL, "a word of more than %zu bytes", sizeof word.text - 1);
        }
        if (first != (*word.name == '\0') || site_is_double(list, rest, &word)) {
            return apapi_fail(err, EINVAL,
                              "'%.40s': the first word is for all, each of the others for "
                              "another partition or QOS",
                              word.value);
        }
        if (limit_parse_site(word.value, actions, &value, err)) {
            if (err) { /* without text and caret: the caller names the line */
                err->text[strcspn(err->text, "\n")] = '\0';
            }
            return -1;
        }
        *(word.qos ? &place.qos : &place.partition) = word.name;
        site_apply(&place, max, false, &most);
        if (isfinite(value.amount) && value.amount > most.amount) {
            return apapi_fail(err, EINVAL, "'%.40s' is more than max_budget permits", word.value);
        }
    }
    return 0;
}

void limit_list_add_site(struct limit_list *list, enum limit_scope scope,
                         const struct limit_site *site)
{
    struct limit most = {.amount = INFINITY}, standard = most, action = {.actions = LIMIT_TERM};
    struct limit *budget;
    bool asked = false;

    for (size_t i = 0; i < list->count; i++) {
        asked |= list->limits[i].budget;
    }
    site_apply(site, site->max, false, &most);
    site_apply(site, asked ? NULL : site->standard, false, &standard);
    site_apply(site, site->action, true, &action);
    budget = standard.amount < most.amount ? &standard : &most;
    if (isfinite(budget->amount)) {
        budget->actions = action.actions;
        budget->signal = action.signal;
        budget->warn = LIMIT_SITE_WARN;
        limit_list_add_budget(list, budget, scope);
    }
}
