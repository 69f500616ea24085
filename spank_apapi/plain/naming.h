/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_APAPI_NAMING_H
#define SPANK_APAPI_NAMING_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "apapi/error.h"
#include "channel/channel.h"

/* Names of users, of a job's nodes and of the files that a user wants. */

#define SPANK_APAPI_USER_SIZE 256 /* bytes of a user's name with its NUL */

/**
 * Look up a user's name in this process. Takes as long as the user database.
 * @return 0; -1: no name, and `name` is "".
 */
int spank_apapi_user_name(uid_t uid, char name[SPANK_APAPI_USER_SIZE]);

/**
 * Let an apapi-sampler look it up, which is killed at the deadline, as the user database may hang.
 * @param libexec_dir  absolute path of the sampler's folder
 * @param message      scratch buffer
 * @return 0; -1: not known in time, and `name` is "".
 */
int spank_apapi_user_ask(const char *libexec_dir, uid_t uid, uint64_t deadline_ns,
                         struct message *message, char name[SPANK_APAPI_USER_SIZE]);

/**
 * Looks up a variable in the environment of srun or of the step.
 * @return whether it exists and its value fits
 */
typedef bool (*spank_apapi_look_f)(void *context, const char *variable, char *value, size_t size);

/** Look it up in the environment of this process. */
bool spank_apapi_look_here(void *unused, const char *variable, char *value, size_t size);

#define SPANK_APAPI_COMPONENTS_MAX 128 /* of a heterogeneous job: Slurm's limit */

/**
 * The nodes of a job from the environment of its batch script or of salloc: "n[1-4]", or
 * "n[1-4],n7" for two components of a heterogeneous job. A node of two components is listed twice.
 * @return 0; -1: not known, or too long; names is "" then
 */
int spank_apapi_job_nodes(spank_apapi_look_f look, void *context, char *names, size_t size);

/** Of srun's step, for the patterns in a file name; its environment has the others. */
struct spank_apapi_naming {
    uint32_t job;
    const char *step; /* "0", "batch" */
    const char *node;
    uid_t uid;
};

/**
 * Make a file name from a pattern of config/filename.h.
 * @return 0; -1 with errno EINVAL, ENAMETOOLONG.
 */
int spank_apapi_name(const char *pattern, const struct spank_apapi_naming *naming, char *name,
                     size_t size, struct apapi_error *err);

#endif
