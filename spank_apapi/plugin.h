/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_APAPI_PLUGIN_H
#define SPANK_APAPI_PLUGIN_H
#include <slurm/spank.h>
#include <stdbool.h>
#include <stdint.h>

#include "channel/channel.h"
#include "choice.h"
#include "helpers.h"

/* --- options, in all processes ---------------------------------------------------------------- */

/**
 * Load the site's configuration, register --apapi and the related options, and let Slurm read their
 * environment variables. Called in slurm_spank_init of srun, sbatch, salloc and slurmstepd. In
 * slurmstepd, problems of the configuration go to the log at once.
 */
void spank_apapi_options_init(spank_t spank, int count, char *const words[]);

/** Restore the environment after the options were read. Not in slurmstepd. */
void spank_apapi_options_finish(void);

/** Print the problems of the configuration if the user gave -v. Call it when srun has read -v. */
void spank_apapi_options_report(void);

/**
 * In a batch step with sbatch --export=NONE, Slurm loses the options, but keeps them in the
 * environment for the script's sruns: read the options from there.
 */
void spank_apapi_options_recover(spank_t spank);

/**
 * In a step of srun, when the sampler has the thresholds, or on a node that measures nothing:
 * remove the srun's own ones from its tasks' environment, as a job that they submit is another job.
 * Those of the job stay for their sruns.
 */
void spank_apapi_options_hide(spank_t spank);

/** The options chosen so far, and the configuration. */
extern struct spank_apapi_choice spank_apapi_choice;
static struct spank_apapi_choice *const choice = &spank_apapi_choice;

/** In slurmd, as root, once: log the problems of the configuration. */
int spank_apapi_daemon_init(int count, char *const words[]);

/* --- the hooks' work in each kind of process; all return ESPANK_SUCCESS ----------------------- */

/* --- srun, as the user, once each --- */

/**
 * For each component of a heterogeneous job, before Slurm makes the environment: listen, and pass
 * the address to the nodes.
 */
int spank_apapi_local_init_post_opt(void);

/** After the creation of the step: start apapi-collect, which takes over the socket. */
int spank_apapi_local_user_init(spank_t spank);

/** After the end of the step: print the report. */
int spank_apapi_local_exit(void);

/* --- sbatch and salloc, as the user, once each --- */

/** Report problems of the configuration. salloc: tell the sruns where to forward records. */
int spank_apapi_allocator_init_post_opt(void);

/** salloc: print the job's table. */
int spank_apapi_allocator_exit(void);

/*
 * --- slurmstepd, root ---
 * With contain_spank, task_post_fork and task_exit run in a process that shares memory but has a
 * copy of the descriptors: they open and close nothing permanently.
 */

/** Once: start apapi-sampler. Waits for start_timeout at most. */
int spank_apapi_remote_init_post_opt(spank_t spank, int count, char *const words[]);

/** Once, as the user, in the job's folder: note the folder. */
int spank_apapi_remote_user_init(void);

/** For each task, in its own process, before exec: set the variable with its live page. */
int spank_apapi_remote_task_init(spank_t spank);

/** For each task; at the first one, start the sampling. Waits for start_timeout at most. */
int spank_apapi_remote_task_post_fork(spank_t spank);

/** For each task; at the last one, send the record to srun. Waits for stop_timeout at most. */
int spank_apapi_remote_task_exit(spank_t spank);

/** Once: finish the measurement if it still runs, print a batch step's report, close everything. */
int spank_apapi_remote_exit(spank_t spank);

/* --- the step --------------------------------------------------------------------------------- */

#define SPANK_APAPI_NAME_SIZE 256 /* bytes of a program's or node's name with its NUL */
#define SPANK_APAPI_STEP_SIZE 16  /* bytes of a step's name with its NUL */

/** A step on a node. */
struct spank_apapi_step {
    uint32_t job;
    uint32_t step;
    bool batch;
    char step_name[SPANK_APAPI_STEP_SIZE]; /* "0", "batch", "interactive" */
    char node[SPANK_APAPI_NAME_SIZE];
};

/** Write the step's name: "0", "batch", "interactive", "extern". */
void spank_apapi_step_name(uint32_t step, char name[SPANK_APAPI_STEP_SIZE]);

/** Write the basename of the step's program; "" if not known. */
void spank_apapi_step_program(spank_t spank, char name[SPANK_APAPI_NAME_SIZE]);

/** Ask Slurm for the step. In slurmstepd only. */
void spank_apapi_step_read(spank_t spank, struct spank_apapi_step *step);

/** In a batch step: tell the sruns of its script that their job belongs to an array. */
void spank_apapi_step_mark_array(spank_t spank, const struct spank_apapi_step *step);

/** A spank_apapi_look_f for the step's environment. In slurmstepd only. */
bool spank_apapi_look(void *spank, const char *variable, char *value, size_t size);

/** Note which limits --apapi-overflow has, before anything asks for them. In slurmstepd only. */
void spank_apapi_step_scopes(spank_t spank);

/** The measurement that the user or the site requests. */
struct spank_apapi_request {
    const char *components; /* "": what is available */
    const char *rules;      /* a packet; NULL: none */
    char *const *words;     /* of plugstack.conf */
    int word_count;
};

/**
 * Append everything that apapi-sampler needs to know about the site, the request and the step. In
 * slurmstepd only.
 * @return whether the sampler will write files, or watch thresholds, for the user; then its
 * last message is about these.
 */
bool spank_apapi_step_configure(spank_t spank, const struct spank_apapi_step *step,
                                const struct spank_apapi_request *request, struct message *message);

#endif
