/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_BASE_OPTION_TABLE_H
#define APAPI_BASE_OPTION_TABLE_H
#include <getopt.h> /* optind */
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "apapi/error.h"

/* One table of a program's options: what they set, and the text of --help. */

enum { USAGE_ERROR = 2 }; /* exit status */

#define OPTION_LIST "--list-options" /* the only word: list options for the shell's completion */

/** The effect of an option on the member at `offset`. */
enum option_kind {
    OPTION_FLAG,   /* set a bool to true */
    OPTION_TEXT,   /* keep the argument */
    OPTION_WORDS,  /* keep the arguments of all repetitions, joined by commas, as sacct(1) does */
    OPTION_VALUE,  /* set an int to `value`; it is 0 if no row that sets it is given */
    OPTION_CALL,   /* call `set` */
    OPTION_COUNT,  /* keep a number, at least 1, as a size_t */
    OPTION_CHOICE, /* keep the number of the argument in `choice`, from 0, as an enum */
    OPTION_ROWS    /* not an option: the rows of another table */
};

struct option_row {
    int letter;           /* 0: none */
    const char *name;     /* NULL: end of the table */
    const char *argument; /* in --help: "=DIR" or " DIR"; begins with "[": optional; NULL: none */
    const char *help;     /* lines; NULL: hidden; ", " or "  ": the next row is in the same line */
    enum option_kind kind;
    int value;
    size_t offset; /* offset of the member in the caller's struct */
    int (*set)(void *options, const char *text, struct apapi_error *err); /* 0; -1 and `err` */
    const struct option_row *rows; /* OPTION_ROWS: more rows, for the struct at `offset` */
    const char *choice;            /* "table, json and csv" */
};

/* Initializers of the end of a row. */
#define TO_FLAG(type, member) .kind = OPTION_FLAG, .offset = offsetof(type, member)
#define TO_TEXT(type, member) .kind = OPTION_TEXT, .offset = offsetof(type, member)
#define TO_WORDS(type, member) .kind = OPTION_WORDS, .offset = offsetof(type, member)
#define TO_VALUE(type, member, number)                                                             \
    .kind = OPTION_VALUE, .offset = offsetof(type, member), .value = (number)
#define TO_CALL(function) .kind = OPTION_CALL, .set = (function)
#define TO_COUNT(type, member) .kind = OPTION_COUNT, .offset = offsetof(type, member)
#define TO_CHOICE(type, member, words)                                                             \
    .kind = OPTION_CHOICE, .offset = offsetof(type, member), .choice = (words)
/* Initializer of a whole row: the rows of another table. */
#define OPTION_ROWS_OF(type, member, table)                                                        \
    .name = "", .kind = OPTION_ROWS, .offset = offsetof(type, member), .rows = (table)

struct option_table {
    const char *program; /* "atime", "apapi list" */
    const char *head;    /* text of --help before the options */
    const char *foot;    /* text of --help after the options, -h and -V, which every table has */
    size_t column;       /* in which descriptions begin */
    bool words_end;      /* stop at the first word that is not an option */
    const struct option_row *rows;
};

/** Write the text of --help. */
void option_table_help(const struct option_table *table, FILE *out);

/**
 * Read the options of a command line into the struct `options`; getopt's optind is the first word
 * after the options. Answers --help, --version and OPTION_LIST; reports errors on standard error.
 * @return -1: continue; otherwise the exit status, EXIT_SUCCESS after an answer
 */
int option_table_read(const struct option_table *table, int argc, char **argv, void *options);

#endif
