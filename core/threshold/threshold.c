/* SPDX-License-Identifier: BSD-3-Clause */
#include "threshold/threshold.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "apapi/interval.h"
#include "base/nearest.h"
#include "base/word.h"
#include "threshold/action.h"
#include "threshold/amount.h"
#include "threshold/place.h"

#define RESOLUTION_J 1e-6 /* no counter has a better one */
#define DURATION_SIZE 32

const char *threshold_unit_name(const struct threshold *threshold)
{
    static const char *const names[] = {[THRESHOLD_PLAIN] = "",
                                        [THRESHOLD_ENERGY] = "J",
                                        [THRESHOLD_POWER] = "W",
                                        [THRESHOLD_TEMPERATURE] = "C",
                                        [THRESHOLD_PERCENT] = "%"};

    return names[threshold->unit];
}

bool threshold_is_of_event(const struct threshold *threshold)
{
    return strstr(threshold->meter, ":::") != NULL;
}

int threshold_refuse(const struct threshold *threshold, enum threshold_part part, int code,
                     const char *what, struct apapi_error *err)
{
    const size_t offsets[] = {[THRESHOLD_METER] = 0,
                              [THRESHOLD_AMOUNT] = threshold->amount_at,
                              [THRESHOLD_UNIT] = threshold->unit_at};
    const struct place place = {.text = threshold->text, .err = err};

    return place_fail(&place, threshold->text + offsets[part], code, "%s", what);
}

static int threshold_refuse_meter(const struct place *place, const char *meter, const char *where)
{
    struct nearest nearest;
    char meant[64];

    nearest_begin(&nearest, meter);
    nearest_offer(THRESHOLD_TOTAL_NAME, &nearest);
    for (int i = APAPI_DOMAIN_NONE + 1; i < APAPI_DOMAINS; i++) {
        nearest_offer(apapi_domain_name((enum apapi_domain)i), &nearest);
    }
    nearest_text(&nearest, meant, sizeof meant);
    return place_fail(place, where, EINVAL,
                      "not an event (component:::event), not total, and no domain: package, dram, "
                      "gpu, node ...%s",
                      meant);
}

static int threshold_take_meter(struct place *place, struct threshold *threshold)
{
    const char *begin;
    size_t length;

    place_skip_blanks(place);
    begin = place->at;
    length = place_word_length(place, "<>");
    if (length == 0) {
        return place_fail(place, begin, EINVAL,
                          "an event, a domain or total is missing, as in 'total >= 5kJ'");
    }
    if (length >= sizeof threshold->meter) {
        return place_fail(place, begin, ENAMETOOLONG, "this name is too long");
    }
    memcpy(threshold->meter, begin, length);
    threshold->meter[length] = '\0';
    place->at += length;
    if (!threshold_is_of_event(threshold) && strcmp(threshold->meter, THRESHOLD_TOTAL_NAME) != 0 &&
        apapi_domain_find(threshold->meter) == APAPI_DOMAIN_NONE) {
        return threshold_refuse_meter(place, threshold->meter, begin);
    }
    return 0;
}

/* ">", ">=", "<", "<=" or "every". */
struct relation {
    const char *at;
    char sign; /* '<', '>', 'e' */
    bool or_equal;
};

static int threshold_take_relation(struct place *place, struct relation *relation)
{
    place_skip_blanks(place);
    *relation = (struct relation){.at = place->at, .sign = *place->at};
    if (*place->at == '>' || *place->at == '<') {
        relation->or_equal = place->at[1] == '=';
        place->at += 1 + relation->or_equal;
        return 0;
    }
    if (word_is(place->at, place_word_length(place, "0123456789"), "every")) {
        place->at += strlen("every");
        return 0;
    }
    return place_fail(place, place->at, EINVAL, "a condition is expected here: >=, every, > or <");
}

static bool threshold_counts(const struct threshold *threshold)
{
    return threshold->condition == THRESHOLD_TOTAL || threshold->condition == THRESHOLD_EVERY;
}

static enum threshold_condition threshold_condition_of(const struct relation *relation,
                                                       enum threshold_unit unit)
{
    bool counts = unit == THRESHOLD_ENERGY || (unit == THRESHOLD_PLAIN && relation->or_equal);

    if (relation->sign == 'e') {
        return THRESHOLD_EVERY;
    }
    if (relation->sign == '<') {
        return THRESHOLD_BELOW;
    }
    return counts ? THRESHOLD_TOTAL : THRESHOLD_ABOVE;
}

/* A bare number of a domain, or of the total, is in J or W. */
static void threshold_complete_unit(struct threshold *threshold)
{
    if (threshold->unit == THRESHOLD_PLAIN && !threshold_is_of_event(threshold)) {
        threshold->unit = threshold_counts(threshold) ? THRESHOLD_ENERGY : THRESHOLD_POWER;
    }
}

static int threshold_check_unit(const struct place *place, const struct threshold *threshold,
                                const struct amount *amount)
{
    bool energy = threshold->unit == THRESHOLD_ENERGY;

    if (threshold->condition == THRESHOLD_EVERY && threshold->unit != THRESHOLD_PLAIN && !energy) {
        return place_fail(place, amount->unit_at, EINVAL, "'every' counts, so it needs %s",
                          amount_units(THRESHOLD_ENERGY));
    }
    if (threshold->condition == THRESHOLD_BELOW && energy) {
        return place_fail(place, amount->unit_at, EINVAL,
                          "energy only grows: >= or every with it, or a level in %s",
                          amount_units(THRESHOLD_POWER));
    }
    if (!threshold_is_of_event(threshold) && !energy && threshold->unit != THRESHOLD_POWER) {
        return place_fail(place, amount->unit_at, EINVAL, "'%s' has energy (%s) and power (%s)",
                          threshold->meter, amount_units(THRESHOLD_ENERGY),
                          amount_units(THRESHOLD_POWER));
    }
    return 0;
}

static int threshold_check_amount(const struct place *place, const struct threshold *threshold,
                                  const char *where)
{
    if (threshold->amount <= 0 &&
        (threshold_counts(threshold) || threshold->unit == THRESHOLD_POWER)) {
        return place_fail(place, where, ERANGE, "the amount must be above 0");
    }
    if (threshold->unit == THRESHOLD_ENERGY && threshold->amount < RESOLUTION_J) {
        return place_fail(place, where, ERANGE,
                          "below the resolution of any counter: at least 0.000001 J");
    }
    return 0;
}

/* In the text that is kept, which begins at the meter. */
static size_t threshold_offset(const struct place *place, const char *at)
{
    return (size_t)(at - place->text) - strspn(place->text, " \t");
}

static int threshold_take_condition(struct place *place, struct threshold *threshold)
{
    struct relation relation;
    struct amount amount;
    const char *where;

    if (threshold_take_relation(place, &relation)) {
        return -1;
    }
    place_skip_blanks(place);
    where = place->at;
    if (amount_parse(place, relation.sign == 'e' ? THRESHOLD_ENERGY : THRESHOLD_PLAIN, &amount)) {
        return -1;
    }
    threshold->amount_at = threshold_offset(place, where);
    threshold->unit_at = threshold_offset(place, amount.unit_at);
    threshold->amount = amount.value;
    threshold->unit = amount.unit;
    threshold->condition = threshold_condition_of(&relation, amount.unit);
    threshold_complete_unit(threshold);
    return threshold_check_unit(place, threshold, &amount)
               ? -1
               : threshold_check_amount(place, threshold, where);
}

static int threshold_take_hold(struct place *place, struct threshold *threshold)
{
    char word[DURATION_SIZE];
    size_t length;

    place_skip_blanks(place);
    length = place_word_length(place, ",:");
    snprintf(word, sizeof word, "%.*s", (int)length, place->at);
    if (length >= sizeof word || word[strspn(word, "0123456789")] == '\0' ||
        apapi_duration_parse(word, &threshold->hold_ns, NULL)) {
        return place_fail(place, place->at, EINVAL,
                          "a duration is expected here: a number with ms, s, m or h");
    }
    place->at += length;
    return 0;
}

static int threshold_take_hysteresis(struct place *place, struct threshold *threshold)
{
    struct amount amount;
    const char *where;

    place_skip_blanks(place);
    where = place->at;
    if (amount_parse(place, threshold->unit, &amount)) {
        return -1;
    }
    if (amount.unit != threshold->unit && amount.unit != THRESHOLD_PLAIN) {
        return place_fail(place, amount.unit_at, EINVAL, "the unit of the level is expected: %s",
                          amount_units(threshold->unit));
    }
    if (threshold->condition == THRESHOLD_ABOVE && amount.value >= threshold->amount) {
        return place_fail(place, where, ERANGE, "the hysteresis must be below the level");
    }
    threshold->hysteresis = amount.value;
    return 0;
}

/* "for 10s", "hysteresis 20W", each once, in any order. */
static int threshold_take_rest(struct place *place, struct threshold *threshold)
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
        if (threshold_counts(threshold) || seen[hold]) {
            return place_fail(place, place->at, EINVAL,
                              seen[hold] ? "'%.*s' is there already"
                                         : "'%.*s' needs a level, as in '> 600W'",
                              (int)length, place->at);
        }
        seen[hold] = true;
        place->at += length;
        if (hold ? threshold_take_hold(place, threshold)
                 : threshold_take_hysteresis(place, threshold)) {
            return -1;
        }
    }
}

/* Keep what was read so far, without the blanks around it. */
static int threshold_keep_text(const struct place *place, struct threshold *threshold)
{
    const char *begin = place->text + strspn(place->text, " \t"), *end = place->at;

    while (end > begin && strchr(" \t", end[-1])) {
        end--;
    }
    if ((size_t)(end - begin) >= sizeof threshold->text) {
        return place_fail(place, begin, ENAMETOOLONG, "this threshold is too long");
    }
    memcpy(threshold->text, begin, (size_t)(end - begin));
    threshold->text[end - begin] = '\0';
    return 0;
}

int threshold_parse(const char *text, struct threshold *threshold, struct apapi_error *err)
{
    struct place place = {text, text, err};
    struct threshold parsed = {.hold_ns = 0};

    if (threshold_take_meter(&place, &parsed) || threshold_take_condition(&place, &parsed) ||
        threshold_take_rest(&place, &parsed) || threshold_keep_text(&place, &parsed)) {
        return -1;
    }
    if (*place.at == '\0') {
        parsed.actions = THRESHOLD_LOG;
    } else if (*place.at != ':') {
        return place_fail(&place, place.at, EINVAL,
                          "':' and actions, or the end, are expected here");
    } else {
        place.at++;
        if (action_parse(&place, &parsed)) {
            return -1;
        }
    }
    *threshold = parsed;
    return 0;
}
