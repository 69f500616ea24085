/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CONFIG_CONFIG_H
#define CONFIG_CONFIG_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/error.h"

/*
 * What a site says: apapi.conf, and the words behind the plugin in plugstack.conf, which win. The
 * plugin compiles these files in, so they need libc only. apapi.conf(5) is for people.
 */

#define CONFIG_FILE_MAX 65536 /* bytes */
#define CONFIG_SETTINGS_MAX 60
#define CONFIG_KEYS_MAX 24
#define CONFIG_OFF "off" /* as the list of components: do not measure */

enum config_format { CONFIG_TABLE, CONFIG_JSON, CONFIG_CSV, CONFIG_MERGED, CONFIG_NONE };

/** Where the total of a job comes from. */
enum config_job_total { CONFIG_TOTAL_OFF, CONFIG_TOTAL_BATCH, CONFIG_TOTAL_EXTERN };

/** Where a value comes from. */
struct config_origin {
    const char *text; /* the value as it is written; "": none */
    size_t line;      /* in the file; 0: not from there */
    bool word;        /* from plugstack.conf */
};

/** One line of a section: for apapi_source_set(). */
struct config_setting {
    const char *section, *key, *value;
    size_t line;
};

/** Texts are never NULL; they live as long as the file's text in here and the host's words. */
struct config {
    const char *enabled;         /* for config_enabled() */
    const char *components;      /* default=: measured where the user says nothing; "": none */
    const char *interval;        /* sampling intervals */
    uint64_t min_interval_ns;    /* the shortest for users but root [ns] */
    const char *acct_dir;        /* absolute path */
    const char *output;          /* pattern of filename.h, "stderr" or "none" */
    enum config_format format;   /* of the report */
    uint64_t start_timeout_ns;   /* [ns] */
    uint64_t stop_timeout_ns;    /* [ns] */
    uint64_t checkpoint_ns;      /* [ns]; 0: none */
    const char *spool_dir;       /* absolute path, on the node's own disk */
    const char *live_dir;        /* absolute path; "": none */
    const char *sampler_cpu;     /* list for config_cpus(); "": any */
    int sampler_nice;            /* -20..19 */
    const char *allow_users;     /* list for config_names_have(); "": everybody */
    const char *deny_partitions; /* list; "": none */
    enum config_job_total job_total;
    const char *prometheus_dir; /* absolute path, for apapi export; "": none */
    const char *libexec_dir;    /* absolute path of apapi-sampler and apapi-collect */
    size_t setting_count;
    struct config_setting settings[CONFIG_SETTINGS_MAX];
    struct config_origin origins[CONFIG_KEYS_MAX]; /* as config_key() counts */
    const char *path;                              /* of the file that was read; "": none */
    char *file;                                    /* its text, freed by config_clear() */
};

/** Receives one line about one problem, without a newline. */
typedef void (*config_complain_f)(const char *text, void *context);
struct config_sink {
    config_complain_f complain; /* NULL: nobody is to hear of it */
    void *context;
};

/** Set everything to its default. Thread-safety: none at the first call. */
void config_defaults(struct config *config);

/**
 * Read apapi.conf. What is wrong in it is complained about and has no effect. It must be a regular
 * file, root's, which nobody else can write, or the reader's own.
 * @param path  lives as long as `config`
 * @return 0; -1 with errno ENOENT (there is none, no complaint) or, complained about, EPERM,
 *         EFBIG, EINVAL (no text, no regular file), those of open(2) and read(2).
 */
int config_read(struct config *config, const char *path, const struct config_sink *sink);

/**
 * The same for text in memory.
 * @param path  stands for the file in messages; lives as long as `config`
 * @param text  allocated, taken over
 */
void config_parse(struct config *config, const char *path, char *text,
                  const struct config_sink *sink);

/**
 * Defaults, then apapi.conf, then the words of plugstack.conf, of which config=PATH names another
 * file. Complaints name their place.
 * @param words  key=value, NULL allowed where count is 0
 */
void config_load(struct config *config, int count, char *const words[],
                 const struct config_sink *sink);

/** Give the file's text back. NULL is allowed. */
void config_clear(struct config *config);

/** Name and help of key number `index`. @return NULL beyond the last one. */
const char *config_key(size_t index, const char **help);

/** Name and help of key number `index` of the sections. @return its section; NULL: no more. */
const char *config_section_key(size_t index, const char **key, const char **help);

/** Hand the lines of all sections to the sources. Programs only: needs libapapi. */
void config_set_sources(const struct config *config);

/** Read the file for its sections, silently: for programs. NULL: APAPI_CONFIG or the site's. */
void config_use_sources(const char *path);

/** @return the site's apapi.conf. Static storage. Thread-safety: none at the first call. */
const char *config_site_path(void);

/** @return the file that programs read: APAPI_CONFIG of the environment, or the site's. */
const char *config_path(void);

#endif
