/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/shared_page.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

void *shared_page_create(int file, size_t size)
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

int shared_page_lock(int file)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    return fcntl(file, F_OFD_SETLK, &whole);
}

bool shared_page_has_writer(int file)
{
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};

    return fcntl(file, F_OFD_GETLK, &lock) == 0 && lock.l_type == F_WRLCK;
}

void *shared_page_find(int folder, const char *name, int mode, size_t size)
{
    int file = openat(folder, name, mode | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    void *memory = MAP_FAILED;
    struct stat status;

    if (file < 0) {
        return NULL;
    }
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size >= (off_t)size &&
        (status.st_uid == 0 || status.st_uid == geteuid()) &&
        !(status.st_mode & (S_IWGRP | S_IWOTH))) {
        memory = mmap(NULL, size, mode == O_RDWR ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED,
                      file, 0);
    }
    close(file);
    return memory == MAP_FAILED ? NULL : memory;
}

void shared_page_unmap(const void *page, size_t size)
{
    int saved = errno;
    void *mapped;

    memcpy(&mapped, &page, sizeof mapped); /* munmap(2) takes a pointer that is not const */
    if (mapped) {
        munmap(mapped, size);
    }
    errno = saved;
}
