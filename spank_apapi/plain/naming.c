/* SPDX-License-Identifier: BSD-3-Clause */
#include "naming.h"

#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "config/filename.h"

#define NUMBER_SIZE 16

int spank_apapi_user_name(uid_t uid, char name[SPANK_APAPI_USER_SIZE])
{
    struct passwd entry, *found = NULL;
    char text[4096];

    name[0] = '\0';
    if (getpwuid_r(uid, &entry, text, sizeof text, &found) == 0 && found) {
        snprintf(name, SPANK_APAPI_USER_SIZE, "%s", found->pw_name);
    }
    return name[0] ? 0 : -1;
}

int spank_apapi_user_ask(const char *libexec_dir, uid_t uid, uint64_t deadline_ns,
                         struct message *message, char name[SPANK_APAPI_USER_SIZE])
{
    const struct spank_apapi_program program = {
        .dir = libexec_dir, .name = "apapi-sampler", .listener = -1};
    struct spank_apapi_child child = SPANK_APAPI_CHILD_NONE;

    name[0] = '\0';
    if (spank_apapi_child_start(&child, &program, NULL)) {
        return -1;
    }
    message_start(message, APAPI_WORD_USER);
    message_add_number(message, "uid", uid);
    if (message_send(child.channel, message, deadline_ns) == 0 &&
        message_receive(child.channel, message, deadline_ns) == 0 &&
        message_is(message, APAPI_WORD_USER)) {
        snprintf(name, SPANK_APAPI_USER_SIZE, "%s", message_text(message));
    }
    if (name[0] == '\0') {
        spank_apapi_child_kill(&child);
    }
    spank_apapi_child_close(&child);
    return name[0] ? 0 : -1;
}

bool spank_apapi_look_here(void *unused, const char *variable, char *value, size_t size)
{
    const char *text = getenv(variable);

    (void)unused;
    return text && snprintf(value, size, "%s", text) < (int)size;
}

/* @return number of components of the job; 0: not heterogeneous. */
static unsigned long count_components(spank_apapi_look_f look, void *context)
{
    char job[NUMBER_SIZE], first[NUMBER_SIZE], count[NUMBER_SIZE];

    /* Variables that sbatch passed on from an enclosing job have another ID. */
    return look(context, "SLURM_JOB_ID", job, sizeof job) &&
                   look(context, "SLURM_JOB_ID_HET_GROUP_0", first, sizeof first) &&
                   strcmp(first, job) == 0 && look(context, "SLURM_HET_SIZE", count, sizeof count)
               ? strtoul(count, NULL, 10)
               : 0;
}

/* All or none: a part would be taken for the whole. */
int spank_apapi_job_nodes(spank_apapi_look_f look, void *context, char *names, size_t size)
{
    unsigned long components = count_components(look, context);
    char variable[64] = "SLURM_JOB_NODELIST";
    size_t length = 0;

    for (unsigned long i = 0; i < components || i == 0; i++) {
        if (i > 0) {
            names[length++] = ','; /* replaces the NUL; there is room for it */
        }
        if (components > 0) {
            snprintf(variable, sizeof variable, "SLURM_JOB_NODELIST_HET_GROUP_%lu", i);
        }
        if (components > SPANK_APAPI_COMPONENTS_MAX ||
            !look(context, variable, names + length, size - length) || !names[length]) {
            names[0] = '\0';
            return -1;
        }
        length += strlen(names + length);
    }
    return 0;
}

static uint32_t environment_number(const char *variable, uint32_t standard)
{
    const char *text = getenv(variable);
    unsigned long number;
    char *end;

    if (!text) {
        return standard;
    }
    errno = 0;
    number = strtoul(text, &end, 10);
    return errno || end == text || *end || number > UINT32_MAX ? standard : (uint32_t)number;
}

int spank_apapi_name(const char *pattern, const struct spank_apapi_naming *naming, char *name,
                     size_t size, struct apapi_error *err)
{
    const char *title = getenv("SLURM_JOB_NAME");
    char user[SPANK_APAPI_USER_SIZE] = "";
    const struct filename_values values = {
        .job = naming->job,
        .step = naming->step,
        .array_job = environment_number("SLURM_ARRAY_JOB_ID", naming->job),
        .array_index = environment_number("SLURM_ARRAY_TASK_ID", FILENAME_NO_ARRAY),
        .node = naming->node,
        .user = user,
        .name = title && strlen(title) <= NAME_MAX ? title : ""};

    if (filename_has(pattern, "u") && spank_apapi_user_name(naming->uid, user)) {
        snprintf(user, sizeof user, "%lu", (unsigned long)naming->uid);
    }
    return filename_expand(pattern, &values, name, size, err);
}
