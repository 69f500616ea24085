/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampler/node_mode.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "channel/channel.h"
#include "node/loop.h"
#include "sampler/log.h"

#define LOG_SOCKET "/dev/log"

bool node_mode_is_asked(int argc, char **argv)
{
    return (argc == 3 || argc == 4) && strcmp(argv[1], NODE_OPTION) == 0;
}

static bool node_mode_has_owner(void)
{
    struct stat owner;

    return fstat(APAPI_CHANNEL_FD, &owner) == 0 && S_ISSOCK(owner.st_mode);
}

/* Not a child of slurmd, which waits for its own. */
static void node_mode_leave(void)
{
    pid_t child = fork();

    if (child > 0) {
        _exit(EXIT_SUCCESS);
    }
    if (child == 0) {
        setsid();
    }
    if (chdir("/")) {
        return; /* it stays in a folder that it does not use */
    }
}

int node_mode_run(int argc, char **argv)
{
    struct node_options options = {.node = argv[2],
                                   .config = argc > 3 ? argv[3] : NULL,
                                   .owner = node_mode_has_owner() ? APAPI_CHANNEL_FD : -1,
                                   .say = log_write};

    if (options.owner >= 0) {
        node_mode_leave();
        fcntl(options.owner, F_SETFD, FD_CLOEXEC);
    }
    prctl(PR_SET_DUMPABLE, 0);
    umask(077);
    log_open(LOG_SOCKET, "apapi-sampler");
    return node_run(&options);
}
