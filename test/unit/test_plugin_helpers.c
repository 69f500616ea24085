/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports, names and output of the plugin. */
#include "helpers.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "channel/deadline.h"
#include "unit/unit.h"

static uint64_t in_ms(uint64_t ms)
{
    return deadline_now() + ms * DEADLINE_MS;
}

TEST(a_pipe_that_nobody_reads_any_more)
{
    sigset_t pending, blocked;
    int fds[2];

    assert_int_equal(pipe(fds), 0);
    close(fds[0]);
    spank_apapi_output_write(fds[1], "text", in_ms(120000)); /* SIGPIPE would end this program */
    close(fds[1]);
    sigpending(&pending);
    assert_false(sigismember(&pending, SIGPIPE));
    sigprocmask(SIG_SETMASK, NULL, &blocked);
    assert_false(sigismember(&blocked, SIGPIPE));
}

TEST(a_pending_sigpipe_stays)
{
    sigset_t pipe_signal, pending;
    int fds[2], number;

    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    sigprocmask(SIG_BLOCK, &pipe_signal, NULL);
    raise(SIGPIPE);
    assert_int_equal(pipe(fds), 0);
    spank_apapi_output_write(fds[1], "text", in_ms(120000));
    sigpending(&pending);
    assert_true(sigismember(&pending, SIGPIPE));
    sigwait(&pipe_signal, &number);
    sigprocmask(SIG_UNBLOCK, &pipe_signal, NULL);
    close(fds[0]);
    close(fds[1]);
}

TEST(a_file_at_its_limit)
{
    struct rlimit limit;
    FILE *file = tmpfile();

    getrlimit(RLIMIT_FSIZE, &limit);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &(struct rlimit){0, limit.rlim_max}), 0);
    assert_fails(EFBIG, spank_apapi_output_write(fileno(file), "text", in_ms(120000)));
    setrlimit(RLIMIT_FSIZE, &limit);
    fclose(file);
}

static int filler = -1; /* fills the pipe whenever it has room; -1: none */

int __real_deadline_wait(int fd, short events, uint64_t deadline_ns);

int __wrap_deadline_wait(int fd, short events, uint64_t deadline_ns)
{
    static const char page[4096] = "";
    int result = __real_deadline_wait(fd, events, deadline_ns), code = errno;

    while (filler >= 0 && write(filler, page, sizeof page) > 0) {
    }
    errno = code;
    return result;
}

TEST(others_fill_the_pipe_between_looking_and_writing)
{
    char path[32];
    int fds[2];

    assert_int_equal(pipe(fds), 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fds[1]);
    filler = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    assert_true(filler >= 0);
    /* this would block forever */
    assert_fails(ETIMEDOUT, spank_apapi_output_write(fds[1], "text", in_ms(100)));
    assert_int_equal(fcntl(fds[1], F_GETFL) & O_NONBLOCK, 0);
    close(filler);
    filler = -1;
    close(fds[0]);
    close(fds[1]);
}

TEST(a_socket)
{
    static char text[2000001];
    int fds[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    assert_int_equal(spank_apapi_output_write(fds[1], "text", in_ms(120000)), 0);
    assert_int_equal(read(fds[0], text, sizeof text), 4);
    memset(text, 'x', sizeof text - 1);
    assert_fails(ETIMEDOUT, spank_apapi_output_write(fds[1], text, in_ms(100)));
    close(fds[0]);
    close(fds[1]);
}

/* --- ports ------------------------------------------------------------------------------------ */

#define RANGE 4

/* @return the first of RANGE free ports in a row; each process looks elsewhere. */
static uint16_t find_range(void)
{
    for (uint16_t first = (uint16_t)(20000 + getpid() % 2000 * RANGE); first < 32000;
         first += RANGE) {
        uint16_t port;
        int taken = 0;

        for (uint16_t i = 0; i < RANGE; i++) {
            int fd = spank_apapi_listen(first + i, first + i, &port, &why);

            taken += fd < 0;
            if (fd >= 0) {
                close(fd);
            }
        }
        if (taken == 0) {
            return first;
        }
    }
    fail_msg("no free ports");
    return 0;
}

TEST(a_range_is_used_up)
{
    uint16_t first = find_range(), ports[RANGE + 1];
    int fds[RANGE];

    for (int i = 0; i < RANGE; i++) {
        fds[i] = spank_apapi_listen(first, first + RANGE - 1, &ports[i], NULL);
        assert_true(fds[i] >= 0);
        assert_true(ports[i] >= first && ports[i] < first + RANGE);
        for (int k = 0; k < i; k++) {
            assert_int_not_equal(ports[i], ports[k]);
        }
    }
    ports[RANGE] = 7;
    assert_fails_with(EADDRINUSE, "no port of SrunPortRange=",
                      spank_apapi_listen(first, first + RANGE - 1, &ports[RANGE], &why));
    assert_int_equal(ports[RANGE], 7);
    close(fds[2]);
    fds[2] = spank_apapi_listen(first, first + RANGE - 1, &ports[RANGE], NULL);
    assert_true(fds[2] >= 0);
    assert_int_equal(ports[RANGE], ports[2]);
    for (int i = 0; i < RANGE; i++) {
        close(fds[i]);
    }
}

/* --- names ------------------------------------------------------------------------------------ */

#define GROUP(number) "SLURM_JOB_NODELIST_HET_GROUP_" number
#define FIRST "SLURM_JOB_ID_HET_GROUP_0"
#define ID "SLURM_JOB_ID"
#define SIZE "SLURM_HET_SIZE"
#define LIST "SLURM_JOB_NODELIST"

struct variable {
    const char *name, *value;
};

/* A function whose context is a list of variables that ends with a NULL. */
static bool look(void *context, const char *variable, char *value, size_t size)
{
    for (const struct variable *v = context; v->name; v++) {
        if (strcmp(v->name, variable) == 0) {
            return snprintf(value, size, "%s", v->value) < (int)size;
        }
    }
    return false;
}

TEST(the_nodes_of_all_components)
{
    static struct {
        struct variable variables[7];
        const char *names; /* NULL: not known */
    } cases[] = {
        {{{ID, "9"}, {LIST, "n[1-4]"}}, "n[1-4]"},
        {{{ID, "9"},
          {LIST, "n1"},
          {FIRST, "9"},
          {SIZE, "2"},
          {GROUP("0"), "n1"},
          {GROUP("1"), "n[2-3]"}},
         "n1,n[2-3]"},
        {{{ID, "9"}, {FIRST, "9"}, {SIZE, "2"}, {GROUP("0"), "n1"}, {GROUP("1"), "n2"}}, "n1,n2"},
        /* variables of the job in which sbatch was called */
        {{{ID, "9"},
          {LIST, "n7"},
          {FIRST, "4"},
          {SIZE, "2"},
          {GROUP("0"), "n7"},
          {GROUP("1"), "n2"}},
         "n7"},
        /* a component is missing, or there are more than possible */
        {{{ID, "9"}, {LIST, "n1"}, {FIRST, "9"}, {SIZE, "2"}, {GROUP("0"), "n1"}}, NULL},
        {{{ID, "9"}, {LIST, "n1"}, {FIRST, "9"}, {SIZE, "129"}, {GROUP("0"), "n1"}}, NULL},
        {{{ID, "9"}, {LIST, ""}}, NULL},
        {{{ID, "9"}}, NULL},
    };
    char names[64];

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        int rc = spank_apapi_job_nodes(look, cases[i].variables, names, sizeof names);

        assert_int_equal(rc, cases[i].names ? 0 : -1);
        assert_string_equal(names, cases[i].names ? cases[i].names : "");
    }
}

TEST(all_or_nothing_where_there_is_no_room)
{
    struct variable variables[] = {{ID, "9"},           {FIRST, "9"},        {SIZE, "2"},
                                   {GROUP("0"), "n12"}, {GROUP("1"), "n34"}, {NULL, NULL}};

    for (size_t size = 1; size < sizeof "n12,n34"; size++) {
        FREED char *names = malloc(size);

        assert_non_null(names);
        assert_int_equal(spank_apapi_job_nodes(look, variables, names, size), -1);
        assert_string_equal(names, "");
    }
}

TEST(file_names_from_the_environment)
{
    struct spank_apapi_naming naming = {.job = 9, .step = "0", .node = "n1"};
    char name[64];

    setenv("SLURM_ARRAY_JOB_ID", "7", 1);
    setenv("SLURM_ARRAY_TASK_ID", "3", 1);
    setenv("SLURM_JOB_NAME", "j", 1);
    assert_int_equal(spank_apapi_name("%A-%a-%x-%u", &naming, name, sizeof name, NULL), 0);
    assert_string_equal(name, "7-3-j-root");
    unsetenv("SLURM_ARRAY_JOB_ID");
    unsetenv("SLURM_ARRAY_TASK_ID");
    unsetenv("SLURM_JOB_NAME");
    naming.uid = 4294967290U;
    assert_int_equal(spank_apapi_name("%A-%a-%x-%u", &naming, name, sizeof name, NULL), 0);
    assert_string_equal(name, "9-4294967294--4294967290"); /* as in Slurm without an array */
}
