/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/slurm_conf.h"

#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/hostlist.h"

/* --- lines ---------------------------------------------------------------------------------- */

#define DEPTH_MAX 8 /* greatest depth of files that include each other */
#define BLANKS " \t\r\n"
#define LINE_MAX_BYTES (1 << 20) /* longest line, continuation lines included [bytes] */

/* Receives a line, joined with its continuation lines (after a backslash) and without comment. */
typedef void (*slurm_conf_line_f)(char *line, void *context);

struct reader {
    const char *main; /* path of slurm.conf, to whose folder names of other files are relative */
    slurm_conf_line_f visit;
    void *context;
};

static FILE *open_text(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat status;
    FILE *file = NULL;

    if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) {
        file = fdopen(fd, "r");
    }
    if (fd >= 0 && !file) {
        close(fd);
    }
    return file;
}

/*
 * Find the value after `key` and '=' in a line. A word of the line has to begin with the key.
 * @return the rest of the line from the value on; NULL: the line does not have the key.
 */
static char *slurm_conf_find(char *line, const char *key)
{
    size_t length = strlen(key);

    for (char *word = line + strspn(line, BLANKS); *word; word += strspn(word, BLANKS)) {
        if (strncasecmp(word, key, length) == 0) {
            char *behind = word + length + strspn(word + length, BLANKS);

            if (*behind == '=') {
                return behind + 1 + strspn(behind + 1, BLANKS);
            }
        }
        word += strcspn(word, BLANKS);
    }
    return NULL;
}

/* @return the length of a value, up to the next blank. */
static int slurm_conf_length(const char *value)
{
    return (int)strcspn(value, BLANKS);
}

/* @return FILE of a line "Include FILE"; NULL: the line is something else. */
static char *slurm_conf_find_include(char *line)
{
    static const char word[] = "include";
    char *begin = line + strspn(line, BLANKS), *file = begin + sizeof word - 1;

    if (strncasecmp(begin, word, sizeof word - 1) != 0 || !*file || !strchr(BLANKS, *file)) {
        return NULL;
    }
    file += strspn(file, BLANKS);
    file[strcspn(file, BLANKS)] = '\0';
    return *file ? file : NULL;
}

/* Append the next line of the file to `line`. @return whether there is one. */
static bool slurm_conf_read(FILE *file, char **line, size_t *length)
{
    char *more = NULL, *joined;
    size_t room = 0;
    ssize_t size = getline(&more, &room, file);

    joined =
        size >= 0 && *length < LINE_MAX_BYTES ? realloc(*line, *length + (size_t)size + 1) : NULL;
    if (joined) {
        memcpy(joined + *length, more, (size_t)size + 1);
        *line = joined;
        *length += (size_t)size;
    }
    free(more);
    return joined != NULL;
}

/* Remove the backslash at the end of a line. @return whether there is one: the line goes on. */
static bool slurm_conf_goes_on(char *line, size_t *length)
{
    size_t end = *length;

    while (end > 0 && (line[end - 1] == '\n' || line[end - 1] == '\r')) {
        end--;
    }
    if (end == 0 || line[end - 1] != '\\') {
        return false;
    }
    line[end - 1] = ' ';
    line[end] = '\0';
    *length = end;
    return true;
}

static void slurm_conf_read_file(const struct reader *reader, const char *path, int depth);

static void slurm_conf_take(const struct reader *reader, char *line, int depth)
{
    const char *slash = strrchr(reader->main, '/'), *include;
    char included[PATH_MAX];
    int folder;

    for (char *at = line; (at = strchr(at, '#')); at++) { /* "\#" begins no comment */
        if (at == line || at[-1] != '\\') {
            *at = '\0';
            break;
        }
    }
    include = slurm_conf_find_include(line);
    if (include) {
        folder = slash && *include != '/' ? (int)(slash - reader->main) + 1 : 0;
        snprintf(included, sizeof included, "%.*s%s", folder, reader->main, include);
        slurm_conf_read_file(reader, included, depth + 1);
    } else {
        reader->visit(line, reader->context);
    }
}

static void slurm_conf_read_file(const struct reader *reader, const char *path, int depth)
{
    FILE *file = depth < DEPTH_MAX ? open_text(path) : NULL;
    char *line = NULL;
    size_t length = 0;

    while (file && slurm_conf_read(file, &line, &length)) {
        if (!slurm_conf_goes_on(line, &length)) {
            slurm_conf_take(reader, line, depth);
            length = 0;
        }
    }
    if (length > 0) {
        slurm_conf_take(reader, line, depth);
    }
    free(line);
    if (file) {
        fclose(file);
    }
}

/* Visit all lines, also those of included files, in the order in which Slurm reads them. */
static void slurm_conf_each(const char *path, slurm_conf_line_f visit, void *context)
{
    slurm_conf_read_file(&(struct reader){path, visit, context}, path, 0);
}

/* --- values ---------------------------------------------------------------------------------- */

struct value_search {
    const char *key;
    char *value;
    size_t size;
};

/* Note the value of the key. The last value counts, as in Slurm. */
static void value_search(char *line, void *context)
{
    struct value_search *search = context;
    const char *value = slurm_conf_find(line, search->key);
    size_t length;

    if (value) {
        length = *value == '"' ? strcspn(++value, "\"\r\n") : (size_t)slurm_conf_length(value);
        snprintf(search->value, search->size, "%.*s", length < search->size ? (int)length : 0,
                 value);
    }
}

void config_slurm_value(const char *path, const char *key, char *value, size_t size)
{
    struct value_search search = {key, value, size};

    value[0] = '\0';
    slurm_conf_each(path, value_search, &search);
}

int config_cluster(const char *path, char *name, size_t size)
{
    config_slurm_value(path && *path ? path : "/etc/slurm/slurm.conf", "ClusterName", name, size);
    if (!(path && *path) && !*name) {
        config_slurm_value("/run/slurm/conf/slurm.conf", "ClusterName", name, size);
    }
    for (char *at = name; *at; at++) {
        *at = (char)tolower((unsigned char)*at);
    }
    return *name ? 0 : -1;
}

/* --- cores of a node ------------------------------------------------------------------------ */

#define COUNT_MAX 1000000
#define LIST_MAX (1 << 20)

/* The numbers that lines have for a node; 0: none. */
struct shape {
    uint32_t cpus, boards, sockets, board_sockets, cores, threads;
};

static const struct {
    const char *key;
    size_t offset;
} core_keys[] = {{"CPUs", offsetof(struct shape, cpus)},
                 {"Procs", offsetof(struct shape, cpus)},
                 {"Boards", offsetof(struct shape, boards)},
                 {"Sockets", offsetof(struct shape, sockets)},
                 {"SocketsPerBoard", offsetof(struct shape, board_sockets)},
                 {"CoresPerSocket", offsetof(struct shape, cores)},
                 {"ThreadsPerCore", offsetof(struct shape, threads)}};

struct node_search {
    const char *node;
    struct shape defaults, found;
};

struct match {
    const char *node;
    bool found;
};

static int note_name(void *context, const char *name)
{
    struct match *match = context;

    match->found |= strcmp(name, match->node) == 0;
    return 0;
}

static bool names(const char *value, const char *node)
{
    struct match match = {node, false};
    int length = slurm_conf_length(value);
    char *list = length < LIST_MAX ? strndup(value, (size_t)length) : NULL;

    if (list) {
        hostlist_each(list, note_name, &match);
    }
    free(list);
    return match.found;
}

static void read_shape(char *line, struct shape *shape)
{
    for (size_t i = 0; i < COUNT_OF(core_keys); i++) {
        const char *value = slurm_conf_find(line, core_keys[i].key);
        unsigned long number = value ? strtoul(value, NULL, 10) : 0;

        if (number > 0 && number < COUNT_MAX) {
            *(uint32_t *)(void *)((char *)shape + core_keys[i].offset) = (uint32_t)number;
        }
    }
}

static void node_cores_search(char *line, void *context)
{
    struct node_search *search = context;
    const char *value = slurm_conf_find(line, "NodeName");

    if (!value) {
        return;
    }
    if (strncasecmp(value, "DEFAULT", 7) == 0 && slurm_conf_length(value) == 7) {
        read_shape(line, &search->defaults);
    } else if (names(value, search->node)) {
        search->found = search->defaults;
        read_shape(line, &search->found);
    }
}

static uint32_t or_one(uint32_t count)
{
    return count ? count : 1;
}

/* @return the number of cores. Slurm takes each CPU for a core if a node has CPUs= only. */
static uint32_t cores_of(const struct shape *shape)
{
    uint64_t cores = or_one(shape->cores), per_socket = cores * or_one(shape->threads), sockets;

    if (!shape->cpus && !shape->boards && !shape->sockets && !shape->board_sockets &&
        !shape->cores) {
        return 0;
    }
    if (shape->board_sockets) {
        sockets = (uint64_t)or_one(shape->boards) * shape->board_sockets;
    } else if (shape->sockets) {
        sockets = shape->sockets;
    } else {
        sockets = shape->cpus ? shape->cpus / per_socket : or_one(shape->boards);
    }
    return sockets * cores < COUNT_MAX ? (uint32_t)(sockets * cores) : 0;
}

uint32_t config_node_cores(const char *path, const char *node)
{
    struct node_search search = {.node = node};

    slurm_conf_each(path, node_cores_search, &search);
    return cores_of(&search.found);
}
