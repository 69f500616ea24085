/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampler/questions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apapi/session.h"
#include "base/option_table.h"
#include "channel/packet.h"
#include "config/config.h"
#include "config/folders.h"
#include "config/installed.h"
#include "events/definition.h"
#include "limit/limit.h"
#include "sampler/pack.h"

static int questions_refuse(const struct apapi_error *err)
{
    printf("%s\n", err->text);
    return USAGE_ERROR;
}

/* For srun: check a list of components. Prints one line if it is invalid. */
static int questions_check(const char *components)
{
    struct apapi_error err;

    return apapi_components_check(components, &err) ? questions_refuse(&err) : EXIT_SUCCESS;
}

/* For slurmd: check whether records can be written to these folders. A line for each failure. */
static int check_folders(char *const folders[])
{
    struct apapi_error err;
    int result = EXIT_SUCCESS;

    for (; *folders; folders++) {
        if (config_folder_check(*folders, &err)) {
            result = questions_refuse(&err);
        }
    }
    return result;
}

/* For srun: print the packed event settings of the environment, or the problems in them. */
static int pack(void)
{
    static char packet[PACKET_MAX];
    struct apapi_error err;

    if (pack_environment(packet, stdout, &err)) {
        return questions_refuse(&err);
    }
    fputs(packet, stdout);
    return fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* For srun: check a budget, and whether the site permits it. Prints what is wrong. */
static int questions_check_budget(const char *text, const char *path)
{
    static struct config config;
    struct limit_site site;
    struct limit budget;
    struct apapi_error err;

    if (limit_parse_budget(text, &budget, &err)) {
        return questions_refuse(&err);
    }
    config_defaults(&config);
    config_read(&config, path, NULL);
    site = limit_site_of(&config);
    if (budget.amount > limit_site_most_j(&site)) {
        printf("%s is more than this site permits: max_budget = %s\n", budget.text, site.max);
        return USAGE_ERROR;
    }
    return EXIT_SUCCESS;
}

/*
 * The nodes know the events. Here a component can be checked, and what the installed definitions
 * say of an event's kind.
 */
static int questions_check_event(const struct limit *limit, const struct apapi_event_rules *rules,
                                 struct apapi_error *err)
{
    const struct apapi_definition *definition;
    char component[APAPI_NAME_SIZE];
    struct apapi_error why;

    if (!limit_is_of_event(limit)) {
        return 0;
    }
    definition = apapi_eventops_find(rules->default_ops, limit->meter);
    snprintf(component, sizeof component, "%.*s", (int)(strstr(limit->meter, ":::") - limit->meter),
             limit->meter);
    if (apapi_components_check(component, &why)) {
        return limit_refuse(limit, LIMIT_METER, errno, why.text, err);
    }
    return definition && definition->has_kind ? limit_check_kind(limit, definition->kind, err) : 0;
}

/* Those of APAPI; the user's are for what a report shows. */
static void questions_load_rules(struct apapi_event_rules *rules)
{
    const struct apapi_environment none = {0};

    if (apapi_event_rules_load(rules, &none, installed_path(INSTALLED_CONFIG), NULL, NULL)) {
        *rules = (struct apapi_event_rules){0};
    }
}

/* For srun: check thresholds, one a line. Prints what is wrong, in some lines. */
static int questions_check_limits(const char *lines)
{
    static struct limit_list list;
    struct apapi_event_rules rules = {0};
    struct apapi_error err;
    int result = limit_list_parse(&list, lines, &err);

    questions_load_rules(&rules);

    for (size_t i = 0; i < list.count && result == 0; i++) {
        result = questions_check_event(&list.limits[i], &rules, &err);
    }
    apapi_event_rules_clear(&rules);
    return result ? questions_refuse(&err) : EXIT_SUCCESS;
}

struct questions {
    const char *components, *budget, *overflow;
    bool folders, pack;
};

static const struct option_row rows[] = {
    {0, "check", " COMPONENT[:COMPONENT...]", "for srun: is this list valid?",
     TO_TEXT(struct questions, components)},
    {0, "overflow", " TEXT", "for srun: are these thresholds valid?",
     TO_TEXT(struct questions, overflow)},
    {0, "folders", NULL, "for slurmd: can records be written to these folders?",
     TO_FLAG(struct questions, folders)},
    {0, "budget", " BUDGET", "for srun: is this budget valid? Followed by the path of apapi.conf",
     TO_TEXT(struct questions, budget)},
    {0, "pack", NULL, "for srun: print the event settings of the environment",
     TO_FLAG(struct questions, pack)},
    {0}};

static const struct option_table table = {
    .program = "apapi-sampler",
    .head = "apapi-sampler is started by spank_apapi.so in slurmstepd.\n"
            "usage: apapi-sampler --check COMPONENT[:COMPONENT...]\n"
            "       apapi-sampler --overflow TEXT\n"
            "       apapi-sampler --folders FOLDER...\n"
            "       apapi-sampler --budget BUDGET CONFIG\n"
            "       apapi-sampler --pack\n",
    .foot = "",
    .column = 40,
    .rows = rows};

int questions_answer(int argc, char **argv)
{
    struct questions questions = {0};
    int status = option_table_read(&table, argc, argv, &questions);

    if (status >= 0) {
        return status;
    }
    if (questions.folders && optind < argc) {
        return check_folders(argv + optind);
    }
    if (questions.budget && optind + 1 == argc) {
        return questions_check_budget(questions.budget, argv[optind]);
    }
    if (optind == argc && questions.components) {
        return questions_check(questions.components);
    }
    if (optind == argc && questions.overflow) {
        return questions_check_limits(questions.overflow);
    }
    if (optind == argc && questions.pack) {
        return pack();
    }
    option_table_help(&table, stderr);
    return USAGE_ERROR;
}
