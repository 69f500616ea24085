/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that are no event files, and how the rules are loaded from good ones. */
#include <fcntl.h>

#include "config/definitions.h"
#include "config/selection.h"
#include "unit/problem_log.h"
#include "unit/temporary.h"
#include "unit/unit.h"

#define LINE "x:::y,APAPI_OP1_NOP,APAPI_STAT_ALL,APAPI_STAT_NO,0,t,u,1,-,-,1\n"

static struct problem_log reported;
static const struct apapi_problem_sink sink = {log_problem, &reported};

static const char *write_file(const char *name, const char *text, size_t size)
{
    int fd = open(in_base(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, size), (ssize_t)size);
    close(fd);
    return in_base(name);
}

static void make_folder(void)
{
    memset(&reported, 0, sizeof reported);
    make_base();
}

/* Both readers refuse the file with the same message. */
static void refuse(const char *path, int code, const char *says)
{
    struct apapi_error err = {""};
    int before = open("/dev/null", O_RDONLY | O_CLOEXEC), after;

    close(before);
    errno = 0;
    if (apapi_eventops_read(path, &sink, &err) || errno != code || !strstr(err.text, says)) {
        fail_msg("%s: errno %d, '%s'", path, errno, err.text);
    }
    errno = 0;
    if (apapi_eventlist_read(path, &sink, &err) || errno != code || !strstr(err.text, says)) {
        fail_msg("%s: errno %d, '%s'", path, errno, err.text);
    }
    after = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close(after);
    assert_int_equal(before, after); /* no descriptor was left open */
}

#define IN_FOLDER(name) TEST_WITH(name, make_folder, remove_base)

IN_FOLDER(files_that_are_none)
{
    refuse(in_base("missing"), ENOENT, "missing: No such file");
    refuse(in_base("no/folder"), ENOENT, "no/folder: No such file");
    refuse("", ENOENT, "No such file");
    refuse(base, EISDIR, "is a folder");
    refuse(write_file("empty", "", 0), EINVAL, "empty is empty");
    refuse(write_file("binary", "rapl\0x\n", 7), EINVAL, "binary is not text: its byte 5 is 0");
    refuse("/dev/zero", EINVAL, "/dev/zero is not a regular file");
    refuse("/dev/null", EINVAL, "is not a regular file");
    refuse("/proc/self/environ/x", ENOTDIR, "Not a directory");
}

IN_FOLDER(unreadable_file)
{
    char path[256];
    uid_t user = geteuid();

    strcpy(path, write_file("secret", LINE, strlen(LINE)));
    assert_int_equal(chmod(base, 0755), 0);
    assert_int_equal(chmod(path, 0), 0);
    if (user == 0) { /* whom no mode stops */
        assert_int_equal(seteuid(65534), 0);
    }
    refuse(path, EACCES, "secret: Permission denied");
    assert_int_equal(seteuid(user), 0);
}

/* A FIFO without a writer would block open(2); one with a writer would block read(2). */
IN_FOLDER(fifos_do_not_block)
{
    char path[256];
    int writer;

    strcpy(path, in_base("fifo"));
    assert_int_equal(mkfifo(path, 0600), 0);
    alarm(120);
    refuse(path, EINVAL, "fifo is not a regular file");
    writer = open(path, O_RDWR | O_CLOEXEC);
    refuse(path, EINVAL, "fifo is not a regular file");
    close(writer);
    alarm(0);
}

IN_FOLDER(sizes)
{
    char path[256], *text = malloc(APAPI_EVENTS_FILE_MAX + 1);
    struct apapi_eventops *ops;

    memset(text, '#', APAPI_EVENTS_FILE_MAX + 1);
    memcpy(text, LINE, strlen(LINE));
    strcpy(path, write_file("large", text, APAPI_EVENTS_FILE_MAX));
    ops = apapi_eventops_read(path, &sink, NULL);
    assert_int_equal(apapi_eventops_count(ops), 1);
    apapi_eventops_destroy(ops);
    refuse(write_file("larger", text, APAPI_EVENTS_FILE_MAX + 1), EFBIG,
           "larger is too large: more than 10000000 bytes");
    assert_int_equal(truncate(path, 100000000), 0);
    refuse(path, EFBIG, "too large");
    assert_null(apapi_eventops_parse("text", text, APAPI_EVENTS_FILE_MAX + 1, NULL, NULL));
    assert_int_equal(errno, EFBIG);
    free(text);
}

IN_FOLDER(rules_are_loaded)
{
    char list[256], ops[256];
    struct apapi_environment environment = {0};
    struct apapi_event_rules rules;

    assert_int_equal(apapi_event_rules_load(&rules, &environment, base, &sink, NULL), 0);
    assert_false(rules.user_list || rules.default_list || rules.user_ops || rules.default_ops);
    write_file("default_eventlist.txt", "a:::b\n", 6);
    write_file("default_eventops.csv", LINE, strlen(LINE));
    strcpy(list, write_file("list", "c:::d\ne:::f\n", 12));
    strcpy(ops, write_file("ops", LINE LINE, 2 * strlen(LINE)));
    environment.eventlist = list;
    environment.eventops = ops;
    assert_int_equal(apapi_event_rules_load(&rules, &environment, base, &sink, NULL), 0);
    assert_int_equal(apapi_eventlist_count(rules.default_list), 1);
    assert_int_equal(apapi_eventops_count(rules.default_ops), 1);
    assert_int_equal(apapi_eventlist_count(rules.user_list), 2);
    assert_int_equal(apapi_eventops_count(rules.user_ops), 2);
    apapi_event_rules_clear(&rules);
    assert_null(rules.user_list);
    apapi_event_rules_clear(&rules);
    apapi_event_rules_clear(NULL);
    assert_int_equal(reported.errors, 0);
}

IN_FOLDER(softfail_forgives_default_files_only)
{
    char bad[256];
    struct apapi_environment environment = {0};
    struct apapi_event_rules rules = {.user_list = NULL};
    struct apapi_error err;

    write_file("default_eventlist.txt", "\x01\n", 2);
    write_file("default_eventops.csv", LINE, strlen(LINE));
    assert_int_equal(apapi_event_rules_load(&rules, &environment, base, &sink, &err), -1);
    assert_int_equal(errno, EINVAL);
    assert_non_null(strstr(err.text, "default_eventlist.txt: line 1 is bad"));
    assert_null(rules.default_ops);

    environment.softfail = true;
    assert_int_equal(apapi_event_rules_load(&rules, &environment, base, &sink, &err), 0);
    assert_null(rules.default_list);
    assert_int_equal(apapi_eventops_count(rules.default_ops), 1);
    assert_int_equal(reported.rests, 1);
    apapi_event_rules_clear(&rules);

    strcpy(bad, in_base("missing"));
    environment.eventops = bad;
    assert_int_equal(apapi_event_rules_load(&rules, &environment, base, &sink, &err), -1);
    assert_int_equal(errno, ENOENT);
}
