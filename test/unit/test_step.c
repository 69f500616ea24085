/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampler/step.h"

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

TEST(everything)
{
    assert_int_equal(
        parse((const char *[]){"components", "rapl", "format", "csv", "output", "o", "trace", "t",
                               "gid", "7", "groups", "7,8", "umask", "0027", "rules", "r", NULL}),
        0);
    assert_string_equal(step.components, "rapl");
    assert_int_equal(step.format, CONFIG_CSV);
    assert_string_equal(step.output, "o");
    assert_string_equal(step.trace, "t");
    assert_int_equal(step.gid, 7);
    assert_string_equal(step.groups, "7,8");
    assert_string_equal(step.umask, "0027");
    assert_string_equal(step.rules, "r");
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

static uint64_t interval(const char *component)
{
    return apapi_intervals_get(&step.intervals, component);
}

TEST(the_users_intervals_above_the_sites)
{
    assert_int_equal(parse((const char *[]){"words", "interval=200ms:nvml:1s:ipmi:3s", "intervals",
                                            "rapl:50ms:nvml:2s", NULL}),
                     0);
    assert_int_equal(interval("rapl"), 50 * MS);
    assert_int_equal(interval("nvml"), 2000 * MS);
    assert_int_equal(interval("ipmi"), 3000 * MS);
    assert_int_equal(interval("other"), 200 * MS);
}

TEST(an_interval_for_all_replaces_the_sites)
{
    assert_int_equal(parse((const char *[]){"words", "interval=200ms:nvml:1s", "intervals",
                                            "50ms:ipmi:3s", NULL}),
                     0);
    assert_int_equal(interval("nvml"), 50 * MS);
    assert_int_equal(interval("ipmi"), 3000 * MS);
}

TEST(min_interval_slows_users_and_not_the_site)
{
    assert_int_equal(
        parse((const char *[]){"words", "interval=2ms", "intervals", "rapl:1ms:nvml:50ms", NULL}),
        0);
    assert_int_equal(interval("rapl"), 10 * MS);
    assert_int_equal(interval("nvml"), 50 * MS);
    assert_int_equal(interval("other"), 2 * MS);
    assert_true(step.slowed);
    assert_int_equal(parse((const char *[]){"intervals", "1ms", NULL}), 0);
    assert_int_equal(interval("rapl"), 10 * MS);
    assert_int_equal(parse((const char *[]){"intervals", "1ms", "uid", "0", NULL}), 0);
    assert_int_equal(interval("rapl"), 1 * MS);
    /* a long min_interval does not affect what the user has not named */
    assert_int_equal(
        parse((const char *[]){"words", "min_interval=1s", "intervals", "rapl:1s", NULL}), 0);
    assert_false(step.slowed);
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
