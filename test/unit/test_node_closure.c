/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Twenty hours of two nodes, sped up, with 500 steps of random overlap, cores and load. Control
 * groups, shares and the ends of steps and hours are those of the product; clock and meters are
 * simulated. All uses add up to what the meters show, and each step has what it used.
 */
#include "unit/node_fixture.h"

#define STEPS 250 /* of each node */
#define HOURS 20
#define END_S (HOURS * 3600.0)
#define QUIET_S 600.0 /* time before the first step */
#define IDLE_W 90.0
#define CORE_W 3.5
#define LATER_S 0.01 /* control groups are read at most this long after the meters */
#define DAEMONS 0.3  /* cores that are always busy */
#define BEGIN_NS INT64_C(1795305600000000000)   /* 2026-11-22T00:00:00Z */
#define MONOTONIC_NS UINT64_C(5000000000000000) /* CLOCK_MONOTONIC at BEGIN_NS */

/* The truth of a step. */
struct actor {
    double begin_s, end_s;
    unsigned cores;
    double load[2]; /* busy cores, in the first half of the step and in the second one */
    double share_j; /* energy in the step's record */
    bool running;
};

struct play {
    struct actor actors[STEPS];
    uint64_t random;
    double metered_s, true_j;
};

static double now_s; /* simulated time */

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    uint64_t ns =
        (uint64_t)(now_s * 1e9) + (clock == CLOCK_MONOTONIC ? MONOTONIC_NS : (uint64_t)BEGIN_NS);

    now->tv_sec = (time_t)(ns / NS_PER_S);
    now->tv_nsec = (long)(ns % NS_PER_S);
    return 0;
}

static double random_between(struct play *play, double from, double to)
{
    play->random = play->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return from + (to - from) * (double)(play->random >> 11) / 0x1p53;
}

/* Choose the steps. The first one runs longer: until then it is unknown what a core costs. */
static void cast_actors(struct play *play)
{
    for (int i = 0; i < STEPS; i++) {
        struct actor *actor = &play->actors[i];
        double length_s = i % 5 == 4 ? random_between(play, 1, 60) : random_between(play, 60, 3600);

        length_s = i == 0 ? 3600 : length_s;
        actor->begin_s =
            i == 0 ? QUIET_S : random_between(play, QUIET_S + 60, END_S - 60 - length_s);
        actor->end_s = actor->begin_s + length_s;
        actor->cores = 1 + (unsigned)random_between(play, 0, 16);
        for (int half = 0; half < 2; half++) {
            actor->load[half] = actor->cores * random_between(play, 0.05, 1);
        }
    }
}

static double cpu_s_of(const struct actor *actor, double when_s)
{
    double half_s = (actor->end_s - actor->begin_s) / 2;
    double ran_s = fmax(0, fmin(when_s, actor->end_s) - actor->begin_s);

    return actor->load[0] * fmin(ran_s, half_s) + actor->load[1] * fmax(0, ran_s - half_s);
}

static double cpu_s_of_all(const struct play *play, double when_s)
{
    double sum_s = DAEMONS * when_s;

    for (int i = 0; i < STEPS; i++) {
        sum_s += cpu_s_of(&play->actors[i], when_s);
    }
    return sum_s;
}

static void show_step(const struct play *play, int number, double when_s)
{
    const struct actor *actor = &play->actors[number];
    char step[64], cores[32];

    snprintf(step, sizeof step, "job_%d/step_0", number + 1);
    snprintf(cores, sizeof cores, "0-%u\n", actor->cores - 1);
    put_step(step, cpu_s_of(actor, when_s), cores);
}

/* End a step as its sampler does. */
static void end_step(struct play *play, int number)
{
    const struct share_key key = {config.live_dir, "n1", (uint32_t)number + 1, "0"};
    struct actor *actor = &play->actors[number];
    struct share_end end;
    char group[128];

    show_step(play, number, now_s);
    assert_int_equal(share_end_look(&key, &end), 0);
    share_end_claim(&key, &end);
    actor->share_j = end.found.row.energy_j[PACKAGE];
    actor->running = false;
    for (int i = 0; i < 2; i++) {
        snprintf(group, sizeof group, "%s/uid_0/job_%d", i ? V1_SET : V1_CPU, number + 1);
        drop(group);
    }
}

/* Let steps begin or end before the next reading, then show those that run. */
static void go_on(struct play *play, double until_s)
{
    double shown_s = until_s + random_between(play, 0, LATER_S);

    for (int i = 0; i < STEPS; i++) {
        struct actor *actor = &play->actors[i];

        if (actor->begin_s > now_s && actor->begin_s <= until_s) {
            actor->running = true;
        }
    }
    for (int i = 0; i < STEPS; i++) {
        if (play->actors[i].running && play->actors[i].end_s <= until_s) {
            now_s = play->actors[i].end_s;
            end_step(play, i);
        }
    }
    now_s = until_s;
    for (int i = 0; i < STEPS; i++) {
        if (play->actors[i].running) {
            show_step(play, i, shown_s);
        }
    }
    put_node_cpu(cpu_s_of_all(play, shown_s));
}

static void read_meters(struct play *play)
{
    double meter_j = IDLE_W * now_s + CORE_W * cpu_s_of_all(play, now_s);
    struct node_reading reading = reading_of(1, meter_j - play->true_j);

    reading.begin_ns = MONOTONIC_NS + (uint64_t)(play->metered_s * 1e9);
    reading.end_ns = MONOTONIC_NS + (uint64_t)(now_s * 1e9);
    reading.end_unix_ns = BEGIN_NS + (int64_t)(now_s * 1e9);
    play->metered_s = now_s;
    play->true_j = meter_j;
    node_shares_add(shares, &reading);
}

static void run_play(struct play *play)
{
    now_s = 0;
    put_step("job_0/none", 0, "");
    while (now_s < END_S - 10) {
        go_on(play, now_s + random_between(play, 4.9, 5.1));
        read_meters(play);
    }
    go_on(play, END_S - 1);
    read_meters(play);
    end_sampler();
}

struct found {
    double energy_j, idle_j, unattributed_j;
    unsigned hours;
};

static int add_hour(const struct hour *hour, void *context)
{
    struct found *found = context;

    found->energy_j += hour->total.energy_j;
    found->idle_j += hour->total.idle_j;
    found->unattributed_j += hour->total.unattributed_j;
    found->hours++;
    return 0;
}

/* @return the greatest relative error of a step's share; *sum_j: sum of all shares */
static double judge_steps(const struct play *play, double *sum_j)
{
    double worst = 0;

    *sum_j = 0;
    for (int i = 0; i < STEPS; i++) {
        double true_j = CORE_W * cpu_s_of(&play->actors[i], END_S);

        *sum_j += play->actors[i].share_j;
        worst = fmax(worst, fabs(play->actors[i].share_j - true_j) / true_j);
    }
    return worst;
}

NODE(the_energy_of_one_node_closes)
{
    static struct play play;
    struct found found = {0};
    double sum_j, worst, open_j;

    play.random = 1;
    cast_actors(&play);
    run_play(&play);
    read_hours(add_hour, &found);
    worst = judge_steps(&play, &sum_j);
    open_j = sum_j + found.idle_j + found.unattributed_j - play.true_j;
    print_message("# %.4f %% open, steps at most %.2f %% from the truth\n",
                  100 * open_j / play.true_j, 100 * worst);
    assert_int_equal(found.hours, HOURS);
    assert_true(fabs(found.energy_j - play.true_j) <= 0.001 * play.true_j);
    assert_true(fabs(open_j) <= 0.001 * play.true_j);
    assert_true(found.unattributed_j <= 0.01 * play.true_j);
    assert_true(worst < 0.05);
}
