/* SPDX-License-Identifier: BSD-3-Clause */
/* Finding live pages, and files that are not. */
#include <sys/socket.h>
#include <sys/un.h>

#include "unit/livefile_fixture.h"

LIVE(nodes_and_steps_are_in_order)
{
    static const struct {
        const char *node, *step;
        uint32_t job;
    } cases[] = {{"n10", "0", 5},   {"n2", "batch", 100}, {"n2", "2", 100},
                 {"n2", "10", 100}, {"n2", "0", 99},      {"n2", "extern", 100}};
    struct livefile files[COUNT_OF(cases)];
    struct apapi_live_counts counts;

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        strcpy(step.id.node, cases[i].node);
        strcpy(step.id.step, cases[i].step);
        step.id.job = cases[i].job;
        publish(&files[i]);
    }
    assert_string_equal(scan(&counts),
                        "n2/99.0 n2/100.2 n2/100.10 n2/100.batch n2/100.extern n10/5.0 ");
    assert_int_equal(counts.pages, 6);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        livefile_close(&files[i]);
    }
}

LIVE(the_environment_names_it)
{
    const struct apapi_live_page *page;

    publish(&live);
    setenv(APAPI_LIVE_ENVIRONMENT, live.path, 1);
    page = apapi_live_open(NULL, &err);
    assert_non_null(page);
    assert_int_equal(page->head.job, 4711);
    assert_string_equal(page->head.node, "n1");
    assert_int_equal(page->head.writer, getpid());
    apapi_live_close(page);
    unsetenv(APAPI_LIVE_ENVIRONMENT);
}

/* Files with the names of pages. */
static struct apapi_live_page forged;

static int make_file(const char *path, const void *bytes, size_t size)
{
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    assert_int_equal(write(file, bytes, size), size);
    assert_int_equal(fcntl(file, F_OFD_SETLK, &lock), 0);
    return file; /* its writer lives */
}

static int make_whole(const char *path)
{
    return make_file(path, &forged, sizeof forged);
}

static int make_empty(const char *path)
{
    return make_file(path, "", 0);
}

static int make_short(const char *path)
{
    return make_file(path, &forged, sizeof forged - 1);
}

static int make_long(const char *path)
{
    int file = make_whole(path);

    assert_int_equal(write(file, "x", 1), 1);
    return file;
}

static int make_other_magic(const char *path)
{
    struct apapi_live_page page = forged;

    page.head.magic[7]++;
    return make_file(path, &page, sizeof page);
}

static int make_other_size(const char *path)
{
    struct apapi_live_page page = forged;

    page.head.size--;
    return make_file(path, &page, sizeof page);
}

static int make_later_version(const char *path)
{
    struct apapi_live_page page = forged;

    page.head.version++;
    return make_file(path, &page, sizeof page.head);
}

static int make_link(const char *path)
{
    int file = make_whole(in_base("elsewhere"));

    assert_int_equal(symlink(in_base("elsewhere"), path), 0);
    return file;
}

static int make_fifo(const char *path)
{
    assert_int_equal(mkfifo(path, 0644), 0);
    return -1;
}

static int make_folder(const char *path)
{
    assert_int_equal(mkdir(path, 0755), 0);
    return -1;
}

static int make_socket(const char *path)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int end = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(name.sun_path, sizeof name.sun_path, "%s", path);
    assert_int_equal(bind(end, (struct sockaddr *)&name, sizeof name), 0);
    return end;
}

static int make_foreign(const char *path)
{
    int file = make_whole(path);

    assert_int_equal(fchown(file, OTHER, OTHER), 0);
    return file;
}

LIVE(what_is_no_page_is_not_believed)
{
    static const struct {
        int (*make)(const char *path);
        int error;
        bool root;
    } cases[] = {
        {make_whole, 0, false},
        {make_empty, EPROTO, false},
        {make_short, EPROTO, false},
        {make_long, EPROTO, false},
        {make_other_magic, EPROTO, false},
        {make_other_size, EPROTO, false},
        {make_later_version, ENOTSUP, false},
        {make_link, EPROTO, false},
        {make_fifo, EPROTO, false},
        {make_folder, EPROTO, false},
        {make_socket, EPROTO, false},
        {make_foreign, EPROTO, true},
    };
    struct apapi_live_counts counts;
    char path[256];

    snprintf(path, sizeof path, "%s", in_base("live/n1/4711.0"));
    assert_int_equal(mkdir(in_base("live"), 0755) | mkdir(in_base("live/n1"), 0755), 0);
    live_page_init(&forged);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct apapi_live_page *page;
        int file;

        if (cases[i].root && geteuid() != 0) {
            continue;
        }
        file = cases[i].make(path);
        page = apapi_live_open(path, &err);
        if (page ? cases[i].error != 0 : errno != cases[i].error) {
            fail_msg("case %zu: %s", i, page ? "opened" : err.text);
        }
        apapi_live_close(page);
        scan(&counts);
        assert_int_equal(counts.pages, cases[i].error == 0);
        assert_int_equal(counts.broken, cases[i].error != 0);
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
