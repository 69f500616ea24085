/* SPDX-License-Identifier: BSD-3-Clause */
/* How far the sampler trusts a program's page, and the figures that it makes of the page. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/random.h"
#include "regions/message.h"
#include "regions/observe/observe.h"
#include "regions/observe/observer.h"
#include "session/live.h"
#include "unit/temporary.h"

/* The page of a program, as the program sees it. */
static struct page_program *owned;

static int new_file(off_t size, int seals)
{
    int file = memfd_create("page", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    assert_true(file >= 0);
    assert_int_equal(ftruncate(file, size), 0);
    assert_int_equal(seals ? fcntl(file, F_ADD_SEALS, seals) : 0, 0);
    return file;
}

static blkcnt_t blocks_of(int file)
{
    struct stat status;

    assert_int_equal(fstat(file, &status), 0);
    return status.st_blocks;
}

static int new_sealed_file(off_t size)
{
    int file = new_file(size, 0);

    assert_int_equal(region_seal(file), 0);
    return file;
}

/* Begin a page with one thread. */
static void begin_page(struct page_program *page, uint32_t nodes)
{
    memcpy(page->head.magic, PAGE_MAGIC, sizeof(page->head.magic));
    page->head.version = PAGE_VERSION;
    page->head.size = sizeof(*page);
    page->head.clock = PAGE_CLOCK_MONOTONIC;
    page->head.node_count = nodes;
    page->head.thread_count = 1;
    page->slots[0].current = PAGE_NO_NODE;
}

static int new_page(void)
{
    int file = new_file(sizeof(*owned), 0);

    owned = mmap(NULL, sizeof(*owned), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    assert_true(owned != MAP_FAILED);
    begin_page(owned, 2);
    strcpy(owned->nodes[1].name, "solve");
    owned->slots[0].counts[PAGE_NODES - 1] = 0;
    assert_int_equal(region_seal(file), 0);
    return file;
}

static void refused(int file, int error, const char *text)
{
    assert_fails_saying(error, text, observed_create(file, &why));
    close(file);
}

TEST(pages_that_could_end_their_reader_are_refused)
{
    int file = new_page();

    refused(new_file(sizeof(*owned), F_SEAL_SHRINK | F_SEAL_GROW), EPERM, "its page is not sealed");
    refused(open("/dev/zero", O_RDONLY | O_CLOEXEC), EPERM, "its page is not sealed");
    refused(dup(STDERR_FILENO), EPERM, "its page is not sealed");
    refused(-1, EPERM, "its page is not sealed");
    refused(new_sealed_file(4096), EPROTO, "its page does not have the size of a page of regions");
    {
        int empty = new_sealed_file(sizeof(*owned)), copy = dup(empty);

        refused(empty, EPROTO, "its page is no page of regions");
        assert_int_equal(blocks_of(copy), 0); /* the page was not read */
        close(copy);
    }
    owned->head.version++;
    refused(file, EPROTO, "its page is of another version");
    file = new_file(sizeof(*owned), F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    if (fcntl(new_sealed_file(1), F_GET_SEALS) & F_SEAL_FUTURE_WRITE) {
        refused(file, EPERM, "its page is not sealed"); /* its memory can be removed */
    }
    munmap(owned, sizeof(*owned));
}

/* A step, whose live page is written by the test. */
static struct apapi_live_page live;
static struct observer *observer;
static struct apapi_regions regions; /* result of the observer */
static int owned_file;
static struct page_program *crowded[2]; /* pages made by new_crowded_page() */

/* Time of CLOCK_MONOTONIC in a simulation; 0: the real clock is used. */
static uint64_t simulated_ns;
static bool busy; /* the thread uses a second of processor time between two looks at the clock */

int __real_clock_gettime(clockid_t clock, struct timespec *now);

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    static time_t used_s;

    if (busy && clock == CLOCK_THREAD_CPUTIME_ID) {
        *now = (struct timespec){++used_s, 0};
        return 0;
    }
    if (clock != CLOCK_MONOTONIC || simulated_ns == 0) {
        return __real_clock_gettime(clock, now);
    }
    *now = (struct timespec){(time_t)(simulated_ns / NS_PER_S), (long)(simulated_ns % NS_PER_S)};
    return 0;
}

static void reading(double total_j)
{
    const struct apapi_live_slot *before = &live.domains[APAPI_DOMAIN_PACKAGE];
    const struct apapi_live_slot figures = {.time_ns = clock_monotonic_ns(),
                                            .total = total_j,
                                            .rate = 0,
                                            .uncertainty_j = 0.5,
                                            .readings = before->readings + 1,
                                            .flags = APAPI_LIVE_MEASURED};

    live_slot_write(&live.domains[APAPI_DOMAIN_PACKAGE], &figures);
    usleep(100); /* time between the reading and the look belongs to the next interval */
    observe_reading(&live, observer);
    assert_true(!observer->active || observer->looked_ns == figures.time_ns);
}

static void make_observer(void)
{
    live_page_init(&live);
    live.head.start_ns = clock_monotonic_ns();
    live.domains[APAPI_DOMAIN_PACKAGE].flags = APAPI_LIVE_MEASURED;
    observer = observe_create(&live);
    owned = NULL;
    assert_non_null(observer);
}

static void make_simulated_observer(void)
{
    simulated_ns = NS_PER_S;
    make_observer();
}

static void destroy_observer(void)
{
    simulated_ns = 0;
    apapi_regions_clear(&regions);
    observe_destroy(observer);
    if (owned) {
        munmap(owned, sizeof(*owned));
        close(owned_file);
    }
    for (size_t i = 0; i < COUNT_OF(crowded); i++) {
        free(crowded[i]);
        crowded[i] = NULL;
    }
}

static void take_result(const struct apapi_measurement *m)
{
    assert_int_equal(observe_result(observer, m, &regions), 0);
}

/* @return a new program with one thread and one region, "solve"; `owned` is its page. */
static struct observed *new_program(void)
{
    struct observed *program;

    owned_file = new_page();
    program = observed_create(owned_file, NULL);
    assert_non_null(program);
    assert_int_equal(observe_add(observer, program), 0);
    return program;
}

static const struct apapi_region_result *find(const char *path)
{
    for (size_t i = 0; i < regions.count; i++) {
        if (strcmp(regions.list[i].path, path) == 0) {
            return &regions.list[i];
        }
    }
    return NULL;
}

static double sum_j(void)
{
    double sum = 0;

    for (size_t i = 0; i < regions.count; i++) {
        double energy_j = regions.list[i].domains[APAPI_DOMAIN_PACKAGE].energy_j;

        sum += isnan(energy_j) ? 0 : energy_j;
    }
    return sum;
}

static struct apapi_measurement measured_j(double energy_j)
{
    struct apapi_measurement m = {0};

    for (int d = 0; d < APAPI_DOMAINS; d++) {
        m.domains[d] = APAPI_DOMAIN_UNMEASURED;
    }
    m.domains[APAPI_DOMAIN_PACKAGE].measured = true;
    m.domains[APAPI_DOMAIN_PACKAGE].energy_j = energy_j;
    return m;
}

static struct observed *new_observed(const struct page_program *page)
{
    struct observed *program = calloc(1, sizeof(*program));

    assert_non_null(program);
    observed_begin(program, page);
    return program;
}

#define MANY 70 /* number of regions; 60 have a power of their own */
#define LATE 68
#define ROWS 400

static struct page_program *new_crowded_page(void)
{
    struct page_program *page = calloc(1, sizeof(*page));

    assert_non_null(page);
    crowded[crowded[0] ? 1 : 0] = page;
    begin_page(page, MANY + 1);
    for (uint32_t i = 1; i <= MANY; i++) {
        snprintf(page->nodes[i].name, PAGE_NAME_SIZE, "r%u", i);
        page->slots[0].own[i] = 1000; /* [ns] */
    }
    return page;
}

#define ROW_NS 200000

/* Let the first region, of 40 W, and a late one, of 100 W, share the time of a row. @return [J] */
static double go_on(struct page_program *page, struct random *random)
{
    uint64_t late_ns = (uint64_t)(random_share(random) * ROW_NS);

    simulated_ns += ROW_NS;
    page->slots[0].own[LATE] += late_ns;
    page->slots[0].own[1] += ROW_NS - late_ns;
    return (100 * (double)late_ns + 40 * (double)(ROW_NS - late_ns)) / 1e9;
}

#define OBSERVED(name) TEST_WITH(name, make_observer, destroy_observer)
#define SIMULATED(name) TEST_WITH(name, make_simulated_observer, destroy_observer)

SIMULATED(a_late_region_with_more_time_gets_a_power_of_its_own)
{
    struct page_program *page = new_crowded_page();
    struct observed *program = new_observed(page);
    struct random random = {1};
    struct apapi_measurement m;
    const struct apapi_region_result *late;
    double total_j = 0;

    assert_int_equal(observe_add(observer, program), 0);
    for (int i = 0; i < ROWS; i++) {
        total_j += go_on(page, &random);
        reading(total_j);
    }
    observe_remove(observer, program);
    m = measured_j(total_j);
    take_result(&m);
    late = find("r68");
    assert_non_null(late);
    assert_int_equal(late->method, APAPI_REGION_ESTIMATED);
    assert_true(fabs(late->domains[APAPI_DOMAIN_PACKAGE].power_w / 100 - 1) < 0.2);
    assert_true(fabs(sum_j() / total_j - 1) < 1e-9);
    late = find("r70");
    assert_int_equal(late->method, APAPI_REGION_SHARED);
    assert_true(late->domains[APAPI_DOMAIN_PACKAGE].uncertainty_j >=
                late->domains[APAPI_DOMAIN_PACKAGE].energy_j); /* it may have had none */
}

/* A meter that has not moved since its first reading has no later time. */
SIMULATED(time_before_a_meter_has_moved_is_a_regions)
{
    struct page_program *page = new_crowded_page();
    struct observed *program = new_observed(page);
    struct apapi_live_slot *slot = &live.domains[APAPI_DOMAIN_PACKAGE];
    struct apapi_measurement m = measured_j(20);

    slot->total = NAN;
    slot->time_ns = simulated_ns;
    assert_int_equal(observe_add(observer, program), 0);
    for (int i = 0; i < 10; i++) {
        simulated_ns += NS_PER_S / 10;
        page->slots[0].own[1] += NS_PER_S / 10;
        observe_reading(&live, observer);
    }
    simulated_ns += NS_PER_S;
    reading(20);
    observe_remove(observer, program);
    m.domains[APAPI_DOMAIN_PACKAGE].covered = 0.996;
    m.domains[APAPI_DOMAIN_PACKAGE].uncertainty_j = 0.06;
    take_result(&m);
    assert_true(fabs((double)find("r1")->time_ns / 1e9 - 1) < 1e-3);
    /* energy from before the first reading may be the region's, up to the uncertainty */
    assert_true(find("r1")->domains[APAPI_DOMAIN_PACKAGE].uncertainty_j >= 0.06);
    m.domains[APAPI_DOMAIN_PACKAGE].covered = 0.9;
    m.domains[APAPI_DOMAIN_PACKAGE].uncertainty_j = 30;
    apapi_regions_clear(&regions);
    take_result(&m);
    assert_true(find("r1")->domains[APAPI_DOMAIN_PACKAGE].uncertainty_j >= 30);
}

/* Energy outside of all regions is not given to a region whose time was not seen. */
OBSERVED(a_region_without_time_has_no_energy)
{
    const struct apapi_region_result *solve;
    struct observed *program = new_program();

    reading(5);
    owned->slots[0].counts[1] = 1;
    reading(10);
    observe_remove(observer, program);
    take_result(NULL);
    assert_true(fabs(sum_j() - 10) < 1e-6);
    solve = find("solve");
    assert_int_equal(solve->count, 1);
    assert_int_equal(solve->method, APAPI_REGION_UNKNOWN);
    assert_true(isnan(solve->domains[APAPI_DOMAIN_PACKAGE].energy_j));
}

/* A page has many threads and regions, and no memory for most of them. */
OBSERVED(what_a_program_has_no_memory_for_is_not_read)
{
    struct observed *program = new_program();
    blkcnt_t blocks = blocks_of(owned_file);
    uint32_t known;

    reading(1);
    owned->slots[0].own[1] = 1000;
    owned->head.node_count = PAGE_REST;
    owned->head.thread_count = PAGE_THREADS;
    owned->head.names_lost = 5; /* counted by the program */
    for (unsigned i = 2; i <= 5; i++) {
        reading(i);
    }
    known = program->known;
    assert_in_range(known, 2, PAGE_REST - 1);
    observe_remove(observer, program);
    assert_int_equal(blocks_of(owned_file), blocks);
    take_result(NULL);
    assert_int_equal(find("solve")->time_ns, 1000);
    assert_int_equal(regions.losses.threads, PAGE_THREADS - 1);
    assert_int_equal(regions.losses.names, 5 + PAGE_REST - known);
}

#define FULL 5 /* number of programs that have as many threads as possible */

/* Add programs, and read them once. */
static struct page_program *add_full(struct observed *programs[FULL])
{
    struct page_program *page = new_crowded_page();

    page->head.thread_count = PAGE_THREADS;
    for (size_t i = 0; i < FULL; i++) {
        programs[i] = new_observed(page);
        assert_int_equal(observe_add(observer, programs[i]), 0);
    }
    reading(1);
    return page;
}

OBSERVED(all_programs_together_have_room_for_so_many_threads)
{
    struct observed *programs[FULL], *late = new_observed(add_full(programs));

    assert_fails(ENOSPC, observe_add(observer, late));
    for (size_t i = FULL; i-- > 0;) { /* the first one gets its room late: time of it is missing */
        observe_remove(observer, programs[i]);
    }
    assert_int_equal(observe_add(observer, late), 0);
    take_result(NULL);
    assert_int_equal(regions.losses.threads, FULL * PAGE_THREADS - OBSERVED_THREADS_MAX);
    assert_int_equal(regions.losses.programs, 1);
}

#define CROWD (OBSERVED_NODES_MAX / MANY + 4) /* number of programs; the last ones have no room */

OBSERVED(all_programs_together_have_room_for_so_many_regions)
{
    struct page_program *page = new_crowded_page();
    double times_s = 0;

    for (size_t i = 0; i < CROWD; i++) {
        assert_int_equal(observe_add(observer, new_observed(page)), 0);
    }
    for (unsigned i = 0; i <= OBSERVED_NODES_MAX / OBSERVED_NEWS_MAX; i++) {
        reading(i);
    }
    take_result(NULL);
    for (size_t i = 0; i < regions.count; i++) {
        if (regions.list[i].kind != APAPI_REGION_IDLE) {
            times_s += (double)regions.list[i].time_ns / NS_PER_S;
        }
        if (regions.list[i].kind == APAPI_REGION_REST) {
            assert_true(regions.list[i].time_ns >= 1000);
        }
    }
    assert_true(fabs(times_s - 1e-6 * MANY * CROWD) < 1e-6);
}

OBSERVED(names_without_room_are_counted)
{
    size_t before;

    new_program();
    reading(1);
    before = observer->nodes.count;
    for (unsigned i = 0; i < NODES_MAX; i++) {
        char name[16];

        snprintf(name, sizeof name, "%u", i);
        assert_int_equal(nodes_find(&observer->nodes, NODES_UNMARKED, name) == NODES_REST,
                         i >= NODES_MAX - before);
    }
    take_result(NULL);
    assert_int_equal(regions.losses.names, before);
}

OBSERVED(times_that_cannot_be_are_cut)
{
    struct observed *program = new_program();

    owned->slots[0].own[1] = UINT64_C(1) << 60; /* 36 years, before the first reading */
    reading(1);
    for (unsigned i = 2; i <= 20; i++) {
        owned->slots[0].own[1] += UINT64_C(1) << 50; /* 13 days */
        reading(i);
    }
    observe_remove(observer, program);
    take_result(NULL);
    assert_true((double)find("solve")->time_ns <=
                2 * (double)(clock_monotonic_ns() - live.head.start_ns) + 20 * 1e7);
    assert_true(fabs(sum_j() - 20) < 1e-6);
}

OBSERVED(the_shell_has_regions_too)
{
    struct observe_energy energy;

    assert_fails(ENOENT, observe_shell_end(observer, "copy", &energy));
    reading(5);
    assert_int_equal(observe_shell_begin(observer, "copy/in"), 0);
    reading(12);
    assert_int_equal(observe_shell_read(observer, "copy/in", &energy), 0);
    assert_true(fabs(energy.energy_j - 7) < 1e-9);
    assert_true(energy.within_j > 0.5 && isfinite(energy.within_j));
    assert_int_equal(observe_shell_begin(observer, "deeper"), 0);
    assert_int_equal(observe_shell_end(observer, "copy/in", &energy), 0);
    assert_int_equal(observe_shell_read(observer, "deeper", &energy), -1);
    take_result(NULL);
    assert_non_null(find("copy\\x2Fin"));
    assert_int_equal(regions.losses.misuses, 2);
}

OBSERVED(a_region_that_began_before_any_energy_is_known_has_its_part_of_the_first_figure)
{
    struct observe_energy energy;
    double first_j;

    live.head.start_ns = clock_monotonic_ns() - NS_PER_S / 10;
    reading(NAN);
    assert_int_equal(observe_shell_begin(observer, "early"), 0);
    assert_int_equal(observe_shell_read(observer, "early", &energy), 0);
    assert_true(isnan(energy.energy_j));
    usleep(100000);
    reading(12);
    assert_int_equal(observe_shell_read(observer, "early", &energy), 0);
    first_j = energy.energy_j;
    assert_true(first_j > 0 && first_j < 12);
    reading(14);
    assert_int_equal(observe_shell_read(observer, "early", &energy), 0);
    assert_true(fabs(energy.energy_j - first_j - 2) < 1e-9);
    take_result(NULL);
}

static struct page_program *give(struct page_program *page, double value, const char *unit)
{
    page->foms[0] = (struct page_fom){.value = value, .name = "work"};
    strcpy(page->foms[0].unit, unit);
    page->head.fom_count = 1;
    return page;
}

OBSERVED(figures_of_merit_are_added_by_name_and_unit)
{
    struct page_program *page = give(new_crowded_page(), 1e20, "km");
    struct observed *program = new_observed(page);

    new_program();
    give(owned, 3, "m");
    assert_int_equal(observe_add(observer, program), 0);
    take_result(NULL); /* a checkpoint */
    apapi_regions_clear(&regions);
    give(page, 5, "m");
    observe_remove(observer, program);
    assert_int_equal(observe_fom(observer, "work", 1e20, "m"), 0);
    assert_int_equal(observe_fom(observer, "work", 2, "km"), 0);
    assert_int_equal(observe_fom(observer, "work", NAN, "m"), -1);
    assert_int_equal(observe_fom(observer, "", 1, "m"), -1);
    take_result(NULL);
    assert_int_equal(regions.fom_count, 2);
    assert_true(regions.foms[0].value == 8 && regions.foms[0].programs == 2);
    assert_true(regions.foms[1].value == 2 && strcmp(regions.foms[1].unit, "km") == 0);
}

OBSERVED(figures_of_merit_without_room_are_counted)
{
    struct page_program *page = new_crowded_page();
    struct observed *program;

    page->head.fom_count = APAPI_FOMS_MAX;
    for (size_t k = 0; k < 2 * APAPI_FOMS_MAX; k++) {
        snprintf(page->foms[k % APAPI_FOMS_MAX].name, APAPI_FOM_NAME_SIZE, "f%zu", k);
        if (k % APAPI_FOMS_MAX == APAPI_FOMS_MAX - 1) {
            program = new_observed(page);
            assert_int_equal(observe_add(observer, program), 0);
            observe_remove(observer, program);
        }
    }
    assert_int_equal(observe_fom(observer, "f0", 1e308, ""), 0);
    observer->foms.list[0].value = 1e308; /* of a program; the sum of both is no number */
    take_result(NULL);
    assert_int_equal(regions.fom_count, APAPI_FOMS_MAX);
    assert_int_equal(regions.losses.names, APAPI_FOMS_MAX + 1);
    assert_true(regions.foms[0].value == 1e308);
}

/* --- the socket ------------------------------------------------------------------------------- */

#define CONNECTIONS 20
#define PAIRS 20 /* begin and end, for each connection */
#define BURST_NS UINT64_C(50000000)
#define PATIENCE_NS UINT64_C(10000000000)

static struct serve *serve;
static char live_path[128];

static void open_serve(void)
{
    make_base();
    snprintf(live_path, sizeof live_path, "%s/1.0", base);
    live_page_init(&live);
    live.head.start_ns = clock_monotonic_ns();
    observer = observe_create(&live);
    serve = serve_open(live_path, geteuid(), observer, NULL);
    assert_true(observer && serve);
}

static void close_serve(void)
{
    serve_close(serve);
    observe_destroy(observer);
    remove_base();
}

static int send_page(int channel)
{
    struct region_message message;
    int file, result;

    region_message_init(&message, REGION_REGISTER, NULL);
    file = new_page();
    munmap(owned, sizeof(*owned));
    result = region_send(channel, &message, file);
    close(file);
    return result;
}

static int send_one(int channel, enum region_message_kind kind)
{
    struct region_message message;

    region_message_init(&message, kind, "flood");
    return region_send(channel, &message, -1);
}

TEST_WITH(a_flood_gets_a_tenth_of_a_core, open_serve, close_serve)
{
    uint64_t first_ns = clock_monotonic_ns(), cpu_ns = 0, batch_ns = 0, allowed_ns;
    int channel = region_connect(live_path), working = serve_descriptor(serve);

    assert_true(channel >= 0);
    while (serve_descriptor(serve) == working && clock_monotonic_ns() - first_ns < PATIENCE_NS) {
        uint64_t begin_ns;

        while (send_one(channel, REGION_BEGIN) == 0 && send_one(channel, REGION_END) == 0) {
        }
        begin_ns = clock_thread_cpu_ns();
        serve_work(serve);
        batch_ns = clock_thread_cpu_ns() - begin_ns;
        cpu_ns += batch_ns;
    }
    allowed_ns = BURST_NS + (clock_monotonic_ns() - first_ns) / 10;
    assert_true(cpu_ns - batch_ns <= allowed_ns * 3 / 2); /* calls take some time, too */
    if (serve_descriptor(serve) == working) {
        close(channel);
        skip(); /* the machine had no more CPU time for it */
    }
    while (serve_descriptor(serve) != working) {
        int pause_ms = serve_pause_ms(serve);

        assert_true(pause_ms <= 1000);
        usleep(pause_ms > 0 ? (useconds_t)pause_ms * 1000 : 0); /* it may be over already */
    }
    assert_true(serve_work(serve) > 0);
    close(channel);
}

/* Handle one event after the pause, slowly: there is another pause. */
static void work_slowly(void)
{
    simulated_ns += 100 * NS_PER_S;
    busy = true;
    serve_work(serve);
    busy = false;
}

TEST_WITH(programs_end_in_a_pause_or_are_counted_as_lost, open_serve, close_serve)
{
    int program = region_connect(live_path), late = region_connect(live_path);
    int working = serve_descriptor(serve);

    simulated_ns = clock_monotonic_ns();
    assert_true(program >= 0 && late >= 0 && send_page(program) == 0);
    for (int i = 0; i < 5 && observer->program_count == 0; i++) {
        work_slowly();
    }
    assert_int_equal(observer->program_count, 1);
    assert_int_not_equal(serve_descriptor(serve), working);
    close(program);
    assert_int_equal(serve_work(serve), 1);
    assert_int_equal(observer->program_count, 0);
    assert_int_equal(send_page(late), 0);
    close(late);
    for (int i = 0; i < 5; i++) {
        work_slowly();
    }
    assert_int_equal(observer->losses.programs, 1);
    simulated_ns = 0;
}

TEST_WITH(programs_without_time_to_read_them_are_counted, open_serve, close_serve)
{
    int channels[CONNECTIONS];

    for (int i = 0; i < CONNECTIONS; i++) {
        channels[i] = region_connect(live_path);
        assert_true(channels[i] >= 0 && send_page(channels[i]) == 0);
        if (i == 0) {
            serve_work(serve); /* accepts it */
        }
    }
    busy = true;
    serve_close(serve);
    busy = false;
    serve = NULL;
    for (int i = 0; i < CONNECTIONS; i++) {
        close(channels[i]);
    }
    assert_int_equal(observer->losses.programs, CONNECTIONS);
}

/* Connect by a descriptor of the socket, which has no name any more, until that is refused. */
static void *connect_again(void *socket_path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int channel, result = 0;

    snprintf(address.sun_path, sizeof address.sun_path, "%s", (const char *)socket_path);
    while (result == 0 || errno == EAGAIN) {
        channel = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0);
        result = connect(channel, (const void *)&address, sizeof address);
        close(channel);
    }
    return NULL;
}

TEST_WITH(programs_that_go_on_connecting_do_not_delay_the_end, open_serve, close_serve)
{
    pthread_t threads[4];
    char path[160];
    int file;

    snprintf(path, sizeof path, "%s" REGION_SOCKET_SUFFIX, live_path);
    file = open(path, O_PATH);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, connect_again, path), 0);
    }
    usleep(10000);
    serve_close(serve);
    serve = NULL;
    for (size_t i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_true(observer->losses.programs <= 2 * OBSERVE_PROGRAMS_MAX); /* those that waited */
    close(file);
}

TEST_WITH(a_process_that_shares_the_descriptors_keeps_no_program, open_serve, close_serve)
{
    int channel = region_connect(live_path);
    pid_t pid;

    assert_true(channel >= 0 && send_page(channel) == 0);
    while (serve_work(serve) > 0) {
    }
    assert_int_equal(observer->program_count, 1);
    pid = fork();
    if (pid == 0) {
        close(channel);
        pause();
    }
    close(channel);
    while (serve_work(serve) == 0) { /* the child has to close it, too */
    }
    assert_int_equal(observer->program_count, 0);
    assert_int_equal(serve_work(serve), 0);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

TEST_WITH(what_was_sent_before_the_end_is_read, open_serve, close_serve)
{
    struct apapi_regions of_step;
    uint64_t count = 0;
    int channel;

    for (int i = 0; i < CONNECTIONS; i++) {
        channel = region_connect(live_path);
        assert_true(channel >= 0);
        assert_int_equal(send_one(channel, REGION_READ), 0);
        while (serve_work(serve) > 0) { /* there is an answer that is not read */
        }
        for (int k = 0; k < PAIRS; k++) {
            if (send_one(channel, REGION_BEGIN) || send_one(channel, REGION_END)) {
                fail_msg("the socket takes less than %d messages", 2 * k);
            }
        }
        close(channel);
    }
    serve_close(serve);
    serve = NULL;
    assert_int_equal(observe_result(observer, NULL, &of_step), 0);
    for (size_t i = 0; i < of_step.count; i++) {
        count += of_step.list[i].kind == APAPI_REGION_NAMED ? of_step.list[i].count : 0;
    }
    assert_int_equal(count, CONNECTIONS * PAIRS);
    apapi_regions_clear(&of_step);
}

TEST_WITH(a_program_without_a_page_is_refused_and_counted, open_serve, close_serve)
{
    struct apapi_regions of_step;
    int channel = region_connect(live_path);

    assert_true(channel >= 0);
    assert_int_equal(send_one(channel, REGION_REGISTER), 0);
    assert_int_equal(send_one(channel, REGION_FOM), 0); /* of an old libapapi */
    while (serve_work(serve) > 0) {
    }
    close(channel);
    assert_int_equal(observe_result(observer, NULL, &of_step), 0);
    assert_int_equal(of_step.losses.refused, 1);
    assert_int_equal(of_step.fom_count, 0);
}
