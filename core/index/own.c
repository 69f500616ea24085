/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The index that apapi keeps by itself. An entry counts only if it fits the present state of its
 * file; else the file is read.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/inflow.h"
#include "index/db.h"
#include "index/index.h"
#include "record/fields.h"
#include "record/files.h"
#include "record/record.h"
#include "sum/sum.h"

#define OWN_VERSION 6
#define OWN_PAGES "131072"     /* most pages of the database: 4 GiB */
#define PART_SIZE 65536        /* of packed lines; the last part of a file is smaller [bytes] */
#define COMMIT_SIZE (64 << 20) /* size of the files that are read between two commits [bytes] */
#define ODD_MAX 1000           /* lines that are no records; a file with more is not served */
#define LAST_SIZE 4096         /* end of what was read, by which a file is recognized [bytes] */

enum { OWN_LAST, OWN_DROP, OWN_DROP_OLD, OWN_PUT, OWN_PARTS, OWN_STATEMENTS };

#define OF_FILE " FROM parts WHERE folder = ? AND \"day\" = ? AND file = ?"

static const char *const own_queries[OWN_STATEMENTS] = {
    [OWN_LAST] = "SELECT state" OF_FILE " ORDER BY part DESC LIMIT 1",
    [OWN_DROP] = "DELETE" OF_FILE,
    /* the oldest days, which have a quarter of all parts */
    [OWN_DROP_OLD] =
        "DELETE FROM parts WHERE (SELECT page_count FROM pragma_page_count) -"
        " (SELECT freelist_count FROM pragma_freelist_count) > " OWN_PAGES " / 10 * 9 AND"
        " \"day\" <= (SELECT \"day\" FROM parts ORDER BY \"day\" LIMIT 1"
        " OFFSET (SELECT COUNT(*) / 4 FROM parts))",
    [OWN_PUT] = "INSERT INTO parts VALUES (?, ?, ?, ?, ?, ?, ?)",
    [OWN_PARTS] = "SELECT state, sum, lines" OF_FILE " ORDER BY part"};

static const char own_schema[] =
    "CREATE TABLE IF NOT EXISTS parts (folder TEXT, \"day\" TEXT, file TEXT, part INTEGER,"
    " state BLOB, sum INTEGER, lines BLOB, UNIQUE (folder, \"day\", file, part));"
    "CREATE INDEX IF NOT EXISTS parts_day ON parts (\"day\");"
    "PRAGMA user_version = 6; PRAGMA application_id = 0x41504149; COMMIT"; /* OWN_VERSION */

/* The state of a file when a part of it was read. The last part has the latest state. */
struct own_file {
    int64_t part; /* number of the part; -1: none */
    int64_t inode, size, changed_ns;
    int64_t bytes;  /* whole lines so far, of the decompressed data */
    int64_t last;   /* digest of the end of these bytes */
    int64_t served; /* 1: the file may be served; 0: parts are lacking, or it is unfit */
};

/* A line of a file; its record follows. */
struct own_line {
    uint64_t offset;       /* [bytes] */
    uint64_t digest;       /* record_digest() */
    uint32_t size, curves; /* without the newline; size of its curves in a sum [bytes] */
    uint64_t odd; /* 1: the line is not exactly one record, and nothing else is known of it */
};

/*
 * Lines, one after the other, each with its record as a sum takes it, but without curves: some 370
 * bytes each. Only this machine reads them, so numbers are in its form.
 */
struct packed {
    char *bytes;
    size_t size, room;
    size_t at;   /* offset of the next value to read */
    bool writes; /* values are written; false: they are read */
    bool failed; /* out of memory, or the lines are damaged */
};

struct own_index {
    char path[PATH_MAX], *dir, *folder; /* folder: `dir` without links */
    struct db *db;
    struct db_statement *statements[OWN_STATEMENTS];
    bool damaged;
    const struct apapi_scan_file *named; /* the present file ... */
    struct own_file file;                /* ... and its state */
    struct own_question *question;
    struct apapi_error why; /* why the index cannot be written; "": it can */
    bool begun, unfit;      /* a transaction has begun; the file cannot be served */
    size_t records, odd;    /* of the file */
    uint64_t uncommitted;   /* read since the last commit [bytes] */
    struct packed packed;
    struct own_line line;                    /* the present line in `packed` ... */
    struct apapi_record record;              /* ... its record, ... */
    struct apapi_component_result component; /* ... the only component of the record, ... */
    struct apapi_event_result gpus[64];      /* ... its events: the GPUs in `gpus_named` */
    size_t gpu_count;
    uint64_t gpus_named;
    struct filter filter;
    bool brief;              /* records are taken without curves */
    uint64_t curves;         /* of the wanted records so far [bytes] */
    struct apapi_scan *scan; /* gets the lines that are needed */
    char *text;
    size_t text_room;
};

/* --- packed lines --------------------------------------------------------------------------- */

static void packed_append(struct packed *packed, const void *bytes, size_t size)
{
    packed->failed = packed->failed || (size > 0 && array_extend(&packed->bytes, packed->size, size,
                                                                 &packed->room, 1));
    if (!packed->failed && size > 0) {
        memcpy(packed->bytes + packed->size, bytes, size);
        packed->size += size;
    }
}

/* Write a value, or read it: both go the same way through a record. */
static void pass(struct packed *packed, void *value, size_t size)
{
    if (packed->writes) {
        packed_append(packed, value, size);
        return;
    }
    packed->failed = packed->failed || packed->size - packed->at < size;
    if (packed->failed) {
        memset(value, 0, size);
        return;
    }
    memcpy(value, packed->bytes + packed->at, size);
    packed->at += size;
}

static void pass_text(struct packed *packed, void *text, size_t room)
{
    size_t size = packed->writes
                      ? strlen(text) + 1
                      : strnlen(packed->bytes + packed->at, packed->size - packed->at) + 1;

    packed->failed = packed->failed || size > room;
    pass(packed, text, packed->failed ? 1 : size);
}

/* Pass members of a structure. Members of forms that are not named here have eight bytes. */
static void pass_fields(struct packed *packed, const struct field *fields, void *base)
{
    for (const struct field *field = fields; field->key; field++) {
        void *member = (char *)base + field->offset;

        switch (field->form) {
        case FIELD_TEXT:
            pass_text(packed, member, field->size);
            break;
        case FIELD_NUMBER:
        case FIELD_SET:
            pass(packed, member, sizeof(uint32_t));
            break;
        case FIELD_FLAG:
            pass(packed, member, sizeof(bool));
            break;
        default:
            pass(packed, member, sizeof(uint64_t));
        }
    }
}

/* Pass what a sum needs of all components: the GPUs with meters, and the shortest time with a known
 * power. When reading, one component stands for all: half of its interval is this time. */
static void pass_components(struct own_index *index, struct apapi_measurement *m)
{
    const bool writes = index->packed.writes;
    uint64_t window_ns = writes ? window_shortest_ns(m) : 0, gpus = writes ? record_gpus(m) : 0;

    pass(&index->packed, &window_ns, sizeof window_ns);
    pass(&index->packed, &gpus, sizeof gpus);
    if (writes) {
        return;
    }
    if (gpus != index->gpus_named) {
        index->gpus_named = gpus;
        index->gpu_count = 0;
        for (int gpu = 0; gpus; gpu++, gpus >>= 1) {
            struct apapi_event *event = &index->gpus[index->gpu_count].event;

            snprintf(event->name, sizeof event->name, ":::gpu%d", gpu);
            event->domain = APAPI_DOMAIN_GPU;
            index->gpu_count += gpus & 1;
        }
    }
    index->component = (struct apapi_component_result){.measured = true,
                                                       .interval_ns = 2 * window_ns,
                                                       .events = index->gpus,
                                                       .event_count = index->gpu_count};
    m->component_count = 1;
    m->components = &index->component;
}

static void pass_domain(struct packed *packed, struct apapi_domain_result *domain)
{
    double *const figures[] = {&domain->energy_j,    &domain->uncertainty_j, &domain->covered,
                               &domain->power_w.min, &domain->power_w.mean,  &domain->power_w.max};
    bool drawn = domain->timeline.count > 0;

    pass(packed, &domain->measured, sizeof domain->measured);
    if (domain->measured) {
        for (size_t i = 0; i < COUNT_OF(figures); i++) {
            pass(packed, figures[i], sizeof *figures[i]);
        }
        pass(packed, &drawn, sizeof drawn);
    }
    if (!packed->writes) {
        domain->timeline.count = domain->measured && drawn;
    }
}

static void pass_record(struct own_index *index, struct apapi_record *record)
{
    pass_fields(&index->packed, fields_of_record, record);
    pass_fields(&index->packed, fields_of_trust, &record->measurement);
    pass_components(index, &record->measurement);
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        pass_domain(&index->packed, &record->measurement.domains[d]);
    }
}

/* @param record  NULL: the line is odd */
static void write_line(struct own_index *index, struct own_line line, struct apapi_record *record)
{
    line.odd = !record;
    line.curves = record ? (uint32_t)sum_curves_size(record) : 0;
    pass(&index->packed, &line, sizeof line);
    if (record) {
        pass_record(index, record);
    }
}

/* Read the next line, and what sum_add() takes of its record, except curves, shares and regions. */
static bool read_line(struct own_index *index)
{
    if (index->packed.at == index->packed.size) {
        return false;
    }
    pass(&index->packed, &index->line, sizeof index->line);
    if (!index->line.odd) {
        pass_record(index, &index->record);
    }
    return !index->packed.failed;
}

/* --- the file ------------------------------------------------------------------------------- */

/* @return whether a file is an index or new: only an index may be removed and made again. */
static bool is_index(int fd)
{
    enum { HEADER_SIZE = 100, ID_AT = 68 }; /* of SQLite, which writes numbers big-endian */
    static const unsigned char nothing[HEADER_SIZE], id[] = {0x41, 0x50, 0x41, 0x49};
    unsigned char header[HEADER_SIZE] = {0};

    return pread(fd, header, sizeof header, 0) >= 0 &&
           (memcmp(header + ID_AT, id, sizeof id) == 0 ||
            memcmp(header, nothing, sizeof header) == 0);
}

/* Make the file and its folders, and check that it is the caller's. */
static int own_touch(const char *path, struct apapi_error *err)
{
    char folder[PATH_MAX];
    struct stat status;
    const char *problem = NULL;
    int fd;

    for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
        mkdir(folder, 0711); /* if a folder cannot be made, the file cannot either */
    }
    fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY, 0600);
    if (fd < 0 || fstat(fd, &status)) {
        problem = strerror(errno);
    } else if (!S_ISREG(status.st_mode) || status.st_uid != geteuid() ||
               status.st_mode & (S_IRWXG | S_IRWXO)) {
        problem = "it is not the caller's, or others can read or write it";
    } else if (!is_index(fd)) {
        problem = "it is no index of apapi";
    }
    if (fd >= 0) {
        close(fd);
    }
    return problem ? apapi_fail(err, EPERM, "%.160s: %s", path, problem) : 0;
}

/* @return 1; 0: the index is of another version; -1 */
static int own_set_up(struct own_index *index, struct apapi_error *err)
{
    struct db_statement *version = db_prepare(index->db, "PRAGMA user_version", err);
    int64_t number =
        version && db_first(version, NULL, 0, err) > 0 ? db_column(version, 0).integer : -1;

    db_finalize(version);
    if (number == 0) {
        return db_begin(index->db, err) || db_exec(index->db, own_schema, err) ? -1 : 1;
    }
    return number < 0 ? -1 : number == OWN_VERSION;
}

/* @return as own_set_up() */
static int own_connect(struct own_index *index, struct apapi_error *err)
{
    static const char settings[] =
        "PRAGMA synchronous = NORMAL; PRAGMA max_page_count = " OWN_PAGES;
    char url[PATH_MAX + 16];
    int result;

    snprintf(url, sizeof url, "sqlite:%s", index->path);
    if (own_touch(index->path, err) || db_connect(url, true, &index->db, err)) {
        return -1;
    }
    result = own_set_up(index, err);
    for (int i = 0; i < OWN_STATEMENTS && result > 0; i++) {
        index->statements[i] = db_prepare(index->db, own_queries[i], err);
        result = index->statements[i] != NULL; /* 0: the index has other tables */
    }
    return result > 0 && db_exec(index->db, settings, err) ? -1 : result;
}

/* @param removes  remove the file, too */
static void own_disconnect(struct own_index *index, bool removes)
{
    char journal[PATH_MAX + 8];

    for (int i = 0; i < OWN_STATEMENTS; i++) {
        db_finalize(index->statements[i]);
        index->statements[i] = NULL;
    }
    db_close(index->db);
    index->db = NULL;
    if (removes) {
        snprintf(journal, sizeof journal, "%s-journal", index->path);
        unlink(journal);
        unlink(index->path);
    }
}

/* @return 1; 0: no index is kept on a node where Slurm runs the command; -1: there is no place */
static int own_place(const char *path, char place[PATH_MAX], struct apapi_error *err)
{
    const char *cache = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");

    if (secure_getenv("SLURMD_NODENAME") || secure_getenv("SLURM_SCRIPT_CONTEXT")) {
        return 0;
    }
    if (path || geteuid() == 0) {
        snprintf(place, PATH_MAX, "%s", path ? path : "/var/lib/apapi/index.db");
    } else if (cache && *cache == '/') {
        snprintf(place, PATH_MAX, "%s/apapi/index.db", cache);
    } else if (home && *home == '/') {
        snprintf(place, PATH_MAX, "%s/.cache/apapi/index.db", home);
    } else {
        return apapi_fail(err, ENOENT, "HOME is not set");
    }
    return 1;
}

struct own_index *own_index_open(const char *path, const char *folder, struct apapi_error *err)
{
    struct own_index *index = calloc(1, sizeof *index);
    int result = index ? own_place(path, index->path, err) : -1;

    if (result > 0) {
        index->dir = strdup(folder);
        index->folder = realpath(folder, NULL);
        result = index->dir && index->folder ? own_connect(index, err) : -1;
        if (result == 0 || (result < 0 && errno == EBADMSG)) {
            own_disconnect(index, true);
            *err = (struct apapi_error){""};
            result = own_connect(index, err);
        }
    }
    if (result <= 0) {
        own_index_close(index);
        return NULL;
    }
    return index;
}

void own_index_close(struct own_index *index)
{
    int code = errno;

    if (index) {
        own_disconnect(index, index->damaged);
        filter_free(&index->filter);
        free(index->packed.bytes);
        free(index->text);
        free(index->folder);
        free(index->dir);
        free(index);
    }
    errno = code;
}

/* --- files ---------------------------------------------------------------------------------- */

/* Read the present state of the file. */
static int own_look(const struct own_index *index, struct own_file *file)
{
    struct stat status;

    if (fstat(index->named->fd, &status)) {
        return -1;
    }
    *file =
        (struct own_file){.inode = (int64_t)status.st_ino,
                          .size = (int64_t)status.st_size,
                          .changed_ns = status.st_mtim.tv_sec * NS_PER_S + status.st_mtim.tv_nsec};
    return 0;
}

/* @return digest of the end of the file's first `bytes` bytes; -1: they cannot be read. */
static int64_t last_digest(const struct own_index *index, int64_t bytes)
{
    char last[LAST_SIZE];
    size_t size = bytes < LAST_SIZE ? (size_t)bytes : LAST_SIZE;
    ssize_t got = pread(index->named->fd, last, size, bytes - (int64_t)size);

    return got == (ssize_t)size ? (int64_t)record_digest(last, size) : -1;
}

/* Ask for parts of the file. Returns as db_first(). */
static int first_part(struct own_index *index, int number, struct apapi_error *err)
{
    const struct db_value key[] = {db_text(index->folder), db_text(index->named->day),
                                   db_text(index->named->name)};

    return db_first(index->statements[number], key, COUNT_OF(key), err);
}

static struct own_file read_state(struct db_statement *row)
{
    const struct db_value state = db_column(row, 0);
    struct own_file file = {.part = -1};

    if (state.size == sizeof file) {
        memcpy(&file, state.text, sizeof file);
    }
    return file;
}

/* Look the file up. @return 1; 0: it is not in the index; -1 */
static int find_file(struct own_index *index, struct own_file *file)
{
    int got = first_part(index, OWN_LAST, &index->why);

    *file = got > 0 ? read_state(index->statements[OWN_LAST]) : (struct own_file){.part = -1};
    db_end(index->statements[OWN_LAST]);
    return got;
}

static bool is_unchanged(const struct own_file *known, const struct own_file *file)
{
    return known->inode == file->inode && known->size == file->size &&
           known->changed_ns == file->changed_ns;
}

/* @return whether the file has changed by appended lines only. */
static bool has_grown(const struct own_index *index, const struct own_file *known,
                      const struct own_file *file)
{
    return known->inode == file->inode && known->bytes <= file->size && known->served &&
           !inflow_is_packed(index->named->name) && last_digest(index, known->bytes) == known->last;
}

/* @return a checksum of a part. */
static int64_t part_sum(const struct own_file *file, const char *lines, size_t size)
{
    return (int64_t)(record_digest((const char *)file, sizeof *file) ^ record_digest(lines, size));
}

/* --- what files have gained ----------------------------------------------------------------- */

/* Stop writing to the index: `why` has the reason. @return -1 */
static int own_stick(struct own_index *index)
{
    index->damaged = index->damaged || errno == EBADMSG;
    return *index->why.text ? -1 : apapi_fail(&index->why, errno, "%s", strerror(errno));
}

static int own_run(struct own_index *index, int number, const struct db_value *values, size_t count)
{
    return db_run(index->statements[number], values, count, &index->why) < 0 ? own_stick(index) : 0;
}

static int own_begin(struct own_index *index)
{
    if (db_begin(index->db, &index->why)) {
        return own_stick(index);
    }
    index->begun = true;
    index->uncommitted = 0;
    return own_run(index, OWN_DROP_OLD, NULL, 0);
}

static int own_commit(struct own_index *index)
{
    if (index->begun && db_exec(index->db, "COMMIT", &index->why)) {
        return own_stick(index);
    }
    index->begun = false;
    return 0;
}

/* @return 1: read the file from file.bytes on; 0: leave it out; -1 */
static int choose_file(struct own_index *index)
{
    struct own_file now, known;
    int got;

    if (own_look(index, &now)) {
        return 0;
    }
    got = find_file(index, &known);
    if (!index->begun && got >= 0 && !(got && is_unchanged(&known, &now))) {
        /* another process may have read the file while this one waited */
        got = own_begin(index) ? -1 : find_file(index, &known);
    }
    if (got < 0 || (got && is_unchanged(&known, &now))) {
        return got < 0 ? own_stick(index) : 0;
    }
    if (got && !has_grown(index, &known, &now)) {
        known = (struct own_file){.part = -1};
        if (first_part(index, OWN_DROP, &index->why) < 0) {
            return own_stick(index);
        }
    }
    now.part = known.part + 1;
    now.bytes = known.bytes;
    index->file = now;
    return 1;
}

static bool update_begin(const struct apapi_scan_file *named, uint64_t *offset, void *context)
{
    struct own_index *index = context;

    index->named = named;
    if (*index->why.text || choose_file(index) <= 0) {
        return false;
    }
    index->unfit = false;
    index->packed.size = index->records = index->odd = 0;
    index->packed.writes = true;
    *offset = (uint64_t)index->file.bytes;
    return true;
}

static int put_part(struct own_index *index)
{
    struct packed *packed = &index->packed;
    struct own_file *file = &index->file;
    const struct db_value row[] = {db_text(index->folder),
                                   db_text(index->named->day),
                                   db_text(index->named->name),
                                   db_integer(file->part),
                                   db_bytes(file, sizeof *file),
                                   db_integer(part_sum(file, packed->bytes, packed->size)),
                                   db_bytes(packed->bytes, packed->size)};

    if (packed->failed) {
        apapi_fail(&index->why, ENOMEM, "no memory");
        return own_stick(index);
    }
    if (own_run(index, OWN_PUT, row, COUNT_OF(row))) {
        return -1;
    }
    packed->size = 0;
    file->part++;
    return 0;
}

static int update_take(struct apapi_scan *scan, const struct line *line)
{
    static const char begin[] = "{\"apapi\":";
    struct own_index *index = scan->sink.context;
    const struct own_line packed = {.offset = line->offset,
                                    .digest = record_digest(line->text, line->size),
                                    .size = (uint32_t)line->size};
    struct apapi_record record;
    bool decoded;

    if (!line->whole) {
        return 0; /* the line is read again each time until it is whole */
    }
    index->file.bytes = (int64_t)(line->offset + line->size + 1);
    if (line->size == 0 || index->unfit) {
        return 1;
    }
    decoded = line->size > sizeof begin && memcmp(line->text, begin, sizeof begin - 1) == 0 &&
              line->text[line->size - 1] == '}' &&
              apapi_record_decode(line->text, line->size, &record, NULL) == 0;
    write_line(index, packed, decoded && record_has_time(&record.measurement) ? &record : NULL);
    if (decoded) {
        apapi_record_clear(&record);
    }
    index->records++;
    index->odd += !decoded;
    index->unfit = index->odd > ODD_MAX;
    return index->packed.size >= PART_SIZE && put_part(index) ? -1 : 1;
}

/* A file with a line that is too long, or that cannot be read, is left to readers of the files. */
static void update_problem(const struct apapi_scan_problem *problem, void *context)
{
    (void)problem;
    ((struct own_index *)context)->unfit = true;
}

/* The entry of a file that has gained no record stays as it was. */
static void update_end(const struct apapi_scan_file *named, uint64_t offset, void *context)
{
    struct own_index *index = context;
    struct own_file *file = &index->file;

    (void)offset;
    if (*index->why.text) {
        return;
    }
    index->question->progress(named->size, index->records, index->question->context);
    index->uncommitted += named->size;
    file->last = inflow_is_packed(named->name) ? 0 : last_digest(index, file->bytes);
    file->served = !index->unfit;
    if ((index->records > 0 || file->part == 0) && put_part(index) == 0 &&
        index->uncommitted > COMMIT_SIZE) {
        own_commit(index);
    }
}

/* --- what it has of a file ------------------------------------------------------------------ */

/* @return whether `packed` has all lines of the file's present state, up to file.bytes */
static bool load_file(struct own_index *index, const struct apapi_scan_file *named)
{
    struct db_statement *parts = index->statements[OWN_PARTS];
    struct own_file *file = &index->file, now;
    int64_t count = 0;
    int got;

    index->named = named;
    index->packed.size = 0;
    index->packed.writes = index->packed.failed = false;
    got = own_look(index, &now) ? 0 : first_part(index, OWN_PARTS, NULL);
    for (; got > 0; got = db_step(parts, NULL)) {
        struct db_value lines = db_column(parts, 2);

        *file = read_state(parts);
        if (file->part != count++ ||
            db_column(parts, 1).integer != part_sum(file, lines.text, lines.size)) {
            errno = EBADMSG;
            got = -1;
            break;
        }
        packed_append(&index->packed, lines.text, lines.size);
    }
    db_end(parts);
    index->damaged = index->damaged || (got < 0 && errno == EBADMSG);
    return got == 0 && count > 0 && !index->packed.failed && file->served &&
           (is_unchanged(file, &now) || has_grown(index, file, &now));
}

/* @return in how many parts the present record is wanted */
static unsigned own_wants(const struct own_index *index)
{
    const struct own_question *question = index->question;
    const struct own_brief *brief = question->brief;

    if (index->line.odd || !filter_wants(&index->filter, &index->record) ||
        !question->wants(&index->record, question->context)) {
        return 0;
    }
    return brief ? brief->parts(&index->record, brief->context) : 1;
}

/* Visit the lines until `visit` returns other than 0. @return its last result; -1 */
static int each_line(struct own_index *index, int (*visit)(struct own_index *index))
{
    int result = 0;

    index->packed.at = 0;
    while (result == 0 && read_line(index)) {
        result = visit(index);
    }
    return index->packed.failed ? -1 : result;
}

/* --- questions ------------------------------------------------------------------------------ */

static int weigh_line(struct own_index *index)
{
    index->curves += (uint64_t)index->line.curves * own_wants(index);
    return 0;
}

static bool weigh_file(const struct apapi_scan_file *named, uint64_t *offset, void *context)
{
    struct own_index *index = context;

    (void)offset;
    if (index->curves <= index->question->brief->curve_max && load_file(index, named)) {
        each_line(index, weigh_line);
    }
    return false;
}

static void own_walk(struct own_index *index, const struct apapi_scan_filter *filter,
                     const struct apapi_scan_sink *sink)
{
    struct apapi_scan *walk = apapi_scan_create(filter, sink, NULL);

    if (walk) {
        walk->take = update_take;
        apapi_scan_folder(walk, index->dir, NULL);
    }
    apapi_scan_destroy(walk);
}

int own_index_ask(struct own_index *index, struct own_question *question, struct apapi_error *err)
{
    const struct apapi_scan_filter places = {.from_unix_ns = question->filter->from_unix_ns,
                                             .to_unix_ns = question->filter->to_unix_ns,
                                             .nodes = question->filter->nodes};
    const struct apapi_scan_sink updating = {
        .problem = update_problem, .begin = update_begin, .end = update_end, .context = index};
    const struct apapi_scan_sink weighing = {.begin = weigh_file, .context = index};
    int result = filter_init(&index->filter, question->filter, err);

    index->question = question;
    own_walk(index, &places, &updating); /* the reader reports a folder that cannot be read */
    if ((*index->why.text || own_commit(index)) && !index->damaged) {
        result = apapi_fail(err, EIO, "%s", index->why.text);
    }
    if (index->begun) {
        db_exec(index->db, "ROLLBACK", NULL);
    }
    db_exec(index->db, "BEGIN", NULL); /* the whole answer sees one state of the index */
    if (question->brief) {
        own_walk(index, &places, &weighing);
    }
    index->brief = question->brief && index->curves > question->brief->curve_max;
    if (index->brief) {
        *question->brief->curveless = true;
    }
    return result ? -1 : 0;
}

static bool needs_line(const struct own_index *index, unsigned parts)
{
    return index->line.odd || (parts > 0 && (!index->brief || parts > 1));
}

static int visit_need(struct own_index *index)
{
    return needs_line(index, own_wants(index));
}

static int serve_line(struct own_index *index)
{
    const struct own_line *line = &index->line;
    const struct own_brief *brief = index->question->brief;
    unsigned parts = own_wants(index);

    if (!needs_line(index, parts)) {
        index->question->taken += parts;
        return parts ? brief->take(&index->record, line->digest, brief->context) : 0;
    }
    if (array_extend(&index->text, 0, line->size + 1, &index->text_room, 1)) {
        return -1;
    }
    if (pread(index->named->fd, index->text, line->size, (off_t)line->offset) !=
        (ssize_t)line->size) {
        errno = EIO; /* the line was there a moment ago */
        return -1;
    }
    return apapi_scan_line(index->scan, index->text, line->size);
}

int own_index_serve(struct own_index *index, struct apapi_scan *scan,
                    const struct apapi_scan_file *named, uint64_t *offset)
{
    bool packed = inflow_is_packed(named->name);
    int result;

    index->scan = scan;
    if (!load_file(index, named) || (packed && each_line(index, visit_need) != 0)) {
        return 1;
    }
    result = each_line(index, serve_line);
    *offset = (uint64_t)index->file.bytes;
    return result < 0 ? -1 : !packed && (uint64_t)index->file.bytes < named->size;
}
