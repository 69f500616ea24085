/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that make no sense, and what a process may do within a region. */
#include <pthread.h>
#include <sys/resource.h>

#include "unit/region_fixture.h"

/* @return times that a text stands in another one. */
static int times_in(const char *text, const char *words)
{
    int times = 0;

    for (const char *at = text; (at = strstr(at, words)) != NULL; at++) {
        times++;
    }
    return times;
}

/* A misuse is reported once, in one line, and the program ends as it would. */
static const struct page_program *run_misuse(void (*program)(void), const char *words)
{
    struct finished finished = run_program(program);

    assert_int_equal(finished.status, 0);
    assert_int_equal(times_in(finished.said, words), 1);
    assert_int_equal(times_in(finished.said, "\n"), 1);
    assert_true(finished.page->head.misuses > 0);
    return finished.page;
}

static void end_without_begin(void)
{
    for (int i = 0; i < 10; i++) {
        CHECK(apapi_region_end("a") == -1 && errno == ENOENT);
    }
    CHECK(apapi_region_begin("a") == 0 && apapi_region_end("a") == 0);
}

IN_STEP(an_end_without_begin)
{
    const struct page_program *page = run_misuse(end_without_begin, "\"a\": ended, but");

    assert_int_equal(page->head.misuses, 10);
    assert_int_equal(count_of_region(page, "a"), 1);
}

static void recurse(int depth)
{
    int result = apapi_region_begin("a");

    CHECK(depth == 0 ? result == 0 : result == -1 && errno == EALREADY);
    if (depth < 100) {
        recurse(depth + 1);
    }
    CHECK(apapi_region_end("a") == 0);
}

static void begin_twice(void)
{
    recurse(0);
    CHECK(apapi_region_begin("b") == 0 && apapi_region_end("b") == 0);
}

IN_STEP(a_region_in_itself_is_one)
{
    const struct page_program *page = run_misuse(begin_twice, "\"a\": begun while");

    assert_int_equal(page_node_count(page), 3);
    assert_int_equal(count_of_region(page, "a"), 1);
    assert_int_equal(count_of_region(page, "b"), 1);
}

static void end_outer_first(void)
{
    CHECK(apapi_region_begin("a") == 0 && apapi_region_begin("b") == 0);
    CHECK(apapi_region_end("a") == -1 && errno == EBUSY);
    CHECK(apapi_region_begin("c") == 0 && apapi_region_end("c") == 0);
}

IN_STEP(an_end_ends_what_is_in_it)
{
    const struct page_program *page = run_misuse(end_outer_first, "\"a\": ended while \"b\"");

    node_of(page, "c");
}

static void *end_a(void *unused)
{
    CHECK(apapi_region_end("a") == -1 && errno == EPERM);
    return unused;
}

static void end_in_another_thread(void)
{
    pthread_t thread;

    CHECK(apapi_region_begin("a") == 0);
    CHECK(pthread_create(&thread, NULL, end_a, NULL) == 0 && pthread_join(thread, NULL) == 0);
    CHECK(apapi_region_end("a") == 0);
}

IN_STEP(another_thread_ends_nothing)
{
    run_misuse(end_in_another_thread, "\"a\": ended in another thread");
}

static void *begin_a(void *unused)
{
    CHECK(apapi_region_begin("a") == 0);
    return unused;
}

static void thread_ends_within(void)
{
    pthread_t thread;

    for (int i = 0; i < 3; i++) {
        CHECK(pthread_create(&thread, NULL, begin_a, NULL) == 0);
        CHECK(pthread_join(thread, NULL) == 0);
    }
}

IN_STEP(a_region_ends_with_its_thread)
{
    const struct page_program *page =
        run_misuse(thread_ends_within, "\"a\": open at the end of its");

    assert_int_equal(count_of_region(page, "a"), 3);
    assert_int_equal(page_thread_count(page), 1); /* the slot was used again */
    assert_int_equal(page->slots[0].current, PAGE_NO_NODE);
}

static void exit_within(void)
{
    CHECK(apapi_region_begin("a") == 0 && apapi_region_begin("b") == 0);
}

IN_STEP(exit_ends_regions)
{
    const struct page_program *page = run_misuse(exit_within, "\"b\": open at the end of the prog");

    assert_int_equal(page->head.ended, 1);
    assert_int_equal(page->slots[0].current, PAGE_NO_NODE);
}

static void exec_within(void)
{
    CHECK(apapi_region_begin("a") == 0);
    execl("/bin/true", "true", (char *)NULL);
    _exit(1);
}

/* The kernel takes the page away; what the sampler has got remains. */
IN_STEP(exec_within_a_region_is_seen)
{
    const struct page_program *page = run_quiet_program(exec_within);

    assert_int_equal(page->head.ended, 0);
    assert_int_equal(page->slots[0].current, node_of(page, "a"));
}

static void fork_within(void)
{
    pid_t child;
    int status;

    CHECK(apapi_region_begin("a") == 0);
    child = fork();
    if (child == 0) {
        CHECK(apapi_region_end("a") == -1 && errno == ENOENT);
        CHECK(apapi_region_begin("b") == 0 && apapi_region_end("b") == 0);
        exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(apapi_region_end("a") == 0);
}

IN_STEP(a_forked_process_has_its_own_page)
{
    struct finished finished = run_program(fork_within);
    const struct page_program *child = take_page();

    assert_int_equal(finished.status, 0);
    assert_int_equal(times_in(finished.said, "\"a\": ended in a process that was forked"), 1);
    assert_int_equal(times_in(finished.said, "\n"), 1);
    assert_int_equal(page_node_count(finished.page), 2);
    assert_int_equal(count_of_region(finished.page, "a"), 1);
    assert_non_null(child);
    assert_int_not_equal(child->head.pid, finished.page->head.pid);
    assert_int_equal(count_of_region(child, "b"), 1);
    assert_int_equal(child->head.ended, 1);
}

static void too_deep(void)
{
    char name[8];

    for (int i = 0; i < APAPI_REGION_DEPTH + 10; i++) {
        snprintf(name, sizeof name, "r%d", i);
        CHECK(apapi_region_begin(name) == (i < APAPI_REGION_DEPTH ? 0 : -1));
    }
    for (int i = APAPI_REGION_DEPTH + 9; i >= 0; i--) {
        snprintf(name, sizeof name, "r%d", i);
        CHECK(apapi_region_end(name) == 0);
    }
    CHECK(apapi_region_begin("a") == 0 && apapi_region_end("a") == 0);
}

IN_STEP(too_many_regions_in_each_other)
{
    const struct page_program *page = run_misuse(too_deep, "begun in too many others");

    assert_int_equal(count_of_region(page, "a"), 1);
}

static void without_name(void)
{
    CHECK(apapi_region_begin(NULL) == -1 && errno == EINVAL);
    CHECK(apapi_region_end(NULL) == -1 && errno == EINVAL);
    CHECK(apapi_region_handle(NULL) == 0);
}

IN_STEP(no_name)
{
    run_misuse(without_name, "without a name");
}

static void close_everything(void)
{
    CHECK(apapi_region_begin("a") == 0);
    for (int file = 3; file < 1024; file++) {
        close(file);
    }
    for (int file = 3; file < 300; file++) {
        CHECK(open("/dev/null", O_RDWR) == file);
    }
    CHECK(apapi_region_fom("figure", 1, NULL) == -1 && errno == ENOTCONN);
    CHECK(apapi_region_end("a") == 0);
    for (int file = 3; file < 300; file++) {
        CHECK(fcntl(file, F_GETFD) != -1); /* nobody has closed the program's files */
    }
}

IN_STEP(a_program_may_close_all_descriptors)
{
    run_quiet_program(close_everything);
}

static void files_are_limited(void)
{
    const struct rlimit limit = {4096, 4096};

    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    CHECK(apapi_region_begin("a") == 0 && apapi_region_end("a") == 0);
}

/* A longer file would be SIGXFSZ. The sampler gets no page. */
IN_STEP(a_limit_of_file_size_is_kept)
{
    struct finished finished = run_program(files_are_limited);

    assert_int_equal(finished.status, 0);
    assert_string_equal(finished.said, "");
    assert_null(finished.page);
}
