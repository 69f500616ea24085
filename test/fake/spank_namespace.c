/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Another plugin in the stack, which moves something into its own mount namespace. There, an empty
 * file system with one file, "inside", lies over a folder.
 * "step FOLDER": moves slurmstepd itself, before the plugins after this one start anything.
 * "task FOLDER": moves the tasks, as container plugins do: a child of slurmstepd makes the
 * namespace at user_init, and the tasks join it before they call exec.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <slurm/spank.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

SPANK_PLUGIN(namespace, 1)

static int namespace = -1;

static bool applies(int count, char *const words[], const char *to)
{
    return spank_context() == S_CTX_REMOTE && count == 2 && strcmp(words[0], to) == 0;
}

static int failed(const char *what)
{
    slurm_error("namespace: %s: %s", what, strerror(errno));
    return ESPANK_ERROR;
}

/* @return 0; -1 with errno. */
static int touch(const char *path)
{
    int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);

    return fd < 0 ? -1 : close(fd);
}

/* @return 0; -1 with errno. */
static int cover(const char *folder)
{
    char path[4096];

    if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
        mount("tmpfs", folder, "tmpfs", 0, "mode=1777")) {
        return -1;
    }
    snprintf(path, sizeof path, "%s/inside", folder);
    return touch(path);
}

int slurm_spank_init_post_opt(spank_t spank, int ac, char *argv[])
{
    (void)spank;
    return applies(ac, argv, "step") && cover(argv[1]) ? failed(argv[1]) : ESPANK_SUCCESS;
}

/* In the child: make the namespace, report the result, and live until the parent has opened it. */
static _Noreturn void container(int channel, const char *folder)
{
    int code = seteuid(0) || cover(folder) ? errno : 0;

    if (write(channel, &code, sizeof code) != sizeof code || read(channel, &code, 1) < 0) {
        _exit(1);
    }
    _exit(0);
}

/* Here, slurmstepd has the user's effective identity and its own real identity. */
int slurm_spank_user_init(spank_t spank, int ac, char *argv[])
{
    int channel[2], code = 0;
    char path[64];
    pid_t pid;

    (void)spank;
    if (!applies(ac, argv, "task")) {
        return ESPANK_SUCCESS;
    }
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel) || (pid = fork()) < 0) {
        return failed("fork");
    }
    if (pid == 0) {
        close(channel[0]);
        container(channel[1], argv[1]);
    }
    close(channel[1]);
    if (read(channel[0], &code, sizeof code) == sizeof code && code == 0) {
        uid_t user = geteuid();

        snprintf(path, sizeof path, "/proc/%d/ns/mnt", (int)pid);
        if (seteuid(0) == 0) {
            namespace = open(path, O_RDONLY | O_CLOEXEC);
            code = errno;
        }
        if (seteuid(user)) {
            return failed("seteuid");
        }
    }
    close(channel[0]);
    waitpid(pid, NULL, 0);
    errno = code;
    return namespace < 0 ? failed(argv[1]) : ESPANK_SUCCESS;
}

int slurm_spank_task_init_privileged(spank_t spank, int ac, char *argv[])
{
    char folder[4096];

    (void)spank;
    if (applies(ac, argv, "task") &&
        (!getcwd(folder, sizeof folder) || setns(namespace, CLONE_NEWNS) || chdir(folder))) {
        return failed("setns");
    }
    return ESPANK_SUCCESS;
}

int slurm_spank_task_exit(spank_t spank, int ac, char *argv[])
{
    (void)spank;
    return applies(ac, argv, "touch") && touch(argv[1]) ? failed(argv[1]) : ESPANK_SUCCESS;
}
