/* SPDX-License-Identifier: BSD-3-Clause */
/* The comments, jobs and state of apapi-sync. */
#include <signal.h>
#include <sys/resource.h>

#include "sync/jobs.h"
#include "unit/temporary.h"

#define OWN "\"apapi\":{\"v\":1,\"energy_j\":7}"
#define OLD "\"apapi\":{\"v\":1,\"energy_j\":1234.5,\"nodes\":2}"

TEST(what_is_known_is_said)
{
    struct apapi_job_total total = {.nodes = 2,
                                    .energy_j = 1440.1234567,
                                    .uncertainty_j = 2.51234,
                                    .mean_w = 480.05123,
                                    .covered_ns = 98765 * UINT64_C(1000000),
                                    .node_s = 100,
                                    .elapsed_ns = 50 * UINT64_C(1000000000),
                                    .runs = 1};
    char own[COMMENT_OWN_SIZE];

    comment_own(own, &total);
    assert_string_equal(own,
                        "\"apapi\":{\"v\":1,\"energy_j\":1440.12346,\"uncertainty_j\":2.51,"
                        "\"mean_w\":480.051,\"nodes\":2,\"measured_pct\":98.77,\"elapsed_s\":50}");
    total.missing_domains = 1U << APAPI_DOMAIN_PACKAGE | 1U << APAPI_DOMAIN_DRAM;
    comment_own(own, &total);
    assert_contains(own, ",\"uncertainty_j\":2.51,\"missing_domains\":\"package,dram\",");
    total.missing_domains = 0;
    total.incomplete = 3;
    total.runs = 2;
    total.node_s = 0;
    total.energy_j = total.uncertainty_j = total.mean_w = NAN;
    comment_own(own, &total);
    assert_string_equal(
        own, "\"apapi\":{\"v\":1,\"nodes\":2,\"elapsed_s\":50,\"runs\":2,\"incomplete\":3}");
    total.energy_j = total.uncertainty_j = total.mean_w = -1.23456789e-300;
    total.missing_domains = UINT32_MAX;
    total.nodes = total.incomplete = total.runs = SIZE_MAX;
    total.elapsed_ns = UINT64_MAX;
    comment_own(own, &total);
    assert_in_range(strlen(own), 200, 280); /* short with any numbers */
    assert_string_equal(own + strlen(own) - 1, "}");
}

TEST(what_others_wrote_stays)
{
    static const struct {
        const char *there, *put;
    } cases[] = {
        {NULL, "{" OWN "}"},
        {"", "{" OWN "}"},
        {"{}", "{" OWN "}"},
        {"{ }", "{ " OWN "}"},
        {"{" OLD "}", "{" OWN "}"},
        {"{\"a\":0.10,\"b\":[1, 2]}", "{\"a\":0.10,\"b\":[1, 2]," OWN "}"},
        {"{\"a\":1}\n", "{\"a\":1," OWN "}\n"},
        {"{\"a\":0.1," OLD ", \"b\":\"x\"}", "{\"a\":0.1," OWN ", \"b\":\"x\"}"},
        {"{\"a\":\"\\\"apapi\\\":{}\"," OLD "}", "{\"a\":\"\\\"apapi\\\":{}\"," OWN "}"},
        /* an object inside another object is not apapi's */
        {"{\"x\":{" OLD "}}", "{\"x\":{" OLD "}," OWN "}"},
        {"{\"x\":{" OLD "}," OLD "}", "{\"x\":{" OLD "}," OWN "}"},
        /* apapi's key, as another program would write it */
        {"{\"apapi\" : {\"v\" : 1, \"x\" : {}}, \"a\" : 2}", "{" OWN ", \"a\" : 2}"},
        {"{\"a\\\\\": [\"}\", {\"apapi\": 1}] , \"apapi\" :7 }",
         "{\"a\\\\\": [\"}\", {\"apapi\": 1}] , " OWN " }"},
        {"{\"apapi\":7}", "{" OWN "}"},
        {"{\"apapi\":{\"s\":\"}\"}}", "{" OWN "}"},
        /* texts */
        {"see ticket 17", "see ticket 17 {" OWN "}"},
        {"see ticket 17 {" OLD "}", "see ticket 17 {" OWN "}"},
        {"see ticket 17{" OLD "}", "see ticket 17{" OWN "}"},
        {"{" OLD "} see ticket 17", "{" OLD "} see ticket 17 {" OWN "}"},
        {"a {" OLD "} b {" OLD "}", "a {" OLD "} b {" OWN "}"},
        {"a {" OLD ",\"more\":1}", "a {" OLD ",\"more\":1} {" OWN "}"},
        {"[1,2]", "[1,2] {" OWN "}"},
        {"\"text\"", "\"text\" {" OWN "}"},
        {"{\"a\":1,\"a\":2}", "{\"a\":1,\"a\":2} {" OWN "}"},
        {"{broken", "{broken {" OWN "}"},
        {"it's 5 % \\n \xff", "it's 5 % \\n \xff {" OWN "}"},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        FREED char *put = NULL, *again = NULL;

        assert_int_equal(comment_put(cases[i].there, OWN, &put), 0);
        fail_if(strcmp(put, cases[i].put) != 0, "%s: %s, not %s", cases[i].there, put,
                cases[i].put);
        assert_int_equal(comment_put(put, OWN, &again), 0);
        assert_string_equal(again, put);
    }
}

TEST(there_must_be_room)
{
    size_t room = COMMENT_MAX - strlen(" {" OWN "}");
    char *there = malloc(room + 2), *put;

    memset(there, 'x', room + 1);
    there[room] = '\0';
    assert_int_equal(comment_put(there, OWN, &put), 0);
    assert_int_equal(strlen(put), COMMENT_MAX);
    free(put);
    there[room] = 'x';
    there[room + 1] = '\0';
    assert_fails(EMSGSIZE, comment_put(there, OWN, &put));
    free(there);
}

/* --- jobs that are found in records, and their runs ------------------------------------------- */

#define HOUR 3600

TEST(a_job_is_found_once)
{
    static const struct found_job jobs[] = {
        {"b", 7, 1, 50}, {"a", 9, 1, 50},         {"a", 9, 1, 50},
        {"b", 7, 1, 40}, {"a", 10, 1, 50},        {"", 9, 1, 50},
        {"a", 9, 1, 60}, {"a", 0xffff0000, 1, 60}}; /* of `srun -Z` */
    static const struct found_job sorted[] = {
        {"", 9, 1, 50}, {"a", 9, 3, 50}, {"a", 10, 1, 50}, {"b", 7, 2, 40}};
    struct found found = {0};

    for (size_t i = 0; i < COUNT_OF(jobs); i++) {
        assert_int_equal(found_add(&found, &jobs[i]), 0);
    }
    found_sort(&found);
    assert_int_equal(found.count, COUNT_OF(sorted));
    assert_memory_equal(found.jobs, sorted, sizeof sorted);
    found_free(&found);
}

static struct dbd_run run(uint32_t job, int64_t submit_s, int64_t start_s, int64_t end_s,
                          const char *comment)
{
    return (struct dbd_run){.job = job,
                            .uid = 1000,
                            .submit_s = submit_s,
                            .start_s = start_s,
                            .end_s = end_s,
                            .ended = end_s > 0,
                            .comment = comment};
}

static struct runs_job find(const struct dbd_run *list, size_t count, uint32_t job)
{
    static struct runs runs;

    runs_free(&runs);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(runs_add(&runs, &list[i]), 0);
    }
    runs_sort(&runs);
    return runs_find(&runs, job);
}

TEST(a_jobs_runs_are_taken_together)
{
    const struct dbd_run list[] = {run(7, 300, 400, 500, "third"), run(8, 1, 2, 3, "another"),
                                   run(7, 100, 110, 200, "first"), run(7, 200, 0, 300, "second"),
                                   run(6, 1, 2, 3, "another")};
    const struct runs_job job = find(list, COUNT_OF(list), 7);

    assert_string_equal(job.latest->comment, "third");
    assert_true(job.start_s == 110);
    assert_null(find(list, COUNT_OF(list), 5).latest);
    assert_null(find(list, COUNT_OF(list), 9).latest);
    assert_null(find(NULL, 0, 9).latest);
}

TEST(a_number_that_came_again_is_another_job)
{
    struct dbd_run list[] = {run(7, 100, 110, 200, "old"),
                             run(7, 200 + 24 * HOUR, 200000, 200100, "new")};
    struct runs_job job = find(list, 2, 7);

    assert_true(job.start_s == 200000);
    list[1].submit_s--;
    job = find(list, 2, 7);
    assert_true(job.start_s == 110);
    list[0].uid = 1001;
    job = find(list, 2, 7);
    assert_true(job.start_s == 200000);
    find(NULL, 0, 7);
}

/* --- state ------------------------------------------------------------------------------------ */

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
    /* files that are not noted again are forgotten, and so are files older than the reach */
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

/* If a new state cannot be written completely, the old one stays, and no other file. */
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
    /* no folder is made, either */
    assert_fails(ENOENT, state_lock(in_base("nothing"), NULL));
    assert_fails(ENOENT, state_load(&loaded, in_base("nothing"), NAME, NOW, NULL));
    state_free(&loaded);
}
