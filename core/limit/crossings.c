/* SPDX-License-Identifier: BSD-3-Clause */
#include "limit/crossings.h"

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
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/text.h"
#include "base/units.h"

#define HALF (APAPI_CROSSINGS_MAX / 2)
#define LATE_NS (2 * NS_PER_S)            /* scancel is late: its first attempt has failed */
#define END_LIMIT_NS UINT64_C(1000000000) /* longest wait for an actor that no longer answers */
#define GRACE_NS (NS_PER_S / 10)          /* at the end, for commands that have just been started */
#define KILL_WAIT                         /* sleep for Slurm's KillWait, "30 sec" */               \
    "sleep \"$(scontrol show config | sed -n 's/^KillWait *= *\\([1-9][0-9]*\\).*/\\1/p' |"        \
    " grep . || echo 30)\"; "
#define ORDER_PATIENCE_MS 100        /* longest wait of a signal's order for a busy actor */
#define OWN_JOBS_MAX 128             /* lines and users' commands at a time */
#define JOBS_MAX (OWN_JOBS_MAX + 16) /* these and Slurm's commands at a time */
#define EARLY_MAX 8

/** An order to the actor. */
struct order {
    enum {
        ORDER_TASK,    /* there is one more task: `pid` */
        ORDER_FORGET,  /* a run has ended: forget its tasks; answered when its orders were taken */
        ORDER_CROSSED, /* a limit was crossed: carry out its actions */
        ORDER_RUN,     /* run `reach.steps` as a command, and answer with its end */
        ORDER_END      /* no task runs any more */
    } kind;
    pid_t pid;
    struct order_answer answer;     /* to be completed; its limit may be newer than the actor */
    struct apapi_crossing crossing; /* without `result` */
    unsigned actions;
    int signal; /* for LIMIT_SIGNAL */
    bool whole_job;
    struct reach reach; /* `job` 0: a node's limit, or too late for signals */
};

/* --- what an actor starts --------------------------------------------------------------------- */

/* A line to print; the user's command; Slurm's commands: any, SIGTERM and SIGKILL to a step. */
enum job_kind { JOB_PRINT, JOB_EXEC, JOB_RUN, JOB_TERM, JOB_KILL };

static const char *const job_names[] = {"log: ", "exec: ", "", "", ""};

/* A process that an actor has started and waits for. */
struct job {
    pid_t pid; /* 0: free */
    enum job_kind kind;
    int output; /* read end of the pipe for its output; -1: not captured */
    struct order_answer answer;
};

/* State of the actor's process; static, because it is large. */
static struct {
    const struct actor_config *config;
    const struct limit_list *limits;
    int socket, children;
    struct processes processes;
    struct order early[EARLY_MAX]; /* orders for tasks, from before the first task */
    size_t early_count;
    struct job jobs[JOBS_MAX];
    size_t running;           /* jobs that run */
    struct order terminating; /* the order whose action term has sent SIGTERM */
    bool terminated;          /* SIGTERM went to tasks: once is enough */
    uint64_t kill_at_ns;      /* when SIGKILL follows; 0: no SIGTERM was sent, or SIGKILL was */
    uint64_t end_at_ns;       /* when the actor ends; 0: tasks may still run */
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

void shell_become(const char *command)
{
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
}

/* @return whether one of the actor's jobs leads the session: its processes get no signals. */
static bool jobs_own(pid_t session)
{
    for (size_t i = 0; i < JOBS_MAX; i++) {
        if (loop.jobs[i].pid == session && session != 0) {
            return true;
        }
    }
    return false;
}

/* Set the environment of a command that runs because a limit was crossed. */
static void job_set_variables(const struct order *order)
{
    const struct apapi_crossing *crossing = &order->crossing;
    int64_t unix_ns = crossing->unix_ns;
    const struct units_text value = units_part(!isnan(crossing->value), "%.9g", crossing->value);
    const struct units_text count = units_part(true, "%" PRIu64, crossing->count);
    const struct units_text time =
        units_part(true, "%" PRId64 ".%09" PRId64, unix_ns / NS_PER_S, unix_ns % NS_PER_S);
    const char *const variables[][2] = {
        {"APAPI_OVERFLOW_EVENT", loop.limits->limits[order->answer.limit].meter},
        {"APAPI_OVERFLOW_THRESHOLD", crossing->threshold},
        {"APAPI_OVERFLOW_VALUE", value.text},
        {"APAPI_OVERFLOW_UNIT", crossing->unit},
        {"APAPI_OVERFLOW_COUNT", count.text},
        {"APAPI_OVERFLOW_TIME", time.text},
        {"APAPI_OVERFLOW_NODE", loop.config->node}};

    for (size_t i = 0; i < COUNT_OF(variables); i++) {
        setenv(variables[i][0], variables[i][1], 1);
    }
}

/* Slurm's commands lie beside its daemons and srun, or in bin beside their sbin. */
static void job_find_slurm(void)
{
    const char *bin = loop.config->slurm_bin, *conf = loop.config->slurm_conf;
    char path[3 * PATH_MAX];

    snprintf(path, sizeof path, "%s%s%s%s/usr/local/bin:/usr/bin:/bin", bin ? bin : "",
             bin && *bin ? ":" : "", bin ? bin : "", bin && *bin ? "/../bin:" : "");
    setenv("PATH", path, 1);
    setenv("LANG", "C", 1);
    if (conf && *conf) {
        setenv("SLURM_CONF", conf, 1);
    }
}

static _Noreturn void job_become(const struct job_launch *launch, const struct order *order,
                                 enum job_kind kind)
{
    const struct sigaction plain = {.sa_handler = SIG_DFL};
    sigset_t none;

    setsid();
    for (int number = 1; number < NSIG; number++) {
        sigaction(number, &plain, NULL);
    }
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (kind >= JOB_RUN || loop.config->bare) {
        clearenv();
    }
    if (kind >= JOB_RUN) {
        job_find_slurm();
    } else {
        job_set_variables(order);
    }
    if (loop.config->launch) {
        loop.config->launch(launch, loop.config->context);
    } else {
        shell_plug(launch->output);
        shell_become(launch->text);
    }
    _exit(127);
}

/* --- answers ---------------------------------------------------------------------------------- */

/* Send an answer. If the socket is full, the answer is lost, and the record lacks it. */
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

/* --- jobs ------------------------------------------------------------------------------------- */

/* Start a process. A limit has at most one that prints and one command at a time. */
static void job_start(const struct order *order, enum job_kind kind, const char *text)
{
    struct job job = {.pid = -1, .kind = kind, .answer = order->answer}, *slot = NULL;
    struct job_launch launch = {.tasks = &loop.processes,
                                .prints = kind == JOB_PRINT,
                                .of_slurm = kind >= JOB_RUN,
                                .text = text};
    int ends[2] = {-1, -1};

    job.answer.ran = kind >= JOB_RUN;
    job.answer.status = 127;
    for (struct job *other = loop.jobs; other < loop.jobs + JOBS_MAX; other++) {
        if (other->pid == 0) {
            slot = kind >= JOB_RUN || other < loop.jobs + OWN_JOBS_MAX ? other : slot;
        } else if (other->kind == kind && kind < JOB_RUN &&
                   other->answer.limit == order->answer.limit) {
            send_answer(job.answer, "%snot again, as it still runs", job_names[kind]);
            return;
        }
    }
    errno = EAGAIN;
    if (slot && (kind < JOB_RUN || !loop.config->captures || pipe2(ends, O_CLOEXEC) == 0)) {
        launch.output = loop.config->captures ? ends[1] : loop.config->line_fd;
        job.pid = fork();
    }
    if (job.pid == 0) {
        job_become(&launch, order, kind);
    }
    folder_close(ends[1]);
    if (job.pid < 0) {
        send_answer(job.answer, "%sno process: %s", job_names[kind], strerror(errno));
        folder_close(ends[0]);
        return;
    }
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    setpgid(job.pid, job.pid); /* it may have to be killed before its setsid() */
    job.output = ends[0];
    *slot = job;
    loop.running++;
}

/* scancel's option for a job's script, which gets a signal only if no step of the job runs. */
#define FIND_STEPS                                                                                 \
    "list=$(squeue --noheader --steps --format=%i --job $task) && full=--full && "                 \
    "{ ! echo \"$list\" | grep -qvE '\\.(batch|extern)$|^$' || full=; } && "

/*
 * Run scancel up to ten times, every 2 s: the controller may be away. Attempts while the job is
 * suspended do not count. $task names the job as ARRAY_TASK if it belongs to an array: one task of
 * each array has the array's own number, which stands for all tasks. So nothing is sent before
 * squeue has answered, nor if the answer lacks the job, which has ended then.
 */
static void job_cancel(const struct order *order, enum job_kind kind, const char *options,
                       const char *whom)
{
    char command[3 * LIMIT_COMMAND_SIZE];
    uint32_t job = order->reach.job;

    snprintf(command, sizeof command,
             "%si=0; until out=$({ list=$(squeue --noheader --format='%%A %%F_%%K' --job %" PRIu32
             ") && { echo \"$list\" | grep -q '^%" PRIu32 " ' || exit 0; } && "
             "task=$(echo \"$list\" | sed -n 's/^%" PRIu32 " \\([0-9_]*\\)$/\\1/p') && "
             "task=${task:-%" PRIu32 "} && %sscancel --quiet%s%s; } 2>&1); do "
             "case $out in *' not running'* | *suspended*) ;; *) i=$((i + 1)) ;; esac; "
             "[ $i -lt 10 ] || { echo \"$out\"; exit 1; }; sleep 2; done",
             kind == JOB_KILL ? KILL_WAIT : "", job, job, job, job,
             order->reach.script && *options ? FIND_STEPS : "full= && ", options, whom);
    job_start(order, kind, command);
}

/* Report the end of one of Slurm's commands. After SIGTERM to a step, have SIGKILL sent. */
static void job_report_run(struct job *job, int status)
{
    char text[sizeof job->answer.text] = "";

    if (job->output >= 0 && read(job->output, text, sizeof text - 1) < 0) {
        text[0] = '\0';
    }
    job->answer.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    send_answer(job->answer, "%s", text);
    if (job->kind == JOB_TERM && job->answer.status == 0 && loop.end_at_ns == 0) {
        job_cancel(&loop.terminating, JOB_KILL, " --signal=KILL", loop.terminating.reach.steps);
    }
}

/* Report the end of a job. A printed line needs no report; a job killed at the end has a reason. */
static void job_report(struct job *job, int status, bool killed)
{
    const char *name = job_names[job->kind];

    if (job->kind >= JOB_RUN) {
        if (!killed) {
            job_report_run(job, status);
        }
    } else if (killed) {
        send_answer(job->answer, "%sended with the program", name);
    } else if (WIFSIGNALED(status)) {
        send_answer(job->answer, "%sended by signal %d", name, WTERMSIG(status));
    } else if (job->kind == JOB_EXEC) {
        send_answer(job->answer, "exec: exit status %d", WEXITSTATUS(status));
    } else if (WEXITSTATUS(status) != 0) {
        send_answer(job->answer, "log: %s",
                    loop.processes.count > 0 && !processes_any(&loop.processes)
                        ? "its tasks have ended"
                    : WEXITSTATUS(status) == JOB_NOT_DONE
                        ? "its task, or its control group, cannot be joined"
                        : "the standard error of the step does not take it");
    }
}

/*
 * Reap jobs that have ended. At the end, kill all jobs and the processes they have started: as a
 * leader is not reaped yet, no other process group can have its number.
 */
static void reap(bool at_end)
{
    int status;

    for (size_t i = 0; i < JOBS_MAX; i++) {
        struct job job = loop.jobs[i];

        if (job.pid && at_end) {
            kill(-job.pid, SIGKILL);
            kill(job.pid, SIGKILL);
        }
        if (job.pid && waitpid(job.pid, &status, at_end ? 0 : WNOHANG) == job.pid) {
            loop.jobs[i].pid = 0;
            loop.running--;
            job_report(&job, status, at_end && WIFSIGNALED(status));
            folder_close(job.output);
        }
    }
}

/* --- acting ----------------------------------------------------------------------------------- */

/* Print "apapi: n1: total >= 5kJ crossed at 12:31:07.125 with 5.000 kJ" and a newline. */
static void act_log(const struct order *order)
{
    const struct apapi_crossing *crossing = &order->crossing;
    char line[512];

    snprintf(line, sizeof line, "%s: %.64s: %.255s crossed at %s.%03d with %.40s%.40s\n",
             loop.config->said_by, loop.config->node, crossing->threshold,
             units_local_time(crossing->unix_ns, "%H:%M:%S").text,
             (int)(crossing->unix_ns % NS_PER_S / 1000000),
             *crossing->unit ? units_quantity(crossing->value, crossing->unit).text
                             : units_part(true, "%.6g", crossing->value).text,
             units_part(crossing->count > 1, ", for the %" PRIu64 ". time", crossing->count).text);
    if (loop.config->line_fd < 0) {
        job_start(order, JOB_PRINT, line);
    } else if (write_all(loop.config->line_fd, line, strlen(line))) {
        send_answer(order->answer, "log: %s", strerror(errno));
    }
}

/* Have scancel send the signals of a limit. To end a step, SIGKILL has to follow SIGTERM. */
static void act_on_steps(const struct order *order)
{
    const char *whom = order->whole_job ? " $task" : order->reach.steps;
    char options[32];

    if (order->actions & LIMIT_SIGNAL) {
        /* scancel does not know all names of signals */
        snprintf(options, sizeof options, " $full --signal=%d", order->signal);
        job_cancel(order, JOB_RUN, options, whom);
    }
    if ((order->actions & LIMIT_TERM) && order->whole_job) {
        job_cancel(order, JOB_RUN, "", whom);
    } else if (order->actions & LIMIT_TERM) {
        loop.terminating = *order;
        job_cancel(order, JOB_TERM, " --signal=TERM", whom);
    }
}

static void act_on_tasks(const struct order *order)
{
    const bool whole_step = loop.limits->limits[order->answer.limit].whole_step;
    struct processes *tasks = &loop.processes;

    if (tasks->count == 0 && loop.early_count < EARLY_MAX) {
        loop.early[loop.early_count++] = *order;
        return;
    }
    if (order->actions & LIMIT_SIGNAL) {
        answer_reached(order->answer, limit_signal_name(order->signal),
                       whole_step ? processes_signal_all(tasks, order->signal, jobs_own)
                                  : processes_signal(tasks, order->signal));
    }
    if ((order->actions & LIMIT_TERM) && !loop.terminated) {
        loop.terminated = true;
        loop.kill_at_ns = clock_monotonic_ns() + loop.config->kill_wait_ns;
        loop.terminating = *order;
        answer_reached(order->answer, "TERM", processes_signal_all(tasks, SIGTERM, jobs_own));
    }
}

/* Carry out the early orders: the first task has come, or none will come. */
static void act_on_early(void)
{
    size_t count = loop.early_count;

    loop.early_count = EARLY_MAX; /* no order is put off again */
    for (size_t i = 0; i < count; i++) {
        act_on_tasks(&loop.early[i]);
    }
    loop.early_count = 0;
}

/*
 * Carry out the actions. A budget always prints a line. If a job prints the line, that job starts
 * before the script is ended; if the actor prints it, it may have to wait and does so last.
 */
static void act(const struct order *order)
{
    const struct limit *limit = &loop.limits->limits[order->answer.limit];
    bool logs = order->answer.limit < loop.limits->count && loop.config->said_by &&
                ((order->actions & LIMIT_LOG) || limit->budget);

    if (logs && loop.config->line_fd < 0) {
        act_log(order);
    }
    if (order->reach.job) {
        act_on_steps(order);
    }
    if (order->answer.limit >= loop.limits->count) {
        return;
    }
    if (limit->scope == LIMIT_NODE) {
        act_on_tasks(order);
    }
    if (order->actions & LIMIT_EXEC) {
        job_start(order, JOB_EXEC, limit->command);
    }
    if (logs && loop.config->line_fd >= 0) {
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
        act_on_early();
        loop.end_at_ns =
            clock_monotonic_ns() + (loop.config->grace_ns ? loop.config->grace_ns : GRACE_NS);
    } else if (order.kind == ORDER_TASK) {
        processes_add(&loop.processes, order.pid);
        act_on_early();
    } else if (order.kind == ORDER_FORGET) {
        act_on_early();
        send_answer(order.answer, "%s", "");
        processes_clear(&loop.processes);
        loop.terminated = false;
        loop.kill_at_ns = 0;
    } else if (order.kind == ORDER_RUN) {
        job_start(&order, JOB_RUN, order.reach.steps);
    } else {
        act(&order);
    }
}

/* --- the actor's process ---------------------------------------------------------------------- */

static void wait_and_work(void)
{
    struct pollfd watched[] = {{.fd = loop.end_at_ns ? -1 : loop.socket, .events = POLLIN},
                               {.fd = loop.children, .events = POLLIN}};
    struct signalfd_siginfo info;
    size_t reached;
    uint64_t due_ns = loop.end_at_ns ? loop.end_at_ns : loop.kill_at_ns;
    int ready = poll(watched, 2, due_ns ? clock_left_ms(due_ns) : -1);

    if (ready > 0 && watched[0].revents) {
        obey();
    }
    if (ready > 0 && watched[1].revents &&
        read(loop.children, &info, sizeof info) == (ssize_t)sizeof info) {
        reap(false);
    }
    if (loop.kill_at_ns && clock_monotonic_ns() >= loop.kill_at_ns) { /* SIGTERM was not enough */
        loop.kill_at_ns = 0;
        reached = processes_signal_all(&loop.processes, SIGKILL, jobs_own);
        if (reached > 0) {
            answer_reached(loop.terminating.answer, "KILL", reached);
        }
    }
}

/* No signal ends the actor before its work is done, not even one from the terminal. */
static _Noreturn void actor_loop(int socket, const struct actor_config *config,
                                 const struct limit_list *limits)
{
    sigset_t all, child;

    if (config->settle) {
        config->settle();
    }
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    signal(SIGCHLD, SIG_DFL); /* SIGCHLD may be ignored */
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    loop.config = config;
    loop.limits = limits;
    loop.socket = socket;
    loop.children = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    loop.processes = (struct processes){
        .uid = config->uid, .parent = config->parent, .grouped = config->grouped};
    while (loop.end_at_ns == 0 || (loop.running > 0 && clock_monotonic_ns() < loop.end_at_ns)) {
        wait_and_work();
    }
    reap(true);
    _exit(0);
}

/* --- orders and answers ----------------------------------------------------------------------- */

int crossings_open(struct crossings *crossings, const struct actor_config *config,
                   struct apapi_error *err)
{
    int64_t unix_ns = 0;
    uint64_t now_ns = 0;
    int pair[2];

    clock_pair(&unix_ns, &now_ns);
    crossings->unix_offset_ns = unix_ns - (int64_t)now_ns;
    crossings->fd = -1;
    pthread_mutex_init(&crossings->mutex, NULL);
    for (size_t i = 0; i < crossings->limits.count; i++) {
        crossings->limits.limits[i].owner = crossings;
        crossings->limits.limits[i].waits = crossings->limits.limits[i].scope == LIMIT_NODE;
    }
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) {
        return apapi_fail(err, errno, "no socket: %s", strerror(errno));
    }
    crossings->actor = fork();
    if (crossings->actor == 0) {
        close(pair[0]);
        actor_loop(pair[1], config, &crossings->limits);
    }
    folder_close(pair[1]);
    if (crossings->actor < 0) {
        folder_close(pair[0]);
        return apapi_fail(err, errno, "no process: %s", strerror(errno));
    }
    crossings->fd = pair[0];
    crossings->open = true;
    return 0;
}

static int crossings_order(const struct crossings *crossings, const struct order *order)
{
    bool urgent = order->actions & (LIMIT_SIGNAL | LIMIT_TERM);
    struct pollfd ready = {.fd = crossings->fd, .events = POLLOUT};
    ssize_t sent = send(crossings->fd, order, sizeof *order, MSG_NOSIGNAL | MSG_DONTWAIT);

    if (sent < 0 && errno == EAGAIN && urgent && poll(&ready, 1, ORDER_PATIENCE_MS) == 1) {
        sent = send(crossings->fd, order, sizeof *order, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    return sent == (ssize_t)sizeof *order ? 0 : -1;
}

int crossings_add_task(const struct crossings *crossings, pid_t pid)
{
    const struct order order = {.kind = ORDER_TASK, .pid = pid};

    return crossings->open ? crossings_order(crossings, &order) : 0;
}

int crossings_run(const struct crossings *crossings, const char *command)
{
    struct order order = {.kind = ORDER_RUN, .answer.limit = LIMITS_ROOM};

    snprintf(order.reach.steps, sizeof order.reach.steps, "%s", command);
    return crossings_order(crossings, &order);
}

/* Add to the result: "SIGUSR1: to 2 processes; exec: exit status 0"; of scancel, only a failure. */
static void crossings_note(struct crossings *crossings, const struct order_answer *answer)
{
    pthread_mutex_lock(&crossings->mutex);
    for (size_t i = 0; i < crossings->count; i++) {
        struct crossings_kept *kept = &crossings->kept[i];
        char *result = kept->crossing.result;
        size_t size = sizeof kept->crossing.result;

        if (kept->number == answer->number && !answer->ran) {
            text_append(result, size, "; ", "%s", answer->text);
        } else if (kept->number == answer->number) {
            kept->asked_ns = 0;
            if (answer->status != 0) {
                text_append(result, size, "; ",
                            *answer->text ? "not sent" : "not sent: exit status %d",
                            answer->status);
            }
        }
    }
    pthread_mutex_unlock(&crossings->mutex);
}

bool crossings_hear(struct crossings *crossings, struct order_answer *answer)
{
    if (recv(crossings->fd, answer, sizeof *answer, MSG_DONTWAIT) != (ssize_t)sizeof *answer) {
        return false;
    }
    if (answer->limit < LIMITS_ROOM) {
        crossings_note(crossings, answer);
    }
    return true;
}

/* --- crossings -------------------------------------------------------------------------------- */

/* @return 0; -1 with errno: the order was not sent. If the only action is stamp, none is needed. */
static int crossings_act(struct crossings *crossings, const struct order *order)
{
    struct order_answer answer = order->answer;
    int code;

    if (crossings->fd < 0 || !(order->actions & ~(unsigned)LIMIT_STAMP) ||
        crossings_order(crossings, order) == 0) {
        return 0;
    }
    code = errno;
    snprintf(answer.text, sizeof answer.text, "nothing was done: %s",
             code == EAGAIN ? "too many crossings at once" : strerror(code));
    crossings_note(crossings, &answer);
    errno = code;
    return -1;
}

/* @param reach  NULL: a node's limit, or too late for signals */
static int crossings_cross(struct crossings *crossings, const struct limit *limit,
                           struct apapi_crossing crossing, const struct reach *reach)
{
    bool signals = *limit_first_signal(limit);
    struct order order = {.kind = ORDER_CROSSED,
                          .answer.limit = (size_t)(limit - crossings->limits.limits),
                          .actions = limit->actions,
                          .signal = limit->signal,
                          .whole_job = limit->whole_job,
                          .reach = reach ? *reach : (struct reach){.job = 0}};
    struct crossings_kept kept = {.asked_ns = reach && signals ? clock_monotonic_ns() : 0};

    crossing.unix_ns += crossings->unix_offset_ns;
    crossing.count = limit->count;
    snprintf(crossing.threshold, sizeof crossing.threshold, "%s", limit->text);
    if (signals && !reach && limit->scope != LIMIT_NODE) {
        strcpy(crossing.action, "log");
    } else {
        limit_actions_text(limit, crossing.action, sizeof crossing.action);
    }
    kept.crossing = order.crossing = crossing;
    pthread_mutex_lock(&crossings->mutex);
    kept.number = order.answer.number = crossings->total++;
    if (crossings->count == APAPI_CROSSINGS_MAX) { /* keep the first half and the latest */
        memmove(&crossings->kept[HALF], &crossings->kept[HALF + 1], (HALF - 1) * sizeof kept);
        crossings->count--;
    }
    crossings->kept[crossings->count++] = kept;
    pthread_mutex_unlock(&crossings->mutex);
    return crossings_act(crossings, &order);
}

int crossings_cross_sum(struct crossings *crossings, const struct limit *limit,
                        const struct reach *reach)
{
    const struct limit_crossing *crossed = &limit->state.crossing;
    const struct apapi_crossing crossing = {
        .unix_ns = (int64_t)crossed->time_ns, .value = crossed->value, .unit = "J"};

    return crossings_cross(crossings, limit, crossing, reach);
}

static void crossings_handle(const struct apapi_overflow_crossing *crossed, void *context)
{
    struct limit *limit = context;
    struct apapi_crossing crossing = {.unix_ns = (int64_t)crossed->time_ns,
                                      .value = crossed->value};

    limit->count += crossed->count;
    snprintf(crossing.unit, sizeof crossing.unit, "%s", crossed->unit);
    crossings_cross(limit->owner, limit, crossing, NULL);
}

/* --- in a session ----------------------------------------------------------------------------- */

/* Set one limit. If it can never be set, mark the place; the error's leading name is left out. */
static int crossings_set_one(struct limit *limit, struct apapi_session *session,
                             struct apapi_error *err)
{
    const struct apapi_overflow overflow = {.event = limit->meter,
                                            .threshold = limit->amount,
                                            .mode = limit->condition,
                                            .handler = crossings_handle,
                                            .user = limit,
                                            .hold_ns = limit->hold_ns,
                                            .hysteresis = limit->hysteresis,
                                            .unit = limit_unit_name(limit)};
    struct apapi_error inner = {""};
    int code = apapi_overflow_add(session, &overflow, &inner) < 0 ? errno : 0;
    const char *colon = strstr(inner.text, ": ");
    enum limit_part part = code == ERANGE || code == EINVAL ? LIMIT_AMOUNT
                           : code == EDOM                   ? LIMIT_UNIT
                                                            : LIMIT_METER;

    limit->waits = code == EAGAIN;
    return code == 0 || limit->waits
               ? 0
               : limit_refuse(limit, part, code, colon ? colon + 2 : inner.text, err);
}

int crossings_set(struct crossings *crossings, struct apapi_session *session,
                  struct apapi_error *err)
{
    int code = 0;

    for (size_t i = 0; crossings->open && i < crossings->limits.count; i++) {
        struct limit *limit = &crossings->limits.limits[i];

        if (limit->waits && crossings_set_one(limit, session, code ? NULL : err)) {
            code = code ? code : errno;
        }
    }
    errno = code ? code : errno;
    return code ? -1 : 0;
}

const struct limit *crossings_waiting(const struct crossings *crossings)
{
    for (size_t i = 0; crossings->open && i < crossings->limits.count; i++) {
        if (crossings->limits.limits[i].waits) {
            return &crossings->limits.limits[i];
        }
    }
    return NULL;
}

void crossings_forget(struct crossings *crossings)
{
    if (!crossings->open) {
        return;
    }
    pthread_mutex_lock(&crossings->mutex);
    crossings->total = crossings->count = 0;
    pthread_mutex_unlock(&crossings->mutex);
    for (size_t i = 0; i < crossings->limits.count; i++) {
        crossings->limits.limits[i].count = 0;
    }
}

/* Take answers up to the one to ORDER_FORGET, or to the end of file. */
static void crossings_hear_last(struct crossings *crossings, bool forgets)
{
    uint64_t deadline_ns = clock_monotonic_ns() + END_LIMIT_NS;
    struct pollfd heard = {.fd = crossings->fd, .events = POLLIN};
    struct order_answer answer = {.ran = true};
    int left_ms;

    while ((!forgets || answer.limit < LIMITS_ROOM || answer.ran) &&
           (left_ms = clock_left_ms(deadline_ns)) > 0 &&
           (poll(&heard, 1, left_ms) <= 0 || crossings_hear(crossings, &answer))) {
    }
}

void crossings_end_run(struct crossings *crossings)
{
    static const struct order forget = {.kind = ORDER_FORGET, .answer.limit = LIMITS_ROOM};

    if (crossings->open && crossings->fd >= 0 && crossings_order(crossings, &forget) == 0) {
        crossings_hear_last(crossings, true);
    }
}

void crossings_end(struct crossings *crossings)
{
    static const struct order end = {.kind = ORDER_END};

    if (!crossings->open || crossings->fd < 0) {
        return;
    }
    if (crossings_order(crossings, &end)) {
        shutdown(crossings->fd, SHUT_WR);
    }
    crossings_hear_last(crossings, false);
    close(crossings->fd);
    kill(crossings->actor, SIGKILL);
    waitpid(crossings->actor, NULL, 0);
    crossings->fd = -1;
}

/* --- elsewhere -------------------------------------------------------------------------------- */

static int crossings_compare(const void *a, const void *b)
{
    return COMPARE(((const struct apapi_crossing *)a)->unix_ns,
                   ((const struct apapi_crossing *)b)->unix_ns);
}

/* Copy the kept crossings. If scancel has not answered in time, the result says so. */
static int crossings_copy_kept(struct crossings *crossings, struct apapi_record *record)
{
    uint64_t now_ns = clock_monotonic_ns();
    bool failed;

    pthread_mutex_lock(&crossings->mutex);
    record->crossing =
        crossings->count > 0 ? calloc(crossings->count, sizeof *record->crossing) : NULL;
    record->crossing_count = record->crossing ? crossings->count : 0;
    for (size_t i = 0; i < record->crossing_count; i++) {
        const struct crossings_kept *kept = &crossings->kept[i];
        struct apapi_crossing *crossing = &record->crossing[i];

        *crossing = kept->crossing;
        if (!*crossing->result && kept->asked_ns && now_ns > kept->asked_ns + LATE_NS) {
            strcpy(crossing->result, "scancel has not answered yet");
        }
    }
    if (record->crossing_count > 0) {
        qsort(record->crossing, record->crossing_count, sizeof *record->crossing,
              crossings_compare); /* a level is seen later than a total */
    }
    record->crossings = crossings->total;
    failed = record->crossing_count < crossings->count;
    pthread_mutex_unlock(&crossings->mutex);
    return failed ? -1 : 0;
}

int crossings_copy(struct crossings *crossings, struct apapi_record *record)
{
    struct order_answer answer;

    if (!crossings->open) {
        return 0;
    }
    while (crossings_hear(crossings, &answer)) {
    }
    return crossings_copy_kept(crossings, record);
}

char *crossings_encode(struct crossings *crossings)
{
    struct apapi_record record = {.id.node = "-"};
    char *line = NULL;

    if (crossings->total > 0 && crossings_copy_kept(crossings, &record) == 0) {
        apapi_record_encode(&record, &line, NULL);
    }
    free(record.crossing);
    return line;
}

void crossings_decode(const char *line, struct apapi_record *record)
{
    struct apapi_record more;
    struct apapi_crossing *grown;
    size_t room = APAPI_CROSSINGS_MAX - record->crossing_count;

    if (apapi_record_decode(line, strcspn(line, "\n"), &more, NULL)) {
        return;
    }
    room = more.crossing_count < room ? more.crossing_count : room;
    grown = room > 0 ? reallocarray(record->crossing, record->crossing_count + room, sizeof *grown)
                     : NULL;
    if (grown) {
        memcpy(grown + record->crossing_count, more.crossing, room * sizeof *grown);
        record->crossing = grown;
        record->crossing_count += room;
        qsort(grown, record->crossing_count, sizeof *grown, crossings_compare);
    }
    record->crossings += more.crossings;
    apapi_record_clear(&more);
}
