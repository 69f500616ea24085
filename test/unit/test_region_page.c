/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading a program's page, which may hold anything. */
#include "base/shared_page.h"
#include "regions/page.h"
#include "unit/unit.h"

static struct page_program page;

static void make_valid(void)
{
    memset(&page, 0, sizeof page);
    memcpy(page.head.magic, PAGE_MAGIC, 8);
    page.head.version = PAGE_VERSION;
    page.head.size = sizeof page;
    page.head.node_count = 3;
    page.head.thread_count = 1;
    strcpy(page.nodes[1].name, "solve");
}

#define PREPARED(name) TEST_WITH(name, make_valid, NULL)

PREPARED(foreign_bytes_are_refused)
{
    assert_null(page_problem(&page));
    page.head.clock = PAGE_CLOCKS;
    assert_non_null(page_problem(&page));
    page.head.clock = 0;
    page.head.version++;
    assert_non_null(page_problem(&page));
    page.head.version--;
    page.head.size--;
    assert_non_null(page_problem(&page));
    page.head.size++;
    page.head.magic[0] = 'a';
    assert_non_null(page_problem(&page));
}

PREPARED(counts_stay_in_the_page)
{
    page.head.node_count = UINT32_MAX;
    page.head.thread_count = UINT32_MAX;
    assert_int_equal(page_node_count(&page), PAGE_REST);
    assert_int_equal(page_thread_count(&page), PAGE_THREADS);
    page.head.node_count = 0;
    assert_int_equal(page_node_count(&page), 1);
}

PREPARED(a_node_is_in_one_before_it)
{
    struct page_node_copy copy;

    page.nodes[2].parent = 1;
    assert_true(page_node(&page, 2, &copy));
    assert_int_equal(copy.parent, 1);
    page.nodes[2].parent = 2;
    assert_false(page_node(&page, 2, &copy));
    page.nodes[1].parent = UINT32_MAX;
    assert_false(page_node(&page, 1, &copy));
}

PREPARED(names_are_clean_and_end)
{
    struct page_node_copy copy;

    memset(page.nodes[1].name, 'x', PAGE_NAME_SIZE);
    assert_true(page_node(&page, 1, &copy));
    assert_int_equal(strlen(copy.name), PAGE_NAME_SIZE - 1);
    strcpy(page.nodes[1].name, "a/b\033[1m\xff");
    assert_true(page_node(&page, 1, &copy));
    assert_string_equal(copy.name, "a?b?[1m?");
}

PREPARED(the_time_since_the_last_change_counts)
{
    struct page_slot *slot = &page.slots[0];
    struct page_slot_copy copy;

    *slot = (struct page_slot){.sequence = 8, .current = 1, .entered = 1000};
    slot->own[1] = 50;
    slot->own[2] = 7;
    slot->own[PAGE_REST] = 3;
    assert_true(page_slot(&page, 0, 3, 1200, &copy));
    assert_int_equal(copy.current, 1);
    assert_int_equal(copy.own[1], 250);
    assert_int_equal(copy.own[2], 7);
    assert_int_equal(copy.own[PAGE_REST], 3);
    assert_true(page_slot(&page, 0, 3, 900, &copy)); /* entered after `now` was taken */
    assert_int_equal(copy.own[1], 50);
    slot->current = PAGE_NO_NODE;
    assert_true(page_slot(&page, 0, 3, 1200, &copy));
    assert_int_equal(copy.current, PAGE_NO_NODE);
    assert_int_equal(copy.own[1], 50);
}

PREPARED(a_thread_stopped_while_it_writes_is_not_read)
{
    struct page_slot_copy copy;

    page.slots[0].sequence = 9;
    assert_false(page_slot(&page, 0, 3, 1200, &copy));
}

PREPARED(a_row_of_results_is_read_as_it_was_written)
{
    static struct page_results results;
    struct page_result figures = {.method = 2, .power_w = {0, 40.5}}, copy;

    page_results_init(&results);
    assert_true(page_results_valid(&results));
    assert_false(page_results_valid((const void *)&page));
    assert_false(page_result_read(&results.nodes[4], &copy));
    shared_record_write(&results.nodes[4], &figures, sizeof figures);
    assert_true(page_result_read(&results.nodes[4], &copy));
    assert_int_equal(copy.method, 2);
    assert_true(copy.power_w[1] == 40.5);
    results.nodes[4].sequence++;
    assert_false(page_result_read(&results.nodes[4], &copy));
}
