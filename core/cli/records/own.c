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

bool own_is_needed(const struct config *config)
{
    int fd;

    if (geteuid() == 0 || !*config->user_records) {
        return false;
    }
    fd = open(config->acct_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        close(fd);
    }
    return fd < 0;
}

const char *own_folder(const struct config *config)
{
    static char folder[PATH_MAX];

    snprintf(folder, sizeof folder, "%.*s/%u", PATH_MAX - 16, config->user_records,
             (unsigned)geteuid());
    return folder;
}

int own_check_users(const struct report_input *input)
{
    const struct passwd *user = getpwuid(geteuid()); // NOLINT(concurrency-mt-unsafe)
    struct apapi_identity id = APAPI_IDENTITY_UNKNOWN;
    struct apapi_error err;

    id.uid = geteuid();
    snprintf(id.user, sizeof id.user, "%s", user ? user->pw_name : "");
    if (user_list_has(input->users, &id)) {
        return 0;
    }
    apapi_fail(&err, EACCES,
               "--user=%.60s: only root reads the records of other users; without it, yours are "
               "shown",
               input->users);
    return command_fail(input->command, err.text);
}

int own_fail_none(const struct report_input *input)
{
    return command_fail(input->command, "none of your own records matches; only root reads the "
                                        "records of other users");
}
