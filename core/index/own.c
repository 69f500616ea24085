/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The index that apapi keeps by itself. An entry counts only if it fits its file as that is now;
 * else the file is read.
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
#include "index/brief.h"
#include "index/db.h"
#include "index/index.h"
#include "record/files.h"
#include "record/record.h"

#define OWN_VERSION 4
#define OWN_ID 0x41504149      /* SQLite's application_id */
#define OWN_PAGES "131072"     /* at most: 4 GiB */
#define PART_SIZE 65536        /* of packed lines; the last part of a file is smaller [bytes] */
#define PART_BITS "20"         /* of the number of a part in its file */
#define COMMIT_SIZE (64 << 20) /* of the files between two commits [bytes] */
#define ODD_MAX 1000           /* lines that are no records; a file with more is not served */
#define LAST_SIZE 4096         /* at the end of what was read, to know a file by [bytes] */

enum { OWN_FIND, OWN_BEGIN, OWN_END, OWN_DROP, OWN_DROP_OLD, OWN_PUT, OWN_PARTS, OWN_STATEMENTS };

static const char *const own_queries[OWN_STATEMENTS] = {
    [OWN_FIND] = "SELECT id, inode, size, changed_ns, bytes, last, parts FROM files"
                 " WHERE folder = ? AND \"day\" = ? AND file = ?",
    [OWN_BEGIN] = "INSERT INTO files VALUES (NULL, ?, ?, ?, ?, ?, ?, 0, 0, 0)",
    [OWN_END] = "UPDATE files SET inode = ?, size = ?, changed_ns = ?, bytes = ?, last = ?,"
                " parts = ? WHERE id = ?",
    [OWN_DROP] = "DELETE FROM files WHERE id = ?",
    /* of the oldest days, a quarter of the files */
    [OWN_DROP_OLD] =
        "DELETE FROM files WHERE (SELECT page_count FROM pragma_page_count) -"
        " (SELECT freelist_count FROM pragma_freelist_count) > " OWN_PAGES " / 10 * 9 AND"
        " \"day\" <= (SELECT \"day\" FROM files ORDER BY \"day\" LIMIT 1"
        " OFFSET (SELECT COUNT(*) / 4 FROM files))",
    [OWN_PUT] = "INSERT INTO parts VALUES ((? << " PART_BITS ") + ?, ?, ?)",
    [OWN_PARTS] = "SELECT sum, bytes FROM parts WHERE id >= (?1 << " PART_BITS ") AND"
                  " id < ((?1 + 1) << " PART_BITS ") ORDER BY id"};

static const char own_schema[] =
    "CREATE TABLE IF NOT EXISTS files (id INTEGER PRIMARY KEY, folder TEXT, \"day\" TEXT,"
    " file TEXT, inode INTEGER, size INTEGER, changed_ns INTEGER, bytes INTEGER, last INTEGER,"
    " parts INTEGER, UNIQUE (folder, \"day\", file));"
    "CREATE INDEX IF NOT EXISTS files_day ON files (\"day\");"
    "CREATE TABLE IF NOT EXISTS parts (id INTEGER PRIMARY KEY, sum INTEGER, bytes BLOB);"
    "CREATE TRIGGER IF NOT EXISTS dropped AFTER DELETE ON files BEGIN"
    " DELETE FROM parts WHERE id >= OLD.id << " PART_BITS " AND id < (OLD.id + 1) << " PART_BITS
    "; END";

/* A file as it was read. */
struct own_file {
    int64_t id, inode, size, changed_ns;
    int64_t bytes; /* whole lines, of the decompressed data */
    int64_t last;  /* digest of the end of these */
    int64_t parts; /* 0 of a file that cannot be served */
};

struct own_index {
    char path[PATH_MAX], *dir, *folder; /* folder: `dir` without links */
    struct db *db;
    struct db_statement *statements[OWN_STATEMENTS];
    bool damaged;
    char name[NAME_MAX + 16]; /* of the present file, with its day */
    struct own_file file;     /* this one */
    struct own_question *question;
    struct apapi_error why; /* it cannot be written; "": it can */
    bool begun, unfit;      /* a transaction; the file cannot be served */
    size_t records, odd;    /* of the file */
    uint64_t uncommitted;   /* read since the last commit [bytes] */
    struct brief_lines lines;
    struct brief_line line; /* the present one of these */
    struct apapi_record record;
    struct filter filter;
    bool brief;              /* records are taken without curves */
    uint64_t curves;         /* of the wanted records so far [bytes] */
    struct apapi_scan *scan; /* for lines that are needed */
    int fd;                  /* of the file; -1: not open */
    char *text;
    size_t text_room;
};

/* --- the file ------------------------------------------------------------------------------- */

/* A damaged one may be made again, but no file of another kind may be lost. */
static bool is_index(int fd)
{
    enum { HEADER_SIZE = 100, ID_AT = 68 }; /* of SQLite, which writes numbers big-endian */
    static const unsigned char nothing[HEADER_SIZE], id[] = {0x41, 0x50, 0x41, 0x49};
    unsigned char header[HEADER_SIZE] = {0};

    return pread(fd, header, sizeof header, 0) >= 0 &&
           (memcmp(header + ID_AT, id, sizeof id) == 0 ||
            memcmp(header, nothing, sizeof header) == 0);
}

/* Make the file and its folders, and check whose it is. */
static int own_touch(const char *path, struct apapi_error *err)
{
    char folder[PATH_MAX];
    struct stat status;
    const char *problem = NULL;
    int fd;

    for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
        mkdir(folder, 0711); /* if it cannot be made, the file cannot */
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

/* @return 1; 0: it is of another version; -1 */
static int own_set_up(struct own_index *index, struct apapi_error *err)
{
    struct db_statement *version = db_prepare(index->db, "PRAGMA user_version", err);
    int64_t number =
        version && db_first(version, NULL, 0, err) > 0 ? db_column(version, 0).integer : -1;
    char sql[160];

    db_finalize(version);
    if (number != 0) {
        return number < 0 ? -1 : number == OWN_VERSION;
    }
    snprintf(sql, sizeof sql, "PRAGMA user_version = %d; PRAGMA application_id = %d; COMMIT",
             OWN_VERSION, OWN_ID);
    return db_begin(index->db, err) || db_exec(index->db, own_schema, err) ||
                   db_exec(index->db, sql, err)
               ? -1
               : 1;
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
        result = index->statements[i] != NULL; /* it has other tables */
    }
    return result > 0 && db_exec(index->db, settings, err) ? -1 : result;
}

/* @param removes  the file, too */
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

/* @return 1; 0: Slurm runs the command on a node, where none is kept; -1: it has no place */
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
        sum_free(&index->lines.sums);
        free(index->lines.bytes);
        free(index->text);
        free(index->folder);
        free(index->dir);
        free(index);
    }
    errno = code;
}

/* --- files ---------------------------------------------------------------------------------- */

static int own_open_file(const struct own_index *index)
{
    char path[PATH_MAX];

    /* the walk has found that neither the day nor the file is a link */
    snprintf(path, sizeof path, "%s/%s", index->dir, index->name);
    return open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

/* The file as it is now. */
static int own_look(struct own_index *index, const struct apapi_scan_file *named,
                    struct own_file *file)
{
    char path[PATH_MAX];
    struct stat status;

    snprintf(index->name, sizeof index->name, "%s/%s", named->day, named->name);
    snprintf(path, sizeof path, "%s/%s", index->dir, index->name);
    if (lstat(path, &status)) {
        return -1;
    }
    *file =
        (struct own_file){.inode = (int64_t)status.st_ino,
                          .size = (int64_t)status.st_size,
                          .changed_ns = status.st_mtim.tv_sec * NS_PER_S + status.st_mtim.tv_nsec};
    return 0;
}

/* The digest of the end of so many bytes. */
static int64_t last_digest(const struct own_index *index, int64_t bytes)
{
    char last[LAST_SIZE];
    size_t size = bytes < LAST_SIZE ? (size_t)bytes : LAST_SIZE;
    int fd = own_open_file(index);
    ssize_t got = fd < 0 ? -1 : pread(fd, last, size, bytes - (int64_t)size);

    if (fd >= 0) {
        close(fd);
    }
    return got == (ssize_t)size ? (int64_t)record_digest(last, size) : -1;
}

/* Look a file up. @return 1; 0: it is not in the index; -1 */
static int find_file(struct own_index *index, const struct apapi_scan_file *named,
                     struct own_file *file, struct apapi_error *err)
{
    const struct db_value key[] = {db_text(index->folder), db_text(named->day),
                                   db_text(named->name)};
    struct db_statement *find = index->statements[OWN_FIND];
    int64_t *const columns[] = {&file->id,    &file->inode, &file->size, &file->changed_ns,
                                &file->bytes, &file->last,  &file->parts};
    int got = db_first(find, key, COUNT_OF(key), err);

    *file = (struct own_file){0};
    for (size_t i = 0; i < COUNT_OF(columns) && got > 0; i++) {
        *columns[i] = db_column(find, i).integer;
    }
    db_end(find);
    return got;
}

static bool is_unchanged(const struct own_file *known, const struct own_file *file)
{
    return known->inode == file->inode && known->size == file->size &&
           known->changed_ns == file->changed_ns;
}

/* Whether lines may have been appended to it, and nothing else happened. */
static bool has_grown(const struct own_index *index, const struct own_file *known,
                      const struct own_file *file)
{
    return known->inode == file->inode && known->bytes <= file->size && known->parts > 0 &&
           !inflow_is_packed(index->name) && last_digest(index, known->bytes) == known->last;
}

/* --- what files have gained ----------------------------------------------------------------- */

/* It is no use to go on. */
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

/* @return 1: read it from file.bytes on; 0: leave it; -1 */
static int choose_file(struct own_index *index, const struct apapi_scan_file *named)
{
    struct own_file now, known;
    int got;

    if (own_look(index, named, &now)) {
        return 0;
    }
    got = find_file(index, named, &known, &index->why);
    if (!index->begun && got >= 0 && !(got && is_unchanged(&known, &now))) {
        /* another process may have read it while this one waits */
        got = own_begin(index) ? -1 : find_file(index, named, &known, &index->why);
    }
    if (got < 0 || (got && is_unchanged(&known, &now))) {
        return got < 0 ? own_stick(index) : 0;
    }
    if (got == 0 || !has_grown(index, &known, &now)) {
        const struct db_value old = db_integer(known.id);
        const struct db_value row[] = {db_text(index->folder), db_text(named->day),
                                       db_text(named->name),   db_integer(now.inode),
                                       db_integer(now.size),   db_integer(now.changed_ns)};

        if ((got && own_run(index, OWN_DROP, &old, 1)) ||
            own_run(index, OWN_BEGIN, row, COUNT_OF(row)) ||
            find_file(index, named, &known, &index->why) <= 0) {
            return -1;
        }
    }
    index->file = known;
    index->file.inode = now.inode;
    index->file.size = now.size;
    index->file.changed_ns = now.changed_ns;
    return 1;
}

static bool update_begin(const struct apapi_scan_file *named, uint64_t *offset, void *context)
{
    struct own_index *index = context;

    if (*index->why.text || choose_file(index, named) <= 0) {
        return false;
    }
    index->unfit = false;
    index->lines.size = index->records = index->odd = 0;
    *offset = (uint64_t)index->file.bytes;
    return true;
}

static int put_part(struct own_index *index)
{
    struct brief_lines *lines = &index->lines;
    struct own_file *file = &index->file;
    const struct db_value row[] = {
        db_integer(file->id), db_integer(file->parts++),
        db_integer((int64_t)record_digest(lines->bytes, lines->size) ^ file->id),
        (struct db_value){.type = DB_BYTES, .text = lines->bytes, .size = lines->size}};

    if (lines->failed) {
        apapi_fail(&index->why, ENOMEM, "no memory");
        return own_stick(index);
    }
    lines->size = 0;
    return own_run(index, OWN_PUT, row, COUNT_OF(row));
}

static int update_take(struct apapi_scan *scan, const struct line *line)
{
    static const char begin[] = "{\"apapi\":";
    struct own_index *index = scan->sink.context;
    const struct brief_line brief = {.offset = line->offset,
                                     .digest = record_digest(line->text, line->size),
                                     .size = (uint32_t)line->size};
    struct apapi_record record;
    bool decoded;

    if (!line->whole) {
        return 0; /* it is read each time until it is */
    }
    index->file.bytes = (int64_t)(line->offset + line->size + 1);
    if (line->size == 0 || index->unfit) {
        return 1;
    }
    decoded = line->size > sizeof begin && memcmp(line->text, begin, sizeof begin - 1) == 0 &&
              line->text[line->size - 1] == '}' &&
              apapi_record_decode(line->text, line->size, &record, NULL) == 0;
    brief_add(&index->lines, brief,
              decoded && record_has_time(&record.measurement) ? &record : NULL);
    if (decoded) {
        apapi_record_clear(&record);
    }
    index->records++;
    index->odd += !decoded;
    index->unfit = index->odd > ODD_MAX;
    return index->lines.size >= PART_SIZE && put_part(index) ? -1 : 1;
}

/* Of a line that is too long nothing is known; files that cannot be read are left to readers. */
static void update_problem(const struct apapi_scan_problem *problem, void *context)
{
    (void)problem;
    ((struct own_index *)context)->unfit = true;
}

static void update_end(const struct apapi_scan_file *named, uint64_t offset, void *context)
{
    struct own_index *index = context;
    struct own_file *file = &index->file;

    (void)offset;
    if (*index->why.text || (index->lines.size > 0 && put_part(index))) {
        return;
    }
    index->question->progress(named->size, index->records, index->question->context);
    index->uncommitted += named->size;
    file->last = inflow_is_packed(named->name) ? 0 : last_digest(index, file->bytes);
    own_run(index, OWN_END,
            (const struct db_value[]){
                db_integer(file->inode), db_integer(file->size), db_integer(file->changed_ns),
                db_integer(file->bytes), db_integer(file->last),
                db_integer(index->unfit ? 0 : file->parts), db_integer(file->id)},
            7);
    if (index->uncommitted > COMMIT_SIZE) {
        own_commit(index);
    }
}

/* --- what it has of a file ------------------------------------------------------------------ */

/* @return whether all lines of the file as it is now, up to file.bytes, are in `lines` */
static bool load_file(struct own_index *index, const struct apapi_scan_file *named)
{
    struct db_statement *rows = index->statements[OWN_PARTS];
    struct own_file *file = &index->file, now;
    struct db_value id;
    int64_t parts = 0;
    int got;

    index->lines.size = 0;
    index->lines.failed = false;
    if (own_look(index, named, &now) || find_file(index, named, file, NULL) <= 0 ||
        file->parts == 0 || !(is_unchanged(file, &now) || has_grown(index, file, &now))) {
        return false;
    }
    id = db_integer(file->id);
    got = db_first(rows, &id, 1, NULL);
    for (; got > 0; got = db_step(rows, NULL)) {
        struct db_value bytes = db_column(rows, 1);

        if (bytes.type != DB_TEXT ||
            db_column(rows, 0).integer !=
                ((int64_t)record_digest(bytes.text, bytes.size) ^ file->id)) {
            errno = EBADMSG;
            got = -1;
            break;
        }
        brief_append(&index->lines, bytes.text, bytes.size);
        parts++;
    }
    db_end(rows);
    index->damaged = index->damaged || (got < 0 && errno == EBADMSG) || parts != file->parts;
    return got == 0 && parts == file->parts && !index->lines.failed;
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

/* Visit the lines. @return 0; that of `visit`, if it is not 0; -1 */
static int each_line(struct own_index *index, int (*visit)(struct own_index *index))
{
    int result = 0;

    index->lines.at = 0;
    while (result == 0 && brief_read(&index->lines, &index->line, &index->record) > 0) {
        result = visit(index);
    }
    return index->lines.failed ? -1 : result;
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
    own_walk(index, &places, &updating); /* a folder that cannot be read is the reader's */
    if ((*index->why.text || own_commit(index)) && !index->damaged) {
        result = apapi_fail(err, EIO, "%s", index->why.text);
    }
    if (index->begun) {
        db_exec(index->db, "ROLLBACK", NULL);
    }
    db_exec(index->db, "BEGIN", NULL); /* one look at it */
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
    const struct brief_line *line = &index->line;
    const struct own_brief *brief = index->question->brief;
    unsigned parts = own_wants(index);

    if (!needs_line(index, parts)) {
        index->question->taken += parts;
        return parts ? brief->take(&index->record, line->digest, brief->context) : 0;
    }
    index->fd = index->fd < 0 ? own_open_file(index) : index->fd;
    if (array_extend(&index->text, 0, line->size + 1, &index->text_room, 1)) {
        return -1;
    }
    if (pread(index->fd, index->text, line->size, (off_t)line->offset) != (ssize_t)line->size) {
        errno = EIO; /* it was there a moment ago */
        return -1;
    }
    return apapi_scan_line(index->scan, index->text, line->size);
}

int own_index_serve(struct own_index *index, struct apapi_scan *scan,
                    const struct apapi_scan_file *named, uint64_t *offset)
{
    bool packed = inflow_is_packed(named->name);
    int result, code;

    if (!load_file(index, named) || (packed && each_line(index, visit_need) != 0)) {
        return 1;
    }
    index->scan = scan;
    index->fd = -1;
    result = each_line(index, serve_line);
    if (index->fd >= 0) {
        code = errno;
        close(index->fd);
        errno = code;
    }
    *offset = (uint64_t)index->file.bytes;
    return result < 0 ? -1 : !packed && (uint64_t)index->file.bytes < named->size;
}
