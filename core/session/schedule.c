/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/schedule.h"

#include <fcntl.h>

#include "base/clock.h"
#include "base/kernel_file.h"
#include "base/thread.h"

static uint64_t real_now_ns(struct session_clock *clock)
{
    (void)clock;
    return clock_monotonic_ns();
}

static void real_pair(struct session_clock *clock, int64_t *unix_ns, uint64_t *now_ns)
{
    (void)clock;
    clock_pair(unix_ns, now_ns);
}

/* The kernel's UUID without hyphens, as systemd writes it. */
static void real_boot(struct session_clock *clock, char boot[APAPI_BOOT_SIZE])
{
    char uuid[64];
    size_t used = 0;

    (void)clock;
    if (kernel_file_read_word_at(AT_FDCWD, "/proc/sys/kernel/random/boot_id", uuid, sizeof uuid)) {
        return;
    }
    for (const char *at = uuid; *at && used < APAPI_BOOT_SIZE - 1; at++) {
        if (*at != '-') {
            boot[used++] = *at;
        }
    }
    boot[used] = '\0';
}

static uint64_t real_cpu_ns(struct session_clock *clock, const pthread_t *thread)
{
    clockid_t cpu_clock;

    (void)clock;
    if (!thread) {
        return clock_thread_cpu_ns();
    }
    return pthread_getcpuclockid(*thread, &cpu_clock) ? 0 : clock_ns(cpu_clock);
}

static bool real_wait(struct session_clock *clock, pthread_cond_t *changed, pthread_mutex_t *mutex,
                      uint64_t deadline_ns)
{
    const struct timespec deadline = thread_deadline(deadline_ns);

    (void)clock;
    if (deadline_ns == UINT64_MAX) {
        return pthread_cond_wait(changed, mutex) == 0;
    }
    return pthread_cond_timedwait(changed, mutex, &deadline) == 0;
}

static void real_wake(struct session_clock *clock, pthread_cond_t *changed)
{
    (void)clock;
    pthread_cond_broadcast(changed);
}

static int real_start(struct session_clock *clock, pthread_t *thread, void *(*run)(void *argument),
                      void *argument)
{
    (void)clock;
    return thread_start(thread, run, argument);
}

static void real_leave(struct session_clock *clock, pthread_t thread, bool ended)
{
    (void)clock;
    if (ended) {
        pthread_join(thread, NULL);
    } else {
        pthread_detach(thread);
    }
}

struct session_clock *session_clock_real(void)
{
    static struct session_clock real = {.now_ns = real_now_ns,
                                        .pair = real_pair,
                                        .boot = real_boot,
                                        .cpu_ns = real_cpu_ns,
                                        .wait = real_wait,
                                        .wake = real_wake,
                                        .start = real_start,
                                        .leave = real_leave};

    return &real;
}

void retry_good(struct retry *retry, uint64_t now_ns)
{
    if (retry->failures > 0) {
        retry->outage_ns += now_ns - retry->good_ns;
        retry->failures = 0;
        retry->pause_ns = 0;
    }
    retry->good_ns = now_ns;
}

void retry_failed(struct retry *retry, uint64_t interval_ns, uint64_t now_ns)
{
    /* a whole number of intervals: readings stay where they would have been without the outage */
    uint64_t longest_ns = interval_ns < RETRY_PAUSE_MAX_NS
                              ? RETRY_PAUSE_MAX_NS / interval_ns * interval_ns
                              : interval_ns;

    if (retry->failures++ == 0) {
        retry->outages++;
        retry->pause_ns = interval_ns;
        retry->good_ns = retry->good_ns ? retry->good_ns : now_ns;
    } else {
        retry->pause_ns = retry->pause_ns < longest_ns / 2 ? 2 * retry->pause_ns : longest_ns;
    }
    retry->failed_ns = now_ns;
}

void retry_repeat(struct retry *retry)
{
    retry->pause_ns /= 2;
}

bool retry_wants_reopening(const struct retry *retry)
{
    return retry->failures > 1 && retry->failed_ns - retry->good_ns >= RETRY_REOPEN_NS;
}

uint64_t retry_outage_ns(const struct retry *retry)
{
    return retry->outage_ns + (retry->failures ? retry->failed_ns - retry->good_ns : 0);
}

#define DENSE_PAUSE 8                    /* least pause, in lengths of the latest reading */
#define DENSE_SLOW_NS UINT64_C(10000000) /* a reading of a BMC takes longer */

void dense_start_next(struct dense_start *dense, struct apapi_moment when, struct random *random)
{
    uint64_t length_ns = when.end_ns - when.begin_ns;

    do {
        dense->after_ns *= 2;
    } while (dense->first_ns + dense->after_ns <= when.end_ns + DENSE_PAUSE * length_ns);
    dense->due_ns = UINT64_MAX;
    if (dense->after_ns < dense->interval_ns && length_ns < DENSE_SLOW_NS) {
        dense->due_ns = dense->first_ns + dense->after_ns -
                        (random ? random_below(random, dense->after_ns / 2) : 0);
    }
}

#define INTERVAL_UPDATES 4 /* in an interval of fewer grid steps, usual readings show enough */
#define SHORT_OF_UPDATE 8  /* readings are this part nearer than an update: they see one only */
#define UNSTATED_PARTS 16  /* of the known period, to the second reading if none is stated */
#define LEAST_APART_NS UINT64_C(50000) /* threads wake up no sooner */
#define LEAST_GROWTH 0.3 /* least time to the next probe, as a share of the time passed */
#define MOST_GROWTH 1.0
#define SLOW_READINGS 3 /* so many in a row: the source is slow, and not a busy machine */

void probe_plan_restart(struct probe_plan *plan, uint64_t update_ns, bool stated,
                        uint64_t interval_ns, uint64_t grid_ns)
{
    uint64_t most_ns = interval_ns / INTERVAL_UPDATES;
    uint64_t apart_ns = update_ns < most_ns ? update_ns : most_ns;
    bool useful = update_ns > 0 && grid_ns <= most_ns;

    *plan = (struct probe_plan){
        .random = plan->random,
        .update_ns = useful ? update_ns : 0,
        .interval_ns = interval_ns,
        .apart_ns = stated ? apart_ns - apart_ns / SHORT_OF_UPDATE : apart_ns / UNSTATED_PARTS,
        .due_ns = UINT64_MAX,
    };
}

static void probe_plan_set(struct probe_plan *plan, enum probe_reading next, uint64_t due_ns)
{
    plan->next = next;
    plan->due_ns = due_ns;
}

static void probe_plan_await_second(struct probe_plan *plan, struct apapi_moment when)
{
    plan->first_ns = when.end_ns;
    probe_plan_set(plan, PROBE_SECOND, when.end_ns + plan->apart_ns);
}

/* If all readings are slow, probes tell little of one update and disturb more than usual ones. */
static bool probe_plan_is_slow(struct probe_plan *plan, struct apapi_moment when)
{
    bool takes_long = when.end_ns - when.begin_ns > plan->update_ns / 2;

    plan->slow = takes_long ? plan->slow + 1 : 0;
    return plan->slow >= SLOW_READINGS;
}

void probe_plan_begin(struct probe_plan *plan, struct apapi_moment when)
{
    if (plan->update_ns && !probe_plan_is_slow(plan, when)) {
        plan->begin_ns = when.end_ns;
        probe_plan_await_second(plan, when);
    }
}

static void probe_plan_await_first(struct probe_plan *plan, struct apapi_moment when)
{
    double passed_ns = (double)(when.end_ns - plan->begin_ns);
    double growth = random_between(&plan->random, LEAST_GROWTH, MOST_GROWTH);

    probe_plan_set(plan, PROBE_FIRST, when.end_ns + (uint64_t)(passed_ns * growth));
}

void probe_plan_next(struct probe_plan *plan, struct apapi_moment when, bool moved)
{
    uint64_t passed_ns = when.end_ns - plan->first_ns;

    if (probe_plan_is_slow(plan, when)) {
        plan->due_ns = UINT64_MAX;
    } else if (plan->next == PROBE_FIRST) {
        probe_plan_await_second(plan, when);
    } else if (!moved && passed_ns < plan->interval_ns / 2) {
        /* twice as late each time, until the counter moves or usual readings are as near */
        probe_plan_set(plan, PROBE_SECOND, when.end_ns + passed_ns);
    } else {
        plan->apart_ns = passed_ns / 2 > LEAST_APART_NS ? passed_ns / 2 : LEAST_APART_NS;
        probe_plan_await_first(plan, when);
    }
}
