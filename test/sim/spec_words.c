/* SPDX-License-Identifier: BSD-3-Clause */
/* The words of the spec language: one parse function each, and the table of them. */
#include "spec.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double spec_watts_max = 1e6;
static const double spec_uw_per_w = 1e6;
static const double spec_gauge_max = 1e15;
static const uint64_t spec_update_ns = 1000000;

enum { SPEC_MODE_FILE = 0444, SPEC_MODE_MSR = 0600, SPEC_UNIT_EXPONENT_MAX = 31 };

const char sim_spec_help[] =
    "A spec has one line for each statement; # begins a comment line. Second 0 is the start.\n"
    "What a path is:\n"
    "  PATH dir                                  folder (those on the way need no line)\n"
    "  PATH link TARGET                          symbolic link\n"
    "  PATH text STRING                          STRING and a newline; without STRING empty\n"
    "  PATH energy WATTS RANGE_UJ START_UJ       counter in uJ, values 0 to RANGE_UJ\n"
    "  PATH energy-ramp W0 W_PER_S RANGE_UJ START_UJ\n"
    "  PATH energy-square W_LOW W_HIGH PERIOD_S RANGE_UJ START_UJ\n"
    "  PATH energy-load FILE WATTS RANGE_UJ START_UJ   and what programs add in FILE (load.h)\n"
    "  PATH gauge MEAN AMPLITUDE PERIOD_S        sine, as a whole number\n"
    "  PATH msr                                  8-byte registers at their number as offset (*)\n"
    "What an earlier path does besides:\n"
    "  PATH reg NUMBER const VALUE               register of an msr\n"
    "  PATH reg NUMBER energy WATTS UNIT_EXP START   32-bit counter of 2^-UNIT_EXP J\n"
    "  PATH mode OCTAL                           default 0444, msr 0600, folders 0755\n"
    "  PATH update SECONDS                       step of a meter; default 0.001, 0: none\n"
    "  PATH unit DIVISOR [UNIT]                  number / DIVISOR and UNIT: 1000000 J of an "
    "energy\n"
    "  PATH freeze FROM_S TO_S                   stands still, then jumps to the truth\n"
    "  PATH reset AT_S                           counter begins again at 0\n"
    "  PATH fail FROM_S TO_S ERRNO               reads fail; EIO or a number (*)\n"
    "  PATH absurd AT_S VALUE                    the first read from AT_S on yields VALUE (*)\n"
    "  PATH vanish FROM_S TO_S                   is gone; open descriptors give ENODEV (*)\n"
    "  PATH replug FROM_S TO_S                   the same, and they do so for ever (*)\n"
    "(*) with --fuse only. TO_S may be inf. A path may lead through links. A path that an earlier\n"
    "spec file defined may be defined again; its mode and what happens to it remain.\n";

static int spec_watts(struct spec_line *line, int arg, double min, int64_t *power_uw)
{
    if (sim_number_scaled(line->args[arg], min, spec_watts_max, spec_uw_per_w, power_uw) == 0) {
        return 0;
    }
    return spec_fail(line, "\"%s\" is not a power from %g to %g W", line->args[arg], min,
                     spec_watts_max);
}

static int spec_power(struct spec_line *line, int arg, uint64_t *power_uw)
{
    int64_t value = 0;

    if (spec_watts(line, arg, 0, &value) != 0) {
        return -1;
    }
    *power_uw = (uint64_t)value;
    return 0;
}

static int spec_integer(struct spec_line *line, int arg, uint64_t max, uint64_t *number)
{
    if (sim_number_u64(line->args[arg], 0, 0, max, number) == 0) {
        return 0;
    }
    return spec_fail(line, "\"%s\" is not a whole number from 0 to %llu", line->args[arg],
                     (unsigned long long)max);
}

static int spec_seconds(struct spec_line *line, int arg, uint64_t *time_ns)
{
    if (sim_number_seconds(line->args[arg], time_ns) == 0) {
        return 0;
    }
    return spec_fail(line, "\"%s\" is not a time from 0 to 1e9 s", line->args[arg]);
}

/* A finite time above 0. */
static int spec_period(struct spec_line *line, int arg, uint64_t *period_ns)
{
    if (spec_seconds(line, arg, period_ns) != 0) {
        return -1;
    }
    if (*period_ns == 0 || *period_ns == UINT64_MAX) {
        return spec_fail(line, "\"%s\" is not a period", line->args[arg]);
    }
    return 0;
}

/* FROM_S TO_S at argument `arg`. */
static struct sim_event *spec_window(struct spec_line *line, struct sim_node *node,
                                     enum sim_event_kind kind, int arg)
{
    struct sim_event *event = sim_node_add_event(node);

    if (event == NULL) {
        spec_fail(line, "%s", strerror(errno));
        return NULL;
    }
    event->kind = kind;
    event->to_ns = UINT64_MAX;
    if (spec_seconds(line, arg, &event->from_ns) != 0) {
        return NULL;
    }
    if (kind == SIM_RESET || kind == SIM_ABSURD) {
        return event;
    }
    if (spec_seconds(line, arg + 1, &event->to_ns) != 0) {
        return NULL;
    }
    if (event->to_ns > event->from_ns) {
        return event;
    }
    spec_fail(line, "TO_S is not after FROM_S");
    return NULL;
}

static int spec_parse_dir(struct spec_line *line, struct sim_node *node)
{
    (void)line;
    node->kind = SIM_DIR;
    return 0;
}

static int spec_keep_text(struct spec_line *line, struct sim_node *node, enum sim_kind kind,
                          const char *end)
{
    node->kind = kind;
    if (strlen(line->args[0]) + sizeof("\n") > SIM_TEXT_SIZE) {
        return spec_fail(line, "the text is longer than %zu bytes", SIM_TEXT_SIZE - sizeof("\n"));
    }
    if (asprintf(&node->text, "%s%s", line->args[0], end) >= 0) {
        return 0;
    }
    node->text = NULL;
    return spec_fail(line, "%s", strerror(ENOMEM));
}

static int spec_parse_link(struct spec_line *line, struct sim_node *node)
{
    node->mode = 0777;
    return spec_keep_text(line, node, SIM_LINK, "");
}

/* Begin a file; a mode from an earlier spec remains. */
static void spec_begin_file(struct sim_node *node, enum sim_kind kind, mode_t mode)
{
    if (node->kind == SIM_DIR) {
        node->mode = mode;
    }
    node->kind = kind;
    node->update_ns = spec_update_ns;
}

static int spec_parse_text(struct spec_line *line, struct sim_node *node)
{
    spec_begin_file(node, SIM_TEXT, SPEC_MODE_FILE);
    return spec_keep_text(line, node, SIM_TEXT, *line->args[0] == '\0' ? "" : "\n");
}

/* RANGE_UJ START_UJ at argument `arg`. */
static int spec_parse_range(struct spec_line *line, struct sim_node *node, int arg)
{
    spec_begin_file(node, SIM_ENERGY, SPEC_MODE_FILE);
    if (spec_integer(line, arg, UINT64_MAX, &node->range_uj) != 0) {
        return -1;
    }
    return spec_integer(line, arg + 1, node->range_uj, &node->start_uj);
}

static int spec_parse_energy(struct spec_line *line, struct sim_node *node)
{
    node->power = (struct sim_power){.shape = SIM_CONSTANT};
    if (spec_power(line, 0, &node->power.power_uw) != 0) {
        return -1;
    }
    return spec_parse_range(line, node, 1);
}

static int spec_parse_ramp(struct spec_line *line, struct sim_node *node)
{
    node->power = (struct sim_power){.shape = SIM_RAMP};
    if (spec_power(line, 0, &node->power.power_uw) != 0 ||
        spec_watts(line, 1, -spec_watts_max, &node->power.slope_uw_s) != 0) {
        return -1;
    }
    return spec_parse_range(line, node, 2);
}

static int spec_parse_square(struct spec_line *line, struct sim_node *node)
{
    node->power = (struct sim_power){.shape = SIM_SQUARE};
    if (spec_power(line, 0, &node->power.power_uw) != 0 ||
        spec_power(line, 1, &node->power.high_uw) != 0 ||
        spec_period(line, 2, &node->power.period_ns) != 0) {
        return -1;
    }
    return spec_parse_range(line, node, 3);
}

static int spec_parse_load(struct spec_line *line, struct sim_node *node)
{
    node->power = (struct sim_power){.shape = SIM_LOADED};
    if (spec_power(line, 1, &node->power.power_uw) != 0) {
        return -1;
    }
    node->power.load = sim_load_create(line->args[0]);
    if (node->power.load == NULL) {
        return spec_fail(line, "%s: %s", line->args[0], strerror(errno));
    }
    return spec_parse_range(line, node, 2);
}

static int spec_gauge_number(struct spec_line *line, int arg, double *number)
{
    if (sim_number_double(line->args[arg], -spec_gauge_max, spec_gauge_max, number) == 0) {
        return 0;
    }
    return spec_fail(line, "\"%s\" is not a number up to %g", line->args[arg], spec_gauge_max);
}

static int spec_parse_gauge(struct spec_line *line, struct sim_node *node)
{
    spec_begin_file(node, SIM_GAUGE, SPEC_MODE_FILE);
    if (spec_gauge_number(line, 0, &node->gauge.mean) != 0 ||
        spec_gauge_number(line, 1, &node->gauge.amplitude) != 0) {
        return -1;
    }
    return spec_period(line, 2, &node->gauge.period_ns);
}

static int spec_parse_msr(struct spec_line *line, struct sim_node *node)
{
    (void)line;
    spec_begin_file(node, SIM_MSR, SPEC_MODE_MSR);
    return 0;
}

static int spec_parse_counter(struct spec_line *line, struct sim_register *reg)
{
    uint64_t exponent;

    reg->counts = true;
    if (spec_power(line, 2, &reg->power_uw) != 0 ||
        spec_integer(line, 3, SPEC_UNIT_EXPONENT_MAX, &exponent) != 0) {
        return -1;
    }
    reg->unit_exponent = (unsigned int)exponent;
    return spec_integer(line, 4, UINT32_MAX, &reg->value);
}

static int spec_parse_reg(struct spec_line *line, struct sim_node *node)
{
    struct sim_register *reg;
    uint64_t number;

    if (spec_integer(line, 0, UINT32_MAX, &number) != 0) {
        return -1;
    }
    for (size_t i = 0; i < node->register_count; i++) {
        if (node->registers[i].number == number) {
            return spec_fail(line, "register %s is defined already", line->args[0]);
        }
    }
    reg = sim_node_add_register(node);
    if (reg == NULL) {
        return spec_fail(line, "%s", strerror(errno));
    }
    reg->number = (uint32_t)number;
    if (strcmp(line->args[1], "const") == 0 && line->arg_count == 3) {
        return spec_integer(line, 2, UINT64_MAX, &reg->value);
    }
    if (strcmp(line->args[1], "energy") == 0 && line->arg_count == 5) {
        return spec_parse_counter(line, reg);
    }
    return spec_fail(line, "a register is neither const nor energy");
}

static int spec_parse_mode(struct spec_line *line, struct sim_node *node)
{
    uint64_t mode;

    if (sim_number_u64(line->args[0], 8, 0, 0777, &mode) != 0) {
        return spec_fail(line, "\"%s\" is not an octal mode from 0 to 777", line->args[0]);
    }
    node->mode = (mode_t)mode;
    return 0;
}

static int spec_parse_update(struct spec_line *line, struct sim_node *node)
{
    if (spec_seconds(line, 0, &node->update_ns) != 0) {
        return -1;
    }
    if (node->update_ns == UINT64_MAX) {
        return spec_fail(line, "an update never comes");
    }
    return 0;
}

static int spec_parse_unit(struct spec_line *line, struct sim_node *node)
{
    if (sim_number_u64(line->args[0], 10, 1, UINT64_MAX, &node->divisor) != 0) {
        return spec_fail(line, "\"%s\" is not a whole number from 1", line->args[0]);
    }
    if ((size_t)snprintf(node->unit, sizeof(node->unit), "%s",
                         line->arg_count == 2 ? line->args[1] : "") >= sizeof(node->unit)) {
        return spec_fail(line, "UNIT is longer than %zu bytes", sizeof(node->unit) - 1);
    }
    return 0;
}

static int spec_parse_freeze(struct spec_line *line, struct sim_node *node)
{
    return spec_window(line, node, SIM_FREEZE, 0) == NULL ? -1 : 0;
}

static int spec_parse_reset(struct spec_line *line, struct sim_node *node)
{
    return spec_window(line, node, SIM_RESET, 0) == NULL ? -1 : 0;
}

static int spec_parse_vanish(struct spec_line *line, struct sim_node *node)
{
    line->tree->vanishes = true;
    return spec_window(line, node, SIM_VANISH, 0) == NULL ? -1 : 0;
}

static int spec_parse_replug(struct spec_line *line, struct sim_node *node)
{
    struct sim_event *event = spec_window(line, node, SIM_VANISH, 0);

    if (event == NULL) {
        return -1;
    }
    event->reopen = true;
    line->tree->vanishes = true;
    return 0;
}

/* "EIO" or "5". 0 or -1. */
static int spec_errno(const char *text, int *error)
{
    enum { ERRNO_MAX = 4095 };
    uint64_t number;

    if (sim_number_u64(text, 10, 1, ERRNO_MAX, &number) == 0) {
        *error = (int)number;
        return 0;
    }
    for (int i = 1; i <= ERRNO_MAX; i++) {
        const char *name = strerrorname_np(i);

        if (name != NULL && strcmp(name, text) == 0) {
            *error = i;
            return 0;
        }
    }
    return -1;
}

static int spec_parse_fail(struct spec_line *line, struct sim_node *node)
{
    struct sim_event *event = spec_window(line, node, SIM_FAIL, 0);

    if (event == NULL) {
        return -1;
    }
    if (spec_errno(line->args[2], &event->error) != 0) {
        return spec_fail(line, "\"%s\" is not an error number or its name", line->args[2]);
    }
    return 0;
}

static int spec_parse_absurd(struct spec_line *line, struct sim_node *node)
{
    struct sim_event *event = spec_window(line, node, SIM_ABSURD, 0);

    if (event == NULL) {
        return -1;
    }
    if ((size_t)snprintf(event->value, sizeof(event->value), "%s", line->args[1]) >=
        sizeof(event->value)) {
        return spec_fail(line, "VALUE is longer than %zu bytes", sizeof(event->value) - 1);
    }
    return 0;
}

enum {
    SPEC_METERS = 1U << SIM_ENERGY | 1U << SIM_GAUGE | 1U << SIM_MSR,
    SPEC_NUMBERS = 1U << SIM_TEXT | 1U << SIM_ENERGY | 1U << SIM_GAUGE,
    SPEC_FILES = SPEC_METERS | SPEC_NUMBERS,
    SPEC_ANY = SPEC_FILES | 1U << SIM_DIR | 1U << SIM_LINK
};

const struct spec_word spec_words[] = {
    {"dir", "", 0, 0, 0, false, spec_parse_dir},
    {"link", "TARGET", 1, 1, 0, false, spec_parse_link},
    {"text", "[STRING]", SPEC_REST, 1, 0, false, spec_parse_text},
    {"energy", "WATTS RANGE_UJ START_UJ", 3, 3, 0, false, spec_parse_energy},
    {"energy-ramp", "W0 W_PER_S RANGE_UJ START_UJ", 4, 4, 0, false, spec_parse_ramp},
    {"energy-square", "W_LOW W_HIGH PERIOD_S RANGE_UJ START_UJ", 5, 5, 0, false, spec_parse_square},
    {"energy-load", "FILE WATTS RANGE_UJ START_UJ", 4, 4, 0, false, spec_parse_load},
    {"gauge", "MEAN AMPLITUDE PERIOD_S", 3, 3, 0, false, spec_parse_gauge},
    {"msr", "", 0, 0, 0, true, spec_parse_msr},
    {"reg", "NUMBER const VALUE | NUMBER energy WATTS UNIT_EXP START", 3, 5, 1U << SIM_MSR, true,
     spec_parse_reg},
    {"mode", "OCTAL", 1, 1, SPEC_ANY & ~(1U << SIM_LINK), false, spec_parse_mode},
    {"update", "SECONDS", 1, 1, SPEC_METERS, false, spec_parse_update},
    {"unit", "DIVISOR [UNIT]", 1, 2, 1U << SIM_ENERGY | 1U << SIM_GAUGE, false, spec_parse_unit},
    {"freeze", "FROM_S TO_S", 2, 2, SPEC_METERS, false, spec_parse_freeze},
    {"reset", "AT_S", 1, 1, 1U << SIM_ENERGY, false, spec_parse_reset},
    {"fail", "FROM_S TO_S ERRNO", 3, 3, SPEC_FILES, true, spec_parse_fail},
    {"absurd", "AT_S VALUE", 2, 2, SPEC_NUMBERS, true, spec_parse_absurd},
    {"vanish", "FROM_S TO_S", 2, 2, SPEC_ANY, true, spec_parse_vanish},
    {"replug", "FROM_S TO_S", 2, 2, SPEC_ANY, true, spec_parse_replug},
    {NULL, NULL, 0, 0, 0, false, NULL},
};
