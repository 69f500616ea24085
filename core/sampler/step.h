/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLER_STEP_H
#define SAMPLER_STEP_H
#include <limits.h>
#include <stdbool.h>

#include "apapi/interval.h"
#include "apapi/record.h"
#include "channel/message.h"
#include "channel/packet.h"
#include "config/config.h"

/** What the plugin says about the step. */
struct step {
    struct apapi_identity id;
    char components[1024]; /* "": the default */
    bool site_components;  /* they are those of apapi.conf */
    struct apapi_intervals intervals;
    bool slowed;               /* the user has asked for shorter ones than the site allows */
    uint64_t min_interval_ns;  /* for users [ns]; 0: none */
    char acct_dir[PATH_MAX];   /* "": no accounting file */
    char spool_dir[PATH_MAX];  /* of records that are not written yet; "": none */
    char live_dir[PATH_MAX];   /* of the live page; "": none */
    char gpus[4096];           /* of the step; "none"; "": Slurm does not manage GPUs */
    char config[PATH_MAX];     /* apapi.conf, for the settings of sources; "": none */
    char slurm_conf[PATH_MAX]; /* of the node's slurmd; "": not known */
    char cpu[1024];            /* list of config_cpus() to run on; "": any */
    char nice[16];             /* number, "" or "0": as it is */
    uint64_t checkpoint_ns;    /* [ns]; 0: none */
    enum config_job_total job_total;
    char job_token[APAPI_TOKEN_LENGTH + 1]; /* of the sruns of this batch script; "": not wanted */
    uint32_t job_nodes;                     /* APAPI_UNKNOWN: not known */
    char job_nodelist[4096];                /* "": not known */
    bool job_only;                          /* the job has a table, the batch step has none */
    enum config_format format; /* of the report that the plugin wants; CONFIG_NONE: none */
    char output[PATH_MAX];     /* the user's file for it; "": the plugin prints it */
    char trace[PATH_MAX];      /* the user's file for every reading; "": none */
    uint32_t gid;              /* of the user; APAPI_UNKNOWN: not known */
    char groups[12000];        /* the user's, "100,4711" */
    char umask[8];             /* octal; "": not known */
    char rules[PACKET_MAX];    /* what the user says of events, see channel/packet.h */
};

/** Take the step out of a configuration message. 0; -1 with errno EINVAL and the key in `err`. */
int step_parse(const struct message *message, struct step *step, struct apapi_error *err);

/** Take the tasks' ending out of the message that ends the step; unknown where it says nothing. */
void step_parse_ending(const struct message *message, struct apapi_ending *ending);

#endif
