/* SPDX-License-Identifier: BSD-3-Clause */
/* A packed record gives the same sum as the record, but for its curves. */
#include "index/brief.h"
#include "record/record.h"
#include "unit/record_fixture.h"

#define HEAD                                                                                       \
    "{\"apapi\":1,\"node\":\"n1\",\"start\":\"2026-11-21T11:00:00.123456789Z\",\"elapsed_s\":60."  \
    "5,"
#define DOMAIN "\"energy_j\":600.123456789,\"mean_w\":10.0625,\"min_w\":9.5,\"max_w\":12.75"
#define TAIL ",\"components\":[],\"trust\":{\"covered\":0.75,\"cpu_s\":0.1}}"

static const char *const lines[] = {
    HEAD "\"late_s\":0,\"complete\":true,\"domains\":{}" TAIL, HEAD
    "\"late_s\":0.5,\"complete\":false,\"reason\":\"the node was "
    "lost\",\"exit_code\":3,\"exit_signal\":9,"
    "\"cluster\":\"c1\",\"job\":17,\"array_job\":16,\"array_task\":3,\"het_job\":15,\"het_"
    "offset\":1,\"step\":\"batch\",\"name\":\"app\","
    "\"job_name\":\"run\",\"nodes\":2,\"nodelist\":\"n[1-2]\",\"cores\":8,\"node_cores\":64,"
    "\"restarts\":2,\"uid\":1000,\"user\":\"anna\","
    "\"account\":\"a\",\"partition\":\"p\",\"qos\":\"q\",\"verified\":true,\"delayed\":true,"
    "\"boot\":\"0123456789abcdef0123456789abcdef\",\"monotonic_s\":12345.5,"
    "\"domains\":{\"package\":{" DOMAIN ",\"uncertainty_j\":1.5,\"covered\":0.5},\"dram\":{" DOMAIN
    "},\"node\":{" DOMAIN "}},"
    "\"components\":[{\"name\":\"a\",\"source\":\"s\",\"interval_s\":0.5,\"events\":[]},"
    "{\"name\":\"b\",\"source\":\"s\",\"interval_s\":0.1,"
    "\"events\":[{\"name\":\"b:::E\",\"unit\":\"J\",\"scale\":1,\"counter\":true,\"update_s\":0.01,"
    "\"domain\":\"package\",\"total\":600,\"covered_s\":60,"
    "\"samples\":9},{\"name\":\"b:::gpu5:power\",\"unit\":\"W\",\"scale\":1,\"domain\":\"gpu\","
    "\"covered_s\":60,\"samples\":9}]}],"
    "\"timeline\":{\"bin_s\":30.25,\"package\":{\"unit_j\":1,\"n\":[300,300]},\"dram\":{"
    "\"unit_j\":1,\"n\":[300,null]}},"
    "\"trust\":{\"covered\":0.75,\"cpu_s\":0.1,\"unknown_domains\":[\"gpu\"]}}"};

/* The texts of both stores have the same numbers, as they are put in the same order. */
static void assert_same_sum(const struct apapi_record *record, const struct apapi_record *brief)
{
    struct sum_store one = {.curveless = true, .lists = true}, other = one;

    assert_return_code(sum_add(&one, record, NULL), errno);
    assert_return_code(sum_add(&other, brief, NULL), errno);
    assert_memory_equal(one.pieces, other.pieces, sizeof *one.pieces);
    assert_int_equal(one.domain_count, other.domain_count);
    if (one.domain_count) {
        assert_memory_equal(one.domains, other.domains, one.domain_count * sizeof *one.domains);
    }
    assert_int_equal(one.texts.size, other.texts.size);
    assert_memory_equal(one.texts.bytes, other.texts.bytes, one.texts.size);
    sum_free(&one);
    sum_free(&other);
}

TEST(a_record_that_was_packed_gives_the_same_sum)
{
    static struct apapi_record brief;
    struct apapi_record record[COUNT_OF(lines)];
    struct brief_lines packed = {0};
    struct brief_line line;

    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        record[i] = decode(lines[i]);
        brief_add(&packed, (struct brief_line){.offset = i, .size = 7}, &record[i]);
        brief_add(&packed, (struct brief_line){.offset = i + 10}, NULL);
    }
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        assert_int_equal(brief_read(&packed, &line, &brief), 1);
        assert_true(line.offset == i && line.size == 7 && !line.odd);
        assert_true((line.curves > 0) == (i == 1));
        assert_same_sum(&record[i], &brief);
        assert_int_equal(brief.id.uid, record[i].id.uid);
        assert_string_equal(brief.id.user, record[i].id.user);
        assert_string_equal(brief.id.job_name, record[i].id.job_name);
        assert_int_equal(brief.id.array_task, record[i].id.array_task);
        assert_int_equal(window_shortest_ns(&brief.measurement),
                         window_shortest_ns(&record[i].measurement));
        assert_int_equal(brief_read(&packed, &line, &brief), 1);
        assert_true(line.odd && line.offset == i + 10);
        apapi_record_clear(&record[i]);
    }
    assert_int_equal(brief_read(&packed, &line, &brief), 0);
    sum_free(&packed.sums);
    free(packed.bytes);
}

TEST(packed_lines_that_are_cut_are_an_error_at_any_byte)
{
    static struct apapi_record brief;
    CLEARED struct apapi_record record = decode(lines[1]);
    struct brief_lines packed = {0};
    struct brief_line line;

    brief_add(&packed, (struct brief_line){0}, &record);
    for (size_t size = packed.size - 1; size > 0; size--) {
        packed.size = size;
        packed.at = 0;
        packed.failed = false;
        assert_fails(EBADMSG, brief_read(&packed, &line, &brief));
    }
    sum_free(&packed.sums);
    free(packed.bytes);
}
