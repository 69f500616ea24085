/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CONFIG_SETTINGS_H
#define CONFIG_SETTINGS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
