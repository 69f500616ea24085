/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_STORE_SCAN_PARTS_H
#define APAPI_STORE_SCAN_PARTS_H
#include <stdbool.h>
#include <stddef.h>

/*
 * Besides a record, a line may hold other forms of JSON: a part of an array, as written by `srun
 * --apapi-format=json`, or a merged record.
 */

/** @return 0 to continue; anything else stops the visit. The text is valid during the call only. */
typedef int (*parts_f)(const char *text, size_t size, void *context);

/**
 * Visit the elements of a line. It may begin with '[', end with ']', and have commas between and
 * after them. Anything else is one element, together with all that follows it.
 * @return 0, or what `take` has returned.
 */
int parts_each(const char *line, size_t size, parts_f take, void *context);

/** @return whether the text is an array's element for a node without a record. */
bool parts_is_absence(const char *text, size_t size);

/**
 * Visit the nodes of a merged record as records. They get their shares of the sums: by their own
 * energies, or equal shares.
 * @return 0; 1: not a merged record; what `take` has returned; -1 with errno ENOMEM.
 */
int parts_of_merged(const char *text, size_t size, parts_f take, void *context);

#endif
