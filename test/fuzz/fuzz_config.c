/* SPDX-License-Identifier: BSD-3-Clause */
/* Any text as apapi.conf, and its first line as a word of plugstack.conf, a duration, a list of
 * intervals. */
#include <inttypes.h>
#include <stdbool.h>

#include "apapi/interval.h"
#include "base/text.h"
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
    text_names_have(config->allow_users, "alice");
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

/* A duration comes back when it is written. */
static void check_duration(const char *text)
{
    struct apapi_error err = {""};
    uint64_t ns = 42, again = 0;
    char canonical[32];

    if (apapi_duration_parse(text, &ns, &err)) {
        REQUIRE(ns == 42 && err.text[0] != '\0');
        return;
    }
    snprintf(canonical, sizeof canonical, "%" PRIu64 "ns", ns);
    REQUIRE(ns == UINT64_MAX ||
            (apapi_duration_parse(canonical, &again, NULL) == 0 && again == ns));
}

static bool is_interval(uint64_t interval_ns)
{
    return interval_ns >= APAPI_INTERVAL_MIN_NS && interval_ns <= APAPI_INTERVAL_MAX_NS;
}

static void check_intervals(const char *text)
{
    struct apapi_intervals list = {.default_ns = 42};
    struct apapi_error err = {""};

    if (apapi_intervals_parse(text, &list, &err)) {
        REQUIRE(list.default_ns == 42 && err.text[0] != '\0');
        return;
    }
    REQUIRE(list.count <= APAPI_INTERVALS_MAX && is_interval(list.default_ns));
    for (size_t i = 0; i < list.count; i++) {
        REQUIRE(list.named[i].component[0] != '\0' && is_interval(list.named[i].interval_ns));
        REQUIRE(is_interval(apapi_intervals_get(&list, list.named[i].component)));
    }
}

static void fuzz(char *text, size_t size)
{
    size_t problems = 0;
    const struct config_sink sink = {.complain = complain, .context = &problems};
    struct config config;
    char *copy = strdup(text);

    (void)size;
    REQUIRE(copy);
    config_defaults(&config);
    config_parse(&config, "apapi.conf", copy, &sink);
    check_values(&config);
    config_clear(&config);
    text[strcspn(text, "\n")] = '\0';
    config_load(&config, 1, &text, &sink);
    check_values(&config);
    config_clear(&config);
    check_name(text);
    check_duration(text);
    check_intervals(text);
}
