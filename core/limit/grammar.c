/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "apapi/interval.h"
#include "base/array.h"
#include "base/nearest.h"
#include "base/text.h"
#include "limit/limit.h"
#include "limit/place.h"

#define RESOLUTION_J 1e-6 /* no counter has a better one */
#define BUDGET_MIN_J 1e-3
#define BUDGET_MAX_J 1e15 /* what a machine of 30 MW draws in a year */

/* --- actions ---------------------------------------------------------------------------------- */

const char *limit_first_signal(const struct limit *limit)
{
    return limit->actions & LIMIT_SIGNAL ? limit_signal_name(limit->signal)
           : limit->actions & LIMIT_TERM ? "TERM"
                                         : "";
}

static int take_signal(struct place *place, struct limit *limit)
{
    if (place_take_signal(place, &limit->signal)) {
        return -1;
    }
    if (*place->at != '@') {
        return 0;
    }
    place->at++;
    if (!word_is(place->at, place_word_length(place, ","), "step")) {
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

/* The rest of the text, without the blanks around it. */
static int take_command(struct place *place, struct limit *limit)
{
    size_t length;

    place_skip_blanks(place);
    length = strlen(place->at);
    while (length > 0 && strchr(" \t", place->at[length - 1])) {
        length--;
    }
    if (length == 0) {
        return place_fail(place, place->at, EINVAL, "a command is missing after exec=");
    }
    if (length >= sizeof limit->command) {
        return place_fail(place, place->at, ENAMETOOLONG,
                          "the command is too long: at most %zu bytes", sizeof limit->command - 1);
    }
    memcpy(limit->command, place->at, length);
    limit->command[length] = '\0';
    place->at += strlen(place->at);
    return 0;
}

static const struct action_word {
    const char *word;
    enum limit_action action;
    int (*place_take)(struct place *place, struct limit *limit); /* NULL: nothing follows */
} action_words[] = {{"log", LIMIT_LOG, NULL},
                    {"stamp", LIMIT_STAMP, NULL},
                    {"term", LIMIT_TERM, NULL},
                    {"signal=", LIMIT_SIGNAL, take_signal},
                    {"exec=", LIMIT_EXEC, take_command}};

static int take_action(struct place *place, struct limit *limit)
{
    const char *begin = place->at;
    const struct action_word *found = NULL;
    size_t length = place_word_length(place, ",=");

    length += begin[length] == '=';
    for (size_t i = 0; i < COUNT_OF(action_words); i++) {
        found = word_is(begin, length, action_words[i].word) ? &action_words[i] : found;
    }
    if (!found) {
        return place_fail(place, begin, EINVAL,
                          "unknown action: log, stamp, signal=NAME[@step], term, exec=COMMAND");
    }
    if (limit->actions & found->action) {
        return place_fail(place, begin, EINVAL, "this action is there already");
    }
    limit->actions |= found->action;
    place->at += length;
    if (found->place_take && found->place_take(place, limit)) {
        return -1;
    }
    if ((limit->actions & LIMIT_TERM) && (limit->actions & LIMIT_SIGNAL) &&
        (limit->signal == SIGTERM || limit->signal == SIGKILL)) {
        return place_fail(place, begin, EINVAL, "term sends SIGTERM and SIGKILL itself");
    }
    return 0;
}

/* Up to the end of the text. */
static int take_actions(struct place *place, struct limit *limit)
{
    for (;;) {
        place_skip_blanks(place);
        if (take_action(place, limit)) {
            return -1;
        }
        place_skip_blanks(place);
        if (*place->at == '\0') {
            return 0;
        }
        if (*place->at != ',') {
            return place_fail(place, place->at, EINVAL, "',' or the end is expected here");
        }
        place->at++;
    }
}

void limit_actions_text(const struct limit *limit, char *text, size_t size)
{
    const char *whom = limit->whole_job ? "@job" : limit->whole_step ? "@step" : "";
    size_t length = 0;

    text[0] = '\0';
    for (size_t i = 0; i < COUNT_OF(action_words) && length < size; i++) {
        enum limit_action action = action_words[i].action;
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

bool limit_counts(const struct limit *limit)
{
    return limit->condition == LIMIT_TOTAL || limit->condition == LIMIT_EVERY;
}

static bool is_every(const struct place *place)
{
    return word_is(place->at, place_word_length(place, "0123456789"), "every");
}

/* A scope where a quantity follows: 'node > 600W' is the node's meter. */
static int take_scope(struct place *place, struct limit *limit)
{
    const char *begin = place->at;
    size_t length = place_word_length(place, "<>");

    for (size_t i = 0; i < COUNT_OF(scope_names); i++) {
        if (!word_is(begin, length, scope_names[i])) {
            continue;
        }
        place->at += length;
        place_skip_blanks(place);
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

    place_skip_blanks(place);
    if (take_scope(place, limit)) {
        return -1;
    }
    begin = place->at;
    length = place_word_length(place, "<>");
    if (length == 0) {
        return place_fail(place, begin, EINVAL,
                          "an event, a domain or total is missing, as in 'total >= 5kJ'");
    }
    if (length >= sizeof limit->meter) {
        return place_fail(place, begin, ENAMETOOLONG, "this name is too long");
    }
    memcpy(limit->meter, begin, length);
    limit->meter[length] = '\0';
    place->at += length;
    return check_meter(place, limit, begin);
}

/* --- conditions ------------------------------------------------------------------------------- */

/* ">", ">=", "<", "<=" or "every". */
struct relation {
    char sign; /* '<', '>', 'e' */
    bool or_equal;
};

static int take_relation(struct place *place, struct relation *relation)
{
    place_skip_blanks(place);
    *relation = (struct relation){.sign = *place->at};
    if (*place->at == '>' || *place->at == '<') {
        relation->or_equal = place->at[1] == '=';
        place->at += 1 + relation->or_equal;
        return 0;
    }
    if (is_every(place)) {
        place->at += strlen("every");
        return 0;
    }
    return place_fail(place, place->at, EINVAL, "a condition is expected here: >=, every, > or <");
}

static int check_unit(const struct place *place, const struct limit *limit,
                      const struct amount *amount)
{
    bool energy = limit->unit == LIMIT_ENERGY;

    if (limit->condition == LIMIT_EVERY && limit->unit != LIMIT_PLAIN && !energy) {
        return place_fail(place, amount->unit_at, EINVAL, "'every' counts, so it needs %s",
                          place_units[LIMIT_ENERGY]);
    }
    if (limit->condition == LIMIT_BELOW && energy) {
        return place_fail(place, amount->unit_at, EINVAL,
                          "energy only grows: >= or every with it, or a level in %s",
                          place_units[LIMIT_POWER]);
    }
    if (limit->scope != LIMIT_NODE && !energy) {
        return place_fail(place, amount->unit_at, EINVAL,
                          "a %s adds up energy: %s; a power is known on each node",
                          scope_names[limit->scope], place_units[LIMIT_ENERGY]);
    }
    if (!limit_is_of_event(limit) && !energy && limit->unit != LIMIT_POWER) {
        return place_fail(place, amount->unit_at, EINVAL, "'%s' has energy (%s) and power (%s)",
                          limit->meter, place_units[LIMIT_ENERGY], place_units[LIMIT_POWER]);
    }
    return 0;
}

static int take_condition(struct place *place, struct limit *limit)
{
    size_t blanks = strspn(place->text, " \t"); /* the text is kept without them */
    struct relation relation;
    struct amount amount;
    const char *where;

    if (take_relation(place, &relation)) {
        return -1;
    }
    place_skip_blanks(place);
    where = place->at;
    if (place_take_amount(place, relation.sign == 'e' ? LIMIT_ENERGY : LIMIT_PLAIN, &amount)) {
        return -1;
    }
    limit->amount_at = (size_t)(where - place->text) - blanks;
    limit->unit_at = (size_t)(amount.unit_at - place->text) - blanks;
    limit->amount = amount.value;
    limit->unit = amount.unit;
    limit->condition =
        relation.sign == 'e'   ? LIMIT_EVERY
        : relation.sign == '<' ? LIMIT_BELOW
        : amount.unit == LIMIT_ENERGY || (amount.unit == LIMIT_PLAIN && relation.or_equal)
            ? LIMIT_TOTAL
            : LIMIT_ABOVE;
    if (limit->unit == LIMIT_PLAIN && !limit_is_of_event(limit)) {
        limit->unit = limit_counts(limit) ? LIMIT_ENERGY : LIMIT_POWER;
    }
    if (check_unit(place, limit, &amount)) {
        return -1;
    }
    if (limit->amount <= 0 && (limit_counts(limit) || limit->unit == LIMIT_POWER)) {
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

    place_skip_blanks(place);
    length = place_word_length(place, ",:");
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

    place_skip_blanks(place);
    where = place->at;
    if (place_take_amount(place, limit->unit, &amount)) {
        return -1;
    }
    if (amount.unit != limit->unit && amount.unit != LIMIT_PLAIN) {
        return place_fail(place, amount.unit_at, EINVAL, "the unit of the level is expected: %s",
                          place_units[limit->unit]);
    }
    if (limit->condition == LIMIT_ABOVE && amount.value >= limit->amount) {
        return place_fail(place, where, ERANGE, "the hysteresis must be below the level");
    }
    limit->hysteresis = amount.value;
    return 0;
}

/* "for 10s", "hysteresis 20W", each once, in any order. */
static int take_rest(struct place *place, struct limit *limit)
{
    bool seen[2] = {false, false};

    for (;;) {
        bool hold;
        size_t length;

        place_skip_blanks(place);
        length = place_word_length(place, ":,");
        hold = word_is(place->at, length, "for");
        if (!hold && !word_is(place->at, length, "hysteresis")) {
            return 0;
        }
        if (limit_counts(limit) || seen[hold]) {
            return place_fail(place, place->at, EINVAL,
                              seen[hold] ? "'%.*s' is there already"
                                         : "'%.*s' needs a level, as in '> 600W'",
                              (int)length, place->at);
        }
        seen[hold] = true;
        place->at += length;
        if (hold ? take_hold(place, limit) : take_hysteresis(place, limit)) {
            return -1;
        }
    }
}

/* Keep what was read so far, without the blanks around it. */
static int keep_text(const struct place *place, struct limit *limit)
{
    const char *begin = place->text + strspn(place->text, " \t"), *end = place->at;

    while (end > begin && strchr(" \t", end[-1])) {
        end--;
    }
    if ((size_t)(end - begin) >= sizeof limit->text) {
        return place_fail(place, begin, ENAMETOOLONG, "this threshold is too long");
    }
    memcpy(limit->text, begin, (size_t)(end - begin));
    limit->text[end - begin] = '\0';
    return 0;
}

int limit_parse(const char *text, struct limit *limit, struct apapi_error *err)
{
    struct place place = {text, text, err};
    struct limit parsed = {.hold_ns = 0};

    if (take_meter(&place, &parsed) || take_condition(&place, &parsed) ||
        take_rest(&place, &parsed) || keep_text(&place, &parsed)) {
        return -1;
    }
    if (*place.at && *place.at != ':') {
        return place_fail(&place, place.at, EINVAL,
                          "':' and actions, or the end, are expected here");
    }
    parsed.actions = *place.at ? 0 : LIMIT_LOG;
    if (*place.at++ && take_actions(&place, &parsed)) {
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

    if (place_take_amount(place, LIMIT_ENERGY, &amount)) {
        return -1;
    }
    if (amount.unit != LIMIT_ENERGY) {
        return place_fail(place, amount.unit_at, EINVAL, "a budget is an energy: %s",
                          place_units[LIMIT_ENERGY]);
    }
    if (!(amount.value >= BUDGET_MIN_J && amount.value <= BUDGET_MAX_J)) {
        return place_fail(place, begin, ERANGE, "out of bounds: at least 1 mJ, at most %g GJ",
                          BUDGET_MAX_J / 1e9);
    }
    budget->amount = amount.value;
    snprintf(budget->text, sizeof budget->text, "%.*s", (int)(place->at - begin), begin);
    return 0;
}

static int budget_warn(struct place *place, struct limit *budget)
{
    const char *begin = place->at;
    struct amount amount;

    if (place_take_amount(place, LIMIT_PERCENT, &amount)) {
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
    budget->whole_job = place_take(place, "job");
    return budget->whole_job || place_take(place, "step")
               ? 0
               : place_fail(place, place->at, EINVAL, "expected step or job");
}

static int budget_action(struct place *place, struct limit *budget)
{
    bool key = place_take(place, "signal=");
    size_t length = place_word_length(place, ",");

    if (word_is(place->at, length, "term")) {
        budget->actions = LIMIT_TERM;
    } else if (key) {
        budget->actions = LIMIT_SIGNAL;
        return place_take_signal(place, &budget->signal);
    } else if (word_is(place->at, length, "log")) {
        budget->actions = LIMIT_LOG;
    } else {
        return place_fail(place, place->at, EINVAL, "expected term, log or signal=NAME");
    }
    place->at += length;
    return 0;
}

static const struct budget_word {
    const char *word;
    bool stays;    /* it is a part of what is parsed */
    unsigned kind; /* as a bit: one of each */
    int (*parse)(struct place *place, struct limit *budget);
} budget_words[] = {{"warn=", false, 1, budget_warn},
                    {"scope=", false, 2, budget_scope},
                    {"signal=", true, 4, budget_action},
                    {"term", true, 4, budget_action},
                    {"log", true, 4, budget_action}};

/* @param given  kinds of words that were there before */
static int budget_word(struct place *place, struct limit *budget, unsigned *given)
{
    const char *begin = place->at;

    for (const struct budget_word *one = budget_words; one < budget_words + COUNT_OF(budget_words);
         one++) {
        if (place_take(place, one->word)) {
            place->at = one->stays ? begin : place->at;
            if (*given & one->kind) {
                return place_fail(place, begin, EINVAL, "this is there already: one of each");
            }
            *given |= one->kind;
            return one->parse(place, budget);
        }
    }
    return place_fail(place, begin, EINVAL,
                      "expected warn=N%%, signal=NAME, term, log, scope=step or scope=job");
}

static const struct limit no_budget = {.meter = LIMIT_TOTAL_NAME,
                                       .scope = LIMIT_STEP,
                                       .condition = LIMIT_TOTAL,
                                       .unit = LIMIT_ENERGY,
                                       .actions = LIMIT_TERM,
                                       .budget = true};

int limit_parse_budget(const char *text, struct limit *limit, struct apapi_error *err)
{
    struct place place = {text, text, err};
    struct limit parsed = no_budget;
    unsigned given = 0;

    place_skip_blanks(&place);
    if (budget_amount(&place, &parsed)) {
        return -1;
    }
    for (place_skip_blanks(&place); *place.at; place_skip_blanks(&place)) {
        if (*place.at != ',') {
            return place_fail(&place, place.at, EINVAL, "',' or the end is expected here");
        }
        place.at++;
        place_skip_blanks(&place);
        if (budget_word(&place, &parsed, &given)) {
            return -1;
        }
    }
    *limit = parsed;
    return 0;
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
        size_t length = strcspn(lines, "\n");
        const struct place place = {lines, lines, err};

        if (length >= sizeof line) {
            return place_fail(&place, lines, ENAMETOOLONG, "this threshold is too long");
        }
        memcpy(line, lines, length);
        line[length] = '\0';
        if (line[strspn(line, " \t")] && limit_list_add(list, line, err)) {
            return -1;
        }
        lines += length;
    }
    return 0;
}

void limit_list_add_budget(struct limit_list *list, const struct limit *budget,
                           enum limit_scope scope)
{
    struct limit *added = &list->limits[list->count];

    if (list->count + 2 > LIMITS_ROOM) {
        return;
    }
    added[0] = *budget;
    added[0].scope = scope;
    added[0].whole_job |= scope == LIMIT_JOB;
    list->count++;
    if (budget->warn > 0) {
        added[1] = added[0];
        added[1].warning = true;
        added[1].amount *= budget->warn;
        added[1].actions = LIMIT_LOG;
        list->count++;
    }
}

void limit_describe(const struct limit *limit, char text[LIMIT_TEXT_SIZE])
{
    char part[32] = "";

    if (limit->warning) {
        snprintf(part, sizeof part, ", warn=%g%%", limit->warn * 100);
    }
    if (limit->budget) {
        snprintf(text, LIMIT_TEXT_SIZE, "budget of %.128s%s%s", limit->text,
                 limit->scope == LIMIT_JOB ? " of the job" : "", part);
    } else {
        snprintf(text, LIMIT_TEXT_SIZE, "%s", limit->text);
    }
}

/* --- after parsing ---------------------------------------------------------------------------- */

const char *limit_unit_name(const struct limit *limit)
{
    static const char *const names[] = {[LIMIT_PLAIN] = "",
                                        [LIMIT_ENERGY] = "J",
                                        [LIMIT_POWER] = "W",
                                        [LIMIT_TEMPERATURE] = "C",
                                        [LIMIT_PERCENT] = "%"};

    return names[limit->unit];
}

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
                 has_energy ? place_units[LIMIT_ENERGY] : "", has_energy ? ", or as a level " : "",
                 level == LIMIT_PLAIN ? "a number without a unit, in Hz" : place_units[level]);
        return limit_refuse(limit, LIMIT_UNIT, EINVAL, text, err);
    }
    return limit_counts(limit) && !has_energy
               ? limit_refuse(limit, LIMIT_AMOUNT, EINVAL,
                              "this event is a gauge, it has no total: a level (> or <)", err)
               : 0;
}

/* --- the limits of a site --------------------------------------------------------------------- */

/* A word of a list: [partition:|qos=NAME:]value. */
struct site_word {
    char text[128];
    const char *name; /* within `text`; "": for all */
    const char *value;
    bool qos; /* the name is one of a QOS */
};

/* The next word. `rest` is set to the text after it, NULL at the end. 0; -1: it is too long. */
static int site_take(const char **rest, struct site_word *word)
{
    const char *begin = *rest + strspn(*rest, " ");
    int length = (int)strcspn(begin, ",");
    char *colon;

    *rest = begin[length] ? begin + length + 1 : NULL;
    if (snprintf(word->text, sizeof word->text, "%.*s", length, begin) >= (int)sizeof word->text) {
        return -1;
    }
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

/* A value alone: an action, or an amount; "none", and what is no amount, is INFINITY. */
static int site_value(const char *value, bool action, struct limit *result, struct apapi_error *err)
{
    struct place place = {value, value, err};

    *result = no_budget;
    result->amount = INFINITY;
    if (!action && strcmp(value, "none") == 0) {
        return 0;
    }
    place_skip_blanks(&place);
    if (action ? budget_action(&place, result) : budget_amount(&place, result)) {
        return -1;
    }
    place_skip_blanks(&place);
    return *place.at ? place_fail(&place, place.at, EINVAL, "the end is expected here") : 0;
}

int limit_site_check(const char *list, bool actions, struct apapi_error *err)
{
    struct site_word word;
    struct limit value;

    for (size_t count = 0; list; count++) {
        if (site_take(&list, &word)) {
            return apapi_fail(err, EINVAL, "a word of more than %zu bytes", sizeof word.text - 1);
        }
        if (count > 0 && *word.name == '\0') {
            return apapi_fail(
                err, EINVAL, "'%.40s': the name of a partition or qos=NAME is missing", word.value);
        }
        if (site_value(word.value, actions, &value, err)) {
            if (err) { /* the caller names the line */
                err->text[strcspn(err->text, "\n")] = '\0';
            }
            return -1;
        }
    }
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
    struct site_word word;
    struct limit value;
    double most_j = 0;
    bool all = false;

    while (rest && site_take(&rest, &word) == 0) {
        site_value(word.value, false, &value, NULL);
        all |= *word.name == '\0';
        most_j = fmax(most_j, value.amount);
    }
    return all ? most_j : INFINITY;
}

/*
 * What a list says for the place: of the words that name its partition or QOS the strictest, or
 * that for all. `result` stays if it says nothing.
 */
static void site_apply(const char *list, const struct limit_place *place, bool actions,
                       struct limit *result)
{
    struct site_word word;
    struct limit value;
    bool any = false, named = false;

    while (list && site_take(&list, &word) == 0) {
        bool names = *word.name != '\0';

        if (names ? strcmp(word.name, word.qos ? place->qos : place->partition) != 0 : named) {
            continue;
        }
        site_value(word.value, actions, &value, NULL);
        if (!any || names > named ||
            (actions ? value.actions > result->actions : value.amount < result->amount)) {
            *result = value;
        }
        any = true;
        named |= names;
    }
}

bool limit_site_find(const struct limit_site *site, const struct limit_place *place, bool asked,
                     struct limit *budget)
{
    struct limit found = {.amount = INFINITY}, standard = found, action = no_budget;

    site_apply(site->max, place, false, &found);
    site_apply(asked ? NULL : site->standard, place, false, &standard);
    site_apply(site->action, place, true, &action);
    found = standard.amount < found.amount ? standard : found;
    if (isinf(found.amount)) {
        return false;
    }
    *budget = found;
    budget->actions = action.actions;
    budget->signal = action.signal;
    budget->warn = LIMIT_SITE_WARN;
    return true;
}
