/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_BASE_SHARED_WORDS_H
#define APAPI_BASE_SHARED_WORDS_H
#include <stddef.h>
#include <stdint.h>

/*
 * Figures in memory that processes share, beside a number that says what they are worth: it is
 * changed before the first word is written and after the last one, and looked at before and after
 * they are read.
 */
typedef uint64_t __attribute__((may_alias)) shared_word;

/** Write `count` words, none before what the caller wrote before. */
static inline void shared_words_store(void *target, const void *source, size_t count)
{
    shared_word *to = target;
    const shared_word *from = source;

    for (size_t i = 0; i < count; i++) {
        __atomic_store_n(to + i, from[i], __ATOMIC_RELEASE);
    }
}

/** Read `count` words, each before what the caller reads after. */
static inline void shared_words_load(void *target, const void *source, size_t count)
{
    shared_word *to = target;
    const shared_word *from = source;

    for (size_t i = 0; i < count; i++) {
        to[i] = __atomic_load_n(from + i, __ATOMIC_ACQUIRE);
    }
}

#endif
