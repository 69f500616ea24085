/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOURCES_CLOEXEC_H
#define SOURCES_CLOEXEC_H
#include <stdint.h>

#define OPEN_FILES_MAX 4096

/** Which descriptors below OPEN_FILES_MAX are open. */
struct open_files {
    uint64_t bits[OPEN_FILES_MAX / 64];
};

/**
 * Note which descriptors are open now. Those that follow are marked close-on-exec in each child
 * that another thread forks from now until open_files_close_new_on_exec(), which has to be called.
 * @param files  stays where it is until then
 */
void open_files_note(struct open_files *files);

/** Mark all descriptors opened since then close-on-exec. errno is preserved. */
void open_files_close_new_on_exec(const struct open_files *before);

#endif
