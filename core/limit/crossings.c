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
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/files.h"
#include "base/units.h"

#define HALF (APAPI_CROSSINGS_MAX / 2)
#define LATE_NS (2 * NS_PER_S)            /* for scancel: then the first attempt has failed */
#define END_LIMIT_NS UINT64_C(1000000000) /* for an actor that does not answer any more */
#define GRACE_NS (NS_PER_S / 10)          /* at the end, for commands that have just been started */
#define KILL_WAIT_MAX_S 3600
#define KILL_WAIT_COMMAND /* prints KillWait of Slurm, "30 sec", or an empty line */               \
    "; echo \"$(scontrol show config | sed -n 's/^KillWait *= *//p')\""
#define JOBS_MAX 128 /* at a time */

/** To the actor. */
struct order {
    enum {
        ORDER_TASK,    /* there is one more task: `pid` */
        ORDER_FORGET,  /* the next run begins */
        ORDER_CROSSED, /* a limit was crossed: its actions */
        ORDER_RUN,     /* run `reach.steps` as a command, and answer with its end */
        ORDER_END      /* no task runs any more */
    } kind;
    pid_t pid;
    struct order_answer answer;     /* to begin with; its limit may be younger than the actor */
    struct apapi_crossing crossing; /* without `action` and `result` */
    unsigned actions;
    int signal; /* of LIMIT_SIGNAL */
    bool whole_job;
    struct reach reach; /* `job` 0: of no sum, or it is too late for signals */
};

/* --- a crossing in words ---------------------------------------------------------------------- */

#define LINE_SIZE 512
#define VARIABLES 7

/* "apapi: n1: total >= 5kJ crossed at 12:31:07.125 with 5.000 kJ" and a newline. */
static void crossed_line(const struct apapi_crossing *crossing, const char *node,
                         const char *said_by, char line[LINE_SIZE])
{
    time_t seconds = (time_t)(crossing->unix_ns / NS_PER_S);
    bool has_unit = *crossing->unit != '\0';
    char moment[16] = "";
    struct tm local;

    localtime_r(&seconds, &local);
    strftime(moment, sizeof moment, "%H:%M:%S", &local);
    snprintf(line, LINE_SIZE, "%s: %.64s: %.255s crossed at %s.%03d with %.40s%.40s\n", said_by,
             node, crossing->threshold, moment, (int)(crossing->unix_ns % NS_PER_S / 1000000),
             has_unit ? units_quantity(crossing->value, crossing->unit).text
                      : units_part(true, "%.6g", crossing->value).text,
             units_part(crossing->count > 1, ", for the %" PRIu64 ". time", crossing->count).text);
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
    const struct limit_list *limits;
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

/* Whether a session was begun by one of the actor's processes, which get no signals. */
static bool jobs_own(pid_t session)
{
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

static void act_start(const struct order *order, enum job_kind kind, const char *text)
{
    struct job job = {.kind = kind, .answer = order->answer};
    const char *name = kind == JOB_PRINT ? "log: " : kind == JOB_EXEC ? "exec: " : "";
    struct crossed_variables variables;
    struct job_launch launch = {.tasks = &loop.processes,
                                .prints = kind == JOB_PRINT,
                                .text = text,
                                .variables = loop.variables};

    job.answer.ran = kind >= JOB_RUN;
    if (kind < JOB_RUN) {
        crossed_variables(&loop.limits->limits[order->answer.limit], &order->crossing,
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
        send_answer(order->answer, "log: %s", strerror(errno));
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

    snprintf(job, sizeof job, " %" PRIu32, order->reach.job);
    if (order->actions & LIMIT_SIGNAL) {
        snprintf(options, sizeof options, "%s --signal=%s", order->reach.script ? " --full" : "",
                 limit_signal_name(order->signal));
        act_cancel(order, JOB_RUN, options, order->whole_job ? job : order->reach.steps);
    }
    if ((order->actions & LIMIT_TERM) && order->whole_job) {
        act_cancel(order, JOB_RUN, "", job);
    } else if (order->actions & LIMIT_TERM) {
        loop.terminating = *order;
        act_cancel(order, JOB_TERM, " --signal=TERM", order->reach.steps);
    }
}

static void act_on_tasks(const struct order *order, bool whole_step)
{
    struct processes *tasks = &loop.processes;

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

/* Actions that may wait come last. Whatever happens at a job's budget, there is a line. */
static void act(const struct order *order)
{
    const struct limit *limit = &loop.limits->limits[order->answer.limit];

    if (order->reach.job) {
        act_on_steps(order);
    }
    if (order->answer.limit >= loop.limits->count) {
        return;
    }
    if (limit->scope == LIMIT_NODE) {
        act_on_tasks(order, limit->whole_step);
    }
    if (order->actions & LIMIT_EXEC) {
        act_start(order, JOB_EXEC, limit->command);
    }
    if (loop.config->said_by && ((order->actions & LIMIT_LOG) || limit->budget)) {
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
    } else if (order.kind == ORDER_FORGET) {
        processes_clear(&loop.processes);
        loop.terminated = false;
        loop.kill_at_ns = 0;
    } else if (order.kind == ORDER_RUN) {
        act_start(&order, JOB_RUN, order.reach.steps);
    } else {
        act(&order);
    }
}

/* SIGTERM was not enough. */
static void act_kill(void)
{
    const struct order *order = &loop.terminating;
    size_t reached;

    if (order->reach.job) {
        act_cancel(order, JOB_RUN, " --signal=KILL", order->reach.steps);
    } else if ((reached = processes_signal_all(&loop.processes, SIGKILL, jobs_own)) > 0) {
        answer_reached(order->answer, "KILL", reached);
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
static _Noreturn void actor_loop(int socket, const struct actor_config *config,
                                 const struct limit_list *limits)
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
    loop.limits = limits;
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
    ssize_t sent = send(crossings->fd, order, sizeof *order, MSG_NOSIGNAL | MSG_DONTWAIT);

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

/* "SIGUSR1: to 2 processes; exec: exit status 0". A command that is not the user's is no news. */
static void crossings_note(struct crossings *crossings, const struct order_answer *answer)
{
    struct crossings_kept *kept = crossings->kept;
    char text[sizeof answer->text], *result;
    size_t length;

    snprintf(text, sizeof text, "%s", answer->text);
    if (answer->ran) {
        snprintf(text, sizeof text, *answer->text ? "not sent" : "not sent: exit status %d",
                 answer->status);
    }
    pthread_mutex_lock(&crossings->mutex);
    while (kept < crossings->kept + crossings->count && kept->number != answer->number) {
        kept++;
    }
    if (kept < crossings->kept + crossings->count) {
        kept->asked_ns = answer->ran ? 0 : kept->asked_ns;
        result = kept->crossing.result;
        length = strlen(result);
        if (!answer->ran || answer->status != 0) {
            snprintf(result + length, sizeof kept->crossing.result - length, "%s%s",
                     length ? "; " : "", text);
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

/*
 * Note a crossing without `threshold`, and perhaps without `action`. Where there is no actor, or
 * only a mark to set, nothing needs to be done.
 */
static int crossings_cross(struct crossings *crossings, const struct limit *limit,
                           struct apapi_crossing *crossing, const struct reach *reach)
{
    struct order order = {.kind = ORDER_CROSSED,
                          .answer.limit = (size_t)(limit - crossings->limits.limits),
                          .actions = limit->actions,
                          .signal = limit->signal,
                          .whole_job = limit->whole_job,
                          .reach = reach ? *reach : (struct reach){.job = 0}};
    struct crossings_kept kept = {
        .asked_ns = reach && *limit_first_signal(limit) ? clock_monotonic_ns() : 0};
    int code;

    snprintf(crossing->threshold, sizeof crossing->threshold, "%s", limit->text);
    if (!*crossing->action) {
        limit_actions_text(limit, crossing->action, sizeof crossing->action);
    }
    kept.crossing = order.crossing = *crossing;
    pthread_mutex_lock(&crossings->mutex);
    kept.number = order.answer.number = crossings->total++;
    if (crossings->count == APAPI_CROSSINGS_MAX) { /* the first half stays, then come the latest */
        memmove(&crossings->kept[HALF], &crossings->kept[HALF + 1], (HALF - 1) * sizeof kept);
        crossings->count--;
    }
    crossings->kept[crossings->count++] = kept;
    pthread_mutex_unlock(&crossings->mutex);
    if (crossings->fd < 0 || !(limit->actions & ~(unsigned)LIMIT_STAMP) ||
        crossings_order(crossings, &order) == 0) {
        return 0;
    }
    code = errno;
    snprintf(order.answer.text, sizeof order.answer.text, "nothing was done: %s",
             code == EAGAIN ? "too many crossings at once" : strerror(code));
    crossings_note(crossings, &order.answer);
    errno = code;
    return -1;
}

int crossings_cross_sum(struct crossings *crossings, const struct limit *limit,
                        const struct reach *reach)
{
    const struct limit_crossing *crossed = &limit->state.crossing;
    struct apapi_crossing crossing = {.unix_ns =
                                          (int64_t)crossed->time_ns + crossings->unix_offset_ns,
                                      .value = crossed->value,
                                      .unit = "J",
                                      .count = limit->count};

    if (!reach && *limit_first_signal(limit)) {
        strcpy(crossing.action, "log");
    }
    return crossings_cross(crossings, limit, &crossing, reach);
}

static void crossings_handle(const struct apapi_overflow_crossing *crossed, void *context)
{
    struct limit *limit = context;
    struct crossings *crossings = limit->owner;
    struct apapi_crossing crossing = {.unix_ns =
                                          (int64_t)crossed->time_ns + crossings->unix_offset_ns,
                                      .value = crossed->value,
                                      .count = limit->count += crossed->count};

    snprintf(crossing.unit, sizeof crossing.unit, "%s",
             crossed->unit ? crossed->unit : limit_unit_name(limit));
    crossings_cross(crossings, limit, &crossing, NULL);
}

/* --- in a session ----------------------------------------------------------------------------- */

/* Mark the place. The quantity is there already, so its name before the reason is left out. */
static int crossings_refuse(const struct limit *limit, int code, const char *reason,
                            struct apapi_error *err)
{
    size_t length = strlen(limit->meter);

    if (strncmp(reason, limit->meter, length) == 0 && reason[length] == ':') {
        reason += length + 1 + strspn(reason + length + 1, " ");
    }
    return limit_refuse(limit,
                        code == ERANGE || code == EINVAL ? LIMIT_AMOUNT
                        : code == EDOM                   ? LIMIT_UNIT
                                                         : LIMIT_METER,
                        code, reason, err);
}

static int crossings_set_one(struct limit *limit, struct apapi_session *session,
                             struct apapi_error *err)
{
    const char *unit = limit_unit_name(limit);
    const struct apapi_overflow overflow = {.event = limit->meter,
                                            .threshold = limit->amount,
                                            .mode = limit->condition,
                                            .handler = crossings_handle,
                                            .user = limit,
                                            .hold_ns = limit->hold_ns,
                                            .hysteresis = limit->hysteresis,
                                            .unit = *unit ? unit : NULL};
    struct apapi_error inner = {""};
    int code = apapi_overflow_add(session, &overflow, &inner) < 0 ? errno : 0;

    limit->waits = code == EAGAIN;
    return code == 0 || limit->waits ? 0 : crossings_refuse(limit, code, inner.text, err);
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
    static const struct order forget = {.kind = ORDER_FORGET};

    if (!crossings->open) {
        return;
    }
    crossings_order(crossings, &forget);
    pthread_mutex_lock(&crossings->mutex);
    crossings->total = crossings->count = 0;
    pthread_mutex_unlock(&crossings->mutex);
    for (size_t i = 0; i < crossings->limits.count; i++) {
        crossings->limits.limits[i].count = 0;
    }
}

void crossings_end(struct crossings *crossings)
{
    static const struct order end = {.kind = ORDER_END};
    uint64_t deadline_ns = clock_monotonic_ns() + END_LIMIT_NS;
    struct pollfd heard = {.fd = crossings->fd, .events = POLLIN};
    struct order_answer answer;
    int left_ms;

    if (!crossings->open || crossings->fd < 0) {
        return;
    }
    if (crossings_order(crossings, &end)) {
        shutdown(crossings->fd, SHUT_WR);
    }
    while ((left_ms = clock_left_ms(deadline_ns)) > 0 && /* up to the end of file */
           (poll(&heard, 1, left_ms) <= 0 || crossings_hear(crossings, &answer))) {
    }
    close(crossings->fd);
    kill(crossings->actor, SIGKILL);
    waitpid(crossings->actor, NULL, 0);
    crossings->fd = -1;
}

/* --- elsewhere -------------------------------------------------------------------------------- */

/* Of an order to scancel that has no answer in time, the result says so. */
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

static int crossings_compare(const void *a, const void *b)
{
    const struct apapi_crossing *left = a, *right = b;

    return (left->unix_ns > right->unix_ns) - (left->unix_ns < right->unix_ns);
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
