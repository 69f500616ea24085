/* SPDX-License-Identifier: BSD-3-Clause */
/* Files whose lines are cut, long, or no records. */
#include <pthread.h>

#include "unit/scan_fixture.h"

#define PREPARED(name) TEST_WITH(name, make_base, remove_base)

PREPARED(what_is_no_record_is_skipped_and_reported)
{
    static const char deep[] = "{\"apapi\":[[[[[[[[";
    static const struct {
        const char *bytes;
        size_t size; /* 0: up to the NUL */
        const char *reason;
        size_t newer;
    } cases[] = {
        {"not JSON", 0, "record: line 1", 0},
        {"\0\1\2\377\376", 5, "record: line 1", 0},
        {"[1]", 0, "record: line 1", 0},
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
        char *good = line_of("n1", 1, 0), *bytes = malloc(2 * strlen(good) + size + 8);
        struct heard heard = {0};
        struct apapi_scan *scan = new_scan(NULL, &heard);
        char place[64];
        size_t used = (size_t)sprintf(bytes, "%s\n\n", good);

        memcpy(bytes + used, cases[i].bytes, size);
        snprintf(place, sizeof place, "bytes:3+%zu: ", used);
        used += size;
        used += (size_t)sprintf(bytes + used, "\n%s\r\n", good);
        write_bytes("bytes", bytes, used);
        assert_int_equal(apapi_scan_file(scan, in_base("bytes"), NULL), 0);
        assert_int_equal(heard.records, 2);
        assert_int_equal(heard.problems, 1);
        if (!strstr(heard.reasons, cases[i].reason) || !strstr(heard.reasons, place)) {
            fail_msg("case %zu: %s", i, heard.reasons);
        }
        assert_int_equal(apapi_scan_counts(scan)->newer, cases[i].newer);
        apapi_scan_destroy(scan);
        free(good);
        free(bytes);
    }
}

PREPARED(a_cut_file_loses_its_last_record_only)
{
    char *first = line_of("n1", 1, 0), *second = line_of("n1", 2, 0), *last = line_of("n1", 3, 0);
    size_t size = strlen(first) + strlen(second) + strlen(last) + 3;
    size_t last_at = size - strlen(last) - 1;
    char *bytes = malloc(size + 1);

    sprintf(bytes, "%s\n%s\n%s\n", first, second, last);
    for (size_t cut = last_at; cut <= size; cut++) {
        bool whole = cut + 1 >= size; /* only the newline is missing, or nothing */
        struct heard heard = {0};

        hear_bytes(bytes, cut, NULL, &heard);
        if (heard.records != 2 + (size_t)whole || heard.problems != (!whole && cut > last_at)) {
            fail_msg("cut at %zu of %zu: %zu records, %zu problems", cut, size, heard.records,
                     heard.problems);
        }
        assert_true(heard.problems == 0 || strstr(heard.reasons, "bytes:3+"));
        assert_true(heard.problems == 0 || strstr(heard.reasons, "the end of the line is missing"));
    }
    free(first);
    free(second);
    free(last);
    free(bytes);
}

/* A record of `size` bytes, by blanks at its end; then another record. */
static void check_long_line(size_t size, size_t records)
{
    char *line = line_of("n1", 1, 0), *bytes = malloc(size + strlen(line) + 2);
    struct heard heard = {0};

    memset(bytes, ' ', size);
    memcpy(bytes, line, strlen(line));
    sprintf(bytes + size, "\n%s", line);
    hear_bytes(bytes, size + 1 + strlen(line), NULL, &heard);
    assert_int_equal(heard.records, records);
    assert_int_equal(heard.problems, 2 - records);
    assert_true(records == 2 || strstr(heard.reasons, "bytes:1+0: longer than 1 MiB"));
    free(line);
    free(bytes);
}

PREPARED(a_line_may_have_a_mebibyte)
{
    check_long_line(APAPI_SCAN_LINE_MAX, 2);
    check_long_line(APAPI_SCAN_LINE_MAX + 1, 1);
    check_long_line(APAPI_SCAN_LINE_MAX + 262144, 1);
    check_long_line((size_t)5 * APAPI_SCAN_LINE_MAX + 17, 1);
}

PREPARED(behind_a_long_line_places_are_right)
{
    size_t size = (size_t)3 * APAPI_SCAN_LINE_MAX;
    char *bytes = malloc(size + 8), place[64];
    struct heard heard = {0};

    memset(bytes, 'x', size);
    strcpy(bytes + size, "\nbad\n");
    hear_bytes(bytes, size + 5, NULL, &heard);
    assert_int_equal(heard.problems, 2);
    snprintf(place, sizeof place, "bytes:2+%zu: ", size + 1);
    assert_true(strstr(heard.reasons, place) != NULL);
    free(bytes);
}

PREPARED(a_line_without_end_is_one_problem)
{
    size_t size = 3 * (size_t)APAPI_SCAN_LINE_MAX;
    char *bytes = malloc(size);
    struct heard heard = {0};

    memset(bytes, 'x', size);
    hear_bytes(bytes, size, NULL, &heard);
    assert_int_equal(heard.records, 0);
    assert_int_equal(heard.problems, 1);
    free(bytes);
}

/* Write to a pipe in pieces of 1, 2, 3 ... bytes. */
static void *write_slowly(void *fd)
{
    char *line = line_of("n1", 1, 0);
    size_t size = strlen(line), piece = 1;

    line[size] = '\n';
    for (int i = 0; i < 3; i++) {
        for (size_t at = 0; at <= size; at += piece++) {
            size_t length = size + 1 - at < piece ? size + 1 - at : piece;

            assert_int_equal(write(*(int *)fd, line + at, length), length);
        }
        piece = 1;
    }
    free(line);
    close(*(int *)fd);
    return NULL;
}

PREPARED(a_pipe_is_read_as_it_comes)
{
    struct heard heard = {0};
    struct apapi_scan *scan = new_scan(NULL, &heard);
    pthread_t writer;
    int ends[2];

    assert_int_equal(pipe(ends), 0);
    assert_int_equal(pthread_create(&writer, NULL, write_slowly, &ends[1]), 0);
    assert_int_equal(apapi_scan_stream(scan, ends[0], "standard input", NULL), 0);
    pthread_join(writer, NULL);
    assert_int_equal(heard.records, 3);
    assert_int_equal(heard.problems, 0);
    apapi_scan_destroy(scan);
    close(ends[0]);
}
