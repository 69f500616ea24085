/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_APAPI_HELPERS_H
#define SPANK_APAPI_HELPERS_H
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
 * Looks up a variable in the environment of srun or of the step.
 * @return whether it exists and its value fits
 */
typedef bool (*spank_apapi_look_f)(void *context, const char *variable, char *value, size_t size);

/** Look up a variable in the environment of this process. */
bool spank_apapi_look_here(void *unused, const char *variable, char *value, size_t size);

#define SPANK_APAPI_COMPONENTS_MAX 128 /* of a heterogeneous job: Slurm's limit */

/**
 * Find the nodes of a job in the environment of its batch script or of salloc: "n[1-4]", or
 * "n[1-4],n7" for two components of a heterogeneous job. A node of two components is listed twice.
 * @return 0; -1: not known, or too long, and `names` is ""
 */
int spank_apapi_job_nodes(spank_apapi_look_f look, void *context, char *names, size_t size);

/** Values of srun's step for a pattern of a file name; srun's environment has the other values. */
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

/**
 * Write a text to a descriptor of the host without blocking, in one piece if possible, even if
 * other processes write there. The descriptor's flags stay unchanged. Raises neither SIGPIPE nor
 * SIGXFSZ. What cannot be written by the deadline is dropped.
 * @return 0; -1 with errno ETIMEDOUT or that of write(2).
 */
int spank_apapi_output_write(int fd, const char *text, uint64_t deadline_ns);

/** A question to an apapi-sampler before a measurement: the sampler knows more than the plugin. */
struct spank_apapi_question {
    const char *libexec_dir;           /* absolute path of the sampler's folder */
    const char *about, *text, *config; /* see channel/channel.h; NULL: none */
    bool rules;                        /* the sampler gets the event settings of this environment */
    uint64_t limit_ns;                 /* the sampler is killed after this time */
};

/**
 * Ask, with the rights of this process.
 * @param answer  result: the answer, or one problem in each line; "": nothing
 * @param size    of `answer`; what does not fit is dropped
 * @return 0: yes; -1 with errno ENOENT: no, and `err` has the first line of the answer, or any
 * other errno if it could not be asked (`err` says why).
 */
int spank_apapi_ask(const struct spank_apapi_question *question, char *answer, size_t size,
                    struct apapi_error *err);

/*
 * Sockets where nodes report to srun, and the sruns of a job to its batch step or salloc. All
 * descriptors are close-on-exec and above the standard ones.
 */

/** Make a random token. @return 0; -1 with errno. */
int spank_apapi_token(char token[APAPI_TOKEN_LENGTH + 1]);

/**
 * Listen for the nodes, on IPv4 and, if available, IPv6.
 * @param first, last  range of ports; 0, 0: any
 * @param port         result, set on success only
 * @return descriptor; -1 with errno EADDRINUSE (all ports are taken) or that of the call that
 * failed.
 */
int spank_apapi_listen(uint16_t first, uint16_t last, uint16_t *port, struct apapi_error *err);

/** A local socket where the sruns of a job forward their records for the job's table. */
struct spank_apapi_rendezvous {
    int listener; /* -1: none */
    char token[APAPI_TOKEN_LENGTH + 1];
    char where[APAPI_TOKEN_LENGTH + 32]; /* value of APAPI_JOB_ENV */
};

#define SPANK_APAPI_RENDEZVOUS_NONE ((struct spank_apapi_rendezvous){.listener = -1})

/** Listen. @return 0; -1 with errno. `rendezvous` is unchanged then. */
int rendezvous_open(struct spank_apapi_rendezvous *rendezvous);

/** Close this copy of the listener. */
void rendezvous_close(struct spank_apapi_rendezvous *rendezvous);

#endif
