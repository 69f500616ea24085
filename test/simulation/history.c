/* SPDX-License-Identifier: BSD-3-Clause */
#include "simulation/history.h"

const struct history_fault *history_fault_at(const struct history_component *component,
                                             enum history_fault_kind kind, uint64_t now_ns)
{
    for (size_t i = 0; i < component->fault_count; i++) {
        const struct history_fault *fault = &component->faults[i];

        if (fault->kind == kind && now_ns >= fault->from_ns && now_ns < fault->to_ns) {
            return fault;
        }
    }
    return NULL;
}

bool history_has(const struct history_component *component, enum history_fault_kind kind)
{
    for (size_t i = 0; i < component->fault_count; i++) {
        if (component->faults[i].kind == kind) {
            return true;
        }
    }
    return false;
}
