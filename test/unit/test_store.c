/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <signal.h>

#include <cmocka.h>

#include "apapi/record.h"

#define NOON_NS INT64_C(1795262400000000000) /* 2026-11-21T12:00:00Z */
#define PROCESSES 8
#define LINES_EACH 200

static char base[64];
static char store[256];

static int make_base(void **state)
{
    (void)state;
    snprintf(base, sizeof(base), "/tmp/apapi-store-XXXXXX");
    if (!mkdtemp(base)) {
        return -1;
    }
    snprintf(store, sizeof(store), "%s/acct", base);
    return 0;
}

static int remove_base(void **state)
{
    char command[256];

    (void)state;
    snprintf(command, sizeof(command), "chmod -R u+rwx '%s' && rm -r '%s'", base, base);
    return system(command) == 0 ? 0 : -1;
}

static const char *in_base(const char *path)
{
    static char full[256];

    snprintf(full, sizeof(full), "%s/%s", base, path);
    return full;
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(in_base(path), "w");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static char *read_file(const char *path)
{
    FILE *file = fopen(in_base(path), "r");
    char *text = calloc(1, 4 << 20);

    assert_non_null(file);
    assert_non_null(text);
    assert_true(fread(text, 1, (4 << 20) - 1, file) < (4 << 20) - 1);
    fclose(file);
    return text;
}

static void assert_file(const char *path, const char *expected)
{
    char *text = read_file(path);

    assert_string_equal(text, expected);
    free(text);
}

static void assert_mode(const char *path, mode_t mode)
{
    struct stat status;

    assert_int_equal(lstat(in_base(path), &status), 0);
    assert_int_equal(status.st_mode & 07777, mode);
}

static void make_day(void)
{
    assert_int_equal(mkdir(store, 0700), 0);
    assert_int_equal(mkdir(in_base("acct/2026-11-21"), 0700), 0);
}

static void folders_and_file_are_private(void **state)
{
    mode_t mask = umask(0);
    struct apapi_error err = {""};

    (void)state;
    assert_int_equal(apapi_store_append(store, "n1", NOON_NS, "{\"a\":1}", &err), 0);
    assert_int_equal(apapi_store_append(store, "n1", NOON_NS, "{\"a\":2}", NULL), 0);
    umask(mask);
    assert_file("acct/2026-11-21/n1.jsonl", "{\"a\":1}\n{\"a\":2}\n");
    assert_mode("acct", 0700);
    assert_mode("acct/2026-11-21", 0700);
    assert_mode("acct/2026-11-21/n1.jsonl", 0600);
}

static void the_day_is_that_of_utc(void **state)
{
    static const struct {
        int64_t unix_ns;
        const char *path;
    } cases[] = {
        {0, "acct/1970-01-01/n.jsonl"},
        {-1, "acct/1969-12-31/n.jsonl"},
        {NOON_NS, "acct/2026-11-21/n.jsonl"},
        {INT64_C(1795305599999999999), "acct/2026-11-21/n.jsonl"},
        {INT64_C(1795305600000000000), "acct/2026-11-22/n.jsonl"},
        {INT64_C(1835481599999999999), "acct/2028-02-29/n.jsonl"},
    };

    (void)state;
    setenv("TZ", "Pacific/Kiritimati", 1);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(apapi_store_append(store, "n", cases[i].unix_ns, "{}", NULL), 0);
        assert_int_equal(access(in_base(cases[i].path), F_OK), 0);
        assert_int_equal(unlink(in_base(cases[i].path)), 0);
    }
}

static void a_torn_line_swallows_nothing(void **state)
{
    (void)state;
    make_day();
    write_file("acct/2026-11-21/n1.jsonl", "{\"a\":1}\n{\"a\":");
    assert_int_equal(apapi_store_append(store, "n1", NOON_NS, "{\"a\":2}", NULL), 0);
    assert_int_equal(apapi_store_append(store, "n1", NOON_NS, "{\"a\":3}", NULL), 0);
    assert_file("acct/2026-11-21/n1.jsonl", "{\"a\":1}\n{\"a\":\n{\"a\":2}\n{\"a\":3}\n");
}

/* What a power cut leaves: the file ends at any byte of its last line, or goes on with zeros. */
static void a_line_cut_at_any_byte_swallows_nothing(void **state)
{
    const char *const before = "{\"a\":1}\n", *const last = "{\"a\":22,\"b\":333}\n";
    const char *const after = "{\"a\":4444}";
    char found[64], wished[128];

    (void)state;
    make_day();
    for (size_t cut = 0; cut <= strlen(last); cut++) {
        const char *newline = cut == 0 || cut == strlen(last) ? "" : "\n";

        snprintf(found, sizeof(found), "%s%.*s", before, (int)cut, last);
        write_file("acct/2026-11-21/n1.jsonl", found);
        assert_int_equal(apapi_store_append(store, "n1", NOON_NS, after, NULL), 0);
        snprintf(wished, sizeof(wished), "%s%s%s\n", found, newline, after);
        assert_file("acct/2026-11-21/n1.jsonl", wished);
        assert_int_equal(apapi_store_sync(store, "n1", NOON_NS, NULL), 0);
        assert_file("acct/2026-11-21/n1.jsonl", wished);
    }
}

static void what_is_not_there_cannot_be_brought_to_the_disk(void **state)
{
    struct apapi_error err = {""};

    (void)state;
    assert_int_equal(apapi_store_sync(store, "n1", NOON_NS, &err), -1);
    assert_int_equal(errno, ENOENT);
    assert_non_null(strstr(err.text, "n1.jsonl"));
    assert_int_equal(apapi_store_sync(store, "../n1", NOON_NS, &err), -1);
    assert_int_equal(errno, EINVAL);
}

static void bad_arguments_are_refused(void **state)
{
    static const struct {
        const char *node;
        const char *line;
    } cases[] = {{"../x", "{}"}, {"a/b", "{}"},  {"", "{}"},       {".", "{}"},
                 {"..", "{}"},   {"a..b", "{}"}, {"/etc/x", "{}"}, {"n1", "{}\n{}"}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
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

static void a_link_of_ours_leads_on(void **state)
{
    (void)state;
    assert_int_equal(mkdir(in_base("elsewhere"), 0700), 0);
    assert_int_equal(symlink("elsewhere", in_base("link")), 0);
    append_by_link("link");
    assert_int_equal(apapi_store_append(store, "n1", NOON_NS, "{}", NULL), 0);
    assert_file("elsewhere/acct/2026-11-21/n1.jsonl", "{}\n");
}

static void a_link_that_others_can_replace_is_refused(void **state)
{
    (void)state;
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

static void a_link_of_others_is_refused(void **state)
{
    (void)state;
    if (geteuid() != 0) {
        skip();
    }
    assert_int_equal(mkdir(in_base("elsewhere"), 0700), 0);
    assert_int_equal(symlink("elsewhere", in_base("link")), 0);
    assert_int_equal(lchown(in_base("link"), 65534, 65534), 0);
    append_by_link("link");
    assert_refused(ELOOP, ELOOP, in_base("link: a link"));
    /* in the place of the folder itself, too */
    snprintf(store, sizeof(store), "%s/link", base);
    assert_refused(ELOOP, ELOOP, store);
    assert_int_equal(rmdir(in_base("elsewhere")), 0);
}

static void a_linked_day_is_refused(void **state)
{
    (void)state;
    assert_int_equal(mkdir(store, 0700), 0);
    assert_int_equal(mkdir(in_base("elsewhere"), 0700), 0);
    assert_int_equal(symlink("../elsewhere", in_base("acct/2026-11-21")), 0);
    assert_refused(ELOOP, ENOTDIR, in_base("acct/2026-11-21"));
    assert_int_equal(access(in_base("elsewhere/n1.jsonl"), F_OK), -1);
}

static void a_linked_file_is_refused(void **state)
{
    (void)state;
    make_day();
    write_file("precious", "as it was");
    assert_int_equal(symlink("../../precious", in_base("acct/2026-11-21/n1.jsonl")), 0);
    assert_refused(ELOOP, ELOOP, in_base("acct/2026-11-21/n1.jsonl"));
    assert_file("precious", "as it was");
}

static void a_pipe_is_refused_without_waiting(void **state)
{
    (void)state;
    make_day();
    assert_int_equal(mkfifo(in_base("acct/2026-11-21/n1.jsonl"), 0600), 0);
    alarm(5);
    assert_refused(EPERM, ENXIO, in_base("acct/2026-11-21/n1.jsonl"));
    alarm(0);
}

static void a_folder_in_place_of_the_file_is_named(void **state)
{
    (void)state;
    make_day();
    assert_int_equal(mkdir(in_base("acct/2026-11-21/n1.jsonl"), 0700), 0);
    assert_refused(EISDIR, EISDIR, in_base("acct/2026-11-21/n1.jsonl"));
}

static void a_missing_parent_is_named(void **state)
{
    (void)state;
    snprintf(store, sizeof(store), "%s/none/acct", base);
    assert_refused(ENOENT, ENOENT, store);
    assert_int_equal(access(in_base("none"), F_OK), -1);
}

static void a_file_in_place_of_the_folder_is_named(void **state)
{
    (void)state;
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

static void an_unwritable_folder_is_named(void **state)
{
    (void)state;
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

static void what_belongs_to_others_is_refused(void **state)
{
    (void)state;
    if (geteuid() != 0) {
        skip();
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

static void a_short_write_is_an_error(void **state)
{
    (void)state;
    assert_int_equal(chmod(base, 0777), 0);
    snprintf(store, sizeof(store), "%s", in_base("own"));
    assert_int_equal(mkdir(store, 0700), 0);
    if (geteuid() == 0) {
        assert_int_equal(chown(store, 65534, 65534), 0);
    }
    as_ordinary_user(expect_short_write);
}

static void make_line(char *line, size_t size, int process, int number)
{
    int length = snprintf(line, size, "{\"process\":%d,\"line\":%d,\"text\":\"", process, number);

    memset(line + length, 'a' + process, size - length - 3);
    memcpy(line + size - 3, "\"}", 3);
}

static void append_many(int process)
{
    for (int i = 0; i < LINES_EACH; i++) {
        char line[1024];

        make_line(line, sizeof(line), process, i);
        if (apapi_store_append(store, "n1", NOON_NS, line, NULL) < 0) {
            _exit(1);
        }
    }
    _exit(0);
}

static void wait_for_all(const pid_t *children)
{
    for (int i = 0; i < PROCESSES; i++) {
        int status;

        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
}

static void concurrent_lines_stay_whole(void **state)
{
    pid_t children[PROCESSES];
    int next[PROCESSES] = {0};
    char *text;
    char *position;

    (void)state;
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] == 0) {
            append_many(i);
        }
    }
    wait_for_all(children);
    text = read_file("acct/2026-11-21/n1.jsonl");
    for (char *line = strtok_r(text, "\n", &position); line;
         line = strtok_r(NULL, "\n", &position)) {
        char expected[1024];
        int process = -1;

        assert_int_equal(sscanf(line, "{\"process\":%d", &process), 1);
        assert_in_range(process, 0, PROCESSES - 1);
        make_line(expected, sizeof(expected), process, next[process]++);
        assert_string_equal(line, expected);
    }
    for (int i = 0; i < PROCESSES; i++) {
        assert_int_equal(next[i], LINES_EACH);
    }
    free(text);
}

static void no_descriptor_stays_open(void **state)
{
    int before = open("/dev/null", O_RDONLY);
    int after;

    (void)state;
    assert_true(before >= 0);
    assert_int_equal(apapi_store_append(store, "n1", NOON_NS, "{}", NULL), 0);
    assert_int_equal(mkdir(in_base("acct/2026-11-21/d.jsonl"), 0700), 0);
    assert_int_equal(apapi_store_append(store, "d", NOON_NS, "{}", NULL), -1);
    assert_int_equal(mkfifo(in_base("acct/2026-11-21/p.jsonl"), 0600), 0);
    assert_int_equal(apapi_store_append(store, "p", NOON_NS, "{}", NULL), -1);
    after = open("/dev/null", O_RDONLY);
    assert_int_equal(after, before + 1);
    close(after);
    close(before);
}

#define STORE_TEST(function) cmocka_unit_test_setup_teardown(function, make_base, remove_base)

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(folders_and_file_are_private),
        STORE_TEST(the_day_is_that_of_utc),
        STORE_TEST(a_torn_line_swallows_nothing),
        STORE_TEST(a_line_cut_at_any_byte_swallows_nothing),
        STORE_TEST(what_is_not_there_cannot_be_brought_to_the_disk),
        STORE_TEST(bad_arguments_are_refused),
        STORE_TEST(a_link_of_ours_leads_on),
        STORE_TEST(a_link_that_others_can_replace_is_refused),
        STORE_TEST(a_link_of_others_is_refused),
        STORE_TEST(a_linked_day_is_refused),
        STORE_TEST(a_linked_file_is_refused),
        STORE_TEST(a_pipe_is_refused_without_waiting),
        STORE_TEST(a_folder_in_place_of_the_file_is_named),
        STORE_TEST(a_missing_parent_is_named),
        STORE_TEST(a_file_in_place_of_the_folder_is_named),
        STORE_TEST(an_unwritable_folder_is_named),
        STORE_TEST(what_belongs_to_others_is_refused),
        STORE_TEST(a_short_write_is_an_error),
        STORE_TEST(concurrent_lines_stay_whole),
        STORE_TEST(no_descriptor_stays_open),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
