/* SPDX-License-Identifier: BSD-3-Clause */
/* The text of our writer, beside jansson's text of the same values. */
#include <jansson.h>

#include "base/json.h"
#include "unit/unit.h"

static uint64_t state_of_random = 4711;

static uint64_t any(void)
{
    state_of_random = state_of_random * 6364136223846793005U + 1442695040888963407U;
    return state_of_random ^ state_of_random >> 29;
}

/* All exponents; round numbers; what lies just beside a tie of nine digits. */
static double any_number(void)
{
    double value;
    uint64_t bits = any();

    switch (any() % 4) {
    case 0:
        memcpy(&value, &bits, sizeof value);
        return isfinite(value) ? value : 0;
    case 1:
        return (double)(int64_t)(bits >> (any() % 64)) / 1000;
    case 2:
        return ((double)(bits % 1000000000) + 0.5) * pow(10, (double)(any() % 24) - 12);
    default:
        return (double)(bits % 100000) / 1e4;
    }
}

TEST(each_number_is_as_jansson_writes_it)
{
    static const double special[] = {0,    -0.0, 1,    1e15,   999999999.5,         1e16, 123456789,
                                     1e-5, 1e-4, 1e22, 5e-324, 1.7976931348623e308, 0.1,  2.5};
    static const int figures[] = {JSON_EXACT, JSON_MEASURED, JSON_ROUGH};

    for (size_t i = 0; i < 300000; i++) {
        int digits = figures[i % 3];
        double value = i < 3 * COUNT_OF(special) ? special[i / 3] : any_number();
        struct json_writer json = {0};
        json_t *real = json_real(digits == JSON_EXACT ? value : json_rounded(value, digits));
        char *expected = json_dumps(real, JSON_ENCODE_ANY | JSON_REAL_PRECISION(JSON_EXACT));
        char *text;

        json_put_number(&json, NULL, value, digits);
        text = json_take(&json);
        if (!text || (expected && strcmp(text, expected) != 0)) {
            fail_msg("%.17g with %d digits: %s, not %s", value, digits, text, expected);
        }
        free(text);
        free(expected);
        json_decref(real);
    }
}

TEST(terminal_obeys_nothing)
{
    static const struct {
        const char *text, *json;
    } cases[] = {{"", "\"\""},
                 {"a\"b\\c/", "\"a\\\"b\\\\c/\""},
                 {"\b\f\n\r\t\x1B\x01", "\"\\b\\f\\n\\r\\t\\u001B\\u0001\""},
                 {"\x7F\xC2\x9B", "\"\\u007f\\u009b\""},
                 {"caf\xC3\xA9 \xE2\x82\xAC", "\"caf\xC3\xA9 \xE2\x82\xAC\""},
                 {"\xE2\x80\xAE\xF3\xA0\x81\x81", "\"\\u202e\\udb40\\udc41\""},
                 {"\xFFx\xC3", "\"?x?\""}};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct json_writer json = {0};
        char *text;

        json_put_text(&json, NULL, cases[i].text);
        text = json_take(&json);
        assert_string_equal(text, cases[i].json);
        free(text);
    }
}

static void put_each(struct json_writer *json)
{
    json_begin_object(json, NULL);
    json_put_integer(json, "i", INT64_MIN);
    json_put_count(json, "c", INT64_MAX);
    json_put_count(json, "d", UINT64_MAX);
    json_put_number(json, "nan", NAN, JSON_ROUGH);
    json_begin_array(json, "a");
    json_put_number(json, NULL, NAN, JSON_ROUGH);
    json_put_number(json, NULL, 2, JSON_ROUGH);
    json_begin_object(json, NULL);
    json_end(json);
    json_begin_array(json, NULL);
    json_put_flag(json, NULL, true);
    json_end(json);
    json_end(json);
    json_begin_object(json, "none");
    json_end_or_drop(json);
    json_begin_object(json, "o");
    json_begin_array(json, "none");
    json_end_or_drop(json);
    json_put_moment(json, "t", 1700000000000000001);
    json_put_flag(json, "f", false);
    json_put_null(json, "n");
    json_end(json);
    json_end(json);
}

TEST(levels_are_as_jansson_writes_them)
{
    for (unsigned indent = 0; indent < 4; indent++) {
        struct json_writer json = {.indent = indent};
        size_t flags = indent ? JSON_INDENT(indent) : JSON_COMPACT;
        char *text, *expected;
        json_t *tree;

        put_each(&json);
        json_put_between(&json, "\n");
        text = json_take(&json);
        tree = json_loads(text, 0, NULL);
        assert_non_null(tree);
        expected = json_dumps(tree, flags);
        text[strlen(text) - 1] = '\0';
        assert_string_equal(text, expected);
        free(text);
        free(expected);
        json_decref(tree);
    }
}

TEST(streams_get_the_same_text)
{
    char *text = NULL, *memory;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct json_writer stream = {.out = out}, json = {0};

    json_begin_array(&stream, NULL);
    json_begin_array(&json, NULL);
    for (int i = 0; i < 5000; i++) {
        put_each(&stream);
        put_each(&json);
    }
    json_end(&stream);
    json_end(&json);
    assert_true(stream.room < 1 << 20);
    assert_int_equal(json_flush(&stream), 0);
    fclose(out);
    memory = json_take(&json);
    assert_string_equal(text, memory);
    free(text);
    free(memory);
}

TEST(failures_are_kept)
{
    FILE *full = fopen("/dev/full", "w");
    struct json_writer json = {.out = full};

    setvbuf(full, NULL, _IONBF, 0);
    json_begin_array(&json, NULL);
    json_end(&json);
    assert_int_equal(json_flush(&json), -1);
    assert_int_equal(errno, ENOSPC);
    fclose(full);
    json = (struct json_writer){0};
    for (int i = 0; i <= TREE_DEPTH_MAX; i++) {
        json_begin_array(&json, NULL);
    }
    assert_null(json_take(&json));
}
