/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi verify: executes a separate program, whose sessions have simulated meters and time. */
#include "cli/command.h"
#include "cli/execute.h"

int verify_command(int argc, char **argv)
{
    (void)argc;
    return command_execute("apapi-verify", argv, "");
}
