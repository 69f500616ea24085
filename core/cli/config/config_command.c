/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi config: the settings in force, and values without effect or without the intended effect. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "apapi/interval.h"
#include "apapi/live.h"
#include "apapi/session.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/totals/totals.h"
#include "config/config.h"
#include "config/installed.h"
#include "limit/limit.h"

/* --- values without effect ------------------------------------------------------------------ */

#define MAX_W 100000.0

static const struct section_check {
    const char *section, *key, *help;
    enum {
        WATTS,
        TEXT,
        HOST,
        PATH,
        WORD,
        SECONDS,
        LIBRARY,
        PROGRAM,
        SECRET,
        RATE,
        BUDGET,
        BUDGET_ACTION
    } form;
    const char *words; /* separated by ", " */
    unsigned min, max;
} checks[] = {
#define TEXT(size) TEXT, .max = (size)
#define HOST(size) HOST, .max = (size)
#define WORD(list) WORD, .words = (list)
#define SECONDS(from, to) SECONDS, .min = (from), .max = (to)
/* `check` may set several members. */
#define CONFIG_SECTION_KEY(name, its_key, check, text)                                             \
    {.section = #name,                                                                             \
     .key = #its_key,                                                                              \
     .help = (text),                                                                               \
     .form = check}, // NOLINT(bugprone-macro-parentheses)
#include "config/sections.def"
#undef CONFIG_SECTION_KEY
};

static int check_secret(const char *value, struct apapi_error *err)
{
    struct stat file;

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

static int check_length(const char *value, unsigned max, struct apapi_error *err)
{
    return strlen(value) <= max ? 0 : apapi_fail(err, EINVAL, "longer than %u characters", max);
}

/* Check ADDRESS, ADDRESS:PORT or [IPV6]:PORT. An IPv6 address without brackets has no port. */
static int check_port(const char *value, struct apapi_error *err)
{
    const char *end = *value == '[' ? strchr(value, ']') : NULL, *port;

    port = strchr(end ? end : value, ':');
    return !port || strchr(port + 1, ':') || positive_number(port + 1, UINT16_MAX)
               ? 0
               : apapi_fail(err, EINVAL, "'%.40s' is not a port, from 1 to %u", port + 1,
                            UINT16_MAX);
}

static int check_program(const char *value, struct apapi_error *err)
{
    struct stat file;

    if (*value != '/') {
        return apapi_fail(err, EINVAL, "no absolute path");
    }
    if (stat(value, &file) || access(value, X_OK)) {
        return apapi_fail(err, errno, "%s on this machine", strerror(errno));
    }
    return S_ISREG(file.st_mode) ? 0 : apapi_fail(err, EINVAL, "no program");
}

static int check_value(const struct section_check *check, const char *value,
                       const struct config *config, struct apapi_error *err)
{
    struct real_number number = {-1, ""};
    struct stat file;
    uint64_t ns;

    switch (check->form) {
    case WATTS:
        return *value && value[strspn(value, "0123456789.eE+-")] == '\0' &&
                       real_number_parse(value, &number) == 0 && !*number.rest &&
                       number.value >= 0 && number.value <= MAX_W
                   ? 0
                   : apapi_fail(err, EINVAL, "expected watts, from 0 to %.0f", MAX_W);
    case TEXT:
        return check_length(value, check->max, err);
    case HOST:
        return check_length(value, check->max, err) || check_port(value, err) ? -1 : 0;
    case PATH:
        return *value == '/' || strcmp(value, CONFIG_OFF) == 0
                   ? 0
                   : apapi_fail(err, EINVAL, "no absolute path");
    case WORD:
        return *value && text_names_have(check->words, value)
                   ? 0
                   : apapi_fail(err, EINVAL, "expected one of %s", check->words);
    case SECONDS:
        if (apapi_duration_parse(value, &ns, err)) {
            return -1;
        }
        return ns >= check->min * NS_PER_S && ns <= check->max * NS_PER_S
                   ? 0
                   : apapi_fail(err, ERANGE, "expected a time from %us to %us", check->min,
                                check->max);
    case LIBRARY: /* a name without a folder is searched like a system library */
        return !strchr(value, '/') || stat(value, &file) == 0
                   ? 0
                   : apapi_fail(err, errno, "%s on this machine", strerror(errno));
    case PROGRAM:
        return check_program(value, err);
    case SECRET:
        return check_secret(value, err);
    case RATE:
        return rates_set(&(struct rates){0}, check->key, value, err);
    case BUDGET:
    case BUDGET_ACTION:
        break;
    }
    return limit_site_check(
        value, check->form == BUDGET_ACTION,
        strcmp(check->key, "default_budget") == 0 ? limit_site_of(config).max : NULL, err);
}

static void check_setting(const struct config *config, const struct config_setting *setting,
                          const struct config_sink *sink)
{
    struct apapi_error err;

    for (size_t i = 0; i < COUNT_OF(checks); i++) {
        if (strcmp(checks[i].section, setting->section) == 0 &&
            strcmp(checks[i].key, setting->key) == 0 &&
            check_value(&checks[i], setting->value, config, &err)) {
            config_complain(sink, "%.200s:%zu: [%s]: '%s = %.60s': %.200s; %s takes: %s",
                            config->path, setting->line, setting->section, setting->key,
                            setting->value, err.text, setting->key, checks[i].help);
        }
    }
}

/* Check for values that have an effect only together with another value. */
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

/* Report a value of the plugin's own keys, with its position unless it is the default. */
static void complain_of(const struct config *config, const char *wanted, const char *text,
                        const struct config_sink *sink)
{
    char origin[256] = "";

    for (size_t i = 0; i < CONFIG_KEYS; i++) {
        if (strcmp(config_keys[i].name, wanted) == 0 && config->origins[i].line) {
            snprintf(origin, sizeof origin, "%.200s:%zu: ", config->path, config->origins[i].line);
        }
    }
    config_complain(sink, "%s%s: %s", origin, wanted, text);
}

static void check_components(const struct config *config, const struct config_sink *sink)
{
    struct apapi_intervals intervals;
    struct apapi_error err;

    config_set_sources(config); /* [papi] says which library knows the components */
    if (*config->components && apapi_components_check(config->components, &err)) {
        complain_of(config, "default", err.text, sink);
    }
    if (apapi_intervals_parse(config->interval, &intervals, NULL) == 0) {
        for (size_t i = 0; i < intervals.count; i++) {
            if (apapi_components_check(intervals.named[i].component, &err)) {
                complain_of(config, "interval", err.text, sink);
            }
        }
    }
}

/* Refuse a disk: live pages on it would outlive the counters, which restart with the machine. */
static int memory_check(const char *path, struct apapi_error *err)
{
    int above = (int)(strrchr(path, '/') - path);
    char folder[PATH_MAX];
    struct statfs status;

    snprintf(folder, sizeof folder, "%.*s/", above, path);
    return (statfs(path, &status) && statfs(folder, &status)) || status.f_type == TMPFS_MAGIC
               ? 0
               : apapi_fail(err, EMEDIUMTYPE, "%.150s: not on a memory file system (tmpfs)", path);
}

/* Refuse a folder that others can change: they could write records, or keep root from it. */
static int owner_check(const char *path, struct apapi_error *err)
{
    struct stat status;

    return geteuid() == 0 && stat(path, &status) == 0 &&
                   (status.st_uid != 0 || status.st_mode & (S_IWGRP | S_IWOTH))
               ? apapi_fail(err, EPERM, "%.150s: others can change it: chown root, chmod go-w",
                            path)
               : 0;
}

/* Refuse what user_store_append() refuses: others can change the folder, or the one above it. */
static int users_check(const char *path, struct apapi_error *err)
{
    int folder = geteuid() == 0 ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    int result = folder < 0 ? 0 : access_let_in(folder, path, 0700, err);

    folder_close(folder);
    return result;
}

/* Check a folder to which root must be able to write, and report what is lost. "": off. */
static void check_folder(const struct config *config, const char *key, const char *path,
                         const struct config_sink *sink)
{
    bool live = path == config->live_dir, own = path == config->user_records;
    char text[sizeof((struct apapi_error *)0)->text + 64];
    struct apapi_error err;

    if (*path && (config_folder_check(path, &err) || (live && memory_check(path, &err)) ||
                  (own && users_check(path, &err)) || (!live && !own && owner_check(path, &err)))) {
        snprintf(text, sizeof text, "no %s can be %s on this machine: %s",
                 live ? "live pages" : "records", errno == EPERM ? "trusted" : "written", err.text);
        complain_of(config, key, text, sink);
    }
}

/* @return whether a file is a program, as far as this user may see; errno says why not. */
static bool is_program(const char *path)
{
    int fd = access(path, X_OK) ? -1 : open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    char magic[4] = "";
    ssize_t size = fd < 0 ? 0 : read(fd, magic, sizeof magic);

    if (fd < 0) {
        return access(path, X_OK) == 0;
    }
    close(fd);
    errno = ENOEXEC;
    return size > 0 && (memcmp(magic, "\177ELF", 4) == 0 || memcmp(magic, "#!", 2) == 0);
}

/* Check for the programs that the plugin starts. Without them, no step is measured. */
static bool check_programs(const struct config *config, const struct config_sink *sink)
{
    static const char *const programs[] = {"apapi-sampler", "apapi-collect"};
    char path[PATH_MAX], text[PATH_MAX + 100];
    struct apapi_error err;

    for (size_t i = 0; i < COUNT_OF(programs); i++) {
        snprintf(path, sizeof path, "%.*s/%s", PATH_MAX - 20, config->libexec_dir, programs[i]);
        if (!is_program(path)) {
            snprintf(text, sizeof text, "no step can be measured on this machine: %s: %s", path,
                     strerror(errno));
            complain_of(config, "libexec_dir", text, sink);
            return false;
        }
        if (owner_check(path, &err) || (i == 0 && owner_check(config->libexec_dir, &err))) {
            complain_of(config, "libexec_dir", err.text, sink); /* root runs this in each step */
        }
    }
    return true;
}

/* File system types of statfs(2); <linux/magic.h> has only some of them. */
static const struct {
    uint32_t magic;
    const char *name;
} network_kinds[] = {
    {0x6969, "NFS"},       {0x0BD00BD0, "Lustre"}, {0x47504653, "GPFS"}, {0x19830326, "BeeGFS"},
    {0x00C36400, "Ceph"},  {0xFF534D42, "CIFS"},   {0xFE534D42, "SMB"},  {0x517B, "SMB"},
    {0x01021997, "9P"},    {0x5346414F, "AFS"},    {0x6B414653, "AFS"},  {0x73757245, "Coda"},
    {0xAAD7AAEA, "PanFS"}, {0x7461636F, "OCFS2"},  {0x01161970, "GFS2"}, {0x20030528, "OrangeFS"}};

/* @return the name of a network file system; NULL: another file system, or no such path. */
static const char *network_kind(const char *path)
{
    struct statfs status;

    if (statfs(path, &status)) {
        return NULL;
    }
    for (size_t i = 0; i < COUNT_OF(network_kinds); i++) {
        if ((uint32_t)status.f_type == network_kinds[i].magic) {
            return network_kinds[i].name;
        }
    }
    return NULL;
}

/* Report each file on a network file system for which every step waits. Waits for it, too. */
static void check_network(const struct config *config, const struct config_sink *sink)
{
    char plugin[PATH_MAX];
    const struct {
        const char *key, *path;
    } files[] = {{"apapi.conf", config_path()},
                 {"libexec_dir", config->libexec_dir},
                 {"plugin", installed_plugin(plugin)}};

    for (size_t i = 0; i < COUNT_OF(files); i++) {
        const char *kind = network_kind(files[i].path);

        if (kind) {
            config_complain(sink,
                            "%s: %.100s: on %s: every step waits while its server does not respond",
                            files[i].key, files[i].path, kind);
        }
    }
}

bool config_check(const struct config *config, const struct config_sink *mistakes,
                  const struct config_sink *warnings)
{
    bool enabled = config_enabled_anywhere(config), measures = check_programs(config, mistakes);
    struct stat status;

    check_components(config, mistakes);
    check_folder(config, "acct_dir", config->acct_dir, mistakes);
    check_folder(config, "spool_dir", config->spool_dir, mistakes);
    check_folder(config, "user_records", config->user_records, mistakes);
    if (strcmp(config->live_dir, APAPI_LIVE_DIR) != 0) { /* containers may lack the default */
        check_folder(config, "live_dir", config->live_dir, mistakes);
    }
    for (size_t i = 0; i < config->setting_count; i++) {
        check_setting(config, &config->settings[i], mistakes);
    }
    check_pairs(config, mistakes);
    if (!enabled) {
        complain_of(config, "enabled", "no step is measured", warnings);
    }
    if (stat(config->path, &status) == 0 && !(status.st_mode & S_IROTH)) {
        config_complain(warnings,
                        "%s: users cannot read it: their srun has other settings: chmod 644",
                        config->path);
    }
    check_network(config, warnings);
    return enabled && measures;
}

/* --- the command ---------------------------------------------------------------------------- */

struct config_options {
    bool check;
};

static const struct option_row options[] = {
    {0, "check", NULL, "report mistakes in the file: exit status 1; without any: 'ok'",
     TO_FLAG(struct config_options, check)},
    {0}};

/* Mistakes found in a file. */
struct problems {
    bool printed;
    size_t count;
    char last[sizeof((struct apapi_error *)0)->text];
};

static void note_problem(const char *text, void *context)
{
    struct problems *problems = context;

    if (problems->printed) {
        puts(text);
    }
    snprintf(problems->last, sizeof problems->last, "%s", text);
    problems->count++;
}

static void print_warning(const char *text, void *context)
{
    (void)context;
    fprintf(stderr, "apapi config: warning: %s\n", text);
}

static void print_value(const char *key, const char *value)
{
    bool quoted = *value == '"' || strpbrk(value, "#;") || value[strspn(value, " \t")] == '\0';

    printf(quoted && *value ? "%s = \"%s\"" : "%s = %s", key, value);
}

/* Print the keys of the plugin, then those of the sections. */
static void print_values(const struct config *config)
{
    const char *section = "";

    for (size_t i = 0; i < CONFIG_KEYS; i++) {
        const struct config_origin *origin = &config->origins[i];

        print_value(config_keys[i].name, origin->text);
        if (origin->line) {
            printf(" # %s:%zu\n", config->path, origin->line);
        } else {
            puts(" # default");
        }
    }
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

/* @param file  NULL: the file that the programs use; if there is none, they have the defaults */
static int config_show(const char *file, bool check)
{
    struct problems problems = {.printed = check};
    const struct config_sink sink = {note_problem, &problems};
    const char *path = file ? file : config_path();
    struct config config;
    int result;

    result = config_read(&config, path, &sink);
    if (result && (check ? problems.count == 0 : file || errno != ENOENT)) {
        result = problems.count > 0 ? command_fail("config", "%s", problems.last)
                                    : command_fail("config", "%.400s: %s", path, strerror(errno));
        config_clear(&config);
        return result;
    }
    if (check) { /* warnings are not about mistakes in the file */
        config_check(&config, &sink, &(const struct config_sink){.complain = print_warning});
        if (problems.count == 0) {
            printf("%s: ok\n", path);
        }
    } else {
        printf(result ? "# %s: there is no such file: these are the defaults\n" : "# %s\n", path);
        print_values(&config);
    }
    config_clear(&config);
    return command_finish("config", check && problems.count > 0 ? EXIT_FAILURE : EXIT_SUCCESS);
}

int config_command(int argc, char **argv)
{
    char foot[PATH_MAX + 100];
    const struct option_table table = {
        .program = "apapi config",
        .head =
            "usage: apapi config [FILE]\n"
            "       apapi config --check [FILE]\n"
            "Show the values of apapi.conf(5) and where each comes from. Values in plugstack.conf\n"
            "have priority and are not shown.\n",
        .foot = foot,
        .column = 17,
        .rows = options};
    struct config_options given = {false};
    int status;

    snprintf(foot, sizeof foot, "Without FILE: $APAPI_CONFIG or %s.\n", config_path());
    status = option_table_read(&table, argc, argv, &given);
    if (status >= 0) {
        return status;
    }
    if (argc - optind > 1) {
        return command_refuse("config", "more than one FILE");
    }
    return config_show(argv[optind], given.check);
}
