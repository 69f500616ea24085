# SPDX-License-Identifier: BSD-3-Clause
# scripts/cluster itself; for `load`: one cluster for the tests that only use one, and a further one, in a
# folder of its own, for each test that starts or breaks something. Needs root and Slurm; skipped, with
# the reason, where the machine does not permit it.
# shellcheck disable=SC2034 # they are the tests'

# shellcheck source-path=SCRIPTDIR source=environment.bash
. "$(dirname "${BASH_SOURCE[0]}")/environment.bash"

setup_file() {
    export APAPI_CLUSTER_DIR=$BATS_FILE_TMPDIR/cluster
    run cluster start --nodes 2
    echo "$output"
    if [[ $status -eq 125 ]]; then
        skip_all "${lines[-1]}"
        return 0
    fi
    [[ $status -eq 0 ]]
}

teardown_file() {
    cluster stop
}

# A test with a cluster of its own calls this first.
own_cluster() {
    export APAPI_CLUSTER_DIR=$BATS_TEST_TMPDIR/cluster
}

setup() {
    [[ -z ${APAPI_SKIP_ALL:-} ]] || skip "$APAPI_SKIP_ALL"
    nap=(sleep "4711.$BASHPID$RANDOM") # a process that only this test has
}

teardown() {
    local folder
    for folder in "$BATS_TEST_TMPDIR"/cluster*; do
        [[ ! -d $folder ]] || APAPI_CLUSTER_DIR=$folder cluster stop
    done
}

# Prints the processes of the cluster in $APAPI_CLUSTER_DIR, whatever their namespace.
cluster_processes() {
    local process
    for process in /proc/[0-9]*; do
        if tr '\0' '\n' 2>/dev/null <"$process/environ" |
            grep -qxF "SLURM_CONF=$APAPI_CLUSTER_DIR/etc/slurm.conf"; then
            echo "${process#/proc/} $(tr '\0' ' ' <"$process/cmdline")"
        fi
    done
}
