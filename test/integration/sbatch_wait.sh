#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# sbatch --wait for the impatient: that looks after 2 s, then after 8 s more, this ten times a second, later five times.
# Status: the exit status of the job; of an array's tasks, the greatest.
job=$(sbatch --parsable "$@") || exit
looks=0
while [ -n "$(squeue --noheader --jobs "$job" 2>/dev/null)" ]; do
    looks=$((looks + 1))
    if [ $looks -gt 5 ]; then sleep 0.2; else sleep 0.1; fi
done
exit "$(scontrol -o show job "$job" | sed -n 's/.* ExitCode=\([0-9]*\):\([0-9]*\).*/\1 \2/p' |
    awk '{ status = $2 ? 128 + $2 : $1; if (status > greatest) greatest = status } END { print greatest + 0 }')"
