/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/kernel_file.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

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

/* Skip a blank and the unit, and " 1700000000 us" if it is there. @return NULL: another suffix. */
static const char *skip_suffix(const char *at, const char *unit)
{
    size_t length = strlen(unit);
    uint64_t time_us;

    if (length > 0 && (*at != ' ' || strncmp(at + 1, unit, length) != 0)) {
        return NULL;
    }
    at += length > 0 ? length + 1 : 0;
    if (*at != ' ') {
        return at;
    }
    at = text_digits(at + 1, UINT64_MAX, &time_us);
    return at && strncmp(at, " us", 3) == 0 ? at + 3 : NULL;
}

int kernel_file_read_value(int fd, const char *suffix, uint64_t *value)
{
    char text[64];
    ssize_t got = pread(fd, text, sizeof text - 1, 0);
    uint64_t number = 0;
    const char *at;

    if (got < 0) {
        return errno;
    }
    text[got] = '\0';
    at = text_digits(text, UINT64_MAX, &number);
    if (!at) {
        return isdigit((unsigned char)*text) ? ERANGE : EBADMSG;
    }
    at = suffix ? skip_suffix(at, suffix) : at;
    if (!at || *at != '\n' || at + strspn(at, "\n") != text + got) {
        return EBADMSG;
    }
    *value = number;
    return 0;
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

/* Count the first thread of each core. A thread that is offline has no such file. */
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

/* The kernel's numbers of makers of x86 processors: X86_VENDOR_AMD, X86_VENDOR_HYGON. */
bool kernel_cpu_is_amd(void)
{
    char path[PATH_MAX], type[64];

    kernel_file_path(path, sizeof path, "/sys/devices/system/cpu/modalias");
    return kernel_file_read_word_at(AT_FDCWD, path, type, sizeof type) == 0 &&
           (strstr(type, ",ven0002") || strstr(type, ",ven0009"));
}
