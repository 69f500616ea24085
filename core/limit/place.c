/* SPDX-License-Identifier: BSD-3-Clause */
#include "limit/place.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/text.h"

#define BEFORE_MAX 44 /* bytes shown before a place */
#define AROUND_MAX 60 /* bytes shown in all */

void place_skip_blanks(struct place *place)
{
    place->at += strspn(place->at, " \t");
}

size_t place_word_length(const struct place *place, const char *ends)
{
    size_t length = 0;

    while (place->at[length] && !strchr(" \t", place->at[length]) &&
           !strchr(ends, place->at[length])) {
        length++;
    }
    return length;
}

bool place_take(struct place *place, const char *word)
{
    bool there = strncmp(place->at, word, strlen(word)) == 0;

    place->at += there ? strlen(word) : 0;
    return there;
}

/* Not the first byte of a character. */
static bool is_inside(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

int place_fail(const struct place *place, const char *where, int code, const char *format, ...)
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

/* --- amounts ---------------------------------------------------------------------------------- */

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

const char *const place_units[] = {
    [LIMIT_PLAIN] = "J, kJ, MJ, Wh, kWh, W, kW, °C, C, %",
    [LIMIT_ENERGY] = "J, kJ, MJ, Wh, kWh, MWh",
    [LIMIT_POWER] = "W, kW, MW",
    [LIMIT_TEMPERATURE] = "°C, C",
    [LIMIT_PERCENT] = "%",
};

/* The unit may follow a blank, but "for", "hysteresis" and an action are no units. */
static int take_unit(struct place *place, enum limit_unit wanted, struct amount *amount)
{
    const char *after = place->at;
    size_t length;

    place_skip_blanks(place);
    amount->unit_at = place->at;
    length = place_word_length(place, ",:<>=");
    for (size_t i = 0; i < COUNT_OF(units); i++) {
        if (word_is(place->at, length, units[i].name)) {
            amount->unit = units[i].unit;
            amount->value *= units[i].factor;
            place->at += length;
            return 0;
        }
    }
    if (length == 0 || word_is(place->at, length, "for") ||
        word_is(place->at, length, "hysteresis")) {
        place->at = amount->unit_at = after;
        amount->unit = LIMIT_PLAIN;
        return 0;
    }
    for (size_t i = 0; i < COUNT_OF(units); i++) {
        if (length == strlen(units[i].name) && strncasecmp(place->at, units[i].name, length) == 0) {
            return place_fail(place, place->at, EINVAL, "unknown unit '%.*s': did you mean '%s'?",
                              (int)length, place->at, units[i].name);
        }
    }
    return place_fail(place, place->at, EINVAL, "unknown unit '%.*s': %s", (int)length, place->at,
                      place_units[wanted]);
}

int place_take_amount(struct place *place, enum limit_unit wanted, struct amount *amount)
{
    struct real_number number;
    const char *at;

    place_skip_blanks(place);
    at = place->at;
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

int place_take_signal(struct place *place, int *number)
{
    size_t length = place_word_length(place, ",@");
    size_t prefix = length > 3 && strncmp(place->at, "SIG", 3) == 0 ? 3 : 0;

    for (size_t i = 0; i < COUNT_OF(signals); i++) {
        if (word_is(place->at + prefix, length - prefix, signals[i].name)) {
            *number = signals[i].number;
            place->at += length;
            return 0;
        }
    }
    return place_fail(place, place->at, EINVAL,
                      "unknown signal: USR1, USR2, TERM, INT, HUP, QUIT, ALRM, CONT, STOP, TSTP, "
                      "URG, WINCH, KILL");
}
