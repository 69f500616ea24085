/* SPDX-License-Identifier: BSD-3-Clause */
/* Whose step it is, when it was and how it ended: what the nodes' records have in common. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "record/fields.h"
#include "record/merge.h"

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

static uint32_t add_known(uint32_t sum, uint32_t one)
{
    return one > APAPI_UNKNOWN - sum ? APAPI_UNKNOWN : sum + one; /* unknown is the greatest */
}

static void add_identity(struct apapi_identity *common, const struct apapi_identity *other)
{
    const uint32_t tasks = add_known(common->tasks, other->tasks);
    const uint32_t cores = add_known(common->cores, other->cores);
    const uint32_t gpus = add_known(common->gpus, other->gpus);

    for (const struct field *field = fields_of_record; field->key; field++) {
        if (field->offset < sizeof(struct apapi_identity)) {
            keep_same(field, (char *)common + field->offset, (const char *)other + field->offset);
        }
    }
    common->tasks = tasks;
    common->cores = cores;
    common->gpus = gpus;
}

static uint32_t greater_known(uint32_t a, uint32_t b)
{
    if (a == APAPI_UNKNOWN || b == APAPI_UNKNOWN) {
        return a == APAPI_UNKNOWN ? b : a;
    }
    return a > b ? a : b;
}

/* Without a signal and without a failure these two are unknown. */
static void add_ending(struct apapi_ending *sum, const struct apapi_ending *one)
{
    if (sum->code == APAPI_UNKNOWN || one->code == APAPI_UNKNOWN) {
        *sum = APAPI_ENDING_UNKNOWN;
        return;
    }
    sum->code = greater_known(sum->code, one->code);
    sum->signal = greater_known(sum->signal, one->signal);
    sum->failed = sum->failed == APAPI_UNKNOWN || one->failed == APAPI_UNKNOWN
                      ? greater_known(sum->failed, one->failed)
                      : add_known(sum->failed, one->failed);
}

void merge_common_add(struct apapi_merge *merge, const struct apapi_record *record)
{
    const struct apapi_measurement *m = &record->measurement;
    bool first = merge->nodes.count[MERGE_RECORDED] == 1;
    int64_t end_ns;

    if (__builtin_add_overflow(m->start_unix_ns, m->elapsed_ns, &end_ns)) {
        end_ns = INT64_MAX;
    }
    if (first) {
        merge->id = record->id;
        merge->ending = record->ending;
    } else {
        add_identity(&merge->id, &record->id);
        add_ending(&merge->ending, &record->ending);
    }
    if (first || m->start_unix_ns < merge->start_unix_ns) {
        merge->start_unix_ns = m->start_unix_ns;
    }
    if (first || end_ns > merge->end_unix_ns) {
        merge->end_unix_ns = end_ns;
    }
}
