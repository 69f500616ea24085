/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/kernel_file.h"

#include <ctype.h>
#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- kernel file ---------------------------------------------------------------------------- */

/* Any number with so many digits fits into 64 bits. */
#define DIGITS_THAT_FIT 19

void kernel_file_path(char *path, size_t size, const char *absolute)
{
    const char *root = secure_getenv("APAPI_SYSROOT");

    snprintf(path, size, "%s%s", root ? root : "", absolute);
}

void kernel_file_fill_in(char *text, size_t size, const char *pattern, unsigned number)
{
    const char *hash = strchr(pattern, '#');

    if (hash) {
        snprintf(text, size, "%.*s%u%s", (int)(hash - pattern), pattern, number, hash + 1);
    } else {
        snprintf(text, size, "%s", pattern);
    }
}

bool kernel_file_match(const char *pattern, const char *text, unsigned *number)
{
    for (; *pattern && *pattern != '*'; pattern++) {
        if (*pattern != '#') {
            if (*text++ != *pattern) {
                return false;
            }
            continue;
        }
        char *end;
        unsigned long found = strtoul(text, &end, 10);

        if (!isdigit((unsigned char)*text) || found > UINT_MAX) {
            return false;
        }
        *number = (unsigned)found;
        text = end;
    }
    return *pattern == '*' || *text == '\0';
}

static inline unsigned digit_of(char letter)
{
    return (unsigned)(unsigned char)letter - '0'; /* above 9: not a digit */
}

/*
 * Parse eight digits at once: neighbours are joined to numbers of two, four and eight digits. One
 * digit after the other takes three times as long. @return false: not all eight are digits.
 */
static inline bool parse_eight(const char *text, uint64_t *value)
{
    const uint64_t zeros = UINT64_C(0x3030303030303030), high = UINT64_C(0x8080808080808080);
    const uint64_t to_high = UINT64_C(0x7676767676767676), low = UINT64_C(0x000000ff000000ff);
    uint64_t digits;

    memcpy(&digits, text, sizeof digits);
    digits = le64toh(digits) ^ zeros;
    if ((digits | (digits + to_high)) & high) {
        return false;
    }
    digits = digits * 10 + (digits >> 8);
    *value = ((digits & low) * (100 + (UINT64_C(1000000) << 32)) +
              (digits >> 16 & low) * (1 + (UINT64_C(10000) << 32))) >>
             32;
    return true;
}

/* Parse the digits at `*at`. @return 0, EBADMSG (none) or ERANGE. */
static inline int parse_digits(const char *text, size_t size, size_t *at, uint64_t *value)
{
    const size_t unchecked = size - *at < DIGITS_THAT_FIT ? size : *at + DIGITS_THAT_FIT;
    uint64_t sum = 0;
    unsigned digit;
    size_t i = *at;

    if (size - i >= sizeof sum && parse_eight(text + i, &sum)) {
        i += sizeof sum;
    }
    for (; i < unchecked && (digit = digit_of(text[i])) <= 9; i++) {
        sum = sum * 10 + digit;
    }
    for (; i < size && (digit = digit_of(text[i])) <= 9; i++) {
        if (sum > (UINT64_MAX - digit) / 10) {
            return ERANGE;
        }
        sum = sum * 10 + digit;
    }
    if (i == *at) {
        return EBADMSG;
    }
    *at = i;
    *value = sum;
    return 0;
}

/* At least one newline and nothing else. */
static inline int parse_end(const char *text, size_t size, size_t at)
{
    if (at == size) {
        return EBADMSG;
    }
    for (; at < size; at++) {
        if (text[at] != '\n') {
            return EBADMSG;
        }
    }
    return 0;
}

/* Skip a blank and a word at `at`. @return where they end; 0: not there. */
static size_t skip_word(const char *text, size_t size, size_t at, const char *word)
{
    size_t length = strlen(word);

    if (size - at < length + 1 || text[at] != ' ' || memcmp(text + at + 1, word, length) != 0) {
        return 0;
    }
    return at + 1 + length;
}

/* Skip " 1700000000 us" if it is there. @return where it ends; 0: it starts like that only. */
static size_t skip_time(const char *text, size_t size, size_t at)
{
    uint64_t time_us;

    if (at == size || text[at] != ' ') {
        return at;
    }
    at++;
    return parse_digits(text, size, &at, &time_us) ? 0 : skip_word(text, size, at, "us");
}

int kernel_file_parse(const char *text, size_t size, const char *suffix, uint64_t *value)
{
    uint64_t number = 0;
    size_t at = 0;
    int error = parse_digits(text, size, &at, &number);

    if (!error && suffix) {
        at = *suffix ? skip_word(text, size, at, suffix) : at;
        at = at ? skip_time(text, size, at) : 0;
    }
    if (!error) {
        error = at ? parse_end(text, size, at) : EBADMSG;
    }
    if (!error) {
        *value = number;
    }
    return error;
}

int kernel_file_read_value(int fd, const char *suffix, uint64_t *value)
{
    char text[64];
    ssize_t got = pread(fd, text, sizeof text, 0);

    return got < 0 ? errno : kernel_file_parse(text, (size_t)got, suffix, value);
}

int kernel_file_read_u64_at(int dir, const char *name, uint64_t *value)
{
    int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
    int error;

    if (fd < 0) {
        return -1;
    }
    error = kernel_file_read_value(fd, NULL, value);
    close(fd);
    errno = error;
    return error ? -1 : 0;
}

int kernel_file_read_word_at(int dir, const char *name, char *word, size_t size)
{
    int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
    ssize_t got;

    if (fd < 0) {
        return -1;
    }
    got = pread(fd, word, size - 1, 0);
    close(fd);
    if (got < 0) {
        return -1;
    }
    word[got] = '\0';
    word[strcspn(word, "\n")] = '\0';
    return 0;
}

/* --- kernel cores --------------------------------------------------------------------------- */

/* Of the threads of a core the first one counts. One that is offline has no such file. */
uint32_t kernel_cores(void)
{
    char path[PATH_MAX], name[64], siblings[32];
    uint32_t count = 0;
    unsigned number;
    DIR *cpus;

    kernel_file_path(path, sizeof path, "/sys/devices/system/cpu");
    cpus = opendir(path);
    for (const struct dirent *entry; cpus && (entry = readdir(cpus));) {
        if (kernel_file_match("cpu#", entry->d_name, &number)) {
            snprintf(name, sizeof name, "cpu%u/topology/thread_siblings_list", number);
            count += kernel_file_read_word_at(dirfd(cpus), name, siblings, sizeof siblings) == 0 &&
                     strtoul(siblings, NULL, 10) == number;
        }
    }
    if (cpus) {
        closedir(cpus);
    }
    return count;
}
