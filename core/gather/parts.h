/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_GATHER_PARTS_H
#define APAPI_GATHER_PARTS_H
#include <stddef.h>
#include <stdint.h>

#include "apapi/job.h"
#include "gather/receiver.h"
#include "sum/members.h"

#define PARTS_MAX 65536      /* most records that are accepted */
#define PARTS_TIMELINES 4096 /* the first records keep their timelines, later ones do not */
#define PARTS_RUNNING 256    /* most running steps to wait for */

/**
 * The records of a job's steps, forwarded by the sruns of its script. They come from processes of
 * the user, so they are only for the user's own table, never for accounting.
 */
struct parts {
    struct receiver receiver; /* the owner of the parts calls receiver_work() */
    struct apapi_job *job;
    uint32_t id; /* of the job or its first component; APAPI_UNKNOWN: the first record tells it */
    char name[JOB_ID_SIZE]; /* Slurm's name of the job, "28_1"; "": the number is its name */
    size_t lines;           /* received so far, without those of parts_add() */
    size_t count;
    size_t left_out; /* records that had no room */
    bool own;        /* parts_add() has added a record */
    bool only;       /* the steps have no tables of their own */
    /* called with the totals of a running step, and with `lines` NULL when a step has ended;
     * NULL: not needed */
    void (*totals)(void *context, const char *step, const char *lines);
    void *totals_context;
    size_t running_count;
    char running[PARTS_RUNNING][48]; /* running steps: "17.0" */
};

/**
 * Begin to listen.
 * @param listener  listening socket, borrowed
 * @param token     that senders must show
 * @return 0; -1 with errno: nothing needs to be closed
 */
int parts_open(struct parts *parts, int listener, const char *token, uint32_t job);

/** Add a record that was not forwarded. */
void parts_add(struct parts *parts, const struct apapi_record *record);

/**
 * Receive until all running steps have ended.
 * @param deadline_ns  when to give up, by the clock of deadline_now()
 */
void parts_wait(struct parts *parts, uint64_t deadline_ns);

/**
 * Format the job's table, which names the steps that still run.
 * @param nodes, nodelist  of the job or its first component; 0, "": not known
 * @return the table, free it with free(); NULL: the table of a single step is enough, or ENOMEM.
 */
char *parts_table(struct parts *parts, size_t nodes, const char *nodelist);

/** Receive until the plugin asks for the job's table, and send it. @return 0; -1 with errno. */
int parts_serve(struct parts *parts, struct message *message);

/** Close and free everything except the listening socket. */
void parts_close(struct parts *parts);

#endif
