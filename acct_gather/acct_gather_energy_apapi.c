/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * acct_gather_energy/apapi answers Slurm's questions on a node's energy. slurmd starts the node
 * sampler; slurmd and slurmstepd answer from its page. No call waits for a meter, ends a step or
 * drains a node: unknown values are NO_VAL.
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <slurm/spank.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/thread.h"
#include "channel/channel.h"
#include "channel/deadline.h"
#include "child.h"
#include "node_energy.h"

/*
 * Symbols that Slurm looks up in an energy plugin. Slurm does not install its header of these; its
 * internal types are `void *` here. slurmd and slurmstepd call from one thread at a time; slurmctld
 * calls init() and fini() and the conf functions. No call takes more than 50 us, except the first
 * one of a process.
 */

int init(void);
int fini(void);

/* Renew the node's figures. */
int acct_gather_energy_p_update_node_energy(void);

/* @param data  result: an acct_gather_energy_t, time_t or uint16_t, as `type` says */
int acct_gather_energy_p_get_data(enum acct_energy_type type, void *data);
int acct_gather_energy_p_set_data(enum acct_energy_type type, void *data);

/* Settings of acct_gather.conf. */
void acct_gather_energy_p_conf_options(void *options, int *count);
void acct_gather_energy_p_conf_set(int context, void *table);
void acct_gather_energy_p_conf_values(void *list);

const char plugin_name[] = "energy by APAPI's node sampler";
const char plugin_type[] = "acct_gather_energy/apapi";
const uint32_t plugin_version = SLURM_VERSION_NUMBER;

/* --- the keeper --- */

/*
 * Keeps a node sampler running, for slurmd: a thread starts the sampler, sleeps until it ends, and
 * starts it again after a pause, which grows while the sampler ends at once. The sampler is no
 * child of slurmd, and ends when slurmd ends.
 */

#define DELAY_MS 1000      /* before the first sampler: slurmd may yet become a daemon */
#define PAUSE_MS 100       /* the first one */
#define PAUSE_MAX_MS 60000 /* the longest one */
#define LIVED_MS 1000      /* a sampler that ran as long did not end at once */
#define PATIENCE_NS (10000 * DEADLINE_MS)

/* Slurm's variable, of the version of Slurm that this file is built for. */
extern slurm_conf_t slurm_conf __attribute__((weak));

static struct keeper {
    const struct settings *settings;
    pthread_t thread;
    pid_t pid; /* process that has the thread; 0: none. A daemon has no thread of its parent */
    int stop;  /* an eventfd */
    char said[1024]; /* the latest problem: it is logged once */
} keeper = {.stop = -1};

/* Too large for the stack; without an initial value, so that the plugin's file does not hold it. */
static struct message message;

static void keeper_say(const char *text)
{
    if (strcmp(keeper.said, text) != 0) {
        snprintf(keeper.said, sizeof keeper.said, "%s", text);
        slurm_error("acct_gather_energy/apapi: %s", text);
    }
}

/* @return true: the time is over, or `fd` can be read; false: slurmd wants to end. */
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
    message_add_pair(&message, "config", config_path());
    return message_send(child->channel, &message, deadline_now() + PATIENCE_NS);
}

/* Log why the sampler ends. @return false: slurmd wants to end. */
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
        .dir = keeper.settings->config.libexec_dir, .name = "apapi-sampler", .listener = -1};
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
    int pause_ms = DELAY_MS, next_ms = PAUSE_MS;

    while (keeper_wait(-1, pause_ms)) {
        uint64_t begin_ns = deadline_now();

        if (!keeper_run_once()) {
            break;
        }
        pause_ms = deadline_now() - begin_ns < LIVED_MS * DEADLINE_MS ? next_ms : PAUSE_MS;
        next_ms = pause_ms < PAUSE_MAX_MS / 2 ? pause_ms * 2 : PAUSE_MAX_MS;
        slurm_verbose("acct_gather_energy/apapi: the node sampler has ended; the next one starts "
                      "in %d ms",
                      pause_ms);
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

static void keeper_start(const struct settings *settings)
{
    int error;

    if (keeper.pid == getpid()) {
        return;
    }
    if (keeper.stop >= 0) { /* also the parent's */
        close(keeper.stop);
    }
    keeper.stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    keeper.settings = settings;
    keeper_check_others();
    error = keeper.stop < 0 || thread_start(&keeper.thread, keeper_main, NULL) ? errno : 0;
    keeper.pid = error ? 0 : getpid();
    if (error) {
        keeper_say(strerror(error));
    }
}

static void keeper_stop(void)
{
    const uint64_t one = 1;

    if (keeper.pid == getpid() && write(keeper.stop, &one, sizeof one) == (ssize_t)sizeof one) {
        pthread_join(keeper.thread, NULL);
        keeper.pid = 0;
    }
    if (keeper.stop >= 0) {
        close(keeper.stop);
        keeper.stop = -1;
    }
}

/* --- what Slurm asks --- */

/* Slurm calls from one thread at a time. */
static struct {
    enum role role;
    bool ready;
    struct settings settings;
    struct node_page page;
    struct tally tally;          /* of the step */
    acct_gather_energy_t latest; /* the last answer */
} apapi;

static bool is_asked(void)
{
    return apapi.role == ROLE_SLURMD || apapi.role == ROLE_STEP;
}

static void apapi_complain(const char *text, void *context)
{
    (void)context;
    slurm_error("acct_gather_energy/apapi: %s", text);
}

/* Called as soon as slurmstepd loads this plugin: a step's energy begins here. */
static void apapi_prepare(void)
{
    const struct config_sink sink = {.complain = apapi_complain};
    struct node_energy energy;

    if (apapi.ready || !is_asked()) {
        return;
    }
    apapi.ready = true;
    settings_read(&apapi.settings, apapi.role == ROLE_SLURMD ? &sink : NULL);
    node_page_init(&apapi.page, apapi.settings.config.live_dir, apapi.settings.node);
    apapi.tally.begin_ns = deadline_now();
    if (apapi.role == ROLE_STEP && node_page_read(&apapi.page, apapi.tally.begin_ns, &energy)) {
        tally_add(&apapi.tally, &energy);
    }
}

static uint32_t whole_watts(double power_w)
{
    return isfinite(power_w) && power_w >= 0 && power_w < NO_VAL ? (uint32_t)(power_w + 0.5)
                                                                 : NO_VAL;
}

static time_t poll_time(const struct node_energy *energy)
{
    uint64_t now_ns = deadline_now();

    return time(NULL) - (time_t)((now_ns - energy->read_ns) / NS_PER_S);
}

static void tell_power(acct_gather_energy_t *told, const struct node_energy *energy)
{
    told->current_watts = whole_watts(energy->power_w);
    told->ave_watts = isfinite(energy->mean_w) ? whole_watts(energy->mean_w) : 0;
    told->poll_time = poll_time(energy);
}

/* Answer for the node. Its energy goes on over restarts of slurmd, because the page does. */
static void tell_node(acct_gather_energy_t *told)
{
    struct node_energy energy;

    if (!node_page_read(&apapi.page, deadline_now(), &energy)) {
        told->current_watts = NO_VAL;
        return;
    }
    tell_power(told, &energy);
    if (told->consumed_energy == NO_VAL64 || energy.energy_j > (double)told->consumed_energy) {
        told->consumed_energy = (uint64_t)energy.energy_j;
    }
    told->previous_consumed_energy = told->consumed_energy;
}

/*
 * Answer for a step, the same for each task: slurmstepd asks about one running task, and takes the
 * answer for the last task that ends as the energy of the step.
 */
static void tell_step(acct_gather_energy_t *told)
{
    uint64_t now_ns = deadline_now();
    struct node_energy energy;

    if (node_page_read(&apapi.page, now_ns, &energy)) {
        tally_add(&apapi.tally, &energy);
        tell_power(told, &energy);
    } else {
        told->current_watts = NO_VAL;
    }
    if (!tally_sum(&apapi.tally, now_ns, &told->consumed_energy)) {
        told->consumed_energy = NO_VAL64;
        return;
    }
    told->base_consumed_energy = (uint64_t)apapi.tally.first_j;
    told->previous_consumed_energy = (uint64_t)apapi.tally.latest_j;
}

static void tell(void)
{
    apapi_prepare();
    if (apapi.role == ROLE_SLURMD) {
        keeper_start(&apapi.settings);
        tell_node(&apapi.latest);
    } else if (apapi.role == ROLE_STEP) {
        tell_step(&apapi.latest);
    }
}

int init(void)
{
    apapi.role = settings_role();
    return SLURM_SUCCESS;
}

int fini(void)
{
    keeper_stop();
    node_page_close(&apapi.page);
    config_clear(&apapi.settings.config);
    return SLURM_SUCCESS;
}

int acct_gather_energy_p_update_node_energy(void)
{
    tell();
    return SLURM_SUCCESS;
}

int acct_gather_energy_p_get_data(enum acct_energy_type type, void *data)
{
    switch (type) {
    case ENERGY_DATA_JOULES_TASK:
    case ENERGY_DATA_NODE_ENERGY_UP:
    case ENERGY_DATA_STRUCT:
    case ENERGY_DATA_NODE_ENERGY:
        tell();
        memcpy(data, &apapi.latest, sizeof apapi.latest);
        return SLURM_SUCCESS;
    case ENERGY_DATA_LAST_POLL:
        memcpy(data, &apapi.latest.poll_time, sizeof apapi.latest.poll_time);
        return SLURM_SUCCESS;
    case ENERGY_DATA_SENSOR_CNT: {
        const uint16_t one = 1;

        memcpy(data, &one, sizeof one);
        return SLURM_SUCCESS;
    }
    default:
        return SLURM_ERROR;
    }
}

int acct_gather_energy_p_set_data(enum acct_energy_type type, void *data)
{
    (void)data;
    apapi_prepare();
    if (type == ENERGY_DATA_PROFILE) {
        tell();
    }
    return SLURM_SUCCESS;
}

/* acct_gather.conf has nothing for this plugin: its settings are in apapi.conf. */
void acct_gather_energy_p_conf_options(void *options, int *count)
{
    (void)options;
    (void)count;
}

void acct_gather_energy_p_conf_set(int context, void *table)
{
    (void)context;
    (void)table;
    apapi_prepare();
    if (apapi.role == ROLE_SLURMD) { /* at each start and reconfiguration: it asks much later */
        keeper_start(&apapi.settings);
    }
}

void acct_gather_energy_p_conf_values(void *list)
{
    (void)list;
}
