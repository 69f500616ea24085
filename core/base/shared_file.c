/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/shared_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>

void *shared_file_map(int file, size_t size)
{
    int error = posix_fallocate(file, 0, (off_t)size);
    void *memory;

    if (error) {
        errno = error;
        return NULL;
    }
    memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, 0);
    if (memory == MAP_FAILED) {
        return NULL;
    }
    madvise(memory, size, MADV_DONTFORK);
    return memory;
}

int shared_file_lock(int file)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    return fcntl(file, F_OFD_SETLK, &whole);
}
