/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/table_parts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "output/table_regions.h"
#include "sum/job_id.h"

#define NAME_COLUMNS 32

/* A task of an array job is named by the array's number: "28_1.0". */
static bool is_part(const struct apapi_merge *merge, const struct apapi_identity *id)
{
    return merge->nodes.count[MERGE_RECORDED] > 0 && *id->step &&
           ((id->array_job != APAPI_UNKNOWN && id->array_task != APAPI_UNKNOWN) ||
            id->het_job != APAPI_UNKNOWN);
}

static void table_put_step(struct text_line *line, const struct table *table)
{
    struct apapi_identity id = table->merge->id;
    char step[APAPI_TEXT_SIZE - sizeof "step "];
    char text[APAPI_TEXT_SIZE];
    char clean[APAPI_TEXT_SIZE];

    if (is_part(table->merge, &id)) {
        if (id.het_offset == APAPI_UNKNOWN) { /* of several components: as the first one's */
            id.het_offset = 0;
        }
        step_id_text(&id, step, sizeof(step));
    } else {
        snprintf(step, sizeof(step), "%s", table->head->step);
    }
    snprintf(text, sizeof(text), "step %s", step);
    text_clean(clean, sizeof(clean), text);
    text_item(line, 1, clean);
}

static void table_put_name(struct text_line *line, const char *name)
{
    char clean[APAPI_TEXT_SIZE];
    char short_name[APAPI_TEXT_SIZE];
    char quoted[APAPI_TEXT_SIZE + 2];

    text_clean(clean, sizeof(clean), name);
    text_shorten(short_name, sizeof(short_name), clean, NAME_COLUMNS, 0);
    snprintf(quoted, sizeof(quoted), "\"%s\"", short_name);
    text_item(line, 1, quoted);
}

/* Items after step and name are separated by two spaces. */
static void put_item(struct text_line *line, const char *item)
{
    text_item(line, line->column > strlen("apapi:") ? 2 : 1, item);
}

/* Of a step the time by which its energy is divided. */
static double table_elapsed_s(const struct table *table)
{
    double busy_s = merge_busy_s(table->merge);

    if (!isnan(table->head->elapsed_s)) {
        return table->head->elapsed_s;
    }
    return isnan(busy_s) ? table->merge->elapsed_s : busy_s;
}

static void table_put_nodes(struct text_line *line, const struct table *table)
{
    size_t missing = table->expected - table->recorded;
    char text[64];
    int length;

    if (table->expected < 2 && missing == 0) {
        return;
    }
    length = snprintf(text, sizeof(text), "%zu node%s", table->expected,
                      table->expected == 1 ? "" : "s");
    if (missing > 0) {
        snprintf(text + length, sizeof(text) - length, ", %zu missing", missing);
    }
    put_item(line, text);
}

static void put_elapsed(struct text_line *line, const struct table *table)
{
    char text[UNITS_SIZE];

    if (isnan(table_elapsed_s(table))) {
        return;
    }
    units_duration(text, sizeof(text), table_elapsed_s(table));
    put_item(line, text);
}

static void table_put_components(struct text_line *line, const struct table *table)
{
    for (size_t i = 0; i < table->merge->component_count; i++) {
        const struct merge_component *component = &table->merge->components[i];
        char text[sizeof(*component) + 8];
        char clean[sizeof(text)];

        snprintf(text, sizeof(text), "%s (%s)", component->name, component->source);
        text_clean(clean, sizeof(clean), text);
        put_item(line, clean);
    }
}

static void table_put_headline(const struct table *table)
{
    const struct apapi_table_head *head = table->head;
    struct text_line line = {table->out, strlen("apapi:")};

    fputs("apapi:", table->out);
    if (head->step) {
        table_put_step(&line, table);
    }
    if (head->name && *head->name) {
        table_put_name(&line, head->name);
    }
    table_put_nodes(&line, table);
    put_elapsed(&line, table);
    table_put_components(&line, table);
    fputc('\n', table->out);
}

static void table_put_duration(struct text_line *line, const char *word, double seconds)
{
    char text[UNITS_SIZE + 16];
    char duration[UNITS_SIZE];

    units_duration(duration, sizeof(duration), seconds);
    snprintf(text, sizeof(text), "%s %s", word, duration);
    text_item(line, line->column ? 3 : 2, text);
}

static void put_peak(struct text_line *line, uint64_t peak_bytes)
{
    char text[UNITS_SIZE + 16];
    char size[UNITS_SIZE];

    if (peak_bytes > 0) {
        units_bytes(size, sizeof(size), peak_bytes);
        snprintf(text, sizeof(text), "peak memory %s", size);
        text_item(line, 3, text);
    }
}

static void table_put_times(const struct table *table)
{
    struct text_line line = {table->out, 0};

    if (isnan(table->head->user_s)) {
        return;
    }
    table_put_duration(&line, "elapsed", table_elapsed_s(table));
    table_put_duration(&line, "user", table->head->user_s);
    table_put_duration(&line, "system", table->head->system_s);
    put_peak(&line, table->head->peak_bytes);
    fputc('\n', table->out);
}

static int table_put_all_regions(const struct table *table)
{
    struct apapi_regions regions;
    struct merge_total total;

    if (region_sums_result(&table->merge->regions, APAPI_REGIONS_MAX, &regions) < 0) {
        return -1;
    }
    merge_total(table->merge, &total);
    table_put_regions(&regions, total.sum.energy_j, table->head->step, table->out);
    apapi_regions_clear(&regions);
    return 0;
}

static int table_put_all(const struct table *table)
{
    table_put_headline(table);
    table_put_domains(table);
    table_put_events(table);
    if (table_put_all_regions(table) < 0 || table_put_notes(table) < 0) {
        return -1;
    }
    if (table->head->verbose && table->recorded == 1) {
        table_put_trust(table);
    }
    table_put_times(table);
    if (table->head->end) {
        text_wrap(table->out, table->head->end);
    }
    return 0;
}

static int table_put_table(struct table *table, char **text)
{
    char *result = NULL;
    size_t size;

    table->out = open_memstream(&result, &size);
    result = text_of_stream(table->out, &result, table->out ? table_put_all(table) : -1);
    if (!result) {
        return -1;
    }
    *text = result;
    return 0;
}

int apapi_table_format(const struct apapi_merge *merge, const struct apapi_table_head *head,
                       char **text, struct apapi_error *err)
{
    const struct merge_node **nodes;
    ssize_t recorded = merge->no_memory ? -1 : merge_nodes(merge, &nodes);
    struct table table = {.head = head, .merge = merge};
    int rc;

    if (recorded < 0) {
        return apapi_fail(err, ENOMEM, "table: out of memory");
    }
    table.nodes = nodes;
    table.recorded = (size_t)recorded;
    table.expected = merge_expected(merge);
    if (head->nodes > table.expected) {
        table.expected = head->nodes;
    }
    rc = table_put_table(&table, text);
    free(nodes);
    return rc < 0 ? apapi_fail(err, ENOMEM, "table: out of memory") : 0;
}
