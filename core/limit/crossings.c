/* SPDX-License-Identifier: BSD-3-Clause */
#include "limit/crossings.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"

#define HALF (APAPI_CROSSINGS_MAX / 2)
#define LATE_NS (2 * NS_PER_S) /* for scancel: then the first attempt has failed */
#define KILL_WAIT_COMMAND      /* prints KillWait of Slurm, "30 sec", or an empty line */          \
    "; echo \"$(scontrol show config | sed -n 's/^KillWait *= *//p')\""

/* --- noting ----------------------------------------------------------------------------------- */

int crossings_open(struct crossings *crossings, const struct actor_config *config,
                   struct apapi_error *err)
{
    struct actor_config whole = config ? *config : (struct actor_config){.line_fd = -1};
    int64_t unix_ns = 0;
    uint64_t now_ns = 0;

    clock_pair(&unix_ns, &now_ns);
    crossings->unix_offset_ns = unix_ns - (int64_t)now_ns;
    crossings->watch.limits = whole.limits = &crossings->limits;
    crossings->actor = ACTOR_NONE;
    pthread_mutex_init(&crossings->mutex, NULL);
    for (size_t i = 0; i < LIMITS_ROOM; i++) {
        crossings->hooks[i] =
            (struct crossings_hook){.owner = crossings,
                                    .limit = i,
                                    .waits = i < crossings->limits.count &&
                                             crossings->limits.limits[i].scope == LIMIT_NODE};
    }
    crossings->open = !config || actor_start(&crossings->actor, &whole, err) == 0;
    return crossings->open ? 0 : -1;
}

int crossings_add_task(const struct crossings *crossings, pid_t pid)
{
    const struct order order = {.kind = ORDER_TASK, .pid = pid};

    return crossings->open ? actor_order(&crossings->actor, &order) : 0;
}

/* The first half stays, the second half has the latest. */
static size_t crossings_slot(uint64_t number)
{
    return number < HALF ? (size_t)number : HALF + (size_t)(number % HALF);
}

/* "SIGUSR1: to 2 processes; exec: exit status 0". A command that is not the user's is no news. */
void crossings_note(const struct order_answer *answer, void *context)
{
    struct crossings *crossings = context;
    struct crossings_kept *kept = &crossings->kept[crossings_slot(answer->number)];
    char *result = kept->crossing.result, text[sizeof answer->text];
    size_t length;

    snprintf(text, sizeof text, "%s", answer->text);
    if (answer->ran) {
        snprintf(text, sizeof text, *answer->text ? "not sent" : "not sent: exit status %d",
                 answer->status);
    }
    pthread_mutex_lock(&crossings->mutex);
    if (answer->number < crossings->total && kept->number == answer->number) {
        kept->asked_ns = answer->ran ? 0 : kept->asked_ns;
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

/* Keep it. The rest is done by this process or needs nothing to be done. */
uint64_t crossings_cross(struct crossings *crossings, size_t limit, struct apapi_crossing *crossing)
{
    const struct limit *of = &crossings->limits.limits[limit];
    struct order order = {.kind = ORDER_CROSSED, .limit = limit};

    describe(of, crossing->threshold);
    if (!*crossing->action) {
        limit_actions_text(of, crossing->action, sizeof crossing->action);
    }
    pthread_mutex_lock(&crossings->mutex);
    order.number = crossings->total++;
    crossings->kept[crossings_slot(order.number)] =
        (struct crossings_kept){.crossing = *crossing, .number = order.number};
    pthread_mutex_unlock(&crossings->mutex);
    order.crossing = *crossing;
    if (crossings->actor.fd >= 0 && (of->actions & ~(unsigned)LIMIT_STAMP) &&
        actor_order(&crossings->actor, &order)) {
        struct order_answer answer = {.number = order.number};

        snprintf(answer.text, sizeof answer.text, "nothing was done: %s",
                 errno == EAGAIN ? "too many crossings at once" : strerror(errno));
        crossings_note(&answer, crossings);
    }
    return order.number;
}

static void crossings_handle(const struct apapi_overflow_crossing *crossed, void *context)
{
    struct crossings_hook *hook = context;
    struct crossings *crossings = hook->owner;
    struct apapi_crossing crossing = {
        .unix_ns = (int64_t)crossed->time_ns + crossings->unix_offset_ns, .value = crossed->value};

    hook->count += crossed->count;
    crossing.count = hook->count;
    snprintf(crossing.unit, sizeof crossing.unit, "%s",
             crossed->unit ? crossed->unit
                           : limit_unit_name(&crossings->limits.limits[hook->limit]));
    crossings_cross(crossings, hook->limit, &crossing);
}

/* --- limits of sums --------------------------------------------------------------------------- */

int crossings_cancel(struct crossings *crossings, const struct order_answer *answer,
                     const char *arguments, const char *then)
{
    struct order order = {.kind = ORDER_RUN, .number = answer->number, .limit = answer->limit};
    struct order_answer failed = {.number = answer->number, .text = "-", .ran = true, .status = 1};
    struct crossings_kept *kept = &crossings->kept[crossings_slot(order.number)];
    int code;

    snprintf(order.command, sizeof order.command,
             "i=0; until out=$(scancel --quiet%s 2>&1); do i=$((i + 1)); "
             "[ $i -lt 10 ] || { echo \"$out\"; exit 1; }; sleep 2; done%s",
             arguments, then);
    if (kept->number == order.number) {
        kept->asked_ns = clock_monotonic_ns();
    }
    if (actor_order(&crossings->actor, &order) == 0) {
        return 0;
    }
    code = errno;
    crossings_note(&failed, crossings);
    errno = code;
    return -1;
}

/* Signals go to all that the limit is for. SIGTERM ends a job; of a step SIGKILL has to follow. */
int crossings_cross_sum(struct crossings *crossings, const struct limit_crossed *crossed,
                        double sum_j, const struct crossings_reach *reach)
{
    const struct limit *limit = &crossings->limits.limits[crossed->limit];
    struct apapi_crossing crossing = {.unix_ns = (int64_t)crossed->crossing.time_ns +
                                                 crossings->unix_offset_ns,
                                      .value = sum_j,
                                      .unit = "J",
                                      .count = crossings->watch.counts[crossed->limit]};
    struct order_answer answer = {.limit = crossed->limit};
    char arguments[LIMIT_COMMAND_SIZE], job[24];
    int result = 0;

    if (!reach && *limit_first_signal(limit)) {
        strcpy(crossing.action, "log");
    }
    answer.number = crossings_cross(crossings, crossed->limit, &crossing);
    if (!reach) {
        return 0;
    }
    snprintf(job, sizeof job, " %" PRIu32, reach->job);
    if (limit->actions & LIMIT_SIGNAL) {
        snprintf(arguments, sizeof arguments, "%s --signal=%s%s", reach->script ? " --full" : "",
                 limit_signal_name(limit->signal), limit->whole_job ? job : reach->steps);
        result = crossings_cancel(crossings, &answer, arguments, "");
    }
    if ((limit->actions & LIMIT_TERM) && limit->whole_job) {
        result |= crossings_cancel(crossings, &answer, job, "");
    } else if (limit->actions & LIMIT_TERM) {
        snprintf(arguments, sizeof arguments, " --signal=TERM%s", reach->steps);
        result |= crossings_cancel(crossings, &answer, arguments, KILL_WAIT_COMMAND);
    }
    return result;
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

static int crossings_set_one(struct crossings_hook *hook, struct apapi_session *session,
                             struct apapi_error *err)
{
    const struct limit *limit = &hook->owner->limits.limits[hook->limit];
    const char *unit = limit_unit_name(limit);
    const struct apapi_overflow overflow = {.event = limit->meter,
                                            .threshold = limit->amount,
                                            .mode = limit->condition,
                                            .handler = crossings_handle,
                                            .user = hook,
                                            .hold_ns = limit->hold_ns,
                                            .hysteresis = limit->hysteresis,
                                            .unit = *unit ? unit : NULL};
    struct apapi_error inner = {""};
    int code;

    hook->waits = false;
    if (apapi_overflow_add(session, &overflow, &inner) >= 0) {
        return 0;
    }
    code = errno;
    hook->waits = code == EAGAIN;
    return hook->waits ? 0 : crossings_refuse(limit, code, inner.text, err);
}

int crossings_set(struct crossings *crossings, struct apapi_session *session,
                  struct apapi_error *err)
{
    int result = 0, code = 0;

    for (size_t i = 0; crossings->open && i < crossings->limits.count; i++) {
        if (crossings->hooks[i].waits &&
            crossings_set_one(&crossings->hooks[i], session, result ? NULL : err)) {
            code = result ? code : errno;
            result = -1;
        }
    }
    errno = result ? code : errno;
    return result;
}

const struct limit *crossings_waiting(const struct crossings *crossings)
{
    for (size_t i = 0; crossings->open && i < crossings->limits.count; i++) {
        if (crossings->hooks[i].waits) {
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
    crossings->total = 0;
    pthread_mutex_unlock(&crossings->mutex);
    for (size_t i = 0; i < LIMITS_ROOM; i++) {
        crossings->hooks[i].count = 0;
    }
}

void crossings_end(struct crossings *crossings)
{
    if (crossings->open) {
        actor_end(&crossings->actor, crossings_note, crossings);
    }
}

/* --- elsewhere -------------------------------------------------------------------------------- */

static size_t crossings_count(const struct crossings *crossings)
{
    return crossings->total < APAPI_CROSSINGS_MAX ? (size_t)crossings->total : APAPI_CROSSINGS_MAX;
}

/* The one at a place in the order of time: the slots of the latest are used in turn. */
static const struct crossings_kept *crossings_at(const struct crossings *crossings, size_t index)
{
    bool late = index >= HALF && crossings->total > APAPI_CROSSINGS_MAX;

    return &crossings->kept[crossings_slot(late ? crossings->total - APAPI_CROSSINGS_MAX + index
                                                : index)];
}

int crossings_copy(struct crossings *crossings, struct apapi_record *record)
{
    struct order_answer answer;
    size_t count;

    if (!crossings->open) {
        return 0;
    }
    while (actor_hear(&crossings->actor, &answer)) {
        crossings_note(&answer, crossings);
    }
    pthread_mutex_lock(&crossings->mutex);
    count = crossings_count(crossings);
    record->crossing = count > 0 ? calloc(count, sizeof *record->crossing) : NULL;
    record->crossing_count = record->crossing ? count : 0;
    for (size_t i = 0; i < record->crossing_count; i++) {
        record->crossing[i] = crossings_at(crossings, i)->crossing;
    }
    record->crossings = crossings->total;
    pthread_mutex_unlock(&crossings->mutex);
    return record->crossing_count == count ? 0 : -1;
}

size_t crossings_write(const struct crossings *crossings, char *text, size_t size)
{
    uint64_t now_ns = clock_monotonic_ns();
    size_t length = 0;
    char count[24];

    for (size_t i = 0; i < crossings_count(crossings); i++) {
        const struct crossings_kept *kept = crossings_at(crossings, i);
        const struct apapi_crossing *one = &kept->crossing;
        bool late = kept->asked_ns && now_ns > kept->asked_ns + LATE_NS;
        const char *result = *one->result || !late ? one->result : "not sent yet";
        int added;

        snprintf(count, sizeof count, "\t%" PRIu64, one->count);
        added =
            snprintf(text + length, size - length, "%" PRId64 " %.9g\t%s\t%s\t%s%s\n", one->unix_ns,
                     one->value, one->threshold, one->action, result, one->count > 1 ? count : "");
        if (added < 0 || (size_t)added >= size - length) {
            break;
        }
        length += (size_t)added;
    }
    text[length] = '\0';
    return length;
}

/* "UNIX_NS JOULES\tLIMIT\tACTION\tRESULT[\tCOUNT]" */
static int crossings_read_line(char *line, struct apapi_crossing *crossing)
{
    struct whole_number unix_ns, count = {.value = 1};
    struct real_number value;
    char *rest, *parts[3];

    if (whole_number_parse(line, &unix_ns) || unix_ns.negative || unix_ns.value > INT64_MAX ||
        *unix_ns.rest != ' ' || real_number_parse(unix_ns.rest + 1, &value) ||
        *value.rest != '\t') {
        return -1;
    }
    rest = strchr(line, '\t') + 1;
    for (size_t i = 0; i < 3; i++) {
        parts[i] = rest ? strsep(&rest, "\t") : NULL;
    }
    if (!parts[2] || (rest && (whole_number_parse(rest, &count) || count.negative))) {
        return -1;
    }
    *crossing = (struct apapi_crossing){
        .unix_ns = (int64_t)unix_ns.value, .value = value.value, .unit = "J", .count = count.value};
    snprintf(crossing->threshold, sizeof crossing->threshold, "%s", parts[0]);
    snprintf(crossing->action, sizeof crossing->action, "%s", parts[1]);
    snprintf(crossing->result, sizeof crossing->result, "%s", parts[2]);
    return 0;
}

static void crossings_insert(struct apapi_record *record, const struct apapi_crossing *crossing)
{
    size_t index = record->crossing_count;
    struct apapi_crossing *grown;

    record->crossings++;
    grown = index < APAPI_CROSSINGS_MAX ? reallocarray(record->crossing, index + 1, sizeof *grown)
                                        : NULL;
    if (!grown) {
        return;
    }
    record->crossing = grown;
    record->crossing_count++;
    for (; index > 0 && grown[index - 1].unix_ns > crossing->unix_ns; index--) {
        grown[index] = grown[index - 1];
    }
    grown[index] = *crossing;
}

void crossings_read(struct apapi_record *record, const char *lines)
{
    struct apapi_crossing crossing;
    char line[1024];

    while (text_next_line(&lines, line, sizeof line)) {
        if (crossings_read_line(line, &crossing) == 0) {
            crossings_insert(record, &crossing);
        }
    }
}
