/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_RECORD_H
#define APAPI_RECORD_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/error.h"
#include "apapi/measurement.h"

#ifdef __cplusplus
extern "C" {
#endif

#define APAPI_RECORD_VERSION 1
#define APAPI_TEXT_SIZE 256 /* bytes of a name with its NUL; longer ones are cut */

/** Whose measurement it is. Unknown texts are "", unknown numbers APAPI_UNKNOWN. */
#define APAPI_UNKNOWN UINT32_MAX
struct apapi_identity {
    char cluster[64];
    uint32_t job;
    char step[32];              /* "0", "batch", "interactive"; "" outside Slurm */
    char name[APAPI_TEXT_SIZE]; /* the program's or step's name */
    char node[APAPI_TEXT_SIZE];
    uint32_t node_index;            /* of this node in the step, from 0 */
    uint32_t nodes;                 /* of the step */
    char nodelist[APAPI_TEXT_SIZE]; /* their names as Slurm writes them, "n[001-004,7]"; "" also
                                       where that is longer: a part of it names the wrong ones */
    uint32_t tasks;                 /* of the step on this node */
    uint32_t uid;
    char user[64];
    char account[64];
    char partition[64];
    char qos[64];
    char job_name[APAPI_TEXT_SIZE]; /* of the job */
    bool verified;                  /* partition and array are what Slurm says; else they are what
                                       the step's environment says, and so its user */
    uint32_t array_job;             /* job id of the array that the job is one of */
    uint32_t array_task;            /* its number in there */
    uint32_t het_job;               /* job id of the heterogeneous job's first component */
    uint32_t het_offset;            /* which component of it, from 0 */
    uint32_t cores;    /* allocated on this node, as Slurm counts; to the job in a batch or
                          interactive step, else to the step */
    uint32_t gpus;     /* the same */
    uint32_t restarts; /* times the job was requeued */
};

/** All unknown. */
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
                             .gpus = APAPI_UNKNOWN,                                                \
                             .restarts = APAPI_UNKNOWN})

/** How the tasks of the step on this node have ended. APAPI_UNKNOWN: not known. */
struct apapi_ending {
    uint32_t code;   /* greatest exit status */
    uint32_t signal; /* greatest number of a signal that ended a task; APAPI_UNKNOWN: also, none */
    uint32_t failed; /* tasks with another status than 0, or ended by a signal */
};

/** No task is known to have ended. */
#define APAPI_ENDING_UNKNOWN ((struct apapi_ending){APAPI_UNKNOWN, APAPI_UNKNOWN, APAPI_UNKNOWN})

/** Everything measured for one step on one node. */
struct apapi_record {
    struct apapi_identity id;
    bool complete;
    char reason[APAPI_TEXT_SIZE]; /* why it is not complete; "" if it is */
    struct apapi_measurement measurement;
    struct apapi_ending ending;
    bool recovered; /* it was saved while the step ran; its writer has not lived to the end */
    bool delayed;   /* it could not be written at the step's end, but later */
    char unwritten[APAPI_TEXT_SIZE]; /* why it could not; as it is handed to srun. "": it was */
};

/**
 * Write a record as one line of JSON, without the newline. What follows from the rest is left out.
 * @param line  result, to be freed with free(); set on success only
 * @return 0; -1 with errno ENOMEM.
 */
APAPI_API int apapi_record_encode(const struct apapi_record *record, char **line,
                                  struct apapi_error *err);

/** The same with nothing left out, for readers of other programs: up to twice as long. */
APAPI_API int apapi_record_encode_whole(const struct apapi_record *record, char **line,
                                        struct apapi_error *err);

/**
 * Read a record from `size` bytes of JSON.
 * @param record  result, to be emptied by apapi_record_clear(); set on success only
 * @return 0; -1 with errno EINVAL (not a record: `err` says what and where), ENOTSUP (a version
 *         that is not known), ENOMEM.
 */
APAPI_API int apapi_record_decode(const char *text, size_t size, struct apapi_record *record,
                                  struct apapi_error *err);

/**
 * @return uncertainty of the energy of all domains that add up [J]: the sum of theirs, as they may
 *         all err to the same side; NaN if one of them does not know it, or none was measured.
 */
APAPI_API double apapi_record_uncertainty_j(const struct apapi_measurement *m);

/** Free what the record owns and empty it. NULL is allowed. errno is preserved. */
APAPI_API void apapi_record_clear(struct apapi_record *record);

/**
 * Append a line to the node's accounting file <dir>/<YYYY-MM-DD>/<node>.jsonl (day in UTC) with
 * one write. Creates the folders (mode 0700) and the file (0600); follows no symbolic link
 * below `dir`.
 * @param unix_ns  decides the day [ns since 1970, UTC]
 * @return 0; -1 with errno of the call that failed (ELOOP: a link; EINVAL: a node name with '/'
 *         or ".."); `err` names the file.
 */
APAPI_API int apapi_store_append(const char *dir, const char *node, int64_t unix_ns,
                                 const char *line, struct apapi_error *err);

/**
 * Wait until what was appended to that file is on the disk, and survives a power cut.
 * @return 0; -1 as apapi_store_append().
 */
APAPI_API int apapi_store_sync(const char *dir, const char *node, int64_t unix_ns,
                               struct apapi_error *err);

/**
 * Records of one step from all its nodes, added up as they come; of a single node little is kept
 * (opaque). One thread at a time.
 */
struct apapi_merge;

/** @return an empty merge; caller frees with apapi_merge_destroy(). NULL with errno ENOMEM. */
APAPI_API struct apapi_merge *apapi_merge_create(void);

/** Free. NULL is allowed. errno is preserved. */
APAPI_API void apapi_merge_destroy(struct apapi_merge *merge);

/**
 * Add a node's record; the merge copies what it needs.
 * @return 0; -1 with errno EEXIST (that node is there already), ENOMEM (no table can be made of
 *         the merge any more).
 */
APAPI_API int apapi_merge_add(struct apapi_merge *merge, const struct apapi_record *record);

/**
 * Note that a node has no record.
 * @param reason  why, in words; NULL or "": nobody wants to know, the table counts it only
 * @return 0; -1 with errno EEXIST (that node is there already), ENOMEM (as above).
 */
APAPI_API int apapi_merge_absent(struct apapi_merge *merge, const char *node, const char *reason);

/**
 * Await the records of these nodes, as far as they are not there.
 * @param nodelist  as Slurm writes it: "login,n[001-004,7]"
 * @return 0; -1 with errno EINVAL (not such a list; some of its nodes may be awaited now), ENOMEM.
 */
APAPI_API int apapi_merge_expect(struct apapi_merge *merge, const char *nodelist);

/**
 * All nodes that are still awaited have no record.
 * @return 0; -1 with errno ENOMEM.
 */
APAPI_API int apapi_merge_give_up(struct apapi_merge *merge, const char *reason);

/** Receives a node without a record. The texts live during the call. */
typedef void (*apapi_absent_f)(const char *node, const char *reason, void *context);

/** Call `visit` for each node that has no record and a reason for it. */
APAPI_API void apapi_merge_absentees(const struct apapi_merge *merge, apapi_absent_f visit,
                                     void *context);

/** @return whether a record or an absence of `node` is there. */
APAPI_API bool apapi_merge_has(const struct apapi_merge *merge, const char *node);

/** @return whether `node` is still awaited. */
APAPI_API bool apapi_merge_awaits(const struct apapi_merge *merge, const char *node);

/** @return how many nodes are there, with a record or absent. */
APAPI_API size_t apapi_merge_count(const struct apapi_merge *merge);

/** @return how many nodes are still awaited. */
APAPI_API size_t apapi_merge_awaited(const struct apapi_merge *merge);

/**
 * The merged record: all nodes together as one line of JSON, without the newline, as
 * docs/merged.schema.json has it.
 * @param step  "17.0"; said where no node has a record; NULL: not known
 * @param line  result, to be freed with free(); set on success only
 * @return 0; -1 with errno ENOMEM.
 */
APAPI_API int apapi_merge_encode(const struct apapi_merge *merge, const char *step, char **line,
                                 struct apapi_error *err);

/** What a table says besides the measurement. */
struct apapi_table_head {
    const char *step;    /* "17.0", "17.batch"; NULL: no Slurm step */
    const char *name;    /* of the program; NULL or "": none */
    double user_s;       /* CPU time of the program [s]; NaN: not shown */
    double system_s;     /* the same in the kernel [s] */
    double elapsed_s;    /* wall time of the program [s]; NaN: that of the measurement */
    uint64_t peak_bytes; /* most memory that it had at once [bytes]; 0: not shown */
    const char *end;     /* how the program ended, "exit status 3"; NULL: not shown */
    const char *note;    /* what else went wrong; NULL: nothing */
    size_t nodes;        /* of the step; 0: as many as the records say */
    bool verbose;        /* every event, and the trust block in words */
};

/**
 * The report for a person: domains, total, nodes, coverage; at most 80 columns; every line ends
 * with a newline.
 * @param text  result, to be freed with free(); set on success only
 * @return 0; -1 with errno ENOMEM.
 */
APAPI_API int apapi_table_format(const struct apapi_merge *merge,
                                 const struct apapi_table_head *head, char **text,
                                 struct apapi_error *err);

#ifdef __cplusplus
}
#endif
#endif
