/* SPDX-License-Identifier: BSD-3-Clause */
#include "node/idle.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "base/text.h"

#define IDLE_MAGIC "APAPIID1"

/* @return site_w divided by the sum of the domains' least_w; NaN: none, or site_w is above it. */
static double idle_site_part(struct node_idle *idle)
{
    double sum_w = 0;

    for (int d = 0; d < APAPI_DOMAINS; d++) {
        if (apapi_domain_adds_up(d) && d != APAPI_DOMAIN_GPU && !isnan(idle->kept.least_w[d])) {
            sum_w += idle->kept.least_w[d];
        }
    }
    idle->refuse_w = sum_w > 0 && idle->site_w > sum_w ? sum_w : NAN;
    return sum_w > 0 && idle->site_w <= sum_w ? idle->site_w / sum_w : NAN;
}

static void idle_evaluate(struct node_idle *idle)
{
    double part = idle_site_part(idle), unused;

    for (int d = 0; d < APAPI_DOMAINS; d++) {
        idle->idle_w[d] = idle_power_w(&idle->kept.powers[d], &idle->error_w[d]);
        if (isnan(idle->idle_w[d]) && apapi_domain_adds_up(d)) {
            idle->idle_w[d] = part * idle->kept.least_w[d];
            idle->error_w[d] = 0;
        }
        if (isnan(idle->idle_w[d])) {
            idle->idle_w[d] = idle->kept.estimates[d].power_w;
            idle->error_w[d] = idle->kept.estimates[d].uncertainty_w;
        }
    }
    idle->cores = idle_power_w(&idle->kept.powers[APAPI_DOMAINS], &unused);
    idle->cores = isnan(idle->cores) ? 0 : idle->cores;
}

int node_spool_path(char path[PATH_MAX], const char *spool_dir, const char *node,
                    const char *suffix)
{
    return folder_check_name(node) || !*spool_dir ||
                   snprintf(path, PATH_MAX, "%s/%s%s", spool_dir, node, suffix) >= PATH_MAX
               ? -1
               : 0;
}

static bool idle_is_sound(const struct idle_power *power)
{
    double sum_s = 0;

    for (int i = 0; i < IDLE_BINS; i++) {
        if (!(power->bins[i].seconds >= 0) || !(power->bins[i].energy_j >= 0) ||
            !isfinite(power->bins[i].energy_j)) {
            return false;
        }
        sum_s += power->bins[i].seconds;
    }
    return isfinite(power->sum_s) && fabs(sum_s - power->sum_s) <= 1 + 0.01 * sum_s;
}

static bool peak_is_sound(const struct node_peak *peak)
{
    return *peak->name && memchr(peak->name, '\0', sizeof peak->name) && peak->most_w >= 0 &&
           isfinite(peak->most_w);
}

/* Replace values that cannot be true with unknown ones. */
static void idle_check(struct idle_kept *kept)
{
    size_t peaks = 0;

    for (int i = 0; i <= APAPI_DOMAINS; i++) {
        if (!idle_is_sound(&kept->powers[i])) {
            memset(&kept->powers[i], 0, sizeof kept->powers[i]);
        }
    }
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        const struct idle_estimate *estimate = &kept->estimates[d];

        if (!(estimate->power_w >= 0 && estimate->uncertainty_w >= 0 &&
              isfinite(estimate->power_w + estimate->uncertainty_w))) {
            kept->estimates[d] = (struct idle_estimate){NAN, NAN};
        }
        if (!(kept->least_w[d] > 0 && isfinite(kept->least_w[d]))) {
            kept->least_w[d] = NAN;
        }
    }
    while (peaks < NODE_PEAKS && peak_is_sound(&kept->peaks[peaks])) {
        peaks++;
    }
    memset(kept->peaks + peaks, 0, (NODE_PEAKS - peaks) * sizeof *kept->peaks);
}

void node_idle_load(struct node_idle *idle, const char *spool_dir, const char *node,
                    const char *site_w)
{
    struct idle_kept *kept = &idle->kept;
    char path[PATH_MAX];
    struct real_number number;
    FILE *stream = node_spool_path(path, spool_dir, node, ".idle") == 0 ? fopen(path, "re") : NULL;

    memset(idle, 0, sizeof *idle);
    if (!stream || fread(kept, sizeof *kept, 1, stream) != 1 || kept->size != sizeof *kept ||
        memcmp(kept->magic, IDLE_MAGIC, sizeof kept->magic) != 0) {
        memset(kept, 0xff, sizeof *kept); /* all numbers are NaN, and no name has a NUL */
    }
    if (stream) {
        fclose(stream);
    }
    memcpy(kept->magic, IDLE_MAGIC, sizeof kept->magic);
    kept->size = sizeof *kept;
    idle_check(kept);
    idle->site_w =
        site_w && real_number_parse(site_w, &number) == 0 && !*number.rest ? number.value : NAN;
    node_idle_interrupt(idle);
    idle_evaluate(idle);
}

int node_idle_save(const struct idle_kept *kept, const char *spool_dir, const char *node,
                   struct apapi_error *err)
{
    char path[PATH_MAX];

    return node_spool_path(path, spool_dir, node, ".idle")
               ? apapi_fail(err, EINVAL, "idle power: no place for it in spool_dir")
               : replace_file(path, 0600, (const char *)kept, sizeof *kept, err);
}

/* A slow meter moves in some intervals only; its energy is of all the time since it moved last. */
void node_idle_add(struct node_idle *idle, const double energy_j[APAPI_DOMAINS], double cpu_s,
                   double seconds)
{
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        double *since_s = &idle->since_s[d];

        *since_s += seconds;
        if (energy_j[d] > 0) {
            idle_add(&idle->kept.powers[d], energy_j[d] / *since_s, *since_s);
            *since_s = 0;
        }
    }
    idle_add(&idle->kept.powers[APAPI_DOMAINS], cpu_s / seconds, seconds);
    idle_evaluate(idle);
}

static void idle_bound_domain(struct node_idle *idle, int domain, double energy_j, double span_s)
{
    struct idle_window *window = &idle->windows[domain];
    struct idle_estimate estimate;

    window->energy_j += energy_j;
    window->seconds += span_s;
    if (window->seconds >= LEAST_S) {
        idle->kept.least_w[domain] =
            fmin(idle->kept.least_w[domain], window->energy_j / window->seconds);
        *window = (struct idle_window){0, 0};
    }
    idle_fit_add(&idle->fits[domain], energy_j / span_s, idle->spent_s[domain] / span_s, span_s);
    estimate = idle_fit_estimate(&idle->fits[domain]);
    if (estimate.power_w <= idle->kept.least_w[domain]) {
        idle->kept.estimates[domain] = estimate;
    }
}

void node_idle_bound(struct node_idle *idle, const double energy_j[APAPI_DOMAINS], double cpu_s,
                     const double span_s[APAPI_DOMAINS])
{
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        idle->spent_s[d] += cpu_s;
        if (energy_j[d] > 0) {
            idle_bound_domain(idle, d, energy_j[d], span_s[d]);
            idle->spent_s[d] = 0;
        }
    }
    idle_evaluate(idle);
}

void node_idle_interrupt(struct node_idle *idle)
{
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        idle->since_s[d] = NAN;
    }
}

double node_idle_w(const struct node_idle *idle)
{
    double sum_w = NAN;

    for (int d = 0; d < APAPI_DOMAINS; d++) {
        if (apapi_domain_adds_up(d) && !isnan(idle->idle_w[d])) {
            sum_w = (isnan(sum_w) ? 0 : sum_w) + idle->idle_w[d];
        }
    }
    return sum_w;
}
