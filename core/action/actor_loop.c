/* SPDX-License-Identifier: BSD-3-Clause */
#include "action/actor_loop.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "action/crossed.h"
#include "action/order.h"
#include "action/processes.h"
#include "base/clock.h"
#include "base/write_all.h"
#include "threshold/action.h"

#define MS_NS UINT64_C(1000000)
#define GRACE_NS (100 * MS_NS) /* at the end, for commands that have just been started */

/* The first SIGTERM to all processes. */
struct terminating {
    uint64_t kill_at_ns; /* 0: none was sent, or SIGKILL has followed */
    uint64_t number;     /* of the crossing */
};

struct loop {
    const struct actor_config *config;
    int socket, children;
    struct processes processes;
    struct jobs jobs;
    struct terminating terminating;
    bool terminated;    /* once is enough */
    uint64_t end_at_ns; /* 0: tasks may still run */
};

/* An answer that does not fit into the socket is lost: the record lacks it. */
static void __attribute__((format(printf, 3, 4)))
loop_answer(const struct loop *loop, uint64_t number, const char *format, ...)
{
    struct order_answer answer = {.number = number};
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(answer.text, sizeof answer.text, format, arguments);
    va_end(arguments);
    send(loop->socket, &answer, sizeof answer, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void loop_reached(const struct loop *loop, uint64_t number, const char *name, size_t reached)
{
    if (reached == 0) {
        loop_answer(loop, number, "%s: there was no process", name);
    } else {
        loop_answer(loop, number, "%s: to %zu process%s", name, reached, reached == 1 ? "" : "es");
    }
}

static void loop_signal(struct loop *loop, const struct order *order,
                        const struct threshold *threshold)
{
    char name[32];
    size_t reached =
        threshold->whole_step
            ? processes_signal_all(&loop->processes, threshold->signal, jobs_own, &loop->jobs)
            : processes_signal_tasks(&loop->processes, threshold->signal);

    snprintf(name, sizeof name, "SIG%s", action_signal_name(threshold->signal));
    loop_reached(loop, order->number, name, reached);
}

static void loop_terminate(struct loop *loop, const struct order *order)
{
    if (loop->terminated) {
        return;
    }
    loop->terminated = true;
    loop->terminating = (struct terminating){
        .kill_at_ns = clock_monotonic_ns() + loop->config->kill_wait_ns, .number = order->number};
    loop_reached(loop, order->number, "SIGTERM",
                 processes_signal_all(&loop->processes, SIGTERM, jobs_own, &loop->jobs));
}

static void loop_kill(struct loop *loop)
{
    size_t reached = processes_signal_all(&loop->processes, SIGKILL, jobs_own, &loop->jobs);

    if (reached > 0) {
        loop_reached(loop, loop->terminating.number, "SIGKILL", reached);
    }
    loop->terminating.kill_at_ns = 0;
}

static void loop_start(struct loop *loop, const struct order *order, bool prints, const char *text)
{
    const struct threshold *threshold = &loop->config->thresholds->thresholds[order->threshold];
    const struct crossed crossed = {threshold, &order->crossing, loop->config->node};
    const struct job job = {
        .number = order->number, .threshold = order->threshold, .prints = prints};
    struct crossed_variables variables;
    const struct job_launch launch = {
        .tasks = &loop->processes, .prints = prints, .text = text, .variables = variables.list};

    crossed_variables(&crossed, &variables);
    switch (jobs_start(&loop->jobs, &job, &launch)) {
    case JOBS_STARTED:
        break;
    case JOBS_STILL_RUNNING:
        loop_answer(loop, order->number, "%s: not again, as it still runs",
                    prints ? "log" : "exec");
        break;
    case JOBS_FAILED:
        loop_answer(loop, order->number, "%s: no process: %s", prints ? "log" : "exec",
                    strerror(errno));
    }
}

static void loop_log(struct loop *loop, const struct order *order,
                     const struct threshold *threshold)
{
    const struct crossed crossed = {threshold, &order->crossing, loop->config->node};
    char line[CROSSED_LINE_SIZE];

    crossed_line(&crossed, loop->config->said_by, line);
    if (loop->config->line_fd < 0) {
        loop_start(loop, order, true, line);
    } else if (write_all(loop->config->line_fd, line, strlen(line))) {
        loop_answer(loop, order->number, "log: %s", strerror(errno));
    }
}

/* What may wait comes last. */
static void loop_act(struct loop *loop, const struct order *order)
{
    const struct threshold *threshold = &loop->config->thresholds->thresholds[order->threshold];

    if (threshold->actions & THRESHOLD_SIGNAL) {
        loop_signal(loop, order, threshold);
    }
    if (threshold->actions & THRESHOLD_TERM) {
        loop_terminate(loop, order);
    }
    if (threshold->actions & THRESHOLD_EXEC) {
        loop_start(loop, order, false, threshold->command);
    }
    if (threshold->actions & THRESHOLD_LOG) {
        loop_log(loop, order, threshold);
    }
}

static void loop_obey(struct loop *loop)
{
    struct order order;
    ssize_t got = recv(loop->socket, &order, sizeof order, 0);

    if (got < 0 && errno == EINTR) {
        return;
    }
    if (got != (ssize_t)sizeof order || order.kind == ORDER_END) {
        loop->end_at_ns = clock_monotonic_ns() + GRACE_NS;
    } else if (order.kind == ORDER_TASK) {
        processes_add(&loop->processes, order.pid);
    } else if (order.threshold < loop->config->thresholds->count) {
        loop_act(loop, &order);
    }
}

/* A line that was printed is nothing to report, and a job that was killed at the end has a reason.
 */
static void loop_report(const struct loop *loop, const struct job *job, int status, bool killed)
{
    const char *name = job->prints ? "log" : "exec";
    /* its command is not the user's: that it was run is nothing to report */
    bool elsewhere = loop->config->thresholds->thresholds[job->threshold].elsewhere;

    if (killed && elsewhere) {
        return;
    }
    if (killed) {
        loop_answer(loop, job->number, "%s: ended with the program", name);
    } else if (WIFSIGNALED(status)) {
        loop_answer(loop, job->number, "%s: ended by signal %d", name, WTERMSIG(status));
    } else if (job->prints && WEXITSTATUS(status) == JOB_NOT_DONE) {
        loop_answer(loop, job->number, "log: its task, or its control group, cannot be joined");
    } else if (job->prints && WEXITSTATUS(status) != 0) {
        loop_answer(loop, job->number, "log: the standard error of the step does not take it");
    } else if (!job->prints && !(elsewhere && WEXITSTATUS(status) == 0)) {
        loop_answer(loop, job->number, "%s: exit status %d", elsewhere ? "not sent" : name,
                    WEXITSTATUS(status));
    }
}

static void loop_reap(struct loop *loop, bool killed)
{
    struct job ended;
    int status;

    while (jobs_reap(&loop->jobs, &ended, &status)) {
        loop_report(loop, &ended, status, killed && WIFSIGNALED(status));
    }
}

/* Until the next thing is due [ms]; -1: nothing is. */
static int loop_patience_ms(const struct loop *loop)
{
    uint64_t due_ns = loop->end_at_ns ? loop->end_at_ns : loop->terminating.kill_at_ns;
    uint64_t now_ns = clock_monotonic_ns();

    if (due_ns == 0) {
        return -1;
    }
    return due_ns > now_ns ? (int)((due_ns - now_ns) / MS_NS) + 1 : 0;
}

static void loop_wait(struct loop *loop)
{
    struct pollfd watched[] = {{.fd = loop->end_at_ns ? -1 : loop->socket, .events = POLLIN},
                               {.fd = loop->children, .events = POLLIN}};
    struct signalfd_siginfo info;
    int ready = poll(watched, 2, loop_patience_ms(loop));

    if (ready > 0 && watched[0].revents) {
        loop_obey(loop);
    }
    if (ready > 0 && watched[1].revents &&
        read(loop->children, &info, sizeof info) == (ssize_t)sizeof info) {
        loop_reap(loop, false);
    }
    if (loop->terminating.kill_at_ns && clock_monotonic_ns() >= loop->terminating.kill_at_ns) {
        loop_kill(loop);
    }
}

static void loop_finish(struct loop *loop)
{
    jobs_kill(&loop->jobs);
    while (jobs_run(&loop->jobs)) {
        struct pollfd ended = {.fd = loop->children, .events = POLLIN};
        struct signalfd_siginfo info;

        loop_reap(loop, true);
        if (jobs_run(&loop->jobs) && poll(&ended, 1, 100) > 0 &&
            read(loop->children, &info, sizeof info) < 0) {
            break;
        }
    }
    processes_clear(&loop->processes);
}

/* No signal ends the actor before its work is done: not that of a terminal either. */
static int loop_block_signals(void)
{
    sigset_t all, child;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    return signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
}

_Noreturn void actor_loop(int socket, const struct actor_config *config)
{
    static struct loop loop; /* large */

    if (config->settle) {
        config->settle();
    }
    loop = (struct loop){
        .config = config,
        .socket = socket,
        .children = loop_block_signals(),
        .processes = {.uid = config->uid, .parent = config->parent, .grouped = config->grouped},
        .jobs = {.launch = config->launch, .context = config->context}};
    while (loop.end_at_ns == 0 || (jobs_run(&loop.jobs) && clock_monotonic_ns() < loop.end_at_ns)) {
        loop_wait(&loop);
    }
    loop_finish(&loop);
    _exit(0);
}
