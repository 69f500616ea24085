/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "apapi/interval.h"
#include "base/array.h"
#include "base/nearest.h"
#include "base/text.h"
#include "limit/limit.h"

#define RESOLUTION_J 1e-6 /* no counter has a better one */
#define BUDGET_MIN_J 1e-3
#define BUDGET_MAX_J 1e15 /* what a machine of 30 MW draws in a year */

/* --- reading a text --------------------------------------------------------------------------- */

#define BLANKS " \t"
#define BEFORE_MAX 44 /* bytes shown before a place */
#define AROUND_MAX 60 /* bytes shown in all */

/* A text that is being read. */
struct place {
    const char *text; /* from its beginning */
    const char *at;   /* what is read next */
    struct apapi_error *err;
};

static void skip_blanks(struct place *place)
{
    place->at += strspn(place->at, BLANKS);
}

/* Not the first byte of a character. */
static bool is_inside(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

/* Report what is wrong, the text, and a caret below `where`; of a long text what is around it. */
static int __attribute__((format(printf, 4, 5)))
place_fail(const struct place *place, const char *where, int code, const char *format, ...)
{
    const char *from = where - place->text > BEFORE_MAX ? where - BEFORE_MAX : place->text;
    char message[140];
    size_t length;
    int column = 0;
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    while (from < where && is_inside(*from)) {
        from++;
    }
    length = strcspn(from, "\n");
    if (length > AROUND_MAX) {
        for (length = AROUND_MAX; length > 0 && is_inside(from[length]); length--) {
        }
    }
    for (const char *at = from; at < where; at++) {
        column += !is_inside(*at);
    }
    return apapi_fail(place->err, code, "%s\n  %.*s\n  %*s^", message, (int)length, from, column,
                      "");
}

/* Copy what was read since `begin`, without the blanks around it. */
static int keep(const struct place *place, const char *begin, char *kept, size_t size,
                const char *too_long)
{
    size_t length;

    begin += strspn(begin, BLANKS);
    length = place->at > begin ? (size_t)(place->at - begin) : 0;
    while (length > 0 && strchr(BLANKS, begin[length - 1])) {
        length--;
    }
    if (length >= size) {
        return place_fail(place, begin, ENAMETOOLONG, "%s", too_long);
    }
    memcpy(kept, begin, length);
    kept[length] = '\0';
    return 0;
}

/* Words of a list: after a level, of actions, of a budget. */
struct words {
    const struct word {
        const char *word; /* up to and with '=', if something follows */
        unsigned kind;    /* as a bit: one of each */
        unsigned action;  /* that it asks for, enum limit_action */
        int (*take)(struct place *place, struct limit *limit); /* what follows; NULL: nothing */
    } * first;
    size_t count;
    const char *unknown, *twice; /* messages */
};

/* @param given  kinds of words that were there before */
static int take_word(struct place *place, struct limit *limit, const struct words *words,
                     unsigned *given)
{
    const struct word *found = NULL;
    const char *begin = place->at;
    size_t length = strcspn(place->at, BLANKS ",=:");

    length += place->at[length] == '=';
    for (size_t i = 0; i < words->count; i++) {
        found = word_is(place->at, length, words->first[i].word) ? &words->first[i] : found;
    }
    if (!found || (*given & found->kind)) {
        return place_fail(place, place->at, EINVAL, "%s", found ? words->twice : words->unknown);
    }
    *given |= found->kind;
    limit->actions |= found->action;
    place->at += length;
    if (found->take && found->take(place, limit)) {
        return -1;
    }
    return (limit->actions & LIMIT_TERM) && (limit->actions & LIMIT_SIGNAL) &&
                   (limit->signal == SIGTERM || limit->signal == SIGKILL)
               ? place_fail(place, begin, EINVAL, "term sends SIGTERM and SIGKILL itself")
               : 0;
}

/* The rest of the text: one word after the other, with commas between them. */
static int take_words(struct place *place, struct limit *limit, const struct words *words)
{
    for (unsigned given = 0;; place->at++) {
        skip_blanks(place);
        if (take_word(place, limit, words, &given)) {
            return -1;
        }
        skip_blanks(place);
        if (*place->at != ',') {
            return *place->at
                       ? place_fail(place, place->at, EINVAL, "',' or the end is expected here")
                       : 0;
        }
    }
}

/* --- amounts ---------------------------------------------------------------------------------- */

/* A number with its unit. */
struct amount {
    double value; /* [J], [W], [C], [%], or plain */
    enum limit_unit unit;
    const char *unit_at; /* where the unit is, or would be */
};

static const struct unit {
    const char *name;
    enum limit_unit unit;
    double factor;
} units[] = {
    {"J", LIMIT_ENERGY, 1},       {"mJ", LIMIT_ENERGY, 1e-3},   {"kJ", LIMIT_ENERGY, 1e3},
    {"MJ", LIMIT_ENERGY, 1e6},    {"GJ", LIMIT_ENERGY, 1e9},    {"Wh", LIMIT_ENERGY, 3600},
    {"kWh", LIMIT_ENERGY, 3.6e6}, {"MWh", LIMIT_ENERGY, 3.6e9}, {"W", LIMIT_POWER, 1},
    {"mW", LIMIT_POWER, 1e-3},    {"kW", LIMIT_POWER, 1e3},     {"MW", LIMIT_POWER, 1e6},
    {"°C", LIMIT_TEMPERATURE, 1}, {"C", LIMIT_TEMPERATURE, 1},  {"%", LIMIT_PERCENT, 1},
};

static const struct {
    const char *name, *valid;
} unit_names[] = {
    [LIMIT_PLAIN] = {"", "J, kJ, MJ, Wh, kWh, W, kW, °C, C, %"},
    [LIMIT_ENERGY] = {"J", "J, kJ, MJ, Wh, kWh, MWh"},
    [LIMIT_POWER] = {"W", "W, kW, MW"},
    [LIMIT_TEMPERATURE] = {"C", "°C, C"},
    [LIMIT_PERCENT] = {"%", "%"},
};

const char *limit_unit_name(const struct limit *limit)
{
    return unit_names[limit->unit].name;
}

/* The unit may follow a blank, but "for", "hysteresis" and an action are no units. */
static int take_unit(struct place *place, enum limit_unit wanted, struct amount *amount)
{
    const char *after = place->at, *similar = NULL;
    size_t length;

    skip_blanks(place);
    amount->unit_at = place->at;
    length = strcspn(place->at, BLANKS ",:<>=");
    for (size_t i = 0; i < COUNT_OF(units); i++) {
        if (word_is(place->at, length, units[i].name)) {
            amount->unit = units[i].unit;
            amount->value *= units[i].factor;
            place->at += length;
            return 0;
        }
        if (length == strlen(units[i].name) && strncasecmp(place->at, units[i].name, length) == 0) {
            similar = units[i].name;
        }
    }
    if (length == 0 || word_is(place->at, length, "for") ||
        word_is(place->at, length, "hysteresis")) {
        place->at = amount->unit_at = after;
        return 0;
    }
    return place_fail(place, place->at, EINVAL, "unknown unit '%.*s': %s%s%s", (int)length,
                      place->at, similar ? "did you mean '" : "",
                      similar ? similar : unit_names[wanted].valid, similar ? "'?" : "");
}

/* "5kJ", "600 W", "80°C", "3". @param wanted  what a message names; LIMIT_PLAIN: all units */
static int take_amount(struct place *place, enum limit_unit wanted, struct amount *amount)
{
    struct real_number number;
    const char *at;

    skip_blanks(place);
    at = place->at;
    *amount = (struct amount){.unit_at = at};
    if (*at == '-') {
        return place_fail(place, at, ERANGE, "a negative amount: a number above 0");
    }
    if (!isdigit((unsigned char)at[0]) && !(at[0] == '.' && isdigit((unsigned char)at[1]))) {
        return place_fail(place, at, EINVAL, "an amount is missing, such as 5kJ or 600W");
    }
    if (at[0] == '0' && tolower((unsigned char)at[1]) == 'x') {
        return place_fail(place, at, EINVAL, "not a decimal number");
    }
    if (real_number_parse(at, &number) || !isfinite(number.value)) {
        return place_fail(place, at, ERANGE, "this number is out of range");
    }
    amount->value = number.value;
    place->at = number.rest;
    return take_unit(place, wanted, amount);
}

/* --- signals ---------------------------------------------------------------------------------- */

static const struct signal_name {
    const char *name;
    int number;
} signals[] = {{"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"TERM", SIGTERM}, {"INT", SIGINT},
               {"HUP", SIGHUP},   {"QUIT", SIGQUIT}, {"ALRM", SIGALRM}, {"CONT", SIGCONT},
               {"STOP", SIGSTOP}, {"TSTP", SIGTSTP}, {"URG", SIGURG},   {"WINCH", SIGWINCH},
               {"KILL", SIGKILL}};

const char *limit_signal_name(int number)
{
    for (size_t i = 0; i < COUNT_OF(signals); i++) {
        if (signals[i].number == number) {
            return signals[i].name;
        }
    }
    return "?";
}

/* "USR1" or "SIGUSR1" */
static int take_signal_name(struct place *place, struct limit *limit)
{
    size_t length = strcspn(place->at, BLANKS ",@");
    size_t prefix = length > 3 && strncmp(place->at, "SIG", 3) == 0 ? 3 : 0;

    for (size_t i = 0; i < COUNT_OF(signals); i++) {
        if (word_is(place->at + prefix, length - prefix, signals[i].name)) {
            limit->signal = signals[i].number;
            place->at += length;
            return 0;
        }
    }
    return place_fail(place, place->at, EINVAL,
                      "unknown signal: USR1, USR2, TERM, INT, HUP, QUIT, ALRM, CONT, STOP, TSTP, "
                      "URG, WINCH, KILL");
}

/* --- actions ---------------------------------------------------------------------------------- */

const char *limit_first_signal(const struct limit *limit)
{
    return limit->actions & LIMIT_SIGNAL ? limit_signal_name(limit->signal)
           : limit->actions & LIMIT_TERM ? "TERM"
                                         : "";
}

static int take_signal(struct place *place, struct limit *limit)
{
    if (take_signal_name(place, limit)) {
        return -1;
    }
    if (*place->at != '@') {
        return 0;
    }
    place->at++;
    if (!word_is(place->at, strcspn(place->at, BLANKS ","), "step")) {
        return place_fail(place, place->at, EINVAL, "only @step can follow a signal");
    }
    if (limit->scope == LIMIT_JOB) {
        return place_fail(place, place->at, EINVAL,
                          "a signal at a job's limit is for all its steps");
    }
    limit->whole_step = true;
    place->at += strlen("step");
    return 0;
}

static int take_command(struct place *place, struct limit *limit)
{
    const char *begin = place->at + strspn(place->at, BLANKS);

    place->at += strlen(place->at);
    return *begin ? keep(place, begin, limit->command, sizeof limit->command,
                         "the command is too long: at most 1023 bytes")
                  : place_fail(place, begin, EINVAL, "a command is missing after exec=");
}

static const struct word action_words[] = {{"log", LIMIT_LOG, LIMIT_LOG, NULL},
                                           {"stamp", LIMIT_STAMP, LIMIT_STAMP, NULL},
                                           {"term", LIMIT_TERM, LIMIT_TERM, NULL},
                                           {"signal=", LIMIT_SIGNAL, LIMIT_SIGNAL, take_signal},
                                           {"exec=", LIMIT_EXEC, LIMIT_EXEC, take_command}};
static const struct words actions = {
    action_words, COUNT_OF(action_words),
    "unknown action: log, stamp, signal=NAME[@step], term, exec=COMMAND",
    "this action is there already"};

void limit_actions_text(const struct limit *limit, char *text, size_t size)
{
    const char *whom = limit->whole_job ? "@job" : limit->whole_step ? "@step" : "";
    size_t length = 0;

    text[0] = '\0';
    for (size_t i = 0; i < COUNT_OF(action_words) && length < size; i++) {
        unsigned action = action_words[i].action;
        bool sends = action == LIMIT_SIGNAL;

        if (limit->actions & action) {
            length += (size_t)snprintf(
                text + length, size - length, "%s%.*s%s%s", length ? ", " : "",
                (int)strcspn(action_words[i].word, "=") + sends, action_words[i].word,
                sends ? limit_signal_name(limit->signal) : "",
                sends || (limit->whole_job && action == LIMIT_TERM) ? whom : "");
        }
    }
}

/* --- quantities ------------------------------------------------------------------------------- */

static const char *const scope_names[] = {
    [LIMIT_NODE] = "node", [LIMIT_STEP] = "step", [LIMIT_JOB] = "job"};

bool limit_is_of_event(const struct limit *limit)
{
    return strstr(limit->meter, ":::") != NULL;
}

static bool is_every(const struct place *place)
{
    return word_is(place->at, strcspn(place->at, BLANKS "0123456789"), "every");
}

/* A scope where a quantity follows: 'node > 600W' is the node's meter. */
static int take_scope(struct place *place, struct limit *limit)
{
    const char *begin = place->at;
    size_t length = strcspn(place->at, BLANKS "<>");

    for (size_t i = 0; i < COUNT_OF(scope_names); i++) {
        if (!word_is(begin, length, scope_names[i])) {
            continue;
        }
        place->at += length;
        skip_blanks(place);
        if (*place->at && !strchr("<>=:", *place->at) && !is_every(place)) {
            limit->scope = (enum limit_scope)i;
            limit->whole_job = i == LIMIT_JOB;
            return 0;
        }
        if (i != LIMIT_NODE) {
            return place_fail(place, place->at, EINVAL, "a quantity is missing: '%s total >= 5kJ'",
                              scope_names[i]);
        }
    }
    place->at = begin;
    return 0;
}

/* A domain or the total, or what resembles one. */
static int check_meter(const struct place *place, const struct limit *limit, const char *where)
{
    const char *scope = scope_names[limit->scope];
    struct nearest nearest;
    char meant[64];

    if (limit->scope != LIMIT_NODE) {
        return strcmp(limit->meter, LIMIT_TOTAL_NAME) == 0
                   ? 0
                   : place_fail(
                         place, where, EINVAL,
                         "a %s knows what its nodes have used, '%s total >= 5kJ'; all else is "
                         "known on each node",
                         scope, scope);
    }
    if (limit_is_of_event(limit) || strcmp(limit->meter, LIMIT_TOTAL_NAME) == 0 ||
        apapi_domain_find(limit->meter) != APAPI_DOMAIN_NONE) {
        return 0;
    }
    nearest_begin(&nearest, limit->meter);
    nearest_offer(LIMIT_TOTAL_NAME, &nearest);
    for (int i = APAPI_DOMAIN_NONE + 1; i < APAPI_DOMAINS; i++) {
        nearest_offer(apapi_domain_name((enum apapi_domain)i), &nearest);
    }
    nearest_text(&nearest, meant, sizeof meant);
    return place_fail(place, where, EINVAL,
                      "not an event (component:::event), not total, and no domain: package, dram, "
                      "gpu, node ...%s",
                      meant);
}

static int take_meter(struct place *place, struct limit *limit)
{
    const char *begin;
    size_t length;

    skip_blanks(place);
    if (take_scope(place, limit)) {
        return -1;
    }
    begin = place->at;
    length = strcspn(place->at, BLANKS "<>");
    if (length == 0) {
        return place_fail(place, begin, EINVAL,
                          "an event, a domain or total is missing, as in 'total >= 5kJ'");
    }
    place->at += length;
    return keep(place, begin, limit->meter, sizeof limit->meter, "this name is too long")
               ? -1
               : check_meter(place, limit, begin);
}

/* --- conditions ------------------------------------------------------------------------------- */

static int check_unit(const struct place *place, const struct limit *limit,
                      const struct amount *amount)
{
    bool energy = limit->unit == LIMIT_ENERGY;

    if (limit->condition == APAPI_OVERFLOW_EVERY && limit->unit != LIMIT_PLAIN && !energy) {
        return place_fail(place, amount->unit_at, EINVAL, "'every' counts, so it needs %s",
                          unit_names[LIMIT_ENERGY].valid);
    }
    if (limit->condition == APAPI_OVERFLOW_BELOW && energy) {
        return place_fail(place, amount->unit_at, EINVAL,
                          "energy only grows: >= or every with it, or a level in %s",
                          unit_names[LIMIT_POWER].valid);
    }
    if (limit->scope != LIMIT_NODE && !energy) {
        return place_fail(place, amount->unit_at, EINVAL,
                          "a %s adds up energy: %s; a power is known on each node",
                          scope_names[limit->scope], unit_names[LIMIT_ENERGY].valid);
    }
    if (!limit_is_of_event(limit) && !energy && limit->unit != LIMIT_POWER) {
        return place_fail(place, amount->unit_at, EINVAL, "'%s' has energy (%s) and power (%s)",
                          limit->meter, unit_names[LIMIT_ENERGY].valid,
                          unit_names[LIMIT_POWER].valid);
    }
    return 0;
}

static int take_condition(struct place *place, struct limit *limit)
{
    size_t blanks = strspn(place->text, BLANKS); /* the text is kept without them */
    bool every, or_equal;
    struct amount amount;
    const char *where;
    char sign;

    skip_blanks(place);
    every = is_every(place);
    sign = *place->at;
    if (!every && sign != '>' && sign != '<') {
        return place_fail(place, place->at, EINVAL,
                          "a condition is expected here: >=, every, > or <");
    }
    or_equal = place->at[1] == '=';
    place->at += every ? strlen("every") : 1 + (size_t)or_equal;
    skip_blanks(place);
    where = place->at;
    if (take_amount(place, every ? LIMIT_ENERGY : LIMIT_PLAIN, &amount)) {
        return -1;
    }
    limit->amount_at = (size_t)(where - place->text) - blanks;
    limit->unit_at = (size_t)(amount.unit_at - place->text) - blanks;
    limit->amount = amount.value;
    limit->unit = amount.unit;
    limit->condition = every         ? APAPI_OVERFLOW_EVERY
                       : sign == '<' ? APAPI_OVERFLOW_BELOW
                       : amount.unit == LIMIT_ENERGY || (amount.unit == LIMIT_PLAIN && or_equal)
                           ? APAPI_OVERFLOW_TOTAL
                           : APAPI_OVERFLOW_ABOVE;
    if (limit->unit == LIMIT_PLAIN && !limit_is_of_event(limit)) {
        limit->unit = limit_counts(limit->condition) ? LIMIT_ENERGY : LIMIT_POWER;
    }
    if (check_unit(place, limit, &amount)) {
        return -1;
    }
    if (limit->amount <= 0 && (limit_counts(limit->condition) || limit->unit == LIMIT_POWER)) {
        return place_fail(place, where, ERANGE, "the amount must be above 0");
    }
    if (limit->unit == LIMIT_ENERGY && limit->amount < RESOLUTION_J) {
        return place_fail(place, where, ERANGE,
                          "below the resolution of any counter: at least 0.000001 J");
    }
    return 0;
}

static int take_hold(struct place *place, struct limit *limit)
{
    char word[32];
    size_t length;

    skip_blanks(place);
    length = strcspn(place->at, BLANKS ",:");
    snprintf(word, sizeof word, "%.*s", (int)length, place->at);
    if (length >= sizeof word || word[strspn(word, "0123456789")] == '\0' ||
        apapi_duration_parse(word, &limit->hold_ns, NULL)) {
        return place_fail(place, place->at, EINVAL,
                          "a duration is expected here: a number with ms, s, m or h");
    }
    place->at += length;
    return 0;
}

static int take_hysteresis(struct place *place, struct limit *limit)
{
    struct amount amount;
    const char *where;

    skip_blanks(place);
    where = place->at;
    if (take_amount(place, limit->unit, &amount)) {
        return -1;
    }
    if (amount.unit != limit->unit && amount.unit != LIMIT_PLAIN) {
        return place_fail(place, amount.unit_at, EINVAL, "the unit of the level is expected: %s",
                          unit_names[limit->unit].valid);
    }
    if (limit->condition == APAPI_OVERFLOW_ABOVE && amount.value >= limit->amount) {
        return place_fail(place, where, ERANGE, "the hysteresis must be below the level");
    }
    limit->hysteresis = amount.value;
    return 0;
}

static const struct word level_words[] = {{"for", 1, 0, take_hold},
                                          {"hysteresis", 2, 0, take_hysteresis}};
static const struct words of_level = {level_words, COUNT_OF(level_words),
                                      "':' and actions, or the end, are expected here",
                                      "this is there already"};
static const struct words of_total = {
    NULL, 0, "':' and actions, or the end: a time or hysteresis needs a level, as in '> 600W'", ""};

int limit_parse(const char *text, struct limit *limit, struct apapi_error *err)
{
    struct place place = {text, text, err};
    struct limit parsed = {.hold_ns = 0};
    unsigned given = 0;

    if (take_meter(&place, &parsed) || take_condition(&place, &parsed)) {
        return -1;
    }
    for (skip_blanks(&place); *place.at && *place.at != ':'; skip_blanks(&place)) {
        if (take_word(&place, &parsed, limit_counts(parsed.condition) ? &of_total : &of_level,
                      &given)) {
            return -1;
        }
    }
    if (keep(&place, text, parsed.text, sizeof parsed.text, "this threshold is too long")) {
        return -1;
    }
    parsed.actions = *place.at ? 0 : LIMIT_LOG;
    if (*place.at++ && take_words(&place, &parsed, &actions)) {
        return -1;
    }
    *limit = parsed;
    return 0;
}

/* --- budgets ---------------------------------------------------------------------------------- */

static int budget_amount(struct place *place, struct limit *budget)
{
    const char *begin = place->at;
    struct amount amount;

    if (take_amount(place, LIMIT_ENERGY, &amount)) {
        return -1;
    }
    if (amount.unit != LIMIT_ENERGY) {
        return place_fail(place, amount.unit_at, EINVAL, "a budget is an energy: %s",
                          unit_names[LIMIT_ENERGY].valid);
    }
    if (!(amount.value >= BUDGET_MIN_J && amount.value <= BUDGET_MAX_J)) {
        return place_fail(place, begin, ERANGE, "out of bounds: at least 1 mJ, at most %g GJ",
                          BUDGET_MAX_J / 1e9);
    }
    *budget = (struct limit){.meter = LIMIT_TOTAL_NAME,
                             .scope = LIMIT_STEP,
                             .condition = APAPI_OVERFLOW_TOTAL,
                             .unit = LIMIT_ENERGY,
                             .amount = amount.value,
                             .budget = true};
    snprintf(budget->text, sizeof budget->text, "budget of %.*s", (int)(place->at - begin), begin);
    skip_blanks(place);
    return 0;
}

static int budget_warn(struct place *place, struct limit *budget)
{
    const char *begin = place->at;
    struct amount amount;

    if (take_amount(place, LIMIT_PERCENT, &amount)) {
        return -1;
    }
    if (amount.unit != LIMIT_PERCENT || !(amount.value > 0 && amount.value < 100)) {
        return place_fail(place, begin, EINVAL, "expected a percentage below 100, such as 80%%");
    }
    budget->warn = amount.value / 100;
    return 0;
}

static int budget_scope(struct place *place, struct limit *budget)
{
    size_t length = strcspn(place->at, BLANKS ",");

    budget->whole_job = word_is(place->at, length, "job");
    if (!budget->whole_job && !word_is(place->at, length, "step")) {
        return place_fail(place, place->at, EINVAL, "expected step or job");
    }
    place->at += length;
    return 0;
}

static const struct word budget_words[] = {{"warn=", 1, 0, budget_warn},
                                           {"scope=", 2, 0, budget_scope},
                                           {"signal=", 4, LIMIT_SIGNAL, take_signal_name},
                                           {"term", 4, LIMIT_TERM, NULL},
                                           {"log", 4, LIMIT_LOG, NULL}};
static const struct words of_budget = {
    budget_words, COUNT_OF(budget_words),
    "expected warn=N%, signal=NAME, term, log, scope=step or scope=job",
    "this is there already: one of each"};
static const struct words of_site = {budget_words + 2, COUNT_OF(budget_words) - 2,
                                     "expected term, log or signal=NAME", ""};

int limit_parse_budget(const char *text, struct limit *limit, struct apapi_error *err)
{
    struct place place = {text, text, err};
    struct limit parsed;

    skip_blanks(&place);
    if (budget_amount(&place, &parsed)) {
        return -1;
    }
    if (*place.at && *place.at != ',') {
        return place_fail(&place, place.at, EINVAL, "',' or the end is expected here");
    }
    if (*place.at++ && take_words(&place, &parsed, &of_budget)) {
        return -1;
    }
    parsed.actions = parsed.actions ? parsed.actions : LIMIT_TERM;
    *limit = parsed;
    return 0;
}

int limit_parse_site(const char *value, bool action, struct limit *result, struct apapi_error *err)
{
    struct place place = {value, value, err};
    unsigned given = 0;

    *result = (struct limit){.amount = INFINITY};
    if (!action && strcmp(value, "none") == 0) {
        return 0;
    }
    skip_blanks(&place);
    if (action ? take_word(&place, result, &of_site, &given) : budget_amount(&place, result)) {
        return -1;
    }
    skip_blanks(&place);
    return *place.at ? place_fail(&place, place.at, EINVAL, "the end is expected here") : 0;
}

/* --- lists ------------------------------------------------------------------------------------ */

static bool is_same(const struct limit *left, const struct limit *right)
{
    return left->scope == right->scope && strcmp(left->meter, right->meter) == 0 &&
           left->condition == right->condition && left->unit == right->unit &&
           left->amount >= right->amount && left->amount <= right->amount &&
           left->hold_ns == right->hold_ns;
}

int limit_list_add(struct limit_list *list, const char *text, struct apapi_error *err)
{
    const struct place place = {text, text, err};
    struct limit *next = &list->limits[list->count];

    if (list->count >= LIMITS_MAX) {
        return place_fail(&place, text, E2BIG, "more than %d thresholds", LIMITS_MAX);
    }
    if (limit_parse(text, next, err)) {
        return -1;
    }
    for (size_t i = 0; i < list->count; i++) {
        if (is_same(&list->limits[i], next)) {
            return place_fail(&place, text, EEXIST,
                              "this threshold is there already: give all its actions at once");
        }
    }
    list->count++;
    return 0;
}

int limit_list_parse(struct limit_list *list, const char *lines, struct apapi_error *err)
{
    char line[LIMIT_TEXT_SIZE + LIMIT_COMMAND_SIZE + 256];

    for (; *lines; lines += *lines == '\n') {
        struct place place = {lines, lines + strcspn(lines, "\n"), err};

        if (place.at - lines >= (ptrdiff_t)sizeof line) {
            return place_fail(&place, lines, ENAMETOOLONG, "this threshold is too long");
        }
        snprintf(line, sizeof line, "%.*s", (int)(place.at - lines), lines);
        if (line[strspn(line, BLANKS)] && limit_list_add(list, line, err)) {
            return -1;
        }
        lines = place.at;
    }
    return 0;
}

void limit_list_add_budget(struct limit_list *list, const struct limit *budget,
                           enum limit_scope scope)
{
    struct limit *added = &list->limits[list->count];
    const char *whose = scope == LIMIT_JOB ? " of the job" : "";

    if (list->count + 2 > LIMITS_ROOM) {
        return;
    }
    added[0] = *budget;
    added[0].scope = scope;
    added[0].whole_job |= scope == LIMIT_JOB;
    snprintf(added[0].text, sizeof added[0].text, "%.128s%s", budget->text, whose);
    list->count++;
    if (budget->warn > 0) {
        added[1] = added[0];
        added[1].warning = true;
        snprintf(added[1].text, sizeof added[1].text, "%.128s%s, warn=%g%%", budget->text, whose,
                 budget->warn * 100);
        added[1].amount *= budget->warn;
        added[1].actions = LIMIT_LOG;
        list->count++;
    }
}

int limit_list_fill(struct limit_list *list, enum limit_scope scope, const char *lines,
                    const char *budget, struct apapi_error *err)
{
    bool failed = lines && limit_list_parse(list, lines, err);
    struct limit parsed = {.warn = 0};

    list->count = failed ? 0 : list->count;
    if (budget && *budget && limit_parse_budget(budget, &parsed, failed ? NULL : err)) {
        return -1;
    }
    if (budget && *budget) {
        limit_list_add_budget(list, &parsed, scope);
    }
    return failed ? -1 : 0;
}

/* --- after parsing ---------------------------------------------------------------------------- */

int limit_refuse(const struct limit *limit, enum limit_part part, int code, const char *what,
                 struct apapi_error *err)
{
    const struct place place = {.text = limit->text, .err = err};
    size_t meter_at = (size_t)(strstr(limit->text, limit->meter) - limit->text);

    return place_fail(&place,
                      limit->text + (part == LIMIT_METER    ? meter_at
                                     : part == LIMIT_AMOUNT ? limit->amount_at
                                                            : limit->unit_at),
                      code, "%s", what);
}

int limit_check_kind(const struct limit *limit, enum apapi_kind kind, struct apapi_error *err)
{
    bool has_energy = kind == APAPI_KIND_ENERGY || kind == APAPI_KIND_POWER;
    enum limit_unit level = has_energy                       ? LIMIT_POWER
                            : kind == APAPI_KIND_TEMPERATURE ? LIMIT_TEMPERATURE
                            : kind == APAPI_KIND_UTILIZATION ? LIMIT_PERCENT
                                                             : LIMIT_PLAIN;
    char text[128];

    if (kind == APAPI_KIND_COUNT) {
        return 0; /* its unit is anything */
    }
    if (limit->unit != LIMIT_PLAIN && limit->unit != level &&
        !(limit->unit == LIMIT_ENERGY && has_energy)) {
        snprintf(text, sizeof text, "this event is of %s: %s%s%s", apapi_kind_name(kind),
                 has_energy ? unit_names[LIMIT_ENERGY].valid : "",
                 has_energy ? ", or as a level " : "",
                 level == LIMIT_PLAIN ? "a number without a unit, in Hz" : unit_names[level].valid);
        return limit_refuse(limit, LIMIT_UNIT, EINVAL, text, err);
    }
    return limit_counts(limit->condition) && !has_energy
               ? limit_refuse(limit, LIMIT_AMOUNT, EINVAL,
                              "this event is a gauge, it has no total: a level (> or <)", err)
               : 0;
}
