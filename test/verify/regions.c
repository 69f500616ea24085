/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * apapi-verify-regions: how often the uncertainty of a region's energy covers the error in programs
 * that are simulated. In most, no single power describes a region: it depends on the length of a
 * pass, on its share of the time, on other threads, on what else the machine does, or it changes
 * during the run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "measure/fit.h"
#include "simulation/chance.h"
#include "verify/bounds.h"

#define UPDATE_S 0.001
#define INTERVAL_S 0.1
#define STEP_S 0.01 /* longest time in which the power around the threads is constant */
#define THREADS_MAX 4
#define REGIONS_MAX 4
#define NOWHERE REGIONS_MAX /* a thread in no program */
#define BASE_W 20.0         /* whatever the threads do */

/** A thread in a pass of a region. */
struct thread {
    size_t region;
    double power_w, end_s;
    bool same; /* the pass goes on with another power */
    unsigned state;
};

struct program {
    struct random random;
    double length_s, now_s;
    struct thread threads[THREADS_MAX];
    double time_s[REGIONS_MAX + 1], outside_s;
    double energy_j[REGIONS_MAX + 1], base_j[REGIONS_MAX + 1], joules; /* the truth */
    double passes[REGIONS_MAX + 1];
    double shown_j, update_s; /* the meter's value, and when it moves next */
    double values[8];         /* parameters of the ensemble */
    double beside_w, factor;  /* power of others now; factor of the threads' own power */
};

struct program_kind {
    const char *name;
    size_t threads, regions;
    double least_s, greatest_s; /* length of the program */
    void (*begin)(struct program *program);
    void (*next)(struct program *program, struct thread *thread);
    void (*around)(struct program *program); /* NULL: only the base */
    double interval_s, update_s;             /* 0: the usual value */
};

static void enter(struct thread *thread, size_t region, double length_s, double power_w)
{
    thread->region = region;
    thread->end_s += length_s;
    thread->power_w = power_w;
}

/* --- programs -------------------------------------------------------------------------------- */

static void nothing(struct program *program)
{
    (void)program;
}

static void next_phase(struct program *program, struct thread *thread)
{
    static const double powers_w[] = {40, 100, 160};
    size_t region = random_below(&program->random, 3);

    enter(thread, region, random_between(&program->random, 0.0005, 0.005), powers_w[region]);
}

/* An exchange of 0.2 ms sometimes waits for other nodes, at another power. */
static void begin_waits(struct program *program)
{
    program->values[0] = random_between(&program->random, 0.001, 0.004); /* compute [s] */
    program->values[1] = random_between(&program->random, 100, 200);     /* power of computing */
    program->values[2] = random_between(&program->random, 150, 300);     /* of the exchange */
    program->values[3] = random_between(&program->random, 20, 60);       /* of waiting */
}

static void next_waits(struct program *program, struct thread *thread)
{
    unsigned state = thread->state++ % 2;

    thread->same = false;
    if (state == 0) {
        enter(thread, 0, program->values[0], program->values[1]);
    } else if (thread->region == 0) {
        enter(thread, 1, 0.0002, program->values[2]);
        thread->state -= random_share(&program->random) < 0.1;
    } else {
        enter(thread, 1, random_between(&program->random, 0.001, 0.02), program->values[3]);
        thread->same = true;
    }
}

/* Like next_waits(), but the times of computing differ, too. */
static void next_waits_varied(struct program *program, struct thread *thread)
{
    next_waits(program, thread);
    if (thread->region == 0) {
        thread->end_s += program->values[0] * random_between(&program->random, -0.5, 0.5);
    }
}

static void begin_rare(struct program *program)
{
    program->values[0] = random_between(&program->random, 0.05, 0.2);
    program->values[1] = random_between(&program->random, 60, 140);
}

static void next_rare(struct program *program, struct thread *thread)
{
    if (thread->state++ % 2) {
        enter(thread, 1, 0.0002, 400);
    } else {
        enter(thread, 0, program->values[0], program->values[1]);
    }
}

static void begin_two(struct program *program)
{
    for (int i = 0; i < 4; i++) {
        program->values[i] = random_between(&program->random, 30, 200);
    }
}

static void begin_nested(struct program *program)
{
    begin_two(program);
    program->values[4] = random_between(&program->random, 10, 200); /* lengths of passes [10 us] */
    program->values[5] = random_between(&program->random, 10, 200);
}

static void next_alternate(struct program *program, struct thread *thread)
{
    size_t region = thread->state++ % 2;

    enter(thread, region, 0.0002, program->values[region]);
}

static void next_threads(struct program *program, struct thread *thread)
{
    size_t region = random_below(&program->random, 3);

    enter(thread, region, random_between(&program->random, 0.001, 0.01), program->values[region]);
}

/* One of the regions has bursts of 5 ms. */
static void next_bursts(struct program *program, struct thread *thread)
{
    thread->same = false;
    if (thread->region == 0 && thread->power_w < program->values[0] + 1 &&
        random_share(&program->random) < 0.3) {
        enter(thread, 0, 0.005, program->values[0] + 200);
        thread->same = true;
    } else {
        size_t region = random_below(&program->random, 3);

        enter(thread, region, random_between(&program->random, 0.001, 0.02),
              program->values[region]);
    }
}

/* In one of the regions, the power rises during the run. */
static void next_drift(struct program *program, struct thread *thread)
{
    next_phase(program, thread);
    if (thread->region == 1) {
        thread->power_w += 60 * thread->end_s / program->length_s;
    }
}

/* Long passes draw more than short ones. */
static void next_long(struct program *program, struct thread *thread)
{
    size_t region = random_below(&program->random, 2);
    double length_s = random_between(&program->random, 0.0005, 0.01);

    enter(thread, region, length_s,
          region == 0        ? program->values[0]
          : length_s < 0.003 ? program->values[1]
                             : program->values[2]);
}

/* An iteration is nearly as long as an interval, so shares change slowly. */
static void next_beat(struct program *program, struct thread *thread)
{
    size_t region = thread->state++ % 2;

    enter(thread, region, region == 0 ? 0.0593 : 0.041, program->values[region]);
}

/* The second region has more and more of the time. */
static void next_trend(struct program *program, struct thread *thread)
{
    size_t region = random_share(&program->random) < 0.2 + 0.6 * thread->end_s / program->length_s;

    enter(thread, region, random_between(&program->random, 0.001, 0.01), program->values[region]);
}

/* The second region has most of the second half. */
static void next_halves(struct program *program, struct thread *thread)
{
    bool late = thread->end_s > program->length_s / 2;
    size_t region = random_share(&program->random) < (late ? 0.8 : 0.2);

    enter(thread, region, random_between(&program->random, 0.001, 0.01), program->values[region]);
}

/* The second region draws more while its share is larger, for a second or two. */
static void next_share(struct program *program, struct thread *thread)
{
    double slow = 0.5 + 0.5 * sin(thread->end_s * 3);
    size_t region = random_share(&program->random) < 0.1 + 0.8 * slow;

    enter(thread, region, random_between(&program->random, 0.001, 0.01),
          region == 0 ? program->values[0] : 60 + 120 * slow);
}

/* The second region draws 80 W more after the first one. */
static void next_previous(struct program *program, struct thread *thread)
{
    size_t before = thread->region, region = random_below(&program->random, 2);

    enter(thread, region, random_between(&program->random, 0.001, 0.01),
          program->values[region] + (region == 1 && before == 0 ? 80 : 0));
}

/* Two regions inside a loop come several times in each pass of the loop. */
static void next_nested(struct program *program, struct thread *thread)
{
    size_t region = 0;
    double length_s = 0.002;

    if (thread->state == 0) {
        thread->state = 2 * (1 + (unsigned)random_below(&program->random, 8));
    } else {
        region = 1 + thread->state-- % 2;
        length_s = program->values[3 + region] * 1e-5;
    }
    enter(thread, region, length_s, program->values[region]);
}

/* Short regions of high power follow each other, beside a long wait. */
static void next_peaks(struct program *program, struct thread *thread)
{
    static const double least_s[] = {0.3, 0.002, 0.002, 0.001}, powers_w[] = {0, 200, 40, 100};
    size_t region = thread->state++ % 4;

    enter(thread, region, least_s[region] * random_between(&program->random, 1, 2.5),
          powers_w[region]);
}

/* Now and then, a thread is in no program. */
static void next_pauses(struct program *program, struct thread *thread)
{
    if (random_share(&program->random) < 0.1) {
        enter(thread, NOWHERE, random_between(&program->random, 0.001, 0.3), 0);
    } else {
        next_threads(program, thread);
    }
}

/* --- what is around them ---------------------------------------------------------------------- */

/* The machine draws more as it gets warm. */
static void begin_warm(struct program *program)
{
    begin_two(program);
    program->values[4] = random_between(&program->random, 0.05, 0.3);
    program->values[5] = random_between(&program->random, 3, 30);
}

static void warm(struct program *program)
{
    program->factor = 1 + program->values[4] * (1 - exp(-program->now_s / program->values[5]));
}

/* Another user's program begins in the middle. */
static void begin_load(struct program *program)
{
    begin_two(program);
    program->values[4] = program->length_s * random_between(&program->random, 0.2, 0.8);
    program->values[5] = random_between(&program->random, 30, 150);
}

static void load(struct program *program)
{
    program->beside_w = program->now_s > program->values[4] ? program->values[5] : 0;
}

/* Another program runs for half a second in every five seconds. */
static void cron(struct program *program)
{
    program->beside_w = fmod(program->now_s, 5) < 0.5 ? program->values[5] : 0;
}

static void begin_cap(struct program *program)
{
    begin_two(program);
    program->values[3] = random_between(&program->random, 0.5, 1); /* of the mean power */
    program->values[4] =
        (double)random_scale(&program->random, 1e7, 1e9) / 1e9; /* time constant [s] */
    program->values[5] = 0;                                     /* mean of the wanted power */
    program->values[6] = 0;                                     /* time of that mean */
}

/* All threads are slowed down so that the mean power of some time is no more than allowed. */
static void cap(struct program *program)
{
    double *values = program->values, wanted_w = 0;
    double most_w = values[3] * (values[0] + values[1] + values[2]) / 3 * 2;
    double part = 1 - exp((values[6] - program->now_s) / values[4]);

    for (size_t i = 0; i < 2; i++) {
        wanted_w += program->threads[i].power_w;
    }
    values[5] += (values[5] > 0 ? part : 1) * (wanted_w - values[5]);
    values[6] = program->now_s;
    program->factor = fmin(1, most_w / values[5]);
}

/* Two threads in the second region hinder each other. */
static void contend(struct program *program)
{
    program->factor = program->threads[0].region == 1 && program->threads[1].region == 1 ? 0.7 : 1;
}

static const struct program_kind programs[] = {
    {"phases", 1, 3, 20, 60, nothing, .next = next_phase},
    {"waits", 1, 2, 10, 60, begin_waits, .next = next_waits},
    {"waits-varied", 1, 2, 10, 60, begin_waits, .next = next_waits_varied},
    {"long", 1, 2, 10, 60, begin_two, .next = next_long},
    {"rare", 1, 2, 10, 60, begin_rare, .next = next_rare},
    {"alternate", 1, 2, 10, 60, begin_two, .next = next_alternate},
    {"threads", 2, 3, 10, 60, begin_two, .next = next_threads},
    {"threads-wait", 3, 2, 10, 60, begin_waits, .next = next_waits_varied},
    {"bursts", 1, 3, 10, 60, begin_two, .next = next_bursts},
    {"drift", 1, 3, 20, 60, nothing, .next = next_drift},
    {"short", 1, 3, 0.1, 0.2, begin_two, .next = next_threads},
    {"two-seconds", 1, 3, 1, 3, begin_two, .next = next_threads},
    {"warm", 1, 2, 10, 60, begin_warm, .next = next_trend, .around = warm},
    {"beat", 1, 2, 10, 60, begin_warm, .next = next_beat, .around = warm},
    {"load", 1, 3, 10, 60, begin_load, .next = next_threads, .around = load},
    {"halves", 1, 2, 10, 60, begin_load, .next = next_halves, .around = load},
    {"cron", 1, 3, 10, 60, begin_load, .next = next_threads, .around = cron},
    {"contend", 2, 3, 10, 60, begin_two, .next = next_threads, .around = contend},
    {"share", 1, 2, 10, 60, begin_two, .next = next_share},
    {"previous", 1, 2, 10, 60, begin_two, .next = next_previous},
    {"nested", 1, 3, 10, 60, begin_nested, .next = next_nested},
    {"peaks", 1, 4, 5, 20, nothing, .next = next_peaks},
    {"cap", 2, 3, 10, 60, begin_cap, .next = next_threads, .around = cap},
    {"pauses", 3, 3, 10, 60, begin_load, .next = next_pauses, .around = load},
    {"slow-meter", 1, 3, 10, 60, begin_two, .next = next_threads, .update_s = 0.1},
    {"long-10ms", 1, 2, 2, 6, begin_two, .next = next_long, .interval_s = 0.01},
};

/* --- a run ------------------------------------------------------------------------------------ */

static double update_s(const struct program_kind *kind)
{
    return kind->update_s > 0 ? kind->update_s : UPDATE_S;
}

static void advance_threads(struct program *program, const struct program_kind *kind, double time_s)
{
    double base_j = time_s * (BASE_W + program->beside_w);
    size_t inside = 0;

    for (size_t i = 0; i < kind->threads; i++) {
        inside += program->threads[i].region != NOWHERE;
    }
    for (size_t i = 0; i < kind->threads; i++) {
        const struct thread *thread = &program->threads[i];

        program->time_s[thread->region] += time_s;
        program->energy_j[thread->region] += time_s * thread->power_w * program->factor;
        program->base_j[thread->region] += inside > 0 ? base_j / (double)inside : 0;
    }
    program->outside_s += inside > 0 ? 0 : time_s;
}

static void advance(struct program *program, const struct program_kind *kind, double until_s)
{
    double power_w = 0, time_s = until_s - program->now_s;

    program->factor = 1;
    if (kind->around) {
        kind->around(program);
    }
    for (size_t i = 0; i < kind->threads; i++) {
        power_w += program->threads[i].power_w * program->factor;
    }
    power_w += BASE_W + program->beside_w;
    while (program->update_s <= until_s) {
        program->shown_j = program->joules + power_w * (program->update_s - program->now_s);
        program->update_s += update_s(kind);
    }
    advance_threads(program, kind, time_s);
    program->joules += power_w * time_s;
    program->now_s = until_s;
}

static void next(struct program *program, const struct program_kind *kind, struct thread *thread)
{
    kind->next(program, thread);
    program->passes[thread->region] += thread->same ? 0 : 1;
}

static void read_meter(const struct program *program, struct program *before, struct fit *fit,
                       size_t regions)
{
    double x[FIT_COLUMNS] = {0}, passes[FIT_COLUMNS] = {0};

    x[FIT_OUTSIDE] = program->outside_s - before->outside_s;
    x[FIT_INSIDE] = program->now_s - before->now_s - x[FIT_OUTSIDE];
    for (size_t i = 0; i < regions; i++) {
        x[FIT_PARTS + i] = program->time_s[i] - before->time_s[i];
        passes[FIT_PARTS + i] = program->passes[i] - before->passes[i];
    }
    fit_add(fit, x, passes, FIT_PARTS + regions, program->shown_j - before->shown_j);
    *before = *program;
}

static void run(struct program *program, const struct program_kind *kind, struct fit *fit)
{
    struct program before;
    double interval_s = kind->interval_s > 0 ? kind->interval_s : INTERVAL_S;
    double reading_s = interval_s;

    program->length_s = random_between(&program->random, kind->least_s, kind->greatest_s);
    program->update_s = update_s(kind) * random_share(&program->random);
    kind->begin(program);
    for (size_t i = 0; i < kind->threads; i++) {
        next(program, kind, &program->threads[i]);
    }
    before = *program;
    while (program->now_s < program->length_s) {
        struct thread *first = &program->threads[0];

        for (size_t i = 1; i < kind->threads; i++) {
            first = program->threads[i].end_s < first->end_s ? &program->threads[i] : first;
        }
        reading_s = fmin(reading_s, program->length_s);
        advance(program, kind, fmin(fmin(first->end_s, reading_s), program->now_s + STEP_S));
        if (program->now_s >= reading_s) {
            read_meter(program, &before, fit, kind->regions);
            reading_s += interval_s;
        }
        if (program->now_s >= first->end_s) {
            next(program, kind, first);
        }
    }
}

/* --- all runs of an ensemble -------------------------------------------------------------------
 */

struct verdict {
    size_t known, covered;
    unsigned runs[REGIONS_MAX], within[REGIONS_MAX];
    double *widths; /* uncertainty / energy */
};

static void judge(const struct program_kind *kind, uint64_t seed, struct verdict *verdict)
{
    static struct fit fit;
    struct program program = {.random = {seed}};
    struct fit_part parts[FIT_COLUMNS];

    fit_clear(&fit);
    run(&program, kind, &fit);
    if (fit_solve(&fit, program.joules / program.now_s * update_s(kind) * sqrt(1 / 6.0), parts)) {
        abort();
    }
    for (size_t region = 0; region < kind->regions; region++) {
        const struct fit_part *part = &parts[FIT_PARTS + region];
        bool based = parts[FIT_INSIDE].with == FIT_OUTSIDE; /* then no region has it */
        double true_j = program.energy_j[region] + (based ? 0 : program.base_j[region]);
        bool covered = fabs(part->energy_j - true_j) <= part->within_j;

        if (isnan(part->within_j)) { /* a short program that was never in the region */
            continue;
        }
        verdict->covered += covered;
        verdict->within[region] += covered;
        verdict->runs[region]++;
        verdict->widths[verdict->known++] = part->within_j / true_j;
    }
}

/* @return whether 95 % of each region's runs may be covered, by the bounds. */
static bool judge_all(const struct program_kind *kind, unsigned runs, uint64_t seed)
{
    struct verdict verdict = {.widths = calloc(runs * REGIONS_MAX, sizeof *verdict.widths)};
    struct bounds bounds;
    bool right = true;

    for (unsigned i = 0; i < runs && verdict.widths; i++) {
        judge(kind, seed + i, &verdict);
    }
    for (size_t region = 0; region < kind->regions; region++) {
        right &=
            verdict.runs[region] > 0 &&
            bounds_of(verdict.within[region], verdict.runs[region], BOUNDS_95).greatest >= 0.95;
    }
    if (verdict.known > 0) {
        bounds = bounds_of(verdict.covered, verdict.known, BOUNDS_95);
        qsort(verdict.widths, verdict.known, sizeof *verdict.widths, compare_double);
        printf("%-13s %6zu %15.1f (%.1f to %.1f) %14.1f\n", kind->name, verdict.known,
               100.0 * (double)verdict.covered / (double)verdict.known, 100 * bounds.least,
               100 * bounds.greatest, 100 * verdict.widths[verdict.known / 2]);
    }
    free(verdict.widths);
    return right;
}

int main(int argc, char **argv)
{
    unsigned runs = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 100, failed = 0;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;

    if (runs == 0 || runs > 100000 || argc > 4) {
        fputs("usage: apapi-verify-regions [RUNS [SEED [ENSEMBLE]]]\n", stderr);
        return 2;
    }
    printf("%-13s %6s %30s %14s\n", "ensemble", "known", "covered [%] (95 % bounds)",
           "U/energy [%]");
    for (size_t i = 0; i < COUNT_OF(programs); i++) {
        if (argc < 4 || strcmp(argv[3], programs[i].name) == 0) {
            failed += !judge_all(&programs[i], runs, seed);
        }
    }
    return failed > 0;
}
