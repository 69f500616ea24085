/* SPDX-License-Identifier: BSD-3-Clause */
#include <limits.h>

#include "config/config.h"
#include "config/filename.h"
#include "unit/temporary.h"

#define MS UINT64_C(1000000)

static char complaints[8][1100];
static size_t complaint_count;
static char path[80];

static void complain(const char *text, void *context)
{
    assert_int_equal(*(int *)context, 4711);
    assert_true(complaint_count < 8);
    assert_null(strchr(text, '\n'));
    snprintf(complaints[complaint_count++], sizeof complaints[0], "%s", text);
}

static int context = 4711;
static const struct config_sink sink = {.complain = complain, .context = &context};

static void write_conf(const char *bytes, size_t size)
{
    write_bytes(path, bytes, size);
    complaint_count = 0;
}

static void write_file(const char *text)
{
    write_conf(text, strlen(text));
}

/* Load the words of plugstack.conf: config=PATH, then `word` unless it is NULL. */
static struct config load(const char *word)
{
    static char named[96], text[2048];
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

static void make_folder(void)
{
    make_base();
    snprintf(path, sizeof path, "%s/apapi.conf", base);
}

TEST(a_missing_file_matters_only_if_it_was_named)
{
    struct config config;

    unlink(path);
    config = load(NULL);
    assert_defaults(&config);
    assert_int_equal(complaint_count, 1);
    assert_contains(complaints[0], path);
    complaint_count = 0;
    config_defaults(&config);
    assert_fails(ENOENT, config_read(&config, path, &sink));
    assert_int_equal(complaint_count, 0);
}

static const char everything[] = "\xef\xbb\xbf# the site\r\n"
                                 "default=rapl:nvml\n"
                                 "  interval =\t50ms:nvml:1s   # half\n"
                                 "min_interval=20ms\n"
                                 "acct_dir = \"/a = # b\"  ; comment\n"
                                 "format = csv\n"
                                 "[apapi]\n"
                                 "start_timeout=1ms\n"
                                 "stop_timeout=1m\n"
                                 "checkpoint=off\n"
                                 "sampler_nice=-20\n"
                                 "; users\n"
                                 "allow_users = alice, 1002 ,bob\n"
                                 "job_total=extern\n"
                                 "\n"
                                 "[ ipmi ] # the BMC\n"
                                 "host = 10.0.0.7\n"
                                 "[estimate]\n"
                                 "idle_w=60\n"
                                 "core_w = 8";

/* One file with many keys; test/cli/config.bats tests each key. */
TEST(a_file)
{
    struct config config = load_file(everything);

    assert_int_equal(complaint_count, 0);
    assert_string_equal(config.components, "rapl:nvml");
    assert_string_equal(config.interval, "50ms:nvml:1s");
    assert_int_equal(config.min_interval_ns, 20 * MS);
    assert_string_equal(config.acct_dir, "/a = # b");
    assert_int_equal(config.format, CONFIG_CSV);
    assert_int_equal(config.start_timeout_ns, MS);
    assert_int_equal(config.stop_timeout_ns, 60000 * MS);
    assert_int_equal(config.checkpoint_ns, 0);
    assert_int_equal(config.sampler_nice, -20);
    assert_string_equal(config.allow_users, "alice, 1002 ,bob");
    assert_int_equal(config.job_total, CONFIG_TOTAL_EXTERN);
    assert_int_equal(config.setting_count, 3);
    assert_string_equal(config.settings[0].section, "ipmi");
    assert_string_equal(config.settings[0].key, "host");
    assert_string_equal(config.settings[0].value, "10.0.0.7");
    assert_string_equal(config.settings[2].value, "8");
    config_clear(&config);
}

TEST(bad_lines)
{
    static const struct {
        const char *line, *hint;
    } cases[] = {
        {"intervall=1s", "unknown key 'intervall': did you mean 'interval'?"},
        {"speed = 3", "unknown key 'speed'; valid are enabled, default,"},
        {"interval", "found no '='"},
        {"= 3", "the key is missing"},
        {"[ipmi", "']'"},
        {"[ipmi] x", "']'"},
        {"[]", "section is missing"},
        {"acct_dir = \"/a", "1: acct_dir: the second '\"' is missing"},
        {"acct_dir = \"/a\" b", "nothing after a second '\"'"},
        {"acct_dir = \"/a\"# b", "'\"'"},
        {"[foo]", "1: unknown section 'foo'; valid are apapi"},
        {"[impi]\nhost=x\nuser=y", "1: unknown section 'impi': did you mean 'ipmi'"},
        {"[zzz]\nhost=x", "valid are apapi, estimate, ipmi"},
        {"[ipmi]\nhots=x", "[ipmi]: unknown key 'hots': did you mean 'host'?"},
        {"[ipmi]\nwatts=x", "valid are host, user,"},
        {"[ipmi]\nacct_dir=/x", "[apapi]"},
        {"[ipmi]\nhost=a\nhost=b", "host is already set in line 2"},
        {"format=csv\nformat=json", "format is already set in line 1"},
        {"# one\nformat=xml", "2: 'format = xml'"},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct config config = load_file(cases[i].line);

        assert_int_equal(complaint_count, 1);
        assert_ptr_equal(strstr(complaints[0], path), complaints[0]);
        assert_contains(complaints[0], cases[i].hint);
        assert_string_equal(config.acct_dir[0] == '/' ? "/" : "", "/");
        config_clear(&config);
    }
}

static void refused(int code, const char *hint)
{
    struct config config;

    complaint_count = 0;
    config_defaults(&config);
    assert_fails(code, config_read(&config, path, &sink));
    assert_int_equal(complaint_count, 1);
    assert_contains(complaints[0], path);
    assert_contains(complaints[0], hint);
    assert_defaults(&config);
}

TEST(what_is_no_text_file)
{
    static char large[CONFIG_FILE_MAX + 1];
    struct config config;

    write_conf("format=csv\n\0", 12);
    refused(EINVAL, "byte 0");
    memset(large, '#', sizeof large);
    write_conf(large, sizeof large);
    refused(EFBIG, "64 KiB");
    write_conf(large, sizeof large - 1);
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

TEST(root_reads_only_what_root_alone_can_write)
{
    needs_root();
    write_file("format=csv\n");
    assert_int_equal(chmod(path, 0646), 0);
    refused(EPERM, "chmod");
    assert_int_equal(chmod(path, 0664), 0);
    refused(EPERM, "chmod");
    assert_int_equal(chmod(path, 0644), 0);
    assert_int_equal(chown(path, 65534, 0), 0);
    refused(EPERM, "chown");
    assert_int_equal(chown(path, 0, 0), 0);
}

/* --- values ----------------------------------------------------------------------------------- */

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
} bad_words[] = {
    {"enabled=", "yes:debug:no"},
    {"enabled=maybe", "neither yes nor no"},
    {"enabled=no:gpu:on", "'on'"},
    {"enabled=no:a,b:yes", "partition"},
    {"default=", "rapl:nvml"},
    {"default=rapl:", "rapl:nvml"},
    {"default=off:rapl", "off"},
    {"interval=", "100ms"},
    {"interval=100", "100ms"},
    {"stop_timeout=5", "a unit is missing in '5': ms, s, m or h"},
    {"min_interval=999us", "1ms to 1h"},
    {"min_interval=rapl:1s", "1ms to 1h"},
    {"acct_dir=relative", "absolute"},
    {"live_dir=run/apapi", "absolute"},
    {"output=", "empty"},
    {"output=a%q", "'%q'"},
    {"format=xml", "table, json, csv, merged or none"},
    {"start_timeout=999us", "1ms to 1m"},
    {"stop_timeout=soon", "1ms to 1m"},
    {"checkpoint=0s", "1s to 1h"},
    {"checkpoint=2h", "1s to 1h"},
    {"sampler_cpu=x", "CPU"},
    {"sampler_cpu=1024", "1023"},
    {"sampler_nice=-21", "-20 to 19"},
    {"sampler_nice=1x", "-20 to 19"},
    {"allow_users=,alice", "comma"},
    {"allow_users=alice bob", "comma"},
    {"deny_partitions=a,,b", "comma"},
    {"job_total=on", "batch, extern or off"},
    {"defaults=rapl", "'default'"},
    {"rappl=1", "min_interval"},
    {"prometheus_dir=/x", "apapi.conf"},
    {"idle_w=5", "job_total, libexec_dir"},
    {"default", "key=value, without blanks"},
    {"=rapl", "key=value, without blanks"},
    {"", "key=value, without blanks"},
};

static void assert_refused(const char *word, const char *hint)
{
    struct config config;

    write_file("");
    config = load(word);
    assert_defaults(&config);
    assert_int_equal(complaint_count, 1);
    assert_ptr_equal(strstr(complaints[0], "plugstack.conf: "), complaints[0]);
    assert_contains(complaints[0], word);
    assert_contains(complaints[0], hint);
    config_clear(&config);
}

TEST(a_bad_word_is_named_and_has_no_effect)
{
    for (size_t i = 0; i < COUNT_OF(bad_words); i++) {
        assert_refused(bad_words[i].word, bad_words[i].hint);
    }
}

TEST(the_second_word_of_a_key_has_no_effect)
{
    struct config config = load("default=rapl");

    config_set_word(&config, "default=off", &sink);
    assert_string_equal(config.components, "rapl");
    assert_contains(complaints[0], "'default=off' has no effect: default is already set");
    config_clear(&config);
}

TEST(cpus)
{
    cpu_set_t cpus;

    assert_int_equal(config_cpus("0,4-6,1023", &cpus, NULL), 0);
    assert_int_equal(CPU_COUNT(&cpus), 5);
    assert_true(CPU_ISSET(6, &cpus) && CPU_ISSET(1023, &cpus));
    assert_int_equal(config_cpus("", &cpus, NULL), -1);
}

/* --- names of files --------------------------------------------------------------------------- */

static const struct filename_values values = {.job = 4711,
                                              .step = "3",
                                              .array_job = 4700,
                                              .array_index = 11,
                                              .node = "n1.cluster.example",
                                              .node_index = 2,
                                              .task = 0,
                                              .user = "al/ice",
                                              .name = "../x"};

TEST(each_letter_of_a_name)
{
    static const struct {
        const char *pattern, *name;
    } cases[] = {
        {"%j", "4711"},
        {"%J", "4711.3"},
        {"%s", "3"},
        {"%A_%a", "4700_11"},
        {"%N", "n1"},
        {"%n", "2"},
        {"%t", "0"},
        {"%u", "al_ice"},
        {"%x", ".._x"}, /* no path out of the folder */
        {"100%%", "100%"},
        {"%6j", "004711"},
        {"%10j", "0000004711"},
        {"%4s", "0003"},
        {"%3a", "011"},
        {"%3N", "n1"}, /* a number before a text has no effect */
        {"/a/%j/%s.csv", "/a/4711/3.csv"},
    };
    struct filename_values batch = values;
    char name[PATH_MAX];

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_int_equal(filename_expand(cases[i].pattern, &values, name, sizeof name, NULL), 0);
        assert_string_equal(name, cases[i].name);
    }
    batch.step = "batch"; /* a name is not filled up with zeros */
    assert_int_equal(filename_expand("%8s-%2J", &batch, name, sizeof name, NULL), 0);
    assert_string_equal(name, "batch-4711.batch");
}

TEST(bad_patterns)
{
    static const struct {
        const char *pattern, *hint;
    } cases[] = {
        {"", "empty"},           {"%", "'%'"},   {"a%q", "'%q'"},       {"%11j", "'%11j'"},
        {"%99999999999j", "%j"}, {"%5", "'%5'"}, {"a\nb", "character"}, {"a\033[2J", "character"}};
    char name[64] = "unchanged";

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_fails_with(EINVAL, cases[i].hint, filename_check(cases[i].pattern, &why));
        assert_null(strchr(why.text, '\n'));
        assert_int_equal(filename_expand(cases[i].pattern, &values, name, sizeof name, NULL), -1);
        assert_string_equal(name, "");
    }
}

TEST(names_of_files_have_a_length)
{
    static char pattern[PATH_MAX];
    char name[16];

    memset(pattern, 'x', sizeof pattern - 1);
    assert_fails(ENAMETOOLONG, filename_check(pattern, NULL));
    assert_fails(ENAMETOOLONG, filename_expand("%j%j%j%j", &values, name, sizeof name, NULL));
    assert_string_equal(name, "");
    assert_int_equal(filename_expand("%j%j%j123", &values, name, sizeof name, NULL), 0);
    assert_int_equal(strlen(name), sizeof name - 1);
}

TEST(names_become_absolute)
{
    char absolute[32];

    assert_int_equal(filename_absolute("/home/a", "x", absolute, sizeof absolute, NULL), 0);
    assert_string_equal(absolute, "/home/a/x");
    assert_int_equal(filename_absolute("", "/x", absolute, sizeof absolute, NULL), 0);
    assert_string_equal(absolute, "/x");
    assert_fails(ENOENT, filename_absolute("", "x", absolute, sizeof absolute, NULL));
    assert_fails(ENAMETOOLONG, filename_absolute("/home/a", "0123456789012345678901234", absolute,
                                                 sizeof absolute, NULL));
}

TEST(traces_do_not_meet)
{
    static const struct {
        const char *pattern;
        uint32_t nodes;
        bool batch;
        const char *unique;
    } cases[] = {{"t", 1, false, "t"},          {"t", 2, false, "t.%N"},
                 {"t%n", 2, false, "t%n"},      {"t", 0, true, "t.batch"},
                 {"t%N", 2, true, "t%N.batch"}, {"t%J", 0, true, "t%J"},
                 {"t-%s", 2, false, "t-%s.%N"}};
    char unique[32];

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_int_equal(
            filename_trace(cases[i].pattern, cases[i].nodes, cases[i].batch, unique, sizeof unique),
            0);
        assert_string_equal(unique, cases[i].unique);
    }
    assert_int_equal(filename_trace("1234", 2, true, unique, 12), -1);
}

ALL_TESTS_IN(make_folder, remove_base)
