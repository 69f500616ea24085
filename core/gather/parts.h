/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_GATHER_PARTS_H
#define APAPI_GATHER_PARTS_H
#include <stddef.h>
#include <stdint.h>

#include "apapi/job.h"
#include "gather/receiver.h"
#include "sum/members.h"

#define PARTS_MAX 65536      /* records that are accepted */
#define PARTS_TIMELINES 4096 /* records that keep their timelines */
#define PARTS_RUNNING 256    /* running steps to wait for */

/**
 * The records of a job's steps, forwarded by the sruns of its script. They come from processes of
 * the user, so they are only for the user's own table, never for accounting.
 */
struct parts {
    struct receiver receiver; /* receiver_work() is the owner's */
    struct apapi_job *job;
    uint32_t id; /* of the job or its first component; APAPI_UNKNOWN: that of the first record */
    char name[JOB_ID_SIZE]; /* Slurm's name, "28_1"; "": the number */
    size_t lines;           /* received so far */
    size_t count;
    size_t left_out; /* records without room */
    bool own;        /* has a record that was not forwarded */
    bool only;       /* steps have no tables of their own */
    /* called with the totals of a step that runs; and, `lines` NULL, when one has ended. NULL: not
     * needed */
    void (*totals)(void *context, const char *step, const char *lines);
    void *totals_context;
    size_t running_count;
    char running[PARTS_RUNNING][48]; /* running steps: "17.0" */
};

/**
 * Begin to listen.
 * @param listener  listening socket, borrowed
 * @param token     senders must show it
 * @return 0; -1 with errno. Nothing needs to be closed then.
 */
int parts_open(struct parts *parts, int listener, const char *token, uint32_t job);

/** Add a record that was not forwarded. */
void parts_add(struct parts *parts, const struct apapi_record *record);

/**
 * Receive until all running steps have ended.
 * @param deadline_ns  in the time of deadline_now(): when to give up
 */
void parts_wait(struct parts *parts, uint64_t deadline_ns);

/**
 * The job's table. It names the steps that still run.
 * @param nodes, nodelist  of the job or its first component; 0, "": not known
 * @return the table, free it with free(); NULL: the table of a single step is enough, or ENOMEM.
 */
char *parts_table(struct parts *parts, size_t nodes, const char *nodelist);

/** Receive until the plugin asks for the job's table, and send it. @return 0; -1 with errno. */
int parts_serve(struct parts *parts, struct message *message);

/** Close and free everything except the listening socket. */
void parts_close(struct parts *parts);

#endif
