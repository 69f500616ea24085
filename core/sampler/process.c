/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampler/process.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <syslog.h>
#include <unistd.h>

#include "base/files.h"
#include "config/values.h"
#include "sampler/capabilities.h"
#include "sampler/log.h"

#define FILES_MAX 65536 /* PAPI opens a file for each event and CPU */
#define STACK_BYTES (8 << 20)

static void write_oom_score(const char *score)
{
    int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

    if (file >= 0) {
        write_all(file, score, strlen(score));
        close(file);
    }
}

/* What cannot be had is taken as far as the hard limit allows. */
static void process_raise(int resource, rlim_t value)
{
    const struct rlimit wanted = {value, value};
    struct rlimit limit;

    if (setrlimit(resource, &wanted) && getrlimit(resource, &limit) == 0) {
        limit.rlim_cur = value < limit.rlim_max ? value : limit.rlim_max;
        setrlimit(resource, &limit);
    }
}

/* The hard limit stays: a command of the user gets the limits of his task. */
static void process_limit(int resource, rlim_t value)
{
    struct rlimit limit;

    if (getrlimit(resource, &limit) == 0) {
        limit.rlim_cur = value < limit.rlim_max ? value : limit.rlim_max;
        setrlimit(resource, &limit);
    }
}

/* The limits of slurmd or of a shell must neither end a measurement nor cut a record short. */
static void process_set_limits(void)
{
    static const int unlimited[] = {RLIMIT_AS,    RLIMIT_CPU,    RLIMIT_DATA,
                                    RLIMIT_FSIZE, RLIMIT_RSS,    RLIMIT_MEMLOCK,
                                    RLIMIT_NPROC, RLIMIT_RTTIME, RLIMIT_LOCKS};

    for (size_t i = 0; i < sizeof unlimited / sizeof *unlimited; i++) {
        process_raise(unlimited[i], RLIM_INFINITY);
    }
    process_raise(RLIMIT_NOFILE, FILES_MAX);
    process_limit(RLIMIT_STACK, STACK_BYTES);
    process_limit(RLIMIT_CORE, 0);
}

void process_restrict(void)
{
    write_oom_score("0");
    process_set_limits();
    capabilities_drop(capabilities_measure | capabilities_prepare);
}

void process_settle(bool ends_others)
{
    const struct rlimit none = {0, 0};

    setrlimit(RLIMIT_CORE, &none);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    capabilities_keep(capabilities_measure | (ends_others ? CAPABILITY(CAP_KILL) : 0));
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
