/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampler/questions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apapi/session.h"
#include "base/array.h"
#include "base/files.h"
#include "base/lines.h"
#include "config/config.h"
#include "config/definitions.h"
#include "config/installed.h"
#include "limit/limit.h"
#include "sampler/step.h"

/* --- packed event settings ------------------------------------------------------------------ */

/* A packet that is being filled. */
struct packing {
    char *packet;
    const char *carried; /* a packet from the environment; NULL: none */
    const struct apapi_problem_sink *sink;
};

/* Check the text of an event list. */
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

/* One item of a packet. */
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

struct asked {
    const struct message *question;
    const char *text;
    FILE *out; /* gets the answer, or a line for each problem */
    struct apapi_error err;
};

/* For srun and slurmd: are these components known? */
static int answer_components(struct asked *asked)
{
    return apapi_components_check(asked->text, &asked->err);
}

/* For slurmd: can records be written in this folder? */
static int answer_folder(struct asked *asked)
{
    return config_folder_check(asked->text, &asked->err);
}

/* For slurmstepd: the name of a user ID. */
static int answer_user(struct asked *asked)
{
    char name[256] = "";

    names_user((uint32_t)strtoul(asked->text, NULL, 10), name, sizeof name);
    fputs(name, asked->out);
    return 0;
}

/* @return whether a variable has the relative path of a file. */
static bool names_below(const char *variable)
{
    const char *path = secure_getenv(variable);

    return path && *path && *path != '/';
}

/* For srun: pack the user's event settings, which come with the question. A process that has become
 * another user's may be in a folder that it cannot enter again. */
static int answer_rules(struct asked *asked)
{
    static const char *const variables[] = {"APAPI_EVENTLIST", "APAPI_EVENTOPS", "APAPI_CMPLIST",
                                            "APAPI_VERBOSE", PACKET_VARIABLE};
    const char *folder = message_value(asked->question, "folder");
    static char packet[PACKET_MAX];

    for (size_t i = 0; i < COUNT_OF(variables); i++) {
        if (message_value(asked->question, variables[i])) {
            setenv(variables[i], message_value(asked->question, variables[i]), 1);
        }
    }
    if (folder && chdir(folder) &&
        (names_below("APAPI_EVENTLIST") || names_below("APAPI_EVENTOPS"))) {
        return file_fail(folder, &asked->err);
    }
    if (pack_environment(packet, asked->out, &asked->err)) {
        return -1;
    }
    fputs(packet, asked->out);
    return 0;
}

/* For srun: a budget, and whether the site permits it. */
static int answer_budget(struct asked *asked)
{
    static struct config config;
    const char *path = message_value(asked->question, "config");
    struct limit_site site;
    struct limit budget;

    if (limit_parse_budget(asked->text, &budget, &asked->err)) {
        return -1;
    }
    config_read(&config, path ? path : "", NULL);
    site = limit_site_of(&config);
    if (budget.amount <= limit_site_most_j(&site)) {
        return 0;
    }
    fprintf(asked->out, "%s is more than this site permits: max_budget = %s\n", budget.text,
            site.max);
    return -1;
}

/*
 * Only the nodes know the events. Here the component can be checked, and the kind of the event that
 * the installed definitions state.
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

/* For srun: thresholds, one a line. */
static int answer_overflow(struct asked *asked)
{
    static struct limit_list list;
    const struct apapi_environment none = {0}; /* the user's rules concern reports only */
    struct apapi_event_rules rules = {0};
    int result = limit_list_parse(&list, asked->text, &asked->err);

    apapi_event_rules_load(&rules, &none, installed_path(INSTALLED_CONFIG), NULL, NULL);
    for (size_t i = 0; i < list.count && result == 0; i++) {
        result = questions_check_event(&list.limits[i], &rules, &asked->err);
    }
    apapi_event_rules_clear(&rules);
    return result;
}

static const struct {
    const char *about;
    int (*answer)(struct asked *asked);
} answers[] = {{"components", answer_components}, {"overflow", answer_overflow},
               {"folder", answer_folder},         {"budget", answer_budget},
               {"rules", answer_rules},           {"user", answer_user}};

int questions_answer(const struct message *question, char **text)
{
    const char *about = message_value(question, "about"),
               *asked_text = message_value(question, "text");
    size_t size;
    struct asked asked = {.question = question,
                          .text = asked_text ? asked_text : "",
                          .out = open_memstream(text, &size),
                          .err = {"another version of APAPI is installed here"}};
    int result = -1;

    for (size_t i = 0; asked.out && about && i < COUNT_OF(answers); i++) {
        if (strcmp(about, answers[i].about) == 0) {
            asked.err.text[0] = '\0';
            result = answers[i].answer(&asked);
        }
    }
    if (asked.out && result && asked.err.text[0]) {
        fprintf(asked.out, "%s\n", asked.err.text);
    }
    return asked.out && fclose(asked.out) == 0 ? result : -1;
}
