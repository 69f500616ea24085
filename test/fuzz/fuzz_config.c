/* SPDX-License-Identifier: BSD-3-Clause */
/* Any text as apapi.conf, and its first line as a word of plugstack.conf. */
#include <stdbool.h>

#include "config/config.h"
#include "config/filename.h"
#include "fuzz/fuzz.h"

static void complain(const char *text, void *context)
{
    REQUIRE(*text != '\0' && strlen(text) < 2048);
    ++*(size_t *)context;
}

static void check_values(const struct config *config)
{
    cpu_set_t cpus;

    REQUIRE(config->start_timeout_ns > 0 && config->stop_timeout_ns > 0);
    REQUIRE(config->min_interval_ns >= 1000000);
    REQUIRE(config->acct_dir[0] == '/' && config->libexec_dir[0] == '/');
    REQUIRE(config->sampler_nice >= -20 && config->sampler_nice <= 19);
    REQUIRE(config->format <= CONFIG_NONE);
    REQUIRE(filename_check(config->output, NULL) == 0);
    REQUIRE(*config->sampler_cpu == '\0' || config_cpus(config->sampler_cpu, &cpus, NULL) == 0);
    REQUIRE(config->setting_count <= CONFIG_SETTINGS_MAX);
    config_names_have(config->allow_users, "alice");
}

static void check_name(const char *pattern)
{
    const struct filename_values values = {
        .job = 1, .step = "0", .node = "n", .user = "u", .name = "j"};
    char name[64];

    if (filename_expand(pattern, &values, name, sizeof name, NULL)) {
        REQUIRE(*name == '\0');
    } else {
        REQUIRE(*name != '\0' && strlen(name) < sizeof name);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
    size_t problems = 0;
    const struct config_sink sink = {.complain = complain, .context = &problems};
    char *word = fuzz_string(input, size);
    struct config config;

    config_defaults(&config);
    config_parse(&config, "apapi.conf", fuzz_string(input, size), &sink);
    check_values(&config);
    config_clear(&config);
    word[strcspn(word, "\n")] = '\0';
    config_load(&config, 1, &word, &sink);
    check_values(&config);
    config_clear(&config);
    check_name(word);
    free(word);
    return 0;
}
