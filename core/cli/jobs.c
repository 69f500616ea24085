/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/jobs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/values.h"

/* --- lists of jobs -------------------------------------------------------------------------- */

/* One word of the list of jobs. */
struct job_request {
    uint32_t job;
    char kind;     /* '\0', '_' array, '+' heterogeneous job */
    uint32_t part; /* task or component; APAPI_UNKNOWN: any */
    char step[32]; /* "": any */
};

static bool jobs_take_number(const char **text, uint32_t *number)
{
    size_t digits = strspn(*text, "0123456789");
    unsigned long long value = strtoull(*text, NULL, 10);

    if (digits == 0 || digits > 10 || value >= APAPI_UNKNOWN) {
        return false;
    }
    *number = (uint32_t)value;
    *text += digits;
    return true;
}

static bool parse_request(const char *text, struct job_request *request)
{
    *request = (struct job_request){.part = APAPI_UNKNOWN};
    if (!jobs_take_number(&text, &request->job) || request->job == 0) {
        return false;
    }
    if (*text == '_' || *text == '+') {
        request->kind = *text++;
        if (*text == '*') {
            text++;
        } else if (!jobs_take_number(&text, &request->part)) {
            return false;
        }
    }
    if (*text == '.' && text[1] && strlen(text + 1) < sizeof request->step) {
        snprintf(request->step, sizeof request->step, "%s", text + 1);
        return true;
    }
    return *text == '\0';
}

int job_list_parse(const char *text, struct job_list *list, struct apapi_error *err)
{
    char *words = text ? strdup(text) : NULL, *rest = words, *word;
    int result = 0;

    *list = (struct job_list){0};
    if (!text) {
        return 0;
    }
    list->requests = calloc(strlen(text) + 1, sizeof *list->requests);
    list->jobs = calloc(strlen(text) + 1, sizeof *list->jobs);
    if (!words || !list->requests || !list->jobs) {
        free(words);
        return apapi_fail(err, ENOMEM, "no memory");
    }
    while (result == 0 && (word = strsep(&rest, ","))) {
        struct job_request *request = &list->requests[list->count];

        if (parse_request(word, request)) {
            list->jobs[list->count++] = request->job;
        } else {
            result = apapi_fail(
                err, EINVAL,
                "'%.60s' is not a job; write it as 17, 17.0, 17.batch, 17_3, 17_* or 17+1", word);
        }
    }
    free(words);
    return result;
}

void job_list_free(struct job_list *list)
{
    free(list->requests);
    free(list->jobs);
    *list = (struct job_list){0};
}

bool job_is_named(const char *word)
{
    struct job_list list;
    bool result = job_list_parse(word, &list, NULL) == 0;

    job_list_free(&list);
    return result;
}

bool job_list_has(const struct job_list *list, const struct apapi_identity *id)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct job_request *request = &list->requests[i];
        bool array = request->kind != '+' && id->array_job == request->job;
        bool het = request->kind != '_' && id->het_job == request->job;
        uint32_t part = request->kind == '_' ? id->array_task : id->het_offset;

        if ((array || het || (!request->kind && id->job == request->job)) &&
            (request->part == APAPI_UNKNOWN || request->part == part) &&
            (!*request->step || strcmp(request->step, id->step) == 0)) {
            return true;
        }
    }
    return list->count == 0;
}

bool user_list_has(const char *users, const struct apapi_identity *id)
{
    char uid[16];

    snprintf(uid, sizeof uid, "%u", id->uid);
    return !users || (*id->user && config_names_have(users, id->user)) ||
           (id->uid != APAPI_UNKNOWN && config_names_have(users, uid));
}

/* --- who a job belongs to ------------------------------------------------------------------- */

enum { CLAIMED = 1, NUMBERED, VERIFIED, OWN };

void claims_learn(struct claims *claims, const struct apapi_identity *id)
{
    struct claims_owner *owner = claims->owners;
    int rank = CLAIMED;

    if (id->job == claims->job) {
        rank = OWN;
    } else if (id->array_job == claims->job && id->verified) { /* Slurm says so */
        rank = VERIFIED;
    } else if (id->het_job == claims->job && id->job - id->het_job == id->het_offset) {
        rank = NUMBERED; /* Slurm numbers the components consecutively */
    }
    while (owner < claims->owners + claims->count && strcmp(owner->cluster, id->cluster) != 0) {
        owner++;
    }
    if (owner == claims->owners + CLAIMS_OWNERS_MAX) {
        return;
    }
    if (owner == claims->owners + claims->count) {
        claims->count++;
        snprintf(owner->cluster, sizeof owner->cluster, "%s", id->cluster);
        owner->rank = 0;
    }
    if (rank > owner->rank) {
        owner->uid = id->uid;
        owner->rank = rank;
    }
}

bool claims_hold(const struct claims *claims, const struct apapi_identity *id)
{
    bool owned = false;

    for (size_t i = 0; i < claims->count; i++) {
        const struct claims_owner *owner = &claims->owners[i];
        bool same = !*id->cluster || strcmp(owner->cluster, id->cluster) == 0;

        if (same && owner->rank > CLAIMED) {
            owned = true;
            if (owner->uid == id->uid || id->uid == APAPI_UNKNOWN) {
                return true;
            }
        }
    }
    return !owned;
}
