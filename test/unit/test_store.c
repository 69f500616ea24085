/* SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <sys/wait.h>

#include "unit/store_fixture.h"

#define PROCESSES 8
#define LINES_EACH 200
#define LINE_BYTES 2500 /* about that of a record: many lines go over the end of a page */

static void assert_mode(const char *path, mode_t mode)
{
    struct stat status;

    assert_int_equal(lstat(in_base(path), &status), 0);
    assert_int_equal(status.st_mode & 07777, mode);
}

#define STORE_TEST(name) TEST_WITH(name, make_store, remove_base)

STORE_TEST(folders_and_file_are_private)
{
    mode_t mask = umask(0);
    struct apapi_error err = {""};

    assert_int_equal(apapi_store_append(store, "n1", NOON_NS, "{\"a\":1}", &err), 0);
    assert_int_equal(apapi_store_append(store, "n1", NOON_NS, "{\"a\":2}", NULL), 0);
    umask(mask);
    assert_file("acct/2026-11-21/n1.jsonl", "{\"a\":1}\n{\"a\":2}\n");
    assert_mode("acct", 0700);
    assert_mode("acct/2026-11-21", 0700);
    assert_mode("acct/2026-11-21/n1.jsonl", 0600);
}

STORE_TEST(the_day_is_that_of_utc)
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

    setenv("TZ", "Pacific/Kiritimati", 1);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_int_equal(apapi_store_append(store, "n", cases[i].unix_ns, "{}", NULL), 0);
        assert_int_equal(access(in_base(cases[i].path), F_OK), 0);
        assert_int_equal(unlink(in_base(cases[i].path)), 0);
    }
}

/* After a power failure the file may end at any byte of its last line, or continue with zeros. */
STORE_TEST(a_line_cut_at_any_byte_swallows_nothing)
{
    const char *const before = "{\"a\":1}\n", *const last = "{\"a\":22,\"b\":333}\n";
    const char *const after = "{\"a\":4444}";
    char found[64], expected[128];

    make_day();
    for (size_t cut = 0; cut <= strlen(last); cut++) {
        const char *newline = cut == 0 || cut == strlen(last) ? "" : "\n";

        snprintf(found, sizeof(found), "%s%.*s", before, (int)cut, last);
        write_file("acct/2026-11-21/n1.jsonl", found);
        assert_int_equal(apapi_store_append(store, "n1", NOON_NS, after, NULL), 0);
        snprintf(expected, sizeof(expected), "%s%s%s\n", found, newline, after);
        assert_file("acct/2026-11-21/n1.jsonl", expected);
        assert_int_equal(apapi_store_sync(store, "n1", NOON_NS, NULL), 0);
        assert_file("acct/2026-11-21/n1.jsonl", expected);
    }
}

STORE_TEST(what_is_not_there_cannot_be_brought_to_the_disk)
{
    struct apapi_error err = {""};

    assert_int_equal(apapi_store_sync(store, "n1", NOON_NS, &err), -1);
    assert_int_equal(errno, ENOENT);
    assert_non_null(strstr(err.text, "n1.jsonl"));
    assert_int_equal(apapi_store_sync(store, "../n1", NOON_NS, &err), -1);
    assert_int_equal(errno, EINVAL);
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
        char line[LINE_BYTES];

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

STORE_TEST(concurrent_lines_stay_whole)
{
    pid_t children[PROCESSES];
    int next[PROCESSES] = {0};
    char *text;
    char *position;

    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] == 0) {
            append_many(i);
        }
    }
    wait_for_all(children);
    text = read_file("acct/2026-11-21/n1.jsonl");
    assert_null(strstr(text, "\n\n")); /* no line was taken for a torn one while it was written */
    for (char *line = strtok_r(text, "\n", &position); line;
         line = strtok_r(NULL, "\n", &position)) {
        char expected[LINE_BYTES];
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
