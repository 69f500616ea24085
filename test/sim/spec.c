/* SPDX-License-Identifier: BSD-3-Clause */
/* Spec files: lines "PATH WORD ARGUMENTS". */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simhw.h"

#define BLANKS " \t\r\n"
#define UW_PER_W 1e6
#define NUMBER_MAX 1e9 /* of seconds or watts */

enum { SPEC_ARGS_MAX = 5, SPEC_REST = -1 };

const char sim_spec_help[] =
    "A spec has one line for each statement; # begins a comment line. Second 0 is the start.\n"
    "What a path is:\n"
    "  PATH dir                                  folder (those on the way need no line)\n"
    "  PATH link TARGET                          symbolic link\n"
    "  PATH text STRING                          STRING and a newline; without STRING empty\n"
    "  PATH energy WATTS RANGE_UJ START_UJ       counter in uJ, values 0 to RANGE_UJ\n"
    "  PATH energy-load FILE WATTS RANGE_UJ START_UJ   and what programs add in FILE (load.h)\n"
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
    "  PATH fail FROM_S TO_S                     reads fail with EIO (*)\n"
    "  PATH absurd AT_S VALUE                    the first read from AT_S on yields VALUE (*)\n"
    "  PATH vanish FROM_S TO_S                   is gone; open descriptors give ENODEV (*)\n"
    "  PATH replug FROM_S TO_S                   the same, and they do so for ever (*)\n"
    "(*) with --fuse only. TO_S may be inf. A path may lead through links. A path may be defined\n"
    "again; its mode and what happens to it remain.\n";

struct spec_line {
    const char *file;
    unsigned long number;
    const struct spec_word *word; /* NULL: not a known word */
    char *args[SPEC_ARGS_MAX];
    int count;
};

struct spec_word {
    const char *name, *usage;
    int least, most;    /* number of arguments; SPEC_REST: one, the rest of the line */
    unsigned int kinds; /* 0: defines the path; otherwise changes one of these kinds (1 << kind) */
    bool exact_only;    /* not possible with plain files */
    void (*parse)(const struct spec_line *line, struct sim_node *node);
    enum sim_event_kind event; /* for spec_event() */
};

static _Noreturn void spec_fail(const struct spec_line *line)
{
    sim_die(SIM_BAD_USE, "%s:%lu: expected: PATH %s %s", line->file, line->number,
            line->word ? line->word->name : "WORD", line->word ? line->word->usage : "ARGUMENTS");
}

static uint64_t spec_whole(const struct spec_line *line, int arg, int base, uint64_t max)
{
    const char *text = line->args[arg];
    char *end;
    unsigned long long value;

    errno = 0;
    value = strtoull(text, &end, base);
    if (!isdigit((unsigned char)*text) || *end || errno || value > max) {
        spec_fail(line);
    }
    return value;
}

/* @return a number that is not negative, times `scale`; for "inf", UINT64_MAX. */
static uint64_t spec_scaled(const struct spec_line *line, int arg, double scale)
{
    const char *text = line->args[arg];
    char *end;
    double value = strtod(text, &end);

    if (strcmp(text, "inf") == 0) {
        return UINT64_MAX;
    }
    if (end == text || *end || !(value >= 0 && value <= NUMBER_MAX)) {
        spec_fail(line);
    }
    return (uint64_t)llround(value * scale);
}

static uint64_t spec_ns(const struct spec_line *line, int arg)
{
    return spec_scaled(line, arg, (double)SIM_NS_PER_S);
}

/* --- what a path is -------------------------------------------------------------------------- */

/* Begin a file. A mode that was set by an earlier line stays. */
static void spec_begin_file(struct sim_node *node, enum sim_kind kind, mode_t mode)
{
    node->mode = node->kind == SIM_DIR ? mode : node->mode;
    node->kind = kind;
    node->update_ns = 1000000;
    node->divisor = 1;
    node->unit[0] = '\0';
    node->power = (struct sim_power){0};
}

static void spec_dir(const struct spec_line *line, struct sim_node *node)
{
    (void)line;
    node->kind = SIM_DIR;
}

static void spec_link(const struct spec_line *line, struct sim_node *node)
{
    spec_begin_file(node, SIM_LINK, 0777);
    node->text = strdup(line->args[0]);
}

static void spec_text(const struct spec_line *line, struct sim_node *node)
{
    spec_begin_file(node, SIM_TEXT, 0444);
    if (strlen(line->args[0]) + sizeof "\n" > SIM_TEXT_SIZE ||
        asprintf(&node->text, "%s%s", line->args[0], *line->args[0] ? "\n" : "") < 0) {
        spec_fail(line);
    }
}

/* Begin an energy file. WATTS is argument `watts`; the last two arguments are RANGE_UJ START_UJ. */
static void spec_begin_energy(const struct spec_line *line, struct sim_node *node, int watts)
{
    spec_begin_file(node, SIM_ENERGY, 0444);
    node->power.power_uw = spec_scaled(line, watts, UW_PER_W);
    node->range_uj = spec_whole(line, line->count - 2, 10, UINT64_MAX);
    node->start_uj = spec_whole(line, line->count - 1, 10, node->range_uj);
}

static void spec_energy(const struct spec_line *line, struct sim_node *node)
{
    spec_begin_energy(line, node, 0);
}

static void spec_energy_load(const struct spec_line *line, struct sim_node *node)
{
    spec_begin_energy(line, node, 1);
    node->power.load = sim_load_create(line->args[0]);
    if (!node->power.load) {
        sim_die(SIM_BAD_USE, "%s: %s", line->args[0], strerror(errno));
    }
}

static void spec_msr(const struct spec_line *line, struct sim_node *node)
{
    (void)line;
    spec_begin_file(node, SIM_MSR, 0600);
    node->register_count = 0;
}

/* --- what it does besides --------------------------------------------------------------------- */

static void spec_reg(const struct spec_line *line, struct sim_node *node)
{
    struct sim_register reg = {.number = (uint32_t)spec_whole(line, 0, 0, UINT32_MAX),
                               .counts = strcmp(line->args[1], "energy") == 0};

    if (line->count != (reg.counts ? 5 : 3) ||
        (!reg.counts && strcmp(line->args[1], "const") != 0)) {
        spec_fail(line);
    }
    reg.value = spec_whole(line, line->count - 1, 0, reg.counts ? UINT32_MAX : UINT64_MAX);
    if (reg.counts) {
        reg.power_uw = spec_scaled(line, 2, UW_PER_W);
        reg.unit_exponent = (unsigned int)spec_whole(line, 3, 10, 31);
    }
    node->registers = sim_grow(node->registers, &node->register_count, sizeof reg);
    node->registers[node->register_count - 1] = reg;
}

static void spec_mode(const struct spec_line *line, struct sim_node *node)
{
    node->mode = (mode_t)spec_whole(line, 0, 8, 0777);
}

static void spec_update(const struct spec_line *line, struct sim_node *node)
{
    node->update_ns = spec_ns(line, 0);
}

static void spec_unit(const struct spec_line *line, struct sim_node *node)
{
    node->divisor = spec_whole(line, 0, 10, UINT64_MAX);
    if (node->divisor == 0) {
        spec_fail(line);
    }
    if (line->count == 2) {
        snprintf(node->unit, sizeof node->unit, " %s", line->args[1]);
    }
}

/* Add an event. The arguments are FROM_S, for most events TO_S, and then the event's own. */
static void spec_event(const struct spec_line *line, struct sim_node *node)
{
    enum sim_event_kind kind = line->word->event;
    bool ends = kind != SIM_RESET && kind != SIM_ABSURD;
    struct sim_event event = {.kind = kind,
                              .from_ns = spec_ns(line, 0),
                              .to_ns = ends ? spec_ns(line, 1) : UINT64_MAX,
                              .reopen = strcmp(line->word->name, "replug") == 0};

    if (event.to_ns <= event.from_ns) {
        spec_fail(line);
    }
    if (kind == SIM_ABSURD) {
        snprintf(event.value, sizeof event.value, "%s", line->args[1]);
    }
    node->events = sim_grow(node->events, &node->event_count, sizeof event);
    node->events[node->event_count - 1] = event;
}

/* --- lines ------------------------------------------------------------------------------------ */

enum {
    SPEC_METERS = 1U << SIM_ENERGY | 1U << SIM_MSR,
    SPEC_NUMBERS = 1U << SIM_TEXT | 1U << SIM_ENERGY,
    SPEC_FILES = SPEC_METERS | SPEC_NUMBERS,
    SPEC_ANY = SPEC_FILES | 1U << SIM_DIR | 1U << SIM_LINK
};

static const struct spec_word words[] = {
    {"dir", "", 0, 0, 0, false, spec_dir, 0},
    {"link", "TARGET", 1, 1, 0, false, spec_link, 0},
    {"text", "[STRING]", SPEC_REST, 1, 0, false, spec_text, 0},
    {"energy", "WATTS RANGE_UJ START_UJ", 3, 3, 0, false, spec_energy, 0},
    {"energy-load", "FILE WATTS RANGE_UJ START_UJ", 4, 4, 0, false, spec_energy_load, 0},
    {"msr", "", 0, 0, 0, true, spec_msr, 0},
    {"reg", "NUMBER const VALUE | NUMBER energy WATTS UNIT_EXP START", 3, 5, 1U << SIM_MSR, true,
     spec_reg, 0},
    {"mode", "OCTAL", 1, 1, SPEC_ANY & ~(1U << SIM_LINK), false, spec_mode, 0},
    {"update", "SECONDS", 1, 1, SPEC_METERS, false, spec_update, 0},
    {"unit", "DIVISOR [UNIT]", 1, 2, 1U << SIM_ENERGY, false, spec_unit, 0},
    {"freeze", "FROM_S TO_S", 2, 2, SPEC_METERS, false, spec_event, SIM_FREEZE},
    {"reset", "AT_S", 1, 1, 1U << SIM_ENERGY, false, spec_event, SIM_RESET},
    {"fail", "FROM_S TO_S", 2, 2, SPEC_FILES, true, spec_event, SIM_FAIL},
    {"absurd", "AT_S VALUE", 2, 2, SPEC_NUMBERS, true, spec_event, SIM_ABSURD},
    {"vanish", "FROM_S TO_S", 2, 2, SPEC_ANY, true, spec_event, SIM_VANISH},
    {"replug", "FROM_S TO_S", 2, 2, SPEC_ANY, true, spec_event, SIM_VANISH},
};

static const struct spec_word *spec_find_word(const char *name)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(words[i].name, name) == 0) {
            return &words[i];
        }
    }
    return NULL;
}

/* Split what follows the word into arguments. */
static void spec_split(struct spec_line *line, char *rest)
{
    char *save = NULL;

    line->count = 0;
    if (line->word->least == SPEC_REST) {
        rest += strspn(rest, BLANKS);
        rest[strcspn(rest, "\r\n")] = '\0';
        line->args[line->count++] = rest;
        return;
    }
    for (char *arg = strtok_r(rest, BLANKS, &save); arg; arg = strtok_r(NULL, BLANKS, &save)) {
        if (line->count == line->word->most) {
            spec_fail(line);
        }
        line->args[line->count++] = arg;
    }
    if (line->count < line->word->least) {
        spec_fail(line);
    }
}

static void spec_line(struct sim_tree *tree, struct spec_line *line, char *text, bool exact)
{
    char *rest = text + strspn(text, BLANKS), *path, *name;
    size_t index;

    line->word = NULL;
    if (!*rest || *rest == '#') {
        return;
    }
    path = strsep(&rest, BLANKS);
    rest = rest ? rest + strspn(rest, BLANKS) : strchr(path, '\0');
    name = strsep(&rest, BLANKS);
    line->word = spec_find_word(name);
    if (!line->word) {
        spec_fail(line);
    }
    if (line->word->exact_only && !exact) {
        sim_die(SIM_BAD_USE, "%s:%lu: %s is possible with --fuse only", line->file, line->number,
                name);
    }
    spec_split(line, rest ? rest : strchr(name, '\0'));
    index = line->word->kinds ? sim_tree_find(tree, path) : sim_tree_make(tree, path);
    if (index == SIM_NONE ||
        (line->word->kinds && !(line->word->kinds & 1U << tree->nodes[index].kind))) {
        spec_fail(line);
    }
    line->word->parse(line, &tree->nodes[index]);
    tree->vanishes |= line->word->event == SIM_VANISH;
}

void sim_spec_load(struct sim_tree *tree, const char *path, bool exact)
{
    struct spec_line line = {.file = path};
    FILE *stream = fopen(path, "re");
    char *text = NULL;
    size_t size = 0;

    while (stream && getline(&text, &size, stream) >= 0) {
        line.number++;
        spec_line(tree, &line, text, exact);
    }
    free(text);
    if (stream && !ferror(stream)) {
        fclose(stream);
        return;
    }
    sim_die(SIM_BAD_USE, "%s: %s", path, strerror(errno));
}
