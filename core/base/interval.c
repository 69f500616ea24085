/* SPDX-License-Identifier: BSD-3-Clause */
#include "apapi/interval.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"

#define WORD_SIZE 128 /* bytes of one word of a list; a longer word is an error */

static const struct {
    const char *suffix;
    uint64_t ns;
} units[] = {
    {"ns", 1},         {"us", 1000},       {"ms", 1000000},
    {"s", 1000000000}, {"m", 60000000000}, {"h", 3600000000000},
};

static int bad_duration(struct apapi_error *err, const char *text)
{
    return apapi_fail(err, EINVAL,
                      "'%.60s' is not a duration: expected a number with ns, us, ms, s, m or h",
                      text);
}

int apapi_duration_parse(const char *text, uint64_t *duration_ns, struct apapi_error *err)
{
    uint64_t whole = 0, billionths = 0, unit;
    bool fraction = false;
    const char *rest = text;

    if (!text || !isdigit((unsigned char)*text)) {
        return bad_duration(err, text ? text : "");
    }
    rest = text_digits(text, UINT64_MAX, &whole);
    if (!rest) {
        return apapi_fail(err, ERANGE, "duration '%.60s' is too long", text);
    }
    if (*rest == '.' && isdigit((unsigned char)rest[1])) {
        fraction = true;
        rest = text_billionths(rest + 1, &billionths);
    }
    unit = *rest == '\0' && !fraction;
    if (unit && whole > 0 && whole < APAPI_INTERVAL_MIN_NS) {
        return apapi_fail(err, ERANGE, "a unit is missing in '%.60s': ms, s, m or h", text);
    }
    for (size_t i = 0; i < COUNT_OF(units); i++) {
        unit = strcmp(rest, units[i].suffix) == 0 ? units[i].ns : unit;
    }
    if (unit == 0) {
        return bad_duration(err, text);
    }
    if (whole > (UINT64_MAX - unit) / unit) {
        return apapi_fail(err, ERANGE, "duration '%.60s' is too long", text);
    }
    /* billionths < 1e9 and unit <= 3.6e12: the product fits */
    *duration_ns = whole * unit + billionths * (unit / 1000) / 1000000;
    return 0;
}

static int parse_interval(const char *word, uint64_t *interval_ns, struct apapi_error *err)
{
    if (apapi_duration_parse(word, interval_ns, err)) {
        return -1;
    }
    if (*interval_ns < APAPI_INTERVAL_MIN_NS || *interval_ns > APAPI_INTERVAL_MAX_NS) {
        return apapi_fail(err, ERANGE, "interval '%.60s' is out of bounds: 1ms to 1h", word);
    }
    return 0;
}

static int add_named(struct apapi_intervals *list, const char *component, const char *interval,
                     struct apapi_error *err)
{
    struct apapi_named_interval *entry = &list->named[list->count];

    if (list->count == APAPI_INTERVALS_MAX) {
        return apapi_fail(err, EINVAL, "more than %d components in the list of intervals",
                          APAPI_INTERVALS_MAX);
    }
    if (strlen(component) >= sizeof entry->component) {
        return apapi_fail(err, EINVAL, "component name '%.60s' is too long", component);
    }
    strcpy(entry->component, component);
    list->count++;
    return parse_interval(interval, &entry->interval_ns, err);
}

int apapi_intervals_parse(const char *text, struct apapi_intervals *list, struct apapi_error *err)
{
    struct apapi_intervals parsed = {.default_ns = APAPI_INTERVAL_DEFAULT_NS};
    char word[WORD_SIZE], component[WORD_SIZE] = ""; /* component: for the next word */

    if (!text || *text == '\0') {
        return apapi_fail(err, EINVAL, "the list of intervals is empty");
    }
    if (text[strlen(text) - 1] == ':') {
        return apapi_fail(err, EINVAL, "the list of intervals ends with ':'");
    }
    for (const char *rest = text, *at; rest;) {
        size_t length = text_word(&rest, ":", &at);

        if (length == 0 || length >= sizeof word) {
            return apapi_fail(err, EINVAL, "%s word in the list of intervals",
                              length ? "too long a" : "empty");
        }
        memcpy(word, at, length);
        word[length] = '\0';
        if (!*component && !isdigit((unsigned char)*word)) {
            strcpy(component, word);
            continue;
        }
        if (!*component && at != text) {
            return apapi_fail(err, EINVAL, "a component is missing before interval '%.60s'", word);
        }
        if (*component ? add_named(&parsed, component, word, err)
                       : parse_interval(word, &parsed.default_ns, err)) {
            return -1;
        }
        *component = '\0';
    }
    if (*component) {
        return apapi_fail(err, EINVAL, "an interval is missing after '%.60s'", component);
    }
    *list = parsed;
    return 0;
}

uint64_t apapi_intervals_get(const struct apapi_intervals *list, const char *component)
{
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->named[i].component, component) == 0) {
            return list->named[i].interval_ns;
        }
    }
    return list->default_ns;
}
