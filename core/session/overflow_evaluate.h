/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SESSION_OVERFLOW_EVALUATE_H
#define SESSION_OVERFLOW_EVALUATE_H
#include "session/component.h"
#include "session/overflow_parts.h"

/* What a reading has crossed. No call allocates, logs, or waits for a handler. */

void overflow_init(struct overflows *overflows, struct session_clock *clock);
void overflow_clear(struct overflows *overflows);

/** With the mutex: what has been removed is told, and its place is free. */
void overflow_free_slot(struct overflow_slot *slot);

/** A run begins: nothing is known or crossed yet. */
void overflow_restart(struct overflows *overflows);

/** With the mutex: forget the sums of domains and the node. */
void overflow_forget_sums(struct overflows *overflows);

/**
 * With the mutex of the overflows, and that of whoever reads the component: add the component's
 * latest reading to the sums.
 * @param index  of the component in the session's list
 */
void overflow_see(struct overflows *overflows, const struct component *component, size_t index);

/** The component has just been read; its worker's mutex is held. */
void overflow_evaluate(struct overflows *overflows, const struct component *component,
                       size_t index);

#endif
