/* SPDX-License-Identifier: BSD-3-Clause */
/* The values of each key, as a word of plugstack.conf and in the file. */
#include "config/values.h"
#include "unit/config_fixture.h"

/* The same table serves plugstack.conf. */
TEST(each_key_as_a_word)
{
    const char *help;
    const char *name;

    write_file("");
    for (size_t i = 0; (name = config_key(i, &help)); i++) {
        const char *value = strcmp(name, "enabled") == 0            ? "no"
                            : strcmp(name, "user_records") == 0     ? "/x"
                            : strcmp(name, "default") == 0          ? "rapl"
                            : strcmp(name, "interval") == 0         ? "1s"
                            : strcmp(name, "min_interval") == 0     ? "1s"
                            : strcmp(name, "format") == 0           ? "json"
                            : strcmp(name, "checkpoint") == 0       ? "1h"
                            : strcmp(name, "sampler_cpu") == 0      ? "1"
                            : strcmp(name, "sampler_nice") == 0     ? "19"
                            : strcmp(name, "job_total") == 0        ? "off"
                            : strstr(name, "timeout")               ? "2s"
                            : strstr(name, "dir") || name[0] == 'o' ? "/x"
                                                                    : "x";
        char word[64];
        struct config config;

        snprintf(word, sizeof word, "%s=%s", name, value);
        config = load(word);
        assert_int_equal(complaint_count, 0);
        assert_string_equal(config.origins[i].text, value);
        assert_true(config.origins[i].word);
        assert_true(strlen(help) > 10);
        config_clear(&config);
    }
}

TEST(off_is_no_default)
{
    struct config config;

    write_file("default=rapl");
    config = load("default=off");
    assert_int_equal(complaint_count, 0);
    assert_string_equal(config.components, "");
    config_clear(&config);
}

TEST(enabled_everywhere_or_in_single_partitions)
{
    static const struct {
        const char *word;
        bool unnamed, debug, gpu, anywhere, varies;
    } cases[] = {
        {"enabled=yes", true, true, true, true, false},
        {"enabled=no", false, false, false, false, false},
        {"enabled=yes:debug:no", true, false, true, true, true},
        {"enabled=no:debug:no:gpu:yes", false, false, true, true, true},
        {"enabled=no:gpu:no", false, false, false, false, true},
    };

    write_file("");
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct config config = load(cases[i].word);

        assert_int_equal(complaint_count, 0);
        assert_int_equal(config_enabled(&config, NULL), cases[i].unnamed);
        assert_int_equal(config_enabled(&config, "debug2"), cases[i].unnamed);
        assert_int_equal(config_enabled(&config, "debug"), cases[i].debug);
        assert_int_equal(config_enabled(&config, "gpu"), cases[i].gpu);
        assert_int_equal(config_enabled_anywhere(&config), cases[i].anywhere);
        assert_int_equal(config_enabled_varies(&config), cases[i].varies);
        config_clear(&config);
    }
}

static const struct {
    const char *word, *hint;
} bad_values[] = {
    {"enabled=", "yes:debug:no"},
    {"enabled=maybe", "neither yes nor no"},
    {"enabled=no:", "partition is missing"},
    {"enabled=no:gpu", "yes:debug:no"},
    {"enabled=no:gpu:on", "'on'"},
    {"enabled=no:a,b:yes", "partition"},
    {"default=", "rapl:nvml"},
    {"default=rapl:", "rapl:nvml"},
    {"default=off:rapl", "off"},
    {"default=all:rapl", "all"},
    {"interval=", "100ms"},
    {"interval=3", "a unit is missing in '3'"},
    {"interval=100", "100ms"},
    {"stop_timeout=5", "a unit is missing: ms, s, m or h"},
    {"interval=nvml", "nvml"},
    {"min_interval=999us", "1ms to 1h"},
    {"min_interval=rapl:1s", "1ms to 1h"},
    {"acct_dir=relative", "absolute"},
    {"acct_dir=", "absolute"},
    {"libexec_dir=./x", "absolute"},
    {"prometheus_dir=x", "absolute"},
    {"live_dir=run/apapi", "absolute"},
    {"output=", "empty"},
    {"output=a%q", "'%q'"},
    {"output=a%", "'%'"},
    {"output=%11j", "'%11j'"},
    {"format=xml", "table, json, csv, merged or none"},
    {"start_timeout=999us", "1ms to 1m"},
    {"start_timeout=61s", "1ms to 1m"},
    {"stop_timeout=soon", "1ms to 1m"},
    {"stop_timeout=-1s", "1ms to 1m"},
    {"stop_timeout=", "1ms to 1m"},
    {"checkpoint=30", "1s to 1h"},
    {"checkpoint=0s", "1s to 1h"},
    {"checkpoint=2h", "1s to 1h"},
    {"sampler_cpu=x", "CPU"},
    {"sampler_cpu=3-1", "CPU"},
    {"sampler_cpu=1,", "CPU"},
    {"sampler_cpu=1024", "1023"},
    {"sampler_cpu=99999999999999999999", "CPU"},
    {"sampler_nice=-21", "-20 to 19"},
    {"sampler_nice=20", "-20 to 19"},
    {"sampler_nice=1x", "-20 to 19"},
    {"sampler_nice=", "-20 to 19"},
    {"allow_users=,alice", "comma"},
    {"allow_users=alice bob", "comma"},
    {"deny_partitions=a,,b", "comma"},
    {"job_total=on", "batch, extern or off"},
};

static void assert_refused(const char *word, const char *hint)
{
    struct config config;

    write_file("");
    config = load(word);
    assert_defaults(&config);
    assert_int_equal(complaint_count, 1);
    assert_ptr_equal(strstr(complaints[0], "plugstack.conf: "), complaints[0]);
    assert_non_null(strstr(complaints[0], word));
    assert_non_null(strstr(complaints[0], hint));
    config_clear(&config);
}

TEST(a_bad_value_is_named_and_has_no_effect)
{
    for (size_t i = 0; i < COUNT_OF(bad_values); i++) {
        assert_refused(bad_values[i].word, bad_values[i].hint);
    }
}

TEST(a_bad_value_in_the_file_is_reported_with_its_line)
{
    char where[96];

    snprintf(where, sizeof where, "%s:2: '", path);
    for (size_t i = 0; i < COUNT_OF(bad_values); i++) {
        char text[200];
        struct config config;

        snprintf(text, sizeof text, "# one\n%s\n", bad_values[i].word);
        config = load_file(text);
        assert_defaults(&config);
        assert_int_equal(complaint_count, 1);
        assert_ptr_equal(strstr(complaints[0], where), complaints[0]);
        assert_non_null(strstr(complaints[0], bad_values[i].hint));
        config_clear(&config);
    }
}

TEST(an_unknown_word_is_named_with_what_is_valid)
{
    static const struct {
        const char *word, *hint;
    } cases[] = {{"defaults=rapl", "'default'"},
                 {"default", "'default'"},
                 {"=", "libexec_dir"},
                 {"", "libexec_dir"},
                 {"rapl", "min_interval"}};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_refused(cases[i].word, cases[i].hint);
    }
}

TEST(cpus)
{
    cpu_set_t cpus;

    assert_int_equal(config_cpus("0,4-6,1023", &cpus, NULL), 0);
    assert_int_equal(CPU_COUNT(&cpus), 5);
    assert_true(CPU_ISSET(6, &cpus) && CPU_ISSET(1023, &cpus));
    assert_int_equal(config_cpus("", &cpus, NULL), -1);
}

ALL_TESTS_IN(make_folder, remove_base)
