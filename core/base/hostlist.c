/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/hostlist.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define NAME_SIZE 256
#define DIGITS_MAX 9 /* most digits of a number in a name */
#define NUMBER_MAX 999999999

struct walk {
    hostlist_visit_f visit;
    void *context;
    size_t count;
    char name[NAME_SIZE]; /* the part that is complete */
};

static int malformed(void)
{
    errno = EINVAL;
    return -1;
}

static int walk_rest(struct walk *walk, size_t length, const char *rest, const char *end);

/* Visit one "3" or "001-004" in brackets, up to `range_end`; the name goes on at rest[0]. */
static int walk_range(struct walk *walk, size_t length, const char *range, const char *range_end,
                      const char *const rest[2])
{
    uint64_t first = 0, last;
    const char *next = text_digits(range, NUMBER_MAX, &first);
    int width = next ? (int)(next - range) : 0;

    last = first;
    if (next && *next == '-') {
        next = text_digits(next + 1, NUMBER_MAX, &last);
    }
    if (next != range_end || last < first || last - first >= HOSTLIST_MAX) {
        return malformed();
    }
    for (uint64_t number = first; number <= last; number++) {
        int digits = snprintf(walk->name + length, NAME_SIZE - length, "%0*" PRIu64, width, number);

        if (length + (size_t)digits >= NAME_SIZE) {
            return malformed();
        }
        if (walk_rest(walk, length + (size_t)digits, rest[0], rest[1])) {
            return -1;
        }
    }
    return 0;
}

/* Visit the names of "[1-4,7]" at `bracket`; the list's item ends at `end`. */
static int walk_bracket(struct walk *walk, size_t length, const char *bracket, const char *end)
{
    const char *close = memchr(bracket, ']', (size_t)(end - bracket));
    const char *const rest[2] = {close ? close + 1 : NULL, end};

    if (!close) {
        return malformed();
    }
    for (const char *range = bracket + 1; range <= close;) {
        const char *comma = memchr(range, ',', (size_t)(close - range));
        const char *range_end = comma ? comma : close;

        if (walk_range(walk, length, range, range_end, rest)) {
            return -1;
        }
        range = range_end + 1;
    }
    return 0;
}

/* Visit the names that begin with the first `length` bytes of walk->name and go on with `rest`. */
static int walk_rest(struct walk *walk, size_t length, const char *rest, const char *end)
{
    const char *bracket = memchr(rest, '[', (size_t)(end - rest));
    size_t plain = (size_t)((bracket ? bracket : end) - rest);

    if (length + plain >= NAME_SIZE) {
        return malformed();
    }
    memcpy(walk->name + length, rest, plain);
    length += plain;
    if (bracket) {
        return walk_bracket(walk, length, bracket, end);
    }
    if (length == 0 || walk->count == HOSTLIST_MAX) {
        return malformed();
    }
    walk->name[length] = '\0';
    walk->count++;
    return walk->visit ? walk->visit(walk->context, walk->name) : 0;
}

/* @return the comma after this name, or the end of the list. Commas in brackets do not count. */
static const char *hostlist_find_end(const char *name)
{
    bool inside = false;

    for (; *name && (inside || *name != ','); name++) {
        inside = *name == '[' || (inside && *name != ']');
    }
    return name;
}

ssize_t hostlist_each(const char *list, hostlist_visit_f visit, void *context)
{
    struct walk walk = {.visit = visit, .context = context};

    for (const char *name = list; *name;) {
        const char *end = hostlist_find_end(name);

        if (walk_rest(&walk, 0, name, end)) {
            return -1;
        }
        name = end + (*end == ',');
    }
    return (ssize_t)walk.count;
}

/* @return the length of a name without the number, of DIGITS_MAX digits at most, at its end. */
static size_t find_stem(const char *name)
{
    size_t length = strlen(name), stem = length;

    while (stem > 0 && isdigit((unsigned char)name[stem - 1])) {
        stem--;
    }
    return length - stem <= DIGITS_MAX ? stem : length;
}

static bool is_same_stem(const char *a, const char *b)
{
    size_t stem = find_stem(a);

    return a[stem] && b[find_stem(b)] && stem == find_stem(b) && strncmp(a, b, stem) == 0;
}

/* Check whether `b` follows `a` in a range. */
static bool is_next(const char *a, const char *b)
{
    size_t stem = find_stem(a);

    return is_same_stem(a, b) && strtoul(b + stem, NULL, 10) == strtoul(a + stem, NULL, 10) + 1 &&
           (strlen(a) == strlen(b) || (a[stem] != '0' && b[stem] != '0'));
}

/* Write the first names, as far as they differ in their number only. @return how many these are. */
static size_t put_group(FILE *out, const char *const *names, size_t count, size_t columns)
{
    size_t stem = find_stem(names[0]), done = 0;
    bool many = count > 1 && is_same_stem(names[0], names[1]);
    size_t written = (size_t)fprintf(out, "%.*s%s", (int)stem, names[0], many ? "[" : "");

    while (done < count && (done == 0 || is_same_stem(names[0], names[done])) &&
           (done == 0 || written < columns)) {
        size_t last = done;

        while (last + 1 < count && is_next(names[last], names[last + 1])) {
            last++;
        }
        written += (size_t)fprintf(out, "%s%s", done ? "," : "", names[done] + stem);
        if (last > done) {
            written += (size_t)fprintf(out, "-%s", names[last] + stem);
        }
        done = last + 1;
    }
    if (many) {
        fputc(']', out);
    }
    return done;
}

static int hostlist_add_name(void *names, const char *name)
{
    return namelist_add(names, name);
}

ssize_t hostlist_names(const char *list, struct namelist *names)
{
    return hostlist_each(list, hostlist_add_name, names);
}

char *hostlist_text(const struct namelist *list, size_t columns)
{
    const char **names = calloc(list->count + 1, sizeof(char *));
    char *text = NULL;
    size_t size, done = 0;
    FILE *out = names ? open_memstream(&text, &size) : NULL;

    for (size_t i = 0; i < list->count && out; i++) {
        names[i] = list->names[i];
    }
    if (out) {
        qsort(names, list->count, sizeof(char *), compare_names);
    }
    while (out && done < list->count) {
        size_t used = (size_t)ftell(out);

        if (done > 0 && used >= columns) {
            fprintf(out, " and %zu more", list->count - done);
            break;
        }
        fputs(done ? "," : "", out);
        done += put_group(out, names + done, list->count - done, columns - used);
    }
    free(names);
    return text_of_stream(out, &text, 0);
}
