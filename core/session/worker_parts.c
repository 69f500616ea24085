/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/worker_parts.h"

bool worker_reads(const struct worker *worker, const struct component *component)
{
    return component->own_worker == !worker->own && component->source && !component->lost;
}

void worker_changed(struct worker *worker)
{
    struct session_clock *clock = worker->common->clock;

    clock->wake(clock, &worker->changed);
}

uint64_t worker_thread_cpu_ns(const struct worker *worker, const pthread_t *thread)
{
    struct session_clock *clock = worker->common->clock;

    return clock->cpu_ns(clock, thread);
}

int worker_start_thread(struct worker *worker)
{
    struct session_clock *clock = worker->common->clock;

    common_hold(worker->common);
    worker->started = clock->start(clock, &worker->thread, worker->thread_main, worker) == 0;
    if (!worker->started) {
        common_release(worker->common);
    }
    return worker->started ? 0 : -1;
}

void worker_count_cpu(struct worker *worker)
{
    if (worker->running) {
        worker->cpu_ns += worker_thread_cpu_ns(worker, NULL) - worker->cpu_start_ns;
        worker->cpu_start_ns = 0;
    }
}

void worker_end(struct worker *worker)
{
    worker_count_cpu(worker);
    worker->ended = true;
    worker_changed(worker);
}

void worker_take_over(struct worker *own)
{
    struct component *component = own->components;

    pthread_mutex_lock(&own->mutex);
    own->cpu_start_ns = own->cpu_ns = 0;
    own->running = true;
    own->last = false;
    component->own_worker = worker_start_thread(own) == 0;
    if (component->own_worker) {
        component->deadline_ns = session_clock_now_ns(own->common->clock);
        retry_repeat(&component->retry);
    } else {
        own->running = false;
    }
    pthread_mutex_unlock(&own->mutex);
}
