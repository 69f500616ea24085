/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_BASE_FILES_H
#define APAPI_BASE_FILES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "apapi/error.h"

/* Folders and files that only their owner may use, and that no one can redirect with a link. */

/** Report "PATH: " and the reason of errno. @return -1 with errno */
int file_fail(const char *path, struct apapi_error *err);

/**
 * Open the folder `path`. It is created (mode 0700) if its parent exists. A link on the way is
 * followed only if root or the calling user has made it where no one else can change it.
 * @return descriptor; -1 with errno of a call, ENOENT: no parent; ELOOP: a link of another user.
 */
int folder_open(const char *path, struct apapi_error *err);

/**
 * Open the folder `path`, whose last part is looked up in `parent`. It is created (mode 0700) if
 * missing. It must belong to the calling user and must not be a link.
 * @return descriptor; -1 with errno of the call that failed, EPERM: it belongs to another user.
 */
int folder_open_below(int parent, const char *path, struct apapi_error *err);

/**
 * Open the file `path`, whose last part is looked up in `folder`. A new file gets mode 0600. It
 * must be a regular file of the calling user.
 * @param flags   O_CREAT, O_RDWR ... of open(2)
 * @param status  result
 * @return descriptor; -1 with errno of the call that failed, EPERM: not a regular file, or another
 * user's.
 */
int folder_open_file(int folder, const char *path, int flags, struct stat *status,
                     struct apapi_error *err);

/** Check that `name` can be the name of a file in a folder. @return 0; -1 */
int folder_check_name(const char *name);

/** Receives a name in a folder. `type` is as in dirent.h; DT_UNKNOWN: not known. */
typedef void (*folder_visit_f)(int folder, const char *name, unsigned char type, void *context);

/**
 * Visit the names in the folder `path` (below `above`, as for openat(2)) that do not begin with a
 * dot. Allocates nothing, and follows no link. @return false: there is no such folder
 */
bool folder_each(int above, const char *path, folder_visit_f visit, void *context);

/**
 * @return whether two writers of these paths would overwrite each other: both paths mean one
 *         regular file, or are equal and one of them has no file yet
 */
bool files_clash(const char *path, const char *other);

/** close(2) that preserves errno and ignores negative values. */
void folder_close(int fd);

/** Close all descriptors from `first` on. */
void files_close_from(int first);

/* Access of other users to a file or folder of root or the calling user. */

enum access_rights { ACCESS_ENTER = 1, ACCESS_READ = 4 };

/**
 * Give one more user rights, by an access control list. The owner has these rights and may write;
 * all others have none. Nothing changes if the user is the caller.
 * @param rights  bits of enum access_rights
 * @return 0; -1 with errno of fsetxattr(2), EOPNOTSUPP: no access control lists here.
 */
int access_let_user(int fd, uint32_t uid, uint16_t rights);

/**
 * Check that only root and the caller can change what is in a folder, or replace the folder, and
 * let others enter it: a folder of mode 0700, as folder_open() makes it, gets `mode`. Another mode
 * stays, because the site has set it.
 * @return 0; -1 with errno of fchmod(2), EPERM: others can change or replace it.
 */
int access_let_in(int folder, const char *path, mode_t mode, struct apapi_error *err);

/** @return whether `name` in a folder still means the open file. */
bool folder_has(int folder, const char *name, int file);

/** @return the part of a path after its last '/'; a path without '/' as a whole. */
const char *folder_last_part(const char *path);

/**
 * Replace or create the file `path`. Readers see the old or the new file, never a part, and a power
 * failure leaves no partial file. Only regular files are replaced, not links.
 * @return 0; -1 with errno of the call that failed, EPERM: not a regular file. Nothing is left
 * behind.
 */
int replace_file(const char *path, mode_t mode, const char *text, size_t size,
                 struct apapi_error *err);

/**
 * Wait until a file or folder is on the disk. It is no error if the file system has no fsync(), as
 * some network file systems. @return 0; -1 with errno of fsync()
 */
int file_sync(int fd);

/** Write everything, even if a non-blocking pipe is full at times. 0; -1 with errno of write(). */
int write_all(int fd, const char *bytes, size_t size);

/**
 * Read a regular file. Never blocks.
 * @param most    greatest size [bytes]
 * @param size    result [bytes]
 * @param status  result: fstat(2) of the file
 * @return its text, with a NUL after it, for free(); NULL with errno of open(2) or read(2), EISDIR,
 * EINVAL (another file that is not regular), EFBIG, ENOMEM.
 */
char *text_file_read(const char *path, size_t most, size_t *size, struct stat *status);

/**
 * Read a regular file of up to APAPI_EVENTS_FILE_MAX bytes. Never blocks.
 * @return its text, terminated by a NUL, free it with free(); NULL with errno.
 */
char *event_text_read(const char *path, struct apapi_error *err);

/**
 * @return a copy, terminated by a NUL, free it with free(); NULL with errno EINVAL, EFBIG, ENOMEM.
 */
char *event_text_copy(const char *name, const char *text, size_t size, struct apapi_error *err);

#endif
