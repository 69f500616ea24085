/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The live page: slots are never read half-written; who may read and change files of pages, where
 * these may be, and how long they exist.
 */
#include <fcntl.h>
#include <linux/magic.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mount.h>
#include <sys/vfs.h>

#include "apapi/live.h"
#include "base/shared_page.h"
#include "sampler/livefile.h"
#include "session/live.h"
#include "unit/temporary.h"

/* test/abi/libapapi.layout has the places of members. Other numbers would need another version. */
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
        /* a first reading has no values yet */
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
            struct apapi_live_slot whole = numbered(slot.time_ns);

            whole.sequence = 2 * slot.time_ns;
            seen->reads++;
            seen->torn += memcmp(&slot, &whole, sizeof whole) != 0;
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

/* --- files of pages --------------------------------------------------------------------------- */

#define USER 4711
#define OTHER 4712

static struct step step;
static char live_dir[PATH_MAX];

static struct livefile live;

static void make_live(void)
{
    make_base_below("/dev/shm");
    assert_int_equal(chmod(base, 0755), 0);
    memset(&step, 0, sizeof step);
    step.id = APAPI_IDENTITY_UNKNOWN;
    step.id.job = 4711;
    step.id.uid = geteuid() == 0 ? USER : geteuid();
    strcpy(step.id.step, "0");
    strcpy(step.id.node, "n1");
    snprintf(live_dir, sizeof live_dir, "%s/live", base);
    step.config.live_dir = live_dir;
    live = LIVEFILE_NONE;
}

static void remove_live(void)
{
    livefile_close(&live);
    remove_base();
}

/* Publish a page as a session does. */
static void publish(struct livefile *file)
{
    fail_if(livefile_create(file, &step, &why), "%s", why.text);
    live_page_init(file->page);
    fail_if(livefile_publish(file, &step, &why), "%s", why.text);
}

static int count_page(const struct apapi_live_page *found, void *jobs)
{
    size_t length = strlen(jobs);

    snprintf((char *)jobs + length, 256 - length, "%.*s/%u.%.*s ", (int)sizeof found->head.node,
             found->head.node, found->head.job, (int)sizeof found->head.step, found->head.step);
    return 0;
}

/* @return a path below the folder of the step's user, valid as long as paths of in_base(). */
static const char *in_pages(const char *name)
{
    char below[128];

    snprintf(below, sizeof below, "live/n1/%u/%s", step.id.uid, name);
    return in_base(below);
}

/* @return the pages that a scan finds, as "n1/4711.0 ". */
static const char *scan(struct apapi_live_counts *counts)
{
    static char jobs[256];

    jobs[0] = '\0';
    fail_if(apapi_live_scan(live_dir, count_page, jobs, counts, &why), "%s", why.text);
    return jobs;
}

#define LIVE(name) TEST_WITH(name, make_live, remove_live)

/* --- finding pages ---------------------------------------------------------------------------- */

/* Files with the names of pages. */
static struct apapi_live_page forged;

struct forgery {
    mode_t type;
    int error;                        /* errno when the file is opened */
    int length, magic, size, version; /* differences from a page */
    uid_t owner;
};

/* Make a forgery. @return the file, kept open as by a living writer; -1: not a regular file */
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
        opened = apapi_live_open(path, &why);
        fail_if(opened ? forgery.error != 0 : errno != forgery.error, "case %zu: %s", i,
                opened ? "opened" : why.text);
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

/* No link below the folder is followed, not even one from node to node. */
LIVE(a_link_to_a_node_is_not_followed)
{
    struct apapi_live_counts counts;

    publish(&live);
    assert_int_equal(symlink(in_base("live/n1"), in_base("live/n2")), 0);
    assert_string_equal(scan(&counts), "n1/4711.0 ");
    assert_int_equal(counts.pages, 1);
}

static bool is_there(const char *name)
{
    struct stat status;

    return lstat(in_pages(name), &status) == 0;
}

/* Simulate the end of the process that writes a page. */
static void die(struct livefile *file)
{
    close(file->file);
    file->file = -1;
    file->path[0] = '\0';
    livefile_close(file);
}

static int lock_for_reading(void)
{
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    int file = open(in_pages("4711.0"), O_RDONLY | O_CLOEXEC);

    return file >= 0 && fcntl(file, F_OFD_SETLK, &lock) == 0 ? 1 : 0;
}

LIVE(its_user_cannot_make_it_look_dead_or_alive)
{
    struct apapi_live_counts counts;
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    int file;

    needs_root();
    publish(&live);
    assert_int_equal(as_user(USER, lock_for_reading), 0);
    file = open(in_pages("4711.0"), O_RDONLY | O_CLOEXEC);
    die(&live);
    assert_int_equal(fcntl(file, F_OFD_SETLK, &lock), 0);
    assert_string_equal(scan(&counts), "");
    assert_int_equal(counts.dead, 1);
    step.id.job++;
    publish(&live);
    assert_false(is_there("4711.0")); /* the user's lock does not keep the page */
    close(file);
}

LIVE(nobody_sees_it_before_it_is_whole)
{
    struct apapi_live_counts counts;

    assert_int_equal(livefile_create(&live, &step, &why), 0);
    assert_string_equal(scan(&counts), "");
    assert_int_equal(counts.broken + counts.dead, 0);
    live_page_init(live.page);
    assert_int_equal(livefile_publish(&live, &step, &why), 0);
    assert_string_equal(scan(&counts), "n1/4711.0 ");
}

/* A requeued job has the same steps again. */
LIVE(the_same_step_again)
{
    struct livefile first, second;

    publish(&first);
    assert_int_equal(livefile_create(&second, &step, &why), 0);
    live_page_init(second.page);
    assert_fails(EEXIST, livefile_publish(&second, &step, &why));
    die(&first);
    assert_int_equal(livefile_publish(&second, &step, &why), 0);
    livefile_close(&second);
    assert_false(is_there("4711.0"));
}

/* A sampler must not withdraw the page of another sampler, even if its name is the same. */
LIVE(only_its_own_page_is_withdrawn)
{
    struct livefile again;

    publish(&live);
    assert_int_equal(unlink(in_pages("4711.0")), 0);
    publish(&again);
    livefile_close(&live);
    assert_true(is_there("4711.0"));
    livefile_close(&again);
}

/* A file in the way is left alone, and the sampler has no page. */
static void assert_refused(int error, const char *part)
{
    assert_fails_with(error, part, livefile_create(&live, &step, &why));
    assert_null(live.page);
}

LIVE(folders_that_others_can_change_are_refused)
{
    assert_int_equal(mkdir(in_base("live"), 0755) | chmod(in_base("live"), 0775), 0);
    assert_refused(EPERM, "others than root can change");
    assert_int_equal(chmod(in_base("live"), 01777), 0);
    assert_refused(EPERM, "others than root can change");
    assert_int_equal(chmod(in_base("live"), 0755) | mkdir(in_base("live/n1"), 0755) |
                         chmod(in_base("live/n1"), 0757),
                     0);
    assert_refused(EPERM, "others than root can change");
    assert_int_equal(chmod(in_base("live/n1"), 0755) | chmod(base, 0777), 0);
    assert_refused(EPERM, "or above it");
    assert_int_equal(chmod(base, 01777), 0); /* like /dev/shm */
    publish(&live);
}

LIVE(folders_of_others_are_refused)
{
    needs_root();
    assert_int_equal(mkdir(in_base("live"), 0755) | chown(in_base("live"), OTHER, OTHER), 0);
    assert_refused(EPERM, "others than root can change");
    assert_int_equal(chown(in_base("live"), 0, 0) | mkdir(in_base("live/n1"), 0755) |
                         chown(in_base("live/n1"), OTHER, OTHER),
                     0);
    assert_refused(EPERM, "belongs to user");
    assert_int_equal(rmdir(in_base("live/n1")) | symlink(base, in_base("live/n1")), 0);
    assert_refused(ENOTDIR, "n1");
    assert_int_equal(unlink(in_base("live/n1")) | rmdir(in_base("live")) |
                         symlink("/tmp", in_base("live")) | lchown(in_base("live"), OTHER, OTHER),
                     0);
    assert_refused(ELOOP, "a link that ordinary users may have made");
}

LIVE(names_that_lead_elsewhere_are_refused)
{
    strcpy(step.id.node, "../n1");
    assert_refused(EINVAL, "../n1");
    strcpy(step.id.node, "n1");
    strcpy(step.id.step, "0/../../x");
    assert_int_equal(livefile_create(&live, &step, &why), 0);
    assert_fails(EINVAL, livefile_publish(&live, &step, &why));
}

LIVE(a_disk_is_refused)
{
    struct statfs status;

    if (statfs("/var", &status) || status.f_type == TMPFS_MAGIC) {
        skip_because("/var is a tmpfs");
    }
    needs_root();
    snprintf(live_dir, sizeof live_dir, "/var/apapi-test-%ld", (long)getpid());
    assert_refused(EMEDIUMTYPE, "not on a memory file system");
    rmdir(live_dir);
}

/* Hold ended pages open, as their user can, until there is no more memory; in a process with
 * mounts of its own. */
static int try_hoarding(void)
{
    enum { SIZE = 4 << 20, PAGES = SIZE / sizeof(struct apapi_live_page) };
    struct livefile held[PAGES];
    struct statfs status;
    int count = 0;

    if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
        mount("small", base, "tmpfs", 0, "size=4m,mode=755")) {
        return 77;
    }
    while (count < PAGES && livefile_create(&held[count], &step, &why) == 0) {
        count++;
    }
    if (count < PAGES / 2 || count == PAGES || errno != ENOSPC || statfs(base, &status)) {
        return 1;
    }
    return status.f_bavail * (uint64_t)status.f_bsize >= SIZE / 10 ? 0 : 2;
}

LIVE(ended_pages_that_stay_mapped_leave_a_tenth_free)
{
    int result;

    needs_root();
    result = as_user(0, try_hoarding);
    if (result == 77) {
        skip_because("no mount namespaces here");
    }
    assert_int_equal(result, 0);
}
