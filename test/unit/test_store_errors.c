/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that the store refuses, and its messages. */
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "unit/store_fixture.h"

#define STORE_TEST(name) TEST_WITH(name, make_store, remove_base)

STORE_TEST(bad_arguments_are_refused)
{
    static const struct {
        const char *node;
        const char *line;
    } cases[] = {{"../x", "{}"}, {"a/b", "{}"},  {"", "{}"},       {".", "{}"},
                 {"..", "{}"},   {"a..b", "{}"}, {"/etc/x", "{}"}, {"n1", "{}\n{}"}};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct apapi_error err = {""};

        errno = 0;
        assert_int_equal(apapi_store_append(store, cases[i].node, NOON_NS, cases[i].line, &err),
                         -1);
        assert_int_equal(errno, EINVAL);
        assert_string_not_equal(err.text, "");
        assert_int_equal(access(store, F_OK), -1);
    }
}

static void assert_refused(int code, int other_code, const char *named)
{
    struct apapi_error err = {""};

    errno = 0;
    assert_int_equal(apapi_store_append(store, "n1", NOON_NS, "{}", &err), -1);
    if (errno != other_code) {
        assert_int_equal(errno, code);
    }
    assert_non_null(strstr(err.text, named));
}

static void append_by_link(const char *link)
{
    snprintf(store, sizeof(store), "%s/%s/acct", base, link);
    errno = 0;
}

STORE_TEST(a_link_of_ours_leads_on)
{
    assert_int_equal(mkdir(in_base("elsewhere"), 0700), 0);
    assert_int_equal(symlink("elsewhere", in_base("link")), 0);
    append_by_link("link");
    assert_int_equal(apapi_store_append(store, "n1", NOON_NS, "{}", NULL), 0);
    assert_file("elsewhere/acct/2026-11-21/n1.jsonl", "{}\n");
}

STORE_TEST(a_link_that_others_can_replace_is_refused)
{
    assert_int_equal(mkdir(in_base("elsewhere"), 0700), 0);
    assert_int_equal(mkdir(in_base("open"), 0700), 0);
    assert_int_equal(chmod(in_base("open"), 0777), 0);
    assert_int_equal(symlink("../elsewhere", in_base("open/link")), 0);
    append_by_link("open/link");
    assert_refused(ELOOP, ELOOP, in_base("open/link: a link"));
    assert_int_equal(access(in_base("elsewhere/acct"), F_OK), -1);
    assert_int_equal(chmod(in_base("open"), 01777), 0);
    assert_int_equal(apapi_store_append(store, "n1", NOON_NS, "{}", NULL), 0);
}

STORE_TEST(a_link_of_others_is_refused)
{
    if (geteuid() != 0) {
        skip_because("needs root");
    }
    assert_int_equal(mkdir(in_base("elsewhere"), 0700), 0);
    assert_int_equal(symlink("elsewhere", in_base("link")), 0);
    assert_int_equal(lchown(in_base("link"), 65534, 65534), 0);
    append_by_link("link");
    assert_refused(ELOOP, ELOOP, in_base("link: a link"));
    /* also instead of the folder itself */
    snprintf(store, sizeof(store), "%s/link", base);
    assert_refused(ELOOP, ELOOP, store);
    assert_int_equal(rmdir(in_base("elsewhere")), 0);
}

STORE_TEST(a_linked_day_is_refused)
{
    assert_int_equal(mkdir(store, 0700), 0);
    assert_int_equal(mkdir(in_base("elsewhere"), 0700), 0);
    assert_int_equal(symlink("../elsewhere", in_base("acct/2026-11-21")), 0);
    assert_refused(ELOOP, ENOTDIR, in_base("acct/2026-11-21"));
    assert_int_equal(access(in_base("elsewhere/n1.jsonl"), F_OK), -1);
}

STORE_TEST(a_linked_file_is_refused)
{
    make_day();
    write_file("precious", "as it was");
    assert_int_equal(symlink("../../precious", in_base("acct/2026-11-21/n1.jsonl")), 0);
    assert_refused(ELOOP, ELOOP, in_base("acct/2026-11-21/n1.jsonl"));
    assert_file("precious", "as it was");
}

STORE_TEST(a_pipe_is_refused_without_waiting)
{
    make_day();
    assert_int_equal(mkfifo(in_base("acct/2026-11-21/n1.jsonl"), 0600), 0);
    alarm(120);
    assert_refused(EPERM, ENXIO, in_base("acct/2026-11-21/n1.jsonl"));
    alarm(0);
}

STORE_TEST(a_folder_in_place_of_the_file_is_named)
{
    make_day();
    assert_int_equal(mkdir(in_base("acct/2026-11-21/n1.jsonl"), 0700), 0);
    assert_refused(EISDIR, EISDIR, in_base("acct/2026-11-21/n1.jsonl"));
}

STORE_TEST(a_missing_parent_is_named)
{
    snprintf(store, sizeof(store), "%s/none/acct", base);
    assert_refused(ENOENT, ENOENT, store);
    assert_int_equal(access(in_base("none"), F_OK), -1);
}

STORE_TEST(a_file_in_place_of_the_folder_is_named)
{
    write_file("acct", "");
    assert_refused(ENOTDIR, ENOTDIR, store);
}

/* In a child of its own: an ordinary user, where the tests run as root. */
static void as_ordinary_user(void (*check)(void))
{
    pid_t child;
    int status;

    assert_int_equal(chmod(base, 0755), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (geteuid() == 0 && (setgid(65534) < 0 || setuid(65534) < 0)) {
            _exit(99);
        }
        check();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void expect_eacces(void)
{
    struct apapi_error err = {""};

    if (apapi_store_append(store, "n1", NOON_NS, "{}", &err) != -1 || errno != EACCES) {
        _exit(1);
    }
    if (!strstr(err.text, store)) {
        _exit(2);
    }
}

STORE_TEST(an_unwritable_folder_is_named)
{
    assert_int_equal(mkdir(store, 0755), 0);
    assert_int_equal(chmod(store, 0555), 0);
    as_ordinary_user(expect_eacces);
}

static void expect_foreign_owner(void)
{
    struct apapi_error err = {""};

    if (apapi_store_append(store, "n1", NOON_NS, "{}", &err) != -1 || errno != EPERM) {
        _exit(1);
    }
    if (!strstr(err.text, "belongs to user 0")) {
        _exit(2);
    }
}

STORE_TEST(what_belongs_to_others_is_refused)
{
    if (geteuid() != 0) {
        skip_because("needs root");
    }
    make_day();
    assert_int_equal(chmod(store, 0755), 0);
    assert_int_equal(chmod(in_base("acct/2026-11-21"), 0777), 0);
    as_ordinary_user(expect_foreign_owner);
    assert_int_equal(chown(in_base("acct/2026-11-21"), 65534, 65534), 0);
    write_file("acct/2026-11-21/n1.jsonl", "");
    assert_int_equal(chmod(in_base("acct/2026-11-21/n1.jsonl"), 0666), 0);
    as_ordinary_user(expect_foreign_owner);
    assert_file("acct/2026-11-21/n1.jsonl", "");
}

static void expect_short_write(void)
{
    const struct rlimit limit = {10, 10};
    struct apapi_error err = {""};

    signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &limit) < 0) {
        _exit(98);
    }
    if (apapi_store_append(store, "n1", NOON_NS, "{\"longer\":\"than ten\"}", &err) != -1) {
        _exit(1);
    }
    if (errno != ENOSPC || !strstr(err.text, "only 10 of 22 bytes")) {
        _exit(2);
    }
}

STORE_TEST(a_short_write_is_an_error)
{
    assert_int_equal(chmod(base, 0777), 0);
    snprintf(store, sizeof(store), "%s", in_base("own"));
    assert_int_equal(mkdir(store, 0700), 0);
    if (geteuid() == 0) {
        assert_int_equal(chown(store, 65534, 65534), 0);
    }
    as_ordinary_user(expect_short_write);
}
