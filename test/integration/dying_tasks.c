/* SPDX-License-Identifier: BSD-3-Clause */
/* dying_tasks FILE: the tasks of a step wait; once there is the file, the last one kills the
 * others, one every 4 ms. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pid_t read_pid(int task)
{
    char path[32];
    int pid = 0;
    FILE *file;

    snprintf(path, sizeof path, "task.%d", task);
    file = fopen(path, "r");
    if (file && fscanf(file, "%d", &pid) != 1) {
        pid = 0;
    }
    if (file) {
        fclose(file);
    }
    return pid;
}

int main(int argc, char **argv)
{
    int task = atoi(getenv("SLURM_PROCID")), last = atoi(getenv("SLURM_NTASKS")) - 1;
    char path[32];
    FILE *file;

    snprintf(path, sizeof path, "task.%d", task);
    file = fopen(path, "w");
    if (argc != 2 || !file || fprintf(file, "%d", (int)getpid()) < 0 || fclose(file)) {
        return 1;
    }
    if (task < last) {
        pause();
    }
    while (access(argv[1], F_OK)) {
        usleep(1000);
    }
    for (int other = 0; other < last; other++) {
        pid_t pid;

        while ((pid = read_pid(other)) == 0) { /* it has not begun yet, and would wait for ever */
            usleep(1000);
        }
        kill(pid, SIGKILL);
        usleep(4000);
    }
    sleep(3); /* for commands beside a task that is gone */
    return 0;
}
