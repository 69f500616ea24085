/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_CONFIG_CONFIG_H
#define APAPI_CONFIG_CONFIG_H
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/error.h"

#define CONFIG_FILE_MAX 65536 /* bytes */

/*
 * The configuration of a site: apapi.conf, and the words after the plugin in plugstack.conf, which
 * have precedence. These files are also compiled into the plugin, so they need libc only. Users
 * find the keys in apapi.conf(5).
 */

/* --- the settings --- */

#define CONFIG_SETTINGS_MAX 60
#define CONFIG_KEYS 20
#define CONFIG_OFF "off" /* as the list of components: measure nothing */

enum config_format { CONFIG_TABLE, CONFIG_JSON, CONFIG_CSV, CONFIG_MERGED, CONFIG_NONE };

/** The origin of the total of a job. */
enum config_job_total { CONFIG_TOTAL_OFF, CONFIG_TOTAL_BATCH, CONFIG_TOTAL_EXTERN };

/** Where a value comes from. */
struct config_origin {
    const char *text; /* the value as written; "": none */
    size_t line;      /* in the file; 0: not from the file */
    bool word;        /* from plugstack.conf */
};

/** One line of a section, for apapi_source_set(). */
struct config_setting {
    const char *section, *key, *value;
    size_t line;
};

/** Texts are never NULL. They are valid as long as the file's text in here and the host's words. */
struct config {
    const char *enabled;      /* for config_enabled() */
    const char *components;   /* default=: what is measured if the user does not say; "": nothing */
    const char *interval;     /* sampling intervals */
    uint64_t min_interval_ns; /* the shortest interval for users other than root [ns] */
    const char *acct_dir;     /* absolute path */
    const char *output;       /* pattern of filename.h, "stderr" or "none" */
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
    struct config_origin origins[CONFIG_KEYS]; /* of config_keys */
    const char *path;                          /* of the file read; "": none */
    char *file;                                /* its text, freed by config_clear() */
};

#define CONFIG_LIST_SIZE 1024 /* bytes of a list given by a user, with its NUL */
#define CONFIG_ALL "all"      /* as the list of components: everything that can be measured */

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
 * Read apapi.conf. Errors in it are reported and have no effect. It must be a regular file that
 * belongs to root and that no one else can write, or the reader's own file.
 * @param path  must stay valid as long as `config`
 * @return 0; -1 with errno ENOENT (no file, not reported) or, reported, EPERM, EFBIG, EINVAL (not
 * text, not a regular file), those of open(2) and read(2).
 */
int config_read(struct config *config, const char *path, const struct config_sink *sink);

/**
 * The same for a text in memory.
 * @param path  name of the file in messages; must stay valid as long as `config`
 * @param text  allocated; ownership is taken
 */
void config_parse(struct config *config, const char *path, char *text,
                  const struct config_sink *sink);

/**
 * Load the defaults, then apapi.conf, then the words of plugstack.conf; config=PATH there names
 * another file. Messages name file and line.
 * @param words  key=value, may be NULL if count is 0
 */
void config_load(struct config *config, int count, char *const words[],
                 const struct config_sink *sink);

/** Apply one word of plugstack.conf, which must stay valid. config=PATH has no effect here. */
void config_set_word(struct config *config, const char *word, const struct config_sink *sink);

/** Free the file's text. NULL is allowed. */
void config_clear(struct config *config);

/** @return a key in a section; NULL: the file does not have it. */
const struct config_setting *config_setting_find(const struct config *config, const char *section,
                                                 const char *key);

/** @return its value; NULL: the file does not have it. */
const char *config_section_value(const struct config *config, const char *section, const char *key);

/** Pass the lines of all sections to the sources. Programs only: needs libapapi. */
void config_set_sources(const struct config *config);

/** For programs: read the file silently for its sections. NULL: APAPI_CONFIG or the site's file. */
void config_use_sources(const char *path);

/** @return the site's apapi.conf. Static storage. Thread-safety: none at the first call. */
const char *config_site_path(void);

/** @return the file that programs read: APAPI_CONFIG, or the site's file. */
const char *config_path(void);

/* --- values --- */

/**
 * Check the syntax of a component list: words with colons between them, and no empty word. "off"
 * and "all" must be alone. It does not check whether the components exist.
 * @return 0; -1 with errno EINVAL, `err` names the word.
 */
int config_components_check(const char *list, struct apapi_error *err);

/** @return 0; -1 with errno EINVAL, `err` lists the valid words. */
int config_format_parse(const char *text, enum config_format *format, struct apapi_error *err);

/** @return "table", "json", "csv" or "none". Static storage. */
const char *config_format_word(enum config_format format);

/** Parse a list of CPUs like "0,4-7". @return 0; -1 with errno EINVAL, `err` says why. */
int config_cpus(const char *list, cpu_set_t *cpus, struct apapi_error *err);

/** @return whether anything is measured in a partition. NULL: in a partition that is not named. */
bool config_enabled(const struct config *config, const char *partition);

/** @return whether that differs between partitions. */
bool config_enabled_varies(const struct config *config);

/** @return whether anything is measured in any partition. */
bool config_enabled_anywhere(const struct config *config);

/** A key of apapi.conf before its sections, and of plugstack.conf. */
struct config_key {
    char name[16];
    int kind;
    size_t offset;        /* in struct config */
    const char *standard; /* NULL: a folder of the installation */
    const char *help;
    int (*check)(const char *text, struct apapi_error *err); /* of a text */
    uint64_t min_ns, max_ns;                                 /* of a duration */
};

extern const struct config_key config_keys[CONFIG_KEYS];

#endif
