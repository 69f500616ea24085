/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampler/pack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "apapi/session.h"
#include "base/files.h"
#include "base/lines.h"

/* What is being packed. */
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

static int check_ops(const char *path, const char *text, const struct apapi_problem_sink *sink,
                     struct apapi_error *err)
{
    struct apapi_eventops *ops = apapi_eventops_parse(path, text, strlen(text), sink, err);

    apapi_eventops_destroy(ops);
    return ops ? 0 : -1;
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

/* What is packed. */
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
    char *text;
    int result;

    if (!path || (packet_find(packing->carried, kind, &item) && strcmp(item.name, path) == 0)) {
        return add_carried(packing, kind, err);
    }
    text = event_text_read(path, err);
    if (!text) {
        return -1;
    }
    result = strcmp(kind, PACKET_EVENTLIST) == 0 ? check_list(path, text, packing->sink, err)
                                                 : check_ops(path, text, packing->sink, err);
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
