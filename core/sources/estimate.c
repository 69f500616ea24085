/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For a node without a meter: an estimate of its energy from its CPU time, with configured watts
 * for the idle node and for each busy core.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/kernel_file.h"
#include "base/text.h"
#include "sources/sources.h"

#define COMPONENT "estimate"
#define STAT_FILE "/proc/stat"
#define LINE_SIZE 320 /* "cpu" and at most ten numbers of 20 digits */
#define MAX_W 100000.0
#define UJ_PER_J 1e6

enum { EVENT_ENERGY, EVENT_CPU_TIME, EVENTS };

/*
 * The numbers of /proc/stat in their order. Guest time is also part of `user` and `nice`; in
 * `steal` time the core worked for another machine.
 */
enum { TIME_USER, TIME_NICE, TIME_SYSTEM, TIME_IDLE, TIME_IOWAIT, TIME_IRQ, TIME_SOFTIRQ, TIMES };

struct estimate_reader {
    struct apapi_reader base;
    struct apapi_event events[EVENTS];
    int fd;
    double idle_w;
    double core_w;
    double ticks_per_s;
    uint64_t open_ns;
    uint64_t last_ticks; /* busy time of all cores, as reported by the kernel */
    uint64_t busy_ticks; /* busy time since open(), never decreasing */
};

/* @return 0 or the errno. */
static int read_stat(int fd, uint64_t *busy_ticks)
{
    char text[LINE_SIZE + 1];
    ssize_t got = pread(fd, text, LINE_SIZE, 0);
    const char *at = text + strlen("cpu");
    uint64_t sum = 0, ticks = 0;

    if (got < 0) {
        return errno;
    }
    text[got] = '\0';
    if (strncmp(text, "cpu ", 4) != 0) {
        return EBADMSG;
    }
    for (int i = 0; i < TIMES; i++) {
        at += strspn(at, " ");
        if (!isdigit((unsigned char)*at)) {
            return EBADMSG;
        }
        at = text_digits(at, UINT64_MAX, &ticks);
        if (!at ||
            (i != TIME_IDLE && i != TIME_IOWAIT && __builtin_add_overflow(sum, ticks, &sum))) {
            return ERANGE;
        }
    }
    if (*at != ' ' && *at != '\n') {
        return EBADMSG;
    }
    *busy_ticks = sum;
    return 0;
}

static int parse_watts(const char *key, const char *text, double *watts, struct apapi_error *err)
{
    struct real_number number = {-1, ""};
    bool decimal = *text && text[strspn(text, "0123456789.eE+-")] == '\0';

    if (!decimal || real_number_parse(text, &number) || *number.rest || !(number.value >= 0) ||
        number.value > MAX_W) {
        return apapi_fail(err, EINVAL, "%s is '%.40s', expected watts, from 0 to %.0f", key, text,
                          MAX_W);
    }
    *watts = number.value;
    return 0;
}

static int read_settings(struct estimate_reader *reader, struct apapi_error *err)
{
    const char *idle = source_setting(COMPONENT, "idle_w");
    const char *core = source_setting(COMPONENT, "core_w");
    const char *missing = idle ? "core_w is" : core ? "idle_w is" : "idle_w and core_w are";

    if (!idle || !core) {
        return apapi_fail(
            err, EINVAL,
            "%s not set: watts of the node at rest and, on top, of each busy core: for job steps "
            "in apapi.conf, [estimate]; for atime as in APAPI_ESTIMATE_IDLE_W=100 "
            "APAPI_ESTIMATE_CORE_W=8",
            missing);
    }
    return parse_watts("idle_w", idle, &reader->idle_w, err) ||
                   parse_watts("core_w", core, &reader->core_w, err)
               ? -1
               : 0;
}

static void estimate_describe_events(struct estimate_reader *reader)
{
    const struct apapi_event common = {.type = APAPI_TYPE_UINT64,
                                       .accumulates = true,
                                       .update_ns = (uint64_t)(NS_PER_S / reader->ticks_per_s),
                                       .estimated = true};
    struct apapi_event *energy = &reader->events[EVENT_ENERGY];
    struct apapi_event *cpu_time = &reader->events[EVENT_CPU_TIME];

    *energy = common;
    strcpy(energy->name, COMPONENT ":::NODE_ENERGY");
    strcpy(energy->unit, "J");
    energy->kind = APAPI_KIND_ENERGY;
    energy->scale = 1 / UJ_PER_J;
    *cpu_time = common;
    strcpy(cpu_time->name, COMPONENT ":::CPU_TIME");
    strcpy(cpu_time->unit, "s");
    cpu_time->kind = APAPI_KIND_COUNT;
    cpu_time->scale = 1 / reader->ticks_per_s;
    reader->base.events = reader->events;
    reader->base.count = EVENTS;
}

static int open_stat(struct estimate_reader *reader, struct apapi_error *err)
{
    char path[PATH_MAX];
    int error;

    kernel_file_path(path, sizeof path, STAT_FILE);
    reader->fd = open(path, O_RDONLY | O_CLOEXEC);
    error = reader->fd < 0 ? errno : read_stat(reader->fd, &reader->last_ticks);
    return error ? apapi_fail(err, error, "%.150s: %s", path, strerror(error)) : 0;
}

static void estimate_close(struct apapi_reader *base)
{
    struct estimate_reader *reader = (struct estimate_reader *)base;
    int saved = errno;

    if (reader && reader->fd >= 0) {
        close(reader->fd);
    }
    free(reader);
    errno = saved;
}

static struct apapi_reader *estimate_open(const char *component, struct apapi_error *err)
{
    struct estimate_reader *reader = calloc(1, sizeof *reader);

    (void)component;
    if (!reader) {
        apapi_fail(err, ENOMEM, "no memory");
        return NULL;
    }
    reader->base.source = &apapi_source_estimate;
    reader->fd = -1;
    if (read_settings(reader, err) || open_stat(reader, err)) {
        estimate_close(&reader->base);
        return NULL;
    }
    reader->ticks_per_s = (double)sysconf(_SC_CLK_TCK);
    reader->open_ns = clock_monotonic_ns();
    estimate_describe_events(reader);
    snprintf(reader->base.detail, sizeof reader->base.detail, "%s: %g W + %g W per busy core",
             STAT_FILE, reader->idle_w, reader->core_w);
    return &reader->base;
}

/* A CPU time that decreased is an error: the count is kept, and the reading fails. */
static int update(struct estimate_reader *reader)
{
    uint64_t ticks = 0;
    int error = read_stat(reader->fd, &ticks);

    if (error) {
        return error;
    }
    if (ticks < reader->last_ticks) {
        error = ERANGE;
    } else {
        reader->busy_ticks += ticks - reader->last_ticks;
    }
    reader->last_ticks = ticks;
    return error;
}

static uint64_t energy_uj(const struct estimate_reader *reader)
{
    double elapsed_s = (double)(clock_monotonic_ns() - reader->open_ns) / NS_PER_S;
    double busy_s = (double)reader->busy_ticks / reader->ticks_per_s;

    return (uint64_t)((reader->idle_w * elapsed_s + reader->core_w * busy_s) * UJ_PER_J);
}

static void estimate_read(struct apapi_reader *base, struct apapi_reading *readings)
{
    struct estimate_reader *reader = (struct estimate_reader *)base;
    int error = update(reader);

    readings[EVENT_ENERGY] = (struct apapi_reading){energy_uj(reader), error};
    readings[EVENT_CPU_TIME] = (struct apapi_reading){reader->busy_ticks, error};
}

static void estimate_describe(const struct apapi_reader *base, size_t index, char *text,
                              size_t size)
{
    const struct estimate_reader *reader = (const struct estimate_reader *)base;

    if (index == EVENT_ENERGY) {
        snprintf(text, size, "energy of the node, taken for %g W and %g W for each busy core",
                 reader->idle_w, reader->core_w);
    } else {
        snprintf(text, size, "CPU time of all cores of the node");
    }
}

const struct apapi_source apapi_source_estimate = {
    .name = COMPONENT,
    .open = estimate_open,
    .read = estimate_read,
    .describe = estimate_describe,
    .close = estimate_close,
};
