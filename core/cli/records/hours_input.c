/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/records/hours_input.h"

#include <errno.h>

#include "database/db.h"
#include "database/db_tables.h"
#include "record/files.h"

struct hours_source {
    struct filter filter;
    struct tree tree;
    int (*take)(const struct hour *hour, void *context);
    void *context;
};

/* A line that an import has not written is left out. */
static int hours_input_take(struct hours_source *source, struct db_value line,
                            struct apapi_error *err)
{
    struct hour hour;
    int got = line.text ? hour_decode(&source->tree, line.text, line.size, &hour, NULL) : 0;

    if (got < 0 && errno == ENOMEM) {
        return apapi_fail(err, ENOMEM, "no memory");
    }
    if (got > 0 && filter_wants_node(&source->filter, hour.node) &&
        source->take(&hour, source->context)) {
        return apapi_fail(err, errno, "%s", "");
    }
    return 0;
}

static int hours_input_read(struct db *db, struct hours_source *source,
                            const struct apapi_scan_filter *filter, struct apapi_error *err)
{
    const struct db_value times[] = {db_integer(filter->from_unix_ns),
                                     db_integer(filter->to_unix_ns)};
    struct db_statement *hours =
        db_prepare(db, "SELECT line FROM hours WHERE start_ns >= ? AND start_ns < ?", err);
    int got = hours ? db_first(hours, times, 2, err) : -1;

    while (got > 0) {
        got = hours_input_take(source, db_column(hours, 0), err) ? -1 : db_step(hours, err);
    }
    db_finalize(hours);
    return got;
}

int hours_input_db(const char *url, const struct apapi_scan_filter *filter,
                   int (*take)(const struct hour *hour, void *context), void *context,
                   struct apapi_error *err)
{
    const struct apapi_scan_filter nodes = {.nodes = filter->nodes};
    struct hours_source source = {.take = take, .context = context};
    struct db *db = NULL;
    int result = -1, code;

    if (filter_init(&source.filter, &nodes, err) == 0 && db_open_existing(url, &db, err) == 0 &&
        db_tables_check(db, err) == 0) {
        result = hours_input_read(db, &source, filter, err);
    }
    code = errno;
    db_close(db);
    filter_free(&source.filter);
    tree_free(&source.tree);
    errno = code;
    return result;
}
