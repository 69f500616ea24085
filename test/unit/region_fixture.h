/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIT_REGION_FIXTURE_H
#define UNIT_REGION_FIXTURE_H
/* A measured step, and programs in it, each of which is a child of the test. */
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "apapi/region.h"
#include "base/shared_page.h"
#include "regions/message.h"
#include "regions/page.h"
#include "session/live.h"
#include "unit/temporary.h"

/** The step: its live page, and the socket of its sampler. */
static struct {
    char path[128];
    int file;
    struct apapi_live_page *page;
    int listener; /* -1: none */
} measured;

/** Check a condition in a program of a test; if it is false, end the program. */
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                \
            _exit(99);                                                                             \
        }                                                                                          \
    } while (0)

static inline void make_page(void)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    snprintf(measured.path, sizeof measured.path, "%s/17.0", base);
    measured.file = open(measured.path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(ftruncate(measured.file, sizeof *measured.page), 0);
    assert_int_equal(fcntl(measured.file, F_OFD_SETLK, &lock), 0);
    measured.page =
        mmap(NULL, sizeof *measured.page, PROT_READ | PROT_WRITE, MAP_SHARED, measured.file, 0);
    assert_true(measured.page != MAP_FAILED);
    live_page_init(measured.page);
}

static inline void make_step(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    make_base();
    make_page();
    snprintf(address.sun_path, sizeof address.sun_path, "%.90s" REGION_SOCKET_SUFFIX,
             measured.path);
    measured.listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(measured.listener, (const void *)&address, sizeof address), 0);
    assert_int_equal(listen(measured.listener, 8), 0);
    setenv(APAPI_LIVE_ENVIRONMENT, measured.path, 1);
}

static inline void remove_step(void)
{
    munmap(measured.page, sizeof *measured.page);
    close(measured.file);
    close(measured.listener);
    unsetenv(APAPI_LIVE_ENVIRONMENT);
    remove_base();
}

#define IN_STEP(name) TEST_WITH(name, make_step, remove_step)

/** A program that has run to its end. */
struct finished {
    char said[4096];                 /* text on standard error */
    int status;                      /* of waitpid() */
    const struct page_program *page; /* the page that the sampler got, kept mapped; NULL: none */
};

static inline const struct page_program *take_page(void)
{
    int channel = accept4(measured.listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK), file = -1;
    struct region_message message;
    void *page = NULL;

    if (channel >= 0 && region_receive(channel, &message, &file) == 0 && file >= 0) {
        assert_int_equal(message.kind, REGION_REGISTER);
        page = mmap(NULL, sizeof(struct page_program), PROT_READ, MAP_SHARED, file, 0);
        assert_true(page != MAP_FAILED);
        assert_true(region_is_sealed(file));
        assert_null(page_problem(page));
        close(file);
    }
    close(channel);
    return page;
}

/** Power of one thread in the domain "package", in nodes 1 and 2. Nodes are numbered in the order
 * in which they come. */
struct two_powers {
    double first_w, second_w;
};

/** Play the sampler's part inside of the program: make, map and send a page with its results. */
static inline void answer_with_results(struct two_powers powers)
{
    int file = memfd_create("results", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    int channel = accept4(measured.listener, NULL, NULL, SOCK_CLOEXEC);
    struct page_result row = {.sequence = 0};
    struct region_message message;
    struct page_results *results;

    CHECK(file >= 0 && channel >= 0 && ftruncate(file, sizeof *results) == 0);
    results = mmap(NULL, sizeof *results, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    CHECK(results != MAP_FAILED);
    page_results_init(results);
    for (int d = 0; d < PAGE_DOMAINS; d++) {
        row.power_w[d] = NAN;
    }
    row.power_w[APAPI_DOMAIN_PACKAGE] = powers.first_w;
    shared_record_write(&results->nodes[1], &row, sizeof row);
    row.power_w[APAPI_DOMAIN_PACKAGE] = powers.second_w;
    shared_record_write(&results->nodes[2], &row, sizeof row);
    CHECK(fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0);
    region_message_init(&message, REGION_RESULTS, NULL);
    CHECK(region_send(channel, &message, file) == 0);
    close(channel); /* without reading what the program has sent */
}

static inline void read_all(int from, char *text, size_t size)
{
    size_t length = 0;
    ssize_t got;

    while (length < size - 1 && (got = read(from, text + length, size - 1 - length)) > 0) {
        length += (size_t)got;
    }
    text[length] = '\0';
}

/** Run a program in the step. It ends with exit(0) after `work`. */
static inline struct finished run_program(void (*work)(void))
{
    struct finished finished = {.page = NULL};
    int errors[2];
    pid_t child;

    assert_int_equal(pipe(errors), 0);
    child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL); /* instead of cmocka's handler */
        signal(SIGABRT, SIG_DFL);
        dup2(errors[1], 2);
        close(errors[0]);
        close(errors[1]);
        work();
        exit(0);
    }
    close(errors[1]);
    read_all(errors[0], finished.said, sizeof finished.said);
    close(errors[0]);
    assert_int_equal(waitpid(child, &finished.status, 0), child);
    fcntl(measured.listener, F_SETFL, O_NONBLOCK);
    finished.page = take_page();
    return finished;
}

/** Run a program that ends well and prints nothing. @return the page that the sampler got; NULL */
static inline const struct page_program *run_silent_program(void (*work)(void))
{
    struct finished finished = run_program(work);

    assert_string_equal(finished.said, "");
    assert_int_equal(finished.status, 0);
    return finished.page;
}

/** The same of a program with regions. */
static inline const struct page_program *run_quiet_program(void (*work)(void))
{
    const struct page_program *page = run_silent_program(work);

    assert_non_null(page);
    return page;
}

/** @return the node with a path "a/b". Fail the test if there is none. */
static inline uint32_t node_of(const struct page_program *page, const char *path)
{
    uint32_t count = page_node_count(page);

    for (uint32_t node = 1; node < count; node++) {
        char whole[2048] = "", outer[2048];

        for (uint32_t i = node; i != 0;) {
            struct page_node_copy copy;

            assert_true(page_node(page, i, &copy));
            snprintf(outer, sizeof outer, "%s%s%.1024s", copy.name, *whole ? "/" : "", whole);
            strcpy(whole, outer);
            i = copy.parent;
        }
        if (strcmp(whole, path) == 0) {
            return node;
        }
    }
    fail_msg("no region %s", path);
    return 0;
}

/** @return how often all threads together have entered a region. */
static inline uint64_t count_of_region(const struct page_program *page, const char *path)
{
    uint32_t node = node_of(page, path);
    uint64_t count = 0;

    for (uint32_t i = 0; i < page_thread_count(page); i++) {
        count += page_slot_count(page, i, node);
    }
    return count;
}

#endif
