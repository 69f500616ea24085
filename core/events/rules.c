/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "events/builtin.h"
#include "events/definition.h"

#define DEFAULT_LIST "default_eventlist.txt"
#define DEFAULT_OPS "default_eventops.csv"

static int load_user(struct apapi_event_rules *rules, const struct apapi_environment *environment,
                     const struct apapi_problem_sink *sink, struct apapi_error *err)
{
    if (environment->eventlist) {
        rules->user_list = apapi_eventlist_read(environment->eventlist, sink, err);
        if (!rules->user_list) {
            return -1;
        }
    }
    if (environment->eventops) {
        rules->user_ops = apapi_eventops_read(environment->eventops, sink, err);
        if (!rules->user_ops) {
            return -1;
        }
    }
    return 0;
}

/* Report a default file that is not used as a warning without a line. */
static int rules_leave_out(const struct apapi_problem_sink *sink, const struct apapi_error *why)
{
    char text[sizeof why->text + 64];
    struct apapi_problem problem = {.warning = true, .text = text};

    snprintf(text, sizeof text, "%s; the built-in rules apply", why->text);
    if (sink && sink->report) {
        sink->report(&problem, sink->context);
    }
    return 0;
}

/* 0, also if there is no such file; -1 with errno. */
static int load_default(struct apapi_event_rules *rules, const char *folder, bool ops,
                        const struct apapi_problem_sink *sink, struct apapi_error *err)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/%s", folder, ops ? DEFAULT_OPS : DEFAULT_LIST);

    if (length < 0 || length >= PATH_MAX) {
        return apapi_fail(err, ENAMETOOLONG, "%.180s: %s", folder, strerror(ENAMETOOLONG));
    }
    if (ops) {
        rules->default_ops = apapi_eventops_read(path, sink, err);
    } else {
        rules->default_list = apapi_eventlist_read(path, sink, err);
    }
    return rules->default_ops || (!ops && rules->default_list) || errno == ENOENT ? 0 : -1;
}

/* A user cannot do anything about a folder without permission to enter. */
static bool is_forgiven(bool softfail)
{
    return errno == EACCES || (softfail && errno != ENOMEM);
}

static int load_defaults(struct apapi_event_rules *rules, const char *folder, bool softfail,
                         const struct apapi_problem_sink *sink, struct apapi_error *err)
{
    bool barred = false;

    if (load_default(rules, folder, false, sink, err)) {
        barred = errno == EACCES;
        if (!is_forgiven(softfail) || rules_leave_out(sink, err)) {
            return -1;
        }
    }
    if (load_default(rules, folder, true, sink, err) == 0 || (barred && errno == EACCES)) {
        return 0;
    }
    return !is_forgiven(softfail) || rules_leave_out(sink, err) ? -1 : 0;
}

int apapi_event_rules_load(struct apapi_event_rules *rules,
                           const struct apapi_environment *environment, const char *default_folder,
                           const struct apapi_problem_sink *sink, struct apapi_error *err)
{
    struct apapi_event_rules loaded = {0};
    struct apapi_error why = {""};
    int result = load_user(&loaded, environment, sink, &why);

    if (result == 0 && default_folder) {
        result = load_defaults(&loaded, default_folder, environment->softfail, sink, &why);
    }
    if (result) {
        apapi_event_rules_clear(&loaded);
        return apapi_fail(err, errno, "%s", why.text);
    }
    *rules = loaded;
    return 0;
}

void apapi_event_rules_clear(struct apapi_event_rules *rules)
{
    if (rules) {
        apapi_eventlist_destroy(rules->user_list);
        apapi_eventlist_destroy(rules->default_list);
        apapi_eventops_destroy(rules->user_ops);
        apapi_eventops_destroy(rules->default_ops);
        *rules = (struct apapi_event_rules){0};
    }
}

const struct apapi_definition *apapi_event_rules_define(const struct apapi_event_rules *rules,
                                                        const struct apapi_event *event)
{
    const struct apapi_definition *definition = NULL;

    if (rules) {
        definition = apapi_eventops_find(rules->user_ops, event->name);
        if (!definition) {
            definition = apapi_eventops_find(rules->default_ops, event->name);
        }
    }
    return definition ? definition : event_builtin_definition(event);
}
