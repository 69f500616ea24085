/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of live pages: who may read and change them, where they may be and how long they are there.
 */
#include <linux/magic.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/vfs.h>

#include "unit/livefile_fixture.h"

static bool is_there(const char *name)
{
    struct stat status;

    return lstat(in_pages(name), &status) == 0;
}

/* Simulate the end of a process. */
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
    assert_false(is_there("4711.0")); /* his lock does not keep it */
    close(file);
}

LIVE(nobody_sees_it_before_it_is_whole)
{
    struct apapi_live_counts counts;

    assert_int_equal(livefile_create(&live, &step, &err), 0);
    assert_string_equal(scan(&counts), "");
    assert_int_equal(counts.broken + counts.dead, 0);
    live_page_init(live.page);
    assert_int_equal(livefile_publish(&live, &step, &err), 0);
    assert_string_equal(scan(&counts), "n1/4711.0 ");
}

/* A reader that has it open keeps the last figures. */
LIVE(it_goes_with_the_step)
{
    const struct apapi_live_page *page;
    struct apapi_live_slot slot;

    publish(&live);
    page = apapi_live_open(in_pages("4711.0"), &err);
    assert_non_null(page);
    livefile_withdraw(&live);
    assert_false(is_there("4711.0"));
    live.page->domains[1].readings = 42;
    livefile_close(&live);
    assert_true(apapi_live_read(&page->domains[1], &slot));
    assert_int_equal(slot.readings, 42);
    apapi_live_close(page);
    assert_fails(ENOENT, apapi_live_open(in_pages("4711.0"), &err));
}

LIVE(the_next_one_sweeps_up_what_a_dead_one_has_left)
{
    struct livefile dead, alive;
    struct apapi_live_counts counts;

    publish(&alive);
    step.id.job = 4712;
    publish(&dead);
    die(&dead);
    assert_fails(ESTALE, apapi_live_open(in_pages("4712.0"), &err));
    assert_string_equal(scan(&counts), "n1/4711.0 ");
    assert_int_equal(counts.dead, 1);
    step.id.job = 4713;
    publish(&live);
    assert_false(is_there("4712.0"));
    assert_string_equal(scan(&counts), "n1/4711.0 n1/4713.0 ");
    assert_int_equal(counts.dead, 0);
    livefile_close(&alive);
}

/* A requeued job has the same steps again. */
LIVE(the_same_step_again)
{
    struct livefile first, second;

    publish(&first);
    assert_int_equal(livefile_create(&second, &step, &err), 0);
    live_page_init(second.page);
    assert_fails(EEXIST, livefile_publish(&second, &step, &err));
    die(&first);
    assert_int_equal(livefile_publish(&second, &step, &err), 0);
    livefile_close(&second);
    assert_false(is_there("4711.0"));
}

/* Another one's page under our name is not ours to take away. */
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

/* A file in the sampler's way is left alone, and it has no page. */
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
    assert_int_equal(livefile_create(&live, &step, &err), 0);
    assert_fails(EINVAL, livefile_publish(&live, &step, &err));
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

/* Pages that have ended, and that their user still holds, until there are no more; in a process
 * with mounts of its own. */
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
    while (count < PAGES && livefile_create(&held[count], &step, &err) == 0) {
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
