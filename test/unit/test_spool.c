/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines in the spool: whenever a process dies, one whole line is left, the old or the new one. */
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>

#include "sampler/spool.h"
#include "unit/temporary.h"

static char dir[80];

static void make_spool(void)
{
    make_base();
    snprintf(dir, sizeof dir, "%s/spool", base);
}

static const char *in_spool(const char *name)
{
    static char path[256];

    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

static bool is_there(const char *name)
{
    struct stat status;

    return lstat(in_spool(name), &status) == 0;
}

static void save(struct spool *spool, const char *line)
{
    fail_if(spool_save(spool, line, true, &why), "%s", why.text);
}

static char handed[1024];

static enum spool_fate take_line(const char *name, const char *line, void *fate)
{
    (void)name;
    strcat(strcat(handed, line ? line : strerror(errno)), " ");
    return *(enum spool_fate *)fate;
}

/* @return the abandoned files that are handed over, in any order: "a b ". */
static const char *found(enum spool_fate fate)
{
    handed[0] = '\0';
    spool_each(dir, "n1", take_line, &fate);
    return handed;
}

/* Save a line in another process, which is then killed. */
static void save_and_die(const char *name, const char *line)
{
    int status;
    pid_t child = fork();

    if (child == 0) {
        struct spool spool = SPOOL_CLOSED(dir, "n1", name);

        spool_save(&spool, line, true, NULL);
        raise(SIGKILL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
}

static void write_file(const char *name, const char *text, size_t size)
{
    write_bytes(in_spool(name), text, size);
}

static void make_folders(void)
{
    assert_int_equal(mkdir(dir, 0700), 0);
    assert_int_equal(mkdir(in_spool("n1"), 0700), 0);
}

#define PREPARED(name) TEST_WITH(name, make_spool, remove_base)

PREPARED(what_its_owner_holds_is_his)
{
    struct spool spool = SPOOL_CLOSED(dir, "n1", "1.0");

    save(&spool, "a");
    assert_string_equal(found(SPOOL_WRITTEN), "");
    save(&spool, "b");
    assert_string_equal(found(SPOOL_WRITTEN), "");
    assert_true(is_there("n1/1.0.json"));
    assert_false(is_there("n1/1.0.json.new"));
    spool_close(&spool);
    assert_string_equal(found(SPOOL_KEEP), "b ");
    assert_string_equal(found(SPOOL_WRITTEN), "b ");
    assert_string_equal(found(SPOOL_WRITTEN), "");
    assert_false(is_there("n1/1.0.json"));
    save(&spool, "c");
    spool_remove(&spool);
    spool_remove(&spool);
    assert_string_equal(found(SPOOL_WRITTEN), "");
}

/* Files as a dying process leaves them: before a new file, with a part of it, before its rename. */
PREPARED(a_crash_at_each_step)
{
    static const struct {
        const char *old, *new_text;
    } cases[] = {{"a\n", NULL}, {"a\n", ""}, {"a\n", "b"}, {"a\n", "b\n"}, {NULL, "b\n"}};

    make_folders();
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        if (cases[i].old) {
            write_file("n1/1.0.json", cases[i].old, strlen(cases[i].old));
        }
        if (cases[i].new_text) {
            write_file("n1/1.0.json.new", cases[i].new_text, strlen(cases[i].new_text));
        }
        assert_string_equal(found(SPOOL_WRITTEN), cases[i].old ? "a " : "");
        /* a later process of the same step can still write */
        save_and_die("1.0", "c");
        assert_string_equal(found(SPOOL_WRITTEN), "c ");
        unlink(in_spool("n1/1.0.json.new"));
    }
}

static enum spool_fate take_two(const char *name, const char *line, void *count)
{
    (void)name;
    (void)line;
    return ++*(int *)count == 2 ? SPOOL_END : SPOOL_KEEP;
}

PREPARED(one_that_stays_does_not_hold_up_the_others)
{
    int count = 0;

    make_folders();
    write_file("n1/1.0.json", "a\n", 2);
    write_file("n1/2.0.json", "a\n", 2);
    write_file("n1/3.0.json", "a\n", 2);
    assert_string_equal(found(SPOOL_KEEP), "a a a ");
    spool_each(dir, "n1", take_two, &count);
    assert_int_equal(count, 2);
    assert_string_equal(found(SPOOL_WRITTEN), "a a a ");
    assert_int_equal(mkdir(in_spool("n1/4.0.json"), 0700), 0);
    assert_string_equal(found(SPOOL_KEEP), "Is a directory ");
}

PREPARED(what_is_no_line_is_empty)
{
    static const struct {
        const char *text;
        size_t size;
    } cases[] = {{"\n", 1}, {"a", 1}, {"a\nb\n", 4}, {"a\0b\n", 4}, {"\0\0\0\n", 4}};

    make_folders();
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        write_file("n1/1.0.json", cases[i].text, cases[i].size);
        assert_string_equal(found(SPOOL_KEEP), " ");
    }
    assert_string_equal(found(SPOOL_BAD), " ");
    assert_true(is_there("n1/1.0.json.bad"));
    assert_string_equal(found(SPOOL_BAD), "");
}

/* After a power failure, a line that was not synced may be missing. */
PREPARED(an_empty_file_is_removed)
{
    make_folders();
    write_file("n1/1.0.json", "", 0);
    assert_string_equal(found(SPOOL_BAD), "");
    assert_false(is_there("n1/1.0.json") || is_there("n1/1.0.json.bad"));
}

PREPARED(only_an_old_new_file_is_removed)
{
    const struct timespec hour_ago[2] = {{.tv_sec = time(NULL) - 3600}, {time(NULL) - 3600, 0}};

    make_folders();
    write_file("n1/1.0.json.new", "a", 1);
    write_file("n1/2.0.json.new", "a", 1);
    assert_int_equal(utimensat(AT_FDCWD, in_spool("n1/2.0.json.new"), hour_ago, 0), 0);
    assert_string_equal(found(SPOOL_WRITTEN), "");
    assert_true(is_there("n1/1.0.json.new"));
    assert_false(is_there("n1/2.0.json.new"));
}

/* If the next line does not fit, the last one stays. */
PREPARED(a_full_disk_keeps_what_was_there)
{
    struct rlimit before, small;
    struct spool spool = SPOOL_CLOSED(dir, "n1", "1.0");
    char longer[4096];

    snprintf(longer, sizeof longer, "%04095d", 7);
    save(&spool, "a");
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 100;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_fails(EFBIG, spool_save(&spool, longer, true, NULL));
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_false(is_there("n1/1.0.json.new"));
    assert_string_equal(found(SPOOL_WRITTEN), "");
    save(&spool, "b");
    spool_close(&spool);
    assert_string_equal(found(SPOOL_WRITTEN), "b ");
}

PREPARED(a_folder_that_is_removed_is_made_again)
{
    struct spool spool = SPOOL_CLOSED(dir, "n1", "1.0");

    save(&spool, "a");
    assert_int_equal(remove_folder(dir), 0);
    assert_int_equal(spool_save(&spool, "b", true, NULL), -1);
    save(&spool, "c");
    spool_close(&spool);
    assert_string_equal(found(SPOOL_WRITTEN), "c ");
}

PREPARED(names_that_lead_elsewhere)
{
    struct spool node = SPOOL_CLOSED(dir, "../n1", "1.0"), name = SPOOL_CLOSED(dir, "n1", "../1.0");
    struct spool folder = SPOOL_CLOSED("/nowhere/spool", "n1", "1.0");
    enum spool_fate fate = SPOOL_WRITTEN;

    assert_fails(EINVAL, spool_save(&node, "a", true, NULL));
    assert_fails(EINVAL, spool_save(&name, "a", true, NULL));
    assert_fails(ENOENT, spool_save(&folder, "a", true, NULL));
    make_folders();
    write_file("n1/1.0.json", "a\n", 2);
    handed[0] = '\0';
    spool_each(dir, "../spool/n1", take_line, &fate);
    assert_string_equal(handed, "");
}

/* Here, `dir` is moved away and replaced by a link. */
PREPARED(a_link_above_the_nodes_folder_is_not_followed)
{
    char elsewhere[sizeof dir + 16];

    needs_root();
    make_folders();
    write_file("n1/1.0.json", "a\n", 2);
    assert_string_equal(found(SPOOL_KEEP), "a ");
    snprintf(elsewhere, sizeof elsewhere, "%s-elsewhere", dir);
    assert_int_equal(rename(dir, elsewhere) | symlink(elsewhere, dir), 0);
    assert_string_equal(found(SPOOL_KEEP), "a "); /* the link is root's own */
    assert_int_equal(lchown(dir, 4711, 4711), 0);
    assert_string_equal(found(SPOOL_KEEP), "");
    /* nor is a folder of another user */
    assert_int_equal(unlink(dir) | rename(elsewhere, dir) | chown(in_spool("n1"), 4711, 4711), 0);
    assert_string_equal(found(SPOOL_KEEP), "");
}
