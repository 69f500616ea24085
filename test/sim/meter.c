/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The result of reading a node at a given time. Energy is computed in 128-bit integers and rounded
 * down once, so that it is exact and never goes back.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "simhw.h"

__extension__ typedef unsigned __int128 meter_wide;

static bool meter_active(const struct sim_event *event, enum sim_event_kind kind, uint64_t time_ns)
{
    return event->kind == kind && time_ns >= event->from_ns && time_ns < event->to_ns;
}

static struct sim_event *meter_find(const struct sim_node *node, enum sim_event_kind kind,
                                    uint64_t time_ns)
{
    for (size_t i = 0; i < node->event_count; i++) {
        if (meter_active(&node->events[i], kind, time_ns) && !node->events[i].done) {
            return &node->events[i];
        }
    }
    return NULL;
}

/* @return the time that is shown by the hardware's last update. */
static uint64_t meter_shown_ns(const struct sim_node *node, uint64_t time_ns)
{
    const struct sim_event *freeze = meter_find(node, SIM_FREEZE, time_ns);
    uint64_t shown_ns = freeze ? freeze->from_ns : time_ns;

    return node->update_ns == 0 ? shown_ns : shown_ns - shown_ns % node->update_ns;
}

static meter_wide meter_used_uj(const struct sim_power *power, uint64_t time_ns)
{
    return (meter_wide)power->power_uw * time_ns / SIM_NS_PER_S +
           (power->load ? sim_load_energy_uj(power->load, time_ns) : 0);
}

/* @return the counter: the energy since second 0 or the last reset, modulo the counter's range. */
static uint64_t meter_energy_uj(const struct sim_node *node, uint64_t shown_ns)
{
    const struct sim_event *last = NULL;
    meter_wide energy_uj = meter_used_uj(&node->power, shown_ns);

    for (size_t i = 0; i < node->event_count; i++) {
        const struct sim_event *event = &node->events[i];

        if (meter_active(event, SIM_RESET, shown_ns) && (!last || event->from_ns > last->from_ns)) {
            last = event;
        }
    }
    if (last) {
        energy_uj -= meter_used_uj(&node->power, last->from_ns);
    } else {
        energy_uj += node->start_uj;
    }
    return (uint64_t)(energy_uj % ((meter_wide)node->range_uj + 1));
}

ssize_t sim_meter_read(struct sim_node *node, uint64_t time_ns, char text[SIM_TEXT_SIZE])
{
    struct sim_event *absurd = meter_find(node, SIM_ABSURD, time_ns);

    if (meter_find(node, SIM_FAIL, time_ns)) {
        return -EIO;
    }
    if (absurd) {
        absurd->done = true;
        return snprintf(text, SIM_TEXT_SIZE, "%s\n", absurd->value);
    }
    if (node->kind == SIM_TEXT) {
        return snprintf(text, SIM_TEXT_SIZE, "%s", node->text);
    }
    return snprintf(text, SIM_TEXT_SIZE, "%" PRIu64 "%s\n",
                    meter_energy_uj(node, meter_shown_ns(node, time_ns)) / node->divisor,
                    node->unit);
}

static uint64_t meter_register_value(const struct sim_register *reg, uint64_t time_ns)
{
    const meter_wide uw_ns_per_j = (meter_wide)1000000 * SIM_NS_PER_S;
    meter_wide counts = ((meter_wide)reg->power_uw * time_ns << reg->unit_exponent) / uw_ns_per_j;

    return reg->counts ? (uint64_t)(reg->value + counts) & UINT32_MAX : reg->value;
}

int sim_meter_read_register(const struct sim_node *node, uint64_t time_ns, uint64_t number,
                            uint64_t *value)
{
    if (meter_find(node, SIM_FAIL, time_ns)) {
        return -EIO;
    }
    for (size_t i = 0; i < node->register_count; i++) {
        if (node->registers[i].number == number) {
            *value = meter_register_value(&node->registers[i], meter_shown_ns(node, time_ns));
            return 0;
        }
    }
    return -EIO;
}

bool sim_meter_vanished(const struct sim_tree *tree, size_t node, uint64_t time_ns)
{
    for (; node != 0; node = tree->nodes[node].parent) {
        if (meter_find(&tree->nodes[node], SIM_VANISH, time_ns)) {
            return true;
        }
    }
    return false;
}

static bool meter_replaced(const struct sim_node *node, uint64_t opened_ns, uint64_t time_ns)
{
    for (size_t i = 0; i < node->event_count; i++) {
        const struct sim_event *event = &node->events[i];

        if (event->reopen && opened_ns < event->from_ns && time_ns >= event->from_ns) {
            return true;
        }
    }
    return false;
}

bool sim_meter_dead(const struct sim_tree *tree, size_t node, uint64_t opened_ns, uint64_t time_ns)
{
    if (sim_meter_vanished(tree, node, time_ns)) {
        return true;
    }
    for (; node != 0; node = tree->nodes[node].parent) {
        if (meter_replaced(&tree->nodes[node], opened_ns, time_ns)) {
            return true;
        }
    }
    return false;
}
