/* SPDX-License-Identifier: BSD-3-Clause */
#include "fake/source.h"

#include <stdio.h>
#include <string.h>

#include "fake/energy_event.h"

static void fake_read(struct apapi_reader *base, struct apapi_reading *readings)
{
    struct fake_source *fake = (struct fake_source *)base;

    memcpy(readings, fake->rows[fake->next], base->count * sizeof *readings);
    fake->next += fake->next + 1 < fake->row_count;
}

static void fake_close(struct apapi_reader *base)
{
    (void)base;
}

static const struct apapi_source fake_source = {
    .name = "fake", .read = fake_read, .close = fake_close};

void fake_source_init(struct fake_source *fake, int count)
{
    memset(fake, 0, sizeof *fake);
    fake->base.source = &fake_source;
    fake->base.events = fake->events;
    fake->base.count = (size_t)count;
    snprintf(fake->base.detail, sizeof fake->base.detail, "fake");
    for (int i = 0; i < count; i++) {
        fake->events[i] = fake_energy_event;
        fake->events[i].update_ns =
            UINT64_C(1000000000); /* it moves at each reading: probes would count */
        snprintf(fake->events[i].name, sizeof fake->events[i].name, "fake:::ENERGY%d", i);
    }
}

void fake_source_row(struct fake_source *fake, uint64_t raw, int error)
{
    for (size_t i = 0; i < fake->base.count; i++) {
        fake->rows[fake->row_count][i] = (struct apapi_reading){raw, error};
    }
    fake->row_count++;
}
