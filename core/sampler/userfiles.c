/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampler/userfiles.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "channel/deadline.h"
#include "config/filename.h"
#include "sampler/user.h"

#define PATIENCE_NS (300 * DEADLINE_MS) /* for a file system */

static bool in_trouble(const struct userfiles *files)
{
    return *files->trouble.text != '\0';
}

/* The first failure is reported. */
static struct apapi_error *trouble_of(struct userfiles *files)
{
    return in_trouble(files) ? NULL : &files->trouble;
}

/* Called by the trace's own thread. */
static ssize_t put_rows(void *cookie, const char *bytes, size_t size)
{
    const struct writer *writer = cookie;

    return writer_put(writer, bytes, size, deadline_now() + PATIENCE_NS) ? 0 : (ssize_t)size;
}

void userfiles_prepare(struct userfiles *files, const struct step *step)
{
    static struct user user;

    files->report = WRITER_NONE;
    files->trace = WRITER_NONE;
    if ((!*step->output && !*step->trace) || user_parse(step, &user, trouble_of(files))) {
        return;
    }
    if (*step->output) {
        writer_start(&files->report, &user, trouble_of(files));
    }
    if (*step->trace) {
        writer_start(&files->trace, &user, trouble_of(files));
    }
}

bool userfiles_have_writers(const struct userfiles *files)
{
    return files->report.fd >= 0 || files->trace.fd >= 0;
}

static int start_tracer(struct userfiles *files)
{
    const cookie_io_functions_t calls = {.write = put_rows};
    FILE *rows = fopencookie(&files->trace, "w", calls);

    if (!rows) {
        return apapi_fail(trouble_of(files), ENOMEM, "no memory");
    }
    files->tracer = trace_create(rows, files->trace_path, trouble_of(files));
    if (!files->tracer) {
        return -1;
    }
    trace_next_run(files->tracer);
    return 0;
}

void userfiles_start_trace(struct userfiles *files)
{
    if (files->trace.fd >= 0 && start_tracer(files)) {
        writer_abandon(&files->trace);
    }
}

/* The path of a file that the user has named by a pattern. @return 0; -1: it is in trouble. */
static int userfiles_path(struct userfiles *files, const struct step *step, const char *pattern,
                          char path[PATH_MAX])
{
    const struct apapi_identity *id = &step->id;
    char name[PATH_MAX], user[sizeof id->user];
    const struct filename_values values = {
        .job = id->job,
        .step = id->step,
        .array_job = id->array_job == APAPI_UNKNOWN ? id->job : id->array_job,
        .array_index = id->array_task == APAPI_UNKNOWN ? FILENAME_NO_ARRAY : id->array_task,
        .node = id->node,
        .node_index = id->node_index == APAPI_UNKNOWN ? 0 : id->node_index,
        .user = user,
        .name = id->job_name};

    snprintf(user, sizeof user, "%s", id->user);
    if (*user == '\0') {
        snprintf(user, sizeof user, "%" PRIu32, id->uid);
    }
    return filename_expand(pattern, &values, name, sizeof name, trouble_of(files)) ||
                   filename_absolute(files->folder, name, path, PATH_MAX, trouble_of(files))
               ? -1
               : 0;
}

void userfiles_begin(struct userfiles *files, const struct step *step, const char *folder)
{
    bool batch = strcmp(step->id.step, "batch") == 0;
    char unique[PATH_MAX];

    snprintf(files->folder, sizeof files->folder, "%s", folder);
    if (files->tracer &&
        filename_trace(step->trace, step->id.nodes, batch, unique, sizeof unique) == 0 &&
        userfiles_path(files, step, unique, files->trace_path) == 0) {
        writer_open(&files->trace, files->trace_path, trouble_of(files));
    }
}

bool userfiles_report(struct userfiles *files, const struct step *step, const char *text)
{
    char path[PATH_MAX];

    if (*step->output == '\0' || files->report.fd < 0 ||
        userfiles_path(files, step, step->output, path) ||
        writer_open(&files->report, path, trouble_of(files))) {
        return false;
    }
    writer_put(&files->report, text, strlen(text), deadline_now() + PATIENCE_NS);
    return writer_finish(&files->report, deadline_now() + PATIENCE_NS, trouble_of(files)) == 0;
}

void userfiles_end_trace(struct userfiles *files)
{
    struct apapi_error lost = {""};

    if (!files->tracer) {
        return;
    }
    trace_finish(files->tracer, &lost);
    files->tracer = NULL;
    /* the writer's own reason is better than what was noticed here */
    writer_finish(&files->trace, deadline_now() + PATIENCE_NS, trouble_of(files));
    if (*lost.text) {
        apapi_fail(trouble_of(files), EIO, "%s", lost.text);
    }
}

void userfiles_close(struct userfiles *files)
{
    userfiles_end_trace(files);
    writer_abandon(&files->report);
    writer_abandon(&files->trace);
}
