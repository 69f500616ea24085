/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_BASE_ACCESS_H
#define APAPI_BASE_ACCESS_H
#include <stdint.h>
#include <sys/types.h>

#include "apapi/error.h"

/* Who else may use a file or folder of root's, or of the calling user's. */

enum access_rights { ACCESS_ENTER = 1, ACCESS_READ = 4 };

/**
 * Give one more user rights, by an access control list. The owner keeps the right to write, and
 * everybody else has none. Nothing changes if the user is the caller.
 * @param rights  bits of enum access_rights
 * @return 0; -1 with errno EOPNOTSUPP (no access control lists here), those of fsetxattr(2).
 */
int access_let_user(int fd, uint32_t uid, uint16_t rights);

/**
 * Check that nobody but root and the caller can change what is in a folder, or replace it, and let
 * others enter it: one of mode 0700, as folder_open() makes them, gets `mode`. The site made those
 * with another mode.
 * @return 0; -1 with errno EPERM: others can; those of fchmod(2).
 */
int access_let_in(int folder, const char *path, mode_t mode, struct apapi_error *err);

#endif
