/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIT_STORE_FIXTURE_H
#define UNIT_STORE_FIXTURE_H
/* A store in a folder of its own. */
#include "apapi/record.h"
#include "record/store.h"
#include "unit/temporary.h"

#define NOON_NS INT64_C(1795262400000000000) /* 2026-11-21T12:00:00Z */

static char store[256];

static inline void make_store(void)
{
    make_base();
    snprintf(store, sizeof(store), "%s/acct", base);
}

static inline void write_file(const char *path, const char *text)
{
    write_string(in_base(path), text);
}

static inline char *read_file(const char *path)
{
    FILE *file = fopen(in_base(path), "r");
    char *text = calloc(1, 4 << 20);

    assert_non_null(file);
    assert_non_null(text);
    assert_true(fread(text, 1, (4 << 20) - 1, file) < (4 << 20) - 1);
    fclose(file);
    return text;
}

static inline void assert_file(const char *path, const char *expected)
{
    char *text = read_file(path);

    assert_string_equal(text, expected);
    free(text);
}

static inline void make_day(void)
{
    assert_int_equal(mkdir(store, 0700), 0);
    assert_int_equal(mkdir(in_base("acct/2026-11-21"), 0700), 0);
}

#endif
