# SPDX-License-Identifier: BSD-3-Clause
# The folder of a run of tests: all their temporary files, which they see as TMPDIR. Its path is short, as names of sockets
# hold 107 bytes and bats adds 32, and plain, as configuration files split at blanks. For scripts/test and test/launch.
# shellcheck shell=bash

# Sets run_folder; exports TMPDIR and APAPI_TEST_RUN, its name.
make_run_folder() {
    local place
    for place in "${TMPDIR:-/tmp}" /tmp /var/tmp /dev/shm; do
        [[ $place =~ ^/[A-Za-z0-9._/-]{0,14}$ ]] || continue
        run_folder=$(mktemp -d "${place%/}/apapi-test.XXXXXX" 2>/dev/null) || continue
        chmod 1777 "$run_folder" # as /tmp
        export TMPDIR=$run_folder APAPI_TEST_RUN=${run_folder##*/}
        return 0
    done
    echo "test: no folder for temporary files: ${TMPDIR:+$TMPDIR, }/tmp and /var/tmp cannot be written to" >&2
    return 1
}

# After an interruption there may be clusters whose tests cannot stop them any more; bats may have removed their state
# folders. All of a cluster ends with its first process.
remove_run_folder() {
    local folder
    for folder in "$run_folder" "/var/tmp/$APAPI_TEST_RUN"; do
        pkill -KILL -f "/inside\\.sh .*site_init ${folder//./\\.}[/.]"
    done
    rm -rf --one-file-system "$run_folder" /var/tmp/"$APAPI_TEST_RUN"*
}
