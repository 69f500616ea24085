/* SPDX-License-Identifier: BSD-3-Clause */
#include "ms_common/registry.h"

#include <pthread.h>
#include <stdlib.h>

struct entry {
    struct ms_system system;
    struct ms_config config;
    struct entry *next;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct entry *entries;

struct ms_system *registry_add(struct measure *measure)
{
    struct entry *entry = calloc(1, sizeof *entry);

    if (!entry) {
        return NULL;
    }
    entry->system = (struct ms_system){measure, &entry->config};
    entry->config = (struct ms_config){.cpu_enabled = measure_has(measure, RESOURCE_CPU),
                                       .gpu_enabled = measure_has(measure, RESOURCE_GPU),
                                       .fpga_enabled = measure_has(measure, RESOURCE_FPGA),
                                       .mic_enabled = measure_has(measure, RESOURCE_MIC),
                                       .sys_enabled = measure_has(measure, RESOURCE_SYSTEM)};
    pthread_mutex_lock(&mutex);
    entry->next = entries;
    entries = entry;
    pthread_mutex_unlock(&mutex);
    return &entry->system;
}

/* The mutex is held. @return where the pointer to it is; to NULL if there is none */
static struct entry **registry_place(const struct ms_system *system)
{
    struct entry **place = &entries;

    while (*place && &(*place)->system != system) {
        place = &(*place)->next;
    }
    return place;
}

struct measure *registry_find(const struct ms_system *system)
{
    struct measure *measure;
    struct entry *entry;

    pthread_mutex_lock(&mutex);
    entry = *registry_place(system);
    measure = entry ? entry->system.mgmt : NULL;
    pthread_mutex_unlock(&mutex);
    return measure;
}

struct measure *registry_remove(struct ms_system *system)
{
    struct measure *measure = NULL;
    struct entry **place, *entry;

    pthread_mutex_lock(&mutex);
    place = registry_place(system);
    entry = *place;
    if (entry) {
        measure = entry->system.mgmt;
        *place = entry->next;
    }
    pthread_mutex_unlock(&mutex);
    free(entry);
    return measure;
}

void registry_forget(const struct ms_list *list)
{
    pthread_mutex_lock(&mutex);
    for (; list; list = list->next) {
        for (struct entry *entry = entries; entry; entry = entry->next) {
            measure_forget(entry->system.mgmt, list->ms_measurement);
        }
    }
    pthread_mutex_unlock(&mutex);
}
