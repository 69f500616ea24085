/* SPDX-License-Identifier: BSD-3-Clause */
#include "sources/settings.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apapi/source.h"

#define SETTINGS_MAX 64
#define NAME_SIZE 64

static struct setting {
    char name[NAME_SIZE]; /* its name in the environment */
    char *value;
} settings[SETTINGS_MAX];

static void make_name(char name[NAME_SIZE], const char *section, const char *key)
{
    snprintf(name, NAME_SIZE, "APAPI_%s_%s", section, key);
    for (char *letter = name; *letter; letter++) {
        *letter = (char)toupper((unsigned char)*letter);
    }
}

/* The setting of this name, or the first free slot; NULL: neither. */
static struct setting *settings_find(const char *name)
{
    for (size_t i = 0; i < SETTINGS_MAX; i++) {
        if (!settings[i].value || strcmp(settings[i].name, name) == 0) {
            return &settings[i];
        }
    }
    return NULL;
}

const char *source_setting(const char *section, const char *key)
{
    char name[NAME_SIZE];
    const char *value;
    const struct setting *setting;

    make_name(name, section, key);
    value = secure_getenv(name);
    if (value) {
        return value;
    }
    setting = settings_find(name);
    return setting ? setting->value : NULL;
}

int apapi_source_set(const char *section, const char *key, const char *value)
{
    char name[NAME_SIZE];
    struct setting *setting;
    char *copy;

    make_name(name, section, key);
    setting = settings_find(name);
    if (!setting) {
        errno = ENOSPC;
        return -1;
    }
    copy = strdup(value);
    if (!copy) {
        return -1;
    }
    free(setting->value);
    strcpy(setting->name, name);
    setting->value = copy;
    return 0;
}
