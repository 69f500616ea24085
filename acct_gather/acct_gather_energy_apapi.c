/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * acct_gather_energy/apapi: what Slurm asks of a node's energy. slurmd starts the node sampler;
 * slurmd and slurmstepd answer from its page. No call waits for a meter, and none of them ends or
 * drains anything: what is not known is NO_VAL.
 */
#include <math.h>
#include <slurm/slurm_errno.h>
#include <slurm/spank.h>
#include <string.h>
#include <time.h>

#include "channel/deadline.h"
#include "node_page.h"
#include "settings.h"
#include "slurm_calls.h"
#include "tally.h"

#define NS_PER_S 1000000000

const char plugin_name[] = "energy by APAPI's node sampler";
const char plugin_type[] = "acct_gather_energy/apapi";
const uint32_t plugin_version = SLURM_VERSION_NUMBER;

/* Slurm calls from one thread at a time. */
static struct {
    enum role role;
    bool ready;
    struct settings settings;
    struct node_page page;
    struct tally tally;          /* of the step */
    acct_gather_energy_t latest; /* what was told last */
} apapi;

static bool is_asked(void)
{
    return apapi.role == ROLE_SLURMD || apapi.role == ROLE_STEP;
}

static bool apapi_read(struct node_energy *energy)
{
    return node_page_read(&apapi.page, deadline_now(), energy);
}

/* As soon as slurmstepd loads this file: a step's energy begins here. */
static void apapi_prepare(void)
{
    struct node_energy energy;

    if (apapi.ready || !is_asked()) {
        return;
    }
    apapi.ready = true;
    settings_read(&apapi.settings, apapi.role);
    node_page_init(&apapi.page, apapi.settings.live_dir, apapi.settings.keeper.node);
    if (apapi.role == ROLE_STEP && apapi_read(&energy)) {
        tally_add(&apapi.tally, energy.energy_j);
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

/* The node's: it goes on over restarts of slurmd, because the page does. */
static void tell_node(acct_gather_energy_t *told)
{
    struct node_energy energy;

    if (!apapi_read(&energy)) {
        told->current_watts = NO_VAL;
        return;
    }
    tell_power(told, &energy);
    if (told->consumed_energy == NO_VAL64 || energy.energy_j > (double)told->consumed_energy) {
        told->consumed_energy = (uint64_t)energy.energy_j;
    }
    told->previous_consumed_energy = told->consumed_energy;
}

/* A step's: Slurm adds up what the calls with its sums have added to them. */
static void tell_step(acct_gather_energy_t *told)
{
    struct node_energy energy;

    if (!apapi_read(&energy)) {
        if (!apapi.tally.begun) {
            told->consumed_energy = NO_VAL64;
            told->current_watts = NO_VAL;
        }
        return;
    }
    if (told->consumed_energy == NO_VAL64) {
        told->consumed_energy = 0;
    }
    told->consumed_energy += tally_add(&apapi.tally, energy.energy_j);
    told->base_consumed_energy = (uint64_t)apapi.tally.begin_j;
    told->previous_consumed_energy = (uint64_t)apapi.tally.latest_j;
    tell_power(told, &energy);
}

static void tell(acct_gather_energy_t *told)
{
    if (apapi.role == ROLE_SLURMD) {
        keeper_start(&apapi.settings.keeper);
        tell_node(told);
    } else if (apapi.role == ROLE_STEP) {
        tell_step(told);
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
    return SLURM_SUCCESS;
}

int acct_gather_energy_p_update_node_energy(void)
{
    apapi_prepare();
    tell(&apapi.latest);
    return SLURM_SUCCESS;
}

int acct_gather_energy_p_get_data(enum acct_energy_type type, void *data)
{
    apapi_prepare();
    switch (type) {
    case ENERGY_DATA_JOULES_TASK:
    case ENERGY_DATA_NODE_ENERGY_UP:
        tell(data);
        return SLURM_SUCCESS;
    case ENERGY_DATA_STRUCT:
    case ENERGY_DATA_NODE_ENERGY:
        if (apapi.role == ROLE_SLURMD) {
            tell(&apapi.latest);
        }
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
        tell(&apapi.latest);
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
}

void acct_gather_energy_p_conf_values(void *list)
{
    (void)list;
}
