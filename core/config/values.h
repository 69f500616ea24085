/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_CONFIG_VALUES_H
#define APAPI_CONFIG_VALUES_H
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/error.h"

/* The settings of a site, as config.h reads them. */

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
    const char *allow_users;     /* list for config_names_have(); "": everyone */
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

/**
 * Check the syntax of a component list: words separated by colons, none of them empty; "off" and
 * "all" must be alone. Does not check whether the components exist.
 * @return 0; -1 with errno EINVAL, `err` names the word.
 */
int config_components_check(const char *list, struct apapi_error *err);

/** @return 0; -1 with errno EINVAL, `err` lists the valid words. */
int config_format_parse(const char *text, enum config_format *format, struct apapi_error *err);

/** @return "table", "json", "csv" or "none". Static storage. */
const char *config_format_word(enum config_format format);

/** @return whether a comma-separated list has this word. */
bool config_names_have(const char *list, const char *name);

/** Parse a list of CPUs like "0,4-7". @return 0; -1 with errno EINVAL, `err` says why. */
int config_cpus(const char *list, cpu_set_t *cpus, struct apapi_error *err);

/** @return whether anything is measured in a partition. NULL: in a partition that is not named. */
bool config_enabled(const struct config *config, const char *partition);

/** @return whether that differs between partitions. */
bool config_enabled_varies(const struct config *config);

/** @return whether anything is measured in any partition. */
bool config_enabled_anywhere(const struct config *config);

/** Set an enum config_format. 0; -1 with errno EINVAL. */
int value_format(const char *text, void *field, struct apapi_error *err);

/** A key of apapi.conf before its sections, and of plugstack.conf. */
struct config_key {
    char name[16];
    int kind;             /* for config_key_parse() */
    size_t offset;        /* in struct config */
    const char *standard; /* NULL: a folder of the installation */
    const char *help;
    int (*check)(const char *text, struct apapi_error *err); /* of a text */
    uint64_t min_ns, max_ns;                                 /* of a duration */
};

extern const struct config_key config_keys[CONFIG_KEYS];

/**
 * Parse a value into its member of `config`.
 * @return 0; -1 with errno EINVAL, ERANGE or ENAMETOOLONG, `err` says why.
 */
int config_key_parse(const struct config_key *key, const char *text, struct config *config,
                     struct apapi_error *err);

#endif
