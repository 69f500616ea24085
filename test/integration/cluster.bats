#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
#
# scripts/cluster itself: one cluster for the tests that only use one, and a further one, in a folder of
# its own, for each test that starts or breaks something. Needs root and Slurm; skipped, with the
# reason, where the machine does not permit it.

bats_require_minimum_version 1.5.0

repository=$(cd "$BATS_TEST_DIRNAME/../.." && pwd -P)

cluster() { "$repository/scripts/cluster" "$@"; }

setup_file() {
    export APAPI_CLUSTER_DIR=$BATS_FILE_TMPDIR/cluster
    run cluster start --nodes 2
    echo "$output"
    if [[ $status -eq 125 ]]; then # this version of bats cannot skip here: each test does it
        export APAPI_SKIP_ALL=${lines[-1]}
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

# Waits, at most 20 s, until the command succeeds.
eventually() {
    local deadline=$((SECONDS + 20))
    while ((SECONDS < deadline)); do
        ! "$@" || return 0
        sleep 0.05
    done
    echo "never: $*"
    return 1
}

# --- commands -----------------------------------------------------------------------------------------

@test "a job runs on both nodes, each with its own host name" {
    run -0 --separate-stderr cluster run srun -N2 --ntasks-per-node=1 hostname
    [ "$(sort <<<"$output")" = $'n1\nn2' ]
    [ -z "$stderr" ]
}

@test "status: all is up" {
    run -0 cluster status
    for name in munged slurmctld n1 n2; do
        grep -qE "^$name +up$" <<<"$output"
    done
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
    [ "$output" = "$repository" ]
    cd "$APAPI_CLUSTER_DIR/spool"
    mkdir -p -m 700 private
    cd private
    run -0 cluster run --user alice pwd
    [ "$output" = "$APAPI_CLUSTER_DIR/home/alice" ]
}

@test "the environment is clean, except for leading NAME=VALUE words" {
    export FROM_OUTSIDE=1
    run -0 cluster run ONE='1 2' TWO= env
    [[ $output != *FROM_OUTSIDE* ]]
    [[ $'\n'$output$'\n' == *$'\nONE=1 2\nTWO=\n'* ]]
    [[ $output == *"SLURM_CONF=$APAPI_CLUSTER_DIR/etc/slurm.conf"* ]]
    run -0 cluster on n1 ONE=1 env
    [[ $output == *"ONE=1"* && $output != *FROM_OUTSIDE* ]]
}

@test "input and output pass unchanged" {
    head -c 300000 /dev/urandom >"$BATS_TEST_TMPDIR/in"
    cluster run --user alice cat <"$BATS_TEST_TMPDIR/in" >"$BATS_TEST_TMPDIR/out"
    cmp "$BATS_TEST_TMPDIR/in" "$BATS_TEST_TMPDIR/out"
    cluster on n1 cat <"$BATS_TEST_TMPDIR/in" >"$BATS_TEST_TMPDIR/out"
    cmp "$BATS_TEST_TMPDIR/in" "$BATS_TEST_TMPDIR/out"
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
    run -125 cluster run --user nobody-of-that-name true
    [[ $output == *nobody-of-that-name* ]]
    run -125 cluster on n3 true
    [[ $output == *n3* ]]
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

@test "timeout ends a command and what it has started" {
    run -124 timeout 0.5 "$repository/scripts/cluster" run bash -c "${nap[*]}; true"
    run ! pgrep -f "${nap[*]}"
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
        sh -c 'cd && sbatch -W -N2 -o out --wrap "srun hostname | sort" && cat out'
    [[ $output == *$'\nn1\nn2' ]]
    run -5 cluster run --user alice sh -c 'cd && sbatch -W -o out --wrap "exit 5"'
}

@test "a terminal: the command can use it" {
    command -v script >/dev/null || skip "no script(1)"
    local job="srun -Q --pty sh -c 'test -t 0 && echo tty-ok; exit 6'"
    run -6 script -qec "$repository/scripts/cluster run --user alice $job" /dev/null </dev/null
    [[ $output == *tty-ok* ]]
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

@test "a node's power is cut and comes back" {
    own_cluster
    cluster start
    cluster on n2 setsid "${nap[@]}" 3>&- &
    eventually pgrep -x -f "(.*/)?${nap[*]}"
    run -0 cluster kill-node n2
    run ! pgrep -f "${nap[*]}"
    run -1 cluster status
    grep -qE '^n1 +up$' <<<"$output"
    grep -qE '^n2 +down$' <<<"$output"
    run -125 cluster on n2 true
    run -0 cluster run srun -w n1 hostname
    run -0 cluster kill-node n2
    [[ $output == *already* ]]

    run -0 cluster boot-node n2
    run -0 cluster status
    run -0 cluster run srun -N2 hostname
    [ "$(sort <<<"$output")" = $'n1\nn2' ]
    run -0 cluster boot-node n2
    [[ $output == *already* ]]
    run -1 cluster boot-node n3
    run -2 cluster kill-node
}

@test "a node that slurmctld had given up comes back idle" {
    own_cluster
    cluster start --extra 'SlurmdTimeout=2\nMessageTimeout=2'
    cluster kill-node n1
    n1_down() { cluster run sinfo -h -N -n n1 -o %T | grep -q '^down'; }
    eventually n1_down
    cluster boot-node n1
    run -0 cluster run srun -N2 true
}

@test "status tells when a daemon has died" {
    own_cluster
    cluster start
    cluster on n1 pkill -KILL -x slurmd
    slurmd_down() { cluster status | grep -qE '^n1 +up, but slurmd is down$'; }
    eventually slurmd_down
    run -1 cluster status
    cluster kill-node n1
    cluster boot-node n1
    run -0 cluster status
    cluster run pkill -KILL -x munged
    run -1 cluster status
    grep -qE '^munged +down$' <<<"$output"
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

@test "control groups: a node's are its own, and nothing remains of them" {
    local folder=/sys/fs/cgroup/freezer
    [[ -d $folder ]] || skip "control groups of version 1 are not mounted in /sys/fs/cgroup"
    own_cluster
    # other clusters' groups may come and go
    foreign_groups() { find /sys/fs/cgroup -type d -not -path '*/apapi-*' | sort; }
    local before pid start
    before=$(foreign_groups)
    cluster start --extra 'ProctrackType=proctrack/cgroup\nTaskPlugin=task/cgroup' \
        --extra JobAcctGatherType=jobacct_gather/cgroup
    run -0 cluster run --user alice srun -N2 grep freezer /proc/self/cgroup
    [[ $output == *:freezer:/slurm*/step_0* ]]
    run -0 cluster on n1 ls -d /sys/fs/cgroup/freezer/slurm_n1
    [ "$(foreign_groups)" = "$before" ]
    read -r _ pid start <"$APAPI_CLUSTER_DIR/run/site"
    own_groups() { find /sys/fs/cgroup -type d -path "*/apapi-$pid-$start*"; }
    [ -n "$(own_groups)" ]
    cluster run --user alice srun -N2 "${nap[@]}" 3>&- &
    eventually pgrep -x -f "(.*/)?${nap[*]}"
    cluster stop
    [ -z "$(own_groups)" ]
    [ "$(foreign_groups)" = "$before" ]
}

# --- configuration --------------------------------------------------------------------------------------

@test "the plugin stack can be edited while the cluster runs" {
    run -0 --separate-stderr cluster run srun true
    [ -z "$stderr" ]
    echo "nonsense" >"$APAPI_CLUSTER_DIR/etc/plugstack.conf"
    run -0 --separate-stderr cluster run srun true
    [[ $stderr == *"error: "*/etc/plugstack.conf:1:* ]]
    : >"$APAPI_CLUSTER_DIR/etc/plugstack.conf"
    run -0 --separate-stderr cluster run srun true
    [ -z "$stderr" ]
}

@test "--plugstack: the file is what the cluster starts with" {
    own_cluster
    echo "nonsense" >"$BATS_TEST_TMPDIR/stack"
    cluster start --nodes 1 --plugstack "$BATS_TEST_TMPDIR/stack"
    run -0 --separate-stderr cluster run srun true
    [[ $stderr == *"error: "*/etc/plugstack.conf:1:* ]]
}

@test "--extra: its lines count, instead of the script's own" {
    own_cluster
    cluster start --nodes 3 --extra 'KillWait=17\nInactiveLimit=77' --extra 'PartitionName=second Nodes=n3'
    run -0 cluster run scontrol show config
    grep -qE '^KillWait += 17 sec' <<<"$output"
    grep -qE '^InactiveLimit += 77 sec' <<<"$output"
    run -0 cluster run sinfo -h -o '%R %N'
    [[ $output == *"main n[1-3]"* && $output == *"second n3"* ]]
    # Slurm complains of what is set twice
    run ! grep -r 'more than once' "$APAPI_CLUSTER_DIR/log"
}

@test "wrong usage: 2, and nothing happens" {
    own_cluster
    run -2 cluster
    run -2 cluster frobnicate
    run -2 cluster start --frobnicate 1
    run -2 cluster start --nodes 0
    run -2 cluster start --nodes
    run -2 cluster run
    run -2 cluster on n1
    run -2 cluster status n1
    [ ! -e "$APAPI_CLUSTER_DIR" ]
    run -0 cluster -h
    [[ $output == "usage: "* ]]
}

# --- start and stop -------------------------------------------------------------------------------------

@test "a second start is refused and does no harm" {
    run -1 cluster start
    [[ $output == *"already running"* ]]
    run -0 cluster status
}

@test "two clusters do not know of each other" {
    local first=$APAPI_CLUSTER_DIR
    own_cluster
    cluster start --nodes 3
    run -0 cluster run srun -N3 hostname
    [ "$(sort <<<"$output")" = $'n1\nn2\nn3' ]
    cluster kill-node n1
    APAPI_CLUSTER_DIR=$first run -0 cluster status
    APAPI_CLUSTER_DIR=$first run -0 cluster run srun -N2 hostname
    cluster stop
    APAPI_CLUSTER_DIR=$first run -0 cluster status
}

machine_state() {
    ip -o link | cut -d: -f2
    cat /proc/self/mounts
    getent passwd
    getent group
    ls -d /run/netns/* /run/munge /sys/class/powercap 2>/dev/null || true
    sysctl -a 2>/dev/null | grep -E 'hostname|ip_forward '
}

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
    [ "$(cluster_processes)" = "" ]
    run ! pgrep -f "${nap[*]}"
    [ ! -e "$APAPI_CLUSTER_DIR" ]
    machine_state >"$BATS_TEST_TMPDIR/after"
    diff "$BATS_TEST_TMPDIR/before" "$BATS_TEST_TMPDIR/after"
}

@test "stop and status without a cluster" {
    own_cluster
    run -0 cluster stop
    [[ $output == *"not running"* ]]
    run -3 cluster status
    [[ $output == *"not running"* ]]
    run -125 cluster run true
    run -125 cluster on n1 true
    run -1 cluster kill-node n1
    [ ! -e "$APAPI_CLUSTER_DIR" ]
}

@test "start cleans up after a cluster that was killed" {
    own_cluster
    cluster start
    local pid
    read -r _ pid _ <"$APAPI_CLUSTER_DIR/run/site"
    kill -KILL "$pid"
    no_processes() { [[ -z $(cluster_processes) ]]; }
    eventually no_processes
    run -3 cluster status
    run -0 cluster start
    run -0 cluster run srun -N2 true
}

@test "a number that another process has got since is not the cluster" {
    own_cluster
    cluster start
    local boot pid start
    read -r boot pid start <"$APAPI_CLUSTER_DIR/run/site"
    kill -KILL "$pid"
    "${nap[@]}" 3>&- &
    echo "$boot $! $start" >"$APAPI_CLUSTER_DIR/run/site"
    run -3 cluster status
    run -0 cluster stop
    kill $!
}

@test "a folder that is not a cluster's is not touched" {
    own_cluster
    mkdir "$APAPI_CLUSTER_DIR"
    touch "$APAPI_CLUSTER_DIR/precious"
    run -1 cluster start
    [[ $output == *"something else"* ]]
    run -0 cluster stop
    [ -e "$APAPI_CLUSTER_DIR/precious" ]
}

@test "a start that fails shows the log and leaves nothing" {
    own_cluster
    run -1 cluster start --extra NoSuchSetting=1
    [[ $output == *slurmctld* && $output == *NoSuchSetting* ]]
    [ ! -e "$APAPI_CLUSTER_DIR" ]
    [ "$(cluster_processes)" = "" ]
    echo "required /no/such/plugin.so" >"$BATS_TEST_TMPDIR/stack"
    run -1 cluster start --plugstack "$BATS_TEST_TMPDIR/stack"
    [[ $output == *n1* && $output == *"/no/such/plugin.so"* ]]
    [ ! -e "$APAPI_CLUSTER_DIR" ]
    [ "$(cluster_processes)" = "" ]
}

@test "without privileges: 125 and the reason" {
    own_cluster
    setpriv --reuid 65534 --clear-groups test -r "$repository/scripts/cluster" ||
        skip "an ordinary user cannot enter this folder"
    run -125 setpriv --reuid 65534 --clear-groups bash "$repository/scripts/cluster" start
    [[ $output == *"must be root"* ]]
    run -125 setpriv --bounding-set=-net_admin --inh-caps=-net_admin "$repository/scripts/cluster" start
    [[ $output == *"cannot make namespaces"* ]]
    [ ! -e "$APAPI_CLUSTER_DIR" ]
}

@test "without Slurm: the missing program and what to do" {
    own_cluster
    local tool
    mkdir "$BATS_TEST_TMPDIR/bin"
    for tool in bash readlink dirname realpath; do
        ln -s "$(command -v "$tool")" "$BATS_TEST_TMPDIR/bin"
    done
    # the script adds the sbin folders to PATH itself
    # shellcheck disable=SC2016  # for sh to expand
    run -1 unshare --mount sh -c 'mount -t tmpfs tmpfs /usr/sbin
        PATH=$1 exec bash "$2" start' sh "$BATS_TEST_TMPDIR/bin" "$repository/scripts/cluster"
    [[ $output == *"slurmctld is missing: run scripts/setup"* ]]
}

@test "users reach a repository below a folder that is closed to them" {
    local clone=$BATS_TEST_TMPDIR/closed/clone
    mkdir -m 700 "$BATS_TEST_TMPDIR/closed"
    mkdir -p "$clone/scripts" "$clone/build/install"
    cp -r "$repository"/scripts/cluster{,.d} "$clone/scripts"
    echo found >"$clone/build/install/file"
    unset APAPI_CLUSTER_DIR
    run -0 "$clone/scripts/cluster" start
    run "$clone/scripts/cluster" run --user alice srun -N2 cat "$clone/build/install/file"
    "$clone/scripts/cluster" stop
    [ "$status" -eq 0 ]
    [ "$output" = $'found\nfound' ]
    [ "$(stat -c %a "$BATS_TEST_TMPDIR/closed")" = 700 ]
    [ ! -e "$clone/build/cluster" ]
    chmod 700 "$clone/build"
    run -1 "$clone/scripts/cluster" start
    [[ $output == *"$clone/build: chmod"* ]]
}
