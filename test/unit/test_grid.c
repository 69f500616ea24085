/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of the program apapi, on terminals of any width and in pipes. */
#include "render/table.h"
#include "unit/unit.h"

static const struct table_column columns[] = {{.title = "name"},
                                              {.title = "value", .form = TABLE_RIGHT},
                                              {.title = "unused"},
                                              {.key = "not in a text"},
                                              {.title = "what it is"}};

static const struct table_column places[] = {
    {.title = "name", .least = 6},
    {.title = "a", .form = TABLE_RIGHT, .optional = true},
    {.title = "b", .form = TABLE_RIGHT, .optional = true},
    {.title = "c", .form = TABLE_RIGHT, .least = TABLE_WHOLE}};

/* Check the text of cells, `count` in a row. */
static void assert_text(const struct table_column *list, size_t count, const char *const *texts,
                        size_t rows, size_t width, const char *wanted)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct table table = table_begin(list, count, false, true, out);

    table.width = width;
    for (size_t row = 0; row < rows; row++) {
        struct table_cell cells[8] = {{0}};

        for (size_t i = 0; i < count; i++) {
            cells[i].text = texts[row * count + i];
        }
        table_put(&table, cells);
    }
    assert_int_equal(table_end(&table, NULL), 0);
    fclose(out);
    assert_string_equal(text, wanted);
    free(text);
}

static const char *const cells[] = {
    "short",    "1", "", "x", "energy of the memory", "a name that is long", "12.5 kJ", "", "x", "",
    "x\033[2J", "-", "", "x", "temperature"};

static void assert_table(size_t width, const char *table)
{
    assert_text(columns, COUNT_OF(columns), cells, 3, width, table);
}

TEST(pipe)
{
    assert_table(0, "  name                   value  what it is\n"
                    "  short                      1  energy of the memory\n"
                    "  a name that is long  12.5 kJ\n"
                    "  x?[2J                      -  temperature\n");
}

TEST(terminal)
{
    assert_table(52, "  name                   value  what it is\n"
                     "  short                      1  energy of the memory\n"
                     "  a name that is long  12.5 kJ\n"
                     "  x?[2J                      -  temperature\n");
    assert_table(50, "  name                   value  what it is\n"
                     "  short                      1  energy of the m...\n"
                     "  a name that is long  12.5 kJ\n"
                     "  x?[2J                      -  temperature\n");
    assert_table(40, "  name                   value\n"
                     "  short                      1\n"
                     "  a name that is long  12.5 kJ\n"
                     "  x?[2J                      -\n");
}

static void assert_narrow(size_t width, const char *table)
{
    static const char *const row[] = {"a long name", "1000", "2000", "3000"};

    assert_text(places, COUNT_OF(places), row, 1, width, table);
}

/* First the name is cut as far as it may be, then the second to last column goes. */
TEST(columns_that_yield)
{
    assert_narrow(31, "  name            a     b     c\n  a long name  1000  2000  3000\n");
    assert_narrow(30, "  name           a     b     c\n  a long ...  1000  2000  3000\n");
    assert_narrow(26, "  name       a     b     c\n  a l...  1000  2000  3000\n");
    assert_narrow(25, "  name            a     c\n  a long name  1000  3000\n");
    assert_narrow(14, "  name       c\n  a l...  3000\n");
    assert_narrow(1, "  name       c\n  a l...  3000\n");
}

TEST(paragraph)
{
    char text[128] = "";
    FILE *out = fmemopen(text, sizeof text, "w");

    terminal_put(out, "one two  three four", 4, 12);
    fclose(out);
    assert_string_equal(text, "one two\n    three\n    four\n");
}

TEST(width)
{
    setenv("COLUMNS", "77", 1);
    assert_int_equal(terminal_width(), 77);
    setenv("COLUMNS", "77x", 1);
    assert_int_not_equal(terminal_width(), 77);
    unsetenv("COLUMNS");
}
