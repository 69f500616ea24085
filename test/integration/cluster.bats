#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# scripts/cluster: commands, and nodes that are cut off and come back.

load cluster_common

# --- commands -----------------------------------------------------------------------------------------

@test "a job runs on both nodes, each with its own host name" {
    run -0 --separate-stderr cluster run srun -N2 --ntasks-per-node=1 hostname
    [ "$(sort <<<"$output")" = $'n1\nn2' ]
    [ -z "$stderr" ]
}

@test "an ordinary user: identity, home, working folder, job" {
    run -0 cluster run --user alice id -un
    [ "$output" = alice ]
    run -0 setpriv --groups 4,5 "$repository/scripts/cluster" run --user alice id -Gn
    [ "$output" = alice ]
    run -0 cluster run --user bob sh -c 'cd && touch x && stat -c %U x && pwd'
    [ "${lines[0]}" = bob ]
    [ "${lines[1]}" = "$APAPI_CLUSTER_DIR/home/bob" ]
    run -0 cluster run --user alice srun -N2 id -un
    [ "$output" = $'alice\nalice' ]
}

@test "the working folder is the caller's if the user can enter it, else the home" {
    cd "$repository"
    run -0 cluster run --user alice pwd
    [ "$output" = "$(realpath "$repository")" ]
    cd "$APAPI_CLUSTER_DIR/spool"
    mkdir -p -m 700 private
    cd private
    run -0 cluster run --user alice pwd
    [ "$output" = "$APAPI_CLUSTER_DIR/home/alice" ]
}

@test "exit statuses pass: the command's, a job's, a signal's" {
    run -3 cluster run --user alice sh -c 'exit 3'
    run -3 cluster run --user alice srun -Q sh -c 'exit 3'
    run -4 cluster on n2 sh -c 'exit 4'
    run -127 cluster run no-such-command
    run -143 --separate-stderr cluster run --user alice sh -c 'kill -TERM $$'
    [ -z "$stderr" ]
    run -137 cluster on n1 sh -c 'kill -KILL $$'
    run -134 cluster run bash -c 'ulimit -c 0; kill -ABRT $$'
}

@test "a command that cannot be started: 125 and the reason" {
    tells 125 '*nobody-of-that-name*' cluster run --user nobody-of-that-name true
    tells 125 '*n3*' cluster on n3 true
}

@test "signals to the script, or to its process group, reach the command, once" {
    local signal group status
    for signal in INT TERM USR1; do
        for group in "" -; do
            : >"$BATS_TEST_TMPDIR/out"
            setsid "$repository/scripts/cluster" run bash -c "trap 'echo got $signal' $signal
                trap 'exit 9' USR2; echo ready; while :; do :; done" >"$BATS_TEST_TMPDIR/out" 3>&- &
            eventually grep -q ready "$BATS_TEST_TMPDIR/out"
            kill "-$signal" -- "$group$!"
            eventually grep -q "got $signal" "$BATS_TEST_TMPDIR/out"
            sleep 0.2
            kill -USR2 $!
            status=0
            wait $! || status=$?
            [ "$status" -eq 9 ]
            [ "$(grep -c got "$BATS_TEST_TMPDIR/out")" -eq 1 ]
        done
    done
}

@test "a command does not outlive the script, not even after SIGKILL" {
    "$repository/scripts/cluster" run "${nap[@]}" 3>&- &
    eventually pgrep -x -f "(.*/)?${nap[*]}"
    kill -KILL $!
    no_sleep() { ! pgrep -f "${nap[*]}"; }
    eventually no_sleep
}

@test "a batch job of an ordinary user" {
    run -0 cluster run --user alice \
        sh -c 'cd && sbatch -W -N2 -o out --wrap "srun -Q hostname | sort" && cat out'
    [[ $output == *$'\nn1\nn2' ]]
    run -5 cluster run --user alice sh -c 'cd && sbatch -W -o out --wrap "exit 5"'
}

# --- nodes ----------------------------------------------------------------------------------------------

@test "a node has host name, processes, network, /run and /dev/shm of its own" {
    run -0 cluster on n1 hostname
    [ "$output" = n1 ]
    run -0 cluster run hostname
    [ "$output" = login ]
    run -0 cluster on n1 sh -c 'touch /run/mark /dev/shm/mark && pgrep -c slurmd'
    [ "$output" -eq 1 ]
    run -0 cluster on n2 sh -c 'ls /run/mark /dev/shm/mark 2>/dev/null; ip -o -4 address show eth0'
    [[ $output == *" 10.77.0.2/24 "* && $output != *mark* ]]
    run -0 cluster run sh -c 'ls /run/mark /dev/shm/mark 2>/dev/null; true'
    [ -z "$output" ]
    [ ! -e /run/mark ]
    [ ! -e /dev/shm/mark ]
}

@test "a node is found by its own number, whatever has that number outside" {
    own_cluster
    # shellcheck disable=SC2016  # for bash to expand
    run -0 unshare --pid --fork --mount-proc bash -c 'for ((i = 0; i < 400; i++)); do sleep 100 & done
        "$1" start >&2 && "$1" on n1 hostname && "$1" on n2 hostname
        "$1" stop' bash "$repository/scripts/cluster"
    [[ $output == *$'\nn1\nn2' ]]
}

now_us() { echo "${EPOCHREALTIME/[.,]/}"; }

# check_watts NODE WATTS: the counter of the node's first package grows with this power
check_watts() {
    local file=/sys/class/powercap/intel-rapl:0/energy_uj times first last
    times=("$(now_us)")
    first=$(cluster on "$1" cat "$file")
    times+=("$(now_us)")
    sleep 0.5
    times+=("$(now_us)")
    last=$(cluster on "$1" cat "$file")
    times+=("$(now_us)")
    echo "$1: $first uJ, $last uJ; at ${times[*]} us"
    # it was read some time between two of the times; 5 % for what the simulator rounds
    ((100 * (last - first) >= 95 * $2 * (times[2] - times[1])))
    ((100 * (last - first) <= 105 * $2 * (times[3] - times[0])))
}

@test "each node has its own simulated hardware" {
    [[ -x $repository/scripts/sim ]] || skip "scripts/sim is missing"
    [[ -x ${APAPI_SIMHW:-} || -n $(compgen -G "$repository/build/*/test/sim/apapi-simhw") ]] ||
        skip "apapi-simhw is not built"
    own_cluster
    cluster start --sim '--packages 1 --package-w 50' --sim 'n2:--packages 1 --package-w 400'
    check_watts n1 50
    check_watts n2 400
    # it is there for jobs, and again after a reboot, and nowhere else
    run -0 cluster run srun -N2 cat /sys/class/powercap/intel-rapl:0/energy_uj
    [ "${#lines[@]}" -eq 2 ]
    cluster kill-node n2
    cluster boot-node n2
    run -0 cluster on n2 cat /sys/class/powercap/intel-rapl:0/name
    [ "$output" = package-0 ]
    [ "$(cluster run sh -c 'ls /sys/class')" = "$(ls /sys/class)" ]
}
