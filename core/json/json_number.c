/* SPDX-License-Identifier: BSD-3-Clause */
#include "json/json_number.h"

#include <errno.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>

struct decimal {
    const char *begin;
    bool negative;
    size_t count;    /* of digits */
    uint64_t digits; /* correct if there are at most DIGITS_MAX */
    int exponent;
};

#define DIGITS_MAX 19
#define INTEGER_DIGITS_MAX 18
#define EXPONENT_MAX 1000000 /* a greater exponent changes nothing */

static size_t take_digits(struct parser *parser, struct decimal *number)
{
    uint64_t digits = number->digits;
    char *at = parser->at;
    size_t count;

    for (; *at >= '0' && *at <= '9'; at++) {
        digits = digits * 10 + (uint64_t)(*at - '0');
    }
    count = (size_t)(at - parser->at);
    number->digits = digits;
    number->count += count;
    parser->at = at;
    return count;
}

static bool take_integer(struct parser *parser, const struct decimal *number,
                         struct tree_node *node)
{
    int64_t value = (int64_t)number->digits;

    if (number->count > INTEGER_DIGITS_MAX) {
        errno = 0;
        value = strtoll(number->begin, NULL, 10);
        if (errno) {
            return parser_fail(parser, "a whole number of more than 64 bits");
        }
    } else if (number->negative) {
        value = -value;
    }
    *node = (struct tree_node){.integer = value, .type = TREE_INTEGER, .span = 1};
    return true;
}

/* Each part needs at least one digit. */
static bool take_exponent(struct parser *parser, struct decimal *number)
{
    int exponent = 0, sign = 1;

    parser->at++;
    if (*parser->at == '-' || *parser->at == '+') {
        sign = *parser->at++ == '-' ? -1 : 1;
    }
    if (*parser->at < '0' || *parser->at > '9') {
        return parser_fail(parser, "a digit is expected");
    }
    for (; *parser->at >= '0' && *parser->at <= '9'; parser->at++) {
        exponent = exponent < EXPONENT_MAX ? exponent * 10 + (*parser->at - '0') : exponent;
    }
    number->exponent += sign * exponent;
    return true;
}

/*
 * Digits and power are exact doubles, so their product or quotient is rounded only once: to the
 * nearest double. (Clinger, How to read floating point numbers accurately, 1990.)
 */
static bool is_exact(const struct decimal *number)
{
    return FLT_EVAL_METHOD == 0 && number->count <= DIGITS_MAX && number->digits <= 1ULL << 53 &&
           number->exponent >= -22 && number->exponent <= 22;
}

static double exact(const struct decimal *number)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    double digits = (double)number->digits;
    double value = number->exponent < 0 ? digits / powers[-number->exponent]
                                        : digits * powers[number->exponent];

    return number->negative ? -value : value;
}

/* The decimal point does not depend on the locale. */
static bool take_inexact(struct parser *parser, const struct decimal *number, double *value)
{
    locale_t locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);

    if (!locale) {
        return parser_fail(parser, parser_no_memory);
    }
    *value = strtod_l(number->begin, NULL, locale);
    freelocale(locale);
    return isfinite(*value) || parser_fail(parser, "real number overflow");
}

static bool take_real(struct parser *parser, struct decimal *number, struct tree_node *node)
{
    double value = 0;

    if (*parser->at == '.') {
        size_t before = number->count;

        parser->at++;
        if (take_digits(parser, number) == 0) {
            return parser_fail(parser, "a digit is expected");
        }
        number->exponent = -(int)(number->count - before);
    }
    if ((*parser->at | 0x20) == 'e' && !take_exponent(parser, number)) {
        return false;
    }
    if (is_exact(number)) {
        value = exact(number);
    } else if (!take_inexact(parser, number, &value)) {
        return false;
    }
    *node = (struct tree_node){.real = value, .type = TREE_REAL, .span = 1};
    return true;
}

bool parser_number(struct parser *parser, struct tree_node *node)
{
    struct decimal number = {.begin = parser->at, .negative = *parser->at == '-'};

    parser->at += number.negative;
    if (*parser->at == '0') { /* no digit may follow */
        parser->at++;
        number.count = 1;
    } else if (take_digits(parser, &number) == 0) {
        return parser_fail(parser, "a digit is expected");
    }
    if (*parser->at == '.' || (*parser->at | 0x20) == 'e') {
        return take_real(parser, &number, node);
    }
    return take_integer(parser, &number, node);
}
