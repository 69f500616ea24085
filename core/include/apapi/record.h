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
    uint32_t node_index; /* of this node in the step, from 0 */
    uint32_t nodes;      /* of the step */
    uint32_t tasks;      /* of the step on this node */
    uint32_t uid;
    char user[64];
    char account[64];
    char partition[64];
};

/** Everything measured for one step on one node. */
struct apapi_record {
    struct apapi_identity id;
    bool complete;
    char reason[APAPI_TEXT_SIZE]; /* why it is not complete; "" if it is */
    struct apapi_measurement measurement;
};

/**
 * Write a record as one line of JSON, without the newline.
 * @param line  result, to be freed with free(); set on success only
 * @return 0; -1 with errno ENOMEM.
 */
APAPI_API int apapi_record_encode(const struct apapi_record *record, char **line,
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

/** Records of one step from all its nodes (opaque). */
struct apapi_merge;

/** @return an empty merge; caller frees with apapi_merge_destroy(). NULL with errno ENOMEM. */
APAPI_API struct apapi_merge *apapi_merge_create(void);

/** Free. NULL is allowed. errno is preserved. */
APAPI_API void apapi_merge_destroy(struct apapi_merge *merge);

/**
 * Add a node's record; the merge copies what it needs.
 * @return 0; -1 with errno EEXIST (that node is there already), ENOMEM.
 */
APAPI_API int apapi_merge_add(struct apapi_merge *merge, const struct apapi_record *record);

/**
 * Note that a node has no record.
 * @param reason  why, in words
 * @return 0; -1 with errno EEXIST (that node is there already), ENOMEM.
 */
APAPI_API int apapi_merge_absent(struct apapi_merge *merge, const char *node, const char *reason);

/** @return whether a record or an absence of `node` is there. */
APAPI_API bool apapi_merge_has(const struct apapi_merge *merge, const char *node);

/** @return how many nodes there are, with a record or absent. */
APAPI_API size_t apapi_merge_count(const struct apapi_merge *merge);

/** What a table says besides the measurement. */
struct apapi_table_head {
    const char *step;    /* "17.0", "17.batch"; NULL: no Slurm step */
    const char *name;    /* of the program; NULL or "": none */
    double user_s;       /* CPU time of the program [s]; NaN: not shown */
    double system_s;     /* the same in the kernel [s] */
    double elapsed_s;    /* wall time of the program [s]; NaN: that of the measurement */
    uint64_t peak_bytes; /* most memory that it had at once [bytes]; 0: not shown */
    const char *end;     /* how the program ended, "exit status 3"; NULL: not shown */
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
