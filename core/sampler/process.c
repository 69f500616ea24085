/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampler/process.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <syslog.h>
#include <unistd.h>

#include "base/write_all.h"
#include "config/values.h"
#include "sampler/log.h"

static void write_oom_score(const char *score)
{
    int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

    if (file >= 0) {
        write_all(file, score, strlen(score));
        close(file);
    }
}

void process_restrict(void)
{
    const struct rlimit none = {0, 0};

    write_oom_score("0");
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    setrlimit(RLIMIT_CORE, &none);
}

void process_schedule(const struct step *step)
{
    cpu_set_t cpus;
    int nice = 0;

    if (*step->cpu && config_cpus(step->cpu, &cpus, NULL) == 0 &&
        sched_setaffinity(0, sizeof cpus, &cpus)) {
        log_write(LOG_NOTICE, "sampler_cpu=%s: %s", step->cpu, strerror(errno));
    }
    if (value_nice(step->nice, &nice, NULL) == 0 && nice != 0 &&
        setpriority(PRIO_PROCESS, 0, nice)) {
        log_write(LOG_NOTICE, "sampler_nice=%s: %s", step->nice, strerror(errno));
    }
}
