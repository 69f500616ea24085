/* SPDX-License-Identifier: BSD-3-Clause */
#include "keeper.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <slurm/slurm.h>
#include <slurm/spank.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "channel/channel.h"
#include "channel/deadline.h"
#include "channel/message.h"
#include "child.h"

#define STACK_BYTES ((size_t)262144)
#define PAUSE_MS 100       /* the first one */
#define PAUSE_MAX_MS 60000 /* the longest one */
#define LIVED_MS 1000      /* who lived as long did not end at once */
#define PATIENCE_NS (10000 * DEADLINE_MS)

/* Slurm's own, of the version that this file is built for. */
extern slurm_conf_t slurm_conf __attribute__((weak));

static struct keeper {
    const struct keeper_settings *settings;
    pthread_t thread;
    bool runs;
    int stop;        /* an eventfd */
    char said[1024]; /* the latest trouble: each is told once */
} keeper = {.stop = -1};

/* Too large for the stack, and of no initial value: the file need not hold it. */
static struct message message;

static void keeper_say(const char *text)
{
    if (strcmp(keeper.said, text) != 0) {
        snprintf(keeper.said, sizeof keeper.said, "%s", text);
        slurm_error("acct_gather_energy/apapi: %s", text);
    }
}

/* @return whether to go on: the time is over, or `fd` has something to say. */
static bool keeper_wait(int fd, int ms)
{
    struct pollfd watched[] = {{.fd = keeper.stop, .events = POLLIN}, {.fd = fd, .events = POLLIN}};

    while (poll(watched, 2, ms) < 0 && errno == EINTR) {
    }
    return watched[0].revents == 0;
}

static int keeper_configure(const struct spank_apapi_child *child)
{
    message_start(&message, APAPI_WORD_NODE);
    message_add_pair(&message, "node", keeper.settings->node);
    message_add_pair(&message, "config", keeper.settings->config);
    return message_send(child->channel, &message, deadline_now() + PATIENCE_NS);
}

/* It says why it ends. @return false: slurmd wants to end. */
static bool keeper_listen(const struct spank_apapi_child *child)
{
    struct apapi_error err;

    while (keeper_wait(child->channel, -1)) {
        if (message_receive(child->channel, &message, deadline_now() + PATIENCE_NS)) {
            return true;
        }
        spank_apapi_child_reason(&message, &err);
        keeper_say(err.text);
    }
    return false;
}

static bool keeper_run_once(void)
{
    const struct spank_apapi_program program = {
        .dir = keeper.settings->libexec_dir, .name = "apapi-sampler", .listener = -1};
    struct spank_apapi_child child = SPANK_APAPI_CHILD_NONE;
    struct apapi_error err;
    bool more = true;

    if (spank_apapi_child_start(&child, &program, &err)) {
        keeper_say(err.text);
        return true;
    }
    if (keeper_configure(&child) == 0) {
        more = keeper_listen(&child);
    }
    spank_apapi_child_close(&child);
    return more;
}

static void *keeper_main(void *nothing)
{
    int pause_ms = PAUSE_MS;
    uint64_t begin_ns = deadline_now();

    while (keeper_run_once()) {
        if (deadline_now() - begin_ns >= LIVED_MS * DEADLINE_MS) {
            pause_ms = PAUSE_MS;
        }
        slurm_verbose("acct_gather_energy/apapi: the node sampler has ended; the next one starts "
                      "in %d ms",
                      pause_ms);
        if (!keeper_wait(-1, pause_ms)) {
            break;
        }
        pause_ms = pause_ms < PAUSE_MAX_MS / 2 ? pause_ms * 2 : PAUSE_MAX_MS;
        begin_ns = deadline_now();
    }
    return nothing;
}

/* Slurm adds up what several plugins say: the same joules would count twice. */
static void keeper_check_others(void)
{
    const char *types = &slurm_conf ? slurm_conf.acct_gather_energy_type : NULL;

    if (types && strchr(types, ',')) {
        slurm_error("acct_gather_energy/apapi: AcctGatherEnergyType = %s: Slurm adds up what these "
                    "plugins measure; name apapi alone",
                    types);
    }
}

static int keeper_create_thread(void)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    int error;

    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&keeper.thread, &attributes, keeper_main, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return error;
}

void keeper_start(const struct keeper_settings *settings)
{
    int error;

    if (keeper.runs) {
        return;
    }
    if (keeper.stop < 0) {
        keeper.stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    }
    keeper.settings = settings;
    keeper_check_others();
    error = keeper.stop < 0 ? errno : keeper_create_thread();
    keeper.runs = error == 0;
    if (error) {
        keeper_say(strerror(error));
    }
}

void keeper_stop(void)
{
    const uint64_t one = 1;

    if (keeper.runs && write(keeper.stop, &one, sizeof one) == (ssize_t)sizeof one) {
        pthread_join(keeper.thread, NULL);
        keeper.runs = false;
    }
    if (keeper.stop >= 0) {
        close(keeper.stop);
        keeper.stop = -1;
    }
}
