/* SPDX-License-Identifier: BSD-3-Clause */
#include "regions/intern.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define INTERN_BUCKETS 512 /* a power of 2, twice the names */
#define INTERN_TAIL 45     /* bytes that a long name keeps of its end */

struct intern_entry {
    char name[INTERN_SIZE];
    char shown[PAGE_NAME_SIZE];
};

/* Entries are complete before a bucket has their number, and never change. */
static struct intern_entry intern_entries[INTERN_OTHER];
static uint8_t intern_buckets[INTERN_BUCKETS];
static uint32_t intern_count;
static pthread_mutex_t intern_lock = PTHREAD_MUTEX_INITIALIZER;

static uint32_t intern_hash(const char *name)
{
    uint32_t hash = 2166136261u; /* FNV-1a */

    for (size_t i = 0; i < INTERN_SIZE - 1 && name[i]; i++) {
        hash = (hash ^ (unsigned char)name[i]) * 16777619u;
    }
    return hash ^ hash >> 15;
}

bool intern_is(uint32_t number, const char *name)
{
    return number == INTERN_OTHER ||
           strncmp(intern_entries[number].name, name, INTERN_SIZE - 1) == 0;
}

bool intern_knows(uint32_t number)
{
    return number == INTERN_OTHER ||
           (number > 0 && number <= __atomic_load_n(&intern_count, __ATOMIC_ACQUIRE));
}

const char *intern_shown(uint32_t number)
{
    return number == INTERN_OTHER ? "..." : intern_entries[number].shown;
}

/* @return number of the name; 0: *bucket is the one that it belongs into. */
static uint32_t intern_find(const char *name, uint32_t *bucket)
{
    for (*bucket = intern_hash(name) % INTERN_BUCKETS;; *bucket = (*bucket + 1) % INTERN_BUCKETS) {
        uint32_t number = __atomic_load_n(&intern_buckets[*bucket], __ATOMIC_ACQUIRE);

        if (number == 0 || intern_is(number, name)) {
            return number;
        }
    }
}

static uint32_t intern_add(const char *name)
{
    uint32_t bucket, number;

    pthread_mutex_lock(&intern_lock);
    number = intern_find(name, &bucket);
    if (number == 0 && intern_count < INTERN_OTHER - 1) {
        number = intern_count + 1;
        memcpy(intern_entries[number].name, name, strnlen(name, INTERN_SIZE - 1));
        intern_show(intern_entries[number].shown, intern_entries[number].name);
        __atomic_store_n(&intern_buckets[bucket], (uint8_t)number, __ATOMIC_RELEASE);
        __atomic_store_n(&intern_count, number, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&intern_lock);
    return number ? number : INTERN_OTHER;
}

uint32_t intern_name(const char *name)
{
    uint32_t bucket, number = intern_find(name, &bucket);

    if (number) {
        return number;
    }
    return __atomic_load_n(&intern_count, __ATOMIC_ACQUIRE) < INTERN_OTHER - 1 ? intern_add(name)
                                                                               : INTERN_OTHER;
}

void intern_unlock(void)
{
    pthread_mutex_init(&intern_lock, NULL);
}

static bool intern_is_printable(const char *character, size_t length)
{
    char copy[8] = "", clean[8];

    memcpy(copy, character, length);
    text_clean(clean, sizeof clean, copy);
    return strcmp(copy, clean) == 0 && *copy != '/' && *copy != '\\';
}

/* Most names have no other characters; the first call of a program is not to take long. */
static bool intern_is_plain(char byte)
{
    return byte >= ' ' && byte <= '~' && byte != '/' && byte != '\\';
}

/* Put the next character, or byte, of a name into `shown`. @return bytes of the name. */
static size_t intern_show_next(char shown[8], const char *name)
{
    uint32_t character;
    size_t length;

    if (intern_is_plain(*name)) {
        shown[0] = *name;
        shown[1] = '\0';
        return 1;
    }
    length = text_character(name, &character);
    if (length > 0 && intern_is_printable(name, length)) {
        snprintf(shown, 8, "%.*s", (int)length, name);
        return length;
    }
    snprintf(shown, 8, "\\x%02X", (unsigned char)*name);
    return 1;
}

void intern_show(char shown[PAGE_NAME_SIZE], const char *name)
{
    char whole[INTERN_SIZE * 4 + 8] = "", next[8];
    size_t length = 0, head = 0, tail;

    for (size_t i = 0; name[i] && length + sizeof next < sizeof whole;) {
        i += intern_show_next(next, name + i);
        memcpy(whole + length, next, strlen(next) + 1);
        length += strlen(next);
        head = length < PAGE_NAME_SIZE - INTERN_TAIL - 3 ? length : head;
    }
    if (length == 0) {
        strcpy(shown, "\"\"");
    } else if (length < PAGE_NAME_SIZE) {
        memcpy(shown, whole, length + 1);
    } else {
        tail = length - INTERN_TAIL;
        while ((whole[tail] & 0xC0) == 0x80) { /* within a character */
            tail++;
        }
        snprintf(shown, PAGE_NAME_SIZE, "%.*s...%.*s", (int)head, whole, INTERN_TAIL, whole + tail);
    }
}
