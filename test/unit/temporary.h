/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIT_TEMPORARY_H
#define UNIT_TEMPORARY_H
#include <dirent.h>
#include <grp.h>
#include <sys/wait.h>

#include "unit/unit.h"

/** The folder of the test that runs now. */
static char base[64];

/** @return how many descriptors are open. */
static inline long descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    long count = -3; /* without ".", ".." and `folder` */

    while (folder && readdir(folder)) {
        count++;
    }
    if (folder) {
        closedir(folder);
    }
    return count;
}

static long descriptors_before; /* at the start of the test */

/** Make the test's folder, empty, below another folder. */
static inline void make_base_below(const char *parent)
{
    descriptors_before = descriptors();
    snprintf(base, sizeof base, "%s/apapi-test-XXXXXX", parent);
    assert_non_null(mkdtemp(base));
}

static inline void make_base(void)
{
    make_base_below("/tmp");
}

/** Remove a folder with all that is in it. @return 0; -1. */
static inline int remove_folder(const char *path)
{
    char command[256];

    snprintf(command, sizeof command, "chmod -R u+rwx '%s' && rm -r '%s'", path, path);
    return system(command) == 0 ? 0 : -1;
}

static inline void remove_base(void)
{
    assert_int_equal(descriptors(), descriptors_before);
    assert_int_equal(remove_folder(base), 0);
}

/** @return what `call` returns in a process of a user's; 255: the process could not be made. */
static inline int as_user(uid_t uid, int (*call)(void))
{
    pid_t child = fork();
    int status = 0;

    if (child == 0) {
        _exit(setgroups(0, NULL) || setgid(uid) || setuid(uid) ? 255 : call());
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
    return WEXITSTATUS(status);
}

/** Write a file, or replace its content. */
static inline void write_bytes(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static inline void write_string(const char *path, const char *text)
{
    write_bytes(path, text, strlen(text));
}

/** @return a path in the test's folder, valid until the fourth call from now. */
static inline const char *in_base(const char *name)
{
    static char paths[4][256];
    static unsigned next;
    char *path = paths[next++ % 4];

    snprintf(path, sizeof paths[0], "%s/%s", base, name);
    return path;
}

/** @return the content of a file in the test's folder, for free(). */
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
    FREED char *text = read_file(path);

    assert_string_equal(text, expected);
}

#endif
