/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/records/own.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <unistd.h>

#include "apapi/record.h"
#include "cli/command.h"
#include "cli/jobs.h"

static bool is_readable(const char *folder)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd >= 0) {
        close(fd);
    }
    return fd >= 0;
}

bool own_is_needed(const struct config *config)
{
    return geteuid() != 0 && *config->user_records && !is_readable(config->acct_dir);
}

bool own_is_all(const struct report_input *input, const struct config *config)
{
    return input->own || (geteuid() != 0 && input->file_count == 0 &&
                          input->dir == config->acct_dir && !is_readable(config->acct_dir));
}

const char *own_folder(const struct config *config)
{
    static char folder[PATH_MAX];

    snprintf(folder, sizeof folder, "%.*s/%u", PATH_MAX - 16, config->user_records,
             (unsigned)geteuid());
    return folder;
}

/* Does the list of users have the caller? */
static bool is_asked_for(const char *users)
{
    const struct passwd *user = getpwuid(geteuid()); // NOLINT(concurrency-mt-unsafe)
    struct apapi_identity id = APAPI_IDENTITY_UNKNOWN;

    id.uid = geteuid();
    snprintf(id.user, sizeof id.user, "%s", user ? user->pw_name : "");
    return user_list_has(users, &id);
}

int own_fail_none(const struct report_input *input)
{
    struct apapi_error err;

    if (is_asked_for(input->users)) {
        return command_fail(input->command, "none of your own records matches; only root reads the "
                                            "records of other users");
    }
    apapi_fail(&err, EACCES,
               "--user=%.60s: only root reads the records of other users; without it, yours are "
               "shown",
               input->users);
    return command_fail(input->command, err.text);
}
