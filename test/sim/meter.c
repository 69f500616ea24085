/* SPDX-License-Identifier: BSD-3-Clause */
/* The result of one read of a node at a given time: the signal and the effects of the spec. */
#include "simhw.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

__extension__ typedef unsigned __int128 meter_wide;

static bool meter_active(const struct sim_event *event, enum sim_event_kind kind, uint64_t time_ns)
{
    return event->kind == kind && time_ns >= event->from_ns && time_ns < event->to_ns;
}

static const struct sim_event *meter_find(const struct sim_node *node, enum sim_event_kind kind,
                                          uint64_t time_ns)
{
    for (size_t i = 0; i < node->event_count; i++) {
        if (meter_active(&node->events[i], kind, time_ns)) {
            return &node->events[i];
        }
    }
    return NULL;
}

/* The time that the hardware's last update shows. */
static uint64_t meter_shown_ns(const struct sim_node *node, uint64_t time_ns)
{
    const struct sim_event *freeze = meter_find(node, SIM_FREEZE, time_ns);
    uint64_t shown_ns = freeze == NULL ? time_ns : freeze->from_ns;

    return node->update_ns == 0 ? shown_ns : shown_ns - shown_ns % node->update_ns;
}

/* The counter: energy since second 0, or since the last reset, modulo its range. */
static uint64_t meter_energy_uj(const struct sim_node *node, uint64_t shown_ns)
{
    const struct sim_event *last = NULL;
    meter_wide energy_uj = sim_power_energy_uj(&node->power, shown_ns);

    for (size_t i = 0; i < node->event_count; i++) {
        const struct sim_event *event = &node->events[i];

        if (meter_active(event, SIM_RESET, shown_ns) &&
            (last == NULL || event->from_ns > last->from_ns)) {
            last = event;
        }
    }
    if (last != NULL) {
        energy_uj -= sim_power_energy_uj(&node->power, last->from_ns);
    } else {
        energy_uj += node->start_uj;
    }
    return (uint64_t)(energy_uj % ((meter_wide)node->range_uj + 1));
}

/* The value of a SIM_ABSURD that is due and was not read yet, or NULL. */
static const char *meter_take_absurd(struct sim_node *node, uint64_t time_ns)
{
    for (size_t i = 0; i < node->event_count; i++) {
        struct sim_event *event = &node->events[i];

        if (meter_active(event, SIM_ABSURD, time_ns) && !event->done) {
            event->done = true;
            return event->value;
        }
    }
    return NULL;
}

/* The number as the node shows it. */
static ssize_t meter_show(const struct sim_node *node, int64_t sign, uint64_t number,
                          char text[SIM_TEXT_SIZE])
{
    uint64_t shown = node->divisor == 0 ? number : number / node->divisor;

    return snprintf(text, SIM_TEXT_SIZE, "%s%" PRIu64 "%s%s\n", sign < 0 && shown > 0 ? "-" : "",
                    shown, *node->unit == '\0' ? "" : " ", node->unit);
}

static ssize_t meter_show_gauge(const struct sim_node *node, uint64_t shown_ns,
                                char text[SIM_TEXT_SIZE])
{
    int64_t value = sim_gauge_value(&node->gauge, shown_ns);

    return meter_show(node, value, value < 0 ? -(uint64_t)value : (uint64_t)value, text);
}

ssize_t sim_meter_read(struct sim_node *node, uint64_t time_ns, char text[SIM_TEXT_SIZE])
{
    const struct sim_event *fail = meter_find(node, SIM_FAIL, time_ns);
    uint64_t shown_ns = meter_shown_ns(node, time_ns);
    const char *absurd;

    if (fail != NULL) {
        return -fail->error;
    }
    absurd = meter_take_absurd(node, time_ns);
    if (absurd != NULL) {
        return snprintf(text, SIM_TEXT_SIZE, "%s\n", absurd);
    }
    switch (node->kind) {
    case SIM_TEXT:
        return snprintf(text, SIM_TEXT_SIZE, "%s", node->text);
    case SIM_ENERGY:
        return meter_show(node, 1, meter_energy_uj(node, shown_ns), text);
    case SIM_GAUGE:
        return meter_show_gauge(node, shown_ns, text);
    default:
        return -EINVAL;
    }
}

int sim_meter_read_register(const struct sim_node *node, uint64_t time_ns, uint64_t number,
                            uint64_t *value)
{
    const struct sim_event *fail = meter_find(node, SIM_FAIL, time_ns);

    if (fail != NULL) {
        return -fail->error;
    }
    for (size_t i = 0; i < node->register_count; i++) {
        if (node->registers[i].number == number) {
            *value = sim_register_value(&node->registers[i], meter_shown_ns(node, time_ns));
            return 0;
        }
    }
    return -EIO;
}

bool sim_meter_vanished(const struct sim_tree *tree, size_t node, uint64_t time_ns)
{
    for (; node != 0; node = tree->nodes[node].parent) {
        if (meter_find(&tree->nodes[node], SIM_VANISH, time_ns) != NULL) {
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
