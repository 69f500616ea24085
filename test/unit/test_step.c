/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampler/step.h"

#include <semaphore.h>

#include "base/clock.h"
#include "unit/unit.h"

#define MS UINT64_C(1000000)

static struct message message;
static struct step step;

/* Parse a configuration of these pairs, the last one NULL. */
static int parse(const char *const pairs[])
{
    struct apapi_error err = {""};
    int result;

    memset(&step, 0, sizeof step);
    message_start(&message, APAPI_WORD_CONFIG);
    message_add_pair(&message, "node", "n1");
    for (; *pairs; pairs += 2) {
        message_add_pair(&message, pairs[0], pairs[1]);
    }
    result = step_parse(&message, &step, &err);
    assert_int_equal(*err.text != '\0', result != 0);
    return result;
}

TEST(the_words_of_plugstack_above_the_file)
{
    char path[] = "/tmp/test_step_XXXXXX";
    FILE *file = fdopen(mkstemp(path), "w");

    fputs("checkpoint = 2m\nsampler_nice = 7\nlive_dir = off\n[budget]\nmax_budget = 1kWh\n", file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(parse((const char *[]){"config", path, "words",
                                            "acct_dir=/a\nsampler_nice=-5\nnonsense\nspool_dir=x\n"
                                            "config=/other\n",
                                            NULL}),
                     0);
    unlink(path);
    assert_string_equal(step.config.acct_dir, "/a");
    assert_int_equal(step.config.sampler_nice, -5);
    assert_int_equal(step.config.checkpoint_ns, 120000 * MS);
    assert_string_equal(step.config.live_dir, "");
    assert_int_equal(*step.config.spool_dir, '/'); /* as installed */
    assert_string_equal(config_section_value(&step.config, "budget", "max_budget"), "1kWh");
    config_clear(&step.config);
}

/* The user's intervals stand above the site's, and min_interval slows users and not the site. */
TEST(whose_interval_counts)
{
    static const char *const names[] = {"rapl", "nvml", "ipmi", "other"};
    static const struct {
        const char *words, *intervals, *uid;
        uint64_t ms[COUNT_OF(names)];
        bool slowed;
    } cases[] = {
        {"interval=200ms:nvml:1s:ipmi:3s", "rapl:50ms:nvml:2s", NULL, {50, 2000, 3000, 200}, false},
        /* one for all replaces all of the site's */
        {"interval=200ms:nvml:1s", "50ms:ipmi:3s", NULL, {50, 50, 3000, 50}, false},
        {"interval=2ms", "rapl:1ms:nvml:50ms", NULL, {10, 50, 2, 2}, true},
        {NULL, "1ms", NULL, {10, 10, 10, 10}, true},
        {NULL, "1ms", "0", {1, 1, 1, 1}, false},
        /* a long min_interval does not affect what the user has not named */
        {"interval=200ms\nmin_interval=1s", "rapl:1s", NULL, {1000, 200, 200, 200}, false},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_int_equal(parse((const char *[]){"words", cases[i].words, "intervals",
                                                cases[i].intervals, "uid", cases[i].uid, NULL}),
                         0);
        for (size_t k = 0; k < COUNT_OF(names); k++) {
            assert_int_equal(apapi_intervals_get(&step.intervals, names[k]), cases[i].ms[k] * MS);
        }
        assert_int_equal(step.slowed, cases[i].slowed);
    }
}

TEST(the_nodes_of_a_step)
{
    char list[257];

    assert_int_equal(parse((const char *[]){"nodes", "4", "nodelist", "n[1-4]", NULL}), 0);
    assert_string_equal(step.id.nodelist, "n[1-4]");
    assert_int_equal(parse((const char *[]){"nodes", "1", "nodelist", "n1", NULL}), 0);
    assert_string_equal(step.id.nodelist, "");
    assert_int_equal(parse((const char *[]){"nodelist", "n[1-2]", NULL}), 0);
    assert_string_equal(step.id.nodelist, "");
    /* all of it or nothing */
    memset(list, 'n', sizeof list);
    list[255] = '\0';
    assert_int_equal(parse((const char *[]){"nodes", "2", "nodelist", list, NULL}), 0);
    assert_string_equal(step.id.nodelist, list);
    list[255] = 'n';
    list[256] = '\0';
    assert_int_equal(parse((const char *[]){"nodes", "2", "nodelist", list, NULL}), 0);
    assert_string_equal(step.id.nodelist, "");
}

TEST(bad_words)
{
    static const char *const pairs[][2] = {
        {"intervals", "x"},
        {"format", "x"},
        {"job", "4294967296"},
        {"gid", "-1"},
    };

    for (size_t i = 0; i < COUNT_OF(pairs); i++) {
        assert_int_equal(parse((const char *[]){pairs[i][0], pairs[i][1], NULL}), -1);
    }
    message_start(&message, APAPI_WORD_CONFIG);
    assert_int_equal(step_parse(&message, &step, NULL), -1); /* no node */
}

/* --- tasks ------------------------------------------------------------------------------------ */

static sem_t disk; /* answers once for each post */
static int done;

static void wait_for_disk(void *context)
{
    sem_wait(&disk);
    (*(int *)context)++;
}

static void open_disk(void)
{
    done = 0;
    assert_int_equal(sem_init(&disk, 0, 0), 0);
}

static void close_disk(void)
{
    assert_int_equal(sem_destroy(&disk), 0);
}

TEST_WITH(work_that_lasts, open_disk, close_disk)
{
    struct task task = {0};

    assert_true(task_wait(&task, 0)); /* nothing was started */
    for (int round = 1; round <= 3; round++) {
        uint64_t now_ns = clock_monotonic_ns();

        task_start(&task, wait_for_disk, &done);
        assert_false(task_wait(&task, 0));
        assert_false(task_wait(&task, now_ns + 20000000));
        assert_true(clock_monotonic_ns() >= now_ns + 20000000);
        sem_post(&disk);
        assert_true(task_wait(&task, UINT64_MAX));
        assert_int_equal(done, round);
        assert_true(task_wait(&task, 0));
    }
}
