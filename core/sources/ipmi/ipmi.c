/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A machine's management controller (BMC): the power of the machine and of parts, and
 * temperatures. A BMC is slow and has other tasks.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "sources/ipmi/ipmi_bmc.h"

#define COMPONENT "ipmi"
#define FORCED_DCMI "dcmi"
#define DCMI_TRIES 3 /* some BMCs have no reading for the first request */
#define DCMI_PAUSE_NS 200000000
/* BMCs report periods of up to years. A period up to this one is the time between two readings. */
#define UPDATE_MAX_NS UINT64_C(10000000000)
#define SEEN_LEAST_NS                                                                              \
    UINT64_C(10000000000000) /* the highest power of a shorter period says little */

struct ipmi_reader {
    struct apapi_reader base;
    struct ipmi_settings settings;
    struct ipmi_session session;
    struct ipmi_sensors sensors;
    bool dcmi;                  /* event 0 is the DCMI reading; the sensors' events follow */
    uint64_t dcmi_period_ns;    /* period of the BMC's statistics */
    double dcmi_most_w;         /* the highest power in that period */
    struct apapi_event *events; /* events of the reader */
    struct apapi_reading *held; /* latest reading of each event */
    uint64_t due_ns;            /* time of the next request to the BMC */
};

static int read_dcmi(struct ipmi_reader *reader, struct dcmi_power *power)
{
    int error = ipmi_session_read_dcmi(&reader->session, power);

    if (!error && !power->active && strcmp(reader->settings.system_power, FORCED_DCMI) != 0) {
        error = ENODATA;
    }
    return error;
}

static void ipmi_read_event(struct ipmi_reader *reader, size_t index)
{
    struct apapi_reading *reading = &reader->held[index];
    struct dcmi_power power;
    double value;

    if (reader->dcmi && index == 0) {
        reading->error = read_dcmi(reader, &power);
        value = power.power_w;
    } else {
        const struct ipmi_sensor *sensor = &reader->sensors.list[index - reader->dcmi];

        reading->error = ipmi_session_read_sensor(&reader->session, sensor, &value);
        if (!reading->error && value <= 0 && reader->events[index].domain == APAPI_DOMAIN_NODE) {
            reading->error = ENODATA; /* as for DCMI: a running machine does not draw 0 W */
        }
    }
    if (!reading->error) {
        memcpy(&reading->raw, &value, sizeof value);
    }
}

static void fail_all(struct ipmi_reader *reader, int error)
{
    for (size_t i = 0; i < reader->base.count; i++) {
        reader->held[i].error = error;
    }
}

/* @return whether the BMC still answers. */
static bool read_or_fail_all(struct ipmi_reader *reader, size_t index)
{
    ipmi_read_event(reader, index);
    if (!reader->session.bmc) {
        fail_all(reader, reader->held[index].error);
    }
    return reader->session.bmc != NULL;
}

static void ipmi_ask(struct ipmi_reader *reader)
{
    bool answers = true;

    if (ipmi_session_connect(&reader->session, NULL)) {
        fail_all(reader, errno);
        return;
    }
    for (size_t i = 0; answers && i < reader->base.count; i++) {
        answers = read_or_fail_all(reader, i);
    }
}

/* The period is shortened a little, so that jitter skips no readings at an equal interval. */
static void note_asked(struct ipmi_reader *reader, uint64_t now_ns)
{
    reader->due_ns = now_ns + reader->settings.period_ns - reader->settings.period_ns / 8;
}

/* Readings more frequent than requests to the BMC return its latest answer again. */
static void ipmi_read(struct apapi_reader *base, struct apapi_reading *readings)
{
    struct ipmi_reader *reader = (struct ipmi_reader *)base;
    uint64_t now_ns = clock_monotonic_ns();

    if (now_ns >= reader->due_ns) {
        ipmi_ask(reader);
        note_asked(reader, now_ns);
    }
    memcpy(readings, reader->held, base->count * sizeof *readings);
}

/* @return whether the BMC has a usable DCMI reading. */
static bool find_dcmi(struct ipmi_reader *reader)
{
    const struct timespec pause = {0, DCMI_PAUSE_NS};
    struct dcmi_power power;
    int error = 0;

    for (int i = 0; i < DCMI_TRIES && reader->session.bmc; i++) {
        error = read_dcmi(reader, &power);
        if (error != EBUSY && error != ENODATA) {
            break;
        }
        nanosleep(&pause, NULL);
    }
    if (error || !reader->session.bmc) {
        return false;
    }
    reader->dcmi_period_ns = power.period_ns;
    reader->dcmi_most_w = power.most_w;
    return true;
}

static int lost_bmc(struct apapi_error *err)
{
    return apapi_fail(err, ETIMEDOUT, "the BMC has stopped answering");
}

static int find_meters(struct ipmi_reader *reader, struct apapi_error *err)
{
    const char *wanted = reader->settings.system_power;
    bool only_dcmi = strcmp(wanted, FORCED_DCMI) == 0;

    reader->dcmi = (!*wanted || only_dcmi) && find_dcmi(reader);
    if (!reader->session.bmc) {
        return lost_bmc(err);
    }
    if (only_dcmi) {
        return reader->dcmi ? 0
                            : apapi_fail(err, ENODEV, "%.100s: no DCMI power reading",
                                         reader->session.target);
    }
    if (ipmi_sensors_find(&reader->session.library, reader->session.bmc, &reader->sensors, err) &&
        !reader->dcmi) {
        return -1;
    }
    return ipmi_sensors_name_events(&reader->sensors, reader->dcmi ? NULL : wanted, err);
}

static bool is_system_power(const char *event)
{
    return strcmp(event, COMPONENT ":::SYSTEM_POWER") == 0;
}

static struct apapi_event make_event(const struct ipmi_reader *reader, const char *name,
                                     enum apapi_kind kind)
{
    struct apapi_event event = {
        .kind = kind,
        .domain = is_system_power(name) ? APAPI_DOMAIN_NODE : APAPI_DOMAIN_NONE,
        .type = APAPI_TYPE_FP64,
        .scale = 1,
        .update_ns = reader->settings.period_ns,
    };

    snprintf(event.name, sizeof event.name, "%s", name);
    strcpy(event.unit, kind == APAPI_KIND_POWER ? "W" : "C");
    return event;
}

/* Sort power first, the system's before all others. */
static int compare_sensors(const void *left, const void *right)
{
    const struct ipmi_sensor *a = left, *b = right;

    if (a->kind != b->kind) {
        return a->kind == APAPI_KIND_POWER ? -1 : 1;
    }
    if (is_system_power(a->event) != is_system_power(b->event)) {
        return is_system_power(a->event) ? -1 : 1;
    }
    return strcmp(a->event, b->event);
}

static void ipmi_describe_events(struct ipmi_reader *reader)
{
    size_t count = 0;

    if (reader->dcmi) {
        struct apapi_event *event = &reader->events[count++];

        *event = make_event(reader, COMPONENT ":::SYSTEM_POWER", APAPI_KIND_POWER);
        if (reader->dcmi_period_ns > event->update_ns && reader->dcmi_period_ns <= UPDATE_MAX_NS) {
            event->update_ns = reader->dcmi_period_ns;
        }
        if (reader->dcmi_period_ns >= SEEN_LEAST_NS) {
            event->most_w = (float)reader->dcmi_most_w;
        }
    }
    for (size_t i = 0; i < reader->sensors.count; i++) {
        const struct ipmi_sensor *sensor = &reader->sensors.list[i];

        reader->events[count++] = make_event(reader, sensor->event, sensor->kind);
    }
    reader->base.count = count;
}

/* Sensors without a reading at the start, mostly of empty slots, are no events. */
static void drop_silent_sensors(struct ipmi_reader *reader)
{
    struct ipmi_sensor *list = reader->sensors.list;
    size_t kept = 0, first = reader->dcmi;

    for (size_t i = 0; i < reader->sensors.count; i++) {
        if (reader->held[first + i].error == 0) {
            list[kept] = list[i];
            reader->held[first + kept] = reader->held[first + i];
            kept++;
        }
    }
    reader->sensors.count = kept;
    ipmi_describe_events(reader);
}

static int make_events(struct ipmi_reader *reader, struct apapi_error *err)
{
    size_t room = reader->sensors.count + 1;

    if (reader->sensors.count > 0) {
        qsort(reader->sensors.list, reader->sensors.count, sizeof *reader->sensors.list,
              compare_sensors);
    }
    reader->events = calloc(room, sizeof *reader->events);
    reader->held = calloc(room, sizeof *reader->held);
    if (!reader->events || !reader->held) {
        return apapi_fail(err, ENOMEM, "no memory");
    }
    reader->base.events = reader->events;
    ipmi_describe_events(reader);
    for (size_t i = 0; i < reader->base.count; i++) {
        if (!read_or_fail_all(reader, i)) {
            return lost_bmc(err);
        }
    }
    drop_silent_sensors(reader);
    if (reader->base.count == 0) {
        return apapi_fail(err, ENODEV,
                          "%.100s: no DCMI power reading, no sensor of power or temperature",
                          reader->session.target);
    }
    return 0;
}

static int ipmi_start(struct ipmi_reader *reader, struct apapi_error *err)
{
    const char *power = "no system power";

    if (ipmi_settings_read(&reader->settings, err) ||
        ipmi_session_prepare(&reader->session, &reader->settings, err) ||
        ipmi_session_connect(&reader->session, err) || find_meters(reader, err) ||
        make_events(reader, err)) {
        return -1;
    }
    if (reader->events[0].domain == APAPI_DOMAIN_NODE) { /* it comes first */
        power = reader->dcmi ? "DCMI" : "sensors";
    }
    snprintf(reader->base.detail, sizeof reader->base.detail, "FreeIPMI %.36s, %s",
             reader->session.target, power);
    return 0;
}

static void ipmi_close(struct apapi_reader *base)
{
    struct ipmi_reader *reader = (struct ipmi_reader *)base;
    int saved = errno;

    if (reader) {
        ipmi_session_disconnect(&reader->session);
        ipmi_sensors_clear(&reader->sensors);
        free(reader->events);
        free(reader->held);
        explicit_bzero(&reader->settings, sizeof reader->settings);
        free(reader);
    }
    errno = saved;
}

static struct apapi_reader *ipmi_open(const char *component, struct apapi_error *err)
{
    struct ipmi_reader *reader = calloc(1, sizeof *reader);

    (void)component;
    if (!reader) {
        apapi_fail(err, ENOMEM, "no memory");
        return NULL;
    }
    reader->base.source = &apapi_source_ipmi;
    reader->base.own_worker = true;
    if (ipmi_start(reader, err)) {
        ipmi_close(&reader->base);
        return NULL;
    }
    note_asked(reader, clock_monotonic_ns());
    return &reader->base;
}

static void ipmi_describe(const struct apapi_reader *base, size_t index, char *text, size_t size)
{
    const struct ipmi_reader *reader = (const struct ipmi_reader *)base;

    if (reader->dcmi && index == 0) {
        snprintf(text, size, "power of the whole machine, DCMI");
    } else {
        const struct ipmi_sensor *sensor = &reader->sensors.list[index - reader->dcmi];

        snprintf(text, size, "sensor '%s' of entity %u.%u", sensor->name, sensor->entity,
                 sensor->instance);
    }
}

const struct apapi_source apapi_source_ipmi = {
    .name = "ipmi",
    .common = true,
    .slow = true,
    .open = ipmi_open,
    .read = ipmi_read,
    .describe = ipmi_describe,
    .close = ipmi_close,
};
