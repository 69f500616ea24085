/* SPDX-License-Identifier: BSD-3-Clause */
#include "destination.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "channel/deadline.h"
#include "child.h"
#include "output.h"

#define PATIENCE_NS (500 * DEADLINE_MS)

static int destination_fail(const struct spank_apapi_destination *destination, int code,
                            struct apapi_error *err)
{
    return apapi_fail(err, code, "%.160s: %s",
                      destination->path ? destination->path : "standard error", strerror(code));
}

static int destination_open(struct spank_apapi_destination *destination, struct apapi_error *err)
{
    destination->fd = spank_apapi_child_keep_away(open(
        destination->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666));
    return destination->fd < 0 ? destination_fail(destination, errno, err) : 0;
}

int destination_write(struct spank_apapi_destination *destination, const char *text,
                      struct apapi_error *err)
{
    int fd = STDERR_FILENO;

    if (*text == '\0') {
        return 0;
    }
    if (destination->path) {
        if (destination->fd < 0 && destination_open(destination, err)) {
            return -1;
        }
        fd = destination->fd;
    }
    return spank_apapi_output_write(fd, text, deadline_now() + PATIENCE_NS)
               ? destination_fail(destination, errno, err)
               : 0;
}

int destination_close(struct spank_apapi_destination *destination, struct apapi_error *err)
{
    int fd = destination->fd;

    destination->fd = -1;
    return fd >= 0 && close(fd) ? destination_fail(destination, errno, err) : 0;
}
