/* SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "record/store.h"
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

static int descriptor; /* that is free before the test, and after it */

static void begin(void)
{
    make_store();
    descriptor = free_descriptor();
}

static void end(void)
{
    assert_int_equal(free_descriptor(), descriptor);
    remove_base();
}

#define STORE_TEST(name) TEST_WITH(name, begin, end)

STORE_TEST(folders_and_file_are_private)
{
    mode_t mask = umask(0);

    assert_int_equal(apapi_store_append(store, "n1", NOON_NS, "{\"a\":1}", &why), 0);
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
    assert_fails_with(ENOENT, "n1.jsonl", apapi_store_sync(store, "n1", NOON_NS, &why));
    assert_fails(EINVAL, apapi_store_sync(store, "../n1", NOON_NS, &why));
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
    FREED char *text = NULL;
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
}

/* --- refusals --------------------------------------------------------------------------------- */

STORE_TEST(bad_arguments_are_refused)
{
    static const struct {
        const char *node;
        const char *line;
    } cases[] = {{"../x", "{}"}, {"a/b", "{}"},  {"", "{}"},       {".", "{}"},
                 {"..", "{}"},   {"a..b", "{}"}, {"/etc/x", "{}"}, {"n1", "{}\n{}"}};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_fails(EINVAL,
                     apapi_store_append(store, cases[i].node, NOON_NS, cases[i].line, &why));
        assert_string_not_equal(why.text, "");
        assert_int_equal(access(store, F_OK), -1);
    }
}

#define DAY "acct/2026-11-21"
#define FILE_OF_DAY DAY "/n1.jsonl"

/* Commands in the base folder. */
static bool shell(const char *commands)
{
    char text[512];

    snprintf(text, sizeof text, "cd '%s' && umask 077 && %s", base, commands);
    return system(text) == 0;
}

/* What is in the way of DIR/2026-11-21/n1.jsonl: a link that root or the caller has made where no
 * one else can change it is no harm. */
STORE_TEST(what_is_in_the_way_is_refused_and_named)
{
    static const struct {
        const char *before, *dir;
        int code, other_code; /* 0: it is written */
        const char *named, *after;
    } cases[] = {
        {"mkdir elsewhere && ln -s elsewhere link", "link/acct", 0, 0, "",
         "grep -qx '{}' elsewhere/" FILE_OF_DAY},
        {"mkdir elsewhere open && chmod 777 open && ln -s ../elsewhere open/link", "open/link/acct",
         ELOOP, ELOOP, "open/link: a link", "test ! -e elsewhere/acct"},
        {"mkdir elsewhere open && chmod 1777 open && ln -s ../elsewhere open/link",
         "open/link/acct", 0, 0, "", "test -e elsewhere/acct"},
        {"mkdir elsewhere && ln -s elsewhere link && chown -h 65534 link", "link/acct", ELOOP,
         ELOOP, "link: a link", "rmdir elsewhere"},
        {"mkdir elsewhere && ln -s elsewhere link && chown -h 65534 link", "link", ELOOP, ELOOP,
         "link", "rmdir elsewhere"},
        {"mkdir acct elsewhere && ln -s ../elsewhere " DAY, "acct", ELOOP, ENOTDIR, DAY,
         "rmdir elsewhere"},
        {"mkdir -p " DAY " && echo as it was >precious && ln -s ../../precious " FILE_OF_DAY,
         "acct", ELOOP, ELOOP, FILE_OF_DAY, "grep -qx 'as it was' precious"},
        {"mkdir -p " DAY " && mkfifo " FILE_OF_DAY, "acct", EPERM, ENXIO, FILE_OF_DAY, "true"},
        {"mkdir -p " FILE_OF_DAY, "acct", EISDIR, EISDIR, FILE_OF_DAY, "true"},
        {"true", "none/acct", ENOENT, ENOENT, "none/acct", "test ! -e none"},
        {"touch acct", "acct", ENOTDIR, ENOTDIR, "acct", "test ! -s acct"},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct apapi_error err = {""};
        int result;

        if (geteuid() != 0 && strstr(cases[i].before, "chown")) {
            continue;
        }
        assert_true(shell("rm -rf ./*") && shell(cases[i].before));
        snprintf(store, sizeof store, "%s/%s", base, cases[i].dir);
        alarm(120);
        errno = 0;
        result = apapi_store_append(store, "n1", NOON_NS, "{}", &err);
        alarm(0);
        fail_if(result != (cases[i].code ? -1 : 0) ||
                    (result && errno != cases[i].code && errno != cases[i].other_code) ||
                    !strstr(err.text, cases[i].code ? in_base(cases[i].named) : "") ||
                    !shell(cases[i].after),
                "case %zu: %d, errno %d: %s", i, result, errno, err.text);
    }
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

static int expected;     /* errno of as_ordinary_user(refused) */
static const char *said; /* in its message */

static void refused(void)
{
    struct apapi_error err = {""};

    if (apapi_store_append(store, "n1", NOON_NS, "{}", &err) != -1 || errno != expected) {
        _exit(1);
    }
    if (!strstr(err.text, said)) {
        _exit(2);
    }
}

STORE_TEST(what_belongs_to_others_is_refused)
{
    needs_root();
    make_day();
    assert_int_equal(chmod(store, 0755), 0);
    assert_int_equal(chmod(in_base("acct/2026-11-21"), 0777), 0);
    expected = EPERM, said = "belongs to user 0";
    as_ordinary_user(refused);
    assert_int_equal(chown(in_base("acct/2026-11-21"), 65534, 65534), 0);
    write_file("acct/2026-11-21/n1.jsonl", "");
    assert_int_equal(chmod(in_base("acct/2026-11-21/n1.jsonl"), 0666), 0);
    as_ordinary_user(refused);
    assert_file("acct/2026-11-21/n1.jsonl", "");
}

/* --- the user's copy -------------------------------------------------------------------------- */

#define USER 4711
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

#define USER_TEST(name) TEST_WITH(name, make_users, remove_base)

USER_TEST(the_copy_is_that_of_the_line)
{
    assert_int_equal(append("{\"a\":1}", NULL), 0);
    assert_int_equal(append("{\"a\":2}", NULL), 0);
    assert_file(FILE_PATH, "{\"a\":1}\n{\"a\":2}\n");
}

USER_TEST(what_others_could_change_is_refused)
{
    static const struct {
        const char *before;
        int code;
        const char *said, *after;
    } cases[] = {
        {"touch elsewhere && ln -sf ../../../elsewhere " FILE_PATH, ELOOP, FILE_PATH,
         "test ! -s elsewhere"},
        {"rm -r users/4711 && mkdir folder && ln -s ../folder users/4711", ENOTDIR, "users/4711",
         "rmdir folder"},
        {"ln " FILE_PATH " kept", EMLINK, FILE_PATH ": has a second name",
         "test $(wc -l <kept) = 1"},
        {"chown 4711 " FILE_PATH, EPERM, FILE_PATH ": belongs to user 4711", "true"},
        {"chown 4711 users/4711", EPERM, "users/4711: belongs to user 4711", "true"},
        {"chown 4711 users", EPERM, "others than root can change what is in it", "true"},
        {"chmod 1777 users", EPERM, "others than root can change what is in it", "true"},
        {"truncate -s 16777211 " FILE_PATH, EFBIG, "has 16 MiB already", "true"},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        if (geteuid() != 0 && strstr(cases[i].before, "chown")) {
            continue;
        }
        assert_true(shell("rm -rf ./*"));
        assert_int_equal(append("{}", NULL), 0);
        assert_true(shell(cases[i].before));
        assert_fails_with(cases[i].code, cases[i].said, append("{\"a\":2}", &why));
        fail_if(!shell(cases[i].after), "case %zu", i);
    }
}
