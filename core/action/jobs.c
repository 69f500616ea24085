/* SPDX-License-Identifier: BSD-3-Clause */
#include "action/jobs.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static struct job *jobs_free(struct jobs *jobs)
{
    for (size_t i = 0; i < JOBS_MAX; i++) {
        if (jobs->jobs[i].pid == 0) {
            return &jobs->jobs[i];
        }
    }
    return NULL;
}

static bool jobs_has(const struct jobs *jobs, const struct job *wanted)
{
    for (size_t i = 0; i < JOBS_MAX; i++) {
        const struct job *job = &jobs->jobs[i];

        if (job->pid && job->threshold == wanted->threshold && job->prints == wanted->prints) {
            return true;
        }
    }
    return false;
}

static _Noreturn void jobs_become(const struct jobs *jobs, const struct job_launch *launch)
{
    const struct sigaction plain = {.sa_handler = SIG_DFL};
    sigset_t none;

    setsid();
    for (int number = 1; number < NSIG; number++) {
        sigaction(number, &plain, NULL);
    }
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    jobs->launch(launch, jobs->context);
    _exit(127);
}

enum jobs_outcome jobs_start(struct jobs *jobs, const struct job *job,
                             const struct job_launch *launch)
{
    struct job *slot = jobs_free(jobs);
    pid_t pid;

    if (jobs_has(jobs, job)) {
        return JOBS_STILL_RUNNING;
    }
    pid = slot ? fork() : -1;
    if (pid == 0) {
        jobs_become(jobs, launch);
    }
    if (pid < 0) {
        return JOBS_FAILED;
    }
    setpgid(pid, pid); /* it may not have begun its session yet when it has to be killed */
    *slot = *job;
    slot->pid = pid;
    return JOBS_STARTED;
}

bool jobs_reap(struct jobs *jobs, struct job *ended, int *status)
{
    for (size_t i = 0; i < JOBS_MAX; i++) {
        struct job *job = &jobs->jobs[i];

        if (job->pid && waitpid(job->pid, status, WNOHANG) == job->pid) {
            *ended = *job;
            *job = (struct job){.pid = 0};
            return true;
        }
    }
    return false;
}

bool jobs_run(const struct jobs *jobs)
{
    for (size_t i = 0; i < JOBS_MAX; i++) {
        if (jobs->jobs[i].pid) {
            return true;
        }
    }
    return false;
}

bool jobs_own(pid_t session, const void *context)
{
    const struct jobs *jobs = context;

    for (size_t i = 0; i < JOBS_MAX; i++) {
        if (jobs->jobs[i].pid == session && session != 0) {
            return true;
        }
    }
    return false;
}

/* The leaders have not been reaped, so that no other group can have their numbers. */
void jobs_kill(struct jobs *jobs)
{
    for (size_t i = 0; i < JOBS_MAX; i++) {
        if (jobs->jobs[i].pid) {
            kill(-jobs->jobs[i].pid, SIGKILL);
            kill(jobs->jobs[i].pid, SIGKILL);
        }
    }
}
