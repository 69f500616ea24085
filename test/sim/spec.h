/* SPDX-License-Identifier: BSD-3-Clause */
/* The two halves of the spec parser: lines (spec.c) and their words (spec_words.c). */
#ifndef SIMHW_SPEC_H
#define SIMHW_SPEC_H

#include "simhw.h"

enum { SPEC_ARGS_MAX = 8, SPEC_REST = -1 };

struct spec_line {
    struct sim_tree *tree;
    size_t file;
    const char *file_name;
    unsigned long number;
    const struct spec_word *word;
    const char *path;
    char *args[SPEC_ARGS_MAX];
    int arg_count;
};

/* The words of a line about a path. */
struct spec_word {
    const char *name;
    const char *usage; /* arguments, as the help shows them */
    int min_args;      /* SPEC_REST: one argument, the rest of the line */
    int max_args;
    unsigned int kinds; /* 0: defines the path; otherwise changes one of these kinds (1 << kind) */
    bool exact_only;    /* plain files cannot do it */
    int (*parse)(struct spec_line *line, struct sim_node *node);
};

/* Ends with a NULL name. */
extern const struct spec_word spec_words[];

/* Print what is wrong with the line. -1. */
int spec_fail(const struct spec_line *line, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
