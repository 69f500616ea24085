/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_CHANNEL_CHANNEL_H
#define APAPI_CHANNEL_CHANNEL_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * How the plugin talks to its helper processes, and the nodes to srun. Constants only: the plugin
 * includes this file and links nothing.
 *
 * Plugin and helper share a SOCK_SEQPACKET socketpair, descriptor APAPI_CHANNEL_FD in the helper.
 * A message is a sequence of texts, each ended by a NUL: its word, then pairs of key and
 * value where the word has any. End of file means that the other side has ended.
 *
 * While APAPI is upgraded, a plugin and a helper of different versions may meet. Each ignores
 * unknown words and keys, and does without those that the other leaves out. So a word or key may be
 * added, but its meaning never changes. APAPI_CHANNEL_VERSION grows with each addition.
 *
 *   plugin to apapi-sampler (one per step and node)
 *     config  components site_components intervals share cluster job step name node node_index
 *             nodes nodelist tasks cores restarts uid account partition qos job_name array_job
 *             array_task het_job het_offset verified (left out if a user may have forged
 *             partition or array) gpus slurm_conf format output trace gid groups umask rules;
 *             job_nodes: of a batch step; of a heterogeneous job, its first component's nodes
 *             (first message; a key is left out if its value is not known)
 *             config words: the site's settings, which the sampler reads for itself: path of
 *             apapi.conf, and what follows the plugin in plugstack.conf, one word a line
 *             channel: the plugin's APAPI_CHANNEL_VERSION; left out by older plugins
 *             job_token job_nodelist job_only job_one: for a batch step whose sampler makes the
 *             job's table; then APAPI_LISTEN_FD is a listening socket. job_nodelist has the nodes
 *             of all components of a heterogeneous job.
 *             job_only: the batch step has no table. job_one: it has a table only if there is
 *             nothing else in the job
 *             watch_ms: longest interval of readings that a user may ask for, as limits are
 *             watched; 0: none are
 *             overflow: thresholds, one a line; the rights (gid groups umask) come with them
 *             budget totals_ms: for a batch step that watches the energy of its job; the rights
 *             come with them. budget is left out if only the site has one. job_quiet: there is no
 *             table of the job
 *     task    pid     a task of the step; only if the config message has overflow or totals_ms
 *     begin   ns folder   take the first reading now; ns: CLOCK_MONOTONIC when the plugin asked;
 *                     folder: the job's folder, to which output and trace (patterns, see
 *                     config/filename.h) are relative
 *             collect collect_address   if srun wants totals: "PORT:TOKEN:TOTALS_MS", its address
 *     stop    exit_code exit_signal failed_tasks wait_ms
 *                     take the last reading, write the record, answer, exit; before the table of
 *                     the job, wait at most wait_ms for steps that still run
 *     ask     about text config   instead of config: a question, see sampler/questions.c
 *     node    node config   instead of config, from slurmd's plugin: reads the meters of the node
 *                     until the channel ends; config: path of apapi.conf
 *   apapi-sampler to plugin, and apapi-collect to the plugin of salloc
 *     part    TEXT    the first or a further part of the text of the next word, if the text is
 *                     too long for a message (no key)
 *   apapi-sampler to plugin
 *     ready           the first reading was taken
 *     stopping TEXT   the stop was received, or others told the sampler to end: a record
 *                     follows, perhaps late. The plugin no longer kills the sampler, which may
 *                     have to wait for a disk. TEXT: number of messages that the system's log did
 *                     not accept; "": none (no key)
 *     record  TEXT    the record, one line of JSON (no key)
 *     table   TEXT    follows the record if the config message has a format (no key)
 *     note    TEXT    the last message, if the config message has output, trace, overflow or
 *                     totals_ms: problems with them; "": none (no key)
 *     answer  TEXT    the answer to a question: yes, or what was asked for; "": nothing (no key)
 *     refused TEXT    the answer to a question: no, and why (no key)
 *     failed  TEXT    instead of ready, record or answer: the reason (no key)
 *
 *   plugin to apapi-collect (one per srun); its descriptor APAPI_LISTEN_FD is a listening socket
 *     config  token step name nodes format verbose (first message)
 *             job: value of APAPI_JOB_ENV, to which the records are forwarded
 *             totals_ms budget overflow config slurm_bin slurm_conf quiet: for limits of the
 *             step; then descriptor 2 of apapi-collect is srun's standard error. overflow: limits,
 *             one a line, also of other scopes. job_budget: the job has a limit
 *     end     nodelist wait_ms   the step has ended; nodelist: "n[1-4,7]", left out if not known.
 *                                Waits at most wait_ms for missing records.
 *   salloc's plugin to its apapi-collect, which answers "end" with one table, "" if there is none
 *     config  token whole_job job_only
 *     end     nodes nodelist
 *   apapi-collect to plugin
 *     table   TEXT    a part of the report, to be written to the user's output (no key)
 *     end             the report is complete
 *
 *   node to srun, over TCP: one line "TOKEN WORD NODE[ NODELIST]\n", then the payload up to end
 *   of file; NODELIST: the nodes of its step, "n[1-4,7]"
 *     record          payload: the record as JSON
 *     absent          payload: the reason why there is no record; empty: it is not reported
 *     total           from apapi-sampler, every TOTALS_MS if srun wants totals; payload: "RUN
 *                     ELAPSED_NS JOULES JOB", see limit/totals.h. apapi-collect answers with
 *                     "budget JOULES USED_JOULES", the least budget and the sum of all nodes,
 *                     then a line with the crossings of limits, as a record without anything
 *                     else, and closes the connection. Unknown lines are ignored
 *
 *   apapi-collect to the process that makes the table of a whole job (apapi-sampler of the batch
 *   step, or apapi-collect of salloc), over a stream socket of this machine, in the same form:
 *     running         a step has begun; NODE: the step, "17.0"; no payload
 *     records         payload: records, one in each line; NODE: "-"
 *     step_totals     energy of a running step so far, if srun's nodes send totals; NODE: the
 *                     step; payload: a line for each node, its name, the age of its total [ns],
 *                     and the total as in "total"; JOULES "-": not known; " ended" at the end:
 *                     the step is over on the node
 *     ended           all records of a step were sent; NODE: the step; no payload
 *   The plugin puts "NAME:TOKEN" into the batch script's or salloc's environment as APAPI_JOB_ENV,
 *   and removes it before the tasks of a step start. NAME: that of the socket, after a NUL.
 *
 * The token has APAPI_TOKEN_LENGTH lower-case hexadecimal digits. srun puts "PORT:TOKEN" into the
 * step's environment as APAPI_COLLECT_ENV, "PORT:TOKEN:TOTALS_MS" if it wants totals; the plugin
 * removes the variable before any task starts.
 */
#define APAPI_CHANNEL_VERSION "5"
#define APAPI_CHANNEL_FD 3
#define APAPI_LISTEN_FD 4
#define APAPI_MESSAGE_MAX 131072  /* bytes of a message */
#define APAPI_PAYLOAD_MAX 1048576 /* bytes that a node may send to srun */
#define APAPI_TOKEN_LENGTH 32
#define APAPI_COLLECT_ENV "SLURM_APAPI_COLLECT"
#define APAPI_JOB_ENV "SLURM_APAPI_JOB"
#define APAPI_LIVE_PATH "%s/%s/%u/%u.%s" /* of a live page: live_dir, node, uid, job, step */

#define APAPI_WORD_CONFIG "config"
#define APAPI_WORD_ASK "ask"
#define APAPI_WORD_ANSWER "answer"
#define APAPI_WORD_REFUSED "refused"
#define APAPI_WORD_NODE "node"
#define APAPI_WORD_TASK "task"
#define APAPI_WORD_BEGIN "begin"
#define APAPI_WORD_STOP "stop"
#define APAPI_WORD_READY "ready"
#define APAPI_WORD_STOPPING "stopping"
#define APAPI_WORD_PART "part"
#define APAPI_WORD_RECORD "record"
#define APAPI_WORD_TABLE "table"
#define APAPI_WORD_NOTE "note"
#define APAPI_WORD_FAILED "failed"
#define APAPI_WORD_END "end"
#define APAPI_ANSWER_BUDGET "budget "
#define APAPI_WORD_ABSENT "absent"
#define APAPI_WORD_RECORDS "records"
#define APAPI_WORD_TOTAL "total"
#define APAPI_WORD_RUNNING "running"
#define APAPI_WORD_TOTALS "step_totals"
#define APAPI_WORD_ENDED "ended"

/* Messages between the plugin and its helper processes. The plugin contains them: libc only. */

#define MESSAGE_TEXT_MAX (16U << 20) /* bytes of a text that is sent in parts */

/**
 * NUL-terminated texts, one after the other. Too big for a small stack: declare a message static.
 */
struct message {
    size_t length; /* bytes in use */
    bool overflow; /* a text did not fit: the message cannot be sent */
    char bytes[APAPI_MESSAGE_MAX];
};

/** Begin a message with its word; append a text. */
void message_start(struct message *message, const char *word);
void message_add_text(struct message *message, const char *text);

/** Append a key and its value. Appends nothing if the value is NULL (not known). */
void message_add_pair(struct message *message, const char *key, const char *value);

/** Append key and number. */
void message_add_number(struct message *message, const char *key, uint64_t value);

/**
 * Send to a channel. Never raises SIGPIPE.
 * @return 0; -1 with errno of send(), EMSGSIZE (too long), ETIMEDOUT, EPIPE (the other side has
 * ended).
 */
int message_send(int channel, const struct message *message, uint64_t deadline_ns);

/**
 * Receive from a channel.
 * @param message  result; undefined on error
 * @return 0; -1 with errno of recv(), ETIMEDOUT, EPIPE (end of file), EBADMSG (not a message).
 */
int message_receive(int channel, struct message *message, uint64_t deadline_ns);

/**
 * Send a word with a text of any length, in as many messages as needed.
 * @param message  buffer for the messages
 * @return 0; -1 as message_send().
 */
int message_send_text(int channel, struct message *message, const char *word, const char *text,
                      uint64_t deadline_ns);

/**
 * Receive what message_send() or message_send_text() sent.
 * @param message  result: the last message, which starts with the word; undefined on error
 * @param text     result, set on success only: the whole text after the word; free it with free()
 * @return 0; -1 as message_receive(); EBADMSG also for more than MESSAGE_TEXT_MAX bytes; ENOMEM.
 */
int message_receive_text(int channel, struct message *message, char **text, uint64_t deadline_ns);

/** @return whether the message's first text is `word`. */
bool message_is(const struct message *message, const char *word);

/** @return the text after the word, or "". Valid as long as the message. */
const char *message_text(const struct message *message);

/** @return the value of a key, or NULL. Valid as long as the message. */
const char *message_value(const struct message *message, const char *key);

/** @return the value of a key as a number; 0: the key has no value, or not a number. */
uint64_t message_number(const struct message *message, const char *key);

/*
 * A packet: the event settings of a user's environment as one text. An environment variable carries
 * the packet with the job:
 *
 *   KIND SIZE NAME\n<SIZE bytes>\n ...
 *
 * KIND: "eventlist", "eventops" (NAME: the file name, the bytes: its content), "components" (the
 * bytes: APAPI_CMPLIST), "verbose" (APAPI_VERBOSE). libc only.
 */

#define PACKET_VARIABLE "SLURM_APAPI_RULES"
#define PACKET_MAX 65536 /* bytes of the text with its NUL */
#define PACKET_NAME_SIZE 256

#define PACKET_EVENTLIST "eventlist"
#define PACKET_EVENTOPS "eventops"
#define PACKET_COMPONENTS "components"
#define PACKET_VERBOSE "verbose"

/** One part of a packet. */
struct packet_item {
    char name[PACKET_NAME_SIZE];
    const char *bytes; /* within the packet, followed by a newline */
    size_t size;
};

/** Find a part. @return false: no such part, or `packet` is no packet. NULL has no parts. */
bool packet_find(const char *packet, const char *kind, struct packet_item *item);

/** @return whether APAPI_VERBOSE is 1 in a packet. */
bool packet_is_verbose(const char *packet);

/**
 * Append a part to a packet.
 * @param name  a name of PACKET_NAME_SIZE bytes or more loses its beginning
 * @return 0; -1 with errno EMSGSIZE: no room. `packet` is unchanged then.
 */
int packet_add(char packet[PACKET_MAX], const char *kind, const char *name, const char *bytes,
               size_t size);

#endif
