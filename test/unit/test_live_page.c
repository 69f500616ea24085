/* SPDX-License-Identifier: BSD-3-Clause */
/* The layout of the live page, which programs are compiled for, and slots that are never seen half.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "base/shared_page.h"
#include "session/live.h"
#include "unit/livefile_fixture.h"

/* test/abi/libapapi.layout has where the members are; other numbers are another version. */
_Static_assert(APAPI_LIVE_STARTING == 0 && APAPI_LIVE_RUNNING == 1 && APAPI_LIVE_ENDED == 2,
               "states have other numbers");
_Static_assert(APAPI_LIVE_MEASURED == 1 && APAPI_LIVE_ESTIMATED == 2 && APAPI_LIVE_FAILED == 4,
               "flags have other numbers");
static struct apapi_live_page page;

TEST(a_count_beyond_the_page_is_not_believed)
{
    page.head.event_count = UINT32_MAX;
    assert_int_equal(apapi_live_event_count(&page), APAPI_LIVE_EVENTS);
    page.head.event_count = 0;
}

TEST(a_slot_whose_writer_has_died_is_not_read)
{
    struct apapi_live_slot slot = {.sequence = 7}, copy = {.readings = 4711};

    assert_false(apapi_live_read(&slot, &copy));
    assert_int_equal(copy.readings, 4711);
}

TEST(energy_goes_on_for_two_intervals)
{
    static const struct {
        struct apapi_live_slot slot;
        uint64_t now_ns;
        double energy_j;
    } cases[] = {
        {{.time_ns = 1000, .total = 5, .rate = 1e9, .readings = 2, .interval_ns = 100}, 1000, 5},
        {{.time_ns = 1000, .total = 5, .rate = 1e9, .readings = 2, .interval_ns = 100}, 1050, 55},
        {{.time_ns = 1000, .total = 5, .rate = 1e9, .readings = 2, .interval_ns = 100}, 1200, 205},
        {{.time_ns = 1000, .total = 5, .rate = 1e9, .readings = 2, .interval_ns = 100}, 9999, 205},
        {{.time_ns = 1000, .total = 5, .rate = 1e9, .readings = 2, .interval_ns = 100}, 1, 5},
        /* a first reading says nothing yet */
        {{.time_ns = 1000, .total = NAN, .rate = NAN, .readings = 1, .interval_ns = 100},
         1000,
         NAN},
        {{.total = NAN, .rate = NAN, .interval_ns = 100}, 50, NAN},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        double energy_j = apapi_live_energy_at_j(&cases[i].slot, cases[i].now_ns);

        fail_if(isnan(cases[i].energy_j) ? !isnan(energy_j)
                                         : !(fabs(energy_j - cases[i].energy_j) < 1e-9),
                "case %zu: %g J, not %g J", i, energy_j, cases[i].energy_j);
    }
}

#define WRITES 1000000
#define READERS 2

static struct apapi_live_slot shared;
static atomic_int done;

static struct apapi_live_slot numbered(uint64_t number)
{
    return (struct apapi_live_slot){.time_ns = number,
                                    .total = (double)number,
                                    .rate = 6 * (double)number,
                                    .readings = 2 * number,
                                    .interval_ns = 3 * number,
                                    .flags = 4 * number,
                                    .uncertainty_j = 5 * (double)number};
}

static bool is_whole(const struct apapi_live_slot *slot)
{
    const struct apapi_live_slot whole = numbered(slot->time_ns);
    const apapi_live_word *should = (const apapi_live_word *)(const void *)&whole;
    const apapi_live_word *is = (const apapi_live_word *)(const void *)slot;
    bool same = slot->sequence == 2 * slot->time_ns;

    for (size_t i = 1; i < sizeof whole / sizeof *is; i++) {
        same = same && is[i] == should[i];
    }
    return same;
}

struct seen {
    uint64_t reads, torn, backwards;
};

static void *read_all(void *argument)
{
    struct seen *seen = argument;
    struct apapi_live_slot slot = {0};
    uint64_t latest = 0;

    do {
        if (apapi_live_read(&shared, &slot)) {
            seen->reads++;
            seen->torn += !is_whole(&slot);
            seen->backwards += slot.time_ns < latest;
            latest = slot.time_ns;
        }
    } while (!atomic_load_explicit(&done, memory_order_relaxed));
    return NULL;
}

TEST(slots_are_read_whole_while_they_are_written)
{
    pthread_t readers[READERS];
    struct seen seen[READERS] = {{0}};

    for (int i = 0; i < READERS; i++) {
        assert_int_equal(pthread_create(&readers[i], NULL, read_all, &seen[i]), 0);
    }
    for (uint64_t number = 1; number <= WRITES; number++) {
        const struct apapi_live_slot figures = numbered(number);

        live_slot_write(&shared, &figures);
    }
    atomic_store(&done, 1);
    for (int i = 0; i < READERS; i++) {
        pthread_join(readers[i], NULL);
        assert_true(seen[i].reads > 0);
        assert_int_equal(seen[i].torn, 0);
        assert_int_equal(seen[i].backwards, 0);
    }
}

/* --- finding pages ---------------------------------------------------------------------------- */

LIVE(the_environment_names_it)
{
    const struct apapi_live_page *opened;

    publish(&live);
    setenv(APAPI_LIVE_ENVIRONMENT, live.path, 1);
    opened = apapi_live_open(NULL, &err);
    assert_non_null(opened);
    assert_int_equal(opened->head.job, 4711);
    assert_string_equal(opened->head.node, "n1");
    assert_int_equal(opened->head.writer, getpid());
    apapi_live_close(opened);
    unsetenv(APAPI_LIVE_ENVIRONMENT);
}

/* Files with the names of pages. */
static struct apapi_live_page forged;

struct forgery {
    mode_t type;
    int error;                        /* of opening it */
    int length, magic, size, version; /* how far it is from a page */
    uid_t owner;
};

/* @return a file whose writer lives; -1: it is none. */
static int forge(const char *path, const struct forgery *forgery)
{
    struct apapi_live_page page_of = forged;
    bool link = forgery->type == S_IFLNK;
    int file;

    if (link) {
        assert_int_equal(symlink(in_base("elsewhere"), path), 0);
    } else if (forgery->type == S_IFDIR) {
        assert_int_equal(mkdir(path, 0755), 0);
        return -1;
    } else if (forgery->type != S_IFREG) {
        assert_int_equal(mknod(path, forgery->type | 0644, 0), 0);
        return -1;
    }
    page_of.head.magic[7] = forgery->magic ? 'x' : page_of.head.magic[7];
    page_of.head.size += forgery->size;
    page_of.head.version += forgery->version;
    file = open(link ? in_base("elsewhere") : path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    assert_int_equal(write(file, &page_of, sizeof page_of), sizeof page_of);
    assert_int_equal(ftruncate(file, (off_t)sizeof page_of + forgery->length), 0);
    assert_int_equal(shared_page_lock(file) | fchown(file, forgery->owner, forgery->owner), 0);
    return file;
}

LIVE(what_is_no_page_is_not_believed)
{
    static const struct forgery cases[] = {
        {.type = S_IFREG},
        {S_IFREG, EPROTO, .length = -(int)sizeof forged},
        {S_IFREG, EPROTO, .length = -1},
        {S_IFREG, EPROTO, .length = 1},
        {S_IFREG, EPROTO, .magic = 1},
        {S_IFREG, EPROTO, .size = -1},
        {S_IFREG, ENOTSUP, .version = 1, .length = 1024 - (int)sizeof forged},
        {S_IFLNK, EPROTO, .length = 0},
        {S_IFIFO, EPROTO, .length = 0},
        {S_IFDIR, EPROTO, .length = 0},
        {S_IFSOCK, EPROTO, .length = 0},
        {S_IFREG, EPROTO, .owner = OTHER},
    };
    struct apapi_live_counts counts;
    char path[256];

    snprintf(path, sizeof path, "%s", in_base("live/n1/4711.0"));
    assert_int_equal(mkdir(in_base("live"), 0755) | mkdir(in_base("live/n1"), 0755), 0);
    live_page_init(&forged);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct apapi_live_page *opened;
        struct forgery forgery = cases[i];
        int file;

        forgery.owner = forgery.owner ? forgery.owner : geteuid();
        if (forgery.owner != geteuid() && geteuid() != 0) {
            continue;
        }
        file = forge(path, &forgery);
        opened = apapi_live_open(path, &err);
        fail_if(opened ? forgery.error != 0 : errno != forgery.error, "case %zu: %s", i,
                opened ? "opened" : err.text);
        apapi_live_close(opened);
        scan(&counts);
        assert_int_equal(counts.pages, forgery.error == 0);
        assert_int_equal(counts.broken, forgery.error != 0);
        if (file >= 0) {
            close(file);
        }
        assert_int_equal(remove(path), 0);
        unlink(in_base("elsewhere"));
    }
}

/* A link from node to node, too: nothing below the folder is followed. */
LIVE(a_link_to_a_node_is_not_followed)
{
    struct apapi_live_counts counts;

    publish(&live);
    assert_int_equal(symlink(in_base("live/n1"), in_base("live/n2")), 0);
    assert_string_equal(scan(&counts), "n1/4711.0 ");
    assert_int_equal(counts.pages, 1);
}
