#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# scripts/sim around a command: its status, signals and descriptors are the command's; what it refuses.
# shellcheck disable=SC2016 # quoted scripts are for an inner shell
# shellcheck disable=SC2030,SC2031 # each test is a subshell; that is the point

# bats file_tags=long
load sim_common
load public

teardown() { leave_public; }

simulator_is_gone() { # PID
    ! pgrep -f -- "--watch $1\b" >/dev/null
}

@test "the status is that of the command" {
    run -0 "$sim" true
    run -3 "$sim" -- bash -c 'exit 3'
    run -125 "$sim" -- bash -c 'exit 125'
    run -127 "$sim" no-such-command
    run -126 "$sim" /etc/passwd
    run -143 "$sim" -- bash -c 'kill -TERM $$'
    run -137 "$sim" -- bash -c 'kill -KILL $$'
}

@test "a signal reaches the command" {
    local pid line status=0

    mkfifo "$BATS_TEST_TMPDIR/fifo"
    "$sim" -- bash -c 'trap "exit 42" USR1; echo ready; while :; do sleep 0.01; done' \
        >"$BATS_TEST_TMPDIR/fifo" 3>&- &
    pid=$!
    read -r line <"$BATS_TEST_TMPDIR/fifo"
    [[ $line == ready ]]
    kill -USR1 "$pid"
    wait "$pid" || status=$?
    [[ $status -eq 42 ]]
}

@test "the simulator keeps none of the caller's descriptors" {
    run -0 "$sim" -- bash -c 'readlink "/proc/$(pgrep -f -- "--watch $$\b")/fd/"*' \
        9>"$BATS_TEST_TMPDIR/held"
    [[ $output == */dev/null*  && $output != */held* && $output != *bats* ]]
}

@test "nothing remains" {
    local method ending pid

    mkdir "$BATS_TEST_TMPDIR/empty"
    for method in fuse files; do
        { : <>/dev/fuse; } 2>/dev/null || [[ $method != fuse ]] || continue
        for ending in true 'kill -KILL $$'; do
            pid=$(TMPDIR="$BATS_TEST_TMPDIR/empty" "$sim" --method "$method" -- \
                bash -c "echo \$\$; pgrep -f -- \"--watch \$\$\\b\" >&2 || exit 1; $ending" \
                2>"$BATS_TEST_TMPDIR/simulator") || [[ $ending != true ]]
            [[ -s "$BATS_TEST_TMPDIR/simulator" ]]
            eventually simulator_is_gone "$pid"
            ! grep apapi-sim /proc/mounts
            [[ -z $(ls -A "$BATS_TEST_TMPDIR/empty") ]]
        done
    done
}

@test "a plain user" {
    if ((EUID == 0)); then
        make_public
        "${nobody[@]}" unshare -Urm true 2>/dev/null || skip 'user namespaces are off'
        publish "$sim" "$APAPI_SIMHW"
        sim=$public/sim
        export APAPI_SIMHW=$public/apapi-simhw
    else
        nobody=()
    fi
    run -0 "${nobody[@]}" "$sim" --method files -- bash -c \
        'id -u; head -n 1 /sys/class/powercap/intel-rapl:1/energy_uj; stat -Lc %a /sys/class/powercap/*:0/energy_uj'
    [[ ${lines[0]} == 0 && ${lines[1]} =~ ^[0-9]+$ && ${lines[2]} == 400 ]]
    run -7 "${nobody[@]}" "$sim" -- bash -c 'exit 7'
}

@test "bad options: 125, a message, no command" {
    local options message

    while IFS='|' read -r options message; do
        # shellcheck disable=SC2086 # words
        run -125 "$sim" $options -- touch "$BATS_TEST_TMPDIR/ran"
        [[ $output == "sim: $message"* ]] || { echo "$options: $output" && return 1; }
        [[ ! -e "$BATS_TEST_TMPDIR/ran" ]]
    done <<TABLE
--bad 1|unknown option --bad
--packages x|--packages x: expected a number from 0 to 99
--package-w -1|--package-w -1: expected a power in W
--package-w none|--package-w none: expected a power in W
--dram-w 1e3|--dram-w 1e3: expected a power in W, or none
--range-uj 0|--range-uj 0: expected a number of uJ
--start-uj 262143328851|--start-uj is larger
--mode 888|--mode 888: expected an octal mode
--method best|--method best: expected auto, fuse or files
--spec /no/such|--spec /no/such: cannot be read
TABLE
    tells 125 'sim: no command was given*' "$sim"
    tells 125 'sim: --spec: a value is missing' "$sim" --spec
    APAPI_SIMHW=/no/such tells 125 '*/no/such (from APAPI_SIMHW) cannot be executed' "$sim" true
    tells 0 'usage: scripts/sim*' "$sim" --help
}
