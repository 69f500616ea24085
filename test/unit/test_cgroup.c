/* SPDX-License-Identifier: BSD-3-Clause */
/* Control groups and limits of a process that runs beside a task. */
#include "sampler/beside.h"

#include <signal.h>
#include <sys/wait.h>

#include "unit/unit.h"

/* A parent of NULL: the path is not inside a job. */
TEST(the_part_above_the_job)
{
    static const struct {
        const char *path, *parent;
    } cases[] = {
        {"/slurm/uid_1000/job_7/step_0/task_0", "/slurm"},
        {"/slurm_n1/uid_0/job_7/step_batch", "/slurm_n1"},
        {"/system.slice/slurmstepd.scope/job_7/step_0/slurm", "/system.slice/slurmstepd.scope"},
        {"/job_7/step_0", "/"},
        {"/uid_5/job_7", "/"},
        {"/", NULL},
        {"/user.slice/uid_7", NULL},
        {"/too/long/for/it/which/has/thirty-two/bytes/job_7", NULL},
    };
    char parent[32];

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_int_equal(cgroup_above_job(cases[i].path, parent, sizeof parent),
                         cases[i].parent ? 0 : -1);
        if (cases[i].parent) {
            assert_string_equal(parent, cases[i].parent);
        }
    }
}

TEST(groups_that_cannot_be_entered)
{
    char own[8192];

    assert_true(process_stat_text(getpid(), "cgroup", own, sizeof own) > 0);
    assert_int_equal(cgroup_join(own), 0);
    assert_int_equal(cgroup_join("7:memory:/\n0::/user.slice/elsewhere\n"), 0); /* not of a job */
    assert_int_equal(cgroup_join("7:memory:/\n6:freezer:/slurm/uid_7/job_0/step_0\n0::/\n"), -1);
    assert_int_equal(cgroup_join("0::/slurm/job_0/step_0/user/task_0"), -1);
}

/* Start a task that lowers its limits, and lives until it is killed. */
static struct process start_task(struct processes *processes)
{
    static const struct rlimit files = {100, 200}, locked = {4096, 65536};
    int ready[2];
    char byte;
    pid_t pid;

    assert_int_equal(pipe(ready), 0);
    pid = fork();
    if (pid == 0) {
        if (setrlimit(RLIMIT_NOFILE, &files) || setrlimit(RLIMIT_MEMLOCK, &locked) ||
            write(ready[1], "r", 1) != 1) {
            _exit(1);
        }
        pause();
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    *processes = (struct processes){.parent = getpid()};
    assert_int_equal(processes_add(processes, pid), 0);
    return processes->tasks[0];
}

/* @return the exit status of a command that runs beside a task. */
static int run_beside(const struct process *task, const char *command)
{
    const struct job_launch launch = {.text = command};
    struct rlimit limits[RLIM_NLIMITS];
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        clearenv();
        if (beside_enter(task, limits) == 0) {
            beside_become(task, &launch, limits);
        }
        _exit(JOB_NOT_DONE);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

TEST(limits_are_those_of_the_task)
{
    struct processes processes;
    const struct process task = start_task(&processes);

    assert_int_equal(
        run_beside(&task, "[ \"$(ulimit -Sn) $(ulimit -Hn) $(ulimit -Hl)\" = '100 200 64' ]"), 0);
    kill(task.pid, SIGKILL);
    waitpid(task.pid, NULL, 0);
    processes_clear(&processes);
}

TEST(nothing_is_executed_beside_a_task_that_has_ended)
{
    struct processes processes;
    struct process task = start_task(&processes), other = task;
    siginfo_t ended;

    other.started++; /* its PID is used by another process now */
    assert_int_equal(run_beside(&other, "exit 0"), JOB_NOT_DONE);
    kill(task.pid, SIGKILL);
    assert_int_equal(waitid(P_PID, (id_t)task.pid, &ended, WEXITED | WNOWAIT), 0);
    assert_int_equal(run_beside(&task, "exit 0"), JOB_NOT_DONE);
    assert_null(processes_any(&processes));
    waitpid(task.pid, NULL, 0);
    assert_int_equal(run_beside(&task, "exit 0"), JOB_NOT_DONE);
    processes_clear(&processes);
}

int main(int argc, char **argv)
{
    return beside_is_asked(argc, argv) ? beside_run(argv) : unit_run();
}
