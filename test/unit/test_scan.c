/* SPDX-License-Identifier: BSD-3-Clause */
/* Which records of steps and of nodes are returned, from which files. */
#include <fcntl.h>

#include "apapi/scan.h"
#include "record/hour.h"
#include "record/store.h"
#include "unit/temporary.h"

#define TIMES "\"start\":\"2026-11-21T11:00:00Z\",\"elapsed_s\":3600"
#define S INT64_C(1000000000)
#define NOON (1795262400 * S) /* 2026-11-21T12:00:00Z */
#define DAY (86400 * S)

/* Calls that a sink has got: names of records, and the places and reasons of problems. */
struct heard {
    size_t records, problems;
    char names[8192], reasons[8192];
    uint64_t offset; /* of the last file: before it is read, and after */
    size_t stop_at;  /* the record at which to stop; 0: never */
};

static int hear_record(const struct apapi_record *record, const char *line, size_t size,
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

static void hear_problem(const struct apapi_scan_problem *problem, void *context)
{
    struct heard *heard = context;
    size_t used = strlen(heard->reasons);

    heard->problems++;
    snprintf(heard->reasons + used, sizeof heard->reasons - used, "%s:%zu+%llu: %s\n",
             strrchr(problem->file, '/') ? strrchr(problem->file, '/') + 1 : problem->file,
             problem->line, (unsigned long long)problem->offset, problem->reason);
}

static struct apapi_scan *new_scan(const struct apapi_scan_filter *filter, struct heard *heard)
{
    const struct apapi_scan_sink sink = {hear_record, hear_problem, NULL, NULL, heard};
    struct apapi_scan *scan = apapi_scan_create(filter, &sink, NULL);

    assert_non_null(scan);
    return scan;
}

#define TAIL                                                                                       \
    ",\"late_s\":0,\"complete\":true,\"domains\":{},\"components\":[],\"trust\":{\"cpu_s\":0}"

/* @return a record that ended `days` after NOON, named "NODE/JOB"; for free(). */
static char *line_of(const char *node, unsigned job, int days)
{
    char *line;

    assert_true(
        asprintf(&line,
                 "{\"apapi\":1,\"job\":%u,\"name\":\"%s/%u\",\"node\":\"%s\",\"start\":\"2026-"
                 "11-%dT11:00:00Z\",\"elapsed_s\":3600" TAIL "}",
                 job, node, job, node, 21 + days) > 0);
    return line;
}

static void store(const char *node, unsigned job, int days)
{
    FREED char *line = line_of(node, job, days);

    assert_int_equal(apapi_store_append(base, node, NOON + days * DAY, line, NULL), 0);
}

static void scan_base(struct apapi_scan *scan)
{
    assert_int_equal(apapi_scan_folder(scan, base, NULL), 0);
}

/* Read bytes as a file. */
static void hear_bytes(const char *bytes, size_t size, const struct apapi_scan_filter *filter,
                       struct heard *heard)
{
    struct apapi_scan *scan = new_scan(filter, heard);

    write_bytes(in_base("bytes"), bytes, size);
    assert_int_equal(apapi_scan_file(scan, in_base("bytes"), NULL), 0);
    assert_int_equal(apapi_scan_counts(scan)->records, heard->records);
    assert_int_equal(apapi_scan_counts(scan)->skipped, heard->problems);
    apapi_scan_destroy(scan);
}

static bool hear_begin(const struct apapi_scan_file *file, uint64_t *offset, void *context)
{
    struct heard *heard = context;

    assert_string_equal(file->day, "2026-11-21");
    assert_string_equal(file->name, "n1.jsonl");
    *offset = heard->offset;
    return true;
}

static void hear_end(const struct apapi_scan_file *file, uint64_t offset, void *context)
{
    struct heard *heard = context;

    assert_true(offset <= file->size);
    heard->offset = offset;
}

#define PREPARED(name) TEST_WITH(name, make_base, remove_base)

/*
 * However keys are ordered and written, the filter decides by what the record says. Only where a
 * uid is wanted, it must stand where APAPI itself writes it.
 */
#define FROM(start, elapsed_s) "\"start\":\"" start "\",\"elapsed_s\":" elapsed_s
#define ON(node) ",\"node\":\"" node "\""
#define BY(user) ",\"user\":\"" user "\""
#define OF_EVE ON("n1") BY("eve") "," TIMES TAIL

/* The name of each record says whether it is wanted. */
static const char *const filtered[] = {
    "{\"apapi\":1,\"job\":5,\"name\":\"yes\"" OF_EVE "}",
    "{\"apapi\":1,\"job\":50,\"name\":\"no\"" OF_EVE "}",
    "{\"apapi\":1,\"name\":\"no\"" OF_EVE "}",
    "{\"apapi\":1,\"job\":5,\"name\":\"no\"" ON("n1") BY("adam") "," TIMES TAIL "}",
    "{\"apapi\":1,\"job\":5,\"name\":\"no\"" ON("n3") BY("eve") "," TIMES TAIL "}",
    "{\"apapi\":1," TIMES ",\"name\":\"yes\"" ON("n1") TAIL BY("eve") ",\"job\":5}",
    " { \"job\" : 5, \"apapi\":1,\"name\":\"yes\"" OF_EVE "}",
    "{\"apapi\":1,\"job\":5,\"name\":\"yes\"" ON("n1") BY("\\u0065ve") "," TIMES TAIL "}",
    "{\"apapi\":1,\"\\u006aob\":5,\"name\":\"yes\"" OF_EVE "}",
    "{\"apapi\":1,\"job\":7,\"name\":\"no\\\",\\\"job\\\":5,\"" OF_EVE "}",
    "{\"apapi\":1,\"name\":\"yes\",\"x\":{\"job\":6},\"job\":5" OF_EVE "}",
    "{\"apapi\":1,\"job\":5,\"name\":\"no\"" ON("n1")
        BY("eve") "," FROM("2026-11-22T11:00:00Z", "3600") TAIL "}",
    "{\"apapi\":1,\"job\":5,\"name\":\"no\"" ON("n1")
        BY("eve") "," FROM("2026-11-21T11:00:00Z", "3599.999999999") TAIL "}",
    "{\"apapi\":1,\"job\":5,\"name\":\"yes\"" ON("n1")
        BY("eve") "," FROM("2026-11-20T11:00:00Z", "9.0E+4") TAIL "}",
    "{\"apapi\":1,\"job\":5,\"name\":\"no\"" ON("n1")
        BY("eve") "," FROM("2026-11-20T11:00:00Z", "7400000000") TAIL "}",
};

PREPARED(a_filter_sees_what_the_record_says)
{
    static const uint32_t job = 5;
    const struct apapi_scan_filter filter = {.jobs = &job,
                                             .job_count = 1,
                                             .user = "eve",
                                             .nodes = "n[1-2]",
                                             .from_unix_ns = NOON,
                                             .to_unix_ns = NOON + DAY};

    for (size_t i = 0; i < COUNT_OF(filtered); i++) {
        struct heard all = {0}, heard = {0};

        hear_bytes(filtered[i], strlen(filtered[i]), NULL, &all);
        hear_bytes(filtered[i], strlen(filtered[i]), &filter, &heard);
        fail_if(all.records != 1 || heard.records != (*all.names == 'y') || heard.problems,
                "case %zu: %zu of %zu, %s", i, heard.records, all.records, all.reasons);
    }
}

#define REST ",\"node\":\"n1\"," TIMES TAIL "}\n"

PREPARED(a_record_without_end_is_none)
{
    static const char lines[] =
        "{\"apapi\":1,\"name\":\"a\"" REST "{\"apapi\":1,\"name\":\"b\",\"node\":\"n1\","
        "\"start\":\"2262-04-11T23:47:16Z\",\"elapsed_s\":1" TAIL "}\n"
        "{\"apapi\":1,\"name\":\"c\",\"node\":\"n1\","
        "\"start\":\"2262-04-11T23:47:15Z\",\"elapsed_s\":1" TAIL "}\n";
    struct heard heard = {0};

    hear_bytes(lines, sizeof lines - 1, NULL, &heard);
    assert_string_equal(heard.names, "a c ");
    assert_int_equal(heard.problems, 1);
    assert_contains(heard.reasons, ":2+");
    assert_contains(heard.reasons, "not within the years 1970 to 2262");
}

PREPARED(what_cannot_be_read_is_left_out)
{
    struct heard heard = {0};
    struct apapi_scan *scan = new_scan(NULL, &heard);
    char target[256];

    store("n1", 1, 0);
    store("n2", 2, 1);
    snprintf(target, sizeof target, "%s", in_base("2026-11-21/n1.jsonl"));
    assert_int_equal(symlink(target, in_base("2026-11-21/n3.jsonl")), 0);
    assert_int_equal(mkfifo(in_base("2026-11-21/n4.jsonl"), 0600), 0);
    assert_int_equal(mkdir(in_base("2026-11-21/n5.jsonl"), 0700), 0);
    write_bytes(in_base("2026-11-21/n6.jsonl~"), "not read\n", 9);
    write_bytes(in_base("2026-11-21/.jsonl"), "not read\n", 9);
    write_bytes(in_base("2026-11-23"), "no folder\n", 10);
    write_bytes(in_base("state.json"), "not read\n", 9);
    assert_int_equal(symlink("2026-11-21", in_base("2026-11-20")), 0);
    scan_base(scan);
    assert_string_equal(heard.names, "n1/1 n2/2 ");
    assert_int_equal(apapi_scan_counts(scan)->unreadable, 5);
    assert_int_equal(heard.problems, 5);
    assert_contains(heard.reasons, "n3.jsonl:0+0: a symbolic link");
    assert_contains(heard.reasons, "n4.jsonl:0+0: not a regular file");
    apapi_scan_destroy(scan);
}

PREPARED(a_reader_goes_on_where_it_ended)
{
    struct heard heard = {0};
    const struct apapi_scan_sink sink = {hear_record, hear_problem, hear_begin, hear_end, &heard};
    struct apapi_scan *scan = apapi_scan_create(NULL, &sink, NULL);
    FILE *file;

    assert_non_null(scan);
    store("n1", 1, 0);
    scan_base(scan);
    scan_base(scan);
    assert_string_equal(heard.names, "n1/1 ");
    file = fopen(in_base("2026-11-21/n1.jsonl"), "a"); /* the line is torn, or not yet complete */
    assert_true(fputs("{\"apapi\":1,\"job\":2", file) > 0);
    fclose(file);
    scan_base(scan);
    scan_base(scan);
    assert_int_equal(heard.problems, 2);
    assert_contains(heard.reasons, "n1.jsonl:0+");
    store("n1", 3, 0);
    scan_base(scan);
    scan_base(scan);
    assert_string_equal(heard.names, "n1/1 n1/3 ");
    assert_int_equal(heard.problems, 3);
    /* a whole record but for its newline */
    assert_int_equal(truncate(in_base("2026-11-21/n1.jsonl"), (off_t)heard.offset - 1), 0);
    heard.offset = 0;
    scan_base(scan);
    scan_base(scan);
    store("n1", 5, 0);
    scan_base(scan);
    assert_string_equal(heard.names, "n1/1 n1/3 n1/1 n1/3 n1/5 ");
    assert_int_equal(heard.problems, 4);
    apapi_scan_destroy(scan);
}

static void move(const char *from, const char *to)
{
    assert_int_equal(rename(in_base(from), in_base(to)), 0);
}

static bool gzip_others(const struct apapi_scan_file *file, uint64_t *offset, void *context)
{
    (void)offset;
    (void)context;
    if (strcmp(file->name, "n1.jsonl") == 0) {
        move("2026-11-21/n2.jsonl", "2026-11-21/n2.jsonl.gz");
        move("2026-11-21/n3.jsonl.gz", "2026-11-21/n3.jsonl");
    }
    return true;
}

PREPARED(days_that_are_compressed_meanwhile_are_read)
{
    static const char begun[] = "\x1f\x8b\x08\0\0\0\0\0\0\3";
    static const struct timespec old[2] = {{1, 0}, {1, 0}};
    struct heard heard = {0};
    const struct apapi_scan_sink sink = {hear_record, hear_problem, gzip_others, NULL, &heard};
    struct apapi_scan *scan = apapi_scan_create(NULL, &sink, NULL);

    assert_non_null(scan);
    store("n1", 1, 0);
    store("n2", 2, 0);
    store("n3", 3, 0);
    store("n4", 4, 0);
    move("2026-11-21/n3.jsonl", "2026-11-21/n3.jsonl.gz");
    write_bytes(in_base("2026-11-21/n4.jsonl.gz"), begun, sizeof begun - 1);
    scan_base(scan);
    assert_string_equal(heard.names, "n1/1 n2/2 n3/3 n4/4 ");
    assert_string_equal(heard.reasons, "");
    /* the plain file beside it is newer, so the .gz was made of another file */
    assert_int_equal(utimensat(AT_FDCWD, in_base("2026-11-21/n4.jsonl.gz"), old, 0), 0);
    apapi_scan_destroy(scan);
    scan = new_scan(NULL, &heard);
    scan_base(scan);
    assert_string_equal(heard.reasons,
                        "n4.jsonl.gz:0+0: it is compressed, and its end is missing\n");
    assert_int_equal(unlink(in_base("2026-11-21/n4.jsonl.gz")), 0);
    assert_int_equal(symlink("n1.jsonl", in_base("2026-11-21/n4.jsonl.gz")), 0);
    scan_base(scan);
    assert_non_null(strstr(heard.reasons, "n4.jsonl.gz:0+0: a symbolic link\n"));
    assert_int_equal(apapi_scan_counts(scan)->unreadable, 2);
    apapi_scan_destroy(scan);
}

PREPARED(the_sink_can_stop_it)
{
    struct heard heard = {.stop_at = 2};
    struct apapi_scan *scan = new_scan(NULL, &heard);

    for (int job = 1; job < 5; job++) {
        store("n1", (unsigned)job, job);
    }
    assert_fails_saying(EXDEV, "", apapi_scan_folder(scan, base, &why));
    assert_int_equal(heard.records, 2);
    apapi_scan_destroy(scan);
}

PREPARED(what_was_named_must_be_readable)
{
    struct heard heard = {0};
    struct apapi_scan *scan = new_scan(NULL, &heard);
    const struct apapi_scan_sink sink = {.record = hear_record};
    const struct apapi_scan_filter bad = {.nodes = "n[1-"}, none = {.nodes = ""};

    assert_fails_with(ENOENT, "nothing: No such file",
                      apapi_scan_folder(scan, in_base("nothing"), &why));
    assert_fails(ENOENT, apapi_scan_file(scan, in_base("nothing"), &why));
    assert_fails(EISDIR, apapi_scan_file(scan, base, &why));
    apapi_scan_destroy(scan);
    assert_fails_with(EINVAL, "'n[1-'", apapi_scan_create(&bad, &sink, &why));
    assert_fails(EINVAL, apapi_scan_create(&none, &sink, &why));
    apapi_scan_destroy(NULL);
}

/* --- lines ------------------------------------------------------------------------------------ */

PREPARED(what_is_no_record_is_skipped_and_reported)
{
    static const char deep[] = "{\"apapi\":[[[[[[[[";
    static const struct {
        const char *bytes;
        size_t size; /* 0: up to its NUL */
        const char *reason;
        size_t newer;
    } cases[] = {
        {"not JSON", 0, "record: line 1", 0},
        {"\0\1\2\377\376", 5, "record: line 1", 0},
        {"[1]", 0, "record: line 1", 0},
        {"[{\"apapi\":1},{\"apapi\":1}]", 0, "record: line 1, column 12", 0},
        {"{\"merged\":1,\"per_node\":[]}", 0, "a merged record has no records of nodes", 0},
        {"{}", 0, "is missing", 0},
        {"{\"apapi\":2,\"job\":1}", 0, "version 2", 1},
        {"{\"apapi\":1}", 0, "is missing", 0},
        {"{\"apapi\":1,\"apapi\":1}", 0, "duplicate", 0},
        {"{\"apapi\":1,\"node\":\"n1\"," TIMES ",\"late_s\":NaN}", 0, "record: line 1", 0},
        {"{\"apapi\":1,\"node\":\"n1\"," TIMES ",\"late_s\":0,\"complete\":true,"
         "\"domains\":{\"package\":{\"energy_j\":-1}},\"components\":[],\"trust\":{\"cpu_s\":0}}",
         0, "energy_j", 0},
        {deep, 0, "record: line 1", 0},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        size_t size = cases[i].size ? cases[i].size : strlen(cases[i].bytes);
        FREED char *good = line_of("n1", 1, 0), *bytes = malloc(2 * strlen(good) + size + 8);
        struct heard heard = {0};
        struct apapi_scan *scan = new_scan(NULL, &heard);
        char place[64];
        size_t used = (size_t)sprintf(bytes, "%s\n\n", good);

        memcpy(bytes + used, cases[i].bytes, size);
        snprintf(place, sizeof place, "bytes:3+%zu: ", used);
        used += size;
        used += (size_t)sprintf(bytes + used, "\n%s\r\n", good);
        write_bytes(in_base("bytes"), bytes, used);
        assert_int_equal(apapi_scan_file(scan, in_base("bytes"), NULL), 0);
        assert_int_equal(heard.records, 2);
        assert_int_equal(heard.problems, 1);
        fail_if(!strstr(heard.reasons, cases[i].reason) || !strstr(heard.reasons, place),
                "case %zu: %s", i, heard.reasons);
        assert_int_equal(apapi_scan_counts(scan)->newer, cases[i].newer);
        apapi_scan_destroy(scan);
    }
}

PREPARED(a_cut_file_loses_its_last_record_only)
{
    FREED char *first = line_of("n1", 1, 0), *second = line_of("n1", 2, 0),
               *last = line_of("n1", 3, 0);
    size_t size = strlen(first) + strlen(second) + strlen(last) + 3;
    size_t last_at = size - strlen(last) - 1;
    FREED char *bytes = malloc(size + 1);

    sprintf(bytes, "%s\n%s\n%s\n", first, second, last);
    for (size_t cut = last_at; cut <= size; cut++) {
        bool whole = cut + 1 >= size; /* all of the line is there, or all but its newline */
        struct heard heard = {0};

        hear_bytes(bytes, cut, NULL, &heard);
        fail_if(heard.records != 2 + (size_t)whole || heard.problems != (!whole && cut > last_at),
                "cut at %zu of %zu: %zu records, %zu problems", cut, size, heard.records,
                heard.problems);
        assert_true(heard.problems == 0 || strstr(heard.reasons, "bytes:3+"));
        assert_true(heard.problems == 0 || strstr(heard.reasons, "the end of the line is missing"));
    }
}

/* Check a record of `size` bytes, with blanks at its end, and another record after it. */
static void check_long_line(size_t size, size_t records)
{
    FREED char *line = line_of("n1", 1, 0), *bytes = malloc(size + strlen(line) + 2);
    struct heard heard = {0};

    memset(bytes, ' ', size);
    memcpy(bytes, line, strlen(line));
    sprintf(bytes + size, "\n%s", line);
    hear_bytes(bytes, size + 1 + strlen(line), NULL, &heard);
    assert_int_equal(heard.records, records);
    assert_int_equal(heard.problems, 2 - records);
    assert_true(records == 2 || strstr(heard.reasons, "bytes:1+0: longer than 1 MiB"));
}

PREPARED(a_line_may_have_a_mebibyte)
{
    check_long_line(APAPI_SCAN_LINE_MAX, 2);
    check_long_line(APAPI_SCAN_LINE_MAX + 1, 1);
    check_long_line(APAPI_SCAN_LINE_MAX + 262144, 1);
    check_long_line((size_t)5 * APAPI_SCAN_LINE_MAX + 17, 1);
}

/* --- hours of nodes --------------------------------------------------------------------------- */

#define HOUR(n, rest)                                                                              \
    "{\"apapi\":1,\"type\":\"hour\",\"node\":\"n1\",\"start\":\"2026-11-21T" n                     \
    ":00:00Z\",\"end\":\"2026-11-21T" n ":59:00Z\",\"measured_s\":3540" rest "}\n"

static int hear_hour(const struct hour *hour, void *context)
{
    struct heard *heard = context;

    (void)hour;
    heard->records++;
    return 0;
}

#define UNTIL(end, measured_s)                                                                     \
    "{\"apapi\":1,\"type\":\"hour\",\"node\":\"n1\",\"start\":\"2026-11-21T10:00:00Z\",\"end\":"   \
    "\"2026-11-21T" end ":00:00Z\",\"measured_s\":" measured_s "}\n"

PREPARED(bad_lines_of_hours_are_named_and_skipped)
{
    static const struct {
        const char *line, *said; /* NULL: the line is good */
    } cases[] = {
        {"nonsense\n", ""},
        {"{\"apapi\":2,\"type\":\"hour\"}\n", "version 2 of a node's record"},
        {"{\"apapi\":1}\n", "type: must be"},
        {"{\"apapi\":1,\"type\":\"hour\",\"node\":\"n1\"}\n", "record: start: is missing"},
        {HOUR("10", ",\"total\":{\"energy_j\":-1}"), "record: total.energy_j: below 0"},
        {HOUR("10", ",\"domains\":{\"dram\":{\"idle_j\":\"x\"}}"),
         "record: domains.dram.idle_j: not a number"},
        {HOUR("10", ",\"gaps\":[{}]"), "record: gaps[0].start: is missing"},
        {HOUR("10", ",\"steps\":-1"), "steps"},
        {UNTIL("11", "3700"), "record: measured_s: longer than the time"},
        {UNTIL("09", "0"), "record: end: must be after start"},
        {"{\"apapi\":1,\"type\":\"day\",\"node\":\"n1\"}\n", NULL},
        {HOUR("10", ""), NULL},
        {HOUR("10", ",\"idle_w\":-1"), "idle_w"},
        {"{\"apapi\":1,\"type\":\"ho", "the end of the line is missing"},
    };
    char text[8192] = "", *rest;
    struct heard heard = {0};
    const struct apapi_scan_sink sink = {.problem = hear_problem, .context = &heard};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        strcat(text, cases[i].line);
    }
    assert_int_equal(mkdir(in_base("2026-11-21"), 0700), 0);
    write_string(in_base("2026-11-21/n1.hours"), text);
    assert_int_equal(hours_read(base, &(struct apapi_scan_filter){0}, &sink, hear_hour, NULL), 0);
    assert_int_equal(heard.records, 1);
    rest = heard.reasons;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        if (cases[i].said) {
            const char *line = strsep(&rest, "\n");

            assert_int_equal(atoi(line + strlen("n1.hours:")), i + 1);
            assert_contains(line, cases[i].said);
        }
    }
    assert_string_equal(rest, "");
}
