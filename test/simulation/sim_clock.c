/* SPDX-License-Identifier: BSD-3-Clause */
#include "simulation/sim_clock.h"

#include <errno.h>
#include <string.h>

#define LOOK_NS_MAX 200   /* from one reading of the clock to the next */
#define WAKE_NS_MAX 60000 /* from waking a thread until it runs */

static struct sim_clock *sim_of(struct session_clock *clock)
{
    return (struct sim_clock *)clock;
}

/* @return when the process goes on, if it stands still at now_ns; else now_ns. */
static uint64_t sim_awake_ns(const struct sim_clock *clock, uint64_t now_ns)
{
    for (size_t i = 0; i < clock->stop_count; i++) {
        if (now_ns >= clock->stops[i].from_ns && now_ns < clock->stops[i].to_ns) {
            now_ns = clock->stops[i].to_ns;
        }
    }
    return now_ns;
}

uint64_t sim_clock_pass(struct sim_clock *clock, uint64_t ns)
{
    struct sim_actor *actor = clock->running;

    actor->now_ns = sim_awake_ns(clock, actor->now_ns + ns);
    return actor->now_ns;
}

static uint64_t sim_now_ns(struct session_clock *base)
{
    struct sim_clock *clock = sim_of(base);

    return sim_clock_pass(clock, 20 + random_below(&clock->random, LOOK_NS_MAX));
}

static void sim_pair(struct session_clock *base, int64_t *unix_ns, uint64_t *now_ns)
{
    *now_ns = sim_now_ns(base);
    *unix_ns = SIM_CLOCK_UNIX_NS + (int64_t)*now_ns;
}

static void sim_boot(struct session_clock *base, char boot[APAPI_BOOT_SIZE])
{
    (void)base;
    (void)boot;
}

/* @return a number that only grows, which is all that is needed. */
static uint64_t sim_cpu_ns(struct session_clock *base, const pthread_t *thread)
{
    (void)thread;
    return sim_of(base)->steps * 1000;
}

/* @return how late an actor begins after it was woken, or after its deadline. */
static uint64_t sim_latency_ns(struct sim_clock *clock)
{
    uint64_t ns = 1000 + random_below(&clock->random, WAKE_NS_MAX);

    if (clock->late_once_in && random_once_in(&clock->random, clock->late_once_in)) {
        ns += random_below(&clock->random, clock->latest_ns);
    }
    return ns;
}

static uint64_t sim_ready_ns(const struct sim_actor *actor)
{
    return actor->until_ns > actor->now_ns ? actor->until_ns : actor->now_ns;
}

static struct sim_actor *sim_next_worker(struct sim_clock *clock)
{
    struct sim_actor *next = NULL;

    for (size_t i = 1; i < clock->count; i++) {
        struct sim_actor *actor = &clock->actors[i];

        if (actor->alive && (!next || sim_ready_ns(actor) < sim_ready_ns(next))) {
            next = actor;
        }
    }
    return next;
}

static void sim_step_worker(struct sim_actor *actor)
{
    struct worker *worker = actor->worker;
    uint64_t until_ns;
    bool ended;

    pthread_mutex_lock(&worker->mutex);
    until_ns = worker_step(worker);
    ended = worker->ended;
    pthread_mutex_unlock(&worker->mutex);
    actor->until_ns = until_ns;
    if (ended) {
        actor->alive = false;
        common_release(worker->common);
    }
}

static void sim_step(struct sim_clock *clock, struct sim_actor *actor)
{
    struct sim_actor *before = clock->running;

    clock->running = actor;
    clock->steps++;
    if (actor->until_ns > actor->now_ns) {
        actor->now_ns = sim_awake_ns(clock, actor->until_ns + sim_latency_ns(clock));
    }
    actor->until_ns = 0;
    if (actor->lost) {
        actor->alive = false;
        worker_lost(actor->worker);
    } else if (setjmp(actor->ended) == 0) {
        sim_step_worker(actor);
    } else {
        actor->lost = true; /* at its own time, which the other actors may not have reached yet */
    }
    clock->running = before;
}

/* While the caller waits, run the others until it is woken or its time comes. @return if woken. */
static bool sim_run_others(struct sim_clock *clock, uint64_t deadline_ns)
{
    struct sim_actor *caller = clock->running;
    bool woken;

    caller->until_ns = deadline_ns;
    for (;;) {
        struct sim_actor *next = sim_next_worker(clock);
        uint64_t next_ns = next ? sim_ready_ns(next) : UINT64_MAX;

        if (next_ns >= sim_ready_ns(caller)) {
            break;
        }
        if (clock->steps >= clock->steps_max) {
            clock->broken = "there is no end of steps";
            break;
        }
        sim_step(clock, next);
    }
    woken = caller->until_ns < deadline_ns;
    if (caller->until_ns == UINT64_MAX) {
        clock->broken = "a deadlock: all wait for ever";
        caller->until_ns = caller->now_ns;
        return false;
    }
    caller->now_ns = sim_awake_ns(clock, sim_ready_ns(caller));
    return woken;
}

static bool sim_wait(struct session_clock *base, pthread_cond_t *changed, pthread_mutex_t *mutex,
                     uint64_t deadline_ns)
{
    struct sim_clock *clock = sim_of(base);
    struct sim_actor *caller = clock->running;
    bool woken;

    if (clock->broken) {
        return false;
    }
    caller->changed = changed;
    pthread_mutex_unlock(mutex);
    woken = sim_run_others(clock, deadline_ns);
    pthread_mutex_lock(mutex);
    caller->changed = NULL;
    caller->until_ns = 0;
    return woken;
}

static void sim_wake(struct session_clock *base, pthread_cond_t *changed)
{
    struct sim_clock *clock = sim_of(base);
    uint64_t now_ns = clock->running->now_ns;

    for (size_t i = 0; i < clock->count; i++) {
        struct sim_actor *actor = &clock->actors[i];

        if (!actor->alive || actor->changed != changed || actor == clock->running) {
            continue;
        }
        if (actor->until_ns > now_ns) {
            actor->until_ns = now_ns + random_below(&clock->random, WAKE_NS_MAX);
        } else if (actor->now_ns < now_ns) {
            actor->now_ns = now_ns; /* it is told of what was not so before */
        }
    }
}

static bool sim_is_refused(struct sim_clock *clock)
{
    unsigned index = clock->started++;

    return index < 32 && clock->refused >> index & 1;
}

static int sim_start(struct session_clock *base, pthread_t *thread, void *(*run)(void *argument),
                     void *argument)
{
    struct sim_clock *clock = sim_of(base);
    struct worker *worker = argument;

    (void)run;
    if (clock->count == SIM_ACTORS || sim_is_refused(clock)) {
        clock->refusals++;
        errno = EAGAIN;
        return -1;
    }
    memset(thread, 0, sizeof *thread);
    clock->actors[clock->count++] =
        (struct sim_actor){.now_ns = clock->running->now_ns + sim_latency_ns(clock),
                           .changed = &worker->changed,
                           .worker = worker,
                           .alive = true};
    return 0;
}

static void sim_leave(struct session_clock *base, pthread_t thread, bool ended)
{
    (void)thread;
    (void)ended;
    sim_of(base)->left++;
}

void sim_clock_init(struct sim_clock *clock, uint64_t seed, uint64_t now_ns)
{
    memset(clock, 0, sizeof *clock);
    clock->base = (struct session_clock){.now_ns = sim_now_ns,
                                         .pair = sim_pair,
                                         .boot = sim_boot,
                                         .cpu_ns = sim_cpu_ns,
                                         .wait = sim_wait,
                                         .wake = sim_wake,
                                         .start = sim_start,
                                         .leave = sim_leave};
    clock->random.state = seed;
    clock->steps_max = UINT64_MAX;
    clock->actors[0] = (struct sim_actor){.now_ns = now_ns, .alive = true};
    clock->count = 1;
    clock->running = clock->actors;
}

_Noreturn void sim_clock_end_thread(struct sim_clock *clock)
{
    longjmp(clock->running->ended, 1);
}

void sim_clock_sleep(struct sim_clock *clock, uint64_t until_ns)
{
    if (until_ns > clock->running->now_ns) {
        sim_run_others(clock, until_ns);
    }
    clock->running->until_ns = 0;
}

bool sim_clock_finish(struct sim_clock *clock)
{
    struct sim_actor *next;

    while ((next = sim_next_worker(clock)) && clock->steps < clock->steps_max) {
        if (sim_ready_ns(next) == UINT64_MAX) {
            clock->broken = "a thread sleeps for ever after the end";
            return false;
        }
        sim_step(clock, next);
    }
    return !next;
}
