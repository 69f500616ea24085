/* SPDX-License-Identifier: BSD-3-Clause */
#include "store/scan_parts.h"

#include <limits.h>
#include <string.h>

#include "base/json.h"

static bool scan_parts_is_blank(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r';
}

static const char *scan_parts_skip_blanks(const char *at, const char *end)
{
    while (at < end && scan_parts_is_blank(*at)) {
        at++;
    }
    return at;
}

enum { IN_TEXT = 1, OUTSIDE = 2 };

/* Where a byte has a meaning; most have none. */
static const unsigned char meanings[UCHAR_MAX + 1] = {
    ['"'] = IN_TEXT | OUTSIDE, ['\\'] = IN_TEXT, ['{'] = OUTSIDE,
    ['['] = OUTSIDE,           ['}'] = OUTSIDE,  [']'] = OUTSIDE,
};

static inline unsigned meaning_of(const char *at)
{
    return meanings[(unsigned char)*at];
}

/* Most of a scan's time is spent here: four bytes at a time. */
static inline const char *skip_meaningless(const char *at, const char *end, unsigned where)
{
    while (end - at >= 4 &&
           !((meaning_of(at) | meaning_of(at + 1) | meaning_of(at + 2) | meaning_of(at + 3)) &
             where)) {
        at += 4;
    }
    while (at < end && !(meaning_of(at) & where)) {
        at++;
    }
    return at;
}

/* @return where a text ends, at its second quote; `at` is behind the first. */
static const char *text_end(const char *at, const char *end)
{
    at = skip_meaningless(at, end, IN_TEXT);
    while (at < end && *at == '\\') {
        at = end - at > 2 ? skip_meaningless(at + 2, end, IN_TEXT) : end;
    }
    return at;
}

/* @return the end of the object at `at`, or the end of the line if it is torn. */
static const char *object_end(const char *at, const char *end)
{
    size_t depth = 0;

    for (at = skip_meaningless(at, end, OUTSIDE); at < end;
         at = skip_meaningless(at + 1, end, OUTSIDE)) {
        if (*at == '"') {
            at = text_end(at + 1, end);
            if (at == end) {
                return end;
            }
        } else if (*at == '{' || *at == '[') {
            depth++;
        } else if (--depth == 0) {
            return at + 1;
        }
    }
    return end;
}

/* Check whether another element or the end of the line follows. */
static bool ends_here(const char *at, const char *end)
{
    at = scan_parts_skip_blanks(at, end);
    return at == end || *at == ',' || *at == ']';
}

int parts_each(const char *line, size_t size, parts_f take, void *context)
{
    const char *end = line + size, *at = scan_parts_skip_blanks(line, end);
    int result = 0;

    at += at < end && *at == '[';
    while (result == 0) {
        const char *behind;

        at = scan_parts_skip_blanks(at, end);
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
