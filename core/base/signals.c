/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/signals.h"

#include <errno.h>
#include <stddef.h>

static const int caught[SIGNALS_CAUGHT] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};

static volatile sig_atomic_t receiver;
static volatile sig_atomic_t last;

/*
 * The terminal sends signals to the whole process group, including the program. Only signals sent
 * to this process alone are passed on.
 */
static void handle(int signal_number, siginfo_t *info, void *context)
{
    int saved = errno;

    (void)context;
    last = signal_number;
    if (receiver > 0 && info->si_code <= 0) {
        kill((pid_t)receiver, signal_number);
    }
    errno = saved;
}

static void signals_block(sigset_t *before)
{
    sigset_t set;

    sigemptyset(&set);
    for (size_t i = 0; i < SIGNALS_CAUGHT; i++) {
        sigaddset(&set, caught[i]);
    }
    sigprocmask(SIG_BLOCK, &set, before);
}

void signals_catch(struct signals *signals)
{
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_RESTART};

    signals_block(&signals->mask);
    for (size_t i = 0; i < SIGNALS_CAUGHT; i++) {
        sigaction(caught[i], NULL, &signals->before[i]);
        if (signals->before[i].sa_handler != SIG_IGN) {
            sigaction(caught[i], &action, NULL);
        }
    }
}

void signals_restore(const struct signals *signals)
{
    for (size_t i = 0; i < SIGNALS_CAUGHT; i++) {
        sigaction(caught[i], &signals->before[i], NULL);
    }
    signals_open(signals);
}

void signals_open(const struct signals *signals)
{
    sigprocmask(SIG_SETMASK, &signals->mask, NULL);
}

void signals_close(void)
{
    signals_block(NULL);
}

void signals_pass_to(pid_t pid)
{
    receiver = (sig_atomic_t)pid;
}

int signals_last(const struct signals *signals)
{
    signals_open(signals);
    signals_close();
    return last;
}
