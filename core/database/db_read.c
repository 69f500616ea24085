/* SPDX-License-Identifier: BSD-3-Clause */
#include "database/db_read.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "database/db_row.h"
#include "database/db_tables.h"
#include "record/members.h"

struct db_reader {
    struct db_read_parts parts;
    struct db_statement *records, *domains; /* NULL: domains are not wanted */
    bool gaps;
    struct apapi_regions regions; /* of the last record */
};

/* Select the first key, then the parts, then the timeline and the regions. */
static struct db_statement *db_read_prepare(struct db *db, const struct db_table *table,
                                            const struct db_read_parts *parts, const char *which,
                                            struct apapi_error *err)
{
    char *text = NULL;
    size_t size;
    FILE *sql = open_memstream(&text, &size);

    if (sql) {
        fprintf(sql, "SELECT %s, ", table->keys[0]);
        db_parts_write(sql, table);
        fprintf(sql, "%s%s%s FROM %s %s",
                parts->timelines ? ", (SELECT timeline FROM timelines WHERE record = id)" : "",
                parts->regions ? ", (SELECT regions FROM regions WHERE record = id)" : "",
                parts->shares ? ", (SELECT share FROM shares WHERE record = id)" : "", table->name,
                which);
    }
    return db_prepare_stream(db, sql, &text, err);
}

struct db_reader *db_reader_create(struct db *db, const char *which,
                                   const struct db_read_parts *parts, struct apapi_error *err)
{
    struct db_reader *reader = calloc(1, sizeof *reader);

    if (!reader) {
        apapi_fail(err, ENOMEM, "no memory");
        return NULL;
    }
    reader->parts = *parts;
    reader->records = db_read_prepare(db, &db_records, parts, which, err);
    if (reader->records && parts->domains) {
        reader->domains =
            db_read_prepare(db, &db_domains, &(struct db_read_parts){0}, "WHERE record = ?", err);
    }
    if (!reader->records || (parts->domains && !reader->domains)) {
        db_reader_destroy(reader);
        return NULL;
    }
    return reader;
}

void db_reader_destroy(struct db_reader *reader)
{
    int saved = errno;

    if (reader) {
        db_finalize(reader->domains);
        db_finalize(reader->records);
        apapi_regions_clear(&reader->regions);
        free(reader);
    }
    errno = saved;
}

static void read_timelines(struct db_value text, struct apapi_measurement *m)
{
    if (text.text) {
        timelines_parse(text.text, text.size,
                        m); /* it was decoded successfully before it was stored */
    }
}

static void db_read_regions(struct db_reader *reader, struct db_value text,
                            struct apapi_record *record)
{
    apapi_regions_clear(&reader->regions);
    if (text.text && regions_parse(text.text, text.size, &reader->regions) == 0) {
        record->regions = reader->regions;
    }
}

static void db_read_share(struct db_value text, struct apapi_record *record)
{
    if (text.text) {
        share_parse(text.text, text.size, &record->share); /* as it was decoded before */
    }
}

static int read_domains(struct db_statement *domains, int64_t id, struct apapi_measurement *m,
                        struct apapi_error *err)
{
    const struct db_value key = db_integer(id);
    int got = db_first(domains, &key, 1, err);

    for (; got > 0; got = db_step(domains, err)) {
        enum apapi_domain domain = APAPI_DOMAIN_NONE;
        struct apapi_domain_result result = APAPI_DOMAIN_UNMEASURED;

        db_parts_read(domains, 1, &db_domains, (void *const[]){&domain, &result});
        if (domain != APAPI_DOMAIN_NONE) {
            result.measured = true;
            result.timeline = m->domains[domain].timeline;
            m->domains[domain] = result;
        }
    }
    db_end(domains);
    return got;
}

/* Times and uncertainties of domains are not stored here: assume those of the total. */
static void set_domains(const struct db_derived *derived, struct apapi_measurement *m)
{
    double per_s = derived->mean_w / derived->energy_j;
    double uncertainty = derived->uncertainty_j / derived->energy_j;

    for (int d = 0; d < APAPI_DOMAINS; d++) {
        m->domains[d] = APAPI_DOMAIN_UNMEASURED;
        if (d != APAPI_DOMAIN_NONE) {
            m->domains[d].energy_j = derived->domains_j[d];
            m->domains[d].measured = isfinite(derived->domains_j[d]);
            m->domains[d].power_w.mean = derived->domains_j[d] * per_s;
            m->domains[d].uncertainty_j = derived->domains_j[d] * uncertainty;
        }
    }
}

static int read_record(struct db_reader *reader, struct apapi_record *record,
                       struct apapi_error *err)
{
    struct apapi_measurement *m = &record->measurement;
    struct db_derived derived;
    size_t next;

    *record = (struct apapi_record){.id = APAPI_IDENTITY_UNKNOWN};
    record->share = apapi_share_unknown();
    next = db_parts_read(reader->records, 1, &db_records, (void *const[]){record, m, &derived});
    reader->gaps = derived.gaps;
    m->unknown_domains = domain_list_parse(derived.unknown_domains);
    set_domains(&derived, m);
    if (reader->parts.timelines) {
        read_timelines(db_column(reader->records, next++), m);
    }
    if (reader->parts.regions) {
        db_read_regions(reader, db_column(reader->records, next++), record);
    }
    if (reader->parts.shares) {
        db_read_share(db_column(reader->records, next), record);
    }
    return reader->domains
               ? read_domains(reader->domains, db_column(reader->records, 0).integer, m, err)
               : 0;
}

/* @param got  result of the statement */
static int db_read_take(struct db_reader *reader, int got, struct apapi_record *record,
                        struct apapi_error *err)
{
    if (got > 0 && read_record(reader, record, err)) {
        got = -1;
    }
    if (got <= 0) {
        db_reader_end(reader);
    }
    return got;
}

int db_reader_first(struct db_reader *reader, const struct db_value *values, size_t count,
                    struct apapi_record *record, struct apapi_error *err)
{
    return db_read_take(reader, db_first(reader->records, values, count, err), record, err);
}

int db_reader_next(struct db_reader *reader, struct apapi_record *record, struct apapi_error *err)
{
    return db_read_take(reader, db_step(reader->records, err), record, err);
}

bool db_reader_gaps(const struct db_reader *reader)
{
    return reader->gaps;
}

void db_reader_end(struct db_reader *reader)
{
    db_end(reader->records);
}
