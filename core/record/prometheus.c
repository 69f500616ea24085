/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/prometheus.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "record/text.h"

#define ROOM (4UL * PROMETHEUS_STEPS_MAX) /* steps that are kept while more may come */
#define NS_PER_S 1e9

struct domain {
    double energy_j, mean_w; /* NaN: unknown */
};

struct step {
    char *labels; /* as they are written, without braces: what tells steps apart */
    int64_t start_ns, end_ns;
    double elapsed_s, covered;
    bool running;
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

void prometheus_destroy(struct prometheus *prometheus)
{
    int saved_errno = errno;

    for (size_t i = 0; prometheus && i < prometheus->count; i++) {
        free(prometheus->steps[i].labels);
    }
    free(prometheus);
    errno = saved_errno;
}

static void put_escaped(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\n') {
            fputs("\\n", out);
            continue;
        }
        if (*text == '\\' || *text == '"') {
            fputc('\\', out);
        }
        fputc(*text, out);
    }
}

/* A label that is empty and one that is not there are the same to Prometheus. */
static void put_label(FILE *out, const char *name, const char *value)
{
    char valid[APAPI_TEXT_SIZE];

    if (*value) {
        text_utf8(valid, sizeof valid, value);
        fprintf(out, "%s%s=\"", ftell(out) > 0 ? "," : "", name);
        put_escaped(out, valid);
        fputc('"', out);
    }
}

/* @return to be freed; NULL: no memory. */
static char *format_labels(const struct apapi_identity *id)
{
    char *labels = NULL, job[16] = "";
    size_t size;
    FILE *out = open_memstream(&labels, &size);

    if (!out) {
        return NULL;
    }
    if (id->job != APAPI_UNKNOWN) {
        snprintf(job, sizeof job, "%u", id->job);
    }
    put_label(out, "cluster", id->cluster);
    put_label(out, "job", job);
    put_label(out, "step", id->step);
    put_label(out, "user", id->user);
    put_label(out, "account", id->account);
    put_label(out, "partition", id->partition);
    put_label(out, "node", id->node);
    if (fclose(out) == EOF) {
        free(labels);
        return NULL;
    }
    return labels;
}

static int compare_numbers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* By labels; of the same, the one that counts first. */
static int compare_labels(const void *left, const void *right)
{
    const struct step *a = left, *b = right;
    int order = strcmp(a->labels, b->labels);

    if (order == 0) {
        order = compare_numbers(b->start_ns, a->start_ns);
    }
    if (order == 0) {
        order = a->running - b->running;
    }
    return order ? order : compare_numbers(b->end_ns, a->end_ns);
}

/* The running ones first, then the newest. */
static int compare_ages(const void *left, const void *right)
{
    const struct step *a = left, *b = right;

    return a->running != b->running ? b->running - a->running
                                    : compare_numbers(b->end_ns, a->end_ns);
}

static void sort(struct prometheus *prometheus, int (*compare)(const void *, const void *))
{
    qsort(prometheus->steps, prometheus->count, sizeof *prometheus->steps, compare);
}

static void drop_twins(struct prometheus *prometheus)
{
    struct step *steps = prometheus->steps;
    size_t kept = 0;

    sort(prometheus, compare_labels);
    for (size_t i = 0; i < prometheus->count; i++) {
        if (kept > 0 && strcmp(steps[kept - 1].labels, steps[i].labels) == 0) {
            free(steps[i].labels);
        } else {
            steps[kept++] = steps[i];
        }
    }
    prometheus->count = kept;
}

/* Leave what is to be written, in its order. */
static void settle(struct prometheus *prometheus)
{
    drop_twins(prometheus);
    if (prometheus->count > PROMETHEUS_STEPS_MAX) {
        sort(prometheus, compare_ages);
        while (prometheus->count > PROMETHEUS_STEPS_MAX) {
            free(prometheus->steps[--prometheus->count].labels);
            prometheus->left_out++;
        }
        sort(prometheus, compare_labels);
    }
}

int prometheus_add(struct prometheus *prometheus, const struct apapi_record *record, bool running)
{
    const struct apapi_measurement *m = &record->measurement;
    struct step step = {.labels = format_labels(&record->id),
                        .start_ns = m->start_unix_ns,
                        .end_ns = m->start_unix_ns + (int64_t)m->elapsed_ns,
                        .elapsed_s = (double)m->elapsed_ns / NS_PER_S,
                        .covered = m->covered,
                        .running = running};

    if (!step.labels) {
        errno = ENOMEM;
        return -1;
    }
    for (int i = 0; i < APAPI_DOMAINS; i++) {
        const struct apapi_domain_result *result = &m->domains[i];

        step.domains[i].energy_j = result->measured ? result->energy_j : NAN;
        step.domains[i].mean_w = result->measured ? result->power_w.mean : NAN;
    }
    if (prometheus->count == ROOM) {
        settle(prometheus);
    }
    prometheus->steps[prometheus->count++] = step;
    return 0;
}

static double elapsed_s(const struct step *step, int domain)
{
    (void)domain;
    return step->elapsed_s;
}

static double covered(const struct step *step, int domain)
{
    (void)domain;
    return step->covered;
}

static double running(const struct step *step, int domain)
{
    (void)domain;
    return step->running;
}

static double energy_j(const struct step *step, int domain)
{
    return step->domains[domain].energy_j;
}

static double mean_w(const struct step *step, int domain)
{
    return step->domains[domain].mean_w;
}

/* Metrics of a step, or of each of its domains. Names end with the unit, if there is one. */
static const struct family {
    const char *name, *type, *unit, *help;
    double (*value)(const struct step *step, int domain); /* NaN: unknown */
    bool by_domain;
} families[] = {
    {"apapi_step_energy_joules", "counter", "joules",
     "Energy that the step has used on the node. Domains package, dram and gpu add up; core and "
     "uncore lie within package, psys and node around all.",
     energy_j, true},
    {"apapi_step_power_watts", "gauge", "watts", "Mean power of the step on the node.", mean_w,
     true},
    {"apapi_step_elapsed_seconds", "gauge", "seconds",
     "Time that the step has been measured on the node.", elapsed_s, false},
    {"apapi_step_covered_ratio", "gauge", "ratio",
     "Share of the step's time between good readings of the meters.", covered, false},
    {"apapi_step_running", "gauge", NULL,
     "1: the step is running, and its values are those of its last checkpoint; 0: it has ended.",
     running, false},
};

static void put_head(FILE *out, const struct family *family)
{
    fprintf(out, "# TYPE %s %s\n", family->name, family->type);
    if (family->unit) {
        fprintf(out, "# UNIT %s %s\n", family->name, family->unit);
    }
    fprintf(out, "# HELP %s %s\n", family->name, family->help);
}

static void put_sample(FILE *out, const struct family *family, const struct step *step, int domain)
{
    double value = family->value(step, domain);

    if (!isfinite(value)) {
        return;
    }
    fprintf(out, "%s%s{%s", family->name, strcmp(family->type, "counter") == 0 ? "_total" : "",
            step->labels);
    if (family->by_domain) {
        fprintf(out, "%sdomain=\"%s\"", *step->labels ? "," : "",
                apapi_domain_name((enum apapi_domain)domain));
    }
    fprintf(out, "} %.15g\n", value);
}

static void put_family(FILE *out, const struct family *family, const struct prometheus *prometheus)
{
    int domains = family->by_domain ? APAPI_DOMAINS : 1;

    put_head(out, family);
    for (size_t i = 0; i < prometheus->count; i++) {
        for (int domain = 0; domain < domains; domain++) {
            put_sample(out, family, &prometheus->steps[i], domain);
        }
    }
}

static void put_count(FILE *out, const char *name, const char *help, size_t count)
{
    const struct family family = {.name = name, .type = "gauge", .help = help};

    put_head(out, &family);
    fprintf(out, "%s %zu\n", name, count);
}

int prometheus_write(struct prometheus *prometheus, size_t skipped, FILE *out)
{
    settle(prometheus);
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        put_family(out, &families[i], prometheus);
    }
    put_count(out, "apapi_steps_left_out", "Steps that had no room here.", prometheus->left_out);
    put_count(out, "apapi_records_skipped",
              "Lines and files that are no records, or cannot be read.", skipped);
    fputs("# EOF\n", out);
    return ferror(out) ? -1 : 0;
}
