/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOURCES_CLOEXEC_H
#define SOURCES_CLOEXEC_H
#include <stdbool.h>
#include <stdint.h>

#define OPEN_FILES_MAX 4096

/*
 * Foreign libraries open files without O_CLOEXEC. In a program that uses libapapi other threads
 * open theirs at the same time, for programs that they start. So only what is a meter's is marked
 * there: files in /sys and /proc, performance events, devices of CPUs, GPUs and BMCs. A program of
 * ours says by apapi_source_set("descriptors", "close_on_exec", "all") that nobody else opens any.
 */

/** Which descriptors below OPEN_FILES_MAX are open. */
struct open_files {
    uint64_t bits[OPEN_FILES_MAX / 64];
    bool all; /* the program has no other threads that open files */
};

/**
 * Note which descriptors are open now. Those of libraries that follow are marked close-on-exec in
 * each child that another thread forks from now until open_files_close_new_on_exec(), which has to
 * be called.
 * @param files  stays where it is until then
 */
void open_files_note(struct open_files *files);

/** Mark those that were opened since then close-on-exec. errno is preserved. */
void open_files_close_new_on_exec(const struct open_files *before);

#endif
