/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_BASE_SHARED_FILE_H
#define APAPI_BASE_SHARED_FILE_H
#include <stddef.h>

/* A file of a memory file system that this process writes and others map. */

/**
 * Give a new file its size and all its memory, and map it: a lack of memory later would end the
 * process with SIGBUS. Children do not have the mapping.
 * @return the memory, all zeros, for munmap(); NULL with errno of the call that failed
 */
void *shared_file_map(int file, size_t size);

/**
 * Lock the whole file for writing. The lock shows that its writer lives: it ends with the
 * descriptor and with the process. @return 0; -1 with errno of fcntl(2).
 */
int shared_file_lock(int file);

#endif
