/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLER_STEP_H
#define SAMPLER_STEP_H
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "apapi/error.h"
#include "apapi/interval.h"
#include "apapi/record.h"
#include "channel/channel.h"
#include "config/config.h"

/** The plugin's message about the step. */
struct step {
    struct apapi_identity id;
    char components[1024]; /* "": the default */
    bool site_components;  /* `components` comes from apapi.conf */
    struct apapi_intervals intervals;
    bool slowed;              /* the user asked for shorter intervals than the site allows */
    uint32_t watch_ms;        /* interval at which limits look; 0, APAPI_UNKNOWN: no limits */
    uint64_t min_interval_ns; /* for this user [ns]; 0: no limit */
    struct config config;     /* the site's settings */
    char config_path[PATH_MAX], words[8192]; /* `config` points into them */
    char gpus[4096];           /* of the step; "none"; "": Slurm does not manage GPUs */
    char slurm_conf[PATH_MAX]; /* of the node's slurmd; "": not known */
    char channel[16];          /* the plugin's APAPI_CHANNEL_VERSION; "": older than all */
    char job_token[APAPI_TOKEN_LENGTH +
                   1];         /* of the sruns of this batch script; "": no job table wanted */
    char job_nodelist[4096];   /* "": not known */
    bool job_only;             /* the job gets a table, the batch step does not */
    bool job_one;              /* only one table: the job's, if the job has more */
    bool job_quiet;            /* the job gets no table */
    char budget[256];          /* the user's budget of this batch step's job; "": none */
    uint32_t totals_ms;        /* between two looks at the job's energy; 0, APAPI_UNKNOWN: none */
    enum config_format format; /* of the report for the plugin; CONFIG_NONE: no report */
    /* output and trace are patterns of config/filename.h */
    char output[PATH_MAX];     /* the user's file for the report; "": the plugin prints it */
    char trace[PATH_MAX];      /* the user's file for all readings; "": none */
    uint32_t step_nodes;       /* nodes of all components of the step; APAPI_UNKNOWN: id.nodes */
    uint32_t gid;              /* of the user; APAPI_UNKNOWN: not known */
    char groups[12000];        /* of the user, "100,4711" */
    char umask[8];             /* of the user, octal; "": not known */
    char share[8];             /* "on", "off": the user's wish for a share; "": the site's */
    char overflow[PACKET_MAX]; /* the user's thresholds, one a line; "": none */
    char rules[PACKET_MAX];    /* a packet of the user's event settings, see channel/channel.h */
};

/**
 * Read the step from a configuration message, and the site's settings from the places that it
 * names. All members of `step` must be 0 before, so that most of this large struct is never
 * touched. It must not be moved afterwards.
 * @return 0; -1 with errno EINVAL and the key in `err`
 */
int step_parse(const struct message *message, struct step *step, struct apapi_error *err);

/** @return whether this is a batch step that watches the energy of its job. */
static inline bool step_watches_job(const struct step *step)
{
    return step->totals_ms > 0 && step->totals_ms != APAPI_UNKNOWN;
}

/** Read how the tasks ended from the message that ends the step; what it leaves out is unknown. */
void step_parse_ending(const struct message *message, struct apapi_ending *ending);

/**
 * Remove the components that are not known here from a list. A user cannot correct apapi.conf.
 * @param list  "rapl:nvml", is changed
 * @return 0; -1 with errno ENOENT if nothing is left. `err` then names the last one removed.
 */
int known_components(char *list, struct apapi_error *err);

/** Write the name of a user, if the user has one and all of it fits. Waits for the user database.
 */
void names_user(uint32_t uid, char *name, size_t size);

/** Fill in the name of the step's cluster. The node has precedence over the environment. */
void names_cluster(struct step *step);

/** Fill in the node's cores. To read the slurm.conf of a large cluster takes milliseconds. */
void names_count_cores(struct step *step);

/**
 * Work that may wait for a disk, done in its own thread, so that the sampler can answer meanwhile.
 * One thread starts it and waits for it. All members 0: nothing started.
 */
struct task {
    void (*work)(void *context);
    void *context;
    bool started;
    bool done;             /* guarded by the mutex */
    pthread_mutex_t mutex; /* set by task_start() */
    pthread_cond_t changed;
};

/**
 * Start work. The previous work must have ended. Without a thread, the work is done at once.
 * @param context  must stay valid until the task has ended
 */
void task_start(struct task *task, void (*work)(void *context), void *context);

/**
 * Wait until the work is done.
 * @param deadline_ns  CLOCK_MONOTONIC; 0: do not wait; UINT64_MAX: no limit
 * @return whether no task is running any more
 */
bool task_wait(struct task *task, uint64_t deadline_ns);

#endif
