/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/doctor/machine.h"

#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/kernel_file.h"

/* A file below the test root if that is set, otherwise the machine's. */
static FILE *machine_open_file(const char *absolute)
{
    char path[PATH_MAX];

    kernel_file_path(path, sizeof path, absolute);
    return fopen(access(path, R_OK) == 0 ? path : absolute, "re");
}

/* Every hypervisor sets this flag of x86 processors. */
static bool has_hypervisor_flag(void)
{
    FILE *file = machine_open_file("/proc/cpuinfo");
    char *line = NULL;
    size_t size = 0;
    bool found = false;

    while (file && !found && getline(&line, &size, file) > 0) {
        found = strncmp(line, "flags", 5) == 0 && strstr(line, " hypervisor");
    }
    free(line);
    if (file) {
        fclose(file);
    }
    return found;
}

static int read_paranoid(void)
{
    FILE *file = machine_open_file("/proc/sys/kernel/perf_event_paranoid");
    int level = PARANOID_UNKNOWN;
    char text[16] = "";
    char *end;

    if (file) {
        if (fgets(text, sizeof text, file)) {
            long number = strtol(text, &end, 10);

            level = end != text && number >= -1 && number <= 9 ? (int)number : level;
        }
        fclose(file);
    }
    return level;
}

static bool machine_is_container(void)
{
    return access("/.dockerenv", F_OK) == 0 || access("/run/.containerenv", F_OK) == 0;
}

void machine_look(struct machine *machine)
{
    const struct passwd *user;

    machine->virtual_machine = has_hypervisor_flag();
    machine->container = machine_is_container();
    machine->perf_event_paranoid = read_paranoid();
    machine->uid = geteuid();
    user = getpwuid(machine->uid);
    if (user) {
        snprintf(machine->user, sizeof machine->user, "%s", user->pw_name);
    } else {
        snprintf(machine->user, sizeof machine->user, "uid %u", (unsigned)machine->uid);
    }
}

static void machine_put_rights(const char *name, const struct stat *file, char *text, size_t size)
{
    const struct passwd *owner = getpwuid(file->st_uid);
    const struct group *group = getgrgid(file->st_gid);

    snprintf(text, size, "%s has mode %04o, owner %s, group %s", name,
             (unsigned)(file->st_mode & 07777U), owner ? owner->pw_name : "unknown",
             group ? group->gr_name : "unknown");
}

void machine_rights(const char *naming, char *text, size_t size)
{
    const char *start = strchr(naming, '/');
    char name[128], path[PATH_MAX];
    struct stat file;

    text[0] = '\0';
    if (start) {
        snprintf(name, sizeof name, "%.*s", (int)strcspn(start, " ,;)'"), start);
        name[strlen(name) - (name[strlen(name) - 1] == ':')] = '\0';
        kernel_file_path(path, sizeof path, name);
        if (stat(path, &file) == 0 || stat(name, &file) == 0) {
            machine_put_rights(name, &file, text, size);
        }
    }
}
