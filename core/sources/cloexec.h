/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOURCES_CLOEXEC_H
#define SOURCES_CLOEXEC_H
#include <stdbool.h>
#include <stdint.h>

#define OPEN_FILES_MAX 4096

/*
 * Foreign libraries open files without O_CLOEXEC. In a program that uses libapapi, other threads
 * may open files at the same time, for programs that they start. So only meters are marked: files
 * in /sys and /proc, performance events, devices of CPUs, GPUs and BMCs. APAPI's own programs set
 * apapi_source_set("descriptors", "close_on_exec", "all"), as no other thread of theirs opens
 * files.
 */

/** The open descriptors below OPEN_FILES_MAX. */
struct open_files {
    uint64_t bits[OPEN_FILES_MAX / 64];
    bool all; /* no other thread of the program opens files */
};

/**
 * Note which descriptors are open now. From now on, those that libraries open are marked
 * close-on-exec in each child that another thread forks, until open_files_close_new_on_exec(),
 * which must be called.
 * @param files  must not be moved until then
 */
void open_files_note(struct open_files *files);

/** Mark the descriptors opened since then close-on-exec. errno is preserved. */
void open_files_close_new_on_exec(const struct open_files *before);

#endif
