/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>

#include "sync/jobs.h"
#include "unit/temporary.h"

#define S INT64_C(1000000000)
#define NOW (1795262400 * S)
#define DAY (86400 * S)
#define NAME "sync.json"

static void load(struct state *state)
{
    fail_if(state_load(state, base, NAME, NOW - DAY, &why), "%s", why.text);
}

static int count_files(void)
{
    DIR *folder = opendir(base);
    const struct dirent *entry;
    int count = 0;

    assert_non_null(folder);
    while ((entry = readdir(folder))) {
        count += *entry->d_name != '.';
    }
    closedir(folder);
    return count;
}

#define PREPARED(name) TEST_WITH(name, make_base, remove_base)

PREPARED(it_comes_back_as_it_was)
{
    struct state first, second;

    load(&first);
    assert_false(first.damaged);
    assert_true(first.since_ns == NOW - DAY);
    assert_int_equal(state_offset(&first, "2026-11-21/n1.jsonl"), 0);
    state_note(&first, "2026-11-21/n1.jsonl", 17);
    state_note(&first, "2026-11-21/n2.jsonl", (uint64_t)1 << 40);
    state_wait(&first, "mars", 4711, 99);
    assert_int_equal(state_save(&first, base, NAME, NOW, NULL), 0);
    state_free(&first);

    load(&second);
    assert_false(second.damaged);
    assert_true(second.since_ns == NOW - DAY);
    assert_int_equal(state_offset(&second, "2026-11-21/n1.jsonl"), 17);
    assert_int_equal(state_offset(&second, "2026-11-21/n2.jsonl"), (uint64_t)1 << 40);
    assert_int_equal(second.waiting->size, 1);
    /* what is not noted again is forgotten, and what is older than the reach */
    assert_int_equal(state_save(&second, base, NAME, NOW + 100 * DAY, NULL), 0);
    state_free(&second);
    load(&first);
    assert_int_equal(first.files->size, 0);
    assert_true(first.since_ns == NOW + 100 * DAY - STATE_REACH_NS);
    state_free(&first);
}

PREPARED(it_is_its_owners_alone)
{
    struct state first;
    struct stat status;
    int lock;

    umask(0);
    load(&first);
    assert_int_equal(state_save(&first, base, NAME, NOW, NULL), 0);
    state_free(&first);
    assert_int_equal(stat(in_base(NAME), &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
    lock = state_lock(base, NULL);
    assert_true(lock >= 0);
    close(lock);
    assert_int_equal(count_files(), 2);
}

/* A state that cannot be written whole leaves the old one, and nothing else. */
PREPARED(the_old_one_stays)
{
    const struct rlimit none = {0, RLIM_INFINITY};
    struct rlimit usual;
    struct state first;

    load(&first);
    state_note(&first, "2026-11-21/n1.jsonl", 17);
    assert_int_equal(state_save(&first, base, NAME, NOW, NULL), 0);
    state_free(&first);
    load(&first);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &usual), 0);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
    assert_fails(EFBIG, state_save(&first, base, NAME, NOW + DAY, NULL));
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &usual), 0);
    assert_int_equal(count_files(), 1);
    state_free(&first);
    load(&first);
    assert_int_equal(state_offset(&first, "2026-11-21/n1.jsonl"), 17);
    state_free(&first);
}

PREPARED(a_damaged_one_is_created_again)
{
    static const char *const texts[] = {
        "",
        "{",
        "[]",
        "{\"apapi_sync\":2,\"since\":1,\"read\":1,\"files\":{},\"waiting\":[]}",
        "{\"apapi_sync\":1,\"since\":1,\"read\":1,\"files\":[],\"waiting\":[]}",
        "{\"apapi_sync\":1,\"since\":\"x\",\"read\":1,\"files\":{},\"waiting\":[]}",
        "{\"apapi_sync\":1,\"since\":9223372036854775807,\"read\":1,\"files\":{},\"waiting\":[]}",
        "{\"apapi_sync\":1,\"since\":1,\"read\":-9223372036854775808,\"files\":{},\"waiting\":[]}",
        "{\"apapi_sync\":1,\"since\":1,\"read\":1,\"files\":{}}"};

    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct state loaded;

        write_string(in_base(NAME), texts[i]);
        load(&loaded);
        assert_true(loaded.damaged);
        assert_true(loaded.since_ns == NOW - DAY);
        assert_null(loaded.files);
        state_free(&loaded);
    }
}

PREPARED(a_link_is_not_followed)
{
    struct state loaded;

    assert_int_equal(symlink("/etc/passwd", in_base(NAME)), 0);
    assert_fails(ELOOP, state_load(&loaded, base, NAME, NOW, NULL));
    state_free(&loaded);
    assert_int_equal(symlink("/tmp/apapi-state-x", in_base("sync.lock")), 0);
    assert_fails(ELOOP, state_lock(base, NULL));
}

PREPARED(a_folder_is_not_made)
{
    struct state loaded;

    assert_fails(ENOENT, state_lock(in_base("nothing"), NULL));
    assert_fails(ENOENT, state_load(&loaded, in_base("nothing"), NAME, NOW, NULL));
    state_free(&loaded);
}
