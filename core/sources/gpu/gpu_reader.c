/* SPDX-License-Identifier: BSD-3-Clause */
#include "sources/gpu/gpu_reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sources/sources.h"

/* A query of one GPU, and the events for its values. */
struct gpu_slot {
    const struct gpu_query *query;
    const struct gpu_device *device;
    size_t events[GPU_VALUES_MAX]; /* NO_EVENT: not used */
};
#define NO_EVENT SIZE_MAX

struct gpu_reader {
    struct apapi_reader base;
    const struct gpu_driver *driver;
    struct gpu_device devices[GPU_DEVICES_MAX];
    size_t device_count;
    struct gpu_slot *slots;
    size_t slot_count;
    struct apapi_event *events;
    struct gpu_origin {
        const struct gpu_metric *metric;
        const struct gpu_device *device;
    } * origins; /* of each event */
    bool started;
};

void gpu_remark(struct apapi_reader *base, const char *remark)
{
    size_t used = strlen(base->detail);

    snprintf(base->detail + used, sizeof base->detail - used, ", %s", remark);
}

static void gpu_reader_append(char name[APAPI_NAME_SIZE], const char *text)
{
    size_t used = strlen(name);

    snprintf(name + used, APAPI_NAME_SIZE - used, "%s", text);
}

/* As PAPI names them: blanks in a GPU's name become underscores. */
static void gpu_reader_name_event(const struct gpu_metric *metric, const struct gpu_device *device,
                                  char name[APAPI_NAME_SIZE])
{
    char index[16], letter[2] = "";
    size_t start = 0;

    snprintf(index, sizeof index, "%u", device->index);
    name[0] = '\0';
    for (const char *at = metric->name; *at; at++) {
        letter[0] = *at;
        start = strlen(name);
        gpu_reader_append(name, *at == '#' ? index : *at == '@' ? device->name : letter);
        for (char *blank = name + start; *at == '@' && *blank; blank++) {
            *blank = *blank == ' ' ? '_' : *blank;
        }
    }
}

static size_t gpu_reader_add_event(struct gpu_reader *reader, const struct gpu_metric *metric,
                                   const struct gpu_device *device)
{
    size_t index = reader->base.count++;
    struct apapi_event *event = &reader->events[index];

    *event =
        (struct apapi_event){.kind = metric->kind,
                             .domain = metric->domain,
                             .type = metric->accumulates ? APAPI_TYPE_UINT64 : APAPI_TYPE_INT64,
                             .accumulates = metric->accumulates,
                             .scale = metric->scale,
                             .update_ns = metric->update_ns,
                             .slices = (uint8_t)device->slices,
                             .slices_all = (uint8_t)device->slices_all};
    snprintf(event->unit, sizeof event->unit, "%s", metric->unit);
    gpu_reader_name_event(metric, device, event->name);
    reader->origins[index] = (struct gpu_origin){metric, device};
    return index;
}

/* A value that fails now may work later. A value that the GPU does not support is not offered. */
static bool is_offered(int error, uint64_t value)
{
    return error == 0 ? value != GPU_ABSENT : error != ENOTSUP;
}

static bool is_energy(const struct gpu_metric *metric)
{
    return metric->kind == APAPI_KIND_ENERGY && metric->accumulates;
}

static void add_query(struct gpu_reader *reader, const struct gpu_query *query,
                      const struct gpu_device *device, bool counters)
{
    struct gpu_slot *slot = &reader->slots[reader->slot_count];
    uint64_t values[GPU_VALUES_MAX] = {0};
    int error = query->get(device, values);
    bool used = false;

    *slot = (struct gpu_slot){.query = query, .device = device};
    for (size_t i = 0; i < GPU_VALUES_MAX; i++) {
        const struct gpu_metric *metric = &query->metrics[i];

        slot->events[i] = NO_EVENT;
        if (metric->name && is_offered(error, values[i]) && (counters || !is_energy(metric))) {
            slot->events[i] = gpu_reader_add_event(reader, metric, device);
            used = true;
        }
    }
    reader->slot_count += used;
}

static bool is_measured(const struct gpu_device *device)
{
    return device->chosen && device->error == 0;
}

/* Whether the GPU offers an energy counter or a power gauge. */
static bool has_meter(const struct gpu_driver *driver, const struct gpu_device *device,
                      enum apapi_kind kind)
{
    for (size_t q = 0; q < driver->query_count; q++) {
        const struct gpu_query *query = &driver->queries[q];
        uint64_t values[GPU_VALUES_MAX] = {0};

        if (query->metrics[0].kind == kind && is_offered(query->get(device, values), values[0])) {
            return true;
        }
    }
    return false;
}

/* Energy counters of some GPUs and power of others cannot be added up: then all use power. */
static bool can_count(const struct gpu_reader *reader)
{
    for (size_t d = 0; d < reader->device_count; d++) {
        const struct gpu_device *device = &reader->devices[d];

        if (is_measured(device) && !has_meter(reader->driver, device, APAPI_KIND_ENERGY) &&
            has_meter(reader->driver, device, APAPI_KIND_POWER)) {
            return false;
        }
    }
    return true;
}

static int gpu_reader_allocate(struct gpu_reader *reader)
{
    size_t slots = reader->device_count * reader->driver->query_count;

    reader->slots = calloc(slots + 1, sizeof *reader->slots);
    reader->events = calloc(slots * GPU_VALUES_MAX + 1, sizeof *reader->events);
    reader->origins = calloc(slots * GPU_VALUES_MAX + 1, sizeof *reader->origins);
    reader->base.events = reader->events;
    return reader->slots && reader->events && reader->origins ? 0 : -1;
}

static void gpu_reader_add_events(struct gpu_reader *reader, bool counters)
{
    const struct gpu_driver *driver = reader->driver;

    for (size_t d = 0; d < reader->device_count; d++) {
        for (size_t q = 0; is_measured(&reader->devices[d]) && q < driver->query_count; q++) {
            add_query(reader, &driver->queries[q], &reader->devices[d], counters);
        }
    }
}

static bool is_missed(const struct gpu_reader *reader, const struct gpu_device *device)
{
    return device->chosen &&
           (device->error || (!has_meter(reader->driver, device, APAPI_KIND_ENERGY) &&
                              !has_meter(reader->driver, device, APAPI_KIND_POWER)));
}

/* Add the remarks on the GPUs for the report. */
static void add_remarks(struct gpu_reader *reader, bool counters)
{
    size_t missed = 0;
    bool by_part = false;
    char text[40];

    for (size_t d = 0; d < reader->device_count; d++) {
        missed += is_missed(reader, &reader->devices[d]);
        by_part |= reader->devices[d].by_part;
    }
    if (!counters) {
        gpu_remark(&reader->base, "power integrated");
    }
    if (missed) {
        snprintf(text, sizeof text, "%zu GPU%s not measured", missed, missed > 1 ? "s" : "");
        gpu_remark(&reader->base, text);
    }
    if (by_part) {
        gpu_remark(&reader->base, "whole GPU (MIG)");
    }
}

int gpu_status_error(const struct gpu_status *list, int code)
{
    while (list->error && list->code != code) {
        list++;
    }
    return code == 0 ? 0 : list->error ? list->error : EIO;
}

/* Explain why there is no event: no GPU, or the first GPU's error. */
static int refuse_all(const struct gpu_reader *reader, struct apapi_error *err)
{
    for (size_t d = 0; d < reader->device_count; d++) {
        const struct gpu_device *device = &reader->devices[d];

        if (device->chosen && device->error) {
            return apapi_fail(err, device->error, "%s: GPU %u: %s", reader->base.detail,
                              device->index, strerror(device->error));
        }
    }
    return apapi_fail(err, ENODEV, "%s: %s", reader->base.detail,
                      reader->device_count ? "no GPU has anything to read" : "no GPU");
}

/* Drop GPUs of others that a container or a control group hides. */
static void drop_forbidden(struct gpu_reader *reader)
{
    size_t kept = 0;

    for (size_t d = 0; d < reader->device_count; d++) {
        if (reader->devices[d].error != EACCES) {
            reader->devices[kept++] = reader->devices[d];
        }
    }
    reader->device_count = kept > 0 ? kept : reader->device_count;
}

static int gpu_reader_begin(struct gpu_reader *reader, struct apapi_error *err)
{
    const struct gpu_driver *driver = reader->driver;
    bool counters;

    if (gpu_library_load(driver->library, err) || driver->start(err)) {
        return -1;
    }
    reader->started = true;
    driver->version(reader->base.detail, sizeof reader->base.detail);
    reader->device_count = driver->find(reader->devices);
    drop_forbidden(reader);
    if (gpu_select(reader->devices, reader->device_count, driver->find_part, err)) {
        return -1;
    }
    if (gpu_reader_allocate(reader)) {
        return apapi_fail(err, ENOMEM, "no memory");
    }
    counters = can_count(reader);
    gpu_reader_add_events(reader, counters);
    if (reader->base.count == 0) {
        return refuse_all(reader, err);
    }
    add_remarks(reader, counters);
    return 0;
}

/* Libraries of drivers open files without O_CLOEXEC, which programs must not inherit. */
struct apapi_reader *gpu_open(const struct apapi_source *source, const struct gpu_driver *driver,
                              struct apapi_error *err)
{
    struct gpu_reader *reader = calloc(1, sizeof *reader);
    struct open_files before;
    int result;

    if (!reader) {
        apapi_fail(err, ENOMEM, "no memory");
        return NULL;
    }
    reader->base.source = source;
    reader->base.own_worker = true;
    reader->driver = driver;
    open_files_note(&before);
    result = gpu_reader_begin(reader, err);
    open_files_close_new_on_exec(&before);
    if (result) {
        gpu_close(&reader->base);
        return NULL;
    }
    return &reader->base;
}

void gpu_read(struct apapi_reader *base, struct apapi_reading *readings)
{
    const struct gpu_reader *reader = (const struct gpu_reader *)base;

    for (size_t p = 0; p < reader->slot_count; p++) {
        const struct gpu_slot *slot = &reader->slots[p];
        uint64_t values[GPU_VALUES_MAX] = {0};
        int error = slot->query->get(slot->device, values);

        for (size_t i = 0; i < GPU_VALUES_MAX; i++) {
            if (slot->events[i] != NO_EVENT) {
                readings[slot->events[i]] = (struct apapi_reading){
                    .raw = values[i],
                    .error = error || values[i] != GPU_ABSENT ? error : ENODATA,
                };
            }
        }
    }
}

void gpu_describe(const struct apapi_reader *base, size_t index, char *text, size_t size)
{
    const struct gpu_origin *origin = &((const struct gpu_reader *)base)->origins[index];

    snprintf(text, size, "%s of GPU %u, %s%s%s", origin->metric->text, origin->device->index,
             origin->device->name, *origin->device->name ? ", " : "", origin->device->uuid);
}

void gpu_close(struct apapi_reader *base)
{
    struct gpu_reader *reader = (struct gpu_reader *)base;
    int saved = errno;

    if (!reader) {
        return;
    }
    if (reader->started) {
        reader->driver->stop();
    }
    free(reader->slots);
    free(reader->events);
    free(reader->origins);
    free(reader);
    errno = saved;
}
