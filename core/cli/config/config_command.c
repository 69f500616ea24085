/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi config: the content of apapi.conf and what is wrong with it. */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/config/config_check.h"
#include "config/config.h"
#include "config/network.h"

struct config_options {
    bool check, verbose;
};

static const struct option_row options[] = {
    {0, "check", NULL, "report mistakes in the file: exit status 1; without any: 'ok'",
     TO_FLAG(struct config_options, check)},
    {'v', "verbose", NULL, "with --check: also the values; without: the valid values of each key",
     TO_FLAG(struct config_options, verbose)},
    {0}};

static void config_command_print_problem(const char *text, void *context)
{
    size_t *problems = context;

    puts(text);
    ++*problems;
}

static void print_value(const char *key, const char *value)
{
    bool quoted = *value == '"' || strpbrk(value, "#;") || value[strspn(value, " \t")] == '\0';

    printf(quoted && *value ? "%s = \"%s\"" : "%s = %s", key, value);
}

static void print_keys(const struct config *config, bool with_help)
{
    const char *key, *help;

    for (size_t i = 0; (key = config_key(i, &help)); i++) {
        const struct config_origin *origin = &config->origins[i];

        if (with_help) {
            printf("# %s takes: %s\n", key, help);
        }
        print_value(key, origin->text);
        if (origin->line) {
            printf(" # %s:%zu\n", config->path, origin->line);
        } else {
            puts(" # default");
        }
    }
}

static void print_settings(const struct config *config)
{
    const char *section = "";

    for (size_t i = 0; i < config->setting_count; i++) {
        const struct config_setting *setting = &config->settings[i];

        if (strcmp(setting->section, section) != 0) {
            section = setting->section;
            printf("[%s]\n", section);
        }
        print_value(setting->key, setting->value);
        printf(" # %s:%zu\n", config->path, setting->line);
    }
}

/* These are no mistakes in the file. */
static void config_command_warn(const struct config *config)
{
    struct apapi_error reason;
    const char *key;

    for (size_t i = 0; config_network_find(config, &i, &key, &reason);) {
        fprintf(stderr, "apapi config: warning: %s: %s\n", key, reason.text);
    }
}

static int config_command_show(const char *path, bool check, bool verbose)
{
    size_t problems = 0;
    const struct config_sink sink = {.complain = check ? config_command_print_problem : NULL,
                                     .context = &problems};
    struct config config;
    int result;

    config_defaults(&config);
    result = config_read(&config, path, &sink);
    if (result && (errno != ENOENT || check)) {
        if (problems == 0) {
            char text[512];

            snprintf(text, sizeof text, "%.400s: %s", path, strerror(errno));
            config_clear(&config);
            return command_fail("config", text);
        }
    }
    if (!check || verbose) {
        printf(result ? "# %s: there is no such file: these are the defaults\n" : "# %s\n", path);
        print_keys(&config, verbose && !check);
        print_settings(&config);
    }
    if (check) {
        config_check(&config, &sink);
        config_command_warn(&config);
    }
    if (check && problems == 0) {
        printf("%s: ok\n", path);
    }
    config_clear(&config);
    return command_finish("config", problems ? EXIT_FAILURE : EXIT_SUCCESS);
}

int config_command(int argc, char **argv)
{
    char foot[PATH_MAX + 100];
    const struct option_table table = {
        .program = "apapi config",
        .head =
            "usage: apapi config [-v] [FILE]\n"
            "       apapi config --check [-v] [FILE]\n"
            "Show the values of apapi.conf(5) and where each comes from. Values in plugstack.conf\n"
            "have priority and are not shown.\n",
        .foot = foot,
        .column = 17,
        .rows = options};
    struct config_options given = {false, false};
    int status;

    snprintf(foot, sizeof foot, "Without FILE: $APAPI_CONFIG or %s.\n", config_path());
    status = command_options(&table, argc, argv, &given);
    if (status >= 0) {
        return status;
    }
    if (argc - optind > 1) {
        return command_refuse("config", "more than one FILE");
    }
    return config_command_show(optind < argc ? argv[optind] : config_path(), given.check,
                               given.verbose);
}
