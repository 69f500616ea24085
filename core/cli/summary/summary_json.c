/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi summary for programs, described in apapi-summary(1). Unknown values have no key. */
#include <math.h>

#include "cli/json.h"
#include "cli/summary/summary.h"
#include "record/fields.h"

static int put_whole(json_t *object, const char *key, double count)
{
    return isfinite(count) ? field_put_count(object, key, (uint64_t)count) : 0;
}

static int put_word(json_t *object, const char *key, const char *text, const char *otherwise)
{
    const char *known = *text ? text : otherwise;

    return *known ? field_put_text(object, key, known) : 0;
}

static int put_who(json_t *root, const struct summary *summary)
{
    const struct apapi_identity none = APAPI_IDENTITY_UNKNOWN;
    const struct apapi_identity *id = summary->id ? summary->id : &none;
    const struct sacct_job *slurm = &summary->slurm;

    return field_put_text(root, "job", summary->job_id) ||
           put_word(root, "cluster", id->cluster, slurm->cluster) ||
           put_word(root, "user", id->user, slurm->user) ||
           put_word(root, "account", slurm->account, id->account) ||
           put_word(root, "state", slurm->state, "") || put_word(root, "exit", slurm->exit, "") ||
           put_whole(root, "nodes", summary->nodes) || put_whole(root, "cores", summary->cores) ||
           field_put_measured(root, "elapsed_s", summary->elapsed_s);
}

static int put_energy(json_t *root, const struct summary *summary)
{
    return field_put_measured(root, "energy_j", summary->energy_j) ||
           field_put_measured(root, "uncertainty_j", summary->uncertainty_j) ||
           field_put_measured(root, "mean_w", summary->mean_w) ||
           field_put_measured(root, "node_w", summary->node_w) ||
           field_put_measured(root, "measured", summary->measured) ||
           field_put_measured(root, "recorded_s", summary->recorded_s);
}

static int put_use(json_t *root, const struct summary *summary)
{
    json_t *object;
    int result = 0;

    if (isfinite(summary->cpu_s) && isfinite(summary->core_s)) {
        object = json_object();
        result = field_put(root, "cpu", object) ||
                 field_put_measured(object, "used_s", summary->cpu_s) ||
                 field_put_measured(object, "core_s", summary->core_s) ||
                 field_put_measured(object, "efficiency", summary->cpu_s / summary->core_s) ||
                 field_put_measured(object, "j_per_used_hour",
                                    summary->energy_j / summary->cpu_s * 3600);
    }
    if (result == 0 && isfinite(summary->gpu_share)) {
        object = json_object();
        result = field_put(root, "gpu", object) || put_whole(object, "gpus", summary->gpus) ||
                 field_put_measured(object, "efficiency", summary->gpu_share);
    }
    return result;
}

static int put_median(json_t *program, const char *key, const struct summary_median *median)
{
    json_t *object = median->jobs ? json_object() : NULL;

    return object
               ? field_put(program, key, object) || field_put_count(object, "jobs", median->jobs) ||
                     field_put_measured(object, "energy_j", median->energy_j) ||
                     field_put_measured(object, "node_w", median->node_w)
               : 0;
}

static int put_program(json_t *root, const struct summary_program *program)
{
    json_t *object = *program->name ? json_object() : NULL;

    return object ? field_put(root, program->of_job ? "job_name" : "program", object) ||
                        field_put_text(object, "name", program->name) ||
                        field_put_measured(object, "energy_j", program->energy_j) ||
                        field_put_measured(object, "node_w", program->node_w) ||
                        put_median(object, "user_median", &program->user) ||
                        put_median(object, "site_median", &program->site)
                  : 0;
}

int summary_print_json(const struct summary *summary)
{
    json_t *root = json_object();

    return json_print(root, put_who(root, summary) || put_energy(root, summary) ||
                                put_use(root, summary) || put_program(root, &summary->program));
}
