/* SPDX-License-Identifier: BSD-3-Clause */
#include "apapi/record.h"
#include "record/store.h"
#include "unit/temporary.h"

#define DAY "acct/2026-11-21"
#define FILE_OF_DAY DAY "/n1.jsonl"

#define PROCESSES 8
#define LINES_EACH 200
#define LINE_BYTES 2500 /* about a record's length: many lines cross a page's end */

#define NOON_NS INT64_C(1795262400000000000) /* 2026-11-21T12:00:00Z */

static char store[256];

static void make_store(void)
{
    make_base();
    snprintf(store, sizeof(store), "%s/acct", base);
}

/* Run commands in the base folder. @return whether they succeeded */
static bool shell(const char *commands)
{
    char text[512];

    snprintf(text, sizeof text, "cd '%s' && umask 077 && %s", base, commands);
    return system(text) == 0;
}

#define STORE_TEST(name) TEST_WITH(name, make_store, remove_base)

STORE_TEST(folders_and_file_are_private)
{
    mode_t mask = umask(0);

    assert_int_equal(apapi_store_append(store, "n1", NOON_NS, "{\"a\":1}", &why), 0);
    assert_int_equal(apapi_store_append(store, "n1", NOON_NS, "{\"a\":2}", NULL), 0);
    umask(mask);
    assert_file(FILE_OF_DAY, "{\"a\":1}\n{\"a\":2}\n");
    assert_true(
        shell("test \"$(stat -c %a acct " DAY " " FILE_OF_DAY " | xargs)\" = '700 700 600'"));
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

    assert_true(shell("mkdir -p " DAY));
    for (size_t cut = 0; cut <= strlen(last); cut++) {
        const char *newline = cut == 0 || cut == strlen(last) ? "" : "\n";

        snprintf(found, sizeof(found), "%s%.*s", before, (int)cut, last);
        write_string(in_base(FILE_OF_DAY), found);
        assert_int_equal(apapi_store_append(store, "n1", NOON_NS, after, NULL), 0);
        snprintf(expected, sizeof(expected), "%s%s%s\n", found, newline, after);
        assert_file(FILE_OF_DAY, expected);
        assert_int_equal(apapi_store_sync(store, "n1", NOON_NS, NULL), 0);
        assert_file(FILE_OF_DAY, expected);
    }
}

STORE_TEST(what_is_not_there_cannot_be_brought_to_the_disk)
{
    assert_fails_with(ENOENT, "n1.jsonl", apapi_store_sync(store, "n1", NOON_NS, &why));
    assert_fails(EINVAL, apapi_store_sync(store, "../n1", NOON_NS, &why));
}

/* Append lines of one letter, in another process. */
static pid_t append_many(char letter)
{
    char line[LINE_BYTES] = "";
    pid_t child = fork();

    assert_true(child >= 0);
    if (child > 0) {
        return child;
    }
    memset(line, letter, sizeof line - 1);
    for (int i = 0; i < LINES_EACH; i++) {
        if (apapi_store_append(store, "n1", NOON_NS, line, NULL) < 0) {
            _exit(1);
        }
    }
    _exit(0);
}

STORE_TEST(concurrent_lines_stay_whole)
{
    pid_t children[PROCESSES];
    size_t counts[PROCESSES] = {0};
    FREED char *text = NULL;
    char *rest, *line;

    for (int i = 0; i < PROCESSES; i++) {
        children[i] = append_many((char)('a' + i));
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status;

        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    rest = text = read_file(FILE_OF_DAY);
    while ((line = strsep(&rest, "\n")) && rest) { /* none is empty, as if one were torn */
        assert_in_range(*line, 'a', 'a' + PROCESSES - 1);
        assert_int_equal(strspn(line, (char[]){*line, '\0'}), LINE_BYTES - 1);
        assert_int_equal(strlen(line), LINE_BYTES - 1);
        counts[*line - 'a']++;
    }
    for (int i = 0; i < PROCESSES; i++) {
        assert_int_equal(counts[i], LINES_EACH);
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

/* Obstacles on the way to DIR/2026-11-21/n1.jsonl. A link of root or the caller is no harm where no
 * one else can change it. */
STORE_TEST(what_is_in_the_way_is_refused_and_named)
{
    static const struct {
        const char *before, *dir;
        int code, other_code; /* 0: the line is written */
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
        int result;

        if (geteuid() != 0 && strstr(cases[i].before, "chown")) {
            continue;
        }
        assert_true(shell("rm -rf ./*") && shell(cases[i].before));
        snprintf(store, sizeof store, "%s/%s", base, cases[i].dir);
        alarm(120);
        errno = 0;
        why.text[0] = '\0';
        result = apapi_store_append(store, "n1", NOON_NS, "{}", &why);
        alarm(0);
        fail_if(result != (cases[i].code ? -1 : 0) ||
                    (result && errno != cases[i].code && errno != cases[i].other_code) ||
                    !strstr(why.text, cases[i].code ? in_base(cases[i].named) : "") ||
                    !shell(cases[i].after),
                "case %zu: %d, errno %d: %s", i, result, errno, why.text);
    }
}

static int try_to_append(void)
{
    if (apapi_store_append(store, "n1", NOON_NS, "{}", &why) != -1 || errno != EPERM) {
        return 1;
    }
    return strstr(why.text, "belongs to user 0") ? 0 : 2;
}

STORE_TEST(what_belongs_to_others_is_refused)
{
    needs_root();
    assert_true(shell("mkdir -p " DAY " && chmod 755 . acct && chmod 777 " DAY));
    assert_int_equal(as_user(65534, try_to_append), 0);
    assert_true(shell("chown 65534:65534 " DAY " && >" FILE_OF_DAY " && chmod 666 " FILE_OF_DAY));
    assert_int_equal(as_user(65534, try_to_append), 0);
    assert_file(FILE_OF_DAY, "");
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
