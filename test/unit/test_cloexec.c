/* SPDX-License-Identifier: BSD-3-Clause */
/* Descriptors that foreign libraries open reach no program, whenever it is started. */
#include <fcntl.h>
#include <sys/wait.h>

#include "apapi/source.h"
#include "sources/sources.h"
#include "unit/unit.h"

static int open_null(void)
{
    int fd = open("/dev/null", O_RDONLY); /* as they do: without O_CLOEXEC */

    assert_true(fd >= 0);
    return fd;
}

static bool is_marked(int fd)
{
    return fcntl(fd, F_GETFD) & FD_CLOEXEC;
}

static bool is_marked_in_child(int fd)
{
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        _exit(is_marked(fd));
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* As in a program of ours. */
static void own_all(void)
{
    assert_int_equal(apapi_source_set("descriptors", "close_on_exec", "all"), 0);
}

/* As in a program that uses libapapi. */
static void be_a_guest(void)
{
    assert_int_equal(apapi_source_set("descriptors", "close_on_exec", ""), 0);
}

TEST_WITH(children_meanwhile, own_all, NULL)
{
    struct open_files first, second;
    int old = open_null(), one, two;

    open_files_note(&first);
    one = open_null();
    open_files_note(&second);
    two = open_null();
    assert_true(is_marked_in_child(one));
    assert_true(is_marked_in_child(two));
    assert_false(is_marked_in_child(old));
    assert_false(is_marked(one));
    open_files_close_new_on_exec(&first);
    open_files_close_new_on_exec(&second);
    close(one);
    close(two);
    one = open_null(); /* the program's own */
    assert_false(is_marked_in_child(one));
    assert_false(is_marked_in_child(old));
    close(one);
    close(old);
}

TEST_WITH(what_a_programs_other_threads_open_is_left_alone, be_a_guest, NULL)
{
    struct open_files before;
    int ends[2], own, meter;

    open_files_note(&before);
    own = open_null();
    assert_int_equal(pipe(ends), 0);
    meter = open("/proc/stat", O_RDONLY);
    assert_true(meter >= 0);
    assert_true(is_marked_in_child(meter));
    assert_false(is_marked_in_child(own));
    open_files_close_new_on_exec(&before);
    assert_true(is_marked(meter));
    assert_false(is_marked(own) || is_marked(ends[0]) || is_marked(ends[1]));
    close(own);
    close(ends[0]);
    close(ends[1]);
    close(meter);
}
