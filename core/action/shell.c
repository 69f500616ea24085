/* SPDX-License-Identifier: BSD-3-Clause */
#include "action/shell.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define OTHERS_FROM 3

static void shell_close_others(void)
{
#ifdef SYS_close_range
    if (syscall(SYS_close_range, OTHERS_FROM, ~0U, 0U) == 0) {
        return;
    }
#endif
    for (int fd = OTHERS_FROM; fd < sysconf(_SC_OPEN_MAX); fd++) {
        close(fd);
    }
}

void shell_plug(int output)
{
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

    output = output < 0 ? nothing : output;
    if (dup2(output, STDERR_FILENO) < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0 ||
        dup2(nothing, STDIN_FILENO) < 0) {
        _exit(EXIT_FAILURE);
    }
    shell_close_others();
}

void shell_become(const char *command, char *const *variables)
{
    for (; *variables; variables++) {
        putenv(*variables);
    }
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
}
