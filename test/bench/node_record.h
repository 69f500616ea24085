/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BENCH_NODE_RECORD_H
#define BENCH_NODE_RECORD_H

/** Of whom a made-up record is. */
struct bench_record {
    unsigned job, uid;
    unsigned node, nodes; /* the node is called node00017 */
};

/**
 * @return the line of a usual node, 4 KB: two packages with memory, four GPUs, three timelines. To
 *         be freed. Ends the program where that fails.
 */
char *bench_record_line(const struct bench_record *which);

#endif
