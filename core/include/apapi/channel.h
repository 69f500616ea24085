/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_CHANNEL_H
#define APAPI_CHANNEL_H

/*
 * How the plugin talks to its helper processes, and the nodes to srun. Constants only: the plugin
 * includes this file and links nothing.
 *
 * Plugin and helper share a SOCK_SEQPACKET socketpair, descriptor APAPI_CHANNEL_FD in the helper.
 * A message is a sequence of texts, each ended by a NUL: its word, then pairs of key and
 * value where the word has any. End of file means that the other side is gone.
 *
 *   plugin to apapi-sampler (one per step and node)
 *     config  components intervals acct_dir cluster job step name node node_index nodes tasks
 *             uid user account partition table     (first message; unknown = left out)
 *     begin   ns      take the first reading now; ns: CLOCK_MONOTONIC when the plugin asked
 *     stop    ns      take the last reading, write the record, answer, exit
 *   apapi-sampler to plugin
 *     ready           the first reading has been taken
 *     record  TEXT    the record, one line of JSON (no key)
 *     table   TEXT    follows the record where the configuration asked with table=1 (no key)
 *     failed  TEXT    instead of ready or record: why (no key)
 *
 *   plugin to apapi-collect (one per srun); its descriptor APAPI_LISTEN_FD is a listening socket
 *     config  token step name nodes                (first message)
 *     end     nodelist wait_ms   the step has ended; nodelist: "n1,n2", "" where not known.
 *                                Waits at most wait_ms for records still missing.
 *   apapi-collect to plugin
 *     table   TEXT    the report, to be written to srun's standard error (no key)
 *
 *   node to srun, over TCP: one line "TOKEN WORD NODE\n", then the payload up to end of file
 *     record          payload: the record as JSON
 *     absent          payload: why there is none, in words
 * The token are APAPI_TOKEN_LENGTH lower-case hexadecimal digits. srun puts "PORT:TOKEN" into the
 * step's environment as APAPI_COLLECT_ENV; the plugin removes it there before any task starts.
 */
#define APAPI_CHANNEL_FD 3
#define APAPI_LISTEN_FD 4
#define APAPI_MESSAGE_MAX 131072 /* bytes of a message */
#define APAPI_PAYLOAD_MAX 262144 /* bytes that a node may send to srun */
#define APAPI_TOKEN_LENGTH 32
#define APAPI_COLLECT_ENV "SLURM_APAPI_COLLECT"

#define APAPI_WORD_CONFIG "config"
#define APAPI_WORD_BEGIN "begin"
#define APAPI_WORD_STOP "stop"
#define APAPI_WORD_READY "ready"
#define APAPI_WORD_RECORD "record"
#define APAPI_WORD_TABLE "table"
#define APAPI_WORD_FAILED "failed"
#define APAPI_WORD_END "end"
#define APAPI_WORD_ABSENT "absent"

#endif
