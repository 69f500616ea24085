/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_RECORD_H
#define APAPI_RECORD_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/error.h"
#include "apapi/measurement.h"
#include "apapi/region_result.h"
#include "apapi/share_result.h"

APAPI_BEGIN_C

#define APAPI_RECORD_VERSION 1
#define APAPI_TEXT_SIZE 256      /* size of a text, with its NUL [bytes]; longer texts are cut */
#define APAPI_UNKNOWN UINT32_MAX /* a number that is not known */

/**
 * The step and node that a record belongs to. A text that is not known is "", a number that is not
 * known is APAPI_UNKNOWN.
 */
struct apapi_identity {
    char cluster[64];
    uint32_t job;
    char step[32];              /* "0", "batch", "interactive"; "" outside Slurm */
    char name[APAPI_TEXT_SIZE]; /* of the program or step */
    char node[APAPI_TEXT_SIZE];
    uint32_t node_index;            /* of this node in the step, from 0 */
    uint32_t nodes;                 /* of the step */
    char nodelist[APAPI_TEXT_SIZE]; /* names of these nodes as Slurm writes them, "n[001-004,7]"; ""
                                       also if the list is too long, as a part would be wrong */
    uint32_t tasks;                 /* of the step on this node */
    uint32_t uid;
    char user[64];
    char account[64];
    char partition[64];
    char qos[64];
    char job_name[APAPI_TEXT_SIZE];
    bool verified;       /* partition and array come from Slurm; false: from the step's
                            environment, which its user can change */
    uint32_t array_job;  /* job id of the array */
    uint32_t array_task; /* number of the task in the array */
    uint32_t het_job;    /* job id of the heterogeneous job's first component */
    uint32_t het_offset; /* number of the component, from 0 */
    uint32_t cores;      /* allocated on this node, as Slurm counts them: to the job for a batch or
                            interactive step, otherwise to the step */
    uint32_t node_cores; /* all cores of this node, as Slurm counts them; more than `cores`: the
                            node may be shared */
    uint32_t gpus;       /* allocated on this node, like `cores` */
    uint32_t restarts;   /* times the job was requeued */
    uint32_t job_nodes;  /* nodes of the job; known in a batch step only */
};

/** An identity of which nothing is known. Not for C++. */
#define APAPI_IDENTITY_UNKNOWN                                                                     \
    ((struct apapi_identity){.job = APAPI_UNKNOWN,                                                 \
                             .node_index = APAPI_UNKNOWN,                                          \
                             .nodes = APAPI_UNKNOWN,                                               \
                             .tasks = APAPI_UNKNOWN,                                               \
                             .uid = APAPI_UNKNOWN,                                                 \
                             .array_job = APAPI_UNKNOWN,                                           \
                             .array_task = APAPI_UNKNOWN,                                          \
                             .het_job = APAPI_UNKNOWN,                                             \
                             .het_offset = APAPI_UNKNOWN,                                          \
                             .cores = APAPI_UNKNOWN,                                               \
                             .node_cores = APAPI_UNKNOWN,                                          \
                             .gpus = APAPI_UNKNOWN,                                                \
                             .restarts = APAPI_UNKNOWN,                                            \
                             .job_nodes = APAPI_UNKNOWN})

/** How the tasks of the step ended on this node. APAPI_UNKNOWN: not known. */
struct apapi_ending {
    uint32_t code;   /* highest exit status */
    uint32_t signal; /* highest number of a signal that ended a task; APAPI_UNKNOWN: or none did */
    uint32_t failed; /* tasks with an exit status other than 0, or ended by a signal */
};

/** An ending of which nothing is known. Not for C++. */
#define APAPI_ENDING_UNKNOWN ((struct apapi_ending){APAPI_UNKNOWN, APAPI_UNKNOWN, APAPI_UNKNOWN})

#define APAPI_CROSSINGS_MAX 32 /* most in a record: of more, the first and the last half */

/** A threshold that was crossed, and what was done. */
struct apapi_crossing {
    char threshold[APAPI_TEXT_SIZE]; /* as it was given, without the actions: "total >= 5kJ" */
    int64_t unix_ns;                 /* crossing time, between two readings, UTC since 1970 [ns] */
    double value;                    /* value of the meter at that time [unit]; NaN: not known */
    char unit[APAPI_UNIT_SIZE];      /* of `value` */
    uint64_t count;                  /* crossings of this threshold up to and with this one */
    char action[APAPI_TEXT_SIZE];    /* "log, signal=USR1" */
    char result[APAPI_TEXT_SIZE];    /* the result of the actions; "": nothing to report */
};

/** Everything measured for one step on one node. */
struct apapi_record {
    struct apapi_identity id;
    bool complete;                /* the record reaches the end of the step */
    char reason[APAPI_TEXT_SIZE]; /* why it is not complete; "": it is */
    struct apapi_measurement measurement;
    struct apapi_ending ending;
    bool recovered;                  /* from a checkpoint: its writer ended before the step did */
    bool delayed;                    /* was not written at the end of the step, but later */
    char unwritten[APAPI_TEXT_SIZE]; /* in the copy for srun: why the record could not be written;
                                        "": it was written */
    struct apapi_regions regions;    /* of the step's programs; count 0: none was used */
    uint64_t crossings;              /* crossings of all thresholds */
    size_t crossing_count;           /* length of `crossing` */
    struct apapi_crossing *crossing; /* by time; owned by the record; NULL: none */
    struct apapi_share share; /* the step's share of the energy in `measurement`, which is of the
                                 whole node */
};

/* Records as JSON; record.md describes it. These functions may be called from any thread. */

/**
 * Write a record as one line of JSON, without the newline. The line has all figures: none has to be
 * derived from others.
 * @param line  result; free it with free(). Set on success only
 * @return 0; -1 with errno ENOMEM
 */
APAPI_API int apapi_record_encode(const struct apapi_record *record, char **line,
                                  struct apapi_error *err);

/**
 * Parse a record.
 * @param text    JSON, `size` bytes; a NUL at the end is not needed
 * @param record  result; empty it with apapi_record_clear(). Set on success only
 * @return 0; -1 with errno
 *         EINVAL   not a record: `err` says what is wrong and where
 *         ENOTSUP  a version that is not known
 *         ENOMEM
 */
APAPI_API int apapi_record_decode(const char *text, size_t size, struct apapi_record *record,
                                  struct apapi_error *err);

/**
 * @return uncertainty of the energy of all domains that add up [J]: the sum over the domains, as
 *         all may err in the same direction. NaN: one is not known, or no domain was measured
 */
APAPI_API double apapi_record_uncertainty_j(const struct apapi_measurement *m);

/** Free what the record owns, and set it to zeros. NULL is allowed. errno is preserved. */
APAPI_API void apapi_record_clear(struct apapi_record *record);

/*
 * The records of one step from all its nodes, added up as they arrive. Little is kept of each one.
 */

/** A merge. Opaque. One thread at a time. */
struct apapi_merge;

/** @return an empty merge; free it with apapi_merge_destroy(). NULL with errno ENOMEM. */
APAPI_API struct apapi_merge *apapi_merge_create(void);

/** Free a merge. NULL is allowed. errno is preserved. */
APAPI_API void apapi_merge_destroy(struct apapi_merge *merge);

/**
 * Add the record of a node; the merge copies what it needs.
 * @return 0; -1 with errno
 *         EEXIST  the node was added before; nothing changes
 *         ENOMEM  the merge can no longer be formatted or encoded
 */
APAPI_API int apapi_merge_add(struct apapi_merge *merge, const struct apapi_record *record);

/**
 * Add a node that has no record.
 * @param reason  why the node has no record; NULL or "": the node is only counted
 * @return 0; -1 with errno as apapi_merge_add()
 */
APAPI_API int apapi_merge_absent(struct apapi_merge *merge, const char *node, const char *reason);

/**
 * Expect the records of these nodes. Nodes that were added before are ignored.
 * @param nodelist  as Slurm writes it: "login,n[001-004,7]"
 * @return 0; -1 with errno
 *         EINVAL  not a list of nodes; some of its nodes may be expected now
 *         ENOMEM
 */
APAPI_API int apapi_merge_expect(struct apapi_merge *merge, const char *nodelist);

/**
 * Add all nodes that are still expected as nodes without a record.
 * @param reason  as for apapi_merge_absent()
 * @return 0; -1 with errno ENOMEM
 */
APAPI_API int apapi_merge_give_up(struct apapi_merge *merge, const char *reason);

/** Receives a node without a record. The texts are valid only during the call. */
typedef void (*apapi_absent_f)(const char *node, const char *reason, void *context);

/** Call `visit` for each node that has no record and a reason for it. */
APAPI_API void apapi_merge_absentees(const struct apapi_merge *merge, apapi_absent_f visit,
                                     void *context);

/** @return whether `node` was added, with or without a record. */
APAPI_API bool apapi_merge_has(const struct apapi_merge *merge, const char *node);

/** @return whether `node` is still expected. */
APAPI_API bool apapi_merge_awaits(const struct apapi_merge *merge, const char *node);

/** @return number of nodes that were added, with or without a record. */
APAPI_API size_t apapi_merge_count(const struct apapi_merge *merge);

/** @return number of nodes that are still expected. */
APAPI_API size_t apapi_merge_awaited(const struct apapi_merge *merge);

/**
 * The merged record: all nodes together as one line of JSON, without the newline, as
 * merged.schema.json describes it.
 * @param step  "17.0", for a merge without any record; NULL: not known
 * @param line  result; free it with free(). Set on success only
 * @return 0; -1 with errno ENOMEM
 */
APAPI_API int apapi_merge_encode(const struct apapi_merge *merge, const char *step, char **line,
                                 struct apapi_error *err);

/** Parts of a table besides the measurement. */
struct apapi_table_head {
    const char *step;    /* "17.0", "17.batch"; NULL: no Slurm step */
    const char *name;    /* of the program; NULL or "": none */
    double user_s;       /* CPU time of the program in user mode [s]; NaN: not shown */
    double system_s;     /* CPU time of the program in the kernel [s] */
    double elapsed_s;    /* wall time of the program [s]; NaN: show the time of the measurement */
    uint64_t peak_bytes; /* peak memory of the program [bytes]; 0: not shown */
    const char *end;     /* how the program ended, "exit status 3"; NULL: not shown */
    const char *note;    /* what else went wrong; NULL: nothing */
    size_t nodes;        /* nodes of the step; 0: as many as the records say */
    bool verbose;        /* show every event, and the trust block in words */
};

/**
 * A table for people: domains, total, nodes, coverage. At most 80 columns; every line ends with a
 * newline.
 * @param text  result; free it with free(). Set on success only
 * @return 0; -1 with errno ENOMEM
 */
APAPI_API int apapi_table_format(const struct apapi_merge *merge,
                                 const struct apapi_table_head *head, char **text,
                                 struct apapi_error *err);

APAPI_END_C
#endif
