/* SPDX-License-Identifier: BSD-3-Clause */
/* Which records are returned from which files. */
#include "unit/scan_fixture.h"

static bool hear_begin(const struct apapi_scan_file *file, uint64_t *offset, void *context)
{
    struct heard *heard = context;

    assert_string_equal(file->day, "2026-11-21");
    assert_string_equal(file->name, "n1.jsonl");
    heard->files++;
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
 * Whatever the order of keys and the writing, the filter decides by what the record says; but where
 * a uid is wanted, it stands where we write it.
 */
#define TAIL                                                                                       \
    ",\"late_s\":0,\"complete\":true,\"domains\":{},\"components\":[],\"trust\":{\"cpu_s\":0}"
static const struct {
    const char *line;
    bool wanted;
} filter_cases[] = {
    {"{\"apapi\":1,\"job\":5,\"name\":\"yes\",\"node\":\"n1\",\"user\":\"eve\"," TIMES TAIL "}",
     true},
    {"{\"apapi\":1,\"job\":50,\"name\":\"no\",\"node\":\"n1\",\"user\":\"eve\"," TIMES TAIL "}",
     false},
    {"{\"apapi\":1,\"job\":5,\"name\":\"no\",\"node\":\"n1\",\"user\":\"adam\"," TIMES TAIL "}",
     false},
    {"{\"apapi\":1,\"job\":5,\"name\":\"no\",\"node\":\"n3\",\"user\":\"eve\"," TIMES TAIL "}",
     false},
    {"{\"apapi\":1,\"name\":\"no\",\"node\":\"n1\",\"user\":\"eve\"," TIMES TAIL "}", false},
    {"{\"apapi\":1,\"node\":\"n1\",\"name\":\"yes\"," TIMES TAIL ",\"user\":\"eve\",\"job\":5}",
     true},
    {"{\"apapi\":1," TIMES ",\"node\":\"n1\",\"name\":\"yes\",\"user\":\"eve\",\"job\":5" TAIL "}",
     true},
    {" { \"job\" : 5, \"apapi\":1,\"name\":\"yes\",\"node\":\"n1\",\"user\":\"eve\"," TIMES TAIL
     "}",
     true},
    {"{\"apapi\":1,\"job\": 5,\"name\":\"yes\",\"node\":\"n1\",\"user\":\"eve\"," TIMES TAIL "}",
     true},
    {"{\"apapi\":1,\"job\":5,\"name\":\"yes\",\"node\":\"n1\",\"user\":\"\\u0065ve\"," TIMES TAIL
     "}",
     true},
    {"{\"apapi\":1,\"\\u006aob\":5,\"name\":\"yes\",\"node\":\"n1\",\"user\":\"eve\"," TIMES TAIL
     "}",
     true},
    {"{\"apapi\":1,\"job\":7,\"name\":\"\\\",\\\"job\\\":5,\",\"node\":\"n1\",\"user\":"
     "\"eve\"," TIMES TAIL "}",
     false},
    {"{\"apapi\":1,\"name\":\"yes\",\"x\":{\"job\":6},\"job\":5,\"node\":\"n1\",\"user\":"
     "\"eve\"," TIMES TAIL "}",
     true},
    {"{\"apapi\":1,\"job\":5,\"name\":\"no\",\"node\":\"n1\",\"user\":\"eve\","
     "\"start\":\"2026-11-22T11:00:00Z\",\"elapsed_s\":3600" TAIL "}",
     false},
    {"{\"apapi\":1,\"job\":5,\"name\":\"no\",\"node\":\"n1\",\"user\":\"eve\","
     "\"start\":\"2026-11-21T11:00:00Z\",\"elapsed_s\":3599.999999999" TAIL "}",
     false},
    {"{\"apapi\":1,\"job\":5,\"name\":\"yes\",\"node\":\"n1\",\"user\":\"eve\","
     "\"start\":\"2026-11-20T11:00:00Z\",\"elapsed_s\":9e4" TAIL "}",
     true},
    {"{\"apapi\":1,\"job\":5,\"name\":\"yes\",\"node\":\"n1\",\"user\":\"eve\","
     "\"start\":\"2026-11-20T11:00:00Z\",\"elapsed_s\":9.0E+4" TAIL "}",
     true},
    {"{\"apapi\":1,\"job\":5,\"name\":\"no\",\"node\":\"n1\",\"user\":\"eve\","
     "\"start\":\"2026-11-20T11:00:00Z\",\"elapsed_s\":7400000000" TAIL "}",
     false},
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

    for (size_t i = 0; i < COUNT_OF(filter_cases); i++) {
        struct heard all = {0}, heard = {0};

        hear_bytes(filter_cases[i].line, strlen(filter_cases[i].line), NULL, &all);
        hear_bytes(filter_cases[i].line, strlen(filter_cases[i].line), &filter, &heard);
        if (all.records != 1 || heard.records != filter_cases[i].wanted || heard.problems) {
            fail_msg("case %zu: %zu of %zu, %s", i, heard.records, all.records, all.reasons);
        }
    }
}

/* Jobs by the number of their array or heterogeneous job, users by theirs. */
#define REST ",\"node\":\"n1\"," TIMES TAIL "}\n"
static const char numbered[] =
    "{\"apapi\":1,\"job\":5,\"step\":\"0\",\"name\":\"a\",\"uid\":7" REST
    "{\"apapi\":1,\"cluster\":\"c\",\"job\":6,\"step\":\"0\",\"name\":\"b\",\"uid\":7" REST
    "{\"apapi\":1,\"job\":31,\"array_job\":40,\"array_task\":5,\"step\":\"0\",\"name\":\"c\"" REST
    "{\"apapi\":1,\"job\":32,\"array_job\":41,\"array_task\":40,\"step\":\"0\",\"name\":\"d\"" REST
    "{\"apapi\":1,\"job\":33,\"het_job\":40,\"het_offset\":1,\"step\":\"0\",\"name\":\"e\"" REST
    "{\"apapi\":1,\"array_job\":40,\"job\":34,\"step\":\"0\",\"name\":\"f\",\"user\":\"7\"" REST
    "{\"apapi\":1,\"job\":35,\"array_job\": 40,\"step\":\"0\",\"name\":\"g\"" REST
    "{\"apapi\":1,\"job\":40,\"name\":\"h\",\"uid\":70,\"user\":\"eve\"" REST
    "{\"apapi\":1,\"name\":\"i\",\"uid\":4294967294,\"user\":\"eve\"" REST
    "{\"apapi\":1,\"job\":36,\"step\":\"0\",\"name\":\"k\",\"node\":\"n1\"," TIMES TAIL
    ",\"array_job\":40}\n"
    "{\"apapi\":1,\"job\":37,\"step\":\"0\",\"name\":\"l\",\"node\":\"n1\"," TIMES TAIL
    ",\"het_job\":40}\n"
    "{\"apapi\":1,\"job\":38,\"step\":\"0\",\"name\":\"m\",\"node\":\"n1\"," TIMES TAIL
    ",\"het_job\":41}\n";

PREPARED(a_number_stands_for_more)
{
    static const uint32_t jobs[] = {40, 5};
    static const struct {
        struct apapi_scan_filter filter;
        const char *names;
    } cases[] = {
        {{.jobs = jobs, .job_count = 2}, "a h "},
        {{.jobs = jobs, .job_count = 2, .job_parts = true}, "a c e f g h k l "},
        {{.user = "7"}, "a b f "},
        {{.user = "eve"}, "h i "},
        {{.user = "4294967294"}, "i "},
        {{.user = "4294967295"}, ""},
        {{.user = "7 "}, ""},
        {{.user = "7", .jobs = jobs, .job_count = 1, .job_parts = true}, "f "},
    };

    char one_line[sizeof numbered];

    for (size_t i = 0; i < sizeof numbered; i++) {
        one_line[i] = numbered[i] == '\n' ? ',' : numbered[i];
    }
    for (size_t i = 0; i < 2 * COUNT_OF(cases); i++) {
        const char *names = cases[i / 2].names;
        struct heard heard = {0};

        hear_bytes(i % 2 ? one_line : numbered, sizeof numbered - 1, &cases[i / 2].filter, &heard);
        if (strcmp(heard.names, names) != 0) {
            fail_msg("case %zu: %s, not %s", i / 2, heard.names, names);
        }
    }
}

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
    assert_non_null(strstr(heard.reasons, ":2+"));
    assert_non_null(strstr(heard.reasons, "not within the years 1970 to 2262"));
}

PREPARED(what_cannot_be_read_is_left_out)
{
    struct heard heard = {0};
    struct apapi_scan *scan = new_scan(NULL, &heard);
    char target[256];

    store("n1", 1, 0);
    store("n2", 2, 24);
    snprintf(target, sizeof target, "%s", in_base("2026-11-21/n1.jsonl"));
    assert_int_equal(symlink(target, in_base("2026-11-21/n3.jsonl")), 0);
    assert_int_equal(mkfifo(in_base("2026-11-21/n4.jsonl"), 0600), 0);
    assert_int_equal(mkdir(in_base("2026-11-21/n5.jsonl"), 0700), 0);
    write_bytes("2026-11-21/n6.jsonl~", "not read\n", 9);
    write_bytes("2026-11-21/.jsonl", "not read\n", 9);
    write_bytes("2026-11-23", "no folder\n", 10);
    write_bytes("state.json", "not read\n", 9);
    assert_int_equal(symlink("2026-11-21", in_base("2026-11-20")), 0);
    assert_int_equal(apapi_scan_folder(scan, base, NULL), 0);
    assert_string_equal(heard.names, "n1/1 n2/2 ");
    assert_int_equal(apapi_scan_counts(scan)->unreadable, 5);
    assert_int_equal(heard.problems, 5);
    assert_true(strstr(heard.reasons, "n3.jsonl:0+0: a symbolic link") != NULL);
    assert_true(strstr(heard.reasons, "n4.jsonl:0+0: not a regular file") != NULL);
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
    assert_int_equal(apapi_scan_folder(scan, base, NULL), 0);
    assert_int_equal(apapi_scan_folder(scan, base, NULL), 0);
    assert_string_equal(heard.names, "n1/1 ");
    file = fopen(in_base("2026-11-21/n1.jsonl"), "a"); /* torn, or on its way */
    assert_true(fputs("{\"apapi\":1,\"job\":2", file) > 0);
    fclose(file);
    assert_int_equal(apapi_scan_folder(scan, base, NULL), 0);
    assert_int_equal(apapi_scan_folder(scan, base, NULL), 0);
    assert_int_equal(heard.problems, 2);
    assert_true(strstr(heard.reasons, "n1.jsonl:0+") != NULL);
    store("n1", 3, 0);
    assert_int_equal(apapi_scan_folder(scan, base, NULL), 0);
    assert_int_equal(apapi_scan_folder(scan, base, NULL), 0);
    assert_string_equal(heard.names, "n1/1 n1/3 ");
    assert_int_equal(heard.problems, 3);
    /* all of a record but its newline */
    assert_int_equal(truncate(in_base("2026-11-21/n1.jsonl"), (off_t)heard.offset - 1), 0);
    heard.offset = 0;
    assert_int_equal(apapi_scan_folder(scan, base, NULL), 0);
    assert_int_equal(apapi_scan_folder(scan, base, NULL), 0);
    store("n1", 5, 0);
    assert_int_equal(apapi_scan_folder(scan, base, NULL), 0);
    assert_string_equal(heard.names, "n1/1 n1/3 n1/1 n1/3 n1/5 ");
    assert_int_equal(heard.problems, 4);
    apapi_scan_destroy(scan);
}

PREPARED(the_sink_can_stop_it)
{
    struct heard heard = {.stop_at = 2};
    struct apapi_scan *scan = new_scan(NULL, &heard);
    struct apapi_error err = {"?"};

    for (uint32_t job = 1; job < 5; job++) {
        store("n1", job, 24 * (int64_t)job);
    }
    assert_int_equal(apapi_scan_folder(scan, base, &err), -1);
    assert_int_equal(errno, EXDEV);
    assert_string_equal(err.text, "");
    assert_int_equal(heard.records, 2);
    apapi_scan_destroy(scan);
}

PREPARED(what_was_named_must_be_readable)
{
    struct heard heard = {0};
    struct apapi_scan *scan = new_scan(NULL, &heard);
    const struct apapi_scan_sink sink = {.record = hear_record};
    const struct apapi_scan_filter bad = {.nodes = "n[1-"}, none = {.nodes = ""};
    struct apapi_error err;

    assert_int_equal(apapi_scan_folder(scan, in_base("nothing"), &err), -1);
    assert_int_equal(errno, ENOENT);
    assert_true(strstr(err.text, "nothing: No such file") != NULL);
    assert_int_equal(apapi_scan_file(scan, in_base("nothing"), &err), -1);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(apapi_scan_file(scan, base, &err), -1);
    assert_int_equal(errno, EISDIR);
    apapi_scan_destroy(scan);
    assert_null(apapi_scan_create(&bad, &sink, &err));
    assert_int_equal(errno, EINVAL);
    assert_true(strstr(err.text, "'n[1-'") != NULL);
    assert_null(apapi_scan_create(&none, &sink, &err));
    assert_int_equal(errno, EINVAL);
    apapi_scan_destroy(NULL);
}
