/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampler/process.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <syslog.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/units.h"
#include "config/config.h"

/** A set of capabilities: bit CAP_... is 1. */
#define CAPABILITY(name) (UINT64_C(1) << (name))

/* --- the log -------------------------------------------------------------------------------- */

static struct {
    pthread_mutex_t mutex;
    const char *path, *name;
    int fd; /* -1: not open */
    bool stream;
    size_t lost;
} state = {.mutex = PTHREAD_MUTEX_INITIALIZER, .fd = -1};

void log_open(const char *path, const char *name)
{
    state.path = path;
    state.name = name;
}

static void disconnect(void)
{
    folder_close(state.fd);
    state.fd = -1;
}

static int connect_as(int type)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    if (strlen(state.path) >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(address.sun_path, state.path);
    state.stream = type == SOCK_STREAM;
    state.fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (state.fd >= 0 &&
        connect(state.fd, (const struct sockaddr *)&address, sizeof address) == 0) {
        return 0;
    }
    disconnect();
    return -1;
}

/* Some logs listen on a stream socket. */
static int connect_once(void)
{
    if (state.fd >= 0 || connect_as(SOCK_DGRAM) == 0) {
        return 0;
    }
    return errno == EPROTOTYPE ? connect_as(SOCK_STREAM) : -1;
}

/* In a stream, a NUL ends the line. */
static int send_line(const char *line, size_t length)
{
    size_t size = length + state.stream;
    ssize_t sent = send(state.fd, line, size, MSG_NOSIGNAL | MSG_DONTWAIT);

    if (sent == (ssize_t)size) {
        return 0;
    }
    if (sent >= 0 || (errno != EAGAIN && errno != EMSGSIZE)) {
        disconnect(); /* no listener any more, or half a line was sent */
    }
    return -1;
}

/* A restarted log has a new socket of the same name. */
static int sampler_log_deliver(const char *line, size_t length)
{
    if (connect_once()) {
        return -1;
    }
    if (send_line(line, length) == 0) {
        return 0;
    }
    return state.fd < 0 && connect_once() == 0 ? send_line(line, length) : -1;
}

static int sampler_log_put(int priority, const char *text)
{
    char *line;
    int length = asprintf(&line, "<%d>%s %s[%d]: %s", LOG_DAEMON | priority,
                          units_local_time(clock_unix_ns(), "%b %e %H:%M:%S").text, state.name,
                          (int)getpid(), text);
    int result;

    if (length < 0) {
        return -1;
    }
    result = sampler_log_deliver(line, (size_t)length);
    free(line);
    return result;
}

void log_write(int priority, const char *format, ...)
{
    char *text = NULL, lost[96];
    va_list arguments;
    int saved_errno = errno;
    bool whole;

    va_start(arguments, format);
    whole = vasprintf(&text, format, arguments) >= 0;
    va_end(arguments);
    pthread_mutex_lock(&state.mutex);
    if (!whole || sampler_log_put(priority, text)) {
        state.lost++;
    } else if (state.lost > 0) {
        snprintf(lost, sizeof lost, "messages lost, as the log did not take them: %zu", state.lost);
        state.lost = sampler_log_put(LOG_WARNING, lost) ? state.lost : 0;
    }
    pthread_mutex_unlock(&state.mutex);
    free(whole ? text : NULL);
    errno = saved_errno;
}

size_t log_lost(void)
{
    size_t lost;

    pthread_mutex_lock(&state.mutex);
    lost = state.lost;
    pthread_mutex_unlock(&state.mutex);
    return lost;
}

/* --- capabilities --------------------------------------------------------------------------- */

#ifndef CAP_PERFMON
#define CAP_PERFMON 38 /* before Linux 5.8: part of CAP_SYS_ADMIN */
#endif

/*
 * For reading meters, and for the site's folders.
 *
 * SYS_RAWIO: /dev/cpu/N/msr. PERFMON and SYS_ADMIN: performance events, and what vendors' drivers
 * have for administrators only. DAC_OVERRIDE: folders, devices and slurm.conf that belong to
 * another system user.
 */
static const uint64_t capabilities_measure = CAPABILITY(CAP_SYS_RAWIO) | CAPABILITY(CAP_SYS_ADMIN) |
                                             CAPABILITY(CAP_PERFMON) | CAPABILITY(CAP_DAC_OVERRIDE);

/* For processes of the user, for the site's priority, and for dropping more later. */
static const uint64_t capabilities_prepare = CAPABILITY(CAP_SETPCAP) | CAPABILITY(CAP_SETUID) |
                                             CAPABILITY(CAP_SETGID) | CAPABILITY(CAP_KILL) |
                                             CAPABILITY(CAP_SYS_NICE);

static void capabilities_drop(uint64_t needed)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];

    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    if (syscall(SYS_capget, &header, sets)) {
        return;
    }
    for (int half = 0; half < _LINUX_CAPABILITY_U32S_3; half++) {
        sets[half].permitted &= (uint32_t)(needed >> 32 * half);
        sets[half].effective &= sets[half].permitted;
        sets[half].inheritable = 0;
    }
    syscall(SYS_capset, &header, sets);
}

/* --- an end in any case --------------------------------------------------------------------- */

/* No handler: the signal then ends a process in a blocking system call, too. */
void watchdog_set(unsigned seconds)
{
    const struct sigaction plain = {.sa_handler = SIG_DFL};
    sigset_t end;

    sigaction(SIGALRM, &plain, NULL);
    sigemptyset(&end);
    sigaddset(&end, SIGALRM);
    alarm(seconds);
    pthread_sigmask(SIG_UNBLOCK, &end, NULL);
}

/* --- the process ---------------------------------------------------------------------------- */

#define FILES_MAX 65536 /* PAPI opens a file for each event and CPU */
#define STACK_BYTES (8 << 20)

/* The hard limit stays, so that a command of the user can get the limits of its task. */
static void process_limit(int resource, rlim_t value)
{
    struct rlimit limit;

    if (getrlimit(resource, &limit) == 0) {
        limit.rlim_cur = value < limit.rlim_max ? value : limit.rlim_max;
        setrlimit(resource, &limit);
    }
}

/* Raise a limit, at least as far as the hard limit allows. */
static void process_raise(int resource, rlim_t value)
{
    const struct rlimit wanted = {value, value};

    if (setrlimit(resource, &wanted)) {
        process_limit(resource, value);
    }
}

/* The limits of slurmd or of a shell must neither end a measurement nor cut a record short. */
static void process_set_limits(void)
{
    static const int unlimited[] = {RLIMIT_AS,    RLIMIT_CPU,    RLIMIT_DATA,
                                    RLIMIT_FSIZE, RLIMIT_RSS,    RLIMIT_MEMLOCK,
                                    RLIMIT_NPROC, RLIMIT_RTTIME, RLIMIT_LOCKS};

    for (size_t i = 0; i < COUNT_OF(unlimited); i++) {
        process_raise(unlimited[i], RLIM_INFINITY);
    }
    process_raise(RLIMIT_NOFILE, FILES_MAX);
    process_limit(RLIMIT_STACK, STACK_BYTES);
    process_limit(RLIMIT_CORE, 0);
}

void process_restrict(void)
{
    int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

    if (file >= 0) {
        write_all(file, "0", 1);
        close(file);
    }
    process_set_limits();
    capabilities_drop(capabilities_measure | capabilities_prepare);
}

void process_settle(bool ends_others)
{
    uint64_t needed = capabilities_measure | (ends_others ? CAPABILITY(CAP_KILL) : 0);
    const struct rlimit none = {0, 0};

    setrlimit(RLIMIT_CORE, &none);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    for (int number = 0; number < 64; number++) { /* up to the first one that the kernel lacks */
        if (!(needed & CAPABILITY(number)) && prctl(PR_CAPBSET_DROP, number, 0, 0, 0)) {
            break;
        }
    }
    capabilities_drop(needed);
}

void process_settle_actor(void)
{
    capabilities_drop(CAPABILITY(CAP_KILL) | CAPABILITY(CAP_SETUID) | CAPABILITY(CAP_SETGID) |
                      CAPABILITY(CAP_SYS_NICE));
}

void process_schedule(const struct step *step)
{
    const char *list = step->config.sampler_cpu;
    int nice = step->config.sampler_nice;
    cpu_set_t cpus;

    if (*list && config_cpus(list, &cpus, NULL) == 0 && sched_setaffinity(0, sizeof cpus, &cpus)) {
        log_write(LOG_NOTICE, "sampler_cpu=%s: %s", list, strerror(errno));
    }
    if (nice != 0 && setpriority(PRIO_PROCESS, 0, nice)) {
        log_write(LOG_NOTICE, "sampler_nice=%d: %s", nice, strerror(errno));
    }
}
