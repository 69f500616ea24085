/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/option_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/names.h"
#include "base/nearest.h"
#include "base/text.h"

#define ROWS_MAX 64
#define LONG_FIRST 256 /* the value that getopt_long() returns for the first row's name */
#define MESSAGE_SIZE 1024

/* The rows of a table and of all tables in it, one after the other. */
struct flat {
    struct {
        const struct option_row *row;
        size_t offset; /* of what the row sets, in the caller's struct */
    } rows[ROWS_MAX];
    size_t count;
    struct option names[ROWS_MAX + 3]; /* for getopt_long(): the rows, help, version and the end */
    char letters[4 + 2 * ROWS_MAX];
};

/* @param offset  of the struct in which the rows' offsets count */
static void flat_add_rows(struct flat *flat, const struct option_row *row, size_t offset)
{
    for (; row->name; row++) {
        if (row->kind == OPTION_ROWS) {
            flat_add_rows(flat, row->rows, offset + row->offset);
        } else if (flat->count < ROWS_MAX) {
            flat->rows[flat->count].row = row;
            flat->rows[flat->count++].offset = offset + row->offset;
        }
    }
}

/* --- the text of --help ----------------------------------------------------------------------- */

static void print_lines(const char *text, size_t column, FILE *out)
{
    for (;; text++) {
        size_t size = strcspn(text, "\n");

        fprintf(out, "%.*s\n", (int)size, text);
        text += size;
        if (*text == '\0') {
            return;
        }
        fprintf(out, "%*s", (int)column, "");
    }
}

/* @return the column in which the unfinished line ends; 0: the line is complete. */
static size_t print_row(const struct option_row *row, size_t at, size_t column, FILE *out)
{
    char label[128], lead[] = "  -x, ";
    bool joined = *row->help == ',' || *row->help == ' ';

    lead[3] = (char)row->letter;
    snprintf(label, sizeof label, "%s--%s%s",
             at            ? lead + (row->letter ? 2 : 6)
             : row->letter ? lead
                           : "      ",
             row->name, row->argument ? row->argument : "");
    fputs(label, out);
    at += strlen(label);
    if (joined) {
        fputs(row->help, out);
        return at + strlen(row->help);
    }
    if (*row->help) {
        fprintf(out, "%*s", at < column ? (int)(column - at) : 3, "");
    }
    print_lines(row->help, column, out);
    return 0;
}

void option_table_help(const struct option_table *table, FILE *out)
{
    struct flat flat = {.count = 0};
    size_t at = 0;

    fputs(table->head, out);
    flat_add_rows(&flat, table->rows, 0);
    for (size_t i = 0; i < flat.count; i++) {
        at = flat.rows[i].row->help ? print_row(flat.rows[i].row, at, table->column, out) : at;
    }
    fprintf(out, "  -h, --help, -V, --version\n%s", table->foot);
}

/* --- for completion --------------------------------------------------------------------------- */

/* Print a line for each option: its letter, its name, its argument; "-": none. */
static void flat_list(const struct flat *flat)
{
    for (size_t i = 0; i < flat->count; i++) {
        const struct option_row *row = flat->rows[i].row;

        if (row->help) {
            printf("%c --%s %s\n", row->letter ? row->letter : '-', row->name,
                   row->argument ? row->argument : "-");
        }
    }
    puts("h --help -\nV --version -");
}

/* --- the command line ------------------------------------------------------------------------- */

/* @return whether two rows set the same: then getopt takes their common beginning for one name. */
static bool flat_is_like(const struct flat *flat, size_t left, size_t right)
{
    const struct option_row *a = flat->rows[left].row, *b = flat->rows[right].row;

    return a->kind == b->kind && a->set == b->set && a->value == b->value &&
           flat->rows[left].offset == flat->rows[right].offset;
}

static void flat_fill(struct flat *flat, const struct option_table *table)
{
    *flat = (struct flat){.letters = ":hV"};
    if (table->words_end) {
        strcpy(flat->letters, "+:hV");
    }
    flat_add_rows(flat, table->rows, 0);
    for (size_t i = 0; i < flat->count; i++) {
        const struct option_row *row = flat->rows[i].row;
        int has_argument = !row->argument          ? no_argument
                           : *row->argument == '[' ? optional_argument
                                                   : required_argument;
        size_t first = 0, size = strlen(flat->letters);

        while (!flat_is_like(flat, first, i)) {
            first++;
        }
        flat->names[i] = (struct option){row->name, has_argument, NULL, LONG_FIRST + (int)first};
        if (row->letter) {
            snprintf(flat->letters + size, sizeof flat->letters - size, "%c%s", row->letter,
                     has_argument == required_argument ? ":" : "");
        }
    }
    flat->names[flat->count] = (struct option){"help", no_argument, NULL, 'h'};
    flat->names[flat->count + 1] = (struct option){"version", no_argument, NULL, 'V'};
}

static void print_hint(const char *program)
{
    const char *command = strchr(program, ' ');

    if (command) {
        fprintf(stderr, " '%.*s help%s' shows all\n", (int)(command - program), program, command);
    } else {
        fprintf(stderr, " '%s --help' shows all\n", program);
    }
}

static void refuse_name(const char *program, const char *word, const struct option *names)
{
    struct nearest nearest;
    char name[64];

    snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 2, "="), word + 2);
    nearest_begin(&nearest, name);
    for (; names->name; names++) {
        nearest_offer(names->name, &nearest);
    }
    fprintf(stderr, "%s: unknown option '--%s'", program, name);
    if (nearest.count > 0) {
        fprintf(stderr, ": did you mean '--%s'?", nearest.best[0].name);
    } else {
        fputc(';', stderr);
    }
    print_hint(program);
}

static int refuse_option(const char *program, const char *word, int result,
                         const struct option *names)
{
    if (result == ':') {
        fprintf(stderr, "%s: %s needs an argument\n", program, word);
    } else if (strncmp(word, "--", 2) == 0 && optopt) {
        fprintf(stderr, "%s: %.*s takes no argument\n", program, (int)strcspn(word, "="), word);
    } else if (strncmp(word, "--", 2) == 0) {
        refuse_name(program, word, names);
    } else {
        fprintf(stderr, "%s: unknown option '-%c';", program, optopt);
        print_hint(program);
    }
    return USAGE_ERROR;
}

/* @return the number of the word `text` in row->choice, without "and"; -1 with errno EINVAL */
static int row_choose(const struct option_row *row, const char *text, struct apapi_error *err)
{
    int number = 0;

    for (const char *word = row->choice; *word;) {
        size_t size = strcspn(word, ", ");

        if (!word_is(word, size, "and")) {
            if (strncasecmp(word, text, size) == 0 && strlen(text) == size) {
                return number;
            }
            number++;
        }
        word += size + strspn(word + size, ", ");
    }
    return apapi_fail(err, EINVAL, "--%s=%.40s: valid are %s", row->name, text, row->choice);
}

/* Append the argument to a list. The joined texts are kept until the program ends. */
static int row_add(const char **list, struct apapi_error *err)
{
    static struct namelist made;
    char *all = NULL;

    if (!*list) {
        *list = optarg;
        return 0;
    }
    if (asprintf(&all, "%s,%s", *list, optarg) < 0 || namelist_add(&made, all)) {
        free(all);
        return apapi_fail(err, ENOMEM, "no memory");
    }
    *list = made.names[made.count - 1];
    free(all);
    return 0;
}

static int row_set(const struct option_row *row, char *at, struct apapi_error *err)
{
    int chosen;

    switch (row->kind) {
    case OPTION_FLAG:
        *(bool *)at = true;
        return 0;
    case OPTION_TEXT:
        *(const char **)at = optarg;
        return 0;
    case OPTION_WORDS:
        return row_add((const char **)at, err);
    case OPTION_VALUE:
        if (*(int *)at && *(int *)at != row->value) {
            return apapi_fail(err, EINVAL, "--%s contradicts an option before it", row->name);
        }
        *(int *)at = row->value;
        return 0;
    case OPTION_COUNT:
        *(size_t *)at = positive_number(optarg, UINT32_MAX);
        return *(size_t *)at ? 0
                             : apapi_fail(err, EINVAL, "--%s=%.40s: not a number from 1 on",
                                          row->name, optarg);
    case OPTION_CHOICE:
        chosen = row_choose(row, optarg, err);
        *(int *)at = chosen < 0 ? *(int *)at : chosen;
        return chosen < 0 ? -1 : 0;
    default:
        return row->set(at, optarg, err);
    }
}

/* @param result  the value that getopt_long() returned */
static int flat_set(const struct flat *flat, void *options, int result, struct apapi_error *err)
{
    for (size_t i = 0; i < flat->count; i++) {
        const struct option_row *row = flat->rows[i].row;

        if (result == row->letter || result == LONG_FIRST + (int)i) {
            return row_set(row, (char *)options + flat->rows[i].offset, err);
        }
    }
    return 0;
}

/* End after an answer on standard output. @return the exit status */
static int table_end(const struct option_table *table)
{
    if (fflush(stdout) == EOF || ferror(stdout)) {
        fprintf(stderr, "%s: standard output: %s\n", table->program, strerror(errno));
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}

int option_table_read(const struct option_table *table, int argc, char **argv, void *options)
{
    struct apapi_error err;
    struct flat flat;
    int result;

    flat_fill(&flat, table);
    if (argc == 2 && strcmp(argv[1], OPTION_LIST) == 0) {
        flat_list(&flat);
        return table_end(table);
    }
    opterr = 0;
    while ((result = getopt_long(argc, argv, flat.letters, flat.names, NULL)) != -1) {
        if (result == '?' || result == ':') {
            return refuse_option(table->program, argv[optind - 1], result, flat.names);
        }
        if (result == 'h') {
            option_table_help(table, stdout);
            return table_end(table);
        }
        if (result == 'V') {
            printf("%.*s " APAPI_VERSION "\n", (int)strcspn(table->program, " "), table->program);
            return table_end(table);
        }
        if (flat_set(&flat, options, result, &err)) {
            char text[MESSAGE_SIZE];

            text_clean(text, sizeof text, err.text);
            fprintf(stderr, "%s: %s\n", table->program, text);
            return USAGE_ERROR;
        }
    }
    return -1;
}
