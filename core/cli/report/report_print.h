/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_REPORT_REPORT_PRINT_H
#define APAPI_REPORT_REPORT_PRINT_H
#include <stddef.h>

#include "base/names.h"
#include "cli/totals/row_fields.h"
#include "cli/totals/totals.h"

#define REPORT_BY_SIZE 64 /* for all its words */

/**
 * Set what a row is: "job", "step", "node", or a list of what its jobs have in common,
 * "user,account".
 * @return 0; -1 with errno EINVAL: the ledger is unchanged.
 */
int report_by_parse(const char *text, struct report_ledger *ledger, struct apapi_error *err);

/** Write it in the same words. */
void report_by_text(const struct report_ledger *ledger, char *text, size_t size);

/** The fields that are shown by default. */
void report_by_format(const struct report_ledger *ledger, char *text, size_t size);

/* PARSABLE ends each line with '|', as sacct's -p. */
enum report_form { REPORT_TABLE, REPORT_CSV, REPORT_PARSABLE, REPORT_PARSABLE2, REPORT_JSON };

/*
 * Fits a wide table into the terminal: columns are reduced to what the first rows need, texts even
 * further. Numbers are never cut.
 */

#define REPORT_FIT_ROWS 1000

/** The cells of these rows in order. */
struct report_fit {
    size_t width; /* of a line; 0: no limit */
    struct namelist cells;
};

/** How rows are printed to standard output. */
struct report_printer {
    enum report_form form;
    struct report_format format;
    bool no_header;
    bool shares;             /* the energy is what jobs were given of their nodes': a share */
    char by[REPORT_BY_SIZE]; /* for JSON */
    double shared_j;       /* for JSON: counted more than once because jobs shared nodes; 0: none */
    size_t rows;           /* printed so far */
    struct report_fit fit; /* for a table */
    bool keeps;            /* keeps rows until the widths of the columns are known */
};

/** Begin. `fit.width` is the width of the terminal. */
void report_print_begin(struct report_printer *printer);

/** @return 0; -1 with errno ENOMEM. */
int report_print_row(struct report_printer *printer, const struct report_row *row);

/** Print the rest. */
void report_print_end(struct report_printer *printer);

#endif
