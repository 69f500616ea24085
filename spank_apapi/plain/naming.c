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

#define NO_ARRAY 4294967294U /* Slurm's value for the index if there is no array */
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

struct environment {
    spank_apapi_look_f look;
    void *context;
};

static bool job_nodes_look(const struct environment *in, const char *variable, char *value,
                           size_t size)
{
    return in->look(in->context, variable, value, size) && *value;
}

/* @return number of components of the job; 0: not heterogeneous. */
static unsigned long count_components(const struct environment *in)
{
    char job[NUMBER_SIZE], first[NUMBER_SIZE], count[NUMBER_SIZE];

    /* Variables that sbatch passed on from an enclosing job have another ID. */
    if (!job_nodes_look(in, "SLURM_JOB_ID", job, sizeof job) ||
        !job_nodes_look(in, "SLURM_JOB_ID_HET_GROUP_0", first, sizeof first) ||
        strcmp(first, job) != 0 || !job_nodes_look(in, "SLURM_HET_SIZE", count, sizeof count)) {
        return 0;
    }
    return strtoul(count, NULL, 10);
}

/* All or none: a part would be taken for the whole. */
static int job_nodes_join(const struct environment *in, unsigned long components, char *names,
                          size_t size)
{
    size_t length = 0;

    for (unsigned long i = 0; i < components; i++) {
        char variable[48];

        if (i > 0) {
            names[length++] = ','; /* replaces the NUL; there is room for it */
        }
        snprintf(variable, sizeof variable, "SLURM_JOB_NODELIST_HET_GROUP_%lu", i);
        if (!job_nodes_look(in, variable, names + length, size - length)) {
            return -1;
        }
        length += strlen(names + length);
    }
    return 0;
}

int spank_apapi_job_nodes(spank_apapi_look_f find, void *context, char *names, size_t size)
{
    const struct environment in = {.look = find, .context = context};
    unsigned long components = count_components(&in);
    int rc = -1;

    if (components == 0 && job_nodes_look(&in, "SLURM_JOB_NODELIST", names, size)) {
        rc = 0;
    } else if (components > 0 && components <= SPANK_APAPI_COMPONENTS_MAX) {
        rc = job_nodes_join(&in, components, names, size);
    }
    if (rc) {
        names[0] = '\0';
    }
    return rc;
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
