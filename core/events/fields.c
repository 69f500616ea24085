/* SPDX-License-Identifier: BSD-3-Clause */
#include "events/fields.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "base/lines.h"
#include "base/text.h"

#define FIELDS_LEAST 11
#define FIELDS_MOST 13

#define OPERATIONS                                                                                 \
    "APAPI_OP1_NOP, APAPI_OP1_SAMPLE_DIFF, APAPI_OP1_DIV_DIFF_TIME, "                              \
    "APAPI_OP1_SAMPLE1_MUL_DIFF_TIME or APAPI_OP1_AVG_SAMPLE_MUL_DIFF_TIME"

/* A field of the line being parsed, and where its problems are reported. */
struct field {
    struct problems *problems;
    const struct event_line *line;
    const char *title;
    char *text;
};

typedef int (*field_parse_f)(const struct field *field, struct apapi_definition *definition);

static int expected(const struct field *field, const char *what)
{
    problems_error(field->problems, field->line, field->text, "%s: expected %s, found %s",
                   field->title, what, quote(field->text).text);
    return -1;
}

static int parse_event_name(const struct field *field, struct apapi_definition *definition)
{
    definition->name = field->text;
    return *field->text ? 0 : expected(field, "the name of an event");
}

static int parse_operation(const struct field *field, struct apapi_definition *definition)
{
    for (int i = APAPI_OP1_NOP; i <= APAPI_OP1_AVG_SAMPLE_MUL_DIFF_TIME; i++) {
        if (strcmp(field->text, apapi_operation_name((enum apapi_operation)i)) == 0) {
            definition->operation = (enum apapi_operation)i;
            return 0;
        }
    }
    return expected(field, OPERATIONS);
}

static const struct stat_word {
    const char *word;
    unsigned stats;
} stat_words[] = {
    {"APAPI_STAT_NO", APAPI_STAT_NO},   {"APAPI_STAT_MIN", APAPI_STAT_MIN},
    {"APAPI_STAT_MAX", APAPI_STAT_MAX}, {"APAPI_STAT_AVG", APAPI_STAT_AVG},
    {"APAPI_STAT_ACC", APAPI_STAT_ACC}, {"APAPI_STAT_ALL", APAPI_STAT_ALL},
};

static const struct stat_word *find_stat(const char *word, size_t length)
{
    for (size_t i = 0; i < COUNT_OF(stat_words); i++) {
        if (strlen(stat_words[i].word) == length &&
            strncmp(stat_words[i].word, word, length) == 0) {
            return &stat_words[i];
        }
    }
    return NULL;
}

/* Words separated by '|' and optional blanks; a trailing '|' is allowed. */
static int parse_stats(const struct field *field, unsigned *stats)
{
    const char *rest = field->text;
    unsigned sum = 0;

    do {
        size_t length;
        const struct stat_word *word;

        rest += strspn(rest, " \t");
        length = strcspn(rest, "| \t");
        word = find_stat(rest, length);
        rest += length + strspn(rest + length, " \t");
        if (!word || (*rest != '|' && *rest != '\0')) {
            return expected(field, "APAPI_STAT_NO, _MIN, _MAX, _AVG, _ACC or _ALL, or several of "
                                   "them joined by '|'");
        }
        sum |= word->stats;
        rest += *rest == '|';
    } while (*rest);
    *stats = sum;
    return 0;
}

static int parse_stats0(const struct field *field, struct apapi_definition *definition)
{
    return parse_stats(field, &definition->values[0].stats);
}

static int parse_stats1(const struct field *field, struct apapi_definition *definition)
{
    return parse_stats(field, &definition->values[1].stats);
}

/* The original uses the number at the beginning and ignores the rest. So does this, and warns. */
static void warn_of_rest(const struct field *field, const char *rest)
{
    if (*rest) {
        problems_warn(field->problems, field->line, rest,
                      "%s: %s behind the number %.*s is ignored", field->title, quote(rest).text,
                      rest - field->text < 40 ? (int)(rest - field->text) : 40, field->text);
    }
}

static int parse_maximum(const struct field *field, struct apapi_definition *definition)
{
    struct whole_number number;

    if (strcmp(field->text, "auto") == 0) {
        return 0;
    }
    if (whole_number_parse(field->text, &number)) {
        return expected(field, errno == ERANGE ? "a number of at most 64 bits"
                                               : "a whole number or 'auto'");
    }
    warn_of_rest(field, number.rest);
    definition->raw_units = true;
    definition->range_max = number.value;
    definition->accumulates = number.negative || number.value > 0;
    return 0;
}

/* Bytes that are not text would get into reports. */
static const char *events_fields_parse_words(const struct field *field)
{
    if (event_text_make_printable(field->text)) {
        problems_warn(field->problems, field->line, field->text,
                      "%s: a character that is not printable UTF-8 is shown as '?'", field->title);
    }
    return field->text;
}

static int parse_type0(const struct field *field, struct apapi_definition *definition)
{
    definition->values[0].type = events_fields_parse_words(field);
    return 0;
}

static int parse_unit0(const struct field *field, struct apapi_definition *definition)
{
    definition->values[0].unit = events_fields_parse_words(field);
    return 0;
}

static int parse_type1(const struct field *field, struct apapi_definition *definition)
{
    definition->values[1].type = events_fields_parse_words(field);
    return 0;
}

static int parse_unit1(const struct field *field, struct apapi_definition *definition)
{
    definition->values[1].unit = events_fields_parse_words(field);
    return 0;
}

static int parse_factor(const struct field *field, struct apapi_value_definition *value)
{
    struct real_number number;

    if (real_number_parse(field->text, &number)) {
        return expected(field, errno == ERANGE ? "a number that a double can hold" : "a number");
    }
    warn_of_rest(field, number.rest);
    value->factor = isfinite(number.value) && number.value != 0 ? number.value : NAN;
    if (isnan(value->factor) && value->stats != APAPI_STAT_NO) {
        problems_warn(field->problems, field->line, field->text,
                      "%s: nothing can be divided by %s, the value will be missing", field->title,
                      quote(field->text).text);
    }
    return 0;
}

static int parse_factor0(const struct field *field, struct apapi_definition *definition)
{
    return parse_factor(field, &definition->values[0]);
}

static int parse_factor1(const struct field *field, struct apapi_definition *definition)
{
    return parse_factor(field, &definition->values[1]);
}

static int parse_kind(const struct field *field, struct apapi_definition *definition)
{
    if (strcmp(field->text, "-") == 0) {
        return 0;
    }
    for (int i = 0; i < APAPI_KINDS; i++) {
        if (strcmp(field->text, apapi_kind_name((enum apapi_kind)i)) == 0) {
            definition->kind = (enum apapi_kind)i;
            definition->has_kind = true;
            return 0;
        }
    }
    return expected(field, "energy, power, temperature, frequency, utilization, count or -");
}

static int parse_domain(const struct field *field, struct apapi_definition *definition)
{
    enum apapi_domain domain = apapi_domain_find(field->text);

    if (strcmp(field->text, "-") == 0) {
        return 0;
    }
    if (domain == APAPI_DOMAIN_NONE && strcmp(field->text, "none") != 0) {
        return expected(field, "package, dram, gpu, core, uncore, psys, node, none or -");
    }
    definition->domain = domain;
    definition->has_domain = true;
    return 0;
}

static const struct {
    const char *title;
    field_parse_f parse;
} fields[FIELDS_MOST] = {
    {"field 1 (event)", parse_event_name},
    {"field 2 (operation)", parse_operation},
    {"field 3 (statistics of value0)", parse_stats0},
    {"field 4 (statistics of value1)", parse_stats1},
    {"field 5 (maximum)", parse_maximum},
    {"field 6 (type of value0)", parse_type0},
    {"field 7 (unit of value0)", parse_unit0},
    {"field 8 (factor of value0)", parse_factor0},
    {"field 9 (type of value1)", parse_type1},
    {"field 10 (unit of value1)", parse_unit1},
    {"field 11 (factor of value1)", parse_factor1},
    {"field 12 (kind)", parse_kind},
    {"field 13 (domain)", parse_domain},
};

static size_t count_fields(const char *text)
{
    size_t count = 1;

    for (; *text; text++) {
        count += *text == ',';
    }
    return count;
}

static int parse_field(struct field *field, size_t index, struct apapi_definition *definition)
{
    field->title = fields[index].title;
    if (*field->text == '\0') {
        problems_error(field->problems, field->line, field->text,
                       "%s: expected a text, found nothing", field->title);
        return -1;
    }
    field->text = event_text_trim(field->text);
    return fields[index].parse(field, definition);
}

int event_fields_parse(struct problems *problems, const struct event_line *line,
                       struct apapi_definition *definition)
{
    struct apapi_definition parsed = {.line = line->number};
    size_t count = count_fields(line->text);
    char *rest = line->text;
    int result = 0;

    if (count < FIELDS_LEAST || count > FIELDS_MOST) {
        problems_error(problems, line, line->text,
                       "expected %d to %d fields separated by commas, found %zu in %s",
                       FIELDS_LEAST, FIELDS_MOST, count, quote(line->text).text);
        return -1;
    }
    for (size_t i = 0; i < count; i++) {
        struct field field = {.problems = problems, .line = line};

        field.text = strsep(&rest, ",");
        result |= parse_field(&field, i, &parsed);
    }
    if (result == 0) {
        *definition = parsed;
    }
    return result;
}
