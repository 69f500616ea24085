/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/job/job_view.h"
#include "cli/jobs.h"

static bool job_choose_is_named(const char *list, const char *job_id)
{
    size_t size = strlen(job_id);

    for (const char *at = list; (at = strstr(at, job_id)); at += size) {
        if ((at == list || at[-1] == ' ') && (at[size] == ',' || at[size] == '\0')) {
            return true;
        }
    }
    return false;
}

/* Refuse an array, or jobs of several clusters: the user must choose. */
static int job_choose_refuse(const struct show *show, const char *command)
{
    char list[80] = "", job_id[32];
    struct apapi_error err;
    size_t size = 0;
    bool more = false;

    for (size_t i = 0; i < show->count; i++) {
        job_id_text(&show->records[i].id, job_id, sizeof job_id);
        if (job_choose_is_named(list, job_id)) {
            continue;
        }
        more = more || size + strlen(job_id) + 3 > sizeof list;
        if (!more) {
            size +=
                (size_t)snprintf(list + size, sizeof list - size, "%s%s", size ? ", " : "", job_id);
        }
    }
    apapi_fail(&err, EINVAL, "several jobs match: %s%s; name one, or a cluster with -M", list,
               more ? ", ..." : "");
    return command_fail(command, err.text);
}

/* The number of a heterogeneous job, or Slurm's name of the only one. */
static void job_choose_name(const struct show *show, char *text, size_t size)
{
    const struct apapi_identity *id = &show->records[0].id;

    if (show->heterogeneous) {
        snprintf(text, size, "%u", id->het_job);
    } else {
        job_id_text(id, text, size);
    }
}

/* Old records name no cluster: they may be of any job with this number. */
static void drop_nameless(struct show *show, const char *command)
{
    size_t kept = 0, count = show->count;
    bool named = false;

    for (size_t i = 0; i < count; i++) {
        named = named || *show->records[i].id.cluster;
    }
    for (size_t i = 0; i < count; i++) {
        if (named && !*show->records[i].id.cluster) {
            apapi_record_clear(&show->records[i]);
        } else {
            show->records[kept++] = show->records[i];
        }
    }
    show->count = kept;
    if (kept < count) {
        fprintf(stderr, "apapi %s: %zu record%s left out: no cluster is named there\n", command,
                count - kept, text_plural(count - kept));
    }
}

int show_choose(struct show *show, const char *command, char *job_id, size_t size)
{
    size_t strangers = show_drop_strangers(show, show->job);

    if (strangers > 0) {
        fprintf(stderr,
                "apapi %s: %zu record%s left out: another user's job claims to be "
                "part of this one\n",
                command, strangers, strangers == 1 ? "" : "s");
    }
    if (show->count == 0) {
        return command_fail(command, "no record of this job found");
    }
    show_drop_earlier(show, show->job, command);
    drop_nameless(show, command);
    if (!show_join(show)) {
        return job_choose_refuse(show, command);
    }
    job_choose_name(show, job_id, size);
    return 0;
}
