/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/kernel_cores.h"

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/kernel_file.h"

/* Of the threads of a core the first one counts. One that is offline has no such file. */
static bool kernel_cores_is_first(int cpus, unsigned number)
{
    char name[64], siblings[32];

    snprintf(name, sizeof name, "cpu%u/topology/thread_siblings_list", number);
    return kernel_file_read_word_at(cpus, name, siblings, sizeof siblings) == 0 &&
           strtoul(siblings, NULL, 10) == number;
}

uint32_t kernel_cores(void)
{
    char path[PATH_MAX];
    uint32_t count = 0;
    unsigned number;
    DIR *cpus;

    kernel_file_path(path, sizeof path, "/sys/devices/system/cpu");
    cpus = opendir(path);
    for (const struct dirent *entry; cpus && (entry = readdir(cpus));) {
        count += kernel_file_match("cpu#", entry->d_name, &number) &&
                 kernel_cores_is_first(dirfd(cpus), number);
    }
    if (cpus) {
        closedir(cpus);
    }
    return count;
}
