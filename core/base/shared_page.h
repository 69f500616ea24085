/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_BASE_SHARED_PAGE_H
#define APAPI_BASE_SHARED_PAGE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/error.h"

/*
 * A shared page: memory that one process writes and others read, a file of a memory file system.
 * Figures that belong together are a record with a sequence lock: its first word is odd while the
 * other words are written, and has a new, even value afterwards. Neither side waits for the other.
 */

/**
 * Give a new file its size and all its memory, and map it. The memory is allocated now, because
 * a lack of it later would end the process with SIGBUS. Children do not have the mapping.
 * @return the memory, all zeros, for shared_page_unmap(); NULL with errno of the call that failed
 */
void *shared_page_create(int file, size_t size);

/**
 * Lock the whole file for writing. The lock shows that its writer lives: it ends with the
 * descriptor and with the process. @return 0; -1 with errno of fcntl(2).
 */
int shared_page_lock(int file);

/** @return whether a writer has locked the file. Readers cannot lock it: they may not write it. */
bool shared_page_has_writer(int file);

/**
 * Open and map a regular file of at least `size` bytes that belongs to root or the caller, and that
 * no group or other user may write.
 * @param mode  O_RDONLY or O_RDWR: how the file is opened and mapped
 * @return for shared_page_unmap(); NULL: there is no such file
 */
void *shared_page_find(int folder, const char *name, int mode, size_t size);

/** Unmap a page. NULL is allowed. errno is preserved. */
void shared_page_unmap(const void *page, size_t size);

typedef uint64_t __attribute__((may_alias)) shared_word;

/* Unroll the loops over a record's words: those of a short record then come from registers. */
#ifdef __clang__
#define SHARED_PAGE_UNROLL
#else
#define SHARED_PAGE_UNROLL _Pragma("GCC unroll 8")
#endif

/** Write `count` words. No reader sees them before what the caller wrote earlier. */
static inline void shared_words_store(void *target, const void *source, size_t count)
{
    shared_word *to = target;
    const shared_word *from = source;

    SHARED_PAGE_UNROLL
    for (size_t i = 0; i < count; i++) {
        __atomic_store_n(to + i, from[i], __ATOMIC_RELEASE);
    }
}

/** Read `count` words, each before anything that the caller reads later. */
static inline void shared_words_load(void *target, const void *source, size_t count)
{
    shared_word *to = target;
    const shared_word *from = source;

    for (size_t i = 0; i < count; i++) {
        to[i] = __atomic_load_n(from + i, __ATOMIC_ACQUIRE);
    }
}

/**
 * Write a record in one go, as its only writer.
 * @param figures  the new words; the first one is ignored
 * @param size     of both, a multiple of a word [bytes]
 *
 * A reader that sees a new word also sees that the first word was odd before; a reader that sees
 * the first word even again sees all new words.
 */
static inline void shared_record_write(void *record, const void *figures, size_t size)
{
    shared_word *to = record;
    const shared_word *from = figures;
    uint64_t sequence = *to | 1; /* a writer that was killed has left it odd */

    __atomic_store_n(to, sequence, __ATOMIC_RELAXED);
    shared_words_store(to + 1, from + 1, size / sizeof *to - 1);
    __atomic_store_n(to, sequence + 1, __ATOMIC_RELEASE);
}

/**
 * Copy a record in a consistent state, as apapi_live_read() does for programs.
 * @param copy  result; has no meaning after a failure
 * @return false: the record was being written in each of a thousand tries
 */
static inline bool shared_record_read(const void *record, void *copy, size_t size)
{
    const shared_word *from = record;
    shared_word *to = copy;

    for (int tries = 0; tries < 1000; tries++) {
        uint64_t before = __atomic_load_n(from, __ATOMIC_ACQUIRE);

        shared_words_load(to + 1, from + 1, size / sizeof *to - 1);
        to[0] = __atomic_load_n(from, __ATOMIC_RELAXED);
        if (to[0] == before && before % 2 == 0) {
            return true;
        }
    }
    return false;
}

#endif
