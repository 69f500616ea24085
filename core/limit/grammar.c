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

#define RESOLUTION_J 1e-6 /* no counter has a finer resolution */
#define BUDGET_MIN_J 1e-3
#define BUDGET_MAX_J 1e15 /* a machine of 30 MW draws it in a year */

/* --- reading a text --------------------------------------------------------------------------- */

#define BLANKS " \t"
#define BEFORE_MAX 44 /* bytes shown before the caret */
#define AROUND_MAX 60 /* bytes shown in all */

/* A text that is being parsed. After a mistake, parsing goes on, but its results do not matter. */
struct parse {
    const char *text; /* from its beginning */
    const char *at;   /* next byte to parse */
    struct limit *limit;
    struct apapi_error *err;
    int code;       /* errno of the first mistake; 0: none so far */
    unsigned given; /* kinds of the words so far, as bits */
};

static void skip_blanks(struct parse *parse)
{
    parse->at += strspn(parse->at, BLANKS);
}

/* @return whether a byte is not the first one of a UTF-8 character. */
static bool is_inside(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

/* Report the mistake, the text (if it is long, the part around `where`), and a caret below. */
static void mark(const struct parse *parse, const char *where, const char *message)
{
    const char *from = where - parse->text > BEFORE_MAX ? where - BEFORE_MAX : parse->text;
    size_t length;
    int column = 0;

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
    apapi_fail(parse->err, parse->code, "%s\n  %.*s\n  %*s^", message, (int)length, from, column,
               "");
}

/* Note a mistake if `is_so` is false. Only the first mistake is reported. */
static void __attribute__((format(printf, 5, 6)))
need(struct parse *parse, bool is_so, const char *where, int code, const char *format, ...)
{
    char message[140];
    va_list arguments;

    if (!is_so && parse->code == 0) {
        va_start(arguments, format);
        vsnprintf(message, sizeof message, format, arguments);
        va_end(arguments);
        parse->code = code;
        mark(parse, where, message);
    }
}

static int parse_end(const struct parse *parse)
{
    errno = parse->code ? parse->code : errno;
    return parse->code ? -1 : 0;
}

/* Copy what was read since `begin`, without the blanks around it. */
static void keep(struct parse *parse, const char *begin, char *kept, size_t size,
                 const char *too_long)
{
    size_t length;

    begin += strspn(begin, BLANKS);
    length = parse->at > begin ? (size_t)(parse->at - begin) : 0;
    while (length > 0 && strchr(BLANKS, begin[length - 1])) {
        length--;
    }
    need(parse, length < size, begin, ENAMETOOLONG, "%s", too_long);
    snprintf(kept, size, "%.*s", (int)length, begin);
}

/* The words that a list may have: after a level, of actions, of a budget. */
struct words {
    const struct word {
        const char *word;                  /* with its '=', if a value follows */
        unsigned kind;                     /* a bit: a list has at most one word of each kind */
        unsigned action;                   /* the action that it asks for, enum limit_action */
        void (*take)(struct parse *parse); /* parses the value; NULL: there is none */
    } * first;
    size_t count;
    const char *unknown, *twice; /* messages */
};

static void take_word(struct parse *parse, const struct words *words)
{
    struct limit *limit = parse->limit;
    const struct word *found = NULL;
    const char *begin = parse->at;
    size_t length = strcspn(begin, BLANKS ",=:");

    length += begin[length] == '=';
    for (size_t i = 0; i < words->count; i++) {
        found = word_is(begin, length, words->first[i].word) ? &words->first[i] : found;
    }
    need(parse, found, begin, EINVAL, "%s", words->unknown);
    if (!found) {
        return;
    }
    need(parse, !(parse->given & found->kind), begin, EINVAL, "%s", words->twice);
    parse->given |= found->kind;
    limit->actions |= found->action;
    parse->at += length;
    if (found->take) {
        found->take(parse);
    }
    need(parse,
         !((limit->actions & LIMIT_TERM) && (limit->actions & LIMIT_SIGNAL)) ||
             (limit->signal != SIGTERM && limit->signal != SIGKILL),
         begin, EINVAL, "term sends SIGTERM and SIGKILL itself");
}

/* Parse the rest of the text after the current character: words with commas between them. */
static void take_words(struct parse *parse, const struct words *words)
{
    parse->given = 0;
    do {
        parse->at++;
        skip_blanks(parse);
        take_word(parse, words);
        skip_blanks(parse);
    } while (*parse->at == ',');
    need(parse, !*parse->at, parse->at, EINVAL, "',' or the end is expected here");
}

/* --- amounts ---------------------------------------------------------------------------------- */

/* A number with its unit. */
struct amount {
    double value; /* [J], [W], [C], [%], or plain */
    enum limit_unit unit;
    const char *at, *unit_at; /* where the number is, and where the unit is or would be */
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

#define ENERGY_UNITS "J, mJ, kJ, MJ, GJ, Wh, kWh, MWh"
#define POWER_UNITS "W, mW, kW, MW"

static const struct {
    const char *name, *valid, *example;
} unit_names[] = {
    [LIMIT_PLAIN] = {NULL, ENERGY_UNITS ", " POWER_UNITS ", °C, C, %", "5kJ or 600W"},
    [LIMIT_ENERGY] = {"J", ENERGY_UNITS, "5kJ"},
    [LIMIT_POWER] = {"W", POWER_UNITS, "600W"},
    [LIMIT_TEMPERATURE] = {"C", "°C, C", "80C"},
    [LIMIT_PERCENT] = {"%", "%", "80%"},
};

const char *limit_unit_name(const struct limit *limit)
{
    return unit_names[limit->unit].name;
}

/* Parse a unit, which may follow a blank; "for", "hysteresis" and an action are no units. */
static void take_unit(struct parse *parse, enum limit_unit wanted, struct amount *amount)
{
    const char *after = parse->at, *similar = NULL;
    size_t length;

    skip_blanks(parse);
    amount->unit_at = parse->at;
    length = strcspn(parse->at, BLANKS ",:<>=");
    for (size_t i = 0; i < COUNT_OF(units); i++) {
        if (word_is(parse->at, length, units[i].name)) {
            amount->unit = units[i].unit;
            amount->value *= units[i].factor;
            parse->at += length;
            return;
        }
        if (length == strlen(units[i].name) && strncasecmp(parse->at, units[i].name, length) == 0) {
            similar = units[i].name;
        }
    }
    need(parse,
         length == 0 || word_is(parse->at, length, "for") ||
             word_is(parse->at, length, "hysteresis"),
         parse->at, EINVAL, "unknown unit '%.*s': %s%s%s", (int)length, parse->at,
         similar ? "did you mean '" : "", similar ? similar : unit_names[wanted].valid,
         similar ? "'?" : "");
    parse->at = amount->unit_at = after;
}

/* Parse "5kJ", "600 W", "80°C", "3". @param wanted  for messages; LIMIT_PLAIN: all units */
static struct amount take_amount(struct parse *parse, enum limit_unit wanted)
{
    const char *at = parse->at += strspn(parse->at, BLANKS);
    struct real_number number = {.rest = at};
    bool parsed = real_number_parse(at, &number) == 0 && isfinite(number.value);
    struct amount amount = {.value = number.value, .at = at};

    need(parse, *at != '-', at, ERANGE, "a negative amount: a number above 0");
    need(parse, isdigit((unsigned char)at[*at == '.']), at, EINVAL,
         "an amount is missing, such as %s", unit_names[wanted].example);
    need(parse, at[0] != '0' || tolower((unsigned char)at[1]) != 'x', at, EINVAL,
         "not a decimal number");
    need(parse, parsed, at, ERANGE, "this number is out of range");
    parse->at = number.rest;
    take_unit(parse, wanted, &amount);
    return amount;
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

/* Parse "USR1" or "SIGUSR1". */
static void take_signal_name(struct parse *parse)
{
    const char *begin = parse->at;
    size_t length = strcspn(begin, BLANKS ",@");
    size_t prefix = length > 3 && strncmp(begin, "SIG", 3) == 0 ? 3 : 0;

    for (size_t i = 0; i < COUNT_OF(signals); i++) {
        if (word_is(begin + prefix, length - prefix, signals[i].name)) {
            parse->limit->signal = signals[i].number;
            parse->at = begin + length;
        }
    }
    need(parse, parse->at > begin, begin, EINVAL,
         "unknown signal: USR1, USR2, TERM, INT, HUP, QUIT, ALRM, CONT, STOP, TSTP, URG, WINCH, "
         "KILL");
}

/* --- actions ---------------------------------------------------------------------------------- */

const char *limit_first_signal(const struct limit *limit)
{
    return limit->actions & LIMIT_SIGNAL ? limit_signal_name(limit->signal)
           : limit->actions & LIMIT_TERM ? "TERM"
                                         : "";
}

static void take_signal(struct parse *parse)
{
    take_signal_name(parse);
    if (*parse->at == '@') {
        parse->at++;
        need(parse, word_is(parse->at, strcspn(parse->at, BLANKS ","), "step"), parse->at, EINVAL,
             "only @step can follow a signal");
        need(parse, parse->limit->scope != LIMIT_JOB, parse->at, EINVAL,
             "a signal at a job's limit is for all its steps");
        parse->limit->whole_step = true;
        parse->at += strcspn(parse->at, BLANKS ",");
    }
}

static void take_command(struct parse *parse)
{
    const char *begin = parse->at + strspn(parse->at, BLANKS);

    need(parse, *begin, begin, EINVAL, "a command is missing after exec=");
    parse->at += strlen(parse->at);
    keep(parse, begin, parse->limit->command, sizeof parse->limit->command,
         "the command is too long: at most 1023 bytes");
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

    text[0] = '\0';
    for (size_t i = 0; i < COUNT_OF(action_words); i++) {
        unsigned action = action_words[i].action;
        bool sends = action == LIMIT_SIGNAL;

        if (limit->actions & action) {
            text_append(text, size, ", ", "%.*s%s%s",
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

static bool is_every(const struct parse *parse)
{
    return word_is(parse->at, strcspn(parse->at, BLANKS "0123456789"), "every");
}

/* Parse a scope, if a quantity follows: in 'node > 600W', "node" is the domain, not the scope. */
static void take_scope(struct parse *parse)
{
    const char *begin = parse->at;
    size_t length = strcspn(begin, BLANKS "<>"), scope = 0;

    while (scope < COUNT_OF(scope_names) && !word_is(begin, length, scope_names[scope])) {
        scope++;
    }
    if (scope == COUNT_OF(scope_names)) {
        return;
    }
    parse->at += length;
    skip_blanks(parse);
    if (*parse->at && !strchr("<>=:", *parse->at) && !is_every(parse)) {
        parse->limit->scope = (enum limit_scope)scope;
        parse->limit->whole_job = scope == LIMIT_JOB;
    } else {
        need(parse, scope == LIMIT_NODE, parse->at, EINVAL,
             "a quantity is missing: '%s total >= 5kJ'", scope_names[scope]);
        parse->at = begin;
    }
}

/* Require an event, a domain or the total; the message names a domain that is similar. */
static void check_meter(struct parse *parse, const char *where)
{
    const struct limit *limit = parse->limit;
    const char *scope = scope_names[limit->scope];
    bool total = strcmp(limit->meter, LIMIT_TOTAL_NAME) == 0;
    struct nearest nearest;
    char meant[64];

    need(parse, total || limit->scope == LIMIT_NODE, where, EINVAL,
         "a %s knows what its nodes have used, '%s total >= 5kJ'; all else is known on each node",
         scope, scope);
    nearest_begin(&nearest, limit->meter);
    nearest_offer(LIMIT_TOTAL_NAME, &nearest);
    for (int i = APAPI_DOMAIN_NONE + 1; i < APAPI_DOMAINS; i++) {
        nearest_offer(apapi_domain_name((enum apapi_domain)i), &nearest);
    }
    nearest_text(&nearest, meant, sizeof meant);
    need(parse,
         total || limit_is_of_event(limit) || apapi_domain_find(limit->meter) != APAPI_DOMAIN_NONE,
         where, EINVAL,
         "not an event (component:::event), not total, and no domain: package, dram, gpu, node "
         "...%s",
         meant);
}

static void take_meter(struct parse *parse)
{
    struct limit *limit = parse->limit;
    const char *begin;

    skip_blanks(parse);
    take_scope(parse);
    begin = parse->at;
    parse->at += strcspn(begin, BLANKS "<>");
    need(parse, parse->at > begin, begin, EINVAL,
         "an event, a domain or total is missing, as in 'total >= 5kJ'");
    keep(parse, begin, limit->meter, sizeof limit->meter, "this name is too long");
    check_meter(parse, begin);
    limit->at[LIMIT_METER] = (size_t)(begin - parse->text);
}

/* --- conditions ------------------------------------------------------------------------------- */

static void check_amount(struct parse *parse, const struct amount *amount)
{
    const struct limit *limit = parse->limit;
    bool energy = limit->unit == LIMIT_ENERGY, power = limit->unit == LIMIT_POWER;
    const char *joules = unit_names[LIMIT_ENERGY].valid, *watts = unit_names[LIMIT_POWER].valid;

    need(parse, limit->condition != APAPI_OVERFLOW_EVERY || limit->unit == LIMIT_PLAIN || energy,
         amount->unit_at, EINVAL, "'every' counts, so it needs %s", joules);
    need(parse, limit->condition != APAPI_OVERFLOW_BELOW || !energy, amount->unit_at, EINVAL,
         "energy only grows: >= or every with it, or a level in %s", watts);
    need(parse, limit->scope == LIMIT_NODE || energy, amount->unit_at, EINVAL,
         "a %s adds up energy: %s; a power is known on each node", scope_names[limit->scope],
         joules);
    need(parse, limit_is_of_event(limit) || energy || power, amount->unit_at, EINVAL,
         "'%s' has energy (%s) and power (%s)", limit->meter, joules, watts);
    need(parse, limit->amount > 0 || !(limit_counts(limit->condition) || power), amount->at, ERANGE,
         "the amount must be above 0");
    need(parse, !energy || limit->amount >= RESOLUTION_J, amount->at, ERANGE,
         "below the resolution of any counter: at least 0.000001 J");
}

static void take_condition(struct parse *parse)
{
    struct limit *limit = parse->limit;
    bool every, or_equal;
    struct amount amount;
    char sign;

    skip_blanks(parse);
    every = is_every(parse);
    sign = *parse->at;
    need(parse, every || sign == '>' || sign == '<', parse->at, EINVAL,
         "a condition is expected here: >=, every, > or <");
    or_equal = sign && parse->at[1] == '=';
    parse->at += every ? strlen("every") : (size_t)(sign != '\0') + or_equal;
    amount = take_amount(parse, every ? LIMIT_ENERGY : LIMIT_PLAIN);
    limit->at[LIMIT_AMOUNT] = (size_t)(amount.at - parse->text);
    limit->at[LIMIT_UNIT] = (size_t)(amount.unit_at - parse->text);
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
    check_amount(parse, &amount);
}

static void take_hold(struct parse *parse)
{
    char word[32];
    size_t length;

    skip_blanks(parse);
    length = strcspn(parse->at, BLANKS ",:");
    snprintf(word, sizeof word, "%.*s", (int)length, parse->at);
    need(parse,
         length < sizeof word && word[strspn(word, "0123456789")] &&
             apapi_duration_parse(word, &parse->limit->hold_ns, NULL) == 0,
         parse->at, EINVAL, "a duration is expected here: a number with ms, s, m or h");
    parse->at += length;
}

static void take_hysteresis(struct parse *parse)
{
    struct limit *limit = parse->limit;
    const struct amount amount = take_amount(parse, limit->unit);

    need(parse, amount.unit == limit->unit || amount.unit == LIMIT_PLAIN, amount.unit_at, EINVAL,
         "the unit of the level is expected: %s", unit_names[limit->unit].valid);
    need(parse, limit->condition != APAPI_OVERFLOW_ABOVE || amount.value < limit->amount, amount.at,
         ERANGE, "the hysteresis must be below the level");
    limit->hysteresis = amount.value;
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
    const char *begin = text + strspn(text, BLANKS);
    struct limit parsed = {.actions = LIMIT_LOG};
    struct parse parse = {begin, begin, &parsed, err, 0, 0};

    take_meter(&parse);
    take_condition(&parse);
    for (skip_blanks(&parse); *parse.at && *parse.at != ':' && !parse.code; skip_blanks(&parse)) {
        take_word(&parse, limit_counts(parsed.condition) ? &of_total : &of_level);
    }
    keep(&parse, begin, parsed.text, sizeof parsed.text, "this threshold is too long");
    if (*parse.at == ':') {
        parsed.actions = 0;
        take_words(&parse, &actions);
    }
    *limit = parse.code ? *limit : parsed;
    return parse_end(&parse);
}

/* --- budgets ---------------------------------------------------------------------------------- */

static void take_budget(struct parse *parse)
{
    const struct amount amount = take_amount(parse, LIMIT_ENERGY);

    need(parse, amount.unit == LIMIT_ENERGY, amount.unit_at, EINVAL, "a budget is an energy: %s",
         unit_names[LIMIT_ENERGY].valid);
    need(parse, amount.value >= BUDGET_MIN_J && amount.value <= BUDGET_MAX_J, amount.at, ERANGE,
         "out of bounds: at least 1 mJ, at most %g GJ", BUDGET_MAX_J / 1e9);
    if (parse->code == 0) {
        *parse->limit = (struct limit){.meter = LIMIT_TOTAL_NAME,
                                       .scope = LIMIT_STEP,
                                       .condition = APAPI_OVERFLOW_TOTAL,
                                       .unit = LIMIT_ENERGY,
                                       .amount = amount.value,
                                       .budget = true};
        snprintf(parse->limit->text, sizeof parse->limit->text, "budget of %.*s",
                 (int)(parse->at - amount.at), amount.at);
    }
    skip_blanks(parse);
}

static void take_warn(struct parse *parse)
{
    const struct amount amount = take_amount(parse, LIMIT_PERCENT);

    need(parse, amount.unit == LIMIT_PERCENT && amount.value > 0 && amount.value < 100, amount.at,
         EINVAL, "expected a percentage below 100, such as 80%%");
    parse->limit->warn = amount.value / 100;
}

static void take_whom(struct parse *parse)
{
    size_t length = strcspn(parse->at, BLANKS ",");

    parse->limit->whole_job = word_is(parse->at, length, "job");
    need(parse, parse->limit->whole_job || word_is(parse->at, length, "step"), parse->at, EINVAL,
         "expected step or job");
    parse->at += length;
}

static const struct word budget_words[] = {{"warn=", 1, 0, take_warn},
                                           {"scope=", 2, 0, take_whom},
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
    struct limit parsed = {.warn = 0};
    struct parse parse = {text, text, &parsed, err, 0, 0};

    take_budget(&parse);
    need(&parse, !*parse.at || *parse.at == ',', parse.at, EINVAL,
         "',' or the end is expected here");
    if (*parse.at == ',') {
        take_words(&parse, &of_budget);
    }
    parsed.actions = parsed.actions ? parsed.actions : LIMIT_TERM;
    *limit = parse.code ? *limit : parsed;
    return parse_end(&parse);
}

int limit_parse_site(const char *value, bool action, struct limit *result, struct apapi_error *err)
{
    struct parse parse = {value, value + strspn(value, BLANKS), result, err, 0, 0};

    *result = (struct limit){.amount = INFINITY};
    if (action) {
        take_word(&parse, &of_site);
    } else if (strcmp(value, "none") == 0) {
        return 0;
    } else {
        take_budget(&parse);
    }
    skip_blanks(&parse);
    need(&parse, !*parse.at, parse.at, EINVAL, "the end is expected here");
    return parse_end(&parse);
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
    struct limit *next = &list->limits[list->count];
    struct parse parse = {text, text, next, err, 0, 0};

    need(&parse, list->count < LIMITS_MAX, text, E2BIG, "more than %d thresholds", LIMITS_MAX);
    if (parse.code || limit_parse(text, next, err)) {
        return -1;
    }
    for (size_t i = 0; i < list->count; i++) {
        need(&parse, !is_same(&list->limits[i], next), text, EEXIST,
             "this threshold is there already: give all its actions at once");
    }
    list->count += !parse.code;
    return parse_end(&parse);
}

int limit_list_parse(struct limit_list *list, const char *lines, struct apapi_error *err)
{
    char line[LIMIT_TEXT_SIZE + LIMIT_COMMAND_SIZE + 256];

    for (; *lines; lines += *lines == '\n') {
        struct parse parse = {lines, lines + strcspn(lines, "\n"), NULL, err, 0, 0};

        need(&parse, parse.at - lines < (ptrdiff_t)sizeof line, lines, ENAMETOOLONG,
             "this threshold is too long");
        snprintf(line, sizeof line, "%.*s", (int)(parse.at - lines), lines);
        if (parse.code || (line[strspn(line, BLANKS)] && limit_list_add(list, line, err))) {
            return -1;
        }
        lines = parse.at;
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
    struct limit parsed;
    int result = lines ? limit_list_parse(list, lines, err) : 0;

    list->count = result ? 0 : list->count;
    if (!budget || !*budget) {
        return result;
    }
    if (limit_parse_budget(budget, &parsed, result ? NULL : err)) {
        return -1;
    }
    limit_list_add_budget(list, &parsed, scope);
    return result;
}

/* --- after parsing ---------------------------------------------------------------------------- */

int limit_refuse(const struct limit *limit, enum limit_part part, int code, const char *what,
                 struct apapi_error *err)
{
    struct parse parse = {.text = limit->text, .err = err};

    need(&parse, false, limit->text + limit->at[part], code, "%s", what);
    return parse_end(&parse);
}

int limit_check_kind(const struct limit *limit, enum apapi_kind kind, struct apapi_error *err)
{
    struct parse parse = {.text = limit->text, .err = err};
    bool has_energy = kind == APAPI_KIND_ENERGY || kind == APAPI_KIND_POWER;
    bool any = kind == APAPI_KIND_COUNT; /* it may have any unit */
    enum limit_unit level = has_energy                       ? LIMIT_POWER
                            : kind == APAPI_KIND_TEMPERATURE ? LIMIT_TEMPERATURE
                            : kind == APAPI_KIND_UTILIZATION ? LIMIT_PERCENT
                                                             : LIMIT_PLAIN;

    need(&parse,
         any || limit->unit == LIMIT_PLAIN || limit->unit == level ||
             (limit->unit == LIMIT_ENERGY && has_energy),
         limit->text + limit->at[LIMIT_UNIT], EINVAL, "this event is of %s: %s%s%s",
         apapi_kind_name(kind), has_energy ? unit_names[LIMIT_ENERGY].valid : "",
         has_energy ? ", or as a level " : "",
         level == LIMIT_PLAIN ? "a number without a unit, in Hz" : unit_names[level].valid);
    need(&parse, any || has_energy || !limit_counts(limit->condition),
         limit->text + limit->at[LIMIT_AMOUNT], EINVAL,
         "this event is a gauge, it has no total: a level (> or <)");
    return parse_end(&parse);
}
