/* SPDX-License-Identifier: BSD-3-Clause */
#include "limit/crossings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

#define HALF (APAPI_CROSSINGS_MAX / 2)
#define LATE_NS (2 * NS_PER_S) /* for scancel: then the first attempt has failed */

/* --- noting ----------------------------------------------------------------------------------- */

int crossings_open(struct crossings *crossings, const struct actor_config *config,
                   struct apapi_error *err)
{
    struct actor_config whole = *config;
    int64_t unix_ns = 0;
    uint64_t now_ns = 0;

    clock_pair(&unix_ns, &now_ns);
    crossings->unix_offset_ns = unix_ns - (int64_t)now_ns;
    whole.limits = &crossings->limits;
    crossings->actor = ACTOR_NONE;
    pthread_mutex_init(&crossings->mutex, NULL);
    for (size_t i = 0; i < crossings->limits.count; i++) {
        crossings->limits.limits[i].owner = crossings;
        crossings->limits.limits[i].waits = crossings->limits.limits[i].scope == LIMIT_NODE;
    }
    crossings->open = actor_start(&crossings->actor, &whole, err) == 0;
    return crossings->open ? 0 : -1;
}

int crossings_add_task(const struct crossings *crossings, pid_t pid)
{
    const struct order order = {.kind = ORDER_TASK, .pid = pid};

    return crossings->open ? actor_order(&crossings->actor, &order) : 0;
}

/* "SIGUSR1: to 2 processes; exec: exit status 0". A command that is not the user's is no news. */
void crossings_note(const struct order_answer *answer, void *context)
{
    struct crossings *crossings = context;
    struct crossings_kept *kept = crossings->kept;
    char text[sizeof answer->text], *result;
    size_t length;

    snprintf(text, sizeof text, "%s", answer->text);
    if (answer->ran) {
        snprintf(text, sizeof text, *answer->text ? "not sent" : "not sent: exit status %d",
                 answer->status);
    }
    pthread_mutex_lock(&crossings->mutex);
    while (kept < crossings->kept + crossings->count && kept->number != answer->number) {
        kept++;
    }
    if (kept < crossings->kept + crossings->count) {
        kept->asked_ns = answer->ran ? 0 : kept->asked_ns;
        result = kept->crossing.result;
        length = strlen(result);
        if (!answer->ran || answer->status != 0) {
            snprintf(result + length, sizeof kept->crossing.result - length, "%s%s",
                     length ? "; " : "", text);
        }
    }
    pthread_mutex_unlock(&crossings->mutex);
}

/* The name where it was crossed: "total >= 5kJ", "budget of 5kWh, warn=80%". */
static void describe(const struct limit *limit, char text[LIMIT_TEXT_SIZE])
{
    char part[32] = "";

    if (limit->warning) {
        snprintf(part, sizeof part, ", warn=%g%%", limit->warn * 100);
    }
    if (limit->budget) {
        snprintf(text, LIMIT_TEXT_SIZE, "budget of %.128s%s%s", limit->text,
                 limit->scope == LIMIT_JOB ? " of the job" : "", part);
    } else {
        snprintf(text, LIMIT_TEXT_SIZE, "%s", limit->text);
    }
}

/* Where there is no actor, or only a mark to set, nothing needs to be done. */
int crossings_cross(struct crossings *crossings, const struct limit *limit,
                    struct apapi_crossing *crossing, const struct order *reach)
{
    struct order order = reach ? *reach : (struct order){.pid = 0};
    struct crossings_kept kept = {
        .asked_ns = reach && *limit_first_signal(limit) ? clock_monotonic_ns() : 0};
    struct order_answer answer;
    int code;

    describe(limit, crossing->threshold);
    if (!*crossing->action) {
        limit_actions_text(limit, crossing->action, sizeof crossing->action);
    }
    kept.crossing = order.crossing = *crossing;
    order.kind = ORDER_CROSSED;
    order.limit = (size_t)(limit - crossings->limits.limits);
    order.whole_job = limit->whole_job;
    order.term = (limit->actions & LIMIT_TERM) != 0;
    order.signal = limit->actions & LIMIT_SIGNAL ? limit->signal : 0;
    pthread_mutex_lock(&crossings->mutex);
    kept.number = order.number = crossings->total++;
    if (crossings->count == APAPI_CROSSINGS_MAX) { /* the first half stays, then come the latest */
        memmove(&crossings->kept[HALF], &crossings->kept[HALF + 1], (HALF - 1) * sizeof kept);
        crossings->count--;
    }
    crossings->kept[crossings->count++] = kept;
    pthread_mutex_unlock(&crossings->mutex);
    if (crossings->actor.fd < 0 || !(limit->actions & ~(unsigned)LIMIT_STAMP) ||
        actor_order(&crossings->actor, &order) == 0) {
        return 0;
    }
    code = errno;
    answer = (struct order_answer){.number = order.number};
    snprintf(answer.text, sizeof answer.text, "nothing was done: %s",
             code == EAGAIN ? "too many crossings at once" : strerror(code));
    crossings_note(&answer, crossings);
    errno = code;
    return -1;
}

int crossings_cross_sum(struct crossings *crossings, const struct limit *limit, double sum_j,
                        const struct order *reach)
{
    struct apapi_crossing crossing = {.unix_ns = (int64_t)limit->state.crossing.time_ns +
                                                 crossings->unix_offset_ns,
                                      .value = sum_j,
                                      .unit = "J",
                                      .count = limit->count};

    if (!reach && *limit_first_signal(limit)) {
        strcpy(crossing.action, "log");
    }
    return crossings_cross(crossings, limit, &crossing, reach);
}

static void crossings_handle(const struct apapi_overflow_crossing *crossed, void *context)
{
    struct limit *limit = context;
    struct crossings *crossings = limit->owner;
    struct apapi_crossing crossing = {.unix_ns =
                                          (int64_t)crossed->time_ns + crossings->unix_offset_ns,
                                      .value = crossed->value,
                                      .count = limit->count += crossed->count};

    snprintf(crossing.unit, sizeof crossing.unit, "%s",
             crossed->unit ? crossed->unit : limit_unit_name(limit));
    crossings_cross(crossings, limit, &crossing, NULL);
}

/* --- in a session ----------------------------------------------------------------------------- */

/* Mark the place. The quantity is there already, so its name before the reason is left out. */
static int crossings_refuse(const struct limit *limit, int code, const char *reason,
                            struct apapi_error *err)
{
    size_t length = strlen(limit->meter);

    if (strncmp(reason, limit->meter, length) == 0 && reason[length] == ':') {
        reason += length + 1 + strspn(reason + length + 1, " ");
    }
    return limit_refuse(limit,
                        code == ERANGE || code == EINVAL ? LIMIT_AMOUNT
                        : code == EDOM                   ? LIMIT_UNIT
                                                         : LIMIT_METER,
                        code, reason, err);
}

static int crossings_set_one(struct limit *limit, struct apapi_session *session,
                             struct apapi_error *err)
{
    const char *unit = limit_unit_name(limit);
    const struct apapi_overflow overflow = {.event = limit->meter,
                                            .threshold = limit->amount,
                                            .mode = limit->condition,
                                            .handler = crossings_handle,
                                            .user = limit,
                                            .hold_ns = limit->hold_ns,
                                            .hysteresis = limit->hysteresis,
                                            .unit = *unit ? unit : NULL};
    struct apapi_error inner = {""};
    int code = apapi_overflow_add(session, &overflow, &inner) < 0 ? errno : 0;

    limit->waits = code == EAGAIN;
    return code == 0 || limit->waits ? 0 : crossings_refuse(limit, code, inner.text, err);
}

int crossings_set(struct crossings *crossings, struct apapi_session *session,
                  struct apapi_error *err)
{
    int code = 0;

    for (size_t i = 0; crossings->open && i < crossings->limits.count; i++) {
        struct limit *limit = &crossings->limits.limits[i];

        if (limit->waits && crossings_set_one(limit, session, code ? NULL : err)) {
            code = code ? code : errno;
        }
    }
    errno = code ? code : errno;
    return code ? -1 : 0;
}

const struct limit *crossings_waiting(const struct crossings *crossings)
{
    for (size_t i = 0; crossings->open && i < crossings->limits.count; i++) {
        if (crossings->limits.limits[i].waits) {
            return &crossings->limits.limits[i];
        }
    }
    return NULL;
}

void crossings_forget(struct crossings *crossings)
{
    if (!crossings->open) {
        return;
    }
    pthread_mutex_lock(&crossings->mutex);
    crossings->total = crossings->count = 0;
    pthread_mutex_unlock(&crossings->mutex);
    for (size_t i = 0; i < crossings->limits.count; i++) {
        crossings->limits.limits[i].count = 0;
    }
}

void crossings_end(struct crossings *crossings)
{
    if (crossings->open) {
        actor_end(&crossings->actor, crossings_note, crossings);
    }
}

/* --- elsewhere -------------------------------------------------------------------------------- */

/* Of an order to scancel that has no answer in time, the result says so. */
static int crossings_copy_kept(struct crossings *crossings, struct apapi_record *record)
{
    uint64_t now_ns = clock_monotonic_ns();
    bool failed;

    pthread_mutex_lock(&crossings->mutex);
    record->crossing =
        crossings->count > 0 ? calloc(crossings->count, sizeof *record->crossing) : NULL;
    record->crossing_count = record->crossing ? crossings->count : 0;
    for (size_t i = 0; i < record->crossing_count; i++) {
        const struct crossings_kept *kept = &crossings->kept[i];
        struct apapi_crossing *crossing = &record->crossing[i];

        *crossing = kept->crossing;
        if (!*crossing->result && kept->asked_ns && now_ns > kept->asked_ns + LATE_NS) {
            strcpy(crossing->result, "not sent yet");
        }
    }
    record->crossings = crossings->total;
    failed = record->crossing_count < crossings->count;
    pthread_mutex_unlock(&crossings->mutex);
    return failed ? -1 : 0;
}

int crossings_copy(struct crossings *crossings, struct apapi_record *record)
{
    struct order_answer answer;

    if (!crossings->open) {
        return 0;
    }
    while (actor_hear(&crossings->actor, &answer)) {
        crossings_note(&answer, crossings);
    }
    return crossings_copy_kept(crossings, record);
}

char *crossings_encode(struct crossings *crossings)
{
    struct apapi_record record = {.id.node = "-"};
    char *line = NULL;

    if (crossings->total > 0 && crossings_copy_kept(crossings, &record) == 0) {
        apapi_record_encode(&record, &line, NULL);
    }
    free(record.crossing);
    return line;
}

static int crossings_compare(const void *a, const void *b)
{
    const struct apapi_crossing *left = a, *right = b;

    return (left->unix_ns > right->unix_ns) - (left->unix_ns < right->unix_ns);
}

void crossings_decode(const char *line, struct apapi_record *record)
{
    struct apapi_record more;
    struct apapi_crossing *grown;
    size_t room = APAPI_CROSSINGS_MAX - record->crossing_count;

    if (apapi_record_decode(line, strcspn(line, "\n"), &more, NULL)) {
        return;
    }
    room = more.crossing_count < room ? more.crossing_count : room;
    grown = room > 0 ? reallocarray(record->crossing, record->crossing_count + room, sizeof *grown)
                     : NULL;
    if (grown) {
        memcpy(grown + record->crossing_count, more.crossing, room * sizeof *grown);
        record->crossing = grown;
        record->crossing_count += room;
        qsort(grown, record->crossing_count, sizeof *grown, crossings_compare);
    }
    record->crossings += more.crossings;
    apapi_record_clear(&more);
}
