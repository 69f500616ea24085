/* SPDX-License-Identifier: BSD-3-Clause */
#include "index/brief.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "record/record.h"

/* Members of a record that are kept as they are, and texts, with their NUL. */
static const struct {
    size_t offset, size;
    bool text;
} members[] = {
#define MEMBER(name, text)                                                                         \
    {                                                                                              \
        offsetof(struct apapi_record, name), sizeof(((struct apapi_record *)NULL)->name), text     \
    }
    MEMBER(complete, false),
    MEMBER(delayed, false),
    MEMBER(ending, false),
    MEMBER(id.verified, false),
    MEMBER(id.job, false),
    MEMBER(id.nodes, false),
    MEMBER(id.uid, false),
    MEMBER(id.array_job, false),
    MEMBER(id.array_task, false),
    MEMBER(id.het_job, false),
    MEMBER(id.het_offset, false),
    MEMBER(id.cores, false),
    MEMBER(id.node_cores, false),
    MEMBER(id.restarts, false),
    MEMBER(measurement.start_unix_ns, false),
    MEMBER(measurement.monotonic_ns, false),
    MEMBER(measurement.elapsed_ns, false),
    MEMBER(measurement.late_ns, false),
    MEMBER(measurement.covered, false),
    MEMBER(measurement.unknown_domains, false),
    MEMBER(id.cluster, true),
    MEMBER(id.step, true),
    MEMBER(id.name, true),
    MEMBER(id.node, true),
    MEMBER(id.user, true),
    MEMBER(id.account, true),
    MEMBER(id.qos, true),
    MEMBER(id.nodelist, true),
    MEMBER(id.job_name, true),
    MEMBER(id.partition, true),
    MEMBER(reason, true),
    MEMBER(measurement.boot, true),
};

/* Write a value, or read it: both go the same way through a record. */
static void pass(struct brief_lines *lines, bool writes, void *value, size_t size)
{
    if (writes) {
        brief_append(lines, value, size);
        return;
    }
    lines->failed = lines->failed || lines->size - lines->at < size;
    if (lines->failed) {
        memset(value, 0, size);
        return;
    }
    memcpy(value, lines->bytes + lines->at, size);
    lines->at += size;
}

static void pass_text(struct brief_lines *lines, bool writes, void *text, size_t room)
{
    size_t size =
        writes ? strlen(text) + 1 : strnlen(lines->bytes + lines->at, lines->size - lines->at) + 1;

    lines->failed = lines->failed || size > room;
    pass(lines, writes, text, lines->failed ? 1 : size);
}

/* Of all components the sum needs the shortest time that has a power: that of one whose interval is
 * twice as long. */
static void pass_window(struct brief_lines *lines, bool writes, struct apapi_measurement *m)
{
    uint64_t window_ns = writes ? window_shortest_ns(m) : 0;

    pass(lines, writes, &window_ns, sizeof window_ns);
    if (!writes) {
        lines->component =
            (struct apapi_component_result){.measured = true, .interval_ns = 2 * window_ns};
        m->component_count = 1;
        m->components = &lines->component;
    }
}

static void pass_domain(struct brief_lines *lines, bool writes, struct apapi_domain_result *domain)
{
    double *const figures[] = {&domain->energy_j,    &domain->uncertainty_j, &domain->covered,
                               &domain->power_w.min, &domain->power_w.mean,  &domain->power_w.max};
    bool drawn = domain->timeline.count > 0;

    pass(lines, writes, &domain->measured, sizeof domain->measured);
    if (domain->measured) {
        for (size_t i = 0; i < COUNT_OF(figures); i++) {
            pass(lines, writes, figures[i], sizeof *figures[i]);
        }
        pass(lines, writes, &drawn, sizeof drawn);
    }
    if (!writes) {
        domain->timeline.count = domain->measured && drawn;
    }
}

static void pass_record(struct brief_lines *lines, bool writes, struct apapi_record *record)
{
    for (size_t i = 0; i < COUNT_OF(members); i++) {
        (members[i].text ? pass_text : pass)(
            lines, writes, (void *)((char *)record + members[i].offset), members[i].size);
    }
    pass_window(lines, writes, &record->measurement);
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        pass_domain(lines, writes, &record->measurement.domains[d]);
    }
}

void brief_append(struct brief_lines *lines, const void *bytes, size_t size)
{
    lines->failed =
        lines->failed || array_extend(&lines->bytes, lines->size, size, &lines->room, 1);
    if (!lines->failed) {
        memcpy(lines->bytes + lines->size, bytes, size);
        lines->size += size;
    }
}

void brief_add(struct brief_lines *lines, struct brief_line line, struct apapi_record *record)
{
    struct sum_store *sums = &lines->sums;

    line.odd = !record;
    if (record) {
        sums->piece_count = sums->domain_count = sums->curve_count = 0;
        lines->failed = lines->failed || sum_add(sums, record, NULL);
        line.curves = (uint32_t)(sums->curve_count * sizeof *sums->curves);
    }
    brief_append(lines, &line, sizeof line);
    if (record) {
        pass_record(lines, true, record);
    }
}

int brief_read(struct brief_lines *lines, struct brief_line *line, struct apapi_record *record)
{
    if (lines->at == lines->size) {
        return 0;
    }
    pass(lines, false, line, sizeof *line);
    if (!line->odd) {
        pass_record(lines, false, record);
    }
    if (lines->failed) {
        errno = EBADMSG;
        return -1;
    }
    return 1;
}
