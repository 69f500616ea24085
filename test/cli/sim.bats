#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# scripts/sim and apapi-simhw: what the simulated hardware shows, and that nothing else changes: status, signals and
# descriptors are those of the command.
# The functions above the tests run inside the simulation, by way of inside().
# shellcheck disable=SC2016 # quoted scripts are for an inner shell or awk
# shellcheck disable=SC2030,SC2031 # each test is a subshell; that is the point

# bats file_tags=long
load ../environment
load ../eventually
load public

sim="$BATS_TEST_DIRNAME/../../scripts/sim"

setup_file() {
    local candidate root="$BATS_TEST_DIRNAME/../.."

    for candidate in "$root"/build/{release,dev}/test/sim/apapi-simhw; do
        [[ -n ${APAPI_SIMHW:-} || ! -x $candidate ]] || export APAPI_SIMHW=$candidate
    done
    unshare -m true 2>/dev/null || unshare -Urm true 2>/dev/null || skip 'no mount namespaces here'
}

setup() {
    spec="$BATS_TEST_TMPDIR/spec"
    printf 'powercap/clock energy 1 999999999999 0\n' >"$spec"
}

need_fuse() {
    { : <>/dev/fuse; } 2>/dev/null || skip '/dev/fuse cannot be opened'
}

teardown() { leave_public; }

# It is so many microseconds after second 0.
at() { # TIME_US
    echo "$1"000 >"$APAPI_SIMHW_TIME"
}

# Print "STEP VALUE" for the 100 ms steps from 1 up to COUNT, of what COMMAND prints in the middle of each.
steps() { # COUNT COMMAND...
    local step

    for ((step = 1; step <= $1; step++)); do
        at $((step * 100000 + 50000))
        printf '%d %s\n' "$step" "$("${@:2}")"
    done
}

# Read register NUMBER of a CPU's msr, SIZE bytes at once.
register() { # CPU NUMBER [SIZE]
    dd if="/dev/cpu/$1/msr" bs="${3:-8}" count=1 skip=$(($2)) iflag=skip_bytes status=none |
        od -An -tu8 | tr -d ' '
}

# Run some of the functions above in a simulation of $spec, in which it is as late as at() says.
inside() { # SCRIPT [SIM-OPTION]...
    local script=$1

    shift
    echo 0 >"$BATS_TEST_TMPDIR/time"
    APAPI_SIMHW_TIME=$BATS_TEST_TMPDIR/time "$sim" --packages 0 --spec "$spec" "$@" -- bash -c "
        $(declare -f at steps register)
        $script"
}

# Do the lines "STEP VALUE" follow the bash formula of $k? At least four steps must have been seen.
follows() { # FORMULA LINES
    local k value count=0

    while read -r k value; do
        if ((value != ($1))); then
            echo "step $k: $value instead of $(($1))"
            return 1
        fi
        count=$((count + 1))
    done <<<"$2"
    ((count >= 4)) || { echo "only $count steps were seen" && return 1; }
}

@test "the default tree is that of a server with two packages" {
    run -0 "$sim" -- bash -c 'cd /sys/class/powercap && grep -r . intel-rapl/*/*name intel-rapl/*/*/*name &&
        cat intel-rapl:*/max_energy_range_uj && stat -Lc %a intel-rapl:*/energy_uj && ls'
    [[ $output == *'intel-rapl/intel-rapl:0/name:package-0'* ]]
    [[ $output == *'intel-rapl/intel-rapl:1/name:package-1'* ]]
    [[ $output == *'intel-rapl/intel-rapl:1/intel-rapl:1:0/name:dram'* ]]
    [[ $output == *'intel-rapl/intel-rapl:0/constraint_1_name:short_term'* ]]
    [[ $(grep -cx 262143328850 <<<"$output") -eq 4 ]]
    [[ $(grep -cx 400 <<<"$output") -eq 4 ]]
    [[ $(tail -n 5 <<<"$output" | xargs) == 'intel-rapl intel-rapl:0 intel-rapl:0:0 intel-rapl:1 intel-rapl:1:0' ]]
}

@test "packages, dies, psys, AMD, mode and range" {
    run -0 "$sim" --packages 3 --dram-w none -- bash -c 'cat /sys/class/powercap/intel-rapl:*/name'
    [[ $(xargs <<<"$output") == 'package-0 package-1 package-2' ]]
    run -0 "$sim" --packages 1 --die --dram-w none -- bash -c 'cat /sys/class/powercap/*:*/name'
    [[ $(xargs <<<"$output") == 'package-0-die-0 package-0-die-1' ]]
    run -0 "$sim" --psys-w 300 --core-w 5 --packages 1 -- bash -c 'cat /sys/class/powercap/*:*/name'
    [[ $(xargs <<<"$output") == 'psys package-0 core dram' ]]
    run -0 "$sim" --packages 1 --amd -- bash -c 'cd /sys/class/powercap; cat *:*/{name,max_energy_range_uj}'
    [[ $(xargs <<<"$output") == 'package-0 core 65532610987 65532610987' ]]
    run -0 "$sim" --packages 1 --amd --range-uj 77 --core-w none --mode 0444 -- bash -c \
        'cd /sys/class/powercap; cat *:*/{name,max_energy_range_uj}; stat -Lc %a *:*/energy_uj'
    [[ $(xargs <<<"$output") == 'package-0 77 444' ]]
    run -0 "$sim" --package-w 0 --start-uj 4711 -- bash -c 'cat /sys/class/powercap/intel-rapl:[01]/energy_uj'
    [[ $(xargs <<<"$output") == '4711 4711' ]]
}

@test "counters, ramps and squares are exact" {
    need_fuse
    cat >>"$spec" <<'SPEC'
powercap/x energy 10 2500000 5
powercap/x update 0.1
powercap/x reset 0.4
powercap/up energy-ramp 10 100 999999999999 5
powercap/up update 0.1
powercap/square energy-square 10 250 0.4 999999999999 0
powercap/square update 0.1
SPEC
    run -0 inside 'steps 7 cat /sys/class/powercap/x'
    follows '(k < 4 ? k * 1000000 + 5 : (k - 4) * 1000000) % 2500001' "$output"
    run -0 inside 'steps 6 cat /sys/class/powercap/up'
    follows '5 + k * 1000000 + k * k * 500000' "$output"
    run -0 inside 'steps 7 cat /sys/class/powercap/square'
    follows 'k / 4 * 52000000 + (k % 4 == 3 ? 27000000 : k % 4 * 1000000)' "$output"
}

@test "registers of /dev/cpu/N/msr" {
    need_fuse
    [[ -d /dev/cpu ]] || skip 'there is no /dev/cpu'
    cat >>"$spec" <<'SPEC'
cpu/1/msr msr
cpu/1/msr update 0.1
cpu/1/msr reg 0x606 const 0xa0e03
cpu/1/msr reg 0x611 energy 1000 14 4294000000
cpu/1/msr reg 0xc001029b energy 0.5 16 0
SPEC
    run -0 inside 'register 1 0x606; register 1 0x606 4 2>&1; register 1 0x607 2>&1
        stat -c %a /dev/cpu/1/msr; ls /dev/cpu'
    [[ ${lines[0]} == 658947 ]]
    [[ ${lines[1]} == *'Invalid argument'* ]]
    [[ ${lines[2]} == *'Input/output error'* ]]
    [[ ${lines[3]} == 600 ]]
    [[ ${lines[4]} == 1 ]]
    run -0 inside 'steps 5 register 1 0x611'
    follows '(4294000000 + k * 1638400) % 4294967296' "$output"
    run -0 inside 'steps 5 register 1 0xc001029b'
    follows 'k * 65536 / 20' "$output"
}

@test "auto takes plain files where FUSE does not work" {
    run -0 "$sim" -- bash -c 'grep " /sys/class/powercap " /proc/mounts'
    if { : <>/dev/fuse; } 2>/dev/null; then
        [[ $output == *' fuse '* ]]
    else
        [[ $output == *' tmpfs '* ]]
    fi
    printf '#!/bin/bash\n[[ $1 != --fuse ]] || exit 1\nexec %q "$@"\n' "$APAPI_SIMHW" \
        >"$BATS_TEST_TMPDIR/simulator"
    chmod +x "$BATS_TEST_TMPDIR/simulator"
    export APAPI_SIMHW=$BATS_TEST_TMPDIR/simulator
    tells 0 '* tmpfs *' "$sim" -- bash -c 'grep " /sys/class/powercap " /proc/mounts'
    need_fuse
    tells 125 'sim: the simulator failed' "$sim" --method fuse -- true
}

# --- around a command -----------------------------------------------------------------------------

simulator_is_gone() { # PID
    ! pgrep -f -- "/tree $1 " >/dev/null
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
    run -0 "$sim" -- bash -c 'readlink "/proc/$(pgrep -f -- "/tree $$ ")/fd/"*' \
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
                bash -c "echo \$\$; pgrep -f -- \"/tree \$\$ \" >&2 || exit 1; $ending" \
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
