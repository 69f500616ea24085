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
#include "record/record.h"

#define IN_STEP(member) offsetof(struct step, member)
#define IN_DOMAIN(member) offsetof(struct domain, member)
#define ROOM (4UL * PROMETHEUS_STEPS_MAX) /* steps kept while more may come */

struct domain {
    double energy_j, mean_w, present_w; /* NaN: unknown */
    double covered, rest_j;             /* the same */
    double unknown;                     /* 1: it has meters, but no known energy; otherwise NaN */
};

/* Where the figures come from, the best source first. */
enum origin { RECORD, PAGE, CHECKPOINT };

struct step {
    char *labels; /* as written, without braces: they identify the step */
    char *about;  /* labels of its account; "": none; NULL: from a page */
    int64_t start_ns, end_ns;
    double elapsed_s, covered;
    double budget_j, budget_used_j;
    enum origin origin;
    double running; /* 0 or 1 */
    struct domain domains[APAPI_DOMAINS];
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

/* To Prometheus, an empty label is the same as none. Control characters are not allowed in one. */
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

/* The labels that a page knows, too. */
static void put_labels(FILE *out, const struct apapi_identity *id)
{
    char job[16] = "";

    if (id->job != APAPI_UNKNOWN) {
        snprintf(job, sizeof job, "%u", id->job);
    }
    put_label(out, "cluster", id->cluster);
    put_label(out, "jobid", job);
    put_label(out, "step", id->step);
    put_label(out, "user", id->user);
    put_label(out, "node", id->node);
}

static void put_about(FILE *out, const struct apapi_identity *id)
{
    put_label(out, "account", id->account);
    put_label(out, "partition", id->partition);
    put_label(out, "qos", id->qos);
    put_label(out, "job_name", id->job_name);
}

/* @return a text to be freed; NULL: out of memory. */
static char *format(void (*put)(FILE *, const struct apapi_identity *),
                    const struct apapi_identity *id)
{
    char *labels = NULL;
    size_t size;
    FILE *out = open_memstream(&labels, &size);

    if (out) {
        put(out, id);
    }
    return text_of_stream(out, &labels, 0);
}

/* Sort by labels; of the same step, the preferred figures first. */
static int compare_labels(const void *left, const void *right)
{
    const struct step *a = left, *b = right;
    int order = strcmp(a->labels, b->labels);

    if (order == 0) {
        order = COMPARE(b->start_ns, a->start_ns);
    }
    if (order == 0) {
        order = (int)a->origin - (int)b->origin;
    }
    return order ? order : COMPARE(b->end_ns, a->end_ns);
}

/* Sort running steps first, then the newest. */
static int compare_ages(const void *left, const void *right)
{
    const struct step *a = left, *b = right;

    return a->running != b->running ? (int)(b->running - a->running)
                                    : COMPARE(b->end_ns, a->end_ns);
}

static void sort(struct prometheus *prometheus, int (*compare)(const void *, const void *))
{
    qsort(prometheus->steps, prometheus->count, sizeof *prometheus->steps, compare);
}

/* A page has the newest figures, the checkpoint of the same step has more of the identity. */
static void prometheus_learn(struct step *page, struct step *checkpoint)
{
    if (page->about || page->start_ns != checkpoint->start_ns) {
        return;
    }
    page->about = checkpoint->about;
    checkpoint->about = NULL;
    page->covered = checkpoint->covered;
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        page->domains[d].mean_w = checkpoint->domains[d].mean_w;
        page->domains[d].covered = checkpoint->domains[d].covered;
        page->domains[d].rest_j = checkpoint->domains[d].rest_j;
        page->domains[d].unknown =
            isnan(page->domains[d].energy_j) ? checkpoint->domains[d].unknown : NAN;
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

/* Keep only what is to be written, sorted. */
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

/* 0 is unknown, too. */
static double positive(double value)
{
    return value > 0 ? value : NAN;
}

int prometheus_add(struct prometheus *prometheus, const struct apapi_record *record, bool running)
{
    const struct apapi_measurement *m = &record->measurement;
    struct step step = {.labels = format(put_labels, &record->id),
                        .about = format(put_about, &record->id),
                        .start_ns = m->start_unix_ns,
                        .end_ns = m->start_unix_ns + (int64_t)m->elapsed_ns,
                        .elapsed_s = (double)m->elapsed_ns / NS_PER_S,
                        .covered = m->covered,
                        .budget_j = NAN,
                        .budget_used_j = NAN,
                        .origin = running ? CHECKPOINT : RECORD,
                        .running = running};

    for (int i = 0; i < APAPI_DOMAINS; i++) {
        const struct apapi_domain_result *result = &m->domains[i];

        step.domains[i] = (struct domain){.energy_j = result->measured ? result->energy_j : NAN,
                                          .mean_w = result->measured ? result->power_w.mean : NAN,
                                          .present_w = NAN,
                                          .covered = positive(result->covered),
                                          .rest_j = positive(result->rest_j),
                                          .unknown = m->unknown_domains & domain_bit(i) ? 1 : NAN};
    }
    return prometheus_add_step(prometheus, &step);
}

int prometheus_add_live(struct prometheus *prometheus, const struct prometheus_live *live)
{
    struct step step = {.labels = format(put_labels, live->id),
                        .start_ns = live->start_unix_ns,
                        .end_ns = live->start_unix_ns + (int64_t)(live->elapsed_s * NS_PER_S),
                        .elapsed_s = live->elapsed_s,
                        .covered = NAN,
                        .budget_j = positive(live->budget_j),
                        .budget_used_j = live->budget_j > 0 ? live->budget_used_j : NAN,
                        .origin = PAGE,
                        .running = live->running};

    for (int i = 0; i < APAPI_DOMAINS; i++) {
        step.domains[i] = (struct domain){.energy_j = live->energy_j[i],
                                          .mean_w = NAN,
                                          .present_w = live->power_w[i],
                                          .covered = NAN,
                                          .rest_j = NAN,
                                          .unknown = NAN};
    }
    return prometheus_add_step(prometheus, &step);
}

/* Metrics of a step, or of each of its domains. Names end with the unit, if there is one. */
static const struct family {
    const char *name, *type, *unit, *help;
    size_t offset; /* of the value in a step, or a domain; NaN: unknown */
    bool by_domain, about;
} families[] = {
    {"apapi_step_energy_joules", "counter", "joules",
     "Energy that the step has used on the node. Domains package, dram and gpu add up; core and "
     "uncore lie within package, psys and node around all.",
     IN_DOMAIN(energy_j), true, false},
    {"apapi_step_power_watts", "gauge", "watts", "Mean power of the step on the node.",
     IN_DOMAIN(mean_w), true, false},
    {"apapi_step_present_power_watts", "gauge", "watts",
     "Power of the running step on the node between the latest two readings.", IN_DOMAIN(present_w),
     true, false},
    {"apapi_step_elapsed_seconds", "gauge", "seconds",
     "Time that the step has been measured on the node.", IN_STEP(elapsed_s), false, false},
    {"apapi_step_covered_ratio", "gauge", "ratio",
     "Share of the step's time between good readings of the meters.", IN_STEP(covered), false,
     false},
    {"apapi_step_domain_covered_ratio", "gauge", "ratio",
     "Share of the step's time that the energy of a domain is of.", IN_DOMAIN(covered), true,
     false},
    {"apapi_step_rest_estimate_joules", "gauge", "joules",
     "Estimate of the energy in the other part of the time, in no other value.", IN_DOMAIN(rest_j),
     true, false},
    {"apapi_step_domain_unknown", "gauge", NULL,
     "Always 1. The domain has meters, and no energy that is known: sums over domains lack it.",
     IN_DOMAIN(unknown), true, false},
    {"apapi_step_budget_joules", "gauge", "joules",
     "Energy budget of the whole step, all its nodes. Of several the least.", IN_STEP(budget_j),
     false, false},
    {"apapi_step_budget_used_joules", "gauge", "joules",
     "Energy of all nodes of the step with a budget, as srun adds it up.", IN_STEP(budget_used_j),
     false, false},
    {"apapi_step_running", "gauge", NULL,
     "1: the step is running, and its values are as far as it has got; 0: it has ended.",
     IN_STEP(running), false, false},
    {"apapi_step_info", "gauge", NULL,
     "Always 1. What else is known of the step, as labels to join by the others.", 0, false, true},
};

static void prometheus_put_head(FILE *out, const struct family *family)
{
    fprintf(out, "# TYPE %s %s\n", family->name, family->type ? family->type : "gauge");
    if (family->unit) {
        fprintf(out, "# UNIT %s %s\n", family->name, family->unit);
    }
    fprintf(out, "# HELP %s %s\n", family->name, family->help);
}

static void put_sample(FILE *out, const struct family *family, const struct step *step, int domain)
{
    const char *base =
        family->by_domain ? (const char *)&step->domains[domain] : (const char *)step;
    const void *member = base + family->offset;
    double value =
        family->about ? (step->about && *step->about ? 1 : NAN) : *(const double *)member;

    if (!isfinite(value)) {
        return;
    }
    fprintf(out, "%s%s{%s", family->name, strcmp(family->type, "counter") == 0 ? "_total" : "",
            step->labels);
    if (family->by_domain) {
        fprintf(out, "%sdomain=\"%s\"", *step->labels ? "," : "",
                apapi_domain_name((enum apapi_domain)domain));
    }
    if (family->about) {
        fprintf(out, "%s%s", *step->labels ? "," : "", step->about);
    }
    fprintf(out, "} %.15g\n", value);
}

int prometheus_write(struct prometheus *prometheus, const struct prometheus_counts *counts,
                     FILE *out)
{
    const struct family numbers[] = {
        {.name = "apapi_steps_left_out", .help = "Steps that had no room here."},
        {.name = "apapi_records_skipped",
         .help = "Lines and files that are no records, or cannot be read."},
        {.name = "apapi_records_waiting",
         .help = "Records of steps that have ended, in the spool until they can be written."}};
    size_t values[COUNT_OF(numbers)];

    prometheus_settle(prometheus);
    for (size_t i = 0; i < COUNT_OF(families); i++) {
        int domains = families[i].by_domain ? APAPI_DOMAINS : 1;

        prometheus_put_head(out, &families[i]);
        for (size_t k = 0; k < prometheus->count; k++) {
            for (int domain = 0; domain < domains; domain++) {
                put_sample(out, &families[i], &prometheus->steps[k], domain);
            }
        }
    }
    values[0] = prometheus->left_out;
    values[1] = counts->skipped;
    values[2] = counts->waiting;
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        prometheus_put_head(out, &numbers[i]);
        fprintf(out, "%s %zu\n", numbers[i].name, values[i]);
    }
    fputs("# EOF\n", out);
    return ferror(out) ? -1 : 0;
}
