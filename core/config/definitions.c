/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/lines.h"
#include "base/text.h"
#include "config/definitions.h"
#include "config/event_files.h"

/* --- definitions ---------------------------------------------------------------------------- */

#define TOLERANCE 0.01

static const char *const operations[] = {
    [APAPI_OP1_NOP] = "APAPI_OP1_NOP",
    [APAPI_OP1_SAMPLE_DIFF] = "APAPI_OP1_SAMPLE_DIFF",
    [APAPI_OP1_DIV_DIFF_TIME] = "APAPI_OP1_DIV_DIFF_TIME",
    [APAPI_OP1_SAMPLE1_MUL_DIFF_TIME] = "APAPI_OP1_SAMPLE1_MUL_DIFF_TIME",
    [APAPI_OP1_AVG_SAMPLE_MUL_DIFF_TIME] = "APAPI_OP1_AVG_SAMPLE_MUL_DIFF_TIME",
};

const char *apapi_operation_name(enum apapi_operation operation)
{
    return (unsigned)operation < COUNT_OF(operations) ? operations[operation] : "?";
}

/* Units that definitions may have, and their size in the base unit of their kind. */
static const struct unit {
    const char *name;
    enum apapi_kind kind;
    const char *base;
    double size;
} units[] = {
    {"J", APAPI_KIND_ENERGY, "J", 1},         {"Ws", APAPI_KIND_ENERGY, "J", 1},
    {"kJ", APAPI_KIND_ENERGY, "J", 1e3},      {"MJ", APAPI_KIND_ENERGY, "J", 1e6},
    {"mJ", APAPI_KIND_ENERGY, "J", 1e-3},     {"uJ", APAPI_KIND_ENERGY, "J", 1e-6},
    {"nJ", APAPI_KIND_ENERGY, "J", 1e-9},     {"Wh", APAPI_KIND_ENERGY, "J", 3600},
    {"kWh", APAPI_KIND_ENERGY, "J", 3.6e6},   {"W", APAPI_KIND_POWER, "W", 1},
    {"kW", APAPI_KIND_POWER, "W", 1e3},       {"mW", APAPI_KIND_POWER, "W", 1e-3},
    {"uW", APAPI_KIND_POWER, "W", 1e-6},      {"C", APAPI_KIND_TEMPERATURE, "C", 1},
    {"°C", APAPI_KIND_TEMPERATURE, "C", 1},   {"Hz", APAPI_KIND_FREQUENCY, "Hz", 1},
    {"kHz", APAPI_KIND_FREQUENCY, "Hz", 1e3}, {"KHz", APAPI_KIND_FREQUENCY, "Hz", 1e3},
    {"MHz", APAPI_KIND_FREQUENCY, "Hz", 1e6}, {"GHz", APAPI_KIND_FREQUENCY, "Hz", 1e9},
    {"%", APAPI_KIND_UTILIZATION, "%", 1},
};

static const struct unit *definition_find_unit(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(units); i++) {
        if (strcmp(units[i].name, name) == 0) {
            return &units[i];
        }
    }
    return NULL;
}

/* @return one raw unit in the base unit, as the definition has it; NaN: the unit is not known. */
static double defined_scale(const struct apapi_definition *definition, const struct unit *unit,
                            int value)
{
    return unit ? unit->size / definition->values[value].factor : NAN;
}

static bool source_knows(const struct apapi_event *event)
{
    return event->kind != APAPI_KIND_COUNT;
}

static void complete_unit(const struct apapi_definition *definition, struct apapi_event *event)
{
    const struct unit *unit = definition_find_unit(definition->values[0].unit);
    double scale = defined_scale(definition, unit, 0);

    event->accumulates = definition->accumulates;
    event->range_max = definition->accumulates ? definition->range_max : 0;
    if (unit && isfinite(scale) && scale > 0) {
        event->scale = scale;
        event->kind = unit->kind;
        snprintf(event->unit, sizeof event->unit, "%s", unit->base);
        event->guard_j =
            unit->kind == APAPI_KIND_ENERGY ? (double)event->range_max * event->scale : 0;
    }
}

void apapi_definition_complete(const struct apapi_definition *definition, struct apapi_event *event)
{
    if (definition->raw_units && !source_knows(event)) {
        complete_unit(definition, event);
    }
    /* a number in an unknown unit must not become joules or watts */
    if (definition->has_kind &&
        (definition->kind != APAPI_KIND_ENERGY || strcmp(event->unit, "J") == 0) &&
        (definition->kind != APAPI_KIND_POWER || strcmp(event->unit, "W") == 0)) {
        event->kind = definition->kind;
    }
    if (definition->has_domain && !event->estimated) {
        event->domain = definition->domain;
    }
}

/* @return one raw unit of a value in the base unit of its kind, as the source has it; NaN: none. */
static double source_scale(const struct apapi_definition *definition,
                           const struct apapi_event *event, int value, enum apapi_kind *kind)
{
    enum apapi_operation operation = value == 0 ? APAPI_OP1_SAMPLE_DIFF : definition->operation;

    *kind = event->kind;
    if (operation == APAPI_OP1_SAMPLE_DIFF) {
        return event->scale;
    }
    if (operation == APAPI_OP1_DIV_DIFF_TIME && event->kind == APAPI_KIND_ENERGY) {
        *kind = APAPI_KIND_POWER;
        return event->scale * NS_PER_S;
    }
    if (operation != APAPI_OP1_NOP && event->kind == APAPI_KIND_POWER) {
        *kind = APAPI_KIND_ENERGY;
        return event->scale / NS_PER_S;
    }
    return NAN;
}

static int check_value(const struct apapi_definition *definition, const struct apapi_event *event,
                       int value, struct apapi_error *err)
{
    const struct unit *unit = definition_find_unit(definition->values[value].unit);
    double scale = defined_scale(definition, unit, value);
    enum apapi_kind kind;
    double wanted = source_scale(definition, event, value, &kind);
    const char *name = value == 0 ? "" : " (value1)";

    if (!unit || isnan(scale) || isnan(wanted) ||
        (value == 1 && definition->values[1].stats == APAPI_STAT_NO)) {
        return 0;
    }
    if (unit->kind != kind) {
        return apapi_fail(err, EDOM, "%.100s%s: defined as %s in %s, the source gives %s",
                          event->name, name, apapi_kind_name(unit->kind), unit->name,
                          apapi_kind_name(kind));
    }
    if (fabs(scale - wanted) > TOLERANCE * wanted) {
        return apapi_fail(err, EDOM,
                          "%.100s%s: defined to count in %.4g %s, its source counts in %.4g %s",
                          event->name, name, scale, unit->base, wanted, unit->base);
    }
    return 0;
}

int apapi_definition_check(const struct apapi_definition *definition,
                           const struct apapi_event *event, struct apapi_error *err)
{
    if (!definition->raw_units || !source_knows(event)) {
        return 0;
    }
    return check_value(definition, event, 0, err) || check_value(definition, event, 1, err) ? -1
                                                                                            : 0;
}

double apapi_definition_divisor(const struct apapi_definition *definition,
                                const struct apapi_event *event, int value)
{
    double divisor = definition->values[value].factor;

    if (definition->raw_units) {
        return divisor;
    }
    divisor /= event->scale;
    if (value == 0) {
        return divisor;
    }
    switch (definition->operation) { /* the operation's time is in ns, the definition's in s */
    case APAPI_OP1_DIV_DIFF_TIME:
        return divisor * (1.0 / NS_PER_S);
    case APAPI_OP1_SAMPLE1_MUL_DIFF_TIME:
    case APAPI_OP1_AVG_SAMPLE_MUL_DIFF_TIME:
        return divisor * NS_PER_S;
    default:
        return divisor;
    }
}

const char *apapi_definition_unit(const struct apapi_definition *definition,
                                  const struct apapi_event *event, int value)
{
    const char *unit = definition->values[value].unit;

    return *unit ? unit : event->unit;
}

/* --- a line --------------------------------------------------------------------------------- */

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
    int value; /* value0 or value1 */
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

static const struct {
    const char *word;
    unsigned stats;
} stat_words[] = {
    {"APAPI_STAT_NO", APAPI_STAT_NO},   {"APAPI_STAT_MIN", APAPI_STAT_MIN},
    {"APAPI_STAT_MAX", APAPI_STAT_MAX}, {"APAPI_STAT_AVG", APAPI_STAT_AVG},
    {"APAPI_STAT_ACC", APAPI_STAT_ACC}, {"APAPI_STAT_ALL", APAPI_STAT_ALL},
};

/* Parse words separated by '|' and optional blanks; a trailing '|' is allowed. */
static int parse_stats(const struct field *field, struct apapi_definition *definition)
{
    const char *rest = field->text;
    unsigned sum = 0;

    do {
        size_t length, i = 0;

        rest += strspn(rest, " \t");
        length = strcspn(rest, "| \t");
        while (i < COUNT_OF(stat_words) && !word_is(rest, length, stat_words[i].word)) {
            i++;
        }
        rest += length + strspn(rest + length, " \t");
        if (i == COUNT_OF(stat_words) || (*rest != '|' && *rest != '\0')) {
            return expected(field, "APAPI_STAT_NO, _MIN, _MAX, _AVG, _ACC or _ALL, or several of "
                                   "them joined by '|'");
        }
        sum |= stat_words[i].stats;
        rest += *rest == '|';
    } while (*rest);
    definition->values[field->value].stats = sum;
    return 0;
}

/* Warn of a text after a number: like the original APAPI, use the number and ignore the rest. */
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

/* Parse a text that reports will show: bytes that are not printable become '?'. */
static const char *events_fields_parse_words(const struct field *field)
{
    char clean[APAPI_EVENTS_LINE_MAX + 1];

    text_clean(clean, sizeof clean, field->text);
    if (strcmp(clean, field->text) != 0) {
        strcpy(field->text, clean); /* `clean` is not longer */
        problems_warn(field->problems, field->line, field->text,
                      "%s: a character that is not printable UTF-8 is shown as '?'", field->title);
    }
    return field->text;
}

static int parse_type(const struct field *field, struct apapi_definition *definition)
{
    definition->values[field->value].type = events_fields_parse_words(field);
    return 0;
}

static int parse_unit(const struct field *field, struct apapi_definition *definition)
{
    definition->values[field->value].unit = events_fields_parse_words(field);
    return 0;
}

static int parse_factor(const struct field *field, struct apapi_definition *definition)
{
    struct apapi_value_definition *value = &definition->values[field->value];
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
    int value;
} fields[FIELDS_MOST] = {
    {"field 1 (event)", parse_event_name, 0},
    {"field 2 (operation)", parse_operation, 0},
    {"field 3 (statistics of value0)", parse_stats, 0},
    {"field 4 (statistics of value1)", parse_stats, 1},
    {"field 5 (maximum)", parse_maximum, 0},
    {"field 6 (type of value0)", parse_type, 0},
    {"field 7 (unit of value0)", parse_unit, 0},
    {"field 8 (factor of value0)", parse_factor, 0},
    {"field 9 (type of value1)", parse_type, 1},
    {"field 10 (unit of value1)", parse_unit, 1},
    {"field 11 (factor of value1)", parse_factor, 1},
    {"field 12 (kind)", parse_kind, 0},
    {"field 13 (domain)", parse_domain, 0},
};

static int parse_field(struct field *field, size_t index, struct apapi_definition *definition)
{
    field->title = fields[index].title;
    field->value = fields[index].value;
    if (*field->text == '\0') {
        problems_error(field->problems, field->line, field->text,
                       "%s: expected a text, found nothing", field->title);
        return -1;
    }
    field->text = event_text_trim(field->text);
    return fields[index].parse(field, definition);
}

static int event_fields_parse(struct problems *problems, const struct event_line *line,
                              void *definition)
{
    struct apapi_definition parsed = {.line = line->number};
    char *rest = line->text;
    size_t count = 1;
    int result = 0;

    if (strlen(line->text) > APAPI_EVENTS_LINE_MAX) {
        problems_error(problems, line, line->text,
                       "expected a definition of at most %d bytes, found %zu bytes",
                       APAPI_EVENTS_LINE_MAX, strlen(line->text));
        return -1;
    }
    for (const char *c = line->text; *c; c++) {
        count += *c == ',';
    }
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
    *(struct apapi_definition *)definition = parsed;
    return result;
}

/* --- the file ------------------------------------------------------------------------------- */

struct apapi_eventops {
    struct event_entries entries; /* struct apapi_definition */
};

static const struct event_form definition_form = {sizeof(struct apapi_definition),
                                                  event_fields_parse};

struct apapi_eventops *apapi_eventops_read(const char *path, const struct apapi_problem_sink *sink,
                                           struct apapi_error *err)
{
    return event_entries_create(&definition_form, path, event_text_read(path, err), sink, err);
}

struct apapi_eventops *apapi_eventops_parse(const char *name, const char *text, size_t size,
                                            const struct apapi_problem_sink *sink,
                                            struct apapi_error *err)
{
    return event_entries_create(&definition_form, name, event_text_copy(name, text, size, err),
                                sink, err);
}

const struct apapi_definition *apapi_eventops_at(const struct apapi_eventops *eventops,
                                                 size_t index)
{
    const struct apapi_definition *list = eventops ? eventops->entries.list : NULL;

    return list && index < eventops->entries.count ? &list[index] : NULL;
}

const struct apapi_definition *apapi_eventops_find(const struct apapi_eventops *eventops,
                                                   const char *event)
{
    const struct apapi_definition *definition;

    for (size_t i = 0; (definition = apapi_eventops_at(eventops, i)); i++) {
        if (apapi_pattern_matches(definition->name, event)) {
            return definition;
        }
    }
    return NULL;
}

void apapi_eventops_destroy(struct apapi_eventops *eventops)
{
    event_entries_destroy(eventops ? &eventops->entries : NULL);
}

/* --- without a file ------------------------------------------------------------------------- */

#define MIN_MAX_AVG (APAPI_STAT_MIN | APAPI_STAT_MAX | APAPI_STAT_AVG)

#define GAUGE(word)                                                                                \
    {                                                                                              \
        .name = "*", .operation = APAPI_OP1_NOP,                                                   \
        .values = {{MIN_MAX_AVG, word, "", 1}, {APAPI_STAT_NO, "-", "-", 1}},                      \
    }

static const struct apapi_definition gauges[APAPI_KINDS] = {
    [APAPI_KIND_ENERGY] = GAUGE("energy"),
    [APAPI_KIND_POWER] =
        {
            .name = "*",
            .operation = APAPI_OP1_AVG_SAMPLE_MUL_DIFF_TIME,
            .values = {{MIN_MAX_AVG, "power", "W", 1}, {APAPI_STAT_ACC, "energy", "J", 1}},
        },
    [APAPI_KIND_TEMPERATURE] = GAUGE("temperature"),
    [APAPI_KIND_FREQUENCY] = GAUGE("frequency"),
    [APAPI_KIND_UTILIZATION] = GAUGE("utilization"),
    [APAPI_KIND_COUNT] = GAUGE("value"),
};

static const struct apapi_definition energy_counter = {
    .name = "*",
    .operation = APAPI_OP1_DIV_DIFF_TIME,
    .values = {{APAPI_STAT_ACC, "energy", "J", 1}, {MIN_MAX_AVG, "power", "W", 1}},
};

static const struct apapi_definition any_counter = {
    .name = "*",
    .operation = APAPI_OP1_DIV_DIFF_TIME,
    .values = {{APAPI_STAT_ACC, "count", "", 1}, {MIN_MAX_AVG, "rate", "1/s", 1}},
};

/* --- rules ---------------------------------------------------------------------------------- */

#define DEFAULT_LIST "default_eventlist.txt"
#define DEFAULT_OPS "default_eventops.csv"

static int load_user(struct apapi_event_rules *rules, const struct apapi_environment *environment,
                     const struct apapi_problem_sink *sink, struct apapi_error *err)
{
    if (environment->eventlist &&
        !(rules->user_list = apapi_eventlist_read(environment->eventlist, sink, err))) {
        return -1;
    }
    if (environment->eventops &&
        !(rules->user_ops = apapi_eventops_read(environment->eventops, sink, err))) {
        return -1;
    }
    return 0;
}

/* Report a default file that is not used as a warning without a line. */
static void rules_leave_out(const struct apapi_problem_sink *sink, const struct apapi_error *why)
{
    char text[sizeof why->text + 64];
    struct apapi_problem problem = {.warning = true, .text = text};

    snprintf(text, sizeof text, "%s; the built-in rules apply", why->text);
    if (sink && sink->report) {
        sink->report(&problem, sink->context);
    }
}

/* Read a default file. @return 0, also if there is no such file; -1 with errno. */
static int load_default(struct apapi_event_rules *rules, const char *folder, bool ops,
                        const struct apapi_problem_sink *sink, struct apapi_error *err)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/%s", folder, ops ? DEFAULT_OPS : DEFAULT_LIST);

    if (length < 0 || length >= PATH_MAX) {
        return apapi_fail(err, ENAMETOOLONG, "%.180s: %s", folder, strerror(ENAMETOOLONG));
    }
    if (ops) {
        rules->default_ops = apapi_eventops_read(path, sink, err);
    } else {
        rules->default_list = apapi_eventlist_read(path, sink, err);
    }
    return rules->default_ops || (!ops && rules->default_list) || errno == ENOENT ? 0 : -1;
}

/* Read the default files. If this user may not enter the folder, report that once, as no error. */
static int load_defaults(struct apapi_event_rules *rules, const char *folder, bool softfail,
                         const struct apapi_problem_sink *sink, struct apapi_error *err)
{
    bool barred = false;

    for (int ops = 0; ops <= 1; ops++) {
        if (load_default(rules, folder, ops, sink, err) == 0 || (barred && errno == EACCES)) {
            continue;
        }
        barred = errno == EACCES;
        if (!barred && (!softfail || errno == ENOMEM)) {
            return -1;
        }
        rules_leave_out(sink, err);
    }
    return 0;
}

int apapi_event_rules_load(struct apapi_event_rules *rules,
                           const struct apapi_environment *environment, const char *default_folder,
                           const struct apapi_problem_sink *sink, struct apapi_error *err)
{
    struct apapi_event_rules loaded = {0};
    struct apapi_error why = {""};
    int result = load_user(&loaded, environment, sink, &why);

    if (result == 0 && default_folder) {
        result = load_defaults(&loaded, default_folder, environment->softfail, sink, &why);
    }
    if (result) {
        apapi_event_rules_clear(&loaded);
        return apapi_fail(err, errno, "%s", why.text);
    }
    *rules = loaded;
    return 0;
}

void apapi_event_rules_clear(struct apapi_event_rules *rules)
{
    if (rules) {
        apapi_eventlist_destroy(rules->user_list);
        apapi_eventlist_destroy(rules->default_list);
        apapi_eventops_destroy(rules->user_ops);
        apapi_eventops_destroy(rules->default_ops);
        *rules = (struct apapi_event_rules){0};
    }
}

const struct apapi_definition *apapi_event_rules_define(const struct apapi_event_rules *rules,
                                                        const struct apapi_event *event)
{
    const struct apapi_definition *definition =
        rules ? apapi_eventops_find(rules->user_ops, event->name) : NULL;

    if (rules && !definition) {
        definition = apapi_eventops_find(rules->default_ops, event->name);
    }
    if (definition) {
        return definition;
    }
    if (event->accumulates) {
        return event->kind == APAPI_KIND_ENERGY ? &energy_counter : &any_counter;
    }
    return &gauges[(unsigned)event->kind < APAPI_KINDS ? event->kind : APAPI_KIND_COUNT];
}
