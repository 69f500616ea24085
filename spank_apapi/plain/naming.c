/* SPDX-License-Identifier: BSD-3-Clause */
#include "naming.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/filename.h"
#include "user.h"

#define NO_ARRAY 4294967294U /* Slurm's value for the index if there is no array */

bool spank_apapi_look_here(void *unused, const char *variable, char *value, size_t size)
{
    const char *text = getenv(variable);

    (void)unused;
    return text && snprintf(value, size, "%s", text) < (int)size;
}

static uint32_t look_number(const struct spank_apapi_naming *naming, const char *variable,
                            uint32_t standard)
{
    char text[24], *end;
    unsigned long number;

    if (!naming->look(naming->context, variable, text, sizeof text)) {
        return standard;
    }
    errno = 0;
    number = strtoul(text, &end, 10);
    return errno || end == text || *end || number > UINT32_MAX ? standard : (uint32_t)number;
}

static void name_user(const struct spank_apapi_naming *naming, char name[SPANK_APAPI_USER_SIZE])
{
    if (naming->user) {
        snprintf(name, SPANK_APAPI_USER_SIZE, "%s", naming->user);
    } else {
        spank_apapi_user_name(naming->uid, name);
    }
    if (*name == '\0') {
        snprintf(name, SPANK_APAPI_USER_SIZE, "%lu", (unsigned long)naming->uid);
    }
}

int spank_apapi_name(const char *pattern, const struct spank_apapi_naming *naming, char *name,
                     size_t size, struct apapi_error *err)
{
    char user[SPANK_APAPI_USER_SIZE] = "", title[NAME_MAX + 1] = "";
    const struct filename_values values = {
        .job = naming->job,
        .step = naming->step,
        .array_job = look_number(naming, "SLURM_ARRAY_JOB_ID", naming->job),
        .array_index = look_number(naming, "SLURM_ARRAY_TASK_ID", NO_ARRAY),
        .node = naming->node,
        .node_index = naming->node_index,
        .user = user,
        .name = title};

    if (filename_has(pattern, "u")) {
        name_user(naming, user);
    }
    if (!naming->look(naming->context, "SLURM_JOB_NAME", title, sizeof title)) {
        title[0] = '\0';
    }
    return filename_expand(pattern, &values, name, size, err);
}

int spank_apapi_name_trace(const char *pattern, uint32_t nodes, bool batch, char *unique,
                           size_t size)
{
    bool step = batch && !filename_has(pattern, "sJ");
    bool node = nodes > 1 && !filename_has(pattern, "Nn");
    int length = snprintf(unique, size, "%s%s%s", pattern, step ? ".batch" : "", node ? ".%N" : "");

    if (length < 0 || (size_t)length >= size) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return 0;
}
