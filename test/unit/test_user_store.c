/* SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <sys/wait.h>

#include "record/store.h"
#include "unit/store_fixture.h"

#define USER 4711
#define OTHER 4712
#define FILE_PATH "users/4711/2026-11-21/n1.jsonl"

static char users[256];

static void make_users(void)
{
    make_base();
    snprintf(users, sizeof users, "%s/users", base);
    assert_int_equal(chmod(base, 0755), 0);
}

static int append(const char *line, struct apapi_error *err)
{
    const struct user_record record = {users, USER, "n1", NOON_NS, line};

    return user_store_append(&record, err);
}

static void assert_refused(int code, const char *reason)
{
    struct apapi_error err = {""};

    assert_int_equal(append("{\"a\":2}", &err), -1);
    assert_int_equal(errno, code);
    if (!strstr(err.text, reason)) {
        fail_msg("'%s' lacks '%s'", err.text, reason);
    }
}

/* The rights of a process of this user; only root can ask. */
static bool may(uint32_t uid, const char *path, int mode)
{
    int status;
    pid_t child = fork();

    if (child == 0) {
        _exit(setgid(uid) || setuid(uid) || access(path, mode) ? 1 : 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status == 0;
}

#define USER_TEST(name) TEST_WITH(name, make_users, remove_base)

USER_TEST(the_copy_is_that_of_the_line)
{
    assert_int_equal(append("{\"a\":1}", NULL), 0);
    assert_int_equal(append("{\"a\":2}", NULL), 0);
    assert_file(FILE_PATH, "{\"a\":1}\n{\"a\":2}\n");
}

USER_TEST(only_its_user_can_read_it_and_nobody_can_write)
{
    const char *folder = in_base("users/4711"), *file = in_base(FILE_PATH);

    if (geteuid() != 0) {
        skip_because("needs root");
    }
    assert_int_equal(append("{}", NULL), 0);
    assert_true(may(USER, file, R_OK));
    assert_true(may(USER, folder, R_OK | X_OK));
    assert_false(may(USER, file, W_OK));
    assert_false(may(USER, folder, W_OK));
    assert_false(may(USER, in_base("users/4711/2026-11-21"), W_OK));
    assert_false(may(USER, users, R_OK));
    assert_false(may(USER, users, W_OK));
    assert_false(may(OTHER, file, R_OK));
    assert_false(may(OTHER, folder, R_OK));
    assert_false(may(OTHER, folder, X_OK));
    assert_false(may(OTHER, users, R_OK));
}

USER_TEST(a_link_is_not_followed)
{
    assert_int_equal(append("{}", NULL), 0);
    write_file("elsewhere", "");
    assert_int_equal(unlink(in_base(FILE_PATH)), 0);
    assert_int_equal(symlink(in_base("elsewhere"), in_base(FILE_PATH)), 0);
    assert_refused(ELOOP, FILE_PATH);
    assert_int_equal(remove_folder(in_base("users/4711")), 0);
    assert_int_equal(mkdir(in_base("folder"), 0700), 0);
    assert_int_equal(symlink(in_base("folder"), in_base("users/4711")), 0);
    assert_refused(ENOTDIR, "users/4711");
    assert_file("elsewhere", "");
    assert_int_equal(rmdir(in_base("folder")), 0);
}

USER_TEST(a_second_name_is_refused)
{
    assert_int_equal(append("{}", NULL), 0);
    assert_int_equal(link(in_base(FILE_PATH), in_base("kept")), 0);
    assert_refused(EMLINK, FILE_PATH ": has a second name");
    assert_file("kept", "{}\n");
}

USER_TEST(folders_and_files_of_others_are_refused)
{
    if (geteuid() != 0) {
        skip_because("needs root");
    }
    assert_int_equal(append("{}", NULL), 0);
    assert_int_equal(chown(in_base(FILE_PATH), USER, USER), 0);
    assert_refused(EPERM, FILE_PATH ": belongs to user 4711");
    assert_int_equal(chown(in_base("users/4711"), USER, USER), 0);
    assert_refused(EPERM, "users/4711: belongs to user 4711");
    assert_int_equal(chown(users, USER, USER), 0);
    assert_refused(EPERM, "others than root can change what is in it");
}

USER_TEST(a_folder_that_others_can_write_is_refused)
{
    assert_int_equal(mkdir(users, 0700), 0);
    assert_int_equal(chmod(users, 01777), 0);
    assert_refused(EPERM, "others than root can change what is in it");
}

USER_TEST(a_file_does_not_grow_forever)
{
    assert_int_equal(append("{}", NULL), 0);
    assert_int_equal(truncate(in_base(FILE_PATH), USER_STORE_DAY_MAX - 100), 0);
    assert_int_equal(append("{}", NULL), 0);
    assert_int_equal(truncate(in_base(FILE_PATH), USER_STORE_DAY_MAX - 5), 0);
    assert_refused(EFBIG, "has 16 MiB already");
}
