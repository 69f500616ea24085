/* SPDX-License-Identifier: BSD-3-Clause */
#include "store/scan_parts.h"

#include <string.h>

#include "json/json_tree.h"

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r';
}

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && is_blank(*at)) {
        at++;
    }
    return at;
}

/* @return the end of the object at `at`, or the end of the line if it is torn. */
static const char *object_end(const char *at, const char *end)
{
    size_t depth = 0;
    bool quoted = false;

    for (; at < end; at++) {
        if (*at == '"') {
            quoted = !quoted;
        } else if (quoted) {
            at += *at == '\\';
        } else if (*at == '{' || *at == '[') {
            depth++;
        } else if ((*at == '}' || *at == ']') && --depth == 0) {
            return at + 1;
        }
    }
    return end;
}

/* Check whether another element or the end of the line follows. */
static bool ends_here(const char *at, const char *end)
{
    at = skip_blanks(at, end);
    return at == end || *at == ',' || *at == ']';
}

int parts_each(const char *line, size_t size, parts_f take, void *context)
{
    const char *end = line + size, *at = skip_blanks(line, end);
    int result = 0;

    at += at < end && *at == '[';
    while (result == 0) {
        const char *behind;

        at = skip_blanks(at, end);
        if (at < end && (*at == ',' || *at == ']')) {
            at++;
            continue;
        }
        if (at == end) {
            break;
        }
        behind = *at == '{' ? object_end(at, end) : end;
        behind = ends_here(behind, end) ? behind : end;
        result = take(at, (size_t)(behind - at), context);
        at = behind;
    }
    return result;
}

bool parts_is_absence(const char *text, size_t size)
{
    static const char key[] = "\"reason\"";
    struct tree_problem problem;
    struct tree tree = {0};
    bool result = false;

    if (memmem(text, size, key, sizeof key - 1) && tree_parse(&tree, text, size, &problem) == 0) {
        result = tree_is(tree_get(tree.nodes, "apapi"), TREE_INTEGER) &&
                 tree_is(tree_get(tree.nodes, "node"), TREE_TEXT) &&
                 tree_is(tree_get(tree.nodes, "reason"), TREE_TEXT) &&
                 tree_is(tree_get(tree.nodes, "complete"), TREE_FALSE) &&
                 !tree_get(tree.nodes, "start") && !tree_get(tree.nodes, "domains");
    }
    tree_free(&tree);
    return result;
}
