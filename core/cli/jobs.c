/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/jobs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/values.h"

/* One word of the list of jobs. */
struct job_wish {
    uint32_t job;
    char kind;     /* '\0', '_' of an array, '+' of a heterogeneous job */
    uint32_t part; /* behind it; APAPI_UNKNOWN: any */
    char step[32]; /* "": any */
};

static bool take_number(const char **text, uint32_t *number)
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

static bool take_part(const char **text, struct job_wish *wish)
{
    if (**text != '_' && **text != '+') {
        return true;
    }
    wish->kind = *(*text)++;
    if (**text == '*') {
        ++*text;
        return true;
    }
    return take_number(text, &wish->part);
}

static bool parse_wish(const char *text, struct job_wish *wish)
{
    *wish = (struct job_wish){.part = APAPI_UNKNOWN};
    if (!take_number(&text, &wish->job) || wish->job == 0 || !take_part(&text, wish)) {
        return false;
    }
    if (*text == '.' && text[1] && strlen(text + 1) < sizeof wish->step) {
        snprintf(wish->step, sizeof wish->step, "%s", text + 1);
        return true;
    }
    return *text == '\0';
}

static int parse_words(char *words, struct job_list *list, struct apapi_error *err)
{
    const char *word;

    while ((word = strsep(&words, ","))) {
        struct job_wish *wish = &list->wishes[list->count];

        if (!parse_wish(word, wish)) {
            return apapi_fail(
                err, EINVAL,
                "'%.60s' is no job; write it as 17, 17.0, 17.batch, 17_3, 17_* or 17+1", word);
        }
        list->jobs[list->count++] = wish->job;
    }
    return 0;
}

int job_list_parse(const char *text, struct job_list *list, struct apapi_error *err)
{
    char *words = text ? strdup(text) : NULL;
    int result = 0;

    *list = (struct job_list){0};
    if (!text) {
        return 0;
    }
    list->wishes = calloc(strlen(text) + 1, sizeof *list->wishes);
    list->jobs = calloc(strlen(text) + 1, sizeof *list->jobs);
    if (!words || !list->wishes || !list->jobs) {
        result = apapi_fail(err, ENOMEM, "no memory");
    } else {
        result = parse_words(words, list, err);
    }
    free(words);
    return result;
}

void job_list_free(struct job_list *list)
{
    free(list->wishes);
    free(list->jobs);
    *list = (struct job_list){0};
}

static bool fits(const struct job_wish *wish, const struct apapi_identity *id)
{
    bool array = wish->kind != '+' && id->array_job == wish->job;
    bool het = wish->kind != '_' && id->het_job == wish->job;
    uint32_t part = wish->kind == '_' ? id->array_task : id->het_offset;

    return (array || het || (!wish->kind && id->job == wish->job)) &&
           (wish->part == APAPI_UNKNOWN || wish->part == part) &&
           (!*wish->step || strcmp(wish->step, id->step) == 0);
}

bool job_list_has(const struct job_list *list, const struct apapi_identity *id)
{
    for (size_t i = 0; i < list->count; i++) {
        if (fits(&list->wishes[i], id)) {
            return true;
        }
    }
    return list->count == 0;
}

bool job_is_same(const struct apapi_identity *a, const struct apapi_identity *b)
{
    return a->job == b->job &&
           (!*a->cluster || !*b->cluster || strcmp(a->cluster, b->cluster) == 0);
}

bool user_list_has(const char *users, const struct apapi_identity *id)
{
    char uid[16];

    snprintf(uid, sizeof uid, "%u", id->uid);
    return !users || (*id->user && config_names_have(users, id->user)) ||
           (id->uid != APAPI_UNKNOWN && config_names_have(users, uid));
}
