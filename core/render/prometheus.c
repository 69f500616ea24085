/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/prometheus.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/text.h"
#include "base/units.h"
#include "record/record.h"

#define ROOM (4UL * PROMETHEUS_STEPS_MAX) /* steps kept while more may come */

/* The values of a step, or of each domain of a step. */
enum value {
    ENERGY,
    MEAN,
    PRESENT,
    ELAPSED,
    COVERED,
    DOMAIN_COVERED,
    REST,
    UNKNOWN,
    BUDGET,
    BUDGET_USED,
    RUNNING,
    ABOUT,
    VALUES
};

/* The families, in the order of the text. Their names end with the unit, if there is one. */
static const struct family {
    const char *name, *unit;
    bool by_domain;
    const char *help;
} families[VALUES] = {
    {"step_energy_joules", "joules", true,
     "Energy that the step has used on the node. Domains package, dram and gpu add up; core and "
     "uncore lie within package, psys and node around all."},
    {"step_power_watts", "watts", true, "Mean power of the step on the node."},
    {"step_present_power_watts", "watts", true,
     "Power of the running step on the node between the latest two readings."},
    {"step_elapsed_seconds", "seconds", false, "Time that the step has been measured on the node."},
    {"step_covered_ratio", "ratio", false,
     "Share of the step's time between good readings of the meters."},
    {"step_domain_covered_ratio", "ratio", true,
     "Share of the step's time that the energy of a domain covers."},
    {"step_rest_estimate_joules", "joules", true,
     "Estimate of the energy in the time that is not covered; in no other value."},
    {"step_domain_unknown", NULL, true,
     "Always 1. The domain has meters, but its energy is not known: sums over domains lack it."},
    {"step_budget_joules", "joules", false,
     "Energy budget of the whole step, all its nodes; of several, the least."},
    {"step_budget_used_joules", "joules", false,
     "Energy of all nodes of the step with a budget, as srun adds it up."},
    {"step_running", NULL, false, "1: the step is running; 0: it has ended."},
    {"step_info", NULL, false,
     "Always 1. Account, partition, QOS and job name as labels, for joining."},
};

/* Where the figures come from, the best source first. */
enum origin { RECORD, PAGE, CHECKPOINT };

struct step {
    char *labels; /* as written, without braces: they identify the step */
    char *about;  /* labels that a page does not know; "": none; NULL: the step is from a page */
    int64_t start_ns, end_ns;
    enum origin origin;
    double values[VALUES][APAPI_DOMAINS]; /* [0] if a value is not by domain; NaN: unknown */
};

struct prometheus {
    size_t count, left_out;
    struct step steps[ROOM];
};

struct prometheus *prometheus_create(void)
{
    return calloc(1, sizeof(struct prometheus));
}

static void step_free(struct step *step)
{
    free(step->labels);
    free(step->about);
}

void prometheus_destroy(struct prometheus *prometheus)
{
    int saved_errno = errno;

    for (size_t i = 0; prometheus && i < prometheus->count; i++) {
        step_free(&prometheus->steps[i]);
    }
    free(prometheus);
    errno = saved_errno;
}

/* To Prometheus, an empty label is the same as no label. Labels may have no control characters. */
static void put_label(FILE *out, const char *name, const char *value)
{
    char clean[APAPI_TEXT_SIZE];

    if (!*value) {
        return;
    }
    fprintf(out, "%s%s=\"", ftell(out) > 0 ? "," : "", name);
    text_clean(clean, sizeof clean, value);
    for (const char *at = clean; *at; at++) {
        fputs(*at == '\\' || *at == '"' ? "\\" : "", out);
        fputc(*at, out);
    }
    fputc('"', out);
}

/* Write labels. @param about  those that a live page does not know; false: the others
 * @return a text to be freed; NULL: out of memory. */
static char *format(const struct apapi_identity *id, bool about)
{
    char *labels = NULL;
    size_t size;
    FILE *out = open_memstream(&labels, &size);

    if (out && about) {
        put_label(out, "account", id->account);
        put_label(out, "partition", id->partition);
        put_label(out, "qos", id->qos);
        put_label(out, "job_name", id->job_name);
    } else if (out) {
        put_label(out, "cluster", id->cluster);
        put_label(out, "jobid", units_part(id->job != APAPI_UNKNOWN, "%u", id->job).text);
        put_label(out, "step", id->step);
        put_label(out, "user", id->user);
        put_label(out, "node", id->node);
    }
    return text_of_stream(out, &labels, 0);
}

/* Sort by labels; of the same step, the preferred figures first. */
static int compare_labels(const void *left, const void *right)
{
    const struct step *a = left, *b = right;
    int order = strcmp(a->labels, b->labels);

    order = order ? order : COMPARE(b->start_ns, a->start_ns);
    order = order ? order : COMPARE(a->origin, b->origin);
    return order ? order : COMPARE(b->end_ns, a->end_ns);
}

/* Sort running steps first, then the newest. */
static int compare_ages(const void *left, const void *right)
{
    const struct step *a = left, *b = right;
    int order = COMPARE(*b->values[RUNNING], *a->values[RUNNING]);

    return order ? order : COMPARE(b->end_ns, a->end_ns);
}

static void sort(struct prometheus *prometheus, int (*compare)(const void *, const void *))
{
    qsort(prometheus->steps, prometheus->count, sizeof *prometheus->steps, compare);
}

/* A page has the newest figures; the checkpoint of the same step knows more of the identity. */
static void prometheus_learn(struct step *page, struct step *checkpoint)
{
    if (page->about || page->start_ns != checkpoint->start_ns) {
        return;
    }
    page->about = checkpoint->about;
    checkpoint->about = NULL;
    for (int value = ENERGY + 1; value < VALUES; value++) {
        for (int d = 0; d < APAPI_DOMAINS; d++) {
            double *known = &page->values[value][d];

            *known = isnan(*known) && (value != UNKNOWN || isnan(page->values[ENERGY][d]))
                         ? checkpoint->values[value][d]
                         : *known;
        }
    }
}

static void prometheus_drop_duplicates(struct prometheus *prometheus)
{
    struct step *steps = prometheus->steps;
    size_t kept = 0;

    sort(prometheus, compare_labels);
    for (size_t i = 0; i < prometheus->count; i++) {
        if (kept > 0 && strcmp(steps[kept - 1].labels, steps[i].labels) == 0) {
            prometheus_learn(&steps[kept - 1], &steps[i]);
            step_free(&steps[i]);
        } else {
            steps[kept++] = steps[i];
        }
    }
    prometheus->count = kept;
}

/* Keep only the steps that will be written, and sort them. */
static void prometheus_settle(struct prometheus *prometheus)
{
    prometheus_drop_duplicates(prometheus);
    if (prometheus->count > PROMETHEUS_STEPS_MAX) {
        sort(prometheus, compare_ages);
        while (prometheus->count > PROMETHEUS_STEPS_MAX) {
            step_free(&prometheus->steps[--prometheus->count]);
            prometheus->left_out++;
        }
        sort(prometheus, compare_labels);
    }
}

static struct step step_begin(const struct apapi_identity *id, enum origin origin, int64_t start_ns,
                              double elapsed_s, bool running)
{
    struct step step = {.labels = format(id, false),
                        .about = origin == PAGE ? NULL : format(id, true),
                        .start_ns = start_ns,
                        .end_ns = start_ns + llround(elapsed_s * NS_PER_S),
                        .origin = origin};

    for (int i = 0; i < VALUES * APAPI_DOMAINS; i++) {
        step.values[i / APAPI_DOMAINS][i % APAPI_DOMAINS] = NAN;
    }
    *step.values[ELAPSED] = elapsed_s;
    *step.values[RUNNING] = running;
    *step.values[ABOUT] = step.about && *step.about ? 1 : NAN;
    return step;
}

/* Take ownership of a step, or free it. */
static int prometheus_add_step(struct prometheus *prometheus, struct step *step)
{
    if (!step->labels || (step->origin != PAGE && !step->about)) {
        step_free(step);
        errno = ENOMEM;
        return -1;
    }
    if (prometheus->count == ROOM) {
        prometheus_settle(prometheus);
    }
    prometheus->steps[prometheus->count++] = *step;
    return 0;
}

/* @return the value; NaN if it is 0, which means unknown, too. */
static double positive(double value)
{
    return value > 0 ? value : NAN;
}

int prometheus_add(struct prometheus *prometheus, const struct apapi_record *record, bool running)
{
    const struct apapi_measurement *m = &record->measurement;
    struct step step = step_begin(&record->id, running ? CHECKPOINT : RECORD, m->start_unix_ns,
                                  (double)m->elapsed_ns / NS_PER_S, running);

    *step.values[COVERED] = m->covered;
    for (int i = 0; i < APAPI_DOMAINS; i++) {
        const struct apapi_domain_result *result = &m->domains[i];

        /* a recovered record has less than its step's live page had: a counter does not fall */
        step.values[ENERGY][i] =
            result->measured && (running || !record->recovered) ? result->energy_j : NAN;
        step.values[MEAN][i] = result->measured ? result->power_w.mean : NAN;
        step.values[DOMAIN_COVERED][i] = positive(result->covered);
        step.values[REST][i] = positive(result->rest_j);
        step.values[UNKNOWN][i] = m->unknown_domains & domain_bit(i) ? 1 : NAN;
    }
    return prometheus_add_step(prometheus, &step);
}

int prometheus_add_live(struct prometheus *prometheus, const struct prometheus_live *live)
{
    struct step step =
        step_begin(live->id, PAGE, live->start_unix_ns, live->elapsed_s, live->running);

    memcpy(step.values[ENERGY], live->energy_j, sizeof live->energy_j);
    memcpy(step.values[PRESENT], live->power_w, sizeof live->power_w);
    *step.values[BUDGET] = positive(live->budget_j);
    *step.values[BUDGET_USED] = live->budget_j > 0 ? live->budget_used_j : NAN;
    return prometheus_add_step(prometheus, &step);
}

static void prometheus_put_head(FILE *out, const struct family *family, const char *type)
{
    fprintf(out, "# TYPE apapi_%s %s\n", family->name, type);
    if (family->unit) {
        fprintf(out, "# UNIT apapi_%s %s\n", family->name, family->unit);
    }
    fprintf(out, "# HELP apapi_%s %s\n", family->name, family->help);
}

static void put_samples(FILE *out, enum value value, const struct step *step)
{
    const struct family *family = &families[value];
    const char *comma = *step->labels ? "," : "";

    for (int d = 0; d < (family->by_domain ? APAPI_DOMAINS : 1); d++) {
        if (!isfinite(step->values[value][d])) {
            continue;
        }
        fprintf(out, "apapi_%s%s{%s", family->name, value == ENERGY ? "_total" : "", step->labels);
        if (family->by_domain) {
            fprintf(out, "%sdomain=\"%s\"", comma, apapi_domain_name((enum apapi_domain)d));
        } else if (value == ABOUT) {
            fprintf(out, "%s%s", comma, step->about);
        }
        fprintf(out, "} %.15g\n", step->values[value][d]);
    }
}

static void put_count(FILE *out, const char *name, size_t count, const char *help)
{
    prometheus_put_head(out, &(struct family){.name = name, .help = help}, "gauge");
    fprintf(out, "apapi_%s %zu\n", name, count);
}

int prometheus_write(struct prometheus *prometheus, const struct prometheus_counts *counts,
                     FILE *out)
{
    prometheus_settle(prometheus);
    for (enum value value = 0; value < VALUES; value++) {
        prometheus_put_head(out, &families[value], value == ENERGY ? "counter" : "gauge");
        for (size_t i = 0; i < prometheus->count; i++) {
            put_samples(out, value, &prometheus->steps[i]);
        }
    }
    put_count(out, "steps_left_out", prometheus->left_out,
              "Steps that are left out, as there are too many.");
    put_count(out, "records_skipped", counts->skipped,
              "Lines and files that are no records, or cannot be read.");
    put_count(out, "records_waiting", counts->waiting,
              "Records that could not be written when their steps ended, in the spool.");
    fputs("# EOF\n", out);
    return ferror(out) ? -1 : 0;
}
