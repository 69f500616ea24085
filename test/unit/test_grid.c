/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of the program apapi, on terminals of any width and in pipes. */
#include "render/table.h"
#include "unit/unit.h"

static const struct grid_column columns[] = {
    {"name", false}, {"value", true}, {"unused", false}, {"what it is", false}};

static char *print(const char *const *cells, size_t count, size_t width)
{
    struct grid *grid = grid_create(columns, COUNT_OF(columns));
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    for (size_t i = 0; i < count; i++) {
        grid_put(grid, cells[i]);
    }
    assert_int_equal(grid_finish(grid, NULL, out, width), 0);
    fclose(out);
    return text;
}

static const char *const cells[] = {
    "short",    "1", "", "energy of the memory", "a name that is long", "12.5 kJ", "", "",
    "x\033[2J", "-", "", "temperature"};

static void assert_table(size_t width, const char *table)
{
    char *text = print(cells, COUNT_OF(cells), width);

    assert_string_equal(text, table);
    free(text);
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
    static const struct grid_column places[] = {
        {"name", false}, {"a", true}, {"b", true}, {"c", true}};
    static const char *const row[] = {"a long name", "1000", "2000", "3000"};
    struct grid *grid = grid_create(places, 4);
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    grid_yield(grid, 0, 6, false);
    grid_yield(grid, 1, GRID_WHOLE, true);
    grid_yield(grid, 2, GRID_WHOLE, true);
    grid_yield(grid, 3, GRID_WHOLE, false);
    for (size_t i = 0; i < 4; i++) {
        grid_put(grid, row[i]);
    }
    assert_int_equal(grid_finish(grid, NULL, out, width), 0);
    fclose(out);
    assert_string_equal(text, table);
    free(text);
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
