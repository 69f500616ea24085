/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_RECORD_WINDOW_H
#define APAPI_RECORD_WINDOW_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/measurement.h"
#include "measure/counter.h"

/** The shorter one of two times, of which 0 is not known. */
static inline uint64_t window_shorter_ns(uint64_t a_ns, uint64_t b_ns)
{
    return a_ns == 0 || (b_ns > 0 && b_ns < a_ns) ? b_ns : a_ns;
}

/** The longest of its meters': a domain has no power of a shorter time [ns]. */
static inline uint64_t window_of_component_ns(const struct apapi_component_result *component)
{
    uint64_t window_ns = apapi_window_ns(component->interval_ns, 0);

    for (size_t i = 0; i < component->event_count; i++) {
        const struct apapi_event *event = &component->events[i].event;
        uint64_t own_ns = apapi_window_ns(component->interval_ns, event->update_ns);

        if (apapi_counter_never_rests(event) && event->accumulates && own_ns > window_ns) {
            window_ns = own_ns;
        }
    }
    return window_ns;
}

/** The shortest time that has a power, of all components [ns]; 0: not known. */
static inline uint64_t window_shortest_ns(const struct apapi_measurement *m)
{
    uint64_t shortest_ns = 0;

    for (size_t i = 0; i < m->component_count; i++) {
        if (m->components[i].measured) {
            shortest_ns = window_shorter_ns(shortest_ns, window_of_component_ns(&m->components[i]));
        }
    }
    return shortest_ns;
}

/** @return whether a time is too short for a power. */
static inline bool window_is_longer(uint64_t window_ns, double time_ns)
{
    return time_ns < (double)window_ns;
}

#endif
