/* SPDX-License-Identifier: BSD-3-Clause */
#include "regions/foms.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "regions/link.h"

static pthread_mutex_t foms_lock = PTHREAD_MUTEX_INITIALIZER;
static struct apapi_fom foms[APAPI_FOMS_MAX];
static bool foms_unsent[APAPI_FOMS_MAX];
static size_t foms_count;

static size_t foms_find(const char *name)
{
    size_t i = 0;

    while (i < foms_count && strcmp(foms[i].name, name) != 0) {
        i++;
    }
    return i;
}

int foms_set(const char *name, double value, const char *unit)
{
    struct apapi_fom fom = {.value = value, .programs = 1};
    size_t i;

    text_clean(fom.name, sizeof fom.name, name);
    text_clean(fom.unit, sizeof fom.unit, unit);
    pthread_mutex_lock(&foms_lock);
    i = foms_find(fom.name);
    if (i < APAPI_FOMS_MAX) {
        foms[i] = fom;
        foms_unsent[i] = true;
        foms_count += i == foms_count;
    }
    pthread_mutex_unlock(&foms_lock);
    errno = i < APAPI_FOMS_MAX ? errno : ENOSPC;
    return i < APAPI_FOMS_MAX ? 0 : -1;
}

int foms_send(void)
{
    int result = 0;

    pthread_mutex_lock(&foms_lock);
    for (size_t i = 0; i < foms_count && result == 0; i++) {
        if (foms_unsent[i]) {
            struct region_message message;

            region_message_init(&message, REGION_FOM, foms[i].name);
            message.value = foms[i].value;
            snprintf(message.unit, sizeof message.unit, "%s", foms[i].unit);
            result = link_send(&message);
            foms_unsent[i] = result < 0 && errno == EAGAIN;
        }
    }
    pthread_mutex_unlock(&foms_lock);
    return result;
}

bool foms_copy(size_t index, struct apapi_fom *fom)
{
    bool there;

    pthread_mutex_lock(&foms_lock);
    there = index < foms_count;
    if (there) {
        *fom = foms[index];
    }
    pthread_mutex_unlock(&foms_lock);
    return there;
}

void foms_forget(void)
{
    pthread_mutex_init(&foms_lock, NULL);
    foms_count = 0;
}
