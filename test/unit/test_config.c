/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/values.h"
#include "unit/unit.h"

#define MS UINT64_C(1000000)

static char complaints[8][1100];
static size_t complaint_count;
static char folder[] = "/tmp/apapi-config-XXXXXX", path[64];

static void complain(const char *text, void *context)
{
    assert_int_equal(*(int *)context, 4711);
    assert_true(complaint_count < 8);
    assert_null(strchr(text, '\n'));
    snprintf(complaints[complaint_count++], sizeof complaints[0], "%s", text);
}

static int context = 4711;
static const struct config_sink sink = {.complain = complain, .context = &context};

static void write_bytes(const char *bytes, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), (ssize_t)size);
    close(fd);
    complaint_count = 0;
}

static void write_file(const char *text)
{
    write_bytes(text, strlen(text));
}

/* The words of plugstack.conf: config=PATH, then `word` unless NULL. */
static struct config load(const char *word)
{
    static char named[80], text[2048];
    char *words[] = {named, text};
    struct config config;

    snprintf(named, sizeof named, "config=%s", path);
    snprintf(text, sizeof text, "%s", word ? word : "");
    complaint_count = 0;
    config_load(&config, word ? 2 : 1, words, &sink);
    return config;
}

static struct config load_file(const char *text)
{
    write_file(text);
    return load(NULL);
}

static void assert_defaults(const struct config *config)
{
    assert_string_equal(config->components, "");
    assert_string_equal(config->interval, "100ms");
    assert_int_equal(config->min_interval_ns, 10 * MS);
    assert_int_equal(config->acct_dir[0], '/');
    assert_string_equal(config->output, "stderr");
    assert_int_equal(config->format, CONFIG_TABLE);
    assert_int_equal(config->start_timeout_ns, 500 * MS);
    assert_int_equal(config->stop_timeout_ns, 1000 * MS);
    assert_int_equal(config->checkpoint_ns, 30000 * MS);
    assert_string_equal(config->sampler_cpu, "");
    assert_int_equal(config->sampler_nice, 0);
    assert_string_equal(config->allow_users, "");
    assert_string_equal(config->deny_partitions, "");
    assert_int_equal(config->job_total, CONFIG_TOTAL_BATCH);
    assert_string_equal(config->prometheus_dir, "");
    assert_int_equal(config->libexec_dir[0], '/');
    assert_int_equal(config->setting_count, 0);
}

static void test_nothing_gives_the_defaults(void **state)
{
    struct config config;

    (void)state;
    complaint_count = 0;
    config_load(&config, 0, NULL, &sink);
    assert_defaults(&config);
    assert_int_equal(complaint_count, 0);
    config_clear(&config);
}

static void test_a_missing_file_matters_only_if_it_was_named(void **state)
{
    struct config config;

    (void)state;
    unlink(path);
    config = load(NULL);
    assert_defaults(&config);
    assert_int_equal(complaint_count, 1);
    assert_non_null(strstr(complaints[0], path));
    complaint_count = 0;
    config_defaults(&config);
    assert_int_equal(config_read(&config, path, &sink), -1);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(complaint_count, 0);
}

static const char everything[] = "\xef\xbb\xbf# the site\r\n"
                                 "default=rapl:nvml\n"
                                 "  interval =\t50ms:nvml:1s   # half\n"
                                 "min_interval=20ms\n"
                                 "acct_dir = \"/a = # b\"  ; comment\n"
                                 "output = energy-%J\n"
                                 "format = csv\n"
                                 "[apapi]\n"
                                 "start_timeout=1ms\n"
                                 "stop_timeout=1m\n"
                                 "checkpoint=off\n"
                                 "sampler_cpu=0,4-5\n"
                                 "sampler_nice=-20\n"
                                 "; users\n"
                                 "allow_users = alice, 1002 ,bob\n"
                                 "deny_partitions=debug\n"
                                 "job_total=extern\n"
                                 "prometheus_dir=/p\n"
                                 "libexec_dir=/c\n"
                                 "\n"
                                 "[ ipmi ] # the BMC\n"
                                 "host = 10.0.0.7\n"
                                 "[estimate]\n"
                                 "idle_w=60\n"
                                 "core_w = 8";

static void test_each_key_in_the_file(void **state)
{
    struct config config = load_file(everything);

    (void)state;
    assert_int_equal(complaint_count, 0);
    assert_string_equal(config.components, "rapl:nvml");
    assert_string_equal(config.interval, "50ms:nvml:1s");
    assert_int_equal(config.min_interval_ns, 20 * MS);
    assert_string_equal(config.acct_dir, "/a = # b");
    assert_string_equal(config.output, "energy-%J");
    assert_int_equal(config.format, CONFIG_CSV);
    assert_int_equal(config.start_timeout_ns, MS);
    assert_int_equal(config.stop_timeout_ns, 60000 * MS);
    assert_int_equal(config.checkpoint_ns, 0);
    assert_string_equal(config.sampler_cpu, "0,4-5");
    assert_int_equal(config.sampler_nice, -20);
    assert_string_equal(config.allow_users, "alice, 1002 ,bob");
    assert_string_equal(config.deny_partitions, "debug");
    assert_int_equal(config.job_total, CONFIG_TOTAL_EXTERN);
    assert_string_equal(config.prometheus_dir, "/p");
    assert_string_equal(config.libexec_dir, "/c");
    assert_int_equal(config.setting_count, 3);
    assert_string_equal(config.settings[0].section, "ipmi");
    assert_string_equal(config.settings[0].key, "host");
    assert_string_equal(config.settings[0].value, "10.0.0.7");
    assert_string_equal(config.settings[2].value, "8");
    config_clear(&config);
}

/* The same table serves plugstack.conf. */
static void test_each_key_as_a_word(void **state)
{
    const char *help;
    const char *name;

    (void)state;
    write_file("");
    for (size_t i = 0; (name = config_key(i, &help)); i++) {
        const char *value = strcmp(name, "default") == 0            ? "rapl"
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

static void test_a_word_wins_over_the_file(void **state)
{
    struct config config;

    (void)state;
    write_file("interval=1s\nformat=json\n");
    config = load("interval=2s");
    assert_string_equal(config.interval, "2s");
    assert_int_equal(config.format, CONFIG_JSON);
    config_clear(&config);
    config = load("interval=never"); /* has no effect at all */
    assert_int_equal(complaint_count, 1);
    assert_string_equal(config.interval, "1s");
    config_clear(&config);
}

static void test_off_is_no_default(void **state)
{
    struct config config;

    (void)state;
    write_file("default=rapl");
    config = load("default=off");
    assert_int_equal(complaint_count, 0);
    assert_string_equal(config.components, "");
    config_clear(&config);
}

static const struct {
    const char *word, *hint;
} bad_values[] = {
    {"default=", "rapl:nvml"},
    {"default=rapl:", "rapl:nvml"},
    {"default=off:rapl", "off"},
    {"default=all:rapl", "all"},
    {"interval=", "100ms"},
    {"interval=3", "100ms"},
    {"interval=nvml", "nvml"},
    {"min_interval=999us", "1ms to 1h"},
    {"min_interval=rapl:1s", "1ms to 1h"},
    {"acct_dir=relative", "absolute"},
    {"acct_dir=", "absolute"},
    {"libexec_dir=./x", "absolute"},
    {"prometheus_dir=x", "absolute"},
    {"output=", "empty"},
    {"output=a%q", "'%q'"},
    {"output=a%", "'%'"},
    {"output=%11j", "'%11j'"},
    {"format=xml", "table, json, csv or none"},
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

static void test_a_bad_value_is_named_and_has_no_effect(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad_values / sizeof *bad_values; i++) {
        struct config config;

        write_file("");
        config = load(bad_values[i].word);
        assert_defaults(&config);
        assert_int_equal(complaint_count, 1);
        assert_ptr_equal(strstr(complaints[0], "plugstack.conf: "), complaints[0]);
        assert_non_null(strstr(complaints[0], bad_values[i].word));
        assert_non_null(strstr(complaints[0], bad_values[i].hint));
        config_clear(&config);
    }
}

static void test_a_bad_value_in_the_file_is_told_with_its_line(void **state)
{
    char where[80];

    (void)state;
    snprintf(where, sizeof where, "%s:2: '", path);
    for (size_t i = 0; i < sizeof bad_values / sizeof *bad_values; i++) {
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

static void test_an_unknown_word_is_named_with_what_is_valid(void **state)
{
    static const struct {
        const char *word, *hint;
    } cases[] = {{"defaults=rapl", "'default'"},
                 {"default", "'default'"},
                 {"=", "libexec_dir"},
                 {"", "libexec_dir"},
                 {"rapl", "min_interval"}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct config config;

        write_file("");
        config = load(cases[i].word);
        assert_defaults(&config);
        assert_int_equal(complaint_count, 1);
        assert_non_null(strstr(complaints[0], cases[i].word));
        assert_non_null(strstr(complaints[0], cases[i].hint));
        config_clear(&config);
    }
}

static void test_bad_lines(void **state)
{
    static const struct {
        const char *line, *hint;
    } cases[] = {
        {"intervall=1s", "unknown key 'intervall': did you mean 'interval'?"},
        {"speed = 3", "unknown key 'speed'; valid are default, interval,"},
        {"interval", "found no '='"},
        {"= 3", "the key is missing"},
        {"[ipmi", "']'"},
        {"[ipmi] x", "']'"},
        {"[]", "section is missing"},
        {"acct_dir = \"/a", "'\"'"},
        {"acct_dir = \"/a\" b", "'\"'"},
        {"acct_dir = \"/a\"# b", "'\"'"},
        {"[impi]\nhost=x", "2: unknown section 'impi': did you mean 'ipmi'"},
        {"[zzz]\nhost=x", "valid are apapi, estimate, ipmi"},
        {"[ipmi]\nhots=x", "[ipmi]: unknown key 'hots': did you mean 'host'?"},
        {"[ipmi]\nwatts=x", "valid are host, user,"},
        {"[ipmi]\nacct_dir=/x", "[apapi]"},
        {"[ipmi]\nhost=a\nhost=b", "host stands in line 2 already"},
        {"format=csv\nformat=json", "format stands in line 1 already"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct config config = load_file(cases[i].line);

        assert_int_equal(complaint_count, 1);
        assert_ptr_equal(strstr(complaints[0], path), complaints[0]);
        if (!strstr(complaints[0], cases[i].hint)) {
            fail_msg("%s", complaints[0]);
        }
        assert_string_equal(config.acct_dir[0] == '/' ? "/" : "", "/");
        config_clear(&config);
    }
}

static void test_the_good_lines_count_among_bad_ones(void **state)
{
    struct config config =
        load_file("interval=x\nformat=json\nspeed\n[ipmi]\nhost=h\nx=y\n[apapi]\nsampler_nice=3\n");

    (void)state;
    assert_int_equal(complaint_count, 3);
    assert_int_equal(config.format, CONFIG_JSON);
    assert_int_equal(config.sampler_nice, 3);
    assert_int_equal(config.setting_count, 1);
    config_clear(&config);
    config = load("speed=3");
    assert_int_equal(config.format, CONFIG_JSON);
    config_clear(&config);
}

static void test_all_settings_of_sections_fit(void **state)
{
    static char text[8192];
    const char *section, *key, *help;
    struct config config;
    size_t count = 0;

    (void)state;
    text[0] = '\0';
    for (; (section = config_section_key(count, &key, &help)); count++) {
        snprintf(text + strlen(text), sizeof text - strlen(text), "[%s]\n%s=x\n", section, key);
    }
    config = load_file(text);
    assert_int_equal(complaint_count, 0);
    assert_int_equal(config.setting_count, count);
    config_clear(&config);
}

static void refused(int code, const char *hint)
{
    struct config config;

    complaint_count = 0;
    config_defaults(&config);
    assert_int_equal(config_read(&config, path, &sink), -1);
    assert_int_equal(errno, code);
    assert_int_equal(complaint_count, 1);
    assert_non_null(strstr(complaints[0], path));
    assert_non_null(strstr(complaints[0], hint));
    assert_defaults(&config);
}

static void test_what_is_no_text_file(void **state)
{
    static char large[CONFIG_FILE_MAX + 1];
    struct config config;

    (void)state;
    write_bytes("format=csv\n\0", 12);
    refused(EINVAL, "byte 0");
    memset(large, '#', sizeof large);
    write_bytes(large, sizeof large);
    refused(EFBIG, "64 KiB");
    write_bytes(large, sizeof large - 1);
    config = load(NULL);
    assert_int_equal(complaint_count, 0);
    config_clear(&config);
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    refused(EINVAL, "regular");
    unlink(path);
    assert_int_equal(mkdir(path, 0700), 0);
    refused(EINVAL, "regular");
    rmdir(path);
}

static void test_root_reads_only_what_root_alone_can_write(void **state)
{
    (void)state;
    if (geteuid() != 0) {
        skip();
    }
    write_file("format=csv\n");
    assert_int_equal(chmod(path, 0646), 0);
    refused(EPERM, "chmod");
    assert_int_equal(chmod(path, 0664), 0);
    refused(EPERM, "chmod");
    assert_int_equal(chmod(path, 0644), 0);
    assert_int_equal(chown(path, 65534, 0), 0);
    refused(EPERM, "chown");
}

static void test_names(void **state)
{
    (void)state;
    assert_true(config_names_have("alice, bob ,1002", "bob"));
    assert_true(config_names_have("alice, bob ,1002", "1002"));
    assert_true(config_names_have("alice", "alice"));
    assert_false(config_names_have("alice, bob", "bo"));
    assert_false(config_names_have("alice, bob", "bobby"));
    assert_false(config_names_have("alice, bob", ""));
    assert_false(config_names_have("", ""));
}

static void test_cpus(void **state)
{
    cpu_set_t cpus;

    (void)state;
    assert_int_equal(config_cpus("0,4-6,1023", &cpus, NULL), 0);
    assert_int_equal(CPU_COUNT(&cpus), 5);
    assert_true(CPU_ISSET(6, &cpus) && CPU_ISSET(1023, &cpus));
    assert_int_equal(config_cpus("", &cpus, NULL), -1);
}

static int make_folder(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/apapi.conf", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_gives_the_defaults),
        cmocka_unit_test(test_a_missing_file_matters_only_if_it_was_named),
        cmocka_unit_test(test_each_key_in_the_file),
        cmocka_unit_test(test_each_key_as_a_word),
        cmocka_unit_test(test_a_word_wins_over_the_file),
        cmocka_unit_test(test_off_is_no_default),
        cmocka_unit_test(test_a_bad_value_is_named_and_has_no_effect),
        cmocka_unit_test(test_a_bad_value_in_the_file_is_told_with_its_line),
        cmocka_unit_test(test_an_unknown_word_is_named_with_what_is_valid),
        cmocka_unit_test(test_bad_lines),
        cmocka_unit_test(test_the_good_lines_count_among_bad_ones),
        cmocka_unit_test(test_all_settings_of_sections_fit),
        cmocka_unit_test(test_what_is_no_text_file),
        cmocka_unit_test(test_root_reads_only_what_root_alone_can_write),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_cpus),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
