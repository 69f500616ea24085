/* SPDX-License-Identifier: BSD-3-Clause */
/* A record from apapi's own index gives the same sum as the record's line, except for curves. */
#include "index/index.h"
#include "record/record.h"
#include "record/store.h"
#include "sum/sum.h"
#include "unit/record_fixture.h"
#include "unit/temporary.h"

#define DOMAIN "\"energy_j\":600.123456789,\"mean_w\":10.0625,\"min_w\":9.5,\"max_w\":12.75"

static const char text[] =
    "{\"apapi\":1,\"node\":\"n1\",\"start\":\"2026-11-21T11:00:00.123456789Z\",\"elapsed_s\":60.5,"
    "\"late_s\":0.5,\"complete\":false,\"reason\":\"the node was "
    "lost\",\"exit_code\":3,\"exit_signal\":9,"
    "\"cluster\":\"c1\",\"job\":17,\"step\":\"batch\",\"nodes\":2,\"nodelist\":\"n[1-2]\","
    "\"cores\":8,"
    "\"node_cores\":64,\"restarts\":2,\"user\":\"anna\",\"verified\":true,\"delayed\":true,"
    "\"boot\":\"0123456789abcdef0123456789abcdef\",\"monotonic_s\":12345.5,"
    "\"domains\":{\"package\":{" DOMAIN ",\"uncertainty_j\":1.5,\"covered\":0.5},\"node\":{" DOMAIN
    "}},"
    "\"components\":[{\"name\":\"b\",\"source\":\"s\",\"interval_s\":0.1,\"events\":["
    "{\"name\":\"b:::gpu5:power\",\"unit\":\"W\",\"scale\":1,\"domain\":\"gpu\",\"covered_s\":60,"
    "\"samples\":9}]}],\"timeline\":{\"bin_s\":30.25,\"package\":{\"unit_j\":1,\"n\":[300,300]}},"
    "\"trust\":{\"covered\":0.75,\"cpu_s\":0.1,\"unknown_domains\":[\"gpu\"]}}";

/* Texts have the same numbers in both stores, because they are put there in the same order. */
static void assert_same_sum(const struct apapi_record *record, const struct apapi_record *brief)
{
    struct sum_store one = {.curveless = true, .lists = true}, other = one;

    assert_return_code(sum_add(&one, record, NULL), errno);
    assert_return_code(sum_add(&other, brief, NULL), errno);
    assert_memory_equal(one.pieces, other.pieces, sizeof *one.pieces);
    assert_int_equal(one.domain_count, other.domain_count);
    assert_memory_equal(one.domains, other.domains, one.domain_count * sizeof *one.domains);
    assert_int_equal(one.texts.size, other.texts.size);
    assert_memory_equal(one.texts.bytes, other.texts.bytes, one.texts.size);
    sum_free(&one);
    sum_free(&other);
}

static struct own_index *kept;
static struct apapi_scan *scan;
static size_t briefs, whole; /* records that came from the index, and from lines */

static bool wants(const struct apapi_record *record, void *context)
{
    return record && !context;
}

static unsigned parts(const struct apapi_record *record, void *context)
{
    return wants(record, context);
}

static void progress(uint64_t bytes, size_t records, void *context)
{
    assert_true(bytes > 0 && records == 1 && !context);
}

static int take(const struct apapi_record *brief, uint64_t digest, void *context)
{
    CLEARED struct apapi_record record = decode(text);

    assert_same_sum(&record, brief);
    assert_true(!context && digest == record_digest(text, strlen(text)));
    assert_string_equal(brief->id.user, record.id.user);
    briefs++;
    return 0;
}

static int hear(const struct apapi_record *record, const char *line, size_t size, void *context)
{
    whole++;
    return wants(record, context) ? memcmp(line, text, size) : -1;
}

static bool serve(const struct apapi_scan_file *file, uint64_t *offset, void *context)
{
    return own_index_serve(kept, scan, file, offset) > 0 || context;
}

/* Ask for all records. If their curves need more than curve_max, they come from the index. */
static void ask(size_t curve_max)
{
    bool curveless = false;
    const struct own_brief brief = {curve_max, &curveless, parts, take, NULL};
    const struct apapi_scan_filter filter = {.nodes = "n1"};
    struct own_question question = {&filter, wants, &brief, 0, progress, NULL};

    briefs = whole = 0;
    kept = own_index_open(in_base("index.db"), base, &why);
    scan =
        apapi_scan_create(&filter, &(struct apapi_scan_sink){.record = hear, .begin = serve}, &why);
    assert_true(kept && scan);
    assert_int_equal(own_index_ask(kept, &question, &why), 0);
    assert_int_equal(apapi_scan_folder(scan, base, &why), 0);
    assert_true(question.taken == briefs && curveless == (briefs > 0));
    own_index_close(kept);
    apapi_scan_destroy(scan);
}

TEST_WITH(a_record_of_the_index_gives_the_same_sum, make_base, remove_base)
{
    for (size_t count = 1; count <= 3; count++) { /* the file has one more line each time */
        assert_int_equal(apapi_store_append(base, "n1", START_NS, text, &why), 0);
        ask(0);
        assert_true(briefs == count && whole == 0);
        ask(1 << 20);
        assert_true(briefs == 0 && whole == count);
    }
}
