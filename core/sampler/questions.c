/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampler/questions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apapi/session.h"
#include "base/files.h"
#include "base/lines.h"
#include "base/option_table.h"
#include "channel/channel.h"
#include "config/config.h"
#include "config/definitions.h"
#include "config/installed.h"
#include "limit/limit.h"

/* --- packed event settings ------------------------------------------------------------------ */

/* The answer that is packed. */
struct packing {
    char *packet;
    const char *carried; /* a packet from the environment; NULL: none */
    const struct apapi_problem_sink *sink;
};

/* Check a text. */
static int check_list(const char *path, const char *text, const struct apapi_problem_sink *sink,
                      struct apapi_error *err)
{
    struct apapi_eventlist *list = apapi_eventlist_parse(path, text, strlen(text), sink, err);
    struct apapi_environment environment;
    int result = list ? 0 : -1;

    apapi_environment_read(&environment);
    if (list && !environment.softfail) {
        result = apapi_eventlist_check(list, true, err);
    }
    apapi_eventlist_destroy(list);
    return result;
}

/* Remove comments and blanks; a line keeps its number. @return the new length. */
static size_t strip(char *text)
{
    struct event_lines lines = event_lines_of(text);
    struct event_line line;
    char *end = text;
    size_t number = 1; /* of the line at `end` */

    while (event_lines_next(&lines, &line)) {
        size_t length = strlen(line.text);

        for (; number < line.number; number++) {
            *end++ = '\n';
        }
        memmove(end, line.text, length);
        end += length;
        *end++ = '\n';
        number++;
    }
    return (size_t)(end - text);
}

/* The parts of an answer. */
struct part {
    const char *kind, *name, *bytes;
    size_t size;
};

static int pack_add(const struct packing *packing, const struct part *part, struct apapi_error *err)
{
    return packet_add(packing->packet, part->kind, part->name, part->bytes, part->size)
               ? apapi_fail(err, EMSGSIZE,
                            "%.160s: with this, more than %d bytes of event files would travel "
                            "with the job",
                            part->name, PACKET_MAX)
               : 0;
}

/* srun's environment may carry the text of a file that does not exist here. */
static int add_carried(const struct packing *packing, const char *kind, struct apapi_error *err)
{
    struct packet_item item;

    if (!packet_find(packing->carried, kind, &item)) {
        return 0;
    }
    return pack_add(packing, &(struct part){kind, item.name, item.bytes, item.size}, err);
}

static int add_file(const struct packing *packing, const char *kind, const char *path,
                    struct apapi_error *err)
{
    struct packet_item item;
    struct apapi_eventops *ops;
    char *text;
    int result;

    if (!path || (packet_find(packing->carried, kind, &item) && strcmp(item.name, path) == 0)) {
        return add_carried(packing, kind, err);
    }
    text = event_text_read(path, err);
    if (!text) {
        return -1;
    }
    if (strcmp(kind, PACKET_EVENTLIST) == 0) {
        result = check_list(path, text, packing->sink, err);
    } else {
        ops = apapi_eventops_parse(path, text, strlen(text), packing->sink, err);
        result = ops ? 0 : -1;
        apapi_eventops_destroy(ops);
    }
    if (result == 0) {
        result = pack_add(packing, &(struct part){kind, path, text, strip(text)}, err);
    }
    free(text);
    return result;
}

static int add_word(const struct packing *packing, const char *kind, const char *variable,
                    struct apapi_error *err)
{
    const char *text = secure_getenv(variable);

    return text && *text
               ? pack_add(packing, &(struct part){kind, variable, text, strlen(text)}, err)
               : add_carried(packing, kind, err);
}

static void pack_print_problem(const struct apapi_problem *problem, void *context)
{
    if (!problem->warning) {
        fprintf(context, "%s\n", problem->text);
    }
}

int pack_environment(char packet[PACKET_MAX], FILE *problems, struct apapi_error *err)
{
    const struct apapi_problem_sink sink = {pack_print_problem, problems};
    const struct packing packing = {
        .packet = packet, .carried = secure_getenv(PACKET_VARIABLE), .sink = &sink};
    struct apapi_environment environment;

    packet[0] = '\0';
    apapi_environment_read(&environment);
    if (add_file(&packing, PACKET_EVENTLIST, environment.eventlist, err) ||
        add_file(&packing, PACKET_EVENTOPS, environment.eventops, err) ||
        add_word(&packing, PACKET_COMPONENTS, "APAPI_CMPLIST", err)) {
        return -1;
    }
    return add_word(&packing, PACKET_VERBOSE, "APAPI_VERBOSE", err);
}

int pack_open(const char *packet, struct apapi_event_rules *rules, struct apapi_error *err)
{
    struct packet_item item;
    int result = 0;

    if (packet_find(packet, PACKET_EVENTLIST, &item)) {
        rules->user_list = apapi_eventlist_parse(item.name, item.bytes, item.size, NULL, err);
        result = rules->user_list ? 0 : -1;
    }
    if (packet_find(packet, PACKET_EVENTOPS, &item)) {
        rules->user_ops =
            apapi_eventops_parse(item.name, item.bytes, item.size, NULL, result ? NULL : err);
        result = rules->user_ops ? result : -1;
    }
    return result;
}

/* --- questions ------------------------------------------------------------------------------ */

static int questions_refuse(const struct apapi_error *err)
{
    printf("%s\n", err->text);
    return USAGE_ERROR;
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
    struct apapi_error err = {""};

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

/* For srun: check thresholds, one a line. Prints what is wrong, in some lines. */
static int questions_check_limits(const char *lines)
{
    static struct limit_list list;
    const struct apapi_environment none = {0}; /* the user's rules are for what a report shows */
    struct apapi_event_rules rules = {0};
    struct apapi_error err;
    int result = limit_list_parse(&list, lines, &err);

    apapi_event_rules_load(&rules, &none, installed_path(INSTALLED_CONFIG), NULL, NULL);
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
    struct apapi_error err;
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
        return apapi_components_check(questions.components, &err) ? questions_refuse(&err)
                                                                  : EXIT_SUCCESS;
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
