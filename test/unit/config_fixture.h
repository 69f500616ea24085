/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIT_CONFIG_FIXTURE_H
#define UNIT_CONFIG_FIXTURE_H
/* A configuration file in its own folder, and the complaints about it. */
#include <fcntl.h>

#include "config/config.h"
#include "unit/temporary.h"
#include "unit/unit.h"

#define MS UINT64_C(1000000)

static char complaints[8][1100];
static size_t complaint_count;
static char path[80];

static inline void complain(const char *text, void *context)
{
    assert_int_equal(*(int *)context, 4711);
    assert_true(complaint_count < 8);
    assert_null(strchr(text, '\n'));
    snprintf(complaints[complaint_count++], sizeof complaints[0], "%s", text);
}

static int context = 4711;
static const struct config_sink sink = {.complain = complain, .context = &context};

static inline void write_bytes(const char *bytes, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), (ssize_t)size);
    close(fd);
    complaint_count = 0;
}

static inline void write_file(const char *text)
{
    write_bytes(text, strlen(text));
}

/* The words of plugstack.conf: config=PATH, then `word` unless NULL. */
static inline struct config load(const char *word)
{
    static char named[96], text[2048];
    char *words[] = {named, text};
    struct config config;

    snprintf(named, sizeof named, "config=%s", path);
    snprintf(text, sizeof text, "%s", word ? word : "");
    complaint_count = 0;
    config_load(&config, word ? 2 : 1, words, &sink);
    return config;
}

static inline struct config load_file(const char *text)
{
    write_file(text);
    return load(NULL);
}

static inline void assert_defaults(const struct config *config)
{
    assert_string_equal(config->components, "");
    assert_string_equal(config->interval, "100ms");
    assert_int_equal(config->min_interval_ns, 10 * MS);
    assert_int_equal(config->acct_dir[0], '/');
    assert_string_equal(config->output, "stderr");
    assert_int_equal(config->format, CONFIG_TABLE);
    assert_int_equal(config->start_timeout_ns, 500 * MS);
    assert_int_equal(config->stop_timeout_ns, 1000 * MS);
    assert_int_equal(config->checkpoint_ns, 30000 * MS);
    assert_string_equal(config->sampler_cpu, "");
    assert_int_equal(config->sampler_nice, 0);
    assert_string_equal(config->allow_users, "");
    assert_string_equal(config->deny_partitions, "");
    assert_int_equal(config->job_total, CONFIG_TOTAL_BATCH);
    assert_string_equal(config->prometheus_dir, "");
    assert_int_equal(config->libexec_dir[0], '/');
    assert_int_equal(config->setting_count, 0);
}

static inline void make_folder(void)
{
    make_base();
    snprintf(path, sizeof path, "%s/apapi.conf", base);
}

#endif
