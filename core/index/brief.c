/* SPDX-License-Identifier: BSD-3-Clause */
#include "index/brief.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "record/fields.h"
#include "record/record.h"

/* Write a value, or read it: both go the same way through a record. */
static void pass(struct brief_lines *lines, bool writes, void *value, size_t size)
{
    if (writes) {
        brief_append(lines, value, size);
        return;
    }
    lines->failed = lines->failed || lines->size - lines->at < size;
    if (lines->failed) {
        memset(value, 0, size);
        return;
    }
    memcpy(value, lines->bytes + lines->at, size);
    lines->at += size;
}

static void pass_text(struct brief_lines *lines, bool writes, void *text, size_t room)
{
    size_t size =
        writes ? strlen(text) + 1 : strnlen(lines->bytes + lines->at, lines->size - lines->at) + 1;

    lines->failed = lines->failed || size > room;
    pass(lines, writes, text, lines->failed ? 1 : size);
}

/* Members of a structure. Those of the forms that are not named have eight bytes. */
static void pass_fields(struct brief_lines *lines, bool writes, const struct field *fields,
                        void *base)
{
    for (const struct field *field = fields; field->key; field++) {
        void *member = (char *)base + field->offset;

        switch (field->form) {
        case FIELD_TEXT:
            pass_text(lines, writes, member, field->size);
            break;
        case FIELD_NUMBER:
        case FIELD_SET:
            pass(lines, writes, member, sizeof(uint32_t));
            break;
        case FIELD_FLAG:
            pass(lines, writes, member, sizeof(bool));
            break;
        default:
            pass(lines, writes, member, sizeof(uint64_t));
        }
    }
}

/* Of all components the sum needs the shortest time that has a power, that of one whose interval is
 * twice as long, and which GPUs have meters. */
static void pass_components(struct brief_lines *lines, bool writes, struct apapi_measurement *m)
{
    uint64_t window_ns = writes ? window_shortest_ns(m) : 0, gpus = writes ? record_gpus(m) : 0;
    struct apapi_component_result *component = &lines->component;

    pass(lines, writes, &window_ns, sizeof window_ns);
    pass(lines, writes, &gpus, sizeof gpus);
    if (writes) {
        return;
    }
    if (gpus != lines->named) {
        lines->named = gpus;
        lines->gpu_count = 0;
        for (int gpu = 0; gpus; gpu++, gpus >>= 1) {
            struct apapi_event *event = &lines->gpus[lines->gpu_count].event;

            snprintf(event->name, sizeof event->name, ":::gpu%d", gpu);
            event->domain = APAPI_DOMAIN_GPU;
            lines->gpu_count += gpus & 1;
        }
    }
    *component = (struct apapi_component_result){.measured = true,
                                                 .interval_ns = 2 * window_ns,
                                                 .events = lines->gpus,
                                                 .event_count = lines->gpu_count};
    m->component_count = 1;
    m->components = component;
}

static void pass_domain(struct brief_lines *lines, bool writes, struct apapi_domain_result *domain)
{
    double *const figures[] = {&domain->energy_j,    &domain->uncertainty_j, &domain->covered,
                               &domain->power_w.min, &domain->power_w.mean,  &domain->power_w.max};
    bool drawn = domain->timeline.count > 0;

    pass(lines, writes, &domain->measured, sizeof domain->measured);
    if (domain->measured) {
        for (size_t i = 0; i < COUNT_OF(figures); i++) {
            pass(lines, writes, figures[i], sizeof *figures[i]);
        }
        pass(lines, writes, &drawn, sizeof drawn);
    }
    if (!writes) {
        domain->timeline.count = domain->measured && drawn;
    }
}

static void pass_record(struct brief_lines *lines, bool writes, struct apapi_record *record)
{
    pass_fields(lines, writes, fields_of_record, record);
    pass_fields(lines, writes, fields_of_trust, &record->measurement);
    pass_components(lines, writes, &record->measurement);
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        pass_domain(lines, writes, &record->measurement.domains[d]);
    }
}

void brief_append(struct brief_lines *lines, const void *bytes, size_t size)
{
    lines->failed =
        lines->failed || array_extend(&lines->bytes, lines->size, size, &lines->room, 1);
    if (!lines->failed) {
        memcpy(lines->bytes + lines->size, bytes, size);
        lines->size += size;
    }
}

void brief_add(struct brief_lines *lines, struct brief_line line, struct apapi_record *record)
{
    struct sum_store *sums = &lines->sums;

    line.odd = !record;
    if (record) {
        sums->piece_count = sums->domain_count = sums->curve_count = 0;
        lines->failed = lines->failed || sum_add(sums, record, NULL);
        line.curves = (uint32_t)(sums->curve_count * sizeof *sums->curves);
    }
    brief_append(lines, &line, sizeof line);
    if (record) {
        pass_record(lines, true, record);
    }
}

int brief_read(struct brief_lines *lines, struct brief_line *line, struct apapi_record *record)
{
    if (lines->at == lines->size) {
        return 0;
    }
    pass(lines, false, line, sizeof *line);
    if (!line->odd) {
        pass_record(lines, false, record);
    }
    if (lines->failed) {
        errno = EBADMSG;
        return -1;
    }
    return 1;
}
