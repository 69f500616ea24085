/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions of programs in a measured step, as its sampler sees them. */
#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include "apapi/papi_hl_compat.h"
#include "unit/region_fixture.h"

static void by_handle(void)
{
    apapi_region a = apapi_region_handle("a"), b = apapi_region_handle("b");

    CHECK(a != 0 && b != 0 && a != b && apapi_region_handle("a") == a);
    for (int i = 0; i < 1000; i++) {
        CHECK(apapi_region_enter(a) == 0);
        CHECK(apapi_region_begin("b") == 0);
        CHECK(apapi_region_leave(b) == 0);
        CHECK(apapi_region_end("a") == 0);
    }
    CHECK(apapi_region_enter(0) == 0 && apapi_region_leave(0) == 0);
    CHECK(apapi_region_enter(200) == 0 && apapi_region_leave(200) == 0);
}

IN_STEP(a_handle_is_the_name)
{
    const struct page_program *page = run_quiet_program(by_handle);

    assert_int_equal(page_node_count(page), 3);
    assert_int_equal(count_of_region(page, "a/b"), 1000);
}

static void not_measured(void)
{
    unsetenv(APAPI_LIVE_ENVIRONMENT);
    CHECK(apapi_region_end("a") == 0 && apapi_region_begin("a") == 0);
    CHECK(apapi_region_handle("a") == 0);
    CHECK(apapi_region_fom("flops", 3, "FLOP") == 0);
    setenv(APAPI_LIVE_ENVIRONMENT, measured.path, 1);
    CHECK(apapi_region_begin(NULL) == 0 && apapi_region_stop() == 0);
}

IN_STEP(outside_of_a_measured_step_nothing_happens)
{
    assert_null(run_silent_program(not_measured));
}

static void figures(void)
{
    char name[] = "0";

    for (int i = 0; i <= 5000; i++) {
        CHECK(apapi_region_fom("cells", 1e20 * !i + i, "cells") == 0);
    }
    CHECK(apapi_region_fom("work", 1, "GFLOP") == 0 && apapi_region_fom("work", 5, "MFLOP") == 0);
    for (int i = 3; i < 64; i++, name[0]++) {
        CHECK(apapi_region_fom(name, i, NULL) == 0);
    }
    CHECK(apapi_region_fom("more", 1, NULL) == -1 && errno == ENOSPC);
    CHECK(apapi_region_fom("work", 1, "TFLOP") == -1 && errno == ENOSPC);
}

IN_STEP(the_last_figure_of_merit_of_a_name_counts_with_its_unit)
{
    const struct page_program *page = run_program(figures).page;
    struct apapi_fom fom;

    assert_int_equal(page_fom_count(page), 64);
    assert_true(page_fom(page, 0, &fom) && fom.value == 5000 && strcmp(fom.unit, "cells") == 0);
    assert_false(page_fom(page, 1, &fom));
    assert_true(page_fom(page, 2, &fom) && fom.value == 5 && strcmp(fom.unit, "MFLOP") == 0);
}

static void over(int unused)
{
    (void)unused;
    exit(0);
}

static void figures_until_a_signal(void)
{
    const struct sigaction once = {.sa_handler = over, .sa_flags = (int)SA_RESETHAND | SA_NODEFER};
    const struct itimerval times = {{10, 0}, {0, 20000}}; /* the second signal ends a hang */

    CHECK(apapi_region_fom("steps", 0, NULL) == 0); /* a busy machine may not come to it later */
    CHECK(sigaction(SIGALRM, &once, NULL) == 0 && setitimer(ITIMER_REAL, &times, NULL) == 0);
    for (double i = 0;; i++) {
        CHECK(apapi_region_fom("steps", i, NULL) == 0);
    }
}

IN_STEP(a_signal_handler_may_end_the_program)
{
    run_quiet_program(figures_until_a_signal);
}

static void *past_the_calls(void *passed)
{
    pthread_cancel(pthread_self());
    apapi_region_begin("a"); /* connects */
    apapi_region_end("b");   /* a message on standard error */
    apapi_region_fom("f", 1, NULL);
    *(bool *)passed = true;
    pthread_testcancel();
    return NULL;
}

static void cancelled_thread(void)
{
    bool passed = false;
    pthread_t thread;

    CHECK(pthread_create(&thread, NULL, past_the_calls, &passed) == 0);
    CHECK(pthread_join(thread, NULL) == 0 && passed);
    CHECK(apapi_region_begin("a") == 0 && apapi_region_end("a") == 0);
}

IN_STEP(no_call_is_a_cancellation_point)
{
    assert_int_equal(count_of_region(run_program(cancelled_thread).page, "a"), 2);
}

static void regions_of_papi(void)
{
    CHECK(apapi_hl_set_events("EXTRA") == PAPI_OK);
    CHECK(apapi_hl_region_begin("outer") == PAPI_OK && apapi_hl_region_begin("outer") == PAPI_OK);
    CHECK(apapi_hl_region_end("outer") == PAPI_OK && apapi_hl_read("outer") == PAPI_OK);
    CHECK(apapi_hl_region_begin("second") == PAPI_OK && apapi_hl_region_begin("third") == PAPI_OK);
    CHECK(apapi_hl_region_end("outer") == PAPI_OK); /* the other regions go on */
    CHECK(apapi_hl_read("outer") == PAPI_EINVAL);
    CHECK(apapi_hl_region_end("third") == PAPI_OK && apapi_hl_region_end("second") == PAPI_OK);
    CHECK(apapi_hl_region_end("second") == PAPI_EINVAL);
    CHECK(apapi_hl_region_begin(NULL) == PAPI_EINVAL && apapi_hl_read(NULL) == PAPI_EINVAL &&
          apapi_hl_region_end(NULL) == PAPI_EINVAL);
    CHECK(apapi_hl_stop() == PAPI_OK && apapi_hl_finalize() == PAPI_OK);
}

IN_STEP(results_are_those_of_papi_and_regions_may_overlap)
{
    const struct page_program *page = run_program(regions_of_papi).page;

    assert_int_equal(count_of_region(page, "outer"), 1);
    assert_int_equal(count_of_region(page, "outer/second"), 1);
    assert_int_equal(count_of_region(page, "second"), 1);
    assert_int_equal(count_of_region(page, "second/third"), 1);
}

/* --- the page --------------------------------------------------------------------------------- */

static struct page_program forged;

static void make_valid(void)
{
    memset(&forged, 0, sizeof forged);
    memcpy(forged.head.magic, PAGE_MAGIC, 8);
    forged.head.version = PAGE_VERSION;
    forged.head.size = sizeof forged;
    forged.head.node_count = 3;
    forged.head.thread_count = 1;
    strcpy(forged.nodes[1].name, "solve");
}

#define PREPARED(name) TEST_WITH(name, make_valid, NULL)

PREPARED(foreign_bytes_are_refused)
{
    assert_null(page_problem(&forged));
    forged.head.clock = PAGE_CLOCKS;
    assert_non_null(page_problem(&forged));
    forged.head.clock = 0;
    forged.head.version++;
    assert_non_null(page_problem(&forged));
    forged.head.version--;
    forged.head.size--;
    assert_non_null(page_problem(&forged));
    forged.head.size++;
    forged.head.magic[0] = 'a';
    assert_non_null(page_problem(&forged));
}

PREPARED(names_are_clean_and_end)
{
    struct page_node_copy copy;

    memset(forged.nodes[1].name, 'x', PAGE_NAME_SIZE);
    assert_true(page_node(&forged, 1, &copy));
    assert_int_equal(strlen(copy.name), PAGE_NAME_SIZE - 1);
    strcpy(forged.nodes[1].name, "a/b\033[1m\xff");
    assert_true(page_node(&forged, 1, &copy));
    assert_string_equal(copy.name, "a?b?[1m?");
}

PREPARED(the_time_since_the_last_change_counts)
{
    struct page_slot *slot = &forged.slots[0];
    struct page_slot_copy copy;

    *slot = (struct page_slot){.sequence = 8, .current = 1, .entered = 1000};
    slot->own[1] = 50;
    slot->own[2] = 7;
    slot->own[PAGE_REST] = 3;
    assert_true(page_slot(&forged, 0, 3, 1200, &copy));
    assert_int_equal(copy.current, 1);
    assert_int_equal(copy.own[1], 250);
    assert_int_equal(copy.own[2], 7);
    assert_int_equal(copy.own[PAGE_REST], 3);
    assert_true(page_slot(&forged, 0, 3, 900, &copy)); /* entered after `now` was read */
    assert_int_equal(copy.own[1], 50);
    slot->current = PAGE_NO_NODE;
    assert_true(page_slot(&forged, 0, 3, 1200, &copy));
    assert_int_equal(copy.current, PAGE_NO_NODE);
    assert_int_equal(copy.own[1], 50);
}

PREPARED(a_thread_stopped_while_it_writes_is_not_read)
{
    struct page_slot_copy copy;

    forged.slots[0].sequence = 9;
    assert_false(page_slot(&forged, 0, 3, 1200, &copy));
}

/* --- misuse ----------------------------------------------------------------------------------- */

/* @return how often `words` stand in the text. */
static int times_in(const char *text, const char *words)
{
    int times = 0;

    for (const char *at = text; (at = strstr(at, words)) != NULL; at++) {
        times++;
    }
    return times;
}

static void end_without_begin(void)
{
    for (int i = 0; i < 10; i++) {
        CHECK(apapi_region_end("a") == -1 && errno == ENOENT);
    }
    CHECK(apapi_region_begin("a") == 0 && apapi_region_end("a") == 0);
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

static void end_outer_first(void)
{
    CHECK(apapi_region_begin("a") == 0 && apapi_region_begin("b") == 0);
    CHECK(apapi_region_end("a") == -1 && errno == EBUSY);
    CHECK(apapi_region_begin("c") == 0 && apapi_region_end("c") == 0);
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

static void exit_within(void)
{
    CHECK(apapi_region_begin("a") == 0 && apapi_region_begin("b") == 0);
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

static void without_name(void)
{
    CHECK(apapi_region_begin(NULL) == -1 && errno == EINVAL);
    CHECK(apapi_region_end(NULL) == -1 && errno == EINVAL);
    CHECK(apapi_region_handle(NULL) == 0);
    CHECK(apapi_region_begin("a") == 0 && apapi_region_end("a") == 0);
}

/* A misuse is reported once, in one line, and the program ends as it would without APAPI. */
TEST(misuses_are_told_once_and_harm_nothing)
{
    static const struct {
        void (*program)(void);
        const char *words, *region;
        unsigned count, nodes, threads, misuses; /* count: how often the region was entered */
    } cases[] = {
        {end_without_begin, "\"a\": ended, but", "a", 1, 2, 1, 10},
        {begin_twice, "\"a\": begun while", "b", 1, 3, 1, 100},
        {end_outer_first, "\"a\": ended while \"b\"", "c", 1, 4, 1, 1},
        {end_in_another_thread, "\"a\": ended in another thread", "a", 1, 2, 2, 1},
        {thread_ends_within, "\"a\": open at the end of its", "a", 3, 2, 1, 3},
        {exit_within, "\"b\": open at the end of the prog", "a/b", 1, 3, 1, 1},
        {too_deep, "begun in too many others", "a", 1, APAPI_REGION_DEPTH + 2, 1, 10},
        {without_name, "without a name", "a", 1, 2, 1, 2},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct finished finished;

        make_step();
        finished = run_program(cases[i].program);
        assert_int_equal(finished.status, 0);
        assert_int_equal(times_in(finished.said, cases[i].words), 1);
        assert_int_equal(times_in(finished.said, "\n"), 1);
        assert_int_equal(finished.page->head.misuses, cases[i].misuses);
        assert_int_equal(finished.page->head.ended, 1);
        assert_int_equal(page_node_count(finished.page), cases[i].nodes);
        assert_int_equal(page_thread_count(finished.page), cases[i].threads);
        assert_int_equal(finished.page->slots[0].current, PAGE_NO_NODE);
        assert_int_equal(count_of_region(finished.page, cases[i].region), cases[i].count);
        remove_step();
    }
}

/* A message that cannot be written must not end the program or make it wait. */
static void misuse_without_reader(void)
{
    char filling[4096] = "";
    int ends[2];

    CHECK(pipe2(ends, O_NONBLOCK) == 0 && dup2(ends[1], STDERR_FILENO) == STDERR_FILENO);
    while (write(ends[1], filling, sizeof filling) > 0) {
    }
    CHECK(fcntl(ends[1], F_SETFL, 0) == 0);
    CHECK(apapi_region_end("full") == -1 && errno == ENOENT);
    close(ends[0]);
    CHECK(apapi_region_begin("gone") == 0 && apapi_region_begin("gone") == -1);
    CHECK(apapi_region_begin("open") == 0);
}

IN_STEP(a_misuse_that_nobody_reads_harms_nothing)
{
    struct finished finished = run_program(misuse_without_reader);

    assert_int_equal(finished.status, 0);
    assert_int_equal(finished.page->head.misuses, 3);
}

static void exec_within(void)
{
    CHECK(apapi_region_begin("a") == 0);
    execl("/bin/true", "true", (char *)NULL);
    _exit(1);
}

/* The kernel takes the page from the program; the sampler still has its own mapping. */
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

static void exit_in_an_unknown_child(void)
{
    pid_t child;

    CHECK(apapi_region_begin("a") == 0);
    child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0) {
        exit(0);
    }
    CHECK(child > 0 && waitpid(child, NULL, 0) == child);
    CHECK(apapi_region_end("a") == 0);
    usleep(100000);
    CHECK(apapi_region_begin("a") == 0 && apapi_region_end("a") == 0);
}

IN_STEP(a_child_that_no_handler_saw_leaves_the_page_alone)
{
    const struct page_program *page = run_quiet_program(exit_in_an_unknown_child);

    assert_int_equal(count_of_region(page, "a"), 2);
    assert_int_equal(page->head.misuses, 0);
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
        CHECK(fcntl(file, F_GETFD) != -1); /* the program's files are still open */
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

/* A longer file would end the program by SIGXFSZ, so the sampler gets no page. */
IN_STEP(a_limit_of_file_size_is_kept)
{
    assert_null(run_silent_program(files_are_limited));
}

/* --- threads and names ------------------------------------------------------------------------ */

#define THREADS 32
#define PASSES 2000
#define NAMES 100000

static pthread_barrier_t together;

static void *first_call(void *unused)
{
    pthread_barrier_wait(&together);
    for (int i = 0; i < PASSES; i++) {
        CHECK(apapi_region_begin("outer") == 0);
        CHECK(apapi_region_begin(i % 2 ? "odd" : "even") == 0);
        CHECK(apapi_region_end(i % 2 ? "odd" : "even") == 0);
        CHECK(apapi_region_end("outer") == 0);
    }
    return unused;
}

static void many_threads(void)
{
    pthread_t threads[THREADS];

    pthread_barrier_init(&together, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, first_call, NULL) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
}

IN_STEP(the_first_call_comes_from_many_threads_at_once)
{
    const struct page_program *page = run_quiet_program(many_threads);

    assert_int_equal(page_node_count(page), 4);
    assert_int_equal(count_of_region(page, "outer"), THREADS * PASSES);
    assert_int_equal(count_of_region(page, "outer/odd"), THREADS * PASSES / 2);
    assert_int_equal(count_of_region(page, "outer/even"), THREADS * PASSES / 2);
    assert_true(page_thread_count(page) <= THREADS);
}

static void *wait_and_go(void *unused)
{
    CHECK(apapi_region_begin("a") == 0);
    pthread_barrier_wait(&together);
    CHECK(apapi_region_end("a") == 0);
    return unused;
}

static void too_many_threads(void)
{
    static pthread_t threads[PAGE_THREADS + 5];
    pthread_attr_t attributes;

    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 1 << 16);
    pthread_barrier_init(&together, NULL, COUNT_OF(threads));
    for (size_t i = 0; i < COUNT_OF(threads); i++) {
        CHECK(pthread_create(&threads[i], &attributes, wait_and_go, NULL) == 0);
    }
    for (size_t i = 0; i < COUNT_OF(threads); i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
}

IN_STEP(threads_beyond_the_page_are_counted)
{
    const struct page_program *page = run_quiet_program(too_many_threads);

    assert_int_equal(page->head.threads_lost, 5);
    assert_int_equal(count_of_region(page, "a"), PAGE_THREADS);
}

static void many_names(void)
{
    char name[32];

    for (int i = 0; i < NAMES; i++) {
        snprintf(name, sizeof name, "name %d", i);
        CHECK(apapi_region_begin(name) == 0 && apapi_region_end(name) == 0);
    }
}

IN_STEP(names_are_bounded_and_counted)
{
    const struct page_program *page = run_quiet_program(many_names);
    uint64_t rest = page_slot_count(page, 0, PAGE_REST);

    assert_int_equal(page_node_count(page), PAGE_REST);
    assert_int_equal(count_of_region(page, "name 0"), 1);
    assert_int_equal(rest, NAMES - (PAGE_REST - 1));
    assert_int_equal(page->head.names_lost, 2 * rest); /* at begin and end of each */
}

static void names_of_any_bytes(void)
{
    static char longest[10241], other[10241];
    char buffer[8] = "first";

    memset(longest, 'x', sizeof longest - 1);
    memset(other, 'x', sizeof other - 1);
    other[130] = 'y';
    CHECK(apapi_region_begin("") == 0 && apapi_region_end("") == 0);
    CHECK(apapi_region_begin("a/b\\\n\xff\xc3\xa4") == 0);
    CHECK(apapi_region_end("a/b\\\n\xff\xc3\xa4") == 0);
    CHECK(apapi_region_begin(longest) == 0 && apapi_region_end(longest) == 0);
    CHECK(apapi_region_begin(other) == 0 && apapi_region_end(other) == 0);
    CHECK(apapi_region_begin(buffer) == 0 && apapi_region_end(buffer) == 0);
    strcpy(buffer, "second"); /* another name at the same address */
    CHECK(apapi_region_begin(buffer) == 0 && apapi_region_end(buffer) == 0);
}

IN_STEP(names_are_escaped_and_shortened)
{
    const struct page_program *page = run_quiet_program(names_of_any_bytes);

    assert_int_equal(page_node_count(page), 7);
    assert_string_equal(page->nodes[1].name, "\"\"");
    assert_string_equal(page->nodes[2].name, "a\\x2Fb\\x5C\\x0A\\xFF\xc3\xa4");
    assert_int_equal(strlen(page->nodes[3].name), PAGE_NAME_SIZE - 1);
    assert_contains(page->nodes[3].name, "xxx...");
    assert_contains(page->nodes[3].name, "...xxx");
    assert_string_not_equal(page->nodes[3].name, page->nodes[4].name); /* differ in the middle */
    node_of(page, "first");
    node_of(page, "second");
}
