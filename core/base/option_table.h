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

#define OPTION_LIST "--list-options" /* alone: options for the shell's completion */

/**
 * The effect of an option: makes a bool true, keeps its argument, or all with commas between if it
 * is repeated, as sacct(1) does; sets an enum, calls `set`; keeps a number from 1 on as a size_t,
 * or which word of `choice` the argument is, from 0, as an enum.
 */
enum option_kind {
    OPTION_FLAG,
    OPTION_TEXT,
    OPTION_WORDS,
    OPTION_VALUE, /* an int that is 0 if none of the rows that set it is given */
    OPTION_CALL,
    OPTION_COUNT,
    OPTION_CHOICE,
    OPTION_ROWS
};

struct option_row {
    int letter;           /* 0: none */
    const char *name;     /* NULL: end of the table */
    const char *argument; /* in --help, "=DIR" or " DIR"; optional after "["; NULL: none */
    const char *help;     /* lines; NULL: hidden; ", " or "  ": the next row goes on in the line */
    enum option_kind kind;
    int value;
    size_t offset; /* of what it sets, in the caller's struct */
    int (*set)(void *options, const char *text, struct apapi_error *err); /* 0; -1 and `err` */
    const struct option_row *rows; /* OPTION_ROWS: more rows, for the struct at `offset` */
    const char *choice;            /* "table, json and csv" */
};

/* The end of a row. */
#define TO_FLAG(type, member) .kind = OPTION_FLAG, .offset = offsetof(type, member)
#define TO_TEXT(type, member) .kind = OPTION_TEXT, .offset = offsetof(type, member)
#define TO_WORDS(type, member) .kind = OPTION_WORDS, .offset = offsetof(type, member)
#define TO_VALUE(type, member, number)                                                             \
    .kind = OPTION_VALUE, .offset = offsetof(type, member), .value = (number)
#define TO_CALL(function) .kind = OPTION_CALL, .set = (function)
#define TO_COUNT(type, member) .kind = OPTION_COUNT, .offset = offsetof(type, member)
#define TO_CHOICE(type, member, words)                                                             \
    .kind = OPTION_CHOICE, .offset = offsetof(type, member), .choice = (words)
/* A row of its own. */
#define OPTION_ROWS_OF(type, member, table)                                                        \
    .name = "", .kind = OPTION_ROWS, .offset = offsetof(type, member), .rows = (table)

struct option_table {
    const char *program; /* "atime", "apapi list" */
    const char *head;    /* of --help, before the options */
    const char *foot;    /* after the options; -h and -V are added to every table */
    size_t column;       /* where descriptions begin */
    bool words_end;      /* stop at the first word that is not an option */
    const struct option_row *rows;
};

/** Write the text of --help. */
void option_table_help(const struct option_table *table, FILE *out);

/**
 * Read the options of a command line into the struct `options`; getopt's optind is the first
 * word after them. Answers --help, --version and OPTION_LIST, and reports errors on standard error.
 * @return -1: continue; otherwise the exit status, EXIT_SUCCESS after an answer
 */
int option_table_read(const struct option_table *table, int argc, char **argv, void *options);

#endif
