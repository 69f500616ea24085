/* SPDX-License-Identifier: BSD-3-Clause */
#include "limit/actor.h"

#include <ctype.h>
#include <dirent.h>
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

#include "base/array.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/units.h"

#define END_LIMIT_NS UINT64_C(1000000000) /* for an actor that does not answer any more */
#define GRACE_NS (NS_PER_S / 10)          /* at the end, for commands that have just been started */
#define KILL_WAIT_MAX_S 3600
#define KILL_WAIT_COMMAND /* prints KillWait of Slurm, "30 sec", or an empty line */               \
    "; echo \"$(scontrol show config | sed -n 's/^KillWait *= *//p')\""
#define JOBS_MAX 128 /* at a time */
#define EXITING 0x4U /* PF_EXITING of the kernel */

/* --- processes -------------------------------------------------------------------------------- */

size_t process_stat_text(pid_t pid, const char *name, char *text, size_t size)
{
    char path[64];
    size_t length = 0;
    ssize_t got = 1;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && got > 0 && length + 1 < size) {
        got = read(fd, text + length, size - 1 - length);
        length += got > 0 ? (size_t)got : 0;
    }
    folder_close(fd);
    text[length] = '\0';
    return length;
}

/* The name, in parentheses, may have any characters. @return 0; -1 with errno ESRCH */
static int process_read(pid_t pid, struct process *process)
{
    char text[1024];
    const char *behind;
    unsigned flags;
    char state;

    *process = (struct process){.pid = pid, .fd = -1};
    behind = process_stat_text(pid, "stat", text, sizeof text) ? strrchr(text, ')') : NULL;
    if (!behind ||
        sscanf(behind,
               ") %c %d %*d %d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d "
               "%" SCNu64,
               &state, &process->parent, &process->session, &flags, &process->started) != 5) {
        errno = ESRCH;
        return -1;
    }
    process->ended = state == 'Z' || (flags & EXITING);
    return 0;
}

/* @return a pidfd, close-on-exec; -1 with errno ESRCH, or ENOSYS: the kernel has none */
static int process_pidfd(pid_t pid)
{
#ifdef SYS_pidfd_open
    return (int)syscall(SYS_pidfd_open, pid, 0);
#else
    (void)pid;
    errno = ENOSYS;
    return -1;
#endif
}

/* By pidfd, or by number if it has none. */
static int process_signal(const struct process *process, int signal)
{
#ifdef SYS_pidfd_send_signal
    if (process->fd >= 0) {
        return (int)syscall(SYS_pidfd_send_signal, process->fd, signal, NULL, 0);
    }
#endif
    return kill(process->pid, signal);
}

/* Its number is not in use again as long as its pidfd reaches it. */
bool process_lives(const struct process *process)
{
    struct process now;

    return process_read(process->pid, &now) == 0 && now.started == process->started && !now.ended &&
           !(process->fd >= 0 && process_signal(process, 0) && errno == ESRCH);
}

/* Hold the process before looking at it: what is seen then is of no later one. */
int processes_add(struct processes *processes, pid_t pid)
{
    struct process task;
    int fd;

    if (array_add(&processes->tasks, processes->count, &processes->capacity,
                  sizeof *processes->tasks)) {
        return -1;
    }
    fd = process_pidfd(pid);
    if ((fd < 0 && errno == ESRCH) || process_read(pid, &task) ||
        task.parent != processes->parent) {
        folder_close(fd);
        errno = ESRCH;
        return -1;
    }
    task.fd = fd;
    processes->tasks[processes->count++] = task;
    return 0;
}

const struct process *processes_any(const struct processes *processes)
{
    for (size_t i = 0; i < processes->count; i++) {
        if (process_lives(&processes->tasks[i])) {
            return &processes->tasks[i];
        }
    }
    return NULL;
}

/* Whether it runs for this real user, whose processes alone get signals. */
static bool process_is_of(pid_t pid, uid_t uid)
{
    char text[4096];
    const char *line =
        process_stat_text(pid, "status", text, sizeof text) ? strstr(text, "\nUid:") : NULL;

    return line && strtoul(line + strlen("\nUid:"), NULL, 10) == uid;
}

static bool processes_signal_one(const struct processes *processes, const struct process *one,
                                 int signal)
{
    return process_lives(one) && process_is_of(one->pid, processes->uid) &&
           process_signal(one, signal) == 0;
}

/* --- what the tasks have started -------------------------------------------------------------- */

/* The step's own part of "0::/slurm/job_7/step_0/user/task_0": without Slurm's own processes. */
static void processes_find_group(struct processes *processes)
{
    static const char *const leaves[] = {"/user", "/task_"};
    const struct process *task = processes_any(processes);
    char text[4096];
    const char *step;

    if (processes->group[0] || !processes->grouped || !task ||
        !process_stat_text(task->pid, "cgroup", text, sizeof text) || !process_lives(task)) {
        return;
    }
    step = strstr(text, "/job_");
    step = step ? strstr(step, "/step_") : NULL;
    for (size_t i = 0; step && i < COUNT_OF(leaves); i++) {
        const char *leaf = step + strcspn(step + 1, "/\n") + 1, *from = step;

        if (strncmp(leaf, leaves[i], strlen(leaves[i])) == 0) {
            while (from > text && *from != ':') {
                from--;
            }
            snprintf(processes->group, sizeof processes->group, "%.*s%s", (int)(leaf - from), from,
                     leaves[i]);
        }
    }
}

/* A task, or of the step's control group. */
static bool processes_has(const struct processes *processes, const struct process *one)
{
    char text[4096];

    for (size_t i = 0; i < processes->count; i++) {
        if (processes->tasks[i].pid == one->pid && processes->tasks[i].started == one->started) {
            return true;
        }
    }
    return processes->group[0] && process_stat_text(one->pid, "cgroup", text, sizeof text) &&
           strstr(text, processes->group);
}

/* All processes of the machine. @param all  result, to be freed. @return their number */
static size_t processes_look(const struct processes *processes, struct process **all)
{
    DIR *folder = opendir("/proc");
    size_t count = 0, capacity = 0;
    const struct dirent *entry;

    while (folder && (entry = readdir(folder))) {
        struct process one;

        if (isdigit((unsigned char)entry->d_name[0]) &&
            process_read((pid_t)strtol(entry->d_name, NULL, 10), &one) == 0 &&
            array_add(all, count, &capacity, sizeof **all) == 0) {
            one.ours = processes_has(processes, &one);
            (*all)[count++] = one;
        }
    }
    if (folder) {
        closedir(folder);
    }
    for (bool more = true; more;) { /* a child may be listed before its parent */
        more = false;
        for (size_t i = 0; i < count; i++) {
            for (size_t k = 0; k < count && !(*all)[i].ours; k++) {
                more |= (*all)[i].ours = (*all)[k].ours && (*all)[k].pid == (*all)[i].parent;
            }
        }
    }
    return count;
}

void processes_clear(struct processes *processes)
{
    for (size_t i = 0; i < processes->count; i++) {
        folder_close(processes->tasks[i].fd);
    }
    free(processes->tasks);
    processes->tasks = NULL;
    processes->count = processes->capacity = 0;
}

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
        strcpy(value, units_quantity(crossing->value, crossing->unit).text);
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
    char value[32] = "", time[64], count[24];
    const char *const texts[VARIABLES][2] = {
        {"EVENT", limit->meter}, {"THRESHOLD", crossing->threshold},
        {"VALUE", value},        {"UNIT", crossing->unit},
        {"COUNT", count},        {"TIME", time},
        {"NODE", node}};

    if (!isnan(crossing->value)) {
        snprintf(value, sizeof value, "%.9g", crossing->value);
    }
    snprintf(time, sizeof time, "%" PRId64 ".%09" PRId64, crossing->unix_ns / NS_PER_S,
             crossing->unix_ns % NS_PER_S);
    snprintf(count, sizeof count, "%" PRIu64, crossing->count);
    for (size_t i = 0; i < VARIABLES; i++) {
        snprintf(variables->texts[i], sizeof variables->texts[i], "APAPI_OVERFLOW_%s=%s",
                 texts[i][0], texts[i][1]);
        variables->list[i] = variables->texts[i];
    }
    variables->list[VARIABLES] = NULL;
}

/* --- what an actor starts --------------------------------------------------------------------- */

enum job_kind { JOB_PRINT, JOB_EXEC, JOB_RUN, JOB_TERM /* has sent SIGTERM to a step */ };

/* A process that an actor has started and waits for. */
struct job {
    pid_t pid; /* 0: free */
    enum job_kind kind;
    int output; /* reads what it writes; -1: that is not wanted */
    struct order_answer answer;
};

/* In the actor. Large. */
static struct {
    const struct actor_config *config;
    int socket, children;
    struct processes processes;
    char path[3 * PATH_MAX], conf[PATH_MAX + 16];
    char *variables[3]; /* of Slurm's commands */
    struct job jobs[JOBS_MAX];
    size_t running;      /* of them */
    uint64_t kill_at_ns; /* SIGKILL follows SIGTERM then; 0: none was sent, or it has followed */
    struct order terminating; /* has sent SIGTERM to all */
    bool terminated;          /* once is enough */
    uint64_t end_at_ns;       /* 0: tasks may still run */
} loop;

void shell_plug(int output)
{
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

    output = output < 0 ? nothing : output;
    if (dup2(output, STDERR_FILENO) < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0 ||
        dup2(nothing, STDIN_FILENO) < 0) {
        _exit(EXIT_FAILURE);
    }
    files_close_from(STDERR_FILENO + 1);
}

void shell_become(const char *command, char *const *variables)
{
    for (; variables && *variables; variables++) {
        putenv(*variables);
    }
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
}

/* Whether a session was begun by one of the processes. */
static bool jobs_own(pid_t session)
{
    for (size_t i = 0; i < JOBS_MAX; i++) {
        if (loop.jobs[i].pid == session && session != 0) {
            return true;
        }
    }
    return false;
}

/* To the tasks and all that they have started and that can be found, but to no job. */
static size_t processes_signal_all(struct processes *processes, int signal)
{
    struct process *all = NULL;
    size_t reached = 0, count;

    processes_find_group(processes);
    count = processes_look(processes, &all);
    for (struct process *one = all; one < all + count; one++) {
        if (one->ours && one->pid != processes->parent && one->pid != getpid() &&
            !jobs_own(one->session)) {
            one->fd = process_pidfd(one->pid);
            reached += processes_signal_one(processes, one, signal);
            folder_close(one->fd);
        }
    }
    free(all);
    return reached;
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
        } else if (job->answer.limit == wanted->answer.limit && job->kind == wanted->kind &&
                   job->kind < JOB_RUN) {
            errno = EEXIST;
            return -1;
        }
    }
    errno = EAGAIN;
    if (!slot || (wanted->kind >= JOB_RUN && loop.config->captures && pipe2(ends, O_CLOEXEC))) {
        return -1;
    }
    launch->output = ends[1];
    pid = fork();
    if (pid == 0) {
        job_become(launch);
    }
    folder_close(ends[1]);
    if (pid < 0) {
        folder_close(ends[0]);
        return -1;
    }
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    setpgid(pid, pid); /* it may not have begun its session yet when it has to be killed */
    *slot = *wanted;
    slot->pid = pid;
    slot->output = ends[0];
    loop.running++;
    return 0;
}

/* --- answers ---------------------------------------------------------------------------------- */

/* One that does not fit into the socket is lost: the record lacks it. */
static void __attribute__((format(printf, 2, 3)))
send_answer(struct order_answer answer, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(answer.text, sizeof answer.text, format, arguments);
    va_end(arguments);
    send(loop.socket, &answer, sizeof answer, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void answer_reached(struct order_answer answer, const char *name, size_t reached)
{
    if (reached == 0) {
        send_answer(answer, "SIG%s: there was no process", name);
    } else {
        send_answer(answer, "SIG%s: to %zu process%s", name, reached, reached == 1 ? "" : "es");
    }
}

/* SIGKILL follows SIGTERM to a step after KillWait of Slurm, "30 sec". */
static void report_run(struct job *job, int status)
{
    char text[sizeof job->answer.text] = "";
    unsigned long seconds;

    if (job->output >= 0 && read(job->output, text, sizeof text - 1) < 0) {
        text[0] = '\0';
    }
    job->answer.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    send_answer(job->answer, "%s", text);
    if (job->kind == JOB_TERM && job->answer.status == 0) {
        seconds = strtoul(text, NULL, 10);
        seconds = seconds > 0 && seconds <= KILL_WAIT_MAX_S ? seconds : KILL_WAIT_S;
        loop.kill_at_ns = clock_monotonic_ns() + seconds * NS_PER_S;
    }
}

/* A line that was printed is nothing to report, and what was killed at the end has a reason. */
static void report_end(struct job *job, int status, bool killed)
{
    const char *name = job->kind == JOB_PRINT ? "log" : "exec";

    if (job->kind >= JOB_RUN) {
        if (!killed) {
            report_run(job, status);
        }
    } else if (killed) {
        send_answer(job->answer, "%s: ended with the program", name);
    } else if (WIFSIGNALED(status)) {
        send_answer(job->answer, "%s: ended by signal %d", name, WTERMSIG(status));
    } else if (job->kind == JOB_EXEC) {
        send_answer(job->answer, "exec: exit status %d", WEXITSTATUS(status));
    } else if (WEXITSTATUS(status) != 0) {
        send_answer(job->answer, "log: %s",
                    WEXITSTATUS(status) == JOB_NOT_DONE
                        ? "its task, or its control group, cannot be joined"
                        : "the standard error of the step does not take it");
    }
}

static void reap(bool killed)
{
    int status;

    for (size_t i = 0; i < JOBS_MAX; i++) {
        struct job *job = &loop.jobs[i];

        if (job->pid && waitpid(job->pid, &status, WNOHANG) == job->pid) {
            job->pid = 0;
            loop.running--;
            report_end(job, status, killed && WIFSIGNALED(status));
            folder_close(job->output);
        }
    }
}

/* --- acting ----------------------------------------------------------------------------------- */

static struct order_answer answer_to(const struct order *order)
{
    return (struct order_answer){.number = order->number, .limit = order->limit};
}

static void act_start(const struct order *order, enum job_kind kind, const char *text)
{
    struct job job = {.kind = kind, .answer = answer_to(order)};
    const char *name = kind == JOB_PRINT ? "log: " : kind == JOB_EXEC ? "exec: " : "";
    struct crossed_variables variables;
    struct job_launch launch = {.tasks = &loop.processes,
                                .prints = kind == JOB_PRINT,
                                .text = text,
                                .variables = loop.variables};

    job.answer.ran = kind >= JOB_RUN;
    if (kind < JOB_RUN) {
        crossed_variables(&loop.config->limits->limits[order->limit], &order->crossing,
                          loop.config->node, &variables);
        launch.variables = variables.list;
    }
    if (job_start(&job, &launch) == 0) {
        return;
    }
    job.answer.status = 127;
    if (errno == EEXIST) {
        send_answer(job.answer, "%snot again, as it still runs", name);
    } else {
        send_answer(job.answer, "%sno process: %s", name, strerror(errno));
    }
}

static void act_log(const struct order *order)
{
    char line[LINE_SIZE];

    crossed_line(&order->crossing, loop.config->node, loop.config->said_by, line);
    if (loop.config->line_fd < 0) {
        act_start(order, JOB_PRINT, line);
    } else if (write_all(loop.config->line_fd, line, strlen(line))) {
        send_answer(answer_to(order), "log: %s", strerror(errno));
    }
}

/* The controller may be away: it is tried ten times, every 2 s. */
static void act_cancel(const struct order *order, enum job_kind kind, const char *options,
                       const char *whom)
{
    char command[2 * LIMIT_COMMAND_SIZE];

    snprintf(command, sizeof command,
             "i=0; until out=$(scancel --quiet%s%s 2>&1); do i=$((i + 1)); "
             "[ $i -lt 10 ] || { echo \"$out\"; exit 1; }; sleep 2; done%s",
             options, whom, kind == JOB_TERM ? KILL_WAIT_COMMAND : "");
    act_start(order, kind, command);
}

/* Signals go to all that the limit is for. SIGTERM ends a job; of a step SIGKILL has to follow. */
static void act_on_steps(const struct order *order)
{
    char job[24], options[48];

    snprintf(job, sizeof job, " %" PRIu32, order->job);
    if (order->signal) {
        snprintf(options, sizeof options, "%s --signal=%s", order->script ? " --full" : "",
                 limit_signal_name(order->signal));
        act_cancel(order, JOB_RUN, options, order->whole_job ? job : order->text);
    }
    if (order->term && order->whole_job) {
        act_cancel(order, JOB_RUN, "", job);
    } else if (order->term) {
        loop.terminating = *order;
        act_cancel(order, JOB_TERM, " --signal=TERM", order->text);
    }
}

/* Actions that may wait come last. Whatever happens at a job's budget, there is a line. */
static void act(const struct order *order)
{
    const struct limit *limit = &loop.config->limits->limits[order->limit];
    struct processes *tasks = &loop.processes;

    if ((limit->actions & LIMIT_SIGNAL) && limit->scope == LIMIT_NODE) {
        size_t reached = limit->whole_step ? processes_signal_all(tasks, limit->signal) : 0;

        for (size_t i = 0; !limit->whole_step && i < tasks->count; i++) {
            reached += processes_signal_one(tasks, &tasks->tasks[i], limit->signal);
        }
        answer_reached(answer_to(order), limit_signal_name(limit->signal), reached);
    }
    if ((limit->actions & LIMIT_TERM) && limit->scope == LIMIT_NODE && !loop.terminated) {
        loop.terminated = true;
        loop.kill_at_ns = clock_monotonic_ns() + loop.config->kill_wait_ns;
        loop.terminating = *order;
        answer_reached(answer_to(order), "TERM", processes_signal_all(tasks, SIGTERM));
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
        act_start(&order, JOB_RUN, order.text);
    } else {
        if (order.job) {
            act_on_steps(&order);
        }
        if (order.limit < loop.config->limits->count) {
            act(&order);
        }
    }
}

/* SIGTERM was not enough. */
static void act_kill(void)
{
    const struct order *order = &loop.terminating;
    size_t reached;

    if (order->job) {
        act_cancel(order, JOB_RUN, " --signal=KILL", order->text);
    } else if ((reached = processes_signal_all(&loop.processes, SIGKILL)) > 0) {
        answer_reached(answer_to(order), "KILL", reached);
    }
}

/* --- the actor's process ---------------------------------------------------------------------- */

static void wait_and_work(void)
{
    struct pollfd watched[] = {{.fd = loop.end_at_ns ? -1 : loop.socket, .events = POLLIN},
                               {.fd = loop.children, .events = POLLIN}};
    struct signalfd_siginfo info;
    uint64_t due_ns = loop.end_at_ns ? loop.end_at_ns : loop.kill_at_ns;
    int ready = poll(watched, 2, due_ns ? clock_left_ms(due_ns) : -1);

    if (ready > 0 && watched[0].revents) {
        obey();
    }
    if (ready > 0 && watched[1].revents &&
        read(loop.children, &info, sizeof info) == (ssize_t)sizeof info) {
        reap(false);
    }
    if (loop.kill_at_ns && clock_monotonic_ns() >= loop.kill_at_ns) {
        loop.kill_at_ns = 0;
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
    while (loop.running > 0) {
        struct pollfd ended = {.fd = loop.children, .events = POLLIN};
        struct signalfd_siginfo info;

        reap(true);
        if (loop.running > 0 && poll(&ended, 1, 100) > 0 &&
            read(loop.children, &info, sizeof info) < 0) {
            break;
        }
    }
    processes_clear(&loop.processes);
}

/* Slurm's commands lie beside its daemons and srun, or in bin beside their sbin. */
static void find_slurm(const struct actor_config *config)
{
    size_t count = 0;

    if (config->slurm_bin && *config->slurm_bin) {
        snprintf(loop.path, sizeof loop.path, "PATH=%s:%s/../bin:/usr/local/bin:/usr/bin:/bin",
                 config->slurm_bin, config->slurm_bin);
        loop.variables[count++] = loop.path;
    }
    if (config->slurm_conf && *config->slurm_conf) {
        snprintf(loop.conf, sizeof loop.conf, "SLURM_CONF=%s", config->slurm_conf);
        loop.variables[count++] = loop.conf;
    }
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
    find_slurm(config);
    loop.config = config;
    loop.socket = socket;
    loop.children = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    loop.processes = (struct processes){
        .uid = config->uid, .parent = config->parent, .grouped = config->grouped};
    while (loop.end_at_ns == 0 || (loop.running > 0 && clock_monotonic_ns() < loop.end_at_ns)) {
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
    folder_close(pair[1]);
    if (pid < 0) {
        folder_close(pair[0]);
        return apapi_fail(err, errno, "no process: %s", strerror(errno));
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
    uint64_t deadline_ns = clock_monotonic_ns() + END_LIMIT_NS;
    int left_ms;
    struct pollfd heard = {.fd = actor->fd, .events = POLLIN};
    struct order_answer answer;

    if (actor->fd < 0) {
        return;
    }
    if (actor_order(actor, &end)) {
        shutdown(actor->fd, SHUT_WR);
    }
    while ((left_ms = clock_left_ms(deadline_ns)) > 0) { /* up to the end of file */
        if (poll(&heard, 1, left_ms) <= 0) {
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
