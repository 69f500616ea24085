/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampler/usercopy.h"

#include <stdlib.h>
#include <string.h>
#include <syslog.h>

#include "sampler/log.h"
#include "store/user_store.h"

void usercopy_write(const char *dir, const struct apapi_identity *id, int64_t unix_ns,
                    const char *line)
{
    const struct user_record record = {
        .dir = dir, .uid = id->uid, .node = id->node, .unix_ns = unix_ns, .line = line};
    struct apapi_error err;

    if (*dir && id->uid != APAPI_UNKNOWN && user_store_append(&record, &err)) {
        log_write(LOG_NOTICE, "job %u step %s: no copy of its record for its user: %s", id->job,
                  id->step, err.text);
    }
}

static void usercopy_work(void *context)
{
    const struct usercopy *copy = context;

    usercopy_write(copy->dir, &copy->id, copy->unix_ns, copy->line);
}

void usercopy_start(struct usercopy *copy, const struct step *step, int64_t unix_ns,
                    const char *line)
{
    if (!*step->config.user_records) {
        return;
    }
    copy->line = strdup(line);
    if (copy->line) {
        copy->dir = step->config.user_records;
        copy->id = step->id;
        copy->unix_ns = unix_ns;
        task_start(&copy->task, usercopy_work, copy);
    }
}

void usercopy_end(struct usercopy *copy, uint64_t deadline_ns)
{
    if (copy->line && task_wait(&copy->task, deadline_ns)) {
        free(copy->line);
        copy->line = NULL;
    }
}
