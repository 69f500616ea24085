/* SPDX-License-Identifier: BSD-3-Clause */
/* What the nodes' records of a step have in common: identity, times and ending. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "record/fields.h"
#include "record/record.h"
#include "sum/merge_parts.h"

_Static_assert(offsetof(struct apapi_record, id) == 0, "fields_of_record begins with the identity");

static void keep_same(const struct field *field, char *common, const char *other)
{
    switch (field->form) {
    case FIELD_TEXT:
        if (strcmp(common, other) != 0) {
            *common = '\0';
        }
        break;
    case FIELD_NUMBER:
        if (memcmp(common, other, sizeof(uint32_t)) != 0) {
            *(uint32_t *)(void *)common = APAPI_UNKNOWN;
        }
        break;
    default:
        *(bool *)common &= *(const bool *)other;
        break;
    }
}

static void add_identity(struct apapi_identity *common, const struct apapi_identity *other)
{
    const uint32_t tasks = known_sum(common->tasks, other->tasks);
    const uint32_t cores = known_sum(common->cores, other->cores);
    const uint32_t node_cores = known_sum(common->node_cores, other->node_cores);
    const uint32_t gpus = known_sum(common->gpus, other->gpus);

    for (const struct field *field = fields_of_record; field->key; field++) {
        if (field->offset < sizeof(struct apapi_identity)) {
            keep_same(field, (char *)common + field->offset, (const char *)other + field->offset);
        }
    }
    common->tasks = tasks;
    common->cores = cores;
    common->node_cores = node_cores;
    common->gpus = gpus;
}

void merge_common_add(struct apapi_merge *merge, const struct apapi_record *record)
{
    const struct apapi_measurement *m = &record->measurement;
    bool first = merge->nodes.count[MERGE_RECORDED] == 1;
    int64_t end_ns = record_end_ns(m);

    if (first) {
        merge->id = record->id;
        merge->ending = record->ending;
    } else {
        add_identity(&merge->id, &record->id);
        merge->ending = ending_of_both(&merge->ending, &record->ending);
    }
    if (first || m->start_unix_ns < merge->start_unix_ns) {
        merge->start_unix_ns = m->start_unix_ns;
    }
    if (first || end_ns > merge->end_unix_ns) {
        merge->end_unix_ns = end_ns;
    }
}
