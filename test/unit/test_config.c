/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/config.h"
#include "unit/config_fixture.h"

TEST(nothing_gives_the_defaults)
{
    struct config config;

    complaint_count = 0;
    config_load(&config, 0, NULL, &sink);
    assert_defaults(&config);
    assert_int_equal(complaint_count, 0);
    config_clear(&config);
}

TEST(a_missing_file_matters_only_if_it_was_named)
{
    struct config config;

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
                                 "live_dir=/run/live\n"
                                 "user_records=/var/users\n"
                                 "libexec_dir=/c\n"
                                 "\n"
                                 "[ ipmi ] # the BMC\n"
                                 "host = 10.0.0.7\n"
                                 "[estimate]\n"
                                 "idle_w=60\n"
                                 "core_w = 8";

TEST(each_key_in_the_file)
{
    struct config config = load_file(everything);

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
    assert_string_equal(config.live_dir, "/run/live");
    assert_string_equal(config.user_records, "/var/users");
    assert_string_equal(config.libexec_dir, "/c");
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
        {"acct_dir = \"/a", "'\"'"},
        {"acct_dir = \"/a\" b", "'\"'"},
        {"acct_dir = \"/a\"# b", "'\"'"},
        {"[impi]\nhost=x", "2: unknown section 'impi': did you mean 'ipmi'"},
        {"[zzz]\nhost=x", "valid are apapi, estimate, ipmi"},
        {"[ipmi]\nhots=x", "[ipmi]: unknown key 'hots': did you mean 'host'?"},
        {"[ipmi]\nwatts=x", "valid are host, user,"},
        {"[ipmi]\nacct_dir=/x", "[apapi]"},
        {"[ipmi]\nhost=a\nhost=b", "host is already set in line 2"},
        {"format=csv\nformat=json", "format is already set in line 1"},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
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

TEST(all_settings_of_sections_fit)
{
    static char text[8192];
    const char *section, *key, *help;
    struct config config;
    size_t count = 0;

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

TEST(what_is_no_text_file)
{
    static char large[CONFIG_FILE_MAX + 1];
    struct config config;

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

TEST(root_reads_only_what_root_alone_can_write)
{
    if (geteuid() != 0) {
        skip_because("needs root");
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

ALL_TESTS_IN(make_folder, remove_base)
