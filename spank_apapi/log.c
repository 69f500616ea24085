/* SPDX-License-Identifier: BSD-3-Clause */
#include "log.h"

#include <slurm/spank.h>
#include <stdio.h>

#define KEPT_MAX 8

static char kept[KEPT_MAX][512];
static size_t kept_count;

static void log_error(const char *text, void *context)
{
    (void)context;
    slurm_error("apapi: %s", text);
}

static void log_keep(const char *text, void *context)
{
    (void)context;
    if (kept_count < KEPT_MAX) {
        snprintf(kept[kept_count++], sizeof kept[0], "%s", text);
    }
}

const struct config_sink spank_apapi_log_errors = {.complain = log_error};
const struct config_sink spank_apapi_log_keep = {.complain = log_keep};

void spank_apapi_log_kept(void)
{
    for (size_t i = 0; i < kept_count; i++) {
        slurm_verbose("apapi: %s", kept[i]);
    }
    kept_count = 0;
}
