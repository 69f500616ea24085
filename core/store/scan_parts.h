/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_STORE_SCAN_PARTS_H
#define APAPI_STORE_SCAN_PARTS_H
#include <stdbool.h>
#include <stddef.h>

/*
 * Besides a record, a line may hold what the other forms of JSON have: a part of an array, as
 * `srun --apapi-format=json` writes it, or a merged record.
 */

/** @return 0 to go on; anything else ends the visit. The text lives during the call only. */
typedef int (*parts_f)(const char *text, size_t size, void *context);

/**
 * Visit the elements of a line: it may begin with a '[', end with a ']', and have commas between
 * and behind them. What is neither is one element with all that follows it.
 * @return 0; what `take` has returned.
 */
int parts_each(const char *line, size_t size, parts_f take, void *context);

/** @return whether it says of a node that it has no record, as an array of records does. */
bool parts_is_absence(const char *text, size_t size);

/**
 * Visit a merged record's nodes as records, which have their shares of the sums: by their own
 * energies, or all the same.
 * @return 0; 1: it is no merged record; what `take` has returned; -1 with errno ENOMEM.
 */
int parts_of_merged(const char *text, size_t size, parts_f take, void *context);

#endif
