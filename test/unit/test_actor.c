/* SPDX-License-Identifier: BSD-3-Clause */
/* The actions of thresholds, with real processes. */
#include "limit/crossings.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "unit/unit.h"

static struct crossings crossings;

static void start(const char *text)
{
    const struct actor_config config = {.node = "n1",
                                        .said_by = "test",
                                        .line_fd = STDERR_FILENO,
                                        .uid = getuid(),
                                        .parent = getpid(),
                                        .kill_wait_ns = 1000000};

    memset(&crossings, 0, sizeof crossings);
    assert_int_equal(limit_list_parse(&crossings.limits, text, &why), 0);
    assert_int_equal(crossings_open(&crossings, &config, &why), 0);
}

static void add_task(pid_t pid)
{
    assert_int_equal(crossings_add_task(&crossings, pid), 0);
}

static void cross(void)
{
    crossings.limits.limits[0].state.crossing.value = 2.5;
    assert_int_equal(crossings_cross_sum(&crossings, crossings.limits.limits, NULL), 0);
}

/* Check the next answer. */
static void assert_answer(const char *text)
{
    struct order_answer answer;
    struct pollfd heard = {.fd = crossings.fd, .events = POLLIN};

    assert_int_equal(poll(&heard, 1, 60000), 1);
    assert_true(crossings_hear(&crossings, &answer));
    assert_int_equal(answer.number, 0);
    assert_string_equal(answer.text, text);
}

static void end(void)
{
    crossings_end(&crossings);
    assert_int_equal(crossings.fd, -1);
}

/* Start a child that reports when it is ready. */
static pid_t start_child(void (*work)(int ready))
{
    int ends[2];
    char byte;
    pid_t pid;

    assert_int_equal(pipe(ends), 0);
    pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(ends[0]);
        work(ends[1]);
        _exit(99);
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 1);
    close(ends[0]);
    return pid;
}

static void say_ready(int ready)
{
    if (write(ready, "r", 1) != 1) {
        _exit(98);
    }
}

static void ignore_term(int ready)
{
    signal(SIGTERM, SIG_IGN);
    say_ready(ready);
    for (;;) {
        pause();
    }
}

/* A child with a child of its own. The signal that ends that child is this child's status. */
static void have_a_child(int ready)
{
    int status = 0;
    pid_t pid;

    signal(SIGUSR1, SIG_IGN);
    pid = fork();
    if (pid == 0) {
        signal(SIGUSR1, SIG_DFL);
        say_ready(ready);
        for (;;) {
            pause();
        }
    }
    waitpid(pid, &status, 0);
    _exit(WIFSIGNALED(status) ? WTERMSIG(status) : 97);
}

static int status_of(pid_t pid)
{
    int status;

    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

/* A PID may be any process of the machine: only a child of the measuring program is a task. */
TEST(only_tasks_get_signals)
{
    start("total >= 5J : signal=KILL");
    add_task(getpid());
    add_task(getppid());
    add_task(1);
    add_task(0);
    add_task(-1);
    cross();
    crossings_end_run(&crossings); /* until then, a process might still be named */
    assert_string_equal(crossings.kept[0].crossing.result, "SIGKILL: there was no process");
    end();
}

TEST(descendants_get_signals_of_the_whole_step)
{
    pid_t pid;

    start("total >= 5J : signal=USR1@step");
    pid = start_child(have_a_child);
    cross(); /* before the measuring program has named the child */
    add_task(pid);
    assert_answer("SIGUSR1: to 2 processes");
    assert_int_equal(WEXITSTATUS(status_of(pid)), SIGUSR1);
    end();
}

TEST(what_ignores_sigterm_is_killed)
{
    pid_t pid;

    start("total >= 5J : term");
    pid = start_child(ignore_term);
    add_task(pid);
    cross();
    assert_answer("SIGTERM: to 1 process");
    assert_answer("SIGKILL: to 1 process");
    assert_int_equal(WTERMSIG(status_of(pid)), SIGKILL);
    end();
}

TEST(commands_inherit_no_descriptors)
{
    int open_one = dup(STDERR_FILENO);

    start("total >= 5J : exec=for fd in 3 4 5 6 7 8 9; do "
          "test ! -e /proc/self/fd/$fd || exit 1; done");
    cross();
    assert_answer("exec: exit status 0");
    end();
    close(open_one);
}

TEST(the_list_keeps_both_ends)
{
    struct apapi_record record = {.crossings = 0};

    start("total >= 5J : stamp");
    for (uint64_t i = 0; i < 1000; i++) {
        crossings.limits.limits[0].count = i;
        cross();
        if (i == 2) {
            assert_int_equal(crossings_copy(&crossings, &record), 0);
            assert_int_equal(record.crossing_count, 3);
            assert_int_equal(record.crossing[2].count, 2);
            apapi_record_clear(&record);
        }
    }
    assert_int_equal(crossings_copy(&crossings, &record), 0);
    assert_int_equal(record.crossings, 1000);
    assert_int_equal(record.crossing_count, APAPI_CROSSINGS_MAX);
    for (size_t i = 0; i < APAPI_CROSSINGS_MAX; i++) {
        assert_int_equal(record.crossing[i].count, i < 16 ? i : 984 + i - 16);
    }
    apapi_record_clear(&record);
    crossings_forget(&crossings);
    assert_int_equal(crossings_copy(&crossings, &record), 0);
    assert_int_equal(record.crossing_count, 0);
    end();
}

/* --- what a record has of them ---------------------------------------------------------------- */

/* Crossings as the collector of a step keeps them, without an actor. */
static struct crossings kept;

static void keep(int64_t unix_ns, const char *threshold, const char *result)
{
    struct crossings_kept *one = &kept.kept[kept.count++];

    one->crossing = (struct apapi_crossing){
        .unix_ns = unix_ns, .value = 1100.5, .unit = "J", .count = 7, .action = "log"};
    strcpy(one->crossing.threshold, threshold);
    strcpy(one->crossing.result, result);
    kept.total++;
}

TEST(those_of_a_step_are_added_in_order_of_time)
{
    CLEARED struct apapi_record record = {.crossings = 1, .crossing_count = 1};
    FREED char *line = NULL;

    record.crossing = calloc(1, sizeof *record.crossing);
    assert_non_null(record.crossing);
    record.crossing[0].unix_ns = 2000;
    kept.total = kept.count = 0;
    assert_null(crossings_encode(&kept));
    keep(3000, "budget of 1kJ", "not sent");
    keep(1000, "budget of 1kJ, warn=50%", "");
    kept.kept[1].asked_ns = 1; /* long ago */
    line = crossings_encode(&kept);
    assert_non_null(line);
    crossings_decode(line, &record);
    assert_int_equal(record.crossings, 3);
    assert_int_equal(record.crossing_count, 3);
    assert_string_equal(record.crossing[0].threshold, "budget of 1kJ, warn=50%");
    assert_string_equal(record.crossing[0].result, "scancel has not answered yet");
    assert_int_equal(record.crossing[0].count, 7);
    assert_int_equal(record.crossing[1].unix_ns, 2000);
    assert_int_equal(record.crossing[2].unix_ns, 3000);
    assert_true(record.crossing[2].value == 1100.5);
    assert_string_equal(record.crossing[2].unit, "J");
    assert_string_equal(record.crossing[2].result, "not sent");
}

TEST(what_is_malformed_is_left_out)
{
    struct apapi_record record = {0};

    crossings_decode("", &record);
    crossings_decode("{\"apapi\":1", &record);
    assert_int_equal(record.crossings, 0);
    assert_null(record.crossing);
}

TEST(no_more_than_a_record_may_have)
{
    CLEARED struct apapi_record record = {0};
    FREED char *line = NULL;

    kept.total = kept.count = 0;
    for (int i = 0; i < APAPI_CROSSINGS_MAX - 1; i++) {
        keep(i, "total every 1J", "");
    }
    line = crossings_encode(&kept);
    for (int i = 0; i < 3; i++) { /* the third one finds no room */
        crossings_decode(line, &record);
    }
    assert_int_equal(record.crossings, 3 * (APAPI_CROSSINGS_MAX - 1));
    assert_int_equal(record.crossing_count, APAPI_CROSSINGS_MAX);
}
