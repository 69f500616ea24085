/* SPDX-License-Identifier: BSD-3-Clause */
#include "deliver.h"

#include <slurm/slurm.h>
#include <stdbool.h>
#include <stdio.h>

#include "apapi/live.h"
#include "channel/deadline.h"

#define LIMIT_NS (500 * DEADLINE_MS)
#define NODELIST_SIZE 4096 /* srun gets no longer list of nodes */

/* In a step that srun has not launched, a user could forge the address. */
static bool has_srun(const struct spank_apapi_step *step)
{
    return !step->batch && step->step != SLURM_EXTERN_CONT;
}

/* The tasks must not see it, nor use that of another step. */
void spank_apapi_deliver_find(spank_t spank, const struct spank_apapi_step *step,
                              struct report_collector *collector)
{
    char text[80];

    if (has_srun(step) &&
        spank_getenv(spank, APAPI_COLLECT_ENV, text, sizeof text) == ESPANK_SUCCESS) {
        report_parse(text, collector);
    }
    spank_unsetenv(spank, APAPI_COLLECT_ENV);
    spank_unsetenv(spank, APAPI_JOB_ENV);
    spank_unsetenv(spank, APAPI_LIVE_ENVIRONMENT); /* of the script that called srun */
}

/* slurmstepd sets the address for the tasks. Before that, a user could forge it. */
static bool find_address(spank_t spank, char *address, int size)
{
    return spank_getenv(spank, "SLURM_LAUNCH_NODE_IPADDR", address, size) == ESPANK_SUCCESS ||
           spank_getenv(spank, "SLURM_SRUN_COMM_HOST", address, size) == ESPANK_SUCCESS;
}

void spank_apapi_deliver_describe(spank_t spank, const struct report_collector *collector,
                                  struct message *message)
{
    char where[sizeof collector->token + sizeof "65535::4294967295"], address[64];

    if (collector->totals_ms && find_address(spank, address, sizeof address)) {
        snprintf(where, sizeof where, "%u:%s:%u", collector->port, collector->token,
                 collector->totals_ms);
        message_add_pair(message, "collect", where);
        message_add_pair(message, "collect_address", address);
    }
}

void spank_apapi_deliver(spank_t spank, const struct report_collector *collector, const char *node,
                         const char *word, const char *payload)
{
    uint64_t deadline_ns = deadline_now() + LIMIT_NS;
    struct report report = {.word = word, .node = node, .nodelist = "", .payload = payload};
    char address[64], nodelist[NODELIST_SIZE];
    struct apapi_error err;

    if (collector->port == 0) {
        return;
    }
    if (spank_getenv(spank, "SLURM_STEP_NODELIST", nodelist, sizeof nodelist) == ESPANK_SUCCESS) {
        report.nodelist = nodelist;
    }
    if (!find_address(spank, address, sizeof address)) {
        slurm_verbose("apapi: no address of srun in the step's environment");
        return;
    }
    if (report_send(collector, address, &report, deadline_ns, &err)) {
        slurm_verbose("apapi: %s", err.text);
    }
}
