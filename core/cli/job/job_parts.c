/* SPDX-License-Identifier: BSD-3-Clause */
/* What `apapi show` and `apapi plot` have in common. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "cli/job/job_view.h"

int show_compare_nodes(const void *left, const void *right)
{
    const struct show_node *a = *(const struct show_node *const *)left,
                           *b = *(const struct show_node *const *)right;
    double a_j = isnan(a->energy_j) ? -1 : a->energy_j, b_j = isnan(b->energy_j) ? -1 : b->energy_j;

    return a_j == b_j ? strverscmp(a->name, b->name) : a_j > b_j ? -1 : 1;
}

int show_table(const struct show *show, const char *job_id, char **text)
{
    const struct apapi_job_table_head head = {.job = job_id, .left_out = show->left_out};
    struct apapi_job *job = apapi_job_create();
    int result = job ? 0 : -1;

    for (size_t i = 0; i < show->count && result == 0; i++) {
        result = apapi_job_add(job, &show->records[i]);
    }
    if (result == 0) {
        result = apapi_job_table_format(job, &head, text, NULL);
    }
    apapi_job_destroy(job);
    return result;
}

double show_between_j(const struct apapi_domain_result *domain, uint64_t from_ns, uint64_t to_ns,
                      uint64_t *known_ns)
{
    double whole_j = apapi_timeline_energy_j(&domain->timeline);
    double energy_j = apapi_timeline_between_j(&domain->timeline, from_ns, to_ns, known_ns);

    return whole_j > 0 && domain->energy_j > 0 ? energy_j * (domain->energy_j / whole_j) : energy_j;
}

struct show_trust show_trust(const struct show *show)
{
    struct show_trust trust = {.covered = NAN, .uncertainty = NAN};

    for (size_t i = 0; i < show->count; i++) {
        const struct apapi_record *record = &show->records[i];
        const struct apapi_measurement *m = &record->measurement;

        trust.covered = fmin(trust.covered, m->covered);
        trust.uncertainty =
            fmax(trust.uncertainty, apapi_record_uncertainty_j(m) / apapi_measurement_total_j(m));
        trust.cpu_s += (double)m->cpu_ns / NS_PER_S;
        trust.complete += record->complete;
        trust.recovered += record->recovered;
        trust.delayed += record->delayed;
        trust.verified += record->id.verified;
    }
    return trust;
}

static void say_count(show_say_f say, void *context, size_t count, const char *what)
{
    char text[160];

    if (count > 0) {
        snprintf(text, sizeof text, "%zu %s %s", count, count == 1 ? "was" : "were", what);
        say(text, context);
    }
}

void show_say_trust(const struct show *show, show_say_f say, void *context)
{
    const struct show_trust trust = show_trust(show);
    char text[160];

    snprintf(text, sizeof text, "%zu of %zu records are complete", trust.complete, show->count);
    say(text, context);
    say_count(say, context, trust.recovered, "recovered from what was saved while the step ran");
    say_count(say, context, trust.delayed, "written late, as the node could not at the step's end");
    if (!isnan(trust.covered)) {
        snprintf(text, sizeof text, "good readings cover %.1f %% of the time in the worst of them",
                 floor(trust.covered * 1000 + 1e-6) / 10);
        say(text, context);
    }
    if (isfinite(trust.uncertainty)) {
        snprintf(text, sizeof text,
                 "the energy of each is known to %.2g %% or better, errors of the meters aside",
                 100 * trust.uncertainty);
        say(text, context);
    }
    snprintf(text, sizeof text, "measuring took %.2f s of CPU time in all", trust.cpu_s);
    say(text, context);
    say(trust.verified ? "the partition comes from Slurm, account and qos do if it knows them"
                       : "account, partition and qos come from the environment of the steps, "
                         "which the user controls",
        context);
}
