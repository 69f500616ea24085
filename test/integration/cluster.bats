#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# scripts/cluster: commands and nodes, how it is started and stopped, and what remains of it.

# One cluster for the tests that only use one, and a further one, in a folder of its own, for each test that starts or
# breaks something.
# shellcheck source-path=SCRIPTDIR source=environment.bash
. "$BATS_TEST_DIRNAME/environment.bash"

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

# --- commands -----------------------------------------------------------------------------------------

@test "a command does not outlive the script, not even after SIGKILL" {
    "$repository/scripts/cluster" run "${nap[@]}" 3>&- &
    eventually pgrep -x -f "(.*/)?${nap[*]}"
    kill -KILL $!
    no_sleep() { ! pgrep -f "${nap[*]}"; }
    eventually no_sleep
}

# --- nodes ----------------------------------------------------------------------------------------------

@test "a node is found by its own number, whatever has that number outside" {
    own_cluster
    # shellcheck disable=SC2016  # for bash to expand
    run -0 unshare --pid --fork --mount-proc bash -c 'for ((i = 0; i < 400; i++)); do sleep 100 & done
        "$1" start >&2 && "$1" on n1 hostname && "$1" on n2 hostname
        "$1" stop' bash "$repository/scripts/cluster"
    [[ $output == *$'\nn1\nn2' ]]
}

# --- start and stop -------------------------------------------------------------------------------------

@test "wrong usage, and commands without a cluster: a status, and nothing happens" {
    own_cluster
    run -2 cluster
    run -2 cluster frobnicate
    run -2 cluster start --nodes 0
    run -2 cluster start --nodes
    run -2 cluster on n1
    tells 0 'usage: *' cluster -h
    tells 0 '*not running*' cluster stop
    tells 3 '*not running*' cluster status
    run -125 cluster run true
    run -1 cluster kill-node n1
    [ ! -e "$APAPI_CLUSTER_DIR" ]
}

@test "what is there already is not touched: a cluster, a folder that is something else" {
    tells 1 '*already running*' cluster start
    run -0 cluster status
    own_cluster
    mkdir "$APAPI_CLUSTER_DIR"
    touch "$APAPI_CLUSTER_DIR/precious"
    tells 1 '*something else*' cluster start
    run -0 cluster stop
    [ -e "$APAPI_CLUSTER_DIR/precious" ]
}

machine_state() {
    ip -o link | cut -d: -f2
    grep -v ' /run/user/' /proc/self/mounts # somebody may log in
    getent passwd
    getent group
    ls -d /run/netns/* /run/munge /sys/class/powercap 2>/dev/null || true
    sysctl -a 2>/dev/null | grep -E 'hostname|ip_forward '
}

# bats test_tags=long
@test "the machine is not changed while a cluster runs, and nothing remains after stop" {
    own_cluster
    machine_state >"$BATS_TEST_TMPDIR/before"
    cluster start
    machine_state >"$BATS_TEST_TMPDIR/during"
    diff "$BATS_TEST_TMPDIR/before" "$BATS_TEST_TMPDIR/during"
    cluster run --user alice srun -N2 "${nap[@]}" 3>&- &
    cluster on n1 setsid "${nap[@]}" 3>&- &
    eventually pgrep -x -f "(.*/)?${nap[*]}"
    [ "$(cluster_processes | wc -l)" -ge 6 ]

    run -0 cluster stop
    [ -z "$output" ]
    wait # for both commands
    [ "$(cluster_processes)" = "" ]
    run ! pgrep -f "${nap[*]}"
    [ ! -e "$APAPI_CLUSTER_DIR" ]
    machine_state >"$BATS_TEST_TMPDIR/after"
    diff "$BATS_TEST_TMPDIR/before" "$BATS_TEST_TMPDIR/after"
}

# bats test_tags=long
@test "a repository below a folder that is closed to users, in paths with blanks and other letters" {
    local folder="$BATS_TEST_TMPDIR/closed to ß" stack=$BATS_TEST_TMPDIR/stack
    local clone="$folder/a clone" seen=/run/cluster/repository
    mkdir -m 700 "$folder"
    mkdir -p "$clone/scripts" "$clone/build/install"
    cp -r "$repository"/scripts/cluster{,.d} "$clone/scripts"
    cp "$repository/build/install/lib/slurm/spank_apapi.so" "$clone/build/install"
    echo "required $seen/build/install/spank_apapi.so" >"$stack"
    echo found >"$clone/build/install/file"
    unset APAPI_CLUSTER_DIR
    run -0 "$clone/scripts/cluster" start --plugstack "$stack"
    cd "$clone/build"
    # its words are not split, the way to it is open, the plugin knows its option
    run "$clone/scripts/cluster" run --user alice srun -N2 --apapi=off sh -c 'pwd; cat install/file "$1"; cd; pwd' \
        sh "$seen/build/install/file"
    cd "$BATS_TEST_TMPDIR"
    "$clone/scripts/cluster" stop
    [ "$status" -eq 0 ]
    [ "$(sort -u <<<"$output")" = "$(printf '%s\n' "$clone/build" /run/cluster/home/alice found | sort)" ]
    [ "${#lines[@]}" -eq 8 ]
    [ "$(stat -c %a "$folder")" = 700 ]
    [ ! -e "$clone/build/cluster" ]
    chmod 700 "$clone/build"
    run -1 "$clone/scripts/cluster" start
    [[ $output == *"cannot enter $clone/build "*": chmod -R go+rX $clone" ]]
}
