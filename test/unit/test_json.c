/* SPDX-License-Identifier: BSD-3-Clause */
#include <locale.h>

#include "base/random.h"
#include "json_referee.h"
#include "unit/record_fixture.h"
#include "unit/temporary.h"

static void assert_agrees(const char *text, size_t size)
{
    struct tree tree = {0};

    fail_if(!referee_agrees(&tree, text, size), "not as jansson reads it: %.*s", (int)size, text);
    tree_free(&tree);
}

TEST(what_is_json_is_taken)
{
    static const char *const texts[] = {
        "[]",
        "{}",
        "{\"\":{}}",
        "[null,true,false]",
        "[[],[[]],{\"a\":[{}]},[]]",
        "{\"a\":1,\"b\":2,\"A\":3,\"aa\":4}",
        "[0,-0,1,-1,10,9223372036854775807,-9223372036854775808]",
        "[0.0,-0.0,0e0,-0e5,0.5,1e5,1E+5,1e-05,1.25e2]",
        "[1e308,1.7976931348623157e308,5e-324,1e-400,0e999999999999,2.2250738585072011e-308]",
        "[9007199254740993.0,9007199254740992e0,9007199254740993e22,1e22,1e23,1e-22,1e-23]",
        "[0.1,0.30000000000000004,123456789012345.6789,8.41e21,0.000000000000000000000001]",
        "[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\",\"\\u0041\\u00e9\\u20AC\\uD83D\\uDE00\"]",
        "[\"\\u0001\\u001f\\u007f\\u0080\\u07ff\\u0800\\uffff\\ud800\\udc00\\udbff\\udfff\"]",
        "[\"caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80\",\"\x7F\"]",
        "{\"\\u0061\":1,\"\\u0062\\n\":\"\\u0063\"}",
    };

    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct tree tree = {0};
        struct tree_problem problem;

        fail_if(tree_parse(&tree, texts[i], strlen(texts[i]), &problem), "refused: %s: %s",
                texts[i], problem.what);
        tree_free(&tree);
        assert_agrees(texts[i], strlen(texts[i]));
    }
}

static const struct {
    const char *text;
    size_t line, column;
    const char *what;
} refused[] = {
    {"", 1, 1, "premature end of the text"},
    {"1", 1, 1, "'[' or '{' is expected"},
    {"\xEF\xBB\xBF[]", 1, 1, "'[' or '{' is expected"},
    {"[", 1, 2, "premature end of the text"},
    {"[1,\n2", 2, 2, "premature end of the text"},
    {"{} {}", 1, 4, "end of file expected"},
    {"[1,]", 1, 4, "a value is expected"},
    {"[1 2]", 1, 4, "',' or ']' is expected"},
    {"{\"a\":1]", 1, 7, "',' or '}' is expected"},
    {"{\"a\" 1}", 1, 6, "':' is expected"},
    {"{\"a\":}", 1, 6, "a value is expected"},
    {"[truefalse]", 1, 6, "',' or ']' is expected"},
    {"[NaN]", 1, 2, "a value is expected"},
    {"[-Infinity]", 1, 3, "a digit is expected"},
    {"[5.]", 1, 4, "a digit is expected"},
    {"[01]", 1, 3, "',' or ']' is expected"},
    {"[-1.8e308]", 1, 10, "real number overflow"},
    {"[-9223372036854775809]", 1, 22, "a whole number of more than 64 bits"},
    {"[\"a]", 1, 5, "premature end of the text"},
    {"[\"a\tb\"]", 1, 4, "a control character in a text"},
    {"['a']", 1, 2, "a value is expected"},
    {"[\"\\x\"]", 1, 4, "no such escape"},
    {"[\"\\u12g4\"]", 1, 7, "four hexadecimal digits are expected"},
    {"[\"\\u0000\"]", 1, 9, "U+0000 in a text"},
    {"[\"\\ud800\"]", 1, 9, "half of a surrogate pair"},
    {"[\"\\ud800\\u0041\"]", 1, 15, "half of a surrogate pair"},
    {"[\"\\udc00\\ud800\"]", 1, 9, "half of a surrogate pair"},
    {"[\"\xC0\xAF\"]", 1, 3, "invalid UTF-8"},
    {"[\"\xED\xA0\x80\"]", 1, 3, "invalid UTF-8"},
    {"[\"\xF4\x90\x80\x80\"]", 1, 3, "invalid UTF-8"},
    {"[\"\xE2\x82\"]", 1, 3, "invalid UTF-8"},
    {"{\"a\":1,\"a\":1}", 1, 13, "duplicate object key"},
    {"[{\"x\":{\"ab\":1,\"b\":0,\"\\u0061b\":2}}]", 1, 32, "duplicate object key"},
};

TEST(what_is_not_is_refused_where_it_ends)
{
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        struct tree tree = {0};
        struct tree_problem problem = {"taken", 0, 0};

        errno = 0;
        fail_if(tree_parse(&tree, refused[i].text, strlen(refused[i].text), &problem) == 0 ||
                    problem.line != refused[i].line || problem.column != refused[i].column ||
                    strcmp(problem.what, refused[i].what) != 0,
                "%s: line %zu, column %zu: %s", refused[i].text, problem.line, problem.column,
                problem.what);
        assert_int_equal(errno, EINVAL);
        tree_free(&tree);
        assert_agrees(refused[i].text, strlen(refused[i].text));
    }
}

TEST(depth_and_length_are_bounded)
{
    char text[2 * (TREE_DEPTH_MAX + 1)];
    struct tree tree = {0};
    struct tree_problem problem;

    memset(text, '[', TREE_DEPTH_MAX + 1);
    memset(text + TREE_DEPTH_MAX + 1, ']', TREE_DEPTH_MAX + 1);
    assert_int_equal(tree_parse(&tree, text + 1, 2 * TREE_DEPTH_MAX, &problem), 0);
    assert_int_equal(tree_parse(&tree, text, sizeof(text), &problem), -1);
    assert_string_equal(problem.what, "too deeply nested");
    assert_fails(EINVAL, tree_parse(&tree, "[]", TREE_SIZE_MAX + 1, &problem));
    assert_string_equal(problem.what, "too long");
    tree_free(&tree);
}

/* @return {"k0":0,"k1":1,...}, whose last key is the key number `duplicate`; for free(). */
static char *many_keys(unsigned count, unsigned duplicate)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    for (unsigned i = 0; i < count; i++) {
        fprintf(out, "%c\"k%u\":%u", i ? ',' : '{', i + 1 == count ? duplicate : i, i);
    }
    fputc('}', out);
    assert_int_equal(fclose(out), 0);
    return text;
}

TEST(a_key_stands_once_among_many)
{
    static const unsigned counts[] = {2, 33, 64, 65, 66, 300, 70000};

    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        unsigned last = counts[i] - 1;
        const unsigned duplicates[] = {last, 0, last / 2, last - 1};

        for (size_t k = 0; k < COUNT_OF(duplicates); k++) {
            FREED char *text = many_keys(counts[i], duplicates[k]);
            struct tree tree = {0};
            struct tree_problem problem = {"", 0, 0};
            int rc = tree_parse(&tree, text, strlen(text), &problem);

            assert_int_equal(rc, duplicates[k] == last ? 0 : -1);
            assert_string_equal(problem.what, rc ? "duplicate object key" : "");
            if (counts[i] <= 300) {
                assert_agrees(text, strlen(text));
            }
            tree_free(&tree);
        }
    }
}

static void put_digits(FILE *out, struct random *random, uint64_t count)
{
    fputc('1' + (int)random_below(random, 9), out);
    for (uint64_t i = 1; i < count; i++) {
        fputc('0' + (int)random_below(random, 10), out);
    }
}

TEST(numbers_are_the_nearest_doubles)
{
    struct random random = {1};

    for (int i = 0; i < 20000; i++) {
        char text[128] = "";
        FILE *out = fmemopen(text, sizeof(text), "w");

        fputs(random_below(&random, 2) ? "[-" : "[", out);
        put_digits(out, &random, 1 + random_below(&random, 20));
        if (random_below(&random, 4)) {
            fputc('.', out);
            put_digits(out, &random, 1 + random_below(&random, 20));
        }
        if (random_below(&random, 2)) {
            fprintf(out, "e%d",
                    (int)random_below(&random, random_below(&random, 2) ? 700 : 60) - 30);
        }
        fputc(']', out);
        fclose(out);
        assert_agrees(text, strlen(text));
    }
}

/* Choose a locale with a decimal comma. A machine may have none, so it is made for the test. */
TEST_WITH(a_locale_changes_nothing, make_base, remove_base)
{
    static const char text[] = "[0.5,1.25e-30,3.14159265358979323846]";
    struct json_writer json = {0};
    FREED char *written = NULL;
    char command[256];

    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 2>&1", base);
    fail_if(system(command) != 0, "no locale can be made: package locales has its source");
    setenv("LOCPATH", base, 1);
    assert_non_null(setlocale(LC_ALL, "de_DE.UTF-8"));
    assert_string_equal(localeconv()->decimal_point, ",");
    assert_agrees(text, strlen(text));
    json_put_number(&json, NULL, 1234.5, JSON_MEASURED);
    setlocale(LC_ALL, "C");
    written = json_take(&json);
    assert_string_equal(written, "1234.5");
}

/* --- the writer ------------------------------------------------------------------------------- */

/* @return a number of any exponent: any digits, round, or just beside a tie of nine digits. */
static double any_number(struct random *random)
{
    double value;
    uint64_t bits = random_bits(random);

    switch (random_bits(random) % 4) {
    case 0:
        memcpy(&value, &bits, sizeof value);
        return isfinite(value) ? value : 0;
    case 1:
        return (double)(int64_t)(bits >> (random_bits(random) % 64)) / 1000;
    case 2:
        return ((double)(bits % 1000000000) + 0.5) *
               pow(10, (double)(random_bits(random) % 24) - 12);
    default:
        return (double)(bits % 100000) / 1e4;
    }
}

TEST(each_number_is_as_jansson_writes_it)
{
    static const double special[] = {0,    -0.0, 1,    1e15,   999999999.5,         1e16, 123456789,
                                     1e-5, 1e-4, 1e22, 5e-324, 1.7976931348623e308, 0.1,  2.5};
    static const int figures[] = {JSON_EXACT, JSON_MEASURED, JSON_ROUGH};

    struct random random = {4711};

    for (size_t i = 0; i < 300000; i++) {
        int digits = figures[i % 3];
        double value = i < 3 * COUNT_OF(special) ? special[i / 3] : any_number(&random);
        struct json_writer json = {0};
        json_t *real = json_real(digits == JSON_EXACT ? value : json_rounded(value, digits));
        FREED char *expected = json_dumps(real, JSON_ENCODE_ANY | JSON_REAL_PRECISION(JSON_EXACT));
        FREED char *text = NULL;

        json_put_number(&json, NULL, value, digits);
        text = json_take(&json);
        fail_if(!text || (expected && strcmp(text, expected) != 0),
                "%.17g with %d digits: %s, not %s", value, digits, text, expected);
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
        FREED char *text = NULL;

        json_put_text(&json, NULL, cases[i].text);
        text = json_take(&json);
        assert_string_equal(text, cases[i].json);
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
    json_end(json);
    json_end(json);
}

TEST(levels_are_as_jansson_writes_them)
{
    struct json_writer json = {0};
    FREED char *text = NULL, *expected = NULL;
    json_t *tree;

    put_each(&json);
    text = json_take(&json);
    tree = json_loads(text, 0, NULL);
    assert_non_null(tree);
    expected = json_dumps(tree, JSON_COMPACT);
    assert_string_equal(text, expected);
    json_decref(tree);
}

TEST(streams_get_the_same_text)
{
    FREED char *text = NULL, *memory = NULL;
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
}

TEST(failures_are_kept)
{
    FILE *full = fopen("/dev/full", "w");
    struct json_writer json = {.out = full};

    setvbuf(full, NULL, _IONBF, 0);
    json_begin_array(&json, NULL);
    json_end(&json);
    assert_fails(ENOSPC, json_flush(&json));
    fclose(full);
    json = (struct json_writer){0};
    for (int i = 0; i <= TREE_DEPTH_MAX; i++) {
        json_begin_array(&json, NULL);
    }
    assert_null(json_take(&json));
}
