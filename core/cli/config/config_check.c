/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/config/config_check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "apapi/interval.h"
#include "apapi/session.h"
#include "base/count_of.h"
#include "base/duration.h"
#include "base/number.h"
#include "cli/totals/rates.h"
#include "config/folders.h"
#include "config/values.h"
#include "limit/limit.h"

#define MAX_W 100000.0

struct value_check {
    int (*check)(const struct value_check *this, const char *key, const char *value,
                 struct apapi_error *err);
    const char *words;
    unsigned min, max;
};

static int check_watts(const struct value_check *this, const char *key, const char *value,
                       struct apapi_error *err)
{
    struct real_number number = {-1, ""};
    bool decimal = *value && value[strspn(value, "0123456789.eE+-")] == '\0';

    (void)this;
    (void)key;
    return decimal && real_number_parse(value, &number) == 0 && !*number.rest &&
                   number.value >= 0 && number.value <= MAX_W
               ? 0
               : apapi_fail(err, EINVAL, "expected watts, from 0 to %.0f", MAX_W);
}

static int config_check_text(const struct value_check *this, const char *key, const char *value,
                             struct apapi_error *err)
{
    (void)key;
    return strlen(value) <= this->max
               ? 0
               : apapi_fail(err, EINVAL, "longer than %u characters", this->max);
}

/* The words of `this` are separated by ", ". */
static int check_word(const struct value_check *this, const char *key, const char *value,
                      struct apapi_error *err)
{
    (void)key;
    return *value && config_names_have(this->words, value)
               ? 0
               : apapi_fail(err, EINVAL, "expected one of %s", this->words);
}

static int check_seconds(const struct value_check *this, const char *key, const char *value,
                         struct apapi_error *err)
{
    uint64_t ns;

    (void)key;
    if (apapi_duration_parse(value, &ns, err)) {
        return -1;
    }
    return ns >= this->min * NS_PER_S && ns <= this->max * NS_PER_S
               ? 0
               : apapi_fail(err, ERANGE, "expected a time from %us to %us", this->min, this->max);
}

/* A name without a folder is searched like a system library. */
static int check_library(const struct value_check *this, const char *key, const char *value,
                         struct apapi_error *err)
{
    struct stat file;

    (void)this;
    (void)key;
    return !strchr(value, '/') || stat(value, &file) == 0
               ? 0
               : apapi_fail(err, errno, "%s on this machine", strerror(errno));
}

static int check_secret(const struct value_check *this, const char *key, const char *value,
                        struct apapi_error *err)
{
    struct stat file;

    (void)this;
    (void)key;
    if (stat(value, &file)) {
        return errno == EACCES ? 0 : apapi_fail(err, errno, "%s on this machine", strerror(errno));
    }
    if (!S_ISREG(file.st_mode)) {
        return apapi_fail(err, EINVAL, "no file");
    }
    return file.st_mode & (S_IRWXG | S_IRWXO)
               ? apapi_fail(err, EACCES, "it can be read or written by others: chmod 600")
               : 0;
}

static int check_rate(const struct value_check *this, const char *key, const char *value,
                      struct apapi_error *err)
{
    (void)this;
    return rates_check(key, value, err);
}

static int check_budget(const struct value_check *this, const char *key, const char *value,
                        struct apapi_error *err)
{
    (void)this;
    (void)key;
    return limit_site_check(value, false, err);
}

static int check_budget_action(const struct value_check *this, const char *key, const char *value,
                               struct apapi_error *err)
{
    (void)this;
    (void)key;
    return limit_site_check(value, true, err);
}

static const struct section_check {
    const char *section, *key, *help;
    struct value_check value;
} checks[] = {
#define WATTS .check = check_watts
#define TEXT(size) .check = config_check_text, .max = (size)
#define WORD(list) .check = check_word, .words = (list)
#define SECONDS(from, to) .check = check_seconds, .min = (from), .max = (to)
#define LIBRARY .check = check_library
#define SECRET .check = check_secret
#define RATE .check = check_rate
#define BUDGET .check = check_budget
#define BUDGET_ACTION .check = check_budget_action
#define CONFIG_SECTION_KEY(section, key, check, help) {#section, #key, help, {check}},
#include "config/sections.def"
#undef CONFIG_SECTION_KEY
};

static void check_setting(const struct config *config, const struct config_setting *setting,
                          const struct config_sink *sink)
{
    struct apapi_error err;

    for (size_t i = 0; i < COUNT_OF(checks); i++) {
        if (strcmp(checks[i].section, setting->section) == 0 &&
            strcmp(checks[i].key, setting->key) == 0 &&
            checks[i].value.check(&checks[i].value, setting->key, setting->value, &err)) {
            config_complain(sink, "%.200s:%zu: [%s]: '%s = %.60s': %.200s; %s takes: %s",
                            config->path, setting->line, setting->section, setting->key,
                            setting->value, err.text, setting->key, checks[i].help);
        }
    }
}

/* Values that only make sense together. */
static void check_pairs(const struct config *config, const struct config_sink *sink)
{
    static const struct {
        const char *section, *key, *needs;
    } pairs[] = {{"estimate", "idle_w", "core_w"},
                 {"estimate", "core_w", "idle_w"},
                 {"ipmi", "user", "host"},
                 {"ipmi", "password_file", "host"}};

    for (size_t i = 0; i < COUNT_OF(pairs); i++) {
        const struct config_setting *setting =
            config_setting_find(config, pairs[i].section, pairs[i].key);

        if (setting && !config_setting_find(config, pairs[i].section, pairs[i].needs)) {
            config_complain(sink, "%.200s:%zu: [%s]: %s has no effect without %s", config->path,
                            setting->line, setting->section, setting->key, pairs[i].needs);
        }
    }
}

/* The position of a value of the plugin's own keys; "": it is the default. */
static const char *origin_of(const struct config *config, const char *wanted, char *origin,
                             size_t size)
{
    const char *key, *help;

    *origin = '\0';
    for (size_t i = 0; (key = config_key(i, &help)); i++) {
        if (strcmp(key, wanted) == 0 && config->origins[i].line) {
            snprintf(origin, size, "%.200s:%zu: ", config->path, config->origins[i].line);
        }
    }
    return origin;
}

static void check_component(const struct config *config, const char *key, const char *list,
                            const struct config_sink *sink)
{
    char origin[256];
    struct apapi_error err;

    if (apapi_components_check(list, &err)) {
        config_complain(sink, "%s%s: %.200s", origin_of(config, key, origin, sizeof origin), key,
                        err.text);
    }
}

static void check_components(const struct config *config, const struct config_sink *sink)
{
    struct apapi_intervals intervals;

    if (*config->components) {
        check_component(config, "default", config->components, sink);
    }
    if (apapi_intervals_parse(config->interval, &intervals, NULL) == 0) {
        for (size_t i = 0; i < intervals.count; i++) {
            check_component(config, "interval", intervals.named[i].component, sink);
        }
    }
}

static void check_folder(const struct config *config, const char *key, const char *path,
                         const struct config_sink *sink)
{
    char origin[256];
    struct apapi_error err;

    if (config_folder_check(path, &err)) {
        config_complain(sink, "%s%s: no records can be written on this machine: %.200s",
                        origin_of(config, key, origin, sizeof origin), key, err.text);
    }
}

void config_check(const struct config *config, const struct config_sink *sink)
{
    check_components(config, sink);
    check_folder(config, "acct_dir", config->acct_dir, sink);
    check_folder(config, "spool_dir", config->spool_dir, sink);
    for (size_t i = 0; i < config->setting_count; i++) {
        check_setting(config, &config->settings[i], sink);
    }
    check_pairs(config, sink);
}
