/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampler/place.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <syslog.h>

#include "config/values.h"
#include "sampler/log.h"

void place_self(const struct step *step)
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
