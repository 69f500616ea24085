/* SPDX-License-Identifier: BSD-3-Clause */
#include "regions/misuse.h"

#include <errno.h>
#include <stdio.h>

#include "base/write_all.h"
#include "regions/program.h"

struct misuse_kind {
    int error;
    const char *text; /* after the name of the region; %s: the other one */
};

static const struct misuse_kind misuse_kinds[MISUSES] = {
    [MISUSE_TWICE] = {EALREADY, "begun while it is the innermost region: counted as one"},
    [MISUSE_AGAIN] = {EALREADY, "begun while it is open: ended first"},
    [MISUSE_CLOSED] = {ENOENT, "ended, but it was not begun: ignored"},
    [MISUSE_FORKED] = {ENOENT, "ended in a process that was forked within it: it goes on in the "
                               "parent only"},
    [MISUSE_THREAD] = {EPERM, "ended in another thread than it was begun in: ignored"},
    [MISUSE_ORDER] = {EBUSY, "ended while \"%s\" in it was open: that is ended, too"},
    [MISUSE_DEPTH] = {E2BIG, "begun in too many others: its time is theirs"},
    [MISUSE_EXIT] = {0, "open at the end of the program: ended there"},
    [MISUSE_LEFT] = {0, "open at the end of its thread: ended there"},
    [MISUSE_NULL] = {EINVAL, "a region without a name: ignored"}};

static unsigned misuse_reported; /* bits, 1 << enum misuse */

static void misuse_say(enum misuse misuse, const char *name, const char *other)
{
    char what[256], line[512];
    int length;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(what, sizeof what, misuse_kinds[misuse].text, other);
#pragma GCC diagnostic pop
    length = snprintf(line, sizeof line, "apapi: region \"%s\": %s (reported once)\n", name, what);
    write_all(2, line, (size_t)length);
}

int misuse_report(enum misuse misuse, const char *name, const char *other)
{
    unsigned bit = 1u << misuse;

    program_count(&program.page->head.misuses);
    if (!(__atomic_fetch_or(&misuse_reported, bit, __ATOMIC_RELAXED) & bit)) {
        misuse_say(misuse, name, other);
    }
    errno = misuse_kinds[misuse].error;
    return -1;
}
