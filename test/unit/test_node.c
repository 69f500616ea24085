/* SPDX-License-Identifier: BSD-3-Clause */
/* A node's totals over restarts of its sampler, and what they tell Slurm. */
#include <fcntl.h>

#include "fake/energy_event.h"
#include "node/meters.h"
#include "node_energy.h"
#include "session/live.h"
#include "unit/temporary.h"

#define SECOND UINT64_C(1000000000)
#define RANGE UINT64_C(262143328850)

static int folder = -1;
static struct node_meters meters; /* of the node sampler that runs, or of none */

static void open_base(void)
{
    make_base_below("/dev/shm");
    folder = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(folder >= 0);
}

static void close_base(void)
{
    node_meters_close(&meters);
    close(folder);
    remove_base();
}

/* Begin a node sampler, whose session has counted nothing yet, after the end of the one before. */
static void begin_with(bool node_meter)
{
    node_meters_close(&meters);
    assert_int_equal(node_meters_open(&meters, folder, "n1", node_meter, &why), 0);
}

static void begin(void)
{
    begin_with(false);
}

/* Let a worker read a meter; the session has counted `total_j` of the domain by then. */
static void read_meter(const struct apapi_event *event, uint64_t raw, double total_j,
                       uint64_t time_ns)
{
    const struct apapi_reading reading = {raw, 0};
    const struct apapi_sample sample = {.events = event, .readings = &reading, .event_count = 1};
    const struct apapi_live_slot slot = {.total = total_j,
                                         .rate = 100,
                                         .time_ns = time_ns,
                                         .interval_ns = SECOND,
                                         .flags = APAPI_LIVE_MEASURED};

    live_slot_write(&meters.live->domains[event->domain], &slot);
    node_meters_sample(&sample, &meters);
}

static double shown_j(enum apapi_domain domain)
{
    return meters.shown->domains[domain].total;
}

/* @return what a second sampler adds; a counter is at `raw`, and `since_ns` later at `later`. */
static double unseen_of(uint64_t raw, uint64_t later, uint64_t since_ns, unsigned resets)
{
    static uint64_t time_ns = 1000 * SECOND; /* each call begins later than the one before */
    double before_j;

    time_ns += 1000 * SECOND;
    begin();
    read_meter(&fake_energy_event, raw, 1, time_ns);
    before_j = shown_j(APAPI_DOMAIN_PACKAGE);
    begin();
    read_meter(&fake_energy_event, later, 0, time_ns + since_ns);
    before_j = shown_j(APAPI_DOMAIN_PACKAGE) - before_j;
    assert_int_equal(meters.resets, resets);
    time_ns += since_ns;
    return before_j;
}

#define NODE_TEST(name) TEST_WITH(name, open_base, close_base)

NODE_TEST(what_a_counter_has_counted_unseen)
{
    static const struct {
        uint64_t raw, later, since_ns;
        unsigned resets;
        double unseen_j;
    } cases[] = {
        {5000000, 1005000000, 10 * SECOND, 0, 1000},
        {5000000, 5000000, 10 * SECOND, 0, 0},
        {RANGE - 400000000, 599999999, 10 * SECOND, 0, 1000}, /* it has wrapped */
        {5000000, 4000000, SECOND / 10, 1, 0},                /* it has begun again */
        {5000000, 6000000, 86400 * SECOND, 1, 0},             /* wraps may be hidden */
        {5000000, 5000000 + 99999000000, SECOND, 1, 0},       /* 100 kW */
        {1, 2, -SECOND, 1, 0},                                /* the clock went back */
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_float_equal(
            unseen_of(cases[i].raw, cases[i].later, cases[i].since_ns, cases[i].resets),
            cases[i].unseen_j, 1e-6);
    }
}

static struct apapi_event meter_of(enum apapi_domain domain)
{
    struct apapi_event event = fake_energy_event;

    event.domain = domain;
    snprintf(event.name, sizeof event.name, "meter:::%d", (int)domain);
    return event;
}

NODE_TEST(slurm_is_told_package_dram_and_gpu)
{
    const struct apapi_event core = meter_of(APAPI_DOMAIN_CORE), gpu = meter_of(APAPI_DOMAIN_GPU);
    const struct apapi_event bmc = meter_of(APAPI_DOMAIN_NODE);
    const struct apapi_live_slot *sum;

    begin();
    sum = &meters.shown->domains[APAPI_DOMAIN_NONE];
    read_meter(&fake_energy_event, 0, 1000, 10 * SECOND);
    read_meter(&core, 0, 800, 10 * SECOND);
    read_meter(&bmc, 0, 9000, 11 * SECOND);
    read_meter(&gpu, 0, 2000, 11 * SECOND);
    assert_float_equal(sum->total, 1000 + 100 + 2000, 1e-9); /* each domain at its latest reading */
    assert_float_equal(sum->rate, 200, 1e-9);
    assert_int_equal(sum->time_ns, 11 * SECOND);
}

/*
 * Samplers run one after the other. The BMC's total differs from the counters' total. What Slurm is
 * told never jumps, and goes on from what it was told before. An unknown total is absent.
 */
NODE_TEST(slurm_is_told_other_meters_from_now_on)
{
    static const struct {
        bool node_meter;
        double package_j, bmc_j, told_j; /* NaN: not read, not known */
    } samplers[] = {{false, 1000, NAN, 1000},   {true, 1010, NAN, NAN},
                    {true, 1020, NAN, NAN},     {true, NAN, 9000, 10000},
                    {false, 1050, 9100, 10030}, {true, 1080, 9170, 10100},
                    {false, 1100, 9300, 10120}};
    const struct apapi_event bmc = meter_of(APAPI_DOMAIN_NODE);

    for (size_t i = 0; i < COUNT_OF(samplers); i++) {
        double package_j = samplers[i].package_j, bmc_j = samplers[i].bmc_j;

        begin_with(samplers[i].node_meter);
        if (!isnan(package_j)) {
            read_meter(&fake_energy_event, (uint64_t)(package_j * 1e6), i == 0 ? package_j : 0,
                       (10 + i) * SECOND);
        }
        if (!isnan(bmc_j)) {
            read_meter(&bmc, (uint64_t)(bmc_j * 1e6), i == 3 ? bmc_j : 0, (10 + i) * SECOND);
            assert_float_equal(shown_j(APAPI_DOMAIN_NODE), bmc_j, 1e-6);
        }
        if (isnan(samplers[i].told_j)) {
            assert_true(isnan(shown_j(APAPI_DOMAIN_NONE)));
        } else {
            assert_float_equal(shown_j(APAPI_DOMAIN_NONE), samplers[i].told_j, 1e-6);
        }
    }
}

/* The meter's last power does not go on. Energy until it is wanted again belongs to no step. */
NODE_TEST(a_meter_that_is_not_wanted_for_some_time)
{
    const struct apapi_event gpu = meter_of(APAPI_DOMAIN_GPU);

    begin();
    read_meter(&fake_energy_event, 1000000, 1000, 10 * SECOND);
    read_meter(&gpu, 1000000, 2000, 10 * SECOND);
    begin();
    read_meter(&fake_energy_event, 1000000, 0, 11 * SECOND);
    read_meter(&fake_energy_event, 301000000, 300, 900 * SECOND);
    assert_float_equal(shown_j(APAPI_DOMAIN_NONE), 3300 + 2 * 100, 1e-6);
    assert_float_equal(meters.shown->domains[APAPI_DOMAIN_NONE].rate, 100, 1e-6);
    begin();
    read_meter(&fake_energy_event, 301000000, 0, 901 * SECOND);
    read_meter(&gpu, 90000000000, 0, 901 * SECOND);
    read_meter(&gpu, 90500000000, 500, 902 * SECOND);
    assert_float_equal(shown_j(APAPI_DOMAIN_GPU), 2500, 1e-6);
    assert_int_equal(meters.resets, 1);
}

NODE_TEST(a_page_of_another_version_begins_again)
{
    begin();
    read_meter(&fake_energy_event, 1000000, 1000, 10 * SECOND);
    meters.shown->head.version++;
    begin();
    read_meter(&fake_energy_event, 6000000, 0, 11 * SECOND);
    assert_int_equal(meters.shown->head.version, APAPI_LIVE_VERSION);
    assert_float_equal(shown_j(APAPI_DOMAIN_PACKAGE), 1005, 1e-6);
    assert_float_equal(shown_j(APAPI_DOMAIN_NONE), 5, 1e-6);
}

/* A state may have another layout. Then the totals go on from the page. */
NODE_TEST(a_state_that_cannot_be_used)
{
    begin();
    read_meter(&fake_energy_event, 1000000, 1000, 10 * SECOND);
    assert_int_equal(unlinkat(folder, NODE_STATE, 0), 0);
    begin();
    read_meter(&fake_energy_event, 6000000, 3, 11 * SECOND);
    assert_float_equal(shown_j(APAPI_DOMAIN_PACKAGE), 1003, 1e-6);
    assert_float_equal(shown_j(APAPI_DOMAIN_NONE), 1003, 1e-6);
}

/* --- what Slurm is told of a step ------------------------------------------------------------- */

#define UNKNOWN UINT64_MAX

#define NEVER (-100)

/* Steps that begin at 100 s, on a node of 100 W. Times are since 100 s. */
TEST(energy_of_a_step)
{
    static const struct {
        double asked_s, read_s; /* 0: a new step; latest reading of the meters */
        uint64_t energy_j;
    } cases[] = {
        {0, -0.7, 0},
        {4, 3.5, 400},
        {300, 298.5, 30000},
        /* 40 s without a reading, partly before the step; known from 3 s after its start on */
        {0, -39, UNKNOWN},
        {0.1, -39, UNKNOWN},
        {4, 3, UNKNOWN},
        {100, 99.5, UNKNOWN},
        {401, 401, 39700},
        {0, -39, UNKNOWN},
        {8, -39, UNKNOWN},
        /* the step ends while the meters are not read; the counters have gone on */
        {0, 0, 0},
        {7, 5, 700},
        {7.5, 5, UNKNOWN},
        {9, 8.5, 900},
        {1000, 999, 100000},
        {1009, 999, 100100},
        {1012, 999, UNKNOWN},
        {0, NEVER, UNKNOWN},
        {1000, NEVER, UNKNOWN}};
    struct apapi_live_page page = {.head = {.version = APAPI_LIVE_VERSION}};
    struct node_page node = {.page = &page};
    struct node_energy energy;
    struct tally tally = {0};

    memcpy(page.head.magic, APAPI_LIVE_MAGIC, sizeof page.head.magic);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        uint64_t now_ns = (uint64_t)((100 + cases[i].asked_s) * 1e9), energy_j = UNKNOWN;
        double read_s = cases[i].read_s;
        struct apapi_live_slot slot = {.rate = 100,
                                       .total = read_s == NEVER ? NAN : 10000 + 100 * read_s,
                                       .time_ns = (uint64_t)((100 + read_s) * 1e9),
                                       .interval_ns = SECOND};

        if (cases[i].asked_s == 0) {
            tally = (struct tally){.begin_ns = now_ns};
        }
        live_slot_write(&page.domains[APAPI_DOMAIN_NONE], &slot);
        if (node_page_read(&node, now_ns, &energy)) {
            tally_add(&tally, &energy);
        }
        assert_true(tally_sum(&tally, now_ns, &energy_j) || energy_j == UNKNOWN);
        assert_int_equal(energy_j, cases[i].energy_j);
    }
}

TEST(joules_of_a_step_are_never_taken_back)
{
    static const double node_j[] = {5000.3, 5400.3, 5100};
    struct tally tally = {.begin_ns = SECOND};
    uint64_t energy_j;

    for (unsigned i = 0; i < COUNT_OF(node_j); i++) {
        const struct node_energy energy = {.energy_j = node_j[i], .known_ns = (i + 1) * SECOND};

        tally_add(&tally, &energy);
    }
    assert_true(tally_sum(&tally, 3 * SECOND, &energy_j));
    assert_int_equal(energy_j, 400);
}

NODE_TEST(totals_go_on)
{
    struct node_meters second = {.state = NULL};
    struct node_reading reading;

    begin();
    assert_true(isnan(shown_j(APAPI_DOMAIN_PACKAGE)));
    read_meter(&fake_energy_event, 1000000, 0, 10 * SECOND);
    read_meter(&fake_energy_event, 4000000, 3, 11 * SECOND);
    assert_fails(EWOULDBLOCK, node_meters_open(&second, folder, "n1", false, &why));
    node_meters_close(&second);
    begin();
    read_meter(&fake_energy_event, 6000000, 0, 12 * SECOND);
    read_meter(&fake_energy_event, 7000000, 1, 13 * SECOND);
    assert_float_equal(shown_j(APAPI_DOMAIN_PACKAGE), 6, 1e-9);
    assert_true(node_meters_next(&meters, &reading));
    assert_true(reading.unseen);
    assert_float_equal(reading.energy_j[APAPI_DOMAIN_PACKAGE], 3, 1e-9);
}

/* Slurm's plugin may have mapped the page there, and look at it meanwhile. */
NODE_TEST(who_reads_a_page_that_is_copied_sees_each_row_as_one)
{
    const enum apapi_domain d = APAPI_DOMAIN_PACKAGE;
    struct apapi_live_page *page;
    int other;

    begin();
    read_meter(&fake_energy_event, 1000000, 1, 10 * SECOND);
    assert_int_equal(mkdirat(folder, "new", 0700), 0);
    other = openat(folder, "new", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    page = node_folder_map(other, NODE_PAGE, sizeof *page, NULL, &why);
    page->domains[d].sequence = meters.shown->domains[d].sequence;
    assert_int_equal(node_meters_copy(&meters, other, &why), 0);
    assert_true(page->domains[d].sequence > meters.shown->domains[d].sequence);
    assert_float_equal(page->domains[d].total, 1, 1e-9);
    assert_memory_equal(&page->head, &meters.shown->head, sizeof page->head);
    shared_page_unmap(page, sizeof *page);
    close(other);
}

/* --- the name of a node in the command line of slurmd ----------------------------------------- */

TEST(each_way_to_write_the_name)
{
    static const struct {
        const char words[64]; /* each word ends with a NUL, the list with another one */
        const char *node;     /* NULL: none */
    } cases[] = {
        {"slurmd\0-N\0n1\0", "n1"},
        {"slurmd\0-Nn2\0", "n2"},
        {"slurmd\0-f\0/etc/slurm.conf\0-DvN\0n3\0", "n3"},
        {"slurmd\0-D\0-N\0a-name-of-20-letters\0", "a-name-of-20-le"},
        /* other options that have this letter in them */
        {"slurmd\0-f/etc/New/slurm.conf\0", NULL},
        {"slurmd\0-L\0/var/log/N\0", NULL},
        {"slurmd\0-dNew\0", NULL},
        {"slurmd\0--conf\0NodeName=n1\0", NULL},
        {"slurmd\0", NULL},
        {"slurmd\0-N\0", NULL},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char node[16] = "none";
        size_t size = 0;

        while (cases[i].words[size]) {
            size += strlen(cases[i].words + size) + 1;
        }
        assert_int_equal(node_option_find(cases[i].words, size, node, sizeof node),
                         cases[i].node != NULL);
        assert_string_equal(node, cases[i].node ? cases[i].node : "none");
    }
    assert_false(node_option_find("slurmd\0-N\0", sizeof "slurmd\0-N\0", (char[16]){""}, 16));
}
