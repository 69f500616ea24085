/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/session_common.h"

#include "session/live.h"

void common_init(struct session_common *common, struct session_clock *clock,
                 void (*destroy)(struct session_common *common))
{
    common->clock = clock;
    common->destroy = destroy;
    pthread_mutex_init(&common->reporting, NULL);
    pthread_mutex_init(&common->showing, NULL);
    feed_clear(common->shown);
    overflow_init(&common->overflows, clock);
    atomic_init(&common->references, 1);
}

void common_clear(struct session_common *common)
{
    overflow_clear(&common->overflows);
    pthread_mutex_destroy(&common->showing);
    pthread_mutex_destroy(&common->reporting);
}

void common_hold(struct session_common *common)
{
    atomic_fetch_add(&common->references, 1);
}

void common_release(struct session_common *common)
{
    if (atomic_fetch_sub(&common->references, 1) == 1) {
        common->destroy(common);
    }
}

void common_start(struct session_common *common)
{
    common->start_ns = session_clock_now_ns(common->clock);
    pthread_mutex_lock(&common->showing);
    feed_clear(common->shown);
    pthread_mutex_unlock(&common->showing);
    overflow_restart(&common->overflows);
}

void common_join(struct session_common *common, struct component *component)
{
    pthread_mutex_lock(&common->showing);
    live_join(common->live, component, common->shown);
    pthread_mutex_unlock(&common->showing);
}

void common_restart(struct session_common *common, struct component *component)
{
    component_restart(component, common->start_ns);
    pthread_mutex_lock(&common->showing);
    live_restart(common->live, component, common->shown);
    pthread_mutex_unlock(&common->showing);
}

static size_t common_index(const struct session_common *common, const struct component *component)
{
    return (size_t)(component - common->components);
}

void common_pass_on(struct session_common *common, const struct component *component,
                    struct apapi_moment when, bool dense)
{
    const struct session_reading reading = {component->name, component->reader, component->raw,
                                            when, dense};

    if (common->on_reading && component->reader) {
        common->on_reading(&reading, common->reading_context);
    }
}

void common_report(struct session_common *common, struct component *component)
{
    const struct apapi_sample sample = {.component = component->name,
                                        .time_ns = component->read_ns - common->start_ns,
                                        .event_count = component->event_count,
                                        .events = component->events,
                                        .readings = component->readings,
                                        .values = component->values};
    size_t index = common_index(common, component);

    if (common->live) {
        pthread_mutex_lock(&common->showing);
        live_show(common->live, component, index, common->shown);
        if (common->on_live) {
            common->on_live(common->live, common->live_context);
        }
        pthread_mutex_unlock(&common->showing);
    }
    overflow_evaluate(&common->overflows, component, index);
    if (!common->on_sample) {
        return;
    }
    for (size_t i = 0; i < component->event_count; i++) {
        component->readings[i] = component->raw[component->slots[i]];
        component->values[i] = component->meters[i].value;
    }
    pthread_mutex_lock(&common->reporting);
    common->on_sample(&sample, common->context);
    pthread_mutex_unlock(&common->reporting);
}

void common_finish(struct session_common *common, const struct component *component)
{
    pthread_mutex_lock(&common->showing);
    live_finish(common->live, component, common_index(common, component), common->shown);
    pthread_mutex_unlock(&common->showing);
}
