/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampler/process.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <syslog.h>

#include "unit/temporary.h"

#define MANY 10000 /* more than any socket's queue holds */

/* Open a log that the test reads when it wants. */
static int open_log(int type)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    assert_true(fd >= 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", in_base("log"));
    unlink(address.sun_path);
    assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
    if (type == SOCK_STREAM) {
        assert_int_equal(listen(fd, 1), 0);
    }
    return fd;
}

/* Read a line of the log. @return whether there was one. */
static int read_line(int fd, char text[1024])
{
    ssize_t got = recv(fd, text, 1023, 0);

    text[got > 0 ? got : 0] = '\0';
    return got > 0;
}

TEST(a_line)
{
    char text[1024], end[64];
    int fd = open_log(SOCK_DGRAM);

    log_write(LOG_WARNING, "record of job %u", 7U);
    assert_true(read_line(fd, text));
    snprintf(end, sizeof end, "apapi-test[%d]: record of job 7", (int)getpid());
    assert_int_equal(strncmp(text, "<28>", 4), 0); /* daemon, warning */
    assert_string_equal(text + strlen("<28>Nov 22 09:00:00 "), end);
    assert_int_equal(log_lost(), 0);
    close(fd);
}

TEST(a_log_that_does_not_read)
{
    char text[1024], last[1024] = "", reported[64];
    int fd = open_log(SOCK_DGRAM);
    size_t lost;

    for (int i = 0; i < MANY; i++) {
        log_write(LOG_NOTICE, "message %d", i); /* would block forever, if it waited */
    }
    lost = log_lost();
    assert_in_range(lost, 1, MANY - 1);
    while (read_line(fd, text)) {
    }
    log_write(LOG_NOTICE, "again");
    while (read_line(fd, text)) {
        strcpy(last, text);
    }
    snprintf(reported, sizeof reported, "messages lost, as the log did not take them: %zu", lost);
    assert_contains(last, reported);
    assert_int_equal(log_lost(), 0);
    close(fd);
}

TEST(a_log_that_is_not_there_and_starts_again)
{
    char text[1024];
    int fd = open_log(SOCK_DGRAM);

    log_write(LOG_ERR, "one");
    close(fd);
    unlink(in_base("log"));
    errno = EXDEV;
    log_write(LOG_ERR, "nobody hears this");
    assert_int_equal(errno, EXDEV);
    assert_int_equal(log_lost(), 1);
    fd = open_log(SOCK_DGRAM);
    log_write(LOG_ERR, "two");
    assert_true(read_line(fd, text));
    assert_contains(text, ": two");
    close(fd);
    fd = open_log(SOCK_DGRAM);
    log_write(LOG_ERR, "three");
    assert_true(read_line(fd, text));
    assert_contains(text, ": three");
    close(fd);
}

TEST(a_stream)
{
    char text[1024];
    int fd = open_log(SOCK_STREAM), taken;

    log_write(LOG_ERR, "one");
    taken = accept(fd, NULL, NULL);
    assert_true(taken >= 0);
    assert_true(read_line(taken, text));
    assert_contains(text, ": one");
    for (int i = 0; i < MANY * 10; i++) {
        log_write(LOG_NOTICE, "message %d", i);
    }
    assert_true(log_lost() > 0);
    close(taken);
    close(fd);
}

static void begin(void)
{
    static char path[64 + sizeof "/log"];

    make_base();
    descriptors_before++; /* the log stays open */
    snprintf(path, sizeof path, "%s", in_base("log"));
    log_open(path, "apapi-test");
}

ALL_TESTS_IN(begin, remove_base)
