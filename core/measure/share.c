/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/share.h"

#include <stdbool.h>
#include <string.h>

static double share_cpu_time(const struct share_step *step)
{
    return step->cpu_s;
}

/* @return the CPU time of daemons and of processes outside all steps [s] */
static double share_cpu_others(const struct share_interval *interval, double steps)
{
    return fmax(interval->cpu_s - steps, isnan(interval->cpu_s) ? NAN : 0);
}

static double share_core_time(const struct share_step *step)
{
    return step->cores * step->seconds;
}

const struct share_method share_methods[] = {{"cpu-time", share_cpu_time, share_cpu_others},
                                             {"equal-cores", share_core_time, NULL},
                                             {NULL, NULL, NULL}};

const struct share_method *share_method_find(const char *name)
{
    for (const struct share_method *method = share_methods; method->name; method++) {
        if (strcmp(method->name, name) == 0) {
            return method;
        }
    }
    return NULL;
}

const char *share_idle_name(enum share_idle idle)
{
    return idle == SHARE_IDLE_CORES ? "cores" : "apart";
}

/* The part of a step is its weight / `whole`. Unknown weights count as those of other processes. */
struct share_division {
    double (*weight)(const struct share_step *step);
    double whole; /* 0: no step is given a part */
};

/* The parts of an energy: idle, and given to steps. */
struct share_split {
    double idle_j, steps_j;
};

/* An interval while it is divided. */
struct share_work {
    const struct share_rule *rule;
    const struct share_interval *interval;
    struct share_step *steps;
    size_t count;
    struct share_division dynamic, cores;
    double inner_j, inner_idle_j; /* of the domains that add up */
};

static double share_weight(double (*weight)(const struct share_step *step),
                           const struct share_step *step)
{
    double value = weight(step);

    return value > 0 ? value : 0; /* also for NaN */
}

/* @param all  result: whether every weight is known */
static double share_weight_sum(double (*weight)(const struct share_step *step),
                               const struct share_work *work, bool *all)
{
    double sum = 0;

    *all = true;
    for (size_t i = 0; i < work->count; i++) {
        sum += share_weight(weight, &work->steps[i]);
        *all = *all && !isnan(weight(&work->steps[i]));
    }
    return sum;
}

/* If neither a step's weight nor that of all processes is known, no part is known. */
static struct share_division share_by_method(const struct share_work *work)
{
    const struct share_method *method = work->rule->method;
    bool all;
    double sum = share_weight_sum(method->weight, work, &all);
    double others = method->others ? method->others(work->interval, sum) : 0;

    if (isnan(others)) {
        others = 0;
        sum = all ? sum : 0;
    }
    return (struct share_division){method->weight, sum + others};
}

/* The whole is all cores of the node for the whole interval; more if steps share cores. */
static struct share_division share_by_cores(const struct share_work *work)
{
    bool all;
    double sum = share_weight_sum(share_core_time, work, &all);
    double node = work->interval->cores * work->interval->seconds;

    return (struct share_division){share_core_time, fmax(sum, node)};
}

static void share_give_step(struct share_step *step, int domain, double energy_j, double idle_j)
{
    step->energy_j[domain] += energy_j;
    step->idle_j[domain] += idle_j;
    if (apapi_domain_adds_up(domain)) {
        step->inner_j += energy_j;
        step->inner_idle_j += idle_j;
    }
}

static double share_span_s(const struct share_interval *interval, int domain)
{
    return interval->span_s[domain] > 0 ? interval->span_s[domain] : interval->seconds;
}

/*
 * Give each step its part of an energy, dynamic or idle. Note the parts, unless those of dynamic
 * energy are not known. @return the energy given to all steps [J]
 */
static double share_give(const struct share_work *work, const struct share_division *division,
                         int domain, double energy_j, bool idle)
{
    double given_j = 0, span_s = share_span_s(work->interval, domain);
    double whole_j = apapi_domain_adds_up(domain) ? work->interval->energy_j[domain] : 0;

    for (size_t i = 0; i < work->count && division->whole > 0; i++) {
        struct share_step *step = &work->steps[i];
        double part = share_weight(division->weight, step) / division->whole;
        double part_j = energy_j * part, noted = work->dynamic.whole > 0 ? part : 0;

        share_give_step(step, domain, part_j, idle ? part_j : 0);
        given_j += part_j;
        (idle ? step->cores_s : step->dynamic_s)[domain] += noted * span_s;
        *(idle ? &step->inner_cores_j : &step->inner_dynamic_j) += noted * whole_j;
    }
    return given_j;
}

static struct share_split share_processors(const struct share_work *work, int domain)
{
    const struct share_interval *interval = work->interval;
    double energy_j = interval->energy_j[domain], idle_w = interval->idle_w[domain];
    double idle_j = isnan(idle_w) ? 0 : fmin(energy_j, idle_w * share_span_s(interval, domain));
    double shared_j = 0, given_j;

    if (work->rule->idle == SHARE_IDLE_CORES) {
        shared_j = share_give(work, &work->cores, domain, idle_j, true);
    }
    given_j = share_give(work, &work->dynamic, domain, energy_j - idle_j, false);
    return (struct share_split){idle_j - shared_j, shared_j + given_j};
}

/* @return the part of a GPU that a step has, 0..1 */
static double share_gpu_part(const struct share_work *work, size_t step, unsigned gpu)
{
    const uint8_t *slices = work->steps[step].slices, *all = work->interval->gpu_slices;

    if (!(work->steps[step].gpus >> gpu & 1)) {
        return 0;
    }
    return slices && all && slices[gpu] && all[gpu] ? fmin(1, (double)slices[gpu] / all[gpu]) : 1;
}

/* Divide the energy of a GPU. Slices, or a whole GPU, that no step has are idle. */
static void share_one_gpu(const struct share_work *work, unsigned gpu, double energy_j,
                          struct share_split *split)
{
    double parts = 0, whole, given_j = 0;

    for (size_t i = 0; i < work->count; i++) {
        parts += share_gpu_part(work, i, gpu);
    }
    whole = fmax(1, parts);
    for (size_t i = 0; i < work->count; i++) {
        double part_j = energy_j * (share_gpu_part(work, i, gpu) / whole);

        if (part_j > 0) {
            share_give_step(&work->steps[i], APAPI_DOMAIN_GPU, part_j, 0);
            given_j += part_j;
        }
    }
    split->steps_j += given_j;
    split->idle_j += energy_j - given_j;
}

/* @return the factor that makes the GPUs' energies add up to no more than the domain's. */
static double share_gpu_scale(const struct share_interval *interval)
{
    double sum_j = 0;

    for (unsigned gpu = 0; gpu < SHARE_GPUS_MAX; gpu++) {
        sum_j += interval->gpu_j[gpu] > 0 ? interval->gpu_j[gpu] : 0;
    }
    return sum_j > 0 ? fmin(1, interval->energy_j[APAPI_DOMAIN_GPU] / sum_j) : 0;
}

static struct share_split share_gpus(const struct share_work *work)
{
    double scale = share_gpu_scale(work->interval);
    struct share_split split = {0, 0};

    for (unsigned gpu = 0; gpu < SHARE_GPUS_MAX; gpu++) {
        if (work->interval->gpu_j[gpu] > 0) {
            share_one_gpu(work, gpu, work->interval->gpu_j[gpu] * scale, &split);
        }
    }
    return split;
}

/* Divide a domain that contains others (psys, node) like the sum of these. */
static struct share_split share_around(const struct share_work *work, int domain)
{
    double scale = work->interval->energy_j[domain] / work->inner_j;
    double span_s = share_span_s(work->interval, domain);
    struct share_split split = {work->inner_idle_j * scale, 0};

    for (size_t i = 0; i < work->count; i++) {
        struct share_step *step = &work->steps[i];

        share_give_step(step, domain, step->inner_j * scale, step->inner_idle_j * scale);
        step->dynamic_s[domain] += step->inner_dynamic_j / work->inner_j * span_s;
        step->cores_s[domain] += step->inner_cores_j / work->inner_j * span_s;
        split.steps_j += step->inner_j * scale;
    }
    return split;
}

static struct share_split share_split_of(const struct share_work *work, int domain)
{
    if (work->count == 0) {
        return (struct share_split){work->interval->energy_j[domain], 0};
    }
    switch (domain) {
    case APAPI_DOMAIN_GPU:
        return share_gpus(work);
    case APAPI_DOMAIN_PSYS:
    case APAPI_DOMAIN_NODE:
        return work->inner_j > 0 ? share_around(work, domain) : share_processors(work, domain);
    default:
        return share_processors(work, domain);
    }
}

/* The domains around the others have the last numbers. */
_Static_assert(APAPI_DOMAIN_PSYS > APAPI_DOMAIN_GPU && APAPI_DOMAIN_NODE > APAPI_DOMAIN_GPU,
               "parts come before what they are parts of");

void share_divide(const struct share_rule *rule, const struct share_interval *interval,
                  struct share_step *steps, size_t count, struct share_totals *totals)
{
    struct share_work work = {.rule = rule, .interval = interval, .steps = steps, .count = count};

    work.dynamic = share_by_method(&work);
    work.cores = share_by_cores(&work);
    for (size_t i = 0; i < count; i++) {
        steps[i].inner_j = steps[i].inner_idle_j = 0;
        steps[i].inner_dynamic_j = steps[i].inner_cores_j = 0;
    }
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        double energy_j = interval->energy_j[d];

        if (energy_j >= 0) {
            struct share_split split = share_split_of(&work, d);

            totals->energy_j[d] += energy_j;
            totals->steps_j[d] += split.steps_j;
            totals->idle_j[d] += split.idle_j;
            totals->unattributed_j[d] += fmax(0, energy_j - split.steps_j - split.idle_j);
            work.inner_j += apapi_domain_adds_up(d) ? energy_j : 0;
            work.inner_idle_j += apapi_domain_adds_up(d) ? split.idle_j : 0;
        }
    }
}

/* Idle power. */

#define IDLE_PART 0.1
#define IDLE_HALF 0.5

static unsigned idle_number(double power_w)
{
    int octave;
    double fraction = frexp(power_w, &octave); /* 0.5 <= fraction < 1 */
    double number = (octave - 1 - IDLE_LEAST + 2 * (fraction - 0.5)) * IDLE_BINS_PER_OCTAVE;

    if (number < 0) {
        return 0;
    }
    return number < IDLE_BINS ? (unsigned)number : IDLE_BINS - 1;
}

static void idle_halve(struct idle_power *idle)
{
    idle->sum_s = 0;
    for (unsigned i = 0; i < IDLE_BINS; i++) {
        idle->bins[i].seconds /= 2;
        idle->bins[i].energy_j /= 2;
        idle->sum_s += idle->bins[i].seconds;
    }
}

void idle_add(struct idle_power *idle, double power_w, double seconds)
{
    struct idle_bin *bin;

    if (!(power_w > 0) || !(seconds > 0) || !isfinite(power_w) || !isfinite(seconds)) {
        return;
    }
    bin = &idle->bins[idle_number(power_w)];
    bin->seconds += (float)seconds;
    bin->energy_j += (float)(power_w * seconds);
    idle->sum_s += seconds;
    if (idle->sum_s > IDLE_MEMORY_S) {
        idle_halve(idle);
    }
}

/* @return the power that was not exceeded in this part of the time [W]; NaN: not known */
static double idle_quantile_w(const struct idle_power *idle, double part)
{
    double sum_s = 0;

    for (unsigned i = 0; i < IDLE_BINS; i++) {
        sum_s += idle->bins[i].seconds;
        if (sum_s >= part * idle->sum_s && idle->bins[i].seconds > 0) {
            return idle->bins[i].energy_j / idle->bins[i].seconds;
        }
    }
    return NAN;
}

double idle_power_w(const struct idle_power *idle, double *error_w)
{
    double power_w = idle->sum_s < IDLE_ENOUGH_S ? NAN : idle_quantile_w(idle, IDLE_PART);

    *error_w = idle_quantile_w(idle, IDLE_HALF) - power_w;
    return power_w;
}

/* Idle power of a busy node. */

#define FIT_BLOCKS_MIN 8
#define FIT_BLOCK_MAX_S 3600.0
#define FIT_VARIED 0.08  /* least standard deviation / mean of CPU time: it varied by a third */
#define FIT_GOOD 0.1     /* greatest uncertainty / dynamic power */
#define FIT_LINEAR 0.05  /* error / dynamic power: a second of CPU time has no constant power */
#define FIT_QUANTILE 2.4 /* two-sided 95 % of Student's t for 7 degrees of freedom */

static void idle_block_add(struct idle_block *sum, const struct idle_block *more, double sign)
{
    sum->seconds += sign * more->seconds;
    sum->cores_s += sign * more->cores_s;
    sum->cores2_s += sign * more->cores2_s;
    sum->energy_j += sign * more->energy_j;
    sum->cores_j += sign * more->cores_j;
}

/* Join blocks in pairs. Blocks of an hour are not joined: the first one is dropped. */
static void idle_fit_make_room(struct idle_fit *fit)
{
    bool join = fit->block_s < FIT_BLOCK_MAX_S;

    for (unsigned i = 0; i < IDLE_BLOCKS - (join ? 0U : 1U); i++) {
        if (!join) {
            fit->blocks[i] = fit->blocks[i + 1];
        } else if (i % 2 == 0) {
            fit->blocks[i / 2] = fit->blocks[i];
        } else {
            idle_block_add(&fit->blocks[i / 2], &fit->blocks[i], 1);
        }
    }
    fit->count = join ? IDLE_BLOCKS / 2 : IDLE_BLOCKS - 1;
    fit->block_s *= join ? 2 : 1;
}

void idle_fit_add(struct idle_fit *fit, double power_w, double cores, double seconds)
{
    const struct idle_block more = {seconds, cores * seconds, cores * cores * seconds,
                                    power_w * seconds, power_w * cores * seconds};

    if (!(power_w > 0) || !(cores >= 0) || !(seconds > 0) || !isfinite(more.cores_j) ||
        !isfinite(more.cores2_s)) {
        return;
    }
    if (fit->count == 0 || fit->blocks[fit->count - 1].seconds >= fit->block_s) {
        if (fit->count == IDLE_BLOCKS) {
            idle_fit_make_room(fit);
        }
        fit->block_s = fit->count == 0 ? IDLE_BLOCK_S : fit->block_s;
        fit->blocks[fit->count++] = (struct idle_block){0};
    }
    idle_block_add(&fit->blocks[fit->count - 1], &more, 1);
}

/* @return the power without CPU time [W]; NaN: CPU time has not varied */
static double idle_intercept_w(const struct idle_block *sum)
{
    double cores = sum->cores_s / sum->seconds, power_w = sum->energy_j / sum->seconds;
    double variance = sum->cores2_s / sum->seconds - cores * cores;
    double slope_w = (sum->cores_j / sum->seconds - power_w * cores) / variance;

    return variance > 1e-9 && slope_w > 0 ? power_w - slope_w * cores : NAN;
}

struct idle_estimate idle_fit_estimate(const struct idle_fit *fit)
{
    struct idle_estimate estimate = {NAN, NAN};
    struct idle_block sum = {0};
    double count = fit->count, mean_w = 0, square = 0, cores, idle_w, dynamic_w;

    for (unsigned i = 0; i < fit->count; i++) {
        idle_block_add(&sum, &fit->blocks[i], 1);
    }
    cores = sum.cores_s / sum.seconds;
    idle_w = idle_intercept_w(&sum);
    dynamic_w = sum.energy_j / sum.seconds - idle_w;
    if (fit->count < FIT_BLOCKS_MIN || isnan(idle_w) ||
        sum.cores2_s / sum.seconds - cores * cores < FIT_VARIED * FIT_VARIED * cores * cores) {
        return estimate;
    }
    for (unsigned i = 0; i < fit->count; i++) { /* jackknife: each block is left out */
        struct idle_block rest = sum;
        double rest_w;

        idle_block_add(&rest, &fit->blocks[i], -1);
        rest_w = idle_intercept_w(&rest);
        mean_w += rest_w / count;
        square += rest_w * rest_w / count;
    }
    estimate.uncertainty_w = FIT_QUANTILE * sqrt(fmax(0, square - mean_w * mean_w) * (count - 1)) +
                             FIT_LINEAR * dynamic_w;
    if (estimate.uncertainty_w <= FIT_GOOD * dynamic_w && idle_w >= -estimate.uncertainty_w) {
        estimate.power_w = fmax(idle_w, 0);
        return estimate;
    }
    return (struct idle_estimate){NAN, NAN};
}
