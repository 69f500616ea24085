/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_CONFIG_CONFIG_H
#define APAPI_CONFIG_CONFIG_H
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/error.h"

#define CONFIG_FILE_MAX 65536 /* longest file [bytes] */

/*
 * The configuration of a site: apapi.conf, and the words after the plugin in plugstack.conf, which
 * have precedence. These files are also compiled into the plugin, so they need libc only. Users
 * find the keys in apapi.conf(5).
 */

/* --- the settings --- */

#define CONFIG_SETTINGS_MAX 60
#define CONFIG_KEYS 20
#define CONFIG_OFF "off" /* list of components: measure nothing */

enum config_format { CONFIG_TABLE, CONFIG_JSON, CONFIG_CSV, CONFIG_MERGED, CONFIG_NONE };

/** The source of the total of a job: none, its steps, or the extern step. */
enum config_job_total { CONFIG_TOTAL_OFF, CONFIG_TOTAL_BATCH, CONFIG_TOTAL_EXTERN };

/** The origin of a value. */
struct config_origin {
    const char *text; /* the value as written; "": none */
    size_t line;      /* number of the line in the file; 0: not from the file */
    bool word;        /* the value is from plugstack.conf */
};

/** One line of a section, for apapi_source_set(). */
struct config_setting {
    const char *section, *key, *value;
    size_t line;
};

/** Texts are never NULL. They live as long as `file` here and the words of plugstack.conf. */
struct config {
    const char *enabled;         /* for config_enabled() */
    const char *components;      /* default=: measured if the user names none; "": nothing */
    const char *interval;        /* sampling intervals */
    uint64_t min_interval_ns;    /* the shortest interval for users other than root [ns] */
    const char *acct_dir;        /* absolute path */
    const char *output;          /* pattern of filename.h, "stderr" or "none" */
    enum config_format format;   /* of the report */
    uint64_t start_timeout_ns;   /* [ns] */
    uint64_t stop_timeout_ns;    /* [ns] */
    uint64_t checkpoint_ns;      /* [ns]; 0: none */
    const char *spool_dir;       /* absolute path, on the node's own disk */
    const char *live_dir;        /* absolute path; "": none */
    const char *user_records;    /* absolute path; "": none */
    const char *sampler_cpu;     /* list for config_cpus(); "": any */
    int sampler_nice;            /* -20..19 */
    const char *allow_users;     /* list for text_names_have(); "": everyone */
    const char *deny_partitions; /* list; "": none */
    enum config_job_total job_total;
    const char *prometheus_dir; /* absolute path, for apapi export; "": none */
    const char *libexec_dir;    /* absolute path of apapi-sampler and apapi-collect */
    size_t setting_count;
    struct config_setting settings[CONFIG_SETTINGS_MAX];
    struct config_origin origins[CONFIG_KEYS]; /* of the values, in the order of config_keys */
    const char *path;                          /* path of the file that was read; "": none */
    char *file;                                /* text of the file, freed by config_clear() */
};

#define CONFIG_LIST_SIZE 1024 /* size of a list given by a user, with its NUL [bytes] */
#define CONFIG_ALL "all"      /* list of components: everything that can be measured */

/* --- reading them --- */

/** Receives one line for each problem, without a newline. */
typedef void (*config_complain_f)(const char *text, void *context);
struct config_sink {
    config_complain_f complain; /* NULL: problems are not reported */
    void *context;
};

/** Report a problem, formatted as by printf(), in up to 1023 bytes. */
void config_complain(const struct config_sink *sink, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Set all defaults. Thread-safety: none at the first call. */
void config_defaults(struct config *config);

/**
 * Set all defaults, then read apapi.conf. Lines with errors are reported and have no effect. The
 * file must be a regular file that belongs to root and that no one else can write, or the reader's
 * own file.
 * @param path  must stay valid as long as `config`
 * @return 0; -1 with errno ENOENT (no file, not reported) or, reported, EPERM, EFBIG, EINVAL (not
 * text, not a regular file), or an error of open(2) or read(2).
 */
int config_read(struct config *config, const char *path, const struct config_sink *sink);

/**
 * Like config_read(), for a text in memory, and without the defaults.
 * @param path  name of the file in messages; must stay valid as long as `config`
 * @param text  allocated; `config` takes it over
 */
void config_parse(struct config *config, const char *path, char *text,
                  const struct config_sink *sink);

/**
 * Load the defaults, then apapi.conf, then the words of plugstack.conf, among which config=PATH may
 * name another apapi.conf. Messages name file and line.
 * @param words  key=value, may be NULL if count is 0
 */
void config_load(struct config *config, int count, char *const words[],
                 const struct config_sink *sink);

/** Apply one word of plugstack.conf, which must stay valid. config=PATH has no effect here. */
void config_set_word(struct config *config, const char *word, const struct config_sink *sink);

/** Free the file's text. NULL is allowed. */
void config_clear(struct config *config);

/** @return the line of a key in a section; NULL: the file does not have it. */
const struct config_setting *config_setting_find(const struct config *config, const char *section,
                                                 const char *key);

/** @return the value of a key in a section; NULL: the file does not have the key. */
const char *config_section_value(const struct config *config, const char *section, const char *key);

/** Pass the lines of all sections to the sources. For programs only: needs libapapi. */
void config_set_sources(const struct config *config);

/**
 * Like config_read(), of the file of config_path(). Says on standard error if the whole file has no
 * effect. For programs only.
 * @param program  "atime", "apapi list"
 */
void config_read_chosen(const char *program, struct config *config, const struct config_sink *sink);

/** Like config_read_chosen() and config_set_sources(). */
void config_use_sources(const char *program);

/** @return the site's apapi.conf. Static storage. Thread-safety: none at the first call. */
const char *config_site_path(void);

/** @return the file that programs read: APAPI_CONFIG, or the site's file. */
const char *config_path(void);

/* --- values --- */

/**
 * Check the syntax of a component list: words with colons between them, and no empty word. "off"
 * and "all" must be alone. Whether the components exist is not checked.
 * @return 0; -1 with errno EINVAL, `err` names the word.
 */
int config_components_check(const char *list, struct apapi_error *err);

/** Parse the word of a format. @return 0; -1 with errno EINVAL, `err` lists the valid words. */
int config_format_parse(const char *text, enum config_format *format, struct apapi_error *err);

/** @return "table", "json", "csv", "merged" or "none". Static storage. */
const char *config_format_word(enum config_format format);

/** Parse a list of CPUs like "0,4-7". @return 0; -1 with errno EINVAL, `err` says why. */
int config_cpus(const char *list, cpu_set_t *cpus, struct apapi_error *err);

/** @return whether `enabled` is yes for a partition. NULL: for partitions that it does not name. */
bool config_enabled(const struct config *config, const char *partition);

/** @return whether `enabled` names single partitions. */
bool config_enabled_varies(const struct config *config);

/** @return whether `enabled` is yes for any partition. */
bool config_enabled_anywhere(const struct config *config);

/** A key that stands before the sections of apapi.conf, or in plugstack.conf. */
struct config_key {
    char name[16];
    int kind;
    size_t offset;        /* of the value in struct config */
    const char *standard; /* default; NULL: a folder of the installation */
    const char *help;
    int (*check)(const char *text, struct apapi_error *err); /* for texts */
    uint64_t min_ns, max_ns;                                 /* for durations [ns] */
};

extern const struct config_key config_keys[CONFIG_KEYS];

#endif
