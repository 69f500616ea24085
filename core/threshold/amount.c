/* SPDX-License-Identifier: BSD-3-Clause */
#include "threshold/amount.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/count_of.h"
#include "base/number.h"
#include "base/word.h"

static const struct unit {
    const char *name;
    enum threshold_unit unit;
    double factor;
} units[] = {
    {"J", THRESHOLD_ENERGY, 1},       {"mJ", THRESHOLD_ENERGY, 1e-3},
    {"kJ", THRESHOLD_ENERGY, 1e3},    {"MJ", THRESHOLD_ENERGY, 1e6},
    {"GJ", THRESHOLD_ENERGY, 1e9},    {"Wh", THRESHOLD_ENERGY, 3600},
    {"kWh", THRESHOLD_ENERGY, 3.6e6}, {"MWh", THRESHOLD_ENERGY, 3.6e9},
    {"W", THRESHOLD_POWER, 1},        {"mW", THRESHOLD_POWER, 1e-3},
    {"kW", THRESHOLD_POWER, 1e3},     {"MW", THRESHOLD_POWER, 1e6},
    {"°C", THRESHOLD_TEMPERATURE, 1}, {"C", THRESHOLD_TEMPERATURE, 1},
    {"%", THRESHOLD_PERCENT, 1},
};

const char *amount_units(enum threshold_unit unit)
{
    static const char *const names[] = {
        [THRESHOLD_PLAIN] = "J, kJ, MJ, Wh, kWh, W, kW, °C, C, %",
        [THRESHOLD_ENERGY] = "J, kJ, MJ, Wh, kWh, MWh",
        [THRESHOLD_POWER] = "W, kW, MW",
        [THRESHOLD_TEMPERATURE] = "°C, C",
        [THRESHOLD_PERCENT] = "%",
    };

    return names[unit];
}

static int amount_refuse_unit(const struct place *place, enum threshold_unit wanted, size_t length)
{
    for (size_t i = 0; i < COUNT_OF(units); i++) {
        if (length == strlen(units[i].name) && strncasecmp(place->at, units[i].name, length) == 0) {
            return place_fail(place, place->at, EINVAL, "unknown unit '%.*s': did you mean '%s'?",
                              (int)length, place->at, units[i].name);
        }
    }
    return place_fail(place, place->at, EINVAL, "unknown unit '%.*s': %s", (int)length, place->at,
                      amount_units(wanted));
}

/* The unit may follow a blank, but "for", "hysteresis" and an action are no units. */
static int amount_parse_unit(struct place *place, enum threshold_unit wanted, struct amount *amount)
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
        amount->unit = THRESHOLD_PLAIN;
        return 0;
    }
    return amount_refuse_unit(place, wanted, length);
}

static bool amount_begins(const char *text)
{
    return isdigit((unsigned char)text[0]) || (text[0] == '.' && isdigit((unsigned char)text[1]));
}

int amount_parse(struct place *place, enum threshold_unit wanted, struct amount *amount)
{
    struct real_number number;

    place_skip_blanks(place);
    if (*place->at == '-') {
        return place_fail(place, place->at, ERANGE, "a negative amount: a number above 0");
    }
    if (!amount_begins(place->at)) {
        return place_fail(place, place->at, EINVAL, "an amount is missing, such as 5kJ or 600W");
    }
    if (place->at[0] == '0' && tolower((unsigned char)place->at[1]) == 'x') {
        return place_fail(place, place->at, EINVAL, "not a decimal number");
    }
    if (real_number_parse(place->at, &number) || !isfinite(number.value)) {
        return place_fail(place, place->at, ERANGE, "this number is out of range");
    }
    amount->value = number.value;
    place->at = number.rest;
    return amount_parse_unit(place, wanted, amount);
}
