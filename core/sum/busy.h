/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_SUM_BUSY_H
#define APAPI_SUM_BUSY_H
#include <stddef.h>
#include <stdint.h>

/*
 * The time by which energy is divided for a mean power: that in which at least one record measures.
 */

struct busy_span {
    int64_t start_ns, end_ns; /* [ns since 1970] */
};

/** All zero: nothing. Freed by busy_clear(). */
struct busy {
    struct busy_span *spans;
    size_t count, room;
};

/** Add a time; one that ends before it begins counts nothing. @return 0; -1 with errno ENOMEM. */
int busy_add(struct busy *busy, int64_t start_ns, int64_t end_ns);

/** @return length of the union of all times [ns]; 0: none. Sorts them. */
double busy_length_ns(const struct busy *busy);

void busy_clear(struct busy *busy);

#endif
