/* SPDX-License-Identifier: BSD-3-Clause */
/* Spec files: lines, paths and messages. The words of the language are in spec_words.c. */
#include "spec.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char spec_blanks[] = " \t\r\n";

int spec_fail(const struct spec_line *line, const char *format, ...)
{
    va_list args;

    fprintf(stderr, "apapi-simhw: %s:%lu: ", line->file_name, line->number);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    if (line->word == NULL) {
        fprintf(stderr, "; expected: PATH WORD ARGUMENTS\n");
    } else {
        fprintf(stderr, "; expected: PATH %s%s%s\n", line->word->name,
                *line->word->usage == '\0' ? "" : " ", line->word->usage);
    }
    return -1;
}

static const struct spec_word *spec_find_word(const char *name)
{
    for (const struct spec_word *word = spec_words; word->name != NULL; word++) {
        if (strcmp(word->name, name) == 0) {
            return word;
        }
    }
    return NULL;
}

/* Split what follows the word. */
static int spec_split_args(struct spec_line *line, char *rest)
{
    char *save = NULL;

    if (line->word->min_args == SPEC_REST) {
        rest += strspn(rest, spec_blanks);
        rest[strcspn(rest, "\r\n")] = '\0';
        line->args[0] = rest;
        line->arg_count = 1;
        return 0;
    }
    line->arg_count = 0;
    for (char *arg = strtok_r(rest, spec_blanks, &save); arg != NULL;
         arg = strtok_r(NULL, spec_blanks, &save)) {
        if (line->arg_count == line->word->max_args) {
            return spec_fail(line, "\"%s\" is one argument too many", arg);
        }
        line->args[line->arg_count++] = arg;
    }
    if (line->arg_count < line->word->min_args) {
        return spec_fail(line, "%d of the %d arguments are there", line->arg_count,
                         line->word->min_args);
    }
    return 0;
}

static bool spec_has_children(const struct sim_tree *tree, size_t node)
{
    for (size_t i = 1; i < tree->count; i++) {
        if (tree->nodes[i].parent == node) {
            return true;
        }
    }
    return false;
}

static const char *spec_path_error(int error)
{
    switch (error) {
    case EINVAL:
        return "not a plain relative path";
    case ENOTDIR:
        return "something on the way is not a folder";
    case ELOOP:
    case ENOENT:
        return "a link on the way leads nowhere";
    default:
        return strerror(error);
    }
}

/* The node that a line defines, empty. */
static struct sim_node *spec_define(struct spec_line *line)
{
    size_t index = sim_tree_make(line->tree, line->path);
    struct sim_node *node;

    if (index == SIM_NONE) {
        spec_fail(line, "path %s: %s", line->path, spec_path_error(errno));
        return NULL;
    }
    node = &line->tree->nodes[index];
    if (node->file == line->file) {
        spec_fail(line, "%s is defined already", line->path);
        return NULL;
    }
    if (index == 0 || spec_has_children(line->tree, index)) {
        spec_fail(line, "%s is a folder that holds something", line->path);
        return NULL;
    }
    sim_node_clear_content(node);
    node->file = line->file;
    return node;
}

/* The earlier node that a line changes. */
static struct sim_node *spec_earlier(struct spec_line *line)
{
    size_t index = sim_tree_find(line->tree, line->path);
    struct sim_node *node;

    if (index == SIM_NONE) {
        spec_fail(line, "%s is not defined before this line", line->path);
        return NULL;
    }
    node = &line->tree->nodes[index];
    if ((line->word->kinds & (1U << node->kind)) == 0) {
        spec_fail(line, "%s cannot be used for what %s is", line->word->name, line->path);
        return NULL;
    }
    return node;
}

/* `rest` is what follows PATH and WORD. */
static int spec_apply(struct spec_line *line, char *rest)
{
    struct sim_node *node;

    if (line->word->exact_only && !line->tree->exact) {
        return spec_fail(line, "%s is possible with --fuse only", line->word->name);
    }
    if (spec_split_args(line, rest) != 0) {
        return -1;
    }
    node = line->word->kinds == 0 ? spec_define(line) : spec_earlier(line);
    return node == NULL ? -1 : line->word->parse(line, node);
}

static int spec_parse_line(struct spec_line *line, char *text)
{
    char *rest = text + strspn(text, spec_blanks);
    char *path;
    char *name;

    line->word = NULL;
    if (*rest == '\0' || *rest == '#') {
        return 0;
    }
    path = strsep(&rest, spec_blanks);
    if (rest != NULL) {
        rest += strspn(rest, spec_blanks);
    }
    if (rest == NULL || *rest == '\0') {
        return spec_fail(line, "nothing is said of %s", path);
    }
    name = strsep(&rest, spec_blanks);
    line->path = path;
    line->word = spec_find_word(name);
    if (line->word == NULL) {
        return spec_fail(line, "unknown word \"%s\"", name);
    }
    return spec_apply(line, rest == NULL ? strchr(name, '\0') : rest);
}

int sim_spec_load(struct sim_tree *tree, size_t file, const char *path)
{
    struct spec_line line = {.tree = tree, .file = file, .file_name = path};
    FILE *stream = fopen(path, "re");
    char *text = NULL;
    size_t size = 0;
    int rc = 0;

    if (stream == NULL) {
        fprintf(stderr, "apapi-simhw: %s: %s\n", path, strerror(errno));
        return -1;
    }
    while (rc == 0 && getline(&text, &size, stream) >= 0) {
        line.number++;
        rc = spec_parse_line(&line, text);
    }
    if (rc == 0 && ferror(stream) != 0) {
        fprintf(stderr, "apapi-simhw: %s: cannot be read\n", path);
        rc = -1;
    }
    free(text);
    fclose(stream);
    return rc;
}
