/* SPDX-License-Identifier: BSD-3-Clause */
#include "limit/actor.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/files.h"
#include "base/units.h"

#define END_LIMIT_NS UINT64_C(1000000000) /* for an actor that does not answer any more */
#define MS_NS UINT64_C(1000000)
#define GRACE_NS (100 * MS_NS) /* at the end, for commands that have just been started */
#define JOBS_MAX 128           /* at a time */

/* --- a crossing in words ---------------------------------------------------------------------- */

#define LINE_SIZE 512
#define VARIABLES 7

/* "apapi: n1: total >= 5kJ crossed at 12:31:07.125 with 5.000 kJ" and a newline. */
static void crossed_line(const struct apapi_crossing *crossing, const char *node,
                         const char *said_by, char line[LINE_SIZE])
{
    time_t seconds = (time_t)(crossing->unix_ns / NS_PER_S);
    char value[UNITS_SIZE], moment[16] = "", times[48] = "";
    struct tm local;

    localtime_r(&seconds, &local);
    strftime(moment, sizeof moment, "%H:%M:%S", &local);
    if (*crossing->unit) {
        units_quantity(value, sizeof value, crossing->value, crossing->unit);
    } else {
        snprintf(value, sizeof value, "%.6g", crossing->value);
    }
    if (crossing->count > 1) {
        snprintf(times, sizeof times, ", for the %" PRIu64 ". time", crossing->count);
    }
    snprintf(line, LINE_SIZE, "%s: %.64s: %.255s crossed at %s.%03d with %s%s\n", said_by, node,
             crossing->threshold, moment, (int)(crossing->unix_ns % NS_PER_S / 1000000), value,
             times);
}

/* Of a command, as for execve(). */
struct crossed_variables {
    char texts[VARIABLES][320];
    char *list[VARIABLES + 1];
};

static void crossed_variables(const struct limit *limit, const struct apapi_crossing *crossing,
                              const char *node, struct crossed_variables *variables)
{
    char value[32] = "", time[64];
    const char *const texts[VARIABLES][2] = {
        {"EVENT", limit->meter}, {"THRESHOLD", crossing->threshold},
        {"VALUE", value},        {"UNIT", crossing->unit},
        {"COUNT", NULL},         {"TIME", time},
        {"NODE", node}};

    if (!isnan(crossing->value)) {
        snprintf(value, sizeof value, "%.9g", crossing->value);
    }
    snprintf(time, sizeof time, "%" PRId64 ".%09" PRId64, crossing->unix_ns / NS_PER_S,
             crossing->unix_ns % NS_PER_S);
    for (size_t i = 0; i < VARIABLES; i++) {
        char count[24];

        snprintf(count, sizeof count, "%" PRIu64, crossing->count);
        snprintf(variables->texts[i], sizeof variables->texts[i], "APAPI_OVERFLOW_%s=%s",
                 texts[i][0], texts[i][1] ? texts[i][1] : count);
        variables->list[i] = variables->texts[i];
    }
    variables->list[VARIABLES] = NULL;
}

/* --- what an actor starts --------------------------------------------------------------------- */

enum job_kind { JOB_PRINT, JOB_EXEC, JOB_RUN };

/* A process that an actor has started and waits for. */
struct job {
    pid_t pid;       /* 0: free */
    uint64_t number; /* of the crossing */
    size_t limit;
    enum job_kind kind;
    int output; /* reads what it writes; -1: that is not wanted */
};

/* In the actor. Large. */
static struct {
    const struct actor_config *config;
    int socket, children;
    struct processes processes;
    struct job jobs[JOBS_MAX];
    uint64_t kill_at_ns;  /* SIGKILL follows SIGTERM then; 0: none was sent, or it has followed */
    uint64_t terminating; /* number of the crossing that has sent SIGTERM to all */
    bool terminated;      /* once is enough */
    uint64_t end_at_ns;   /* 0: tasks may still run */
} loop;

void shell_plug(int output)
{
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

    output = output < 0 ? nothing : output;
    if (dup2(output, STDERR_FILENO) < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0 ||
        dup2(nothing, STDIN_FILENO) < 0) {
        _exit(EXIT_FAILURE);
    }
#ifdef SYS_close_range
    if (syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 0U) == 0) {
        return;
    }
#endif
    for (int fd = STDERR_FILENO + 1; fd < sysconf(_SC_OPEN_MAX); fd++) {
        close(fd);
    }
}

void shell_become(const char *command, char *const *variables)
{
    for (; variables && *variables; variables++) {
        putenv(*variables);
    }
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
}

static bool jobs_run(void)
{
    for (size_t i = 0; i < JOBS_MAX; i++) {
        if (loop.jobs[i].pid) {
            return true;
        }
    }
    return false;
}

/* Whether a session was begun by one of the processes. This is a processes_spare_f. */
static bool jobs_own(pid_t session, const void *context)
{
    (void)context;
    for (size_t i = 0; i < JOBS_MAX; i++) {
        if (loop.jobs[i].pid == session && session != 0) {
            return true;
        }
    }
    return false;
}

static _Noreturn void job_become(const struct job_launch *launch)
{
    const struct sigaction plain = {.sa_handler = SIG_DFL};
    sigset_t none;

    setsid();
    for (int number = 1; number < NSIG; number++) {
        sigaction(number, &plain, NULL);
    }
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    loop.config->launch(launch, loop.config->context);
    _exit(127);
}

/* @return 0; -1 with errno EEXIST: the limit has one of this kind that still runs; of fork(). */
static int job_start(const struct job *wanted, struct job_launch *launch)
{
    int ends[2] = {-1, -1};
    struct job *slot = NULL;
    pid_t pid;

    for (size_t i = 0; i < JOBS_MAX; i++) {
        struct job *job = &loop.jobs[i];

        if (job->pid == 0) {
            slot = job;
        } else if (job->limit == wanted->limit && job->kind == wanted->kind &&
                   job->kind != JOB_RUN) {
            errno = EEXIST;
            return -1;
        }
    }
    errno = EAGAIN;
    if (!slot || (wanted->kind == JOB_RUN && loop.config->captures && pipe2(ends, O_CLOEXEC))) {
        return -1;
    }
    launch->output = ends[1];
    pid = fork();
    if (pid == 0) {
        job_become(launch);
    }
    if (ends[1] >= 0) {
        close(ends[1]);
        fcntl(ends[0], F_SETFL, O_NONBLOCK);
    }
    if (pid < 0) {
        if (ends[0] >= 0) {
            close(ends[0]);
        }
        return -1;
    }
    setpgid(pid, pid); /* it may not have begun its session yet when it has to be killed */
    *slot = *wanted;
    slot->pid = pid;
    slot->output = ends[0];
    return 0;
}

/* --- answers ---------------------------------------------------------------------------------- */

/* One that does not fit into the socket is lost: the record lacks it. */
static void send_answer(const struct order_answer *answer)
{
    send(loop.socket, answer, sizeof *answer, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void __attribute__((format(printf, 2, 3)))
answer_with(uint64_t number, const char *format, ...)
{
    struct order_answer answer = {.number = number};
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(answer.text, sizeof answer.text, format, arguments);
    va_end(arguments);
    send_answer(&answer);
}

static void answer_reached(uint64_t number, const char *name, size_t reached)
{
    if (reached == 0) {
        answer_with(number, "SIG%s: there was no process", name);
    } else {
        answer_with(number, "SIG%s: to %zu process%s", name, reached, reached == 1 ? "" : "es");
    }
}

/* What a command has written. */
static void answer_run(const struct job *job, int status)
{
    struct order_answer answer = {.number = job->number,
                                  .limit = job->limit,
                                  .ran = true,
                                  .status = WIFSIGNALED(status) ? 128 + WTERMSIG(status)
                                                                : WEXITSTATUS(status)};
    ssize_t got = job->output >= 0 ? read(job->output, answer.text, sizeof answer.text - 1) : 0;

    answer.text[got > 0 ? got : 0] = '\0';
    send_answer(&answer);
}

/* A line that was printed is nothing to report, and what was killed at the end has a reason. */
static void report_end(const struct job *job, int status, bool killed)
{
    const char *name = job->kind == JOB_PRINT ? "log" : "exec";
    bool prints = job->kind == JOB_PRINT;

    if (job->kind == JOB_RUN) {
        if (!killed) {
            answer_run(job, status);
        }
    } else if (killed) {
        answer_with(job->number, "%s: ended with the program", name);
    } else if (WIFSIGNALED(status)) {
        answer_with(job->number, "%s: ended by signal %d", name, WTERMSIG(status));
    } else if (prints && WEXITSTATUS(status) == JOB_NOT_DONE) {
        answer_with(job->number, "log: its task, or its control group, cannot be joined");
    } else if (prints && WEXITSTATUS(status) != 0) {
        answer_with(job->number, "log: the standard error of the step does not take it");
    } else if (!prints) {
        answer_with(job->number, "exec: exit status %d", WEXITSTATUS(status));
    }
}

static void reap(bool killed)
{
    int status;

    for (size_t i = 0; i < JOBS_MAX; i++) {
        struct job *job = &loop.jobs[i];

        if (job->pid && waitpid(job->pid, &status, WNOHANG) == job->pid) {
            job->pid = 0;
            report_end(job, status, killed && WIFSIGNALED(status));
            if (job->output >= 0) {
                close(job->output);
            }
        }
    }
}

/* --- acting ----------------------------------------------------------------------------------- */

static void act_start(const struct order *order, enum job_kind kind, const char *text)
{
    const struct job job = {.number = order->number, .limit = order->limit, .kind = kind};
    const char *name = kind == JOB_PRINT ? "log" : "exec";
    struct crossed_variables variables;
    struct job_launch launch = {.tasks = &loop.processes,
                                .prints = kind == JOB_PRINT,
                                .text = text,
                                .variables = loop.config->variables};

    if (kind != JOB_RUN) {
        crossed_variables(&loop.config->limits->limits[order->limit], &order->crossing,
                          loop.config->node, &variables);
        launch.variables = variables.list;
    }
    if (job_start(&job, &launch) == 0) {
        return;
    }
    if (errno == EEXIST) {
        answer_with(order->number, "%s: not again, as it still runs", name);
    } else if (kind == JOB_RUN) {
        struct order_answer answer = {
            .number = order->number, .limit = order->limit, .ran = true, .status = 127};

        snprintf(answer.text, sizeof answer.text, "no process: %s", strerror(errno));
        send_answer(&answer);
    } else {
        answer_with(order->number, "%s: no process: %s", name, strerror(errno));
    }
}

static void act_signal(const struct order *order, const struct limit *limit)
{
    answer_reached(order->number, limit_signal_name(limit->signal),
                   limit->whole_step
                       ? processes_signal_all(&loop.processes, limit->signal, jobs_own, NULL)
                       : processes_signal_tasks(&loop.processes, limit->signal));
}

static void act_terminate(const struct order *order)
{
    if (!loop.terminated) {
        loop.terminated = true;
        loop.kill_at_ns = clock_monotonic_ns() + loop.config->kill_wait_ns;
        loop.terminating = order->number;
        answer_reached(order->number, "TERM",
                       processes_signal_all(&loop.processes, SIGTERM, jobs_own, NULL));
    }
}

static void act_kill(void)
{
    size_t reached = processes_signal_all(&loop.processes, SIGKILL, jobs_own, NULL);

    if (reached > 0) {
        answer_reached(loop.terminating, "KILL", reached);
    }
    loop.kill_at_ns = 0;
}

static void act_log(const struct order *order)
{
    char line[LINE_SIZE];

    crossed_line(&order->crossing, loop.config->node, loop.config->said_by, line);
    if (loop.config->line_fd < 0) {
        act_start(order, JOB_PRINT, line);
    } else if (write_all(loop.config->line_fd, line, strlen(line))) {
        answer_with(order->number, "log: %s", strerror(errno));
    }
}

/* What may wait comes last. Whatever happens at a job's budget, there is a line. */
static void act(const struct order *order)
{
    const struct limit *limit = &loop.config->limits->limits[order->limit];

    if ((limit->actions & LIMIT_SIGNAL) && limit->scope == LIMIT_NODE) {
        act_signal(order, limit);
    }
    if ((limit->actions & LIMIT_TERM) && limit->scope == LIMIT_NODE) {
        act_terminate(order);
    }
    if (limit->actions & LIMIT_EXEC) {
        act_start(order, JOB_EXEC, limit->command);
    }
    if (loop.config->said_by && ((limit->actions & LIMIT_LOG) || limit->budget)) {
        act_log(order);
    }
}

static void obey(void)
{
    static struct order order; /* large */
    ssize_t got = recv(loop.socket, &order, sizeof order, 0);

    if (got < 0 && errno == EINTR) {
        return;
    }
    if (got != (ssize_t)sizeof order || order.kind == ORDER_END) {
        loop.end_at_ns =
            clock_monotonic_ns() + (loop.config->grace_ns ? loop.config->grace_ns : GRACE_NS);
    } else if (order.kind == ORDER_TASK) {
        processes_add(&loop.processes, order.pid);
    } else if (order.kind == ORDER_RUN) {
        act_start(&order, JOB_RUN, order.command);
    } else if (order.limit < loop.config->limits->count) {
        act(&order);
    }
}

/* --- the actor's process ---------------------------------------------------------------------- */

/* Until the next thing is due [ms]; -1: nothing is. */
static int patience_ms(void)
{
    uint64_t due_ns = loop.end_at_ns ? loop.end_at_ns : loop.kill_at_ns;
    uint64_t now_ns = clock_monotonic_ns();

    if (due_ns == 0) {
        return -1;
    }
    return due_ns > now_ns ? (int)((due_ns - now_ns) / MS_NS) + 1 : 0;
}

static void wait_and_work(void)
{
    struct pollfd watched[] = {{.fd = loop.end_at_ns ? -1 : loop.socket, .events = POLLIN},
                               {.fd = loop.children, .events = POLLIN}};
    struct signalfd_siginfo info;
    int ready = poll(watched, 2, patience_ms());

    if (ready > 0 && watched[0].revents) {
        obey();
    }
    if (ready > 0 && watched[1].revents &&
        read(loop.children, &info, sizeof info) == (ssize_t)sizeof info) {
        reap(false);
    }
    if (loop.kill_at_ns && clock_monotonic_ns() >= loop.kill_at_ns) {
        act_kill();
    }
}

/* Leaders that have not been reaped: no other group can have their numbers. */
static void finish(void)
{
    for (size_t i = 0; i < JOBS_MAX; i++) {
        if (loop.jobs[i].pid) {
            kill(-loop.jobs[i].pid, SIGKILL);
            kill(loop.jobs[i].pid, SIGKILL);
        }
    }
    while (jobs_run()) {
        struct pollfd ended = {.fd = loop.children, .events = POLLIN};
        struct signalfd_siginfo info;

        reap(true);
        if (jobs_run() && poll(&ended, 1, 100) > 0 && read(loop.children, &info, sizeof info) < 0) {
            break;
        }
    }
    processes_clear(&loop.processes);
}

/* No signal ends the actor before its work is done: not that of a terminal either. */
static _Noreturn void actor_loop(int socket, const struct actor_config *config)
{
    sigset_t all, child;

    if (config->settle) {
        config->settle();
    }
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    loop.config = config;
    loop.socket = socket;
    loop.children = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    loop.processes = (struct processes){
        .uid = config->uid, .parent = config->parent, .grouped = config->grouped};
    while (loop.end_at_ns == 0 || (jobs_run() && clock_monotonic_ns() < loop.end_at_ns)) {
        wait_and_work();
    }
    finish();
    _exit(0);
}

/* --- who gives orders ------------------------------------------------------------------------- */

int actor_start(struct actor *actor, const struct actor_config *config, struct apapi_error *err)
{
    int pair[2];
    pid_t pid;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) {
        return apapi_fail(err, errno, "no socket: %s", strerror(errno));
    }
    pid = fork();
    if (pid == 0) {
        close(pair[0]);
        actor_loop(pair[1], config);
    }
    close(pair[1]);
    if (pid < 0) {
        int code = errno;

        close(pair[0]);
        return apapi_fail(err, code, "no process: %s", strerror(code));
    }
    fcntl(pair[0], F_SETFL, O_NONBLOCK);
    *actor = (struct actor){.fd = pair[0], .pid = pid};
    return 0;
}

int actor_order(const struct actor *actor, const struct order *order)
{
    ssize_t sent = send(actor->fd, order, sizeof *order, MSG_NOSIGNAL | MSG_DONTWAIT);

    return sent == (ssize_t)sizeof *order ? 0 : -1;
}

bool actor_hear(const struct actor *actor, struct order_answer *answer)
{
    return actor->fd >= 0 &&
           recv(actor->fd, answer, sizeof *answer, MSG_DONTWAIT) == (ssize_t)sizeof *answer;
}

void actor_end(struct actor *actor, void (*hear)(const struct order_answer *answer, void *context),
               void *context)
{
    static const struct order end = {.kind = ORDER_END};
    uint64_t deadline_ns = clock_monotonic_ns() + END_LIMIT_NS, now_ns;
    struct pollfd heard = {.fd = actor->fd, .events = POLLIN};
    struct order_answer answer;

    if (actor->fd < 0) {
        return;
    }
    if (actor_order(actor, &end)) {
        shutdown(actor->fd, SHUT_WR);
    }
    while ((now_ns = clock_monotonic_ns()) < deadline_ns) { /* up to the end of file */
        if (poll(&heard, 1, (int)((deadline_ns - now_ns) / MS_NS) + 1) <= 0) {
            continue; /* the deadline, or a signal */
        }
        if (recv(actor->fd, &answer, sizeof answer, MSG_DONTWAIT) != (ssize_t)sizeof answer) {
            break;
        }
        hear(&answer, context);
    }
    close(actor->fd);
    kill(actor->pid, SIGKILL);
    waitpid(actor->pid, NULL, 0);
    *actor = ACTOR_NONE;
}
