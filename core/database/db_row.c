/* SPDX-License-Identifier: BSD-3-Clause */
#include "database/db_row.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The properties of a column. */
struct column {
    const struct field *field;
    size_t part;
    bool key;
};

struct db_insert {
    struct db *db;
    const struct db_table *table;
    enum db_conflict conflict;
    struct db_statement *one, *many; /* many: for `room` rows at once; NULL if that is 1 */
    size_t key_count, column_count, width, room;
    bool text;
    const struct db_value **kept; /* rows */
    size_t kept_count, added;
    struct db_value *values; /* of one row */
    struct column columns[];
};

/* --- values --------------------------------------------------------------------------------- */

static struct db_value count_value(uint64_t count)
{
    return db_integer(count > INT64_MAX ? INT64_MAX : (int64_t)count);
}

static struct db_value text_value(const char *text, bool key)
{
    return db_text(*text || key ? text : NULL);
}

static struct db_value number_value(uint32_t number, bool key)
{
    if (number == APAPI_UNKNOWN) {
        return key ? db_integer(0) : db_text(NULL);
    }
    return db_integer(number);
}

static struct db_value domain_value(enum apapi_domain domain)
{
    return db_text(domain == APAPI_DOMAIN_NONE ? NULL : apapi_domain_name(domain));
}

static struct db_value value_of(const struct field *field, bool key, const void *at)
{
    switch (field->form) {
    case FIELD_TEXT:
        return text_value(at, key);
    case FIELD_NUMBER:
        return number_value(*(const uint32_t *)at, key);
    case FIELD_COUNT:
        return count_value(*(const uint64_t *)at);
    case FIELD_DURATION:
        return db_real((double)*(const uint64_t *)at / 1e9);
    case FIELD_FLAG:
        return db_integer(*(const bool *)at);
    case FIELD_MOMENT:
        return db_integer(*(const int64_t *)at);
    case FIELD_KIND:
        return db_text(apapi_kind_name(*(const enum apapi_kind *)at));
    case FIELD_DOMAIN:
        return domain_value(*(const enum apapi_domain *)at);
    case FIELD_TYPE:
        return db_text(field_type_name(*(const int *)at));
    case FIELD_PART:
        return db_real(*(const double *)at > 0 ? *(const double *)at : NAN);
    default:
        return db_real(*(const double *)at);
    }
}

/* --- rows are added ------------------------------------------------------------------------- */

void db_parts_write(FILE *sql, const struct db_table *table)
{
    const char *comma = "";

    for (size_t i = 0; i < DB_PARTS && table->parts[i]; i++) {
        for (const struct field *field = table->parts[i]; field->key; field++, comma = ", ") {
            fputs(comma, sql);
            db_name_write(sql, field);
        }
    }
}

static void write_values(FILE *sql, const struct db_insert *insert, size_t rows)
{
    for (size_t row = 0; row < rows; row++) {
        fputs(row ? ", (?" : " VALUES (?", sql);
        for (size_t i = 1; i < insert->width; i++) {
            fputs(", ?", sql);
        }
        fputc(')', sql);
    }
}

static struct db_statement *db_row_prepare(const struct db_insert *insert, size_t rows,
                                           struct apapi_error *err)
{
    const struct db_table *table = insert->table;
    char *text = NULL;
    size_t size;
    FILE *sql = open_memstream(&text, &size);

    if (sql) {
        fprintf(sql, "%s INTO %s (", insert->conflict == DB_REPLACE ? "REPLACE" : "INSERT",
                table->name);
        for (size_t i = 0; i < insert->key_count; i++) {
            fprintf(sql, "%s, ", table->keys[i]);
        }
        db_parts_write(sql, table);
        fprintf(sql, "%s%s)", insert->text && insert->column_count ? ", " : "",
                insert->text ? table->text : "");
        write_values(sql, insert, rows);
        fputs(insert->conflict == DB_SKIP ? db_dialect(insert->db)->skip : "", sql);
    }
    return db_prepare_stream(insert->db, sql, &text, err);
}

static size_t count_columns(const struct db_table *table)
{
    size_t count = 0;

    for (size_t i = 0; i < DB_PARTS && table->parts[i]; i++) {
        for (const struct field *field = table->parts[i]; field->key; field++) {
            count++;
        }
    }
    return count;
}

static void plan(struct db_insert *insert, const struct db_table *table)
{
    while (insert->key_count < DB_KEYS && table->keys[insert->key_count]) {
        insert->key_count++;
    }
    for (size_t i = 0; i < DB_PARTS && table->parts[i]; i++) {
        for (const struct field *field = table->parts[i]; field->key; field++) {
            insert->columns[insert->column_count++] = (struct column){field, i, db_is_key(field)};
        }
    }
    insert->text = table->text != NULL;
    insert->width = insert->key_count + insert->column_count + insert->text;
}

static int open_insert(struct db_insert *insert, struct apapi_error *err)
{
    insert->room = db_dialect(insert->db)->rows;
    insert->kept = calloc(insert->room + 1, sizeof(struct db_value *));
    insert->values = calloc(insert->width + 1, sizeof *insert->values);
    if (!insert->kept || !insert->values) {
        return apapi_fail(err, ENOMEM, "no memory");
    }
    insert->one = db_row_prepare(insert, 1, err);
    if (insert->one && insert->room > 1) {
        insert->many = db_row_prepare(insert, insert->room, err);
    }
    return insert->one && (insert->many || insert->room == 1) ? 0 : -1;
}

struct db_insert *db_insert_create(struct db *db, const struct db_table *table,
                                   enum db_conflict conflict, struct apapi_error *err)
{
    struct db_insert *insert =
        calloc(1, sizeof *insert + count_columns(table) * sizeof(struct column));

    if (!insert) {
        apapi_fail(err, ENOMEM, "no memory");
        return NULL;
    }
    insert->db = db;
    insert->table = table;
    insert->conflict = conflict;
    plan(insert, table);
    if (open_insert(insert, err)) {
        db_insert_destroy(insert);
        return NULL;
    }
    return insert;
}

void db_insert_destroy(struct db_insert *insert)
{
    int saved = errno;

    if (insert) {
        db_finalize(insert->many);
        db_finalize(insert->one);
        free(insert->kept);
        free(insert->values);
        free(insert);
    }
    errno = saved;
}

size_t db_insert_width(const struct db_insert *insert)
{
    return insert->width;
}

size_t db_insert_column(const struct db_insert *insert, const char *name)
{
    size_t i = 0;

    while (i + 1 < insert->column_count && strcmp(insert->columns[i].field->key, name) != 0) {
        i++;
    }
    return insert->key_count + i;
}

void db_insert_values(const struct db_insert *insert, const struct db_row *row,
                      struct db_value *values)
{
    for (size_t i = 0; i < insert->key_count; i++) {
        *values++ = db_integer(row->keys[i]);
    }
    for (size_t i = 0; i < insert->column_count; i++) {
        const struct column *column = &insert->columns[i];

        *values++ = value_of(column->field, column->key,
                             (const char *)row->bases[column->part] + column->field->offset);
    }
    if (insert->text) {
        *values = row->text;
    }
}

/* Bind the values of all rows in sequence. */
static int db_row_run(struct db_insert *insert, struct db_statement *statement,
                      const struct db_value *const *rows, size_t count, struct apapi_error *err)
{
    size_t number = 0;
    int failed = 0;

    for (size_t row = 0; row < count; row++) {
        for (size_t i = 0; i < insert->width; i++) {
            failed |= db_bind(statement, number++, &rows[row][i]);
        }
    }
    if (failed) {
        return apapi_fail(err, ENOMEM, "no memory");
    }
    if (db_run(statement, NULL, 0, err)) {
        return -1;
    }
    insert->added += db_changes(statement);
    return 0;
}

int db_insert_put(struct db_insert *insert, const struct db_value *values, struct apapi_error *err)
{
    insert->kept[insert->kept_count++] = values;
    if (insert->kept_count < insert->room) {
        return 0;
    }
    insert->kept_count = 0;
    return db_row_run(insert, insert->many ? insert->many : insert->one, insert->kept, insert->room,
                      err);
}

int db_insert_flush(struct db_insert *insert, struct apapi_error *err)
{
    size_t count = insert->kept_count;

    insert->kept_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (db_row_run(insert, insert->one, &insert->kept[i], 1, err)) {
            return -1;
        }
    }
    return 0;
}

size_t db_insert_added(struct db_insert *insert)
{
    size_t added = insert->added;

    insert->added = 0;
    return added;
}

int db_insert_run(struct db_insert *insert, const struct db_row *row, struct apapi_error *err)
{
    const struct db_value *values = insert->values;

    db_insert_values(insert, row, insert->values);
    return db_row_run(insert, insert->one, &values, 1, err);
}

/* --- rows are read -------------------------------------------------------------------------- */

static uint32_t number_from(const struct db_value *value, const struct field *field)
{
    if (value->type != DB_INTEGER || value->integer < 0 || value->integer > APAPI_UNKNOWN ||
        (value->integer == 0 && db_is_key(field))) {
        return APAPI_UNKNOWN;
    }
    return (uint32_t)value->integer;
}

static double real_from(const struct db_value *value)
{
    if (value->type == DB_INTEGER) {
        return (double)value->integer;
    }
    return value->type == DB_REAL ? value->real : NAN;
}

static uint64_t duration_from(const struct db_value *value)
{
    double seconds = real_from(value);

    if (!(seconds > 0)) {
        return 0;
    }
    return seconds * 1e9 >= 0x1p64 ? UINT64_MAX : (uint64_t)(seconds * 1e9 + 0.5);
}

static void text_from(const struct db_value *value, char *text, size_t size)
{
    size_t length = value->size < size ? value->size : size - 1;

    if (!value->text) {
        length = 0;
    } else {
        memcpy(text, value->text, length);
    }
    text[length] = '\0';
}

static enum apapi_kind kind_from(const struct db_value *value)
{
    int kind = APAPI_KINDS - 1;

    while (kind > 0 && (!value->text || strcmp(apapi_kind_name(kind), value->text) != 0)) {
        kind--;
    }
    return kind;
}

static int type_from(const struct db_value *value)
{
    for (int i = 0; value->text && field_type_name(i); i++) {
        if (strcmp(field_type_name(i), value->text) == 0) {
            return i;
        }
    }
    return APAPI_TYPE_UINT64;
}

static void set(const struct field *field, const struct db_value *value, void *at)
{
    switch (field->form) {
    case FIELD_TEXT:
        text_from(value, at, field->size);
        break;
    case FIELD_NUMBER:
        *(uint32_t *)at = number_from(value, field);
        break;
    case FIELD_COUNT:
        *(uint64_t *)at = value->integer > 0 ? (uint64_t)value->integer : 0;
        break;
    case FIELD_DURATION:
        *(uint64_t *)at = duration_from(value);
        break;
    case FIELD_FLAG:
        *(bool *)at = value->integer != 0;
        break;
    case FIELD_MOMENT:
        *(int64_t *)at = value->integer;
        break;
    case FIELD_KIND:
        *(enum apapi_kind *)at = kind_from(value);
        break;
    case FIELD_DOMAIN:
        *(enum apapi_domain *)at = apapi_domain_find(value->text);
        break;
    case FIELD_TYPE:
        *(int *)at = type_from(value);
        break;
    default:
        *(double *)at = real_from(value);
    }
}

size_t db_parts_read(struct db_statement *row, size_t first, const struct db_table *table,
                     void *const *bases)
{
    for (size_t i = 0; i < DB_PARTS && table->parts[i]; i++) {
        for (const struct field *field = table->parts[i]; field->key; field++) {
            struct db_value value = db_column(row, first++);

            set(field, &value, (char *)bases[i] + field->offset);
        }
    }
    return first;
}
