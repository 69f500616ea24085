/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIT_SCAN_FIXTURE_H
#define UNIT_SCAN_FIXTURE_H
/* A folder of records, and what the sink gets from them. */
#include "apapi/scan.h"
#include "measure/domain.h"
#include "record/store.h"
#include "unit/temporary.h"
#include "unit/unit.h"

#define TIMES "\"start\":\"2026-11-21T11:00:00Z\",\"elapsed_s\":3600"
#define S INT64_C(1000000000)
#define NOON (1795262400 * S) /* 2026-11-21T12:00:00Z */
#define DAY (86400 * S)

/* The calls of a sink: the records' names, the problems' places and reasons. */
struct heard {
    size_t records, problems, files;
    char names[8192], reasons[8192];
    uint64_t offset; /* of the last file: before it is read, and after */
    size_t stop_at;  /* the record at which to stop; 0: never */
};

static inline int hear_record(const struct apapi_record *record, const char *line, size_t size,
                              void *context)
{
    struct heard *heard = context;
    size_t used = strlen(heard->names);

    assert_true(size > 0 && memchr(line, '\n', size) == NULL);
    snprintf(heard->names + used, sizeof heard->names - used, "%s ", record->id.name);
    if (++heard->records == heard->stop_at) {
        errno = EXDEV;
        return -1;
    }
    return 0;
}

static inline void hear_problem(const struct apapi_scan_problem *problem, void *context)
{
    struct heard *heard = context;
    size_t used = strlen(heard->reasons);

    heard->problems++;
    snprintf(heard->reasons + used, sizeof heard->reasons - used, "%s:%zu+%llu: %s\n",
             strrchr(problem->file, '/') ? strrchr(problem->file, '/') + 1 : problem->file,
             problem->line, (unsigned long long)problem->offset, problem->reason);
}

static inline struct apapi_scan *new_scan(const struct apapi_scan_filter *filter,
                                          struct heard *heard)
{
    const struct apapi_scan_sink sink = {hear_record, hear_problem, NULL, NULL, heard};
    struct apapi_scan *scan = apapi_scan_create(filter, &sink, NULL);

    assert_non_null(scan);
    return scan;
}

/* A record that ended at NOON, `hours` later. Its name is "NODE/JOB". */
static inline struct apapi_record record_of(const char *node, uint32_t job, int64_t hours)
{
    struct apapi_record record = {
        .id = {.job = job, .node_index = 0, .nodes = 2, .tasks = 1, .uid = 7}, .complete = true};
    struct apapi_measurement *m = &record.measurement;

    snprintf(record.id.cluster, sizeof record.id.cluster, "mars");
    snprintf(record.id.step, sizeof record.id.step, "0");
    snprintf(record.id.name, sizeof record.id.name, "%s/%u", node, job);
    snprintf(record.id.node, sizeof record.id.node, "%s", node);
    snprintf(record.id.user, sizeof record.id.user, job % 2 ? "alice" : "bob");
    snprintf(record.id.account, sizeof record.id.account, "physics");
    snprintf(record.id.partition, sizeof record.id.partition, job > 10 ? "long" : "short");
    m->start_unix_ns = NOON + (hours - 1) * 3600 * S;
    m->elapsed_ns = (uint64_t)(3600 * S);
    m->covered = 1;
    unmeasure_domains(m->domains);
    m->domains[APAPI_DOMAIN_PACKAGE].measured = true;
    m->domains[APAPI_DOMAIN_PACKAGE].energy_j = 3600.0 * job;
    return record;
}

static inline char *line_of(const char *node, uint32_t job, int64_t hours)
{
    const struct apapi_record record = record_of(node, job, hours);
    char *line;

    assert_int_equal(apapi_record_encode(&record, &line, NULL), 0);
    return line;
}

static inline void store(const char *node, uint32_t job, int64_t hours)
{
    char *line = line_of(node, job, hours);

    assert_int_equal(apapi_store_append(base, node, NOON + hours * 3600 * S, line, NULL), 0);
    free(line);
}

static inline void write_bytes(const char *path, const char *bytes, size_t size)
{
    FILE *file = fopen(in_base(path), "w");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* Read bytes as a file. */
static inline void hear_bytes(const char *bytes, size_t size,
                              const struct apapi_scan_filter *filter, struct heard *heard)
{
    struct apapi_scan *scan = new_scan(filter, heard);

    write_bytes("bytes", bytes, size);
    assert_int_equal(apapi_scan_file(scan, in_base("bytes"), NULL), 0);
    assert_int_equal(apapi_scan_counts(scan)->records, heard->records);
    assert_int_equal(apapi_scan_counts(scan)->skipped, heard->problems);
    apapi_scan_destroy(scan);
}

#endif
