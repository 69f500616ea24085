/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/report/report_print.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/totals/totals.h"
#include "render/csv.h"

/* --- what makes a row ----------------------------------------------------------------------- */

/* Groups with one bucket per row. */
static const struct {
    enum report_by by;
    const char *name, *format;
} wholes[] = {
    {REPORT_BY_JOB, "job", "jobid,user,jobname,nodes,elapsed,energy,power,measured"},
    {REPORT_BY_STEP, "step", "stepid,name,nodes,elapsed,energy,power,maxpower,measured"},
    {REPORT_BY_NODE, "node", "node,records,energy,package,dram,gpu,power,measured"},
};
#define WHOLES COUNT_OF(wholes)

/* Also the names of the fields. */
static const char *const groups[] = {
    [REPORT_GROUP_USER] = "user",           [REPORT_GROUP_ACCOUNT] = "account",
    [REPORT_GROUP_PARTITION] = "partition", [REPORT_GROUP_QOS] = "qos",
    [REPORT_GROUP_CLUSTER] = "cluster",     [REPORT_GROUP_DAY] = "day",
    [REPORT_GROUP_REGION] = "region"};

static bool find_group(const char *word, size_t size, enum report_group *group)
{
    for (int i = 0; i < REPORT_GROUPS; i++) {
        if (word_is(word, size, groups[i])) {
            *group = (enum report_group)i;
            return true;
        }
    }
    return false;
}

static bool has_group(const struct report_ledger *ledger, enum report_group group)
{
    for (size_t i = 0; i < ledger->group_count; i++) {
        if (ledger->groups[i] == group) {
            return true;
        }
    }
    return false;
}

static int report_by_parse_groups(const char *text, struct report_ledger *parsed,
                                  struct apapi_error *err)
{
    for (const char *word = text;; word++) {
        size_t size = strcspn(word, ",");
        enum report_group group;

        if (!find_group(word, size, &group)) {
            return apapi_fail(err, EINVAL,
                              "--by=%.40s: valid are job, step, node, or a list of user, account, "
                              "partition, qos, cluster, day and region",
                              text);
        }
        if (has_group(parsed, group)) {
            return apapi_fail(err, EINVAL, "--by=%.40s: %s is listed twice", text, groups[group]);
        }
        parsed->groups[parsed->group_count++] = group;
        word += size;
        if (*word == '\0') {
            return 0;
        }
    }
}

int report_by_parse(const char *text, struct report_ledger *ledger, struct apapi_error *err)
{
    struct report_ledger parsed = {.group_count = 0};

    for (size_t i = 0; i < WHOLES; i++) {
        if (strcmp(wholes[i].name, text) == 0) {
            ledger->by = wholes[i].by;
            ledger->group_count = 0;
            return 0;
        }
    }
    if (report_by_parse_groups(text, &parsed, err)) {
        return -1;
    }
    if (has_group(&parsed, REPORT_GROUP_DAY) && has_group(&parsed, REPORT_GROUP_REGION)) {
        return apapi_fail(err, EINVAL,
                          "--by=%.40s: regions are of whole records, which are not divided by day",
                          text);
    }
    ledger->by = has_group(&parsed, REPORT_GROUP_REGION) ? REPORT_BY_REGION
                 : has_group(&parsed, REPORT_GROUP_DAY)  ? REPORT_BY_DAY
                                                         : REPORT_BY_GROUP;
    ledger->group_count = parsed.group_count;
    memcpy(ledger->groups, parsed.groups, sizeof ledger->groups);
    return 0;
}

static const char *whole_name(const struct report_ledger *ledger, bool format)
{
    for (size_t i = 0; i < WHOLES; i++) {
        if (wholes[i].by == ledger->by) {
            return format ? wholes[i].format : wholes[i].name;
        }
    }
    return "";
}

static size_t put_groups(const struct report_ledger *ledger, char *text, size_t size)
{
    size_t length = 0;

    for (size_t i = 0; i < ledger->group_count && length < size; i++) {
        length += (size_t)snprintf(text + length, size - length, "%s%s", i ? "," : "",
                                   groups[ledger->groups[i]]);
    }
    return length < size ? length : size - 1;
}

void report_by_text(const struct report_ledger *ledger, char *text, size_t size)
{
    if (ledger->group_count > 0) {
        put_groups(ledger, text, size);
    } else {
        snprintf(text, size, "%s", whole_name(ledger, false));
    }
}

void report_by_format(const struct report_ledger *ledger, char *text, size_t size)
{
    if (ledger->group_count > 0) {
        size_t length = put_groups(ledger, text, size);

        snprintf(text + length, size - length, "%s",
                 ledger->by == REPORT_BY_REGION ? ",jobs,count,time,energy,power"
                                                : ",jobs,elapsed,energy,power,measured");
    } else {
        snprintf(text, size, "%s", whole_name(ledger, true));
    }
}

/* --- rows ----------------------------------------------------------------------------------- */

#define CELL_SIZE 4200
#define KEY_SIZE 40
#define GAP 2
#define LEAST_TEXT 6 /* minimum width of a text that is cut */

/* A share has another name than the energy of nodes. */
static bool report_print_is_share(const struct report_printer *printer,
                                  const struct report_field *field)
{
    return printer->shares && field->offset == offsetof(struct report_row, energy_j);
}

static void report_print_key(const struct report_printer *printer, const struct report_field *field,
                             enum report_unit unit, char *key, size_t size)
{
    struct report_field share = *field;

    share.name = report_print_is_share(printer, field) ? "share" : field->name;
    report_field_key(&share, unit, key, size);
}

/* --- a table -------------------------------------------------------------------------------- */

static bool is_left(const struct report_field *field)
{
    return field->kind < REPORT_COUNT;
}

static size_t line_width(const struct report_format *format)
{
    size_t width = 0;

    for (size_t i = 0; i < format->count; i++) {
        width += (size_t)format->columns[i].width + (i > 0 ? GAP : 0);
    }
    return width;
}

static bool report_fit_needed(const struct report_fit *fit, const struct report_format *format)
{
    return fit->width > 0 && line_width(format) > fit->width;
}

/* The width needed by title and rows. */
static size_t natural_width(const struct report_fit *fit, const struct report_format *format,
                            size_t column)
{
    size_t width = strlen(format->columns[column].field->name);

    for (size_t i = column; i < fit->cells.count; i += format->count) {
        size_t columns = text_columns(fit->cells.names[i]);

        width = columns > width ? columns : width;
    }
    return width;
}

static struct report_column *widest_text(struct report_format *format)
{
    struct report_column *widest = NULL;

    for (size_t i = 0; i < format->count; i++) {
        struct report_column *column = &format->columns[i];

        if (is_left(column->field) && !column->given && column->width > LEAST_TEXT &&
            (!widest || column->width > widest->width)) {
            widest = column;
        }
    }
    return widest;
}

static void report_fit_columns(const struct report_fit *fit, struct report_format *format)
{
    struct report_column *widest;

    for (size_t i = 0; i < format->count; i++) {
        struct report_column *column = &format->columns[i];
        int natural = (int)natural_width(fit, format, i);

        if (!column->given && !is_left(column->field) && natural > column->width) {
            column->width = natural;
        }
    }
    if (!report_fit_needed(fit, format)) {
        return;
    }
    for (size_t i = 0; i < format->count; i++) {
        struct report_column *column = &format->columns[i];
        int natural = (int)natural_width(fit, format, i);

        if (!column->given && natural < column->width) {
            column->width = natural;
        }
    }
    while (report_fit_needed(fit, format) && (widest = widest_text(format))) {
        widest->width--;
    }
}

/* Long texts are cut, numbers are not. The last column has no trailing blanks. */
static void report_print_put_cell(const struct report_printer *printer, size_t index,
                                  const char *text)
{
    const struct report_column *column = &printer->format.columns[index];
    bool left = is_left(column->field), last = index + 1 == printer->format.count;
    char clean[CELL_SIZE], cut[CELL_SIZE];
    size_t columns, width = (size_t)column->width;
    int padding;

    text_clean(clean, sizeof clean, text);
    if (left && width >= 4) {
        text_shorten(cut, sizeof cut, clean, width, 0);
    } else {
        snprintf(cut, sizeof cut, "%s", clean);
    }
    columns = text_columns(cut);
    padding = columns < width ? (int)(width - columns) : 0;
    printf("%s%*s%s", index ? "  " : "", left ? 0 : padding, "", cut);
    printf("%*s", left && !last ? padding : 0, "");
}

static void put_kept_rows(struct report_printer *printer)
{
    size_t columns = printer->format.count;

    report_fit_columns(&printer->fit, &printer->format);
    for (size_t i = 0; i < printer->format.count && !printer->no_header; i++) {
        const struct report_field *field = printer->format.columns[i].field;

        report_print_put_cell(printer, i,
                              report_print_is_share(printer, field) ? "share" : field->name);
    }
    fputs(printer->no_header ? "" : "\n", stdout);
    for (size_t i = 0; columns > 0 && i < printer->fit.cells.count; i++) {
        report_print_put_cell(printer, i % columns, printer->fit.cells.names[i]);
        fputs((i + 1) % columns == 0 ? "\n" : "", stdout);
    }
    namelist_free(&printer->fit.cells);
    printer->keeps = false;
}

static int put_table_row(struct report_printer *printer, const struct report_row *row)
{
    char text[CELL_SIZE];

    for (size_t i = 0; i < printer->format.count; i++) {
        const struct report_field *field = printer->format.columns[i].field;

        report_field_text(field, row, &printer->format, text, sizeof text);
        if (!printer->keeps) {
            report_print_put_cell(printer, i, text);
        } else if (namelist_add(&printer->fit.cells, text)) {
            return -1;
        }
    }
    if (!printer->keeps) {
        putchar('\n');
    } else if (printer->fit.cells.count >= REPORT_FIT_ROWS * printer->format.count) {
        put_kept_rows(printer);
    }
    return 0;
}

/* --- for programs --------------------------------------------------------------------------- */

/* As sacct's -P, which has no quotes. */
static void put_bare(const char *text)
{
    for (; *text; text++) {
        putchar(*text == '|' ? '?' : *text);
    }
}

static void put_plain_row(const struct report_printer *printer, const struct report_row *row)
{
    bool csv = printer->form == REPORT_CSV;
    char text[CELL_SIZE], clean[CELL_SIZE];

    for (size_t i = 0; i < printer->format.count; i++) {
        const struct report_field *field = printer->format.columns[i].field;

        if (row) {
            report_field_plain(field, row, &printer->format, text, sizeof text);
        } else {
            report_print_key(printer, field, printer->format.unit, text, sizeof text);
        }
        if (i > 0) {
            putchar(csv ? ',' : '|');
        }
        if (csv && is_left(field)) {
            csv_put_text(stdout, text);
        } else {
            text_clean(clean, sizeof clean, text);
            put_bare(clean);
        }
    }
    fputs(printer->form == REPORT_PARSABLE ? "|" : "", stdout);
    putchar('\n');
}

static void put_member(struct json_writer *json, const struct report_printer *printer,
                       const struct report_field *field, const struct report_row *row)
{
    const void *value = (const char *)row + field->offset;
    const char *text = report_field_string(field, row);
    char key[KEY_SIZE];

    report_print_key(printer, field, REPORT_UNIT_J, key, sizeof key);
    if (text) {
        json_put_word(json, key, text);
    } else if (field->kind == REPORT_MOMENT) {
        json_put_moment(json, key, *(const int64_t *)value);
    } else if (field->kind == REPORT_FLAG) {
        json_put_flag(json, key, *(const bool *)value);
    } else if (field->kind != REPORT_COUNT) {
        json_put_number(json, key, *(const double *)value,
                        report_field_is_rough(field) ? JSON_ROUGH : JSON_MEASURED);
    } else if (*(const double *)value >= 0) {
        json_put_count(json, key, (uint64_t) * (const double *)value);
    }
}

static int put_json_row(const struct report_printer *printer, const struct report_row *row)
{
    struct json_writer json = {.out = stdout};

    fputs(printer->rows ? ",\n" : "", stdout);
    json_begin_object(&json, NULL);
    for (size_t i = 0; i < printer->format.count; i++) {
        put_member(&json, printer, printer->format.columns[i].field, row);
    }
    json_end(&json);
    return json_flush(&json) && errno == ENOMEM ? -1 : 0;
}

/* --- all ------------------------------------------------------------------------------------ */

static void put_json_head(const struct report_printer *printer)
{
    const char *currency = printer->format.currency;

    printf("{\"version\":1,\"by\":\"%s\",", printer->by);
    if (currency && *currency) {
        struct json_writer json = {.out = stdout};

        fputs("\"currency\":", stdout);
        json_put_text(&json, NULL, currency);
        json_flush(&json);
        putchar(',');
    }
    if (printer->shares) {
        printf("\"energy\":\"share\",");
    }
    if (printer->shared_j > 0) {
        printf("\"shared_j\":%.9g,", printer->shared_j);
    }
    puts("\"rows\":[");
}

void report_print_begin(struct report_printer *printer)
{
    if (printer->form == REPORT_JSON) {
        put_json_head(printer);
    } else if (printer->form == REPORT_TABLE) {
        printer->keeps = true;
    } else if (!printer->no_header) {
        put_plain_row(printer, NULL);
    }
}

int report_print_row(struct report_printer *printer, const struct report_row *row)
{
    int result = 0;

    if (printer->form == REPORT_JSON) {
        result = put_json_row(printer, row);
    } else if (printer->form == REPORT_TABLE) {
        result = put_table_row(printer, row);
    } else {
        put_plain_row(printer, row);
    }
    printer->rows++;
    return result;
}

void report_print_end(struct report_printer *printer)
{
    if (printer->form == REPORT_JSON) {
        fputs("]}\n", stdout);
    } else if (printer->keeps) {
        put_kept_rows(printer);
    }
}

/* --- energy that rows count twice ----------------------------------------------------------- */

/* A piece and its bucket. */
struct entry {
    uint32_t piece, bucket;
};

struct entries {
    struct entry *list;
    size_t count;
    const struct report_ledger *ledger;
    uint32_t *chosen; /* buffer of the same size */
};

static const struct sum_piece *piece_of(const struct entries *entries, const struct entry *entry)
{
    return &entries->ledger->store.pieces[entry->piece];
}

/* Sort by node and time. */
static int compare_entries(const void *left, const void *right, void *context)
{
    const struct entry *one = left, *other = right;
    const struct sum_piece *a = (const struct sum_piece *)context + one->piece,
                           *b = (const struct sum_piece *)context + other->piece;
    int order = COMPARE(a->node, b->node);

    order = order ? order : COMPARE(a->cluster, b->cluster);
    order = order ? order : COMPARE(a->start_ns, b->start_ns);
    return order ? order : COMPARE(one->bucket, other->bucket);
}

static int report_shared_compare_buckets(const void *left, const void *right)
{
    return COMPARE(((const struct entry *)left)->bucket, ((const struct entry *)right)->bucket);
}

static int gather(struct entries *entries)
{
    const struct report_ledger *ledger = entries->ledger;
    struct sum_piece *pieces = ledger->store.pieces;

    entries->list = calloc(ledger->store.piece_count + 1, sizeof *entries->list);
    entries->chosen = calloc(ledger->store.piece_count + 1, sizeof *entries->chosen);
    if (!entries->list || !entries->chosen) {
        return -1;
    }
    for (uint32_t bucket = 0; bucket < ledger->bucket_count; bucket++) {
        bool counts = report_bucket_counts(ledger, bucket);

        for (uint32_t at = ledger->buckets[bucket].sum.first; counts && at != POOL_NONE;
             at = pieces[at].next) {
            entries->list[entries->count++] = (struct entry){at, bucket};
        }
    }
    qsort_r(entries->list, entries->count, sizeof *entries->list, compare_entries, pieces);
    return 0;
}

static size_t report_shared_same_node(const struct entries *entries, size_t first)
{
    const struct sum_piece *piece = piece_of(entries, &entries->list[first]);
    size_t end = first + 1;

    while (end < entries->count && piece_of(entries, &entries->list[end])->node == piece->node &&
           piece_of(entries, &entries->list[end])->cluster == piece->cluster) {
        end++;
    }
    return end - first;
}

static int64_t report_shared_end_ns(const struct sum_piece *piece)
{
    return piece->start_ns + (int64_t)piece->elapsed_ns;
}

/* Whether pieces of different buckets overlap. They are sorted by their start. */
static bool is_shared(const struct entries *entries, size_t first, size_t count)
{
    const struct entry *list = entries->list + first, *last = list; /* with the latest end */

    for (size_t i = 1; i < count; i++) {
        const struct sum_piece *piece = piece_of(entries, &list[i]);
        int64_t last_ns = report_shared_end_ns(piece_of(entries, last));

        if (list[i].bucket != last->bucket && piece->start_ns < last_ns) {
            return true;
        }
        last = report_shared_end_ns(piece) > last_ns ? &list[i] : last;
    }
    return false;
}

/* The energy of some pieces of a node, each moment once; 0 if not known. */
static int energy_of(const struct entries *entries, const struct entry *list, size_t count,
                     double *energy_j)
{
    const struct sum_store *store = &entries->ledger->store;
    struct sum_entries chosen = {NULL, 0};
    struct sum_total total;
    int result;

    for (size_t i = 0; i < count; i++) {
        entries->chosen[i] = list[i].piece;
    }
    result = sum_gather_these(store, entries->chosen, count, &chosen) ||
                     sum_total(store, &chosen, &total)
                 ? -1
                 : 0;
    if (result == 0) {
        *energy_j = isnan(total.job.energy_j) ? 0 : total.job.energy_j;
    }
    free(chosen.list);
    return result;
}

/* Add the energy of a node's buckets beyond what the node has used. */
static int report_shared_add_node(const struct entries *entries, struct entry *list, size_t count,
                                  double *shared_j)
{
    double node_j = 0, sum_j = 0;
    int result = energy_of(entries, list, count, &node_j);

    qsort(list, count, sizeof *list, report_shared_compare_buckets);
    for (size_t first = 0, own; first < count && result == 0; first += own) {
        double energy_j = 0;

        for (own = 1; first + own < count && list[first + own].bucket == list[first].bucket;) {
            own++;
        }
        result = energy_of(entries, list + first, own, &energy_j);
        sum_j += energy_j;
    }
    *shared_j += fmax(sum_j - node_j, 0);
    return result;
}

int report_ledger_shared(const struct report_ledger *ledger, double *shared_j)
{
    struct entries entries = {.ledger = ledger};
    int result = 0;

    *shared_j = 0;
    if (ledger->by == REPORT_BY_NODE || ledger->by == REPORT_BY_STEP ||
        ledger->by == REPORT_BY_REGION || ledger->store.shares) {
        return 0; /* rows are not added up, or only steps of one job are, regions, or shares */
    }
    result = gather(&entries);
    for (size_t first = 0, count; first < entries.count && result == 0; first += count) {
        count = report_shared_same_node(&entries, first);
        if (is_shared(&entries, first, count)) {
            result = report_shared_add_node(&entries, entries.list + first, count, shared_j);
        }
    }
    free(entries.list);
    free(entries.chosen);
    return result;
}
