/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampler/userfiles.h"

#include <fcntl.h>
#include <signal.h>

#include "channel/deadline.h"
#include "unit/temporary.h"

#define NOBODY 65534

static char path[128];
static struct user user;

static uint64_t soon(void)
{
    return deadline_now() + 120000 * DEADLINE_MS;
}

static int write_text(const char *name, const char *text)
{
    struct writer writer;
    int result;

    assert_int_equal(writer_start(&writer, &user, NULL), 0);
    result = writer_open(&writer, name, &why);
    if (result == 0) {
        writer_put(&writer, text, strlen(text), soon());
        result = writer_finish(&writer, soon(), &why);
        assert_int_equal(writer.fd, -1);
    }
    writer_abandon(&writer);
    return result;
}

TEST(a_file_is_the_users)
{
    struct stat file;

    user.umask = 027;
    assert_int_equal(write_text(path, "hello\n"), 0);
    assert_int_equal(stat(path, &file), 0);
    assert_int_equal(file.st_uid, user.uid);
    assert_int_equal(file.st_gid, user.gid);
    assert_int_equal(file.st_mode & 0777, 0640);
    assert_file("file", "hello\n");
}

static void refused(const char *name, const char *hint)
{
    assert_int_equal(write_text(name, "x"), -1);
    assert_contains(why.text, name);
    assert_contains(why.text, hint);
}

TEST(errors_come_back)
{
    const char *name = in_base("fifo");

    refused(base, "Is a directory");
    refused("/no/such/folder/x", "No such file");
    refused("/dev/full", "No space");
    refused("/dev/stdout", "No such file"); /* it is not that of a user's program */
    assert_int_equal(mkfifo(name, 0666), 0);
    assert_int_equal(chmod(name, 0666), 0);
    refused(name, "No such device"); /* it has no reader: do not wait for one */
    unlink(name);
}

TEST(a_process_that_is_killed_was_not_too_slow)
{
    struct writer writer;

    assert_int_equal(writer_start(&writer, &user, NULL), 0);
    assert_int_equal(kill(writer.pid, SIGSTOP), 0);
    assert_int_equal(writer_open(&writer, path, &why), 0);
    assert_int_equal(kill(writer.pid, SIGKILL), 0);
    assert_fails_with(EIO, "killed", writer_finish(&writer, soon(), &why));
}

TEST(a_process_that_hangs_is_not_waited_for)
{
    struct writer writer;
    static char text[1 << 20];

    assert_int_equal(writer_start(&writer, &user, NULL), 0);
    assert_int_equal(kill(writer.pid, SIGSTOP), 0);
    assert_int_equal(writer_open(&writer, path, &why), 0);
    while (writer_put(&writer, text, sizeof text, deadline_now()) == 0) {
    }
    assert_int_equal(errno, ETIMEDOUT);
    assert_fails(ETIMEDOUT, writer_finish(&writer, deadline_now() + DEADLINE_MS, &why));
    assert_int_equal(writer.fd, -1);
}

static void make_folder(void)
{
    make_base();
    snprintf(path, sizeof path, "%s/file", base);
    user = (struct user){.uid = geteuid(), .gid = getegid(), .umask = 022};
    if (geteuid() == 0) {
        user.uid = user.gid = NOBODY;
        assert_int_equal(chown(base, NOBODY, NOBODY), 0);
    }
}

ALL_TESTS_IN(make_folder, remove_base)
