/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOURCES_NODE_NODE_SOURCE_H
#define SOURCES_NODE_NODE_SOURCE_H

/*
 * A source that reads no meter: the node sampler does, and tells it by its page (readings_page.h).
 * It gives up at once if the node sampler has ended, and after NODE_SOURCE_WAIT_NS if it does not
 * answer; all readings after that fail, and the session goes on with the hardware.
 */

/* Longest time for which a reading waits [ns]: where it holds up others, and where it does not. */
#define NODE_SOURCE_WAIT_NS UINT64_C(200000000)
#define NODE_SOURCE_SLOW_WAIT_NS UINT64_C(2000000000)

/**
 * Have components opened from now on be read by this node's sampler, if it has them.
 * @param live_dir  NULL: none is
 */
void node_source_use(const char *live_dir, const char *node);

#endif
