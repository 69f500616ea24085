/* SPDX-License-Identifier: BSD-3-Clause */
#include "fake/meter.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fake/energy_event.h"

#define PAUSE_NS 1000000
#define PAUSES_MAX 60000

struct fake_handle {
    struct apapi_reader base;
    struct fake_meter *meter;
    struct apapi_event events[FAKE_METER_EVENTS];
    int factors[FAKE_METER_EVENTS];
    int plugged;
};

static struct fake_meter *meters;

static void pause_shortly(void)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};

    clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
}

bool fake_wait(const atomic_int *number, int least)
{
    for (int i = 0; i < PAUSES_MAX && atomic_load(number) < least; i++) {
        pause_shortly();
    }
    return atomic_load(number) >= least;
}

static void hang_while(struct fake_meter *meter, const atomic_bool *hangs)
{
    if (atomic_load(hangs)) {
        atomic_fetch_add(&meter->stuck, 1);
    }
    while (atomic_load(hangs)) {
        pause_shortly();
    }
}

static void meter_read(struct apapi_reader *base, struct apapi_reading *readings)
{
    struct fake_handle *handle = (struct fake_handle *)base;
    struct fake_meter *meter = handle->meter;
    int error;

    atomic_fetch_add(&meter->reads, 1);
    hang_while(meter, &meter->read_hangs);
    if (atomic_load(&meter->ends_thread)) {
        meter->lost = handle;
        pthread_exit(NULL);
    }
    error =
        handle->plugged == atomic_load(&meter->plugged) ? atomic_load(&meter->read_fails) : ENODEV;
    if (error == 0) {
        atomic_fetch_add(&meter->value, FAKE_METER_STEP);
        atomic_fetch_add(&meter->good, 1);
    }
    for (size_t i = 0; i < base->count; i++) {
        readings[i] = (struct apapi_reading){
            (uint64_t)handle->factors[i] * atomic_load(&meter->value), error};
    }
}

static void meter_close(struct apapi_reader *base)
{
    struct fake_handle *handle = (struct fake_handle *)base;

    atomic_fetch_add(&handle->meter->closes, 1);
    free(handle);
}

static const struct apapi_source meter_source = {
    .name = "fake", .read = meter_read, .close = meter_close};

static struct fake_meter *find(const char *name)
{
    for (struct fake_meter *meter = meters; meter->name; meter++) {
        if (strcmp(meter->name, name) == 0) {
            return meter;
        }
    }
    return NULL;
}

static void add_event(struct fake_handle *handle, int number)
{
    struct apapi_event *event = &handle->events[handle->base.count];

    *event = fake_energy_event;
    event->update_ns = handle->meter->update_ns ? handle->meter->update_ns : UINT64_C(1000000000);
    snprintf(event->name, sizeof event->name, "%s:::ENERGY%d", handle->meter->name, number);
    event->domain = handle->meter->domain;
    handle->factors[handle->base.count++] = number + 1;
}

static struct apapi_reader *open_meter(struct fake_meter *meter)
{
    struct fake_handle *handle = calloc(1, sizeof *handle);

    if (!handle) {
        return NULL;
    }
    handle->meter = meter;
    handle->plugged = atomic_load(&meter->plugged);
    handle->base.source = &meter_source;
    handle->base.events = handle->events;
    handle->base.own_worker = meter->own_worker;
    snprintf(handle->base.detail, sizeof handle->base.detail, "fake %s", meter->name);
    for (int i = 0; i < atomic_load(&meter->present); i++) {
        add_event(handle, atomic_load(&meter->first) + i);
    }
    return &handle->base;
}

/* Functions of the routes, which --wrap replaces by these. */

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

bool __wrap_apapi_route_known(const char *component)
{
    return find(component) != NULL;
}

void __wrap_apapi_catalog_want(const char *component)
{
    (void)component;
}

bool __wrap_apapi_catalog_slow(const char *component, const char *order)
{
    (void)order;
    return find(component)->slow;
}

struct apapi_reader *__wrap_apapi_catalog_open(const char *component, const char *order,
                                               struct apapi_error *err)
{
    struct fake_meter *meter = find(component);
    int error;

    (void)order;
    atomic_fetch_add(&meter->opens, 1);
    hang_while(meter, &meter->open_hangs);
    error = atomic_load(&meter->open_fails);
    if (error) {
        apapi_fail(err, error, "no %s here", component);
        return NULL;
    }
    return open_meter(meter);
}

void fake_meters_use(struct fake_meter *used)
{
    meters = used;
    for (struct fake_meter *meter = meters; meter->name; meter++) {
        atomic_store(&meter->present, FAKE_METER_EVENTS);
    }
}

void fake_meter_free_lost(struct fake_meter *meter)
{
    free(meter->lost);
    meter->lost = NULL;
}
