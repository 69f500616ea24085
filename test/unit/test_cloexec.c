/* SPDX-License-Identifier: BSD-3-Clause */
/* Descriptors of meters that foreign libraries open reach no program. */
#include <fcntl.h>

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

TEST(what_a_programs_other_threads_open_is_left_alone)
{
    struct open_files before;
    int ends[2], own, meter;

    open_files_note(&before);
    own = open_null();
    assert_int_equal(pipe(ends), 0);
    meter = open("/proc/stat", O_RDONLY);
    assert_true(meter >= 0);
    open_files_close_new_on_exec(&before);
    assert_true(is_marked(meter));
    assert_false(is_marked(own) || is_marked(ends[0]) || is_marked(ends[1]));
    close(own);
    close(ends[0]);
    close(ends[1]);
    close(meter);
}
