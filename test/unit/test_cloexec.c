/* SPDX-License-Identifier: BSD-3-Clause */
/* Descriptors that foreign libraries open reach no program, whenever it is started. */
#include <fcntl.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sources/cloexec.h"
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

static void test_new_ones_are_marked(void **state)
{
    struct open_files before;
    int old = open_null(), fd;

    (void)state;
    open_files_note(&before);
    fd = open_null();
    open_files_close_new_on_exec(&before);
    assert_true(is_marked(fd));
    assert_false(is_marked(old));
    close(fd);
    close(old);
}

static void test_children_meanwhile(void **state)
{
    struct open_files first, second;
    int old = open_null(), one, two;

    (void)state;
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

/* More at a time than are looked after in children, and then again as many. */
static void test_many(void **state)
{
    static struct open_files before[40];

    (void)state;
    for (int i = 0; i < 40; i++) {
        open_files_note(&before[i]);
    }
    for (int i = 0; i < 40; i++) {
        open_files_close_new_on_exec(&before[i]);
    }
    test_children_meanwhile(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_new_ones_are_marked),
        cmocka_unit_test(test_children_meanwhile),
        cmocka_unit_test(test_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
