/* SPDX-License-Identifier: BSD-3-Clause */
#include "budget/budget.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/count_of.h"
#include "base/word.h"
#include "threshold/action.h"
#include "threshold/amount.h"

#define AMOUNT_MIN_J 1e-3
#define AMOUNT_MAX_J 1e15 /* what a machine of 30 MW draws in a year */

static bool budget_take(struct place *place, const char *word)
{
    size_t length = strlen(word);

    if (strncmp(place->at, word, length) != 0) {
        return false;
    }
    place->at += length;
    return true;
}

static int parse_amount(struct place *place, struct budget *budget)
{
    const char *begin = place->at;
    struct amount amount;

    if (amount_parse(place, THRESHOLD_ENERGY, &amount)) {
        return -1;
    }
    if (amount.unit != THRESHOLD_ENERGY) {
        return place_fail(place, amount.unit_at, EINVAL, "a budget is an energy: %s",
                          amount_units(THRESHOLD_ENERGY));
    }
    if (!(amount.value >= AMOUNT_MIN_J && amount.value <= AMOUNT_MAX_J)) {
        return place_fail(place, begin, ERANGE, "out of bounds: at least 1 mJ, at most %g GJ",
                          AMOUNT_MAX_J / 1e9);
    }
    budget->amount_j = amount.value;
    snprintf(budget->text, sizeof budget->text, "%.*s", (int)(place->at - begin), begin);
    return 0;
}

static int parse_warn(struct place *place, struct budget *budget)
{
    const char *begin = place->at;
    struct amount amount;

    if (amount_parse(place, THRESHOLD_PERCENT, &amount)) {
        return -1;
    }
    if (amount.unit != THRESHOLD_PERCENT || !(amount.value > 0 && amount.value < 100)) {
        return place_fail(place, begin, EINVAL, "expected a percentage below 100, such as 80%%");
    }
    budget->warn = amount.value / 100;
    return 0;
}

static int parse_scope(struct place *place, struct budget *budget)
{
    budget->whole_job = budget_take(place, "job");
    if (budget->whole_job || budget_take(place, "step")) {
        return 0;
    }
    return place_fail(place, place->at, EINVAL, "expected step or job");
}

static int parse_action(struct place *place, struct budget *budget)
{
    bool key = budget_take(place, "signal=");
    size_t length = place_word_length(place, ",");

    budget->acts = true;
    if (word_is(place->at, length, "term")) {
        budget->action = BUDGET_TERM;
    } else if (key) {
        budget->action = BUDGET_SIGNAL;
        return action_parse_signal(place, &budget->signal);
    } else if (word_is(place->at, length, "log")) {
        budget->action = BUDGET_LOG;
    } else {
        return place_fail(place, place->at, EINVAL, "expected term, log or signal=NAME");
    }
    place->at += length;
    return 0;
}

static const struct budget_word {
    const char *word;
    bool stays; /* it is a part of what is parsed */
    int (*parse)(struct place *place, struct budget *budget);
} words[] = {{"warn=", false, parse_warn},
             {"scope=", false, parse_scope},
             {"signal=", true, parse_action},
             {"term", true, parse_action},
             {"log", true, parse_action}};

/* @param given  kinds of words that were there before */
static int parse_word(struct place *place, struct budget *budget, unsigned *given)
{
    const char *begin = place->at;

    for (size_t i = 0; i < COUNT_OF(words); i++) {
        unsigned kind = 1U << (words[i].stays ? 2 : i);

        if (!budget_take(place, words[i].word)) {
            continue;
        }
        if (*given & kind) {
            return place_fail(place, begin, EINVAL, "this is there already: one of each");
        }
        *given |= kind;
        place->at = words[i].stays ? begin : place->at;
        return words[i].parse(place, budget);
    }
    return place_fail(place, begin, EINVAL,
                      "expected warn=N%%, signal=NAME, term, log, scope=step or scope=job");
}

static int parse_words(struct place *place, struct budget *budget)
{
    unsigned given = 0;

    for (;;) {
        place_skip_blanks(place);
        if (*place->at == '\0') {
            return 0;
        }
        if (*place->at != ',') {
            return place_fail(place, place->at, EINVAL, "',' or the end is expected here");
        }
        place->at++;
        place_skip_blanks(place);
        if (parse_word(place, budget, &given)) {
            return -1;
        }
    }
}

int budget_parse(const char *text, struct budget *budget, struct apapi_error *err)
{
    struct place place = {.text = text, .at = text, .err = err};
    struct budget result = BUDGET_NONE;

    place_skip_blanks(&place);
    if (parse_amount(&place, &result) || parse_words(&place, &result)) {
        return -1;
    }
    *budget = result;
    return 0;
}

static int parse_alone(const char *text, int (*parse)(struct place *, struct budget *),
                       struct budget *budget, struct apapi_error *err)
{
    struct place place = {.text = text, .at = text, .err = err};
    struct budget result = *budget;

    place_skip_blanks(&place);
    if (parse(&place, &result)) {
        return -1;
    }
    place_skip_blanks(&place);
    if (*place.at) {
        return place_fail(&place, place.at, EINVAL, "the end is expected here");
    }
    *budget = result;
    return 0;
}

int budget_parse_amount(const char *text, struct budget *budget, struct apapi_error *err)
{
    return parse_alone(text, parse_amount, budget, err);
}

int budget_parse_action(const char *text, struct budget *budget, struct apapi_error *err)
{
    return parse_alone(text, parse_action, budget, err);
}

const char *budget_signal_name(const struct budget *budget)
{
    static const char *const names[] = {[BUDGET_TERM] = "TERM", [BUDGET_LOG] = ""};

    return budget->action == BUDGET_SIGNAL ? action_signal_name(budget->signal)
                                           : names[budget->action];
}
