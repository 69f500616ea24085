/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/shared_page.h"
#include "record/members.h"
#include "record/record.h"
#include "regions/observe/observe.h"
#include "regions/observe/observer.h"

#define MEASURED 0.9    /* least part of its time in which a measured region is alone */
#define COMMON_MOST 0.1 /* largest part of its time in COLUMN_COMMON, for it to be told apart */
#define BANDS 6         /* regions whose share over time is kept */
#define AGAIN_NS UINT64_C(1000000000) /* the pause until the next results: the sum of this, */
#define AGAIN_PART 20                 /* a twentieth of the time so far, and */
#define AGAIN_COST 100 /* times the processor time of the results: 1 % of a processor at most */

/* The results of the fits, by domain and column. */
struct estimates {
    struct fit_part parts[APAPI_DOMAINS][FIT_COLUMNS];
    bool known[APAPI_DOMAINS];
    double factor[APAPI_DOMAINS]; /* from the fit's energy to the domain's in the record */
    double gaps_j[APAPI_DOMAINS]; /* uncertainty from gaps; their energy may be any region's */
    int main_domain;              /* the one with the most energy: its methods are named */
    struct fit copy;              /* the fit that is being solved */
};

/* @return standard deviation that a row has because counters move in steps. */
static double result_noise_j(const struct apapi_measurement *m, int domain, const struct fit *fit)
{
    double wall_s = fit->sums.x[FIT_OUTSIDE] + fit->sums.x[FIT_INSIDE];
    uint64_t update_ns = m ? m->domains[domain].update_ns : 0;

    return wall_s > 0 ? fit->sums.y / wall_s * (double)update_ns / NS_PER_S * FIT_UPDATE_NOISE : 0;
}

/* @return uncertainty [J]: what was drawn without readings may be the energy of any region. */
static double result_gaps_j(const struct apapi_domain_result *domain)
{
    return coverage_is_low(domain->covered) ? domain->uncertainty_j
           : domain->covered > 0
               ? fmin(domain->energy_j * (1 - domain->covered), domain->uncertainty_j)
               : 0;
}

/* Solve the fits. Their rows are copied first, so that the readings do not wait. */
static int result_estimate(struct observer *observer, const struct apapi_measurement *m,
                           struct estimates *estimates)
{
    double most_j = -1;

    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        if (!observer->domains[d].fit) {
            continue;
        }
        pthread_mutex_lock(&observer->lock);
        estimates->copy = *observer->domains[d].fit;
        pthread_mutex_unlock(&observer->lock);
        if (estimates->copy.sums.rows == 0) {
            continue;
        }
        if (fit_solve(&estimates->copy, result_noise_j(m, d, &estimates->copy),
                      estimates->parts[d])) {
            return -1;
        }
        estimates->known[d] = true;
        estimates->factor[d] = 1;
        if (m && m->domains[d].measured && estimates->copy.sums.y > 0) {
            estimates->factor[d] = m->domains[d].energy_j / estimates->copy.sums.y;
        }
        estimates->gaps_j[d] = m && m->domains[d].measured ? result_gaps_j(&m->domains[d]) : 0;
        if (apapi_domain_adds_up(d) && estimates->copy.sums.y > most_j) {
            most_j = estimates->copy.sums.y;
            estimates->main_domain = d;
        }
    }
    return 0;
}

static struct apapi_region_energy result_energy(const struct observer *observer,
                                                const struct estimates *estimates, int domain,
                                                size_t column, double time_s)
{
    const struct fit_part *part = &estimates->parts[domain][column];
    double column_s = observer->times_s[column];
    double share = column == FIT_OUTSIDE ? 1 : column_s > 0 ? time_s / column_s : 0;
    struct apapi_region_energy energy = {NAN, NAN, NAN};

    if (estimates->known[domain] && !isnan(part->energy_j) && isfinite(estimates->factor[domain])) {
        energy.energy_j = part->energy_j * share * estimates->factor[domain];
        energy.uncertainty_j =
            part->within_j * estimates->factor[domain] + estimates->gaps_j[domain];
        if (column == COLUMN_COMMON) {
            energy.uncertainty_j = fmax(energy.energy_j, energy.uncertainty_j * share);
        }
        energy.power_w = time_s > 0 ? energy.energy_j / time_s : NAN;
    }
    return energy;
}

/* @return a name for a column: that of a node which has the column. */
static const char *result_name_of(const struct observer *observer, size_t column)
{
    if (column == COLUMN_UNMARKED) {
        return "unmarked code";
    }
    if (column == FIT_OUTSIDE) {
        return "idle";
    }
    for (size_t i = NODES_FIRST; i < observer->nodes.count; i++) {
        if (observer->columns[i] == column) {
            return observer->nodes.list[i].name;
        }
    }
    return "others";
}

static void result_explain(const struct observer *observer, const struct estimates *estimates,
                           size_t column, struct apapi_region_result *region)
{
    int d = estimates->main_domain;
    const struct fit_part *part = &estimates->parts[d][column];

    if (d == APAPI_DOMAIN_NONE || isnan(region->domains[d].energy_j)) {
        region->method = APAPI_REGION_UNKNOWN;
        snprintf(region->reason, sizeof region->reason, "no meter was read while it ran");
    } else if (column == COLUMN_COMMON) {
        region->method = APAPI_REGION_SHARED;
        snprintf(region->reason, sizeof region->reason, "too many regions to tell it apart");
    } else if (part->pure >= MEASURED) {
        region->method = APAPI_REGION_MEASURED;
    } else if (part->with == column) {
        region->method = APAPI_REGION_ESTIMATED;
    } else {
        region->method = APAPI_REGION_SHARED;
        snprintf(region->reason, sizeof region->reason, "not told apart from %.70s",
                 result_name_of(observer, part->with));
    }
}

static void result_sum(struct apapi_region_energy *sum, const struct apapi_region_energy *more)
{
    sum->energy_j = more->energy_j + (isnan(sum->energy_j) ? 0 : sum->energy_j);
    sum->uncertainty_j = more->uncertainty_j + (isnan(sum->uncertainty_j) ? 0 : sum->uncertainty_j);
}

/* Add the energy of the time before the node got its column. */
static void result_add_common(const struct observer *observer, const struct estimates *estimates,
                              size_t node, struct apapi_region_result *region)
{
    double time_s = observer->nodes.list[node].time_s;

    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        const struct apapi_region_energy more =
            result_energy(observer, estimates, d, COLUMN_COMMON, observer->common_s[node]);

        if (!isnan(more.energy_j)) {
            result_sum(&region->domains[d], &more);
            region->domains[d].power_w = time_s > 0 ? region->domains[d].energy_j / time_s : NAN;
        }
    }
    region->time_ns = (uint64_t)(time_s * NS_PER_S);
    if (observer->common_s[node] > COMMON_MOST * time_s) {
        region->method = APAPI_REGION_SHARED;
        snprintf(region->reason, sizeof region->reason, "too many regions to tell it apart");
    }
}

static void result_put(const struct observer *observer, const struct estimates *estimates,
                       size_t column, double time_s, struct apapi_region_result *region)
{
    region->time_ns = (uint64_t)(time_s * NS_PER_S);
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        region->domains[d] = result_energy(observer, estimates, d, column, time_s);
    }
    result_explain(observer, estimates, column, region);
}

static struct apapi_region_result result_node(const struct observer *observer,
                                              const struct estimates *estimates, size_t node)
{
    const struct nodes_one *one = &observer->nodes.list[node];
    struct apapi_region_result region = region_unmeasured();
    size_t column = observer->columns[node];
    double common_s = column == COLUMN_COMMON ? 0 : observer->common_s[node];

    region.kind = node == NODES_UNMARKED ? APAPI_REGION_UNMARKED
                  : node == NODES_REST   ? APAPI_REGION_REST
                                         : APAPI_REGION_NAMED;
    nodes_path(&observer->nodes, node, region.path);
    region.count = one->count;
    region.programs = one->programs;
    region.threads = one->threads;
    if (column == COLUMN_NONE) {
        snprintf(region.reason, sizeof region.reason, "it had no time of its own");
        return region;
    }
    result_put(observer, estimates, column, fmax(one->time_s - common_s, 0), &region);
    if (common_s > 0) {
        result_add_common(observer, estimates, node, &region);
    }
    return region;
}

/* Order by kind, then by energy and by time, the highest first, then by name. */
static int result_compare(const void *a, const void *b)
{
    const struct apapi_region_result *left = a, *right = b;
    double left_j = apapi_region_energy_j(left), right_j = apapi_region_energy_j(right);

    left_j = isnan(left_j) ? 0 : left_j;
    right_j = isnan(right_j) ? 0 : right_j;
    if (left->kind != right->kind) {
        return left->kind < right->kind ? -1 : 1;
    }
    if (left_j != right_j) {
        return left_j > right_j ? -1 : 1;
    }
    if (left->time_ns != right->time_ns) {
        return left->time_ns > right->time_ns ? -1 : 1;
    }
    return strcmp(left->path, right->path);
}

static void result_add(struct apapi_region_result *rest, const struct apapi_region_result *one)
{
    rest->count += one->count;
    rest->time_ns += one->time_ns;
    rest->programs = rest->programs > one->programs ? rest->programs : one->programs;
    rest->threads = rest->threads > one->threads ? rest->threads : one->threads;
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        if (!isnan(one->domains[d].energy_j)) {
            result_sum(&rest->domains[d], &one->domains[d]);
            rest->domains[d].power_w = region_power_w(rest, d);
        }
    }
    if (rest->method < one->method) {
        rest->method = one->method;
        memcpy(rest->reason, one->reason, sizeof rest->reason);
    }
}

/* Sort the list, and move what exceeds APAPI_REGIONS_MAX to the rest. It has room for one more. */
static void result_cut(struct apapi_regions *regions)
{
    struct apapi_region_result *list = regions->list, rest = region_unmeasured();
    size_t named = 0, others, cut;

    qsort(list, regions->count, sizeof(*list), result_compare);
    while (named < regions->count && list[named].kind == APAPI_REGION_NAMED) {
        named++;
    }
    if (named <= APAPI_REGIONS_MAX) {
        return;
    }
    cut = named - APAPI_REGIONS_MAX;
    others = regions->count - named;
    rest.kind = APAPI_REGION_REST;
    rest.programs = rest.threads = 0;
    for (size_t i = APAPI_REGIONS_MAX; i < named; i++) {
        result_add(&rest, &list[i]);
    }
    memmove(&list[APAPI_REGIONS_MAX], &list[named], others * sizeof(*list));
    regions->count -= cut;
    regions->losses.regions += cut;
    if (list[regions->count - 1].kind == APAPI_REGION_REST) {
        result_add(&list[regions->count - 1], &rest);
    } else {
        list[regions->count++] = rest;
    }
}

/* --- over time ------------------------------------------------------------------------------ */

/* Compute the energy of each bin from the power of the columns [J]. */
static void bands_sum(const struct bands *bands, const double power_w[FIT_COLUMNS],
                      double sum_j[APAPI_REGION_BINS])
{
    for (size_t bin = 0; bin < APAPI_REGION_BINS; bin++) {
        sum_j[bin] = 0;
        for (size_t column = 0; column < FIT_COLUMNS; column++) {
            sum_j[bin] += power_w[column] * (double)bands->time_s[bin][column];
        }
    }
}

/* Compute a region's share of the energy of each bin. */
static void bands_share(const struct bands *bands, size_t column, double power_w,
                        const double sum_j[APAPI_REGION_BINS], struct apapi_region_result *region)
{
    region->bins = 0;
    region->bin_ns = bands->bin_ns;
    for (uint32_t bin = 0; bin < APAPI_REGION_BINS; bin++) {
        double own_j = power_w * (double)bands->time_s[bin][column];
        double pct = sum_j[bin] > 0 ? fmin(round(100 * own_j / sum_j[bin]), 100) : 0;

        region->share_pct[bin] = (uint8_t)pct;
        region->bins = pct > 0 ? bin + 1 : region->bins;
    }
}

/* @return energy of a column in all domains that add up [J]. */
static double result_column_j(const struct estimates *estimates, size_t column)
{
    double sum_j = 0;

    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        double energy_j = estimates->parts[d][column].energy_j * estimates->factor[d];

        if (apapi_domain_adds_up(d) && estimates->known[d] && isfinite(energy_j)) {
            sum_j += energy_j;
        }
    }
    return sum_j;
}

static void result_fill(const struct observer *observer, const struct estimates *estimates,
                        struct apapi_regions *regions)
{
    double power_w[FIT_COLUMNS] = {0}, sum_j[APAPI_REGION_BINS], idle_s;
    int main_domain = estimates->main_domain;
    bool constant = main_domain != APAPI_DOMAIN_NONE &&
                    estimates->parts[main_domain][FIT_INSIDE].with == FIT_OUTSIDE;
    struct apapi_region_result idle = region_unmeasured();

    for (size_t column = FIT_PARTS; column < FIT_COLUMNS; column++) {
        double time_s = observer->times_s[column];

        power_w[column] = time_s > 0 ? result_column_j(estimates, column) / time_s : 0;
    }
    /* the constant part of the power is drawn inside and outside of the threads */
    idle_s = observer->times_s[FIT_OUTSIDE] + (constant ? observer->times_s[FIT_INSIDE] : 0);
    power_w[FIT_OUTSIDE] = idle_s > 0 ? result_column_j(estimates, FIT_OUTSIDE) / idle_s : 0;
    power_w[FIT_INSIDE] = constant ? power_w[FIT_OUTSIDE] : 0;
    bands_sum(&observer->bands, power_w, sum_j);
    for (size_t i = 0; i < observer->nodes.count; i++) {
        const struct nodes_one *one = &observer->nodes.list[i];
        size_t column = observer->columns[i];

        if (one->time_s > 0 || one->count > 0) {
            struct apapi_region_result *region = &regions->list[regions->count++];

            *region = result_node(observer, estimates, i);
            if (column > COLUMN_COMMON) {
                bands_share(&observer->bands, column, power_w[column], sum_j, region);
            }
        }
    }
    idle.kind = APAPI_REGION_IDLE;
    result_put(observer, estimates, FIT_OUTSIDE, idle_s, &idle);
    regions->list[regions->count] = idle;
    regions->count += idle.time_ns > 0;
    regions->losses.names += observer->nodes.lost;
    result_cut(regions);
    for (size_t i = 0; i < regions->count; i++) { /* the highest energies come first */
        if (i >= BANDS || regions->list[i].kind != APAPI_REGION_NAMED) {
            regions->list[i].bins = 0;
        }
    }
}

/* No column may change from the copying of the rows until their results have been used. */
static void result_hold(struct observer *observer, int holders)
{
    pthread_mutex_lock(&observer->lock);
    observer->held += (unsigned)holders;
    pthread_mutex_unlock(&observer->lock);
}

int observe_result(struct observer *observer, const struct apapi_measurement *m,
                   struct apapi_regions *result)
{
    struct apapi_regions regions = {.losses = observer->losses};
    struct fom_sums foms = observer->foms;
    struct estimates *estimates = NULL;
    int rc;

    for (size_t i = 0; i < observer->shell_foms.count; i++) {
        regions.losses.names += !foms_add(&foms, &observer->shell_foms.list[i]);
    }
    for (const struct observed *program = observer->programs; program; program = program->next) {
        regions.losses.names += foms_add_program(&foms, program);
    }
    regions.foms = array_copy(foms.list, foms.count, sizeof(*regions.foms));
    regions.fom_count = regions.foms ? foms.count : 0;
    rc = regions.fom_count == foms.count ? 0 : -1;
    result_hold(observer, 1);
    if (rc == 0 && atomic_load(&observer->active)) {
        estimates = calloc(1, sizeof(*estimates));
        regions.list = calloc(observer->nodes.count + 2, sizeof(*regions.list));
        rc = estimates && regions.list ? result_estimate(observer, m, estimates) : -1;
    }
    if (rc == 0 && estimates) {
        pthread_mutex_lock(&observer->lock);
        result_fill(observer, estimates, &regions);
        pthread_mutex_unlock(&observer->lock);
    }
    result_hold(observer, -1);
    free(estimates);
    if (rc < 0) {
        apapi_regions_clear(&regions);
        errno = ENOMEM;
        return -1;
    }
    *result = regions;
    return 0;
}

uint64_t observe_publish(struct observer *observer, uint64_t now_ns)
{
    uint64_t start_ns = observer->live->head.start_ns, cpu_ns = clock_thread_cpu_ns();
    struct estimates *estimates = calloc(1, sizeof(*estimates));
    struct page_result *rows = calloc(NODES_MAX, sizeof(*rows));

    result_hold(observer, 1);
    if (estimates && rows && result_estimate(observer, NULL, estimates) == 0) {
        pthread_mutex_lock(&observer->lock);
        for (size_t node = 0; node < observer->nodes.count; node++) {
            const struct apapi_region_result region = result_node(observer, estimates, node);

            for (int d = 0; d < APAPI_DOMAINS; d++) {
                rows[node].power_w[d] = region.domains[d].power_w;
            }
        }
        for (struct observed *program = observer->programs; program; program = program->next) {
            for (uint32_t i = 0; program->results && i < program->known; i++) {
                shared_record_write(&program->results->nodes[i], &rows[program->node[i]],
                                    sizeof *rows);
            }
            if (program->results) { /* the result page gets memory only where rows are written */
                shared_record_write(&program->results->nodes[PAGE_REST], &rows[NODES_REST],
                                    sizeof *rows);
            }
        }
        pthread_mutex_unlock(&observer->lock);
    }
    result_hold(observer, -1);
    free(rows);
    free(estimates);
    return now_ns + AGAIN_NS + (now_ns > start_ns ? (now_ns - start_ns) / AGAIN_PART : 0) +
           AGAIN_COST * (clock_thread_cpu_ns() - cpu_ns);
}
