/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_BASE_KERNEL_FILE_H
#define APAPI_BASE_KERNEL_FILE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Files of sysfs and procfs: their content and their names. */

/** Put the test root APAPI_SYSROOT, if set, in front of `absolute`. */
void kernel_file_path(char *path, size_t size, const char *absolute);

/** Copy `pattern` to `text`, with `number` in place of '#'. */
void kernel_file_fill_in(char *text, size_t size, const char *pattern, unsigned number);

/**
 * @return whether `text` is the pattern with a number in place of '#'. '*' at the end matches
 *         anything.
 * @param number  set if there is a '#'
 */
bool kernel_file_match(const char *pattern, const char *text, unsigned *number);

/**
 * Read a file that has a whole number, its suffix, at least one newline, and nothing else.
 * @param fd      the file, read from its start
 * @param suffix  the unit after the number, "W" or ""; a time may follow it: "250 W",
 *                "250 W 1700000000 us". NULL: no unit and no time
 * @return 0; EBADMSG (something else), ERANGE (over 64 bits) or the errno of pread(2).
 */
int kernel_file_read_value(int fd, const char *suffix, uint64_t *value);

/** Read one number from a file in folder `dir`. 0; -1 with errno. */
int kernel_file_read_u64_at(int dir, const char *name, uint64_t *value);

/** Read the first line of a file in folder `dir`, cut to `size` bytes. 0; -1 with errno. */
int kernel_file_read_word_at(int dir, const char *name, char *word, size_t size);

/** @return how many cores of this machine are online, each with all its threads; 0: not known. */
uint32_t kernel_cores(void);

/** @return whether the processors are AMD's, or Hygon's with AMD's registers. */
bool kernel_cpu_is_amd(void);

#endif
