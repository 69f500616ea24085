#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# scripts/sim and apapi-simhw: what the simulated hardware shows, and that nothing else changes.
# The functions above the tests run inside the simulation, by way of inside().
# shellcheck disable=SC2016 # quoted scripts are for an inner shell or awk
# shellcheck disable=SC2030,SC2031 # each test is a subshell; that is the point

bats_require_minimum_version 1.5.0

# A counter at 1 W shows microseconds since second 0: the simulation's own clock.
readonly clock=/sys/class/powercap/clock

# Print "STEP VALUE" for the 100 ms steps up to COUNT, of what COMMAND prints wholly within one.
steps() { # COUNT COMMAND...
    local before value after last=0

    while ((last < $1)); do
        read -r before <"$clock"
        value=$("${@:2}")
        read -r after <"$clock"
        if ((before == after && before / 100000 > last)); then
            last=$((before / 100000))
            printf '%d %s\n' "$last" "$value"
        fi
    done
}

# Print "BEFORE AFTER VALUE" until time UNTIL_US; what cannot be read is "-".
watch() { # FILE UNTIL_US
    local before=0 value after

    while ((before < $2)); do
        read -r before <"$clock"
        read -r value 2>/dev/null <"$1" || value=-
        read -r after <"$clock"
        printf '%d %d %s\n' "$before" "$after" "${value:--}"
    done
}

# Print "WATTS PATH" of each zone, measured over 1 s against the system's clock.
measure() {
    local file begin=() first=() last

    for file in /sys/class/powercap/intel-rapl:*/energy_uj; do
        begin+=("${EPOCHREALTIME/./}")
        read -r last <"$file"
        first+=("$last")
    done
    sleep 1
    for file in /sys/class/powercap/intel-rapl:*/energy_uj; do
        local end=${EPOCHREALTIME/./}

        read -r last <"$file"
        awk -v e=$((last - first[0])) -v t=$((end - begin[0])) -v f="$file" \
            'BEGIN { printf "%.3f %s\n", e / t, f }'
        first=("${first[@]:1}")
        begin=("${begin[@]:1}")
    done
}

# Read register NUMBER of a CPU's msr, SIZE bytes at once.
register() { # CPU NUMBER [SIZE]
    dd if="/dev/cpu/$1/msr" bs="${3:-8}" count=1 skip=$(($2)) iflag=skip_bytes status=none |
        od -An -tu8 | tr -d ' '
}

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

# Run some of the functions above in a simulation of $spec.
inside() { # SCRIPT [SIM-OPTION]...
    local script=$1

    shift
    "$sim" --packages 0 --spec "$spec" "$@" -- bash -c "
        clock=$clock; $(declare -f steps watch measure register)
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

# Poll for at most 5 s.
eventually() { # COMMAND...
    local i

    for ((i = 0; i < 500; i++)); do
        "$@" && return 0
        sleep 0.01
    done
    echo "never: $*"
    return 1
}

simulator_is_gone() { # PID
    ! pgrep -f -- "--watch $1\b" >/dev/null
}

near() { # VALUE EXPECTED PERCENT
    awk -v v="$1" -v x="$2" -v p="$3" 'BEGIN { d = (v - x) * 100; exit !(d <= x * p && -d <= x * p) }'
}

# Each zone within 1 %; a machine that was too busy in between gets two more attempts.
check_power() { # METHOD
    local attempt watts file wrong

    for attempt in 1 2 3; do
        wrong=
        while read -r watts file; do
            case $file in
            */intel-rapl:[01]/*) near "$watts" 100 1 ;;
            */intel-rapl:[01]:0/*) near "$watts" 35.5 1 ;;
            */intel-rapl:[01]:1/*) near "$watts" 20 1 ;;
            esac || wrong+=" $watts:$file"
        done < <("$sim" --method "$1" --core-w 35.5 -- bash -c "$(declare -f measure); measure" |
            tee "$BATS_TEST_TMPDIR/power")
        [[ $(wc -l <"$BATS_TEST_TMPDIR/power") -eq 6 ]] || return 1
        [[ -n $wrong ]] || return 0
        echo "attempt $attempt:$wrong"
    done
    return 1
}

@test "power of each zone within 1 % (fuse)" {
    need_fuse
    check_power fuse
}

@test "power of each zone within 1 % (files)" {
    check_power files
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

@test "a file holds a number, newlines and nothing else (files)" {
    run -0 "$sim" --method files -- bash -c 'tr -d "\n" </sys/class/powercap/intel-rapl:0/energy_uj;
        echo; stat -Lc %s /sys/class/powercap/intel-rapl:0/energy_uj'
    [[ ${lines[0]} =~ ^[0-9]+$ ]]
    [[ ${lines[1]} == 24 ]]
}

@test "a counter wraps after its range, which is a value too" {
    need_fuse
    cat >>"$spec" <<'SPEC'
powercap/clock update 0.1
powercap/a energy 1 299999 0
powercap/a update 0.1
powercap/b energy 1 300000 0
powercap/b update 0.1
powercap/c energy 1000000 18446744073709551615 18446744073709551615
powercap/c update 0.1
SPEC
    run -0 inside 'steps 7 cat /sys/class/powercap/a'
    follows 'k * 100000 % 300000' "$output"
    run -0 inside 'steps 7 cat /sys/class/powercap/b'
    follows 'k * 100000 % 300001' "$output"
    run -0 inside 'steps 4 cat /sys/class/powercap/c'
    follows 'k * 100000000000 - 1' "$output"
}

@test "ramps, squares and gauges are exact" {
    need_fuse
    cat >>"$spec" <<'SPEC'
powercap/clock update 0.1
powercap/up energy-ramp 10 100 999999999999 5
powercap/up update 0.1
powercap/down energy-ramp 40 -100 999999999999 0
powercap/down update 0.1
powercap/square energy-square 10 250 0.4 999999999999 0
powercap/square update 0.1
hwmon/hwmon0/temp1_input gauge -20 1000 0.4
hwmon/hwmon0/temp1_input update 0.1
SPEC
    run -0 inside 'steps 6 cat /sys/class/powercap/up'
    follows '5 + k * 1000000 + k * k * 500000' "$output"
    run -0 inside 'steps 7 cat /sys/class/powercap/down'
    follows 'k < 4 ? k * 4000000 - k * k * 500000 : 8000000' "$output"
    run -0 inside 'steps 7 cat /sys/class/powercap/square'
    follows 'k / 4 * 52000000 + (k % 4 == 3 ? 27000000 : k % 4 * 1000000)' "$output"
    run -0 inside 'steps 7 cat /sys/class/hwmon/hwmon0/temp1_input'
    follows '-20 + (k % 2 == 0 ? 0 : k % 4 == 1 ? 1000 : -1000)' "$output"
}

# How many lines "BEFORE AFTER VALUE" lie in FROM to TO, when the condition holds for each of them?
count_in() { # FROM_US TO_US CONDITION LINES
    awk -v from="$1" -v to="$2" '
        $1 >= from && $2 < to { n++; if (!('"$3"')) { print "wrong:", $0; exit 1 } }
        END { if (n < 5) { print "only", n + 0, "reads from", from, "to", to; exit 1 } }' <<<"$4"
}

@test "reads fail in their window, with the right error" {
    need_fuse
    cat >>"$spec" <<'SPEC'
powercap/clock update 0
powercap/a energy 1 999999999999 0
powercap/a update 0
powercap/a fail 0.2 0.4 EIO
powercap/b text x
powercap/b fail 0 inf 61
SPEC
    run -0 inside 'watch /sys/class/powercap/a 600000; cat /sys/class/powercap/b 2>&1 || true'
    [[ ${lines[-1]} == *'No data available' ]]
    output=$(head -n -1 <<<"$output")
    count_in 0 200000 '$3 != "-" && $3 >= $1 && $3 <= $2' "$output"
    count_in 200000 400000 '$3 == "-"' "$output"
    count_in 400000 600000 '$3 != "-" && $3 >= $1 && $3 <= $2' "$output"
}

@test "a frozen meter stands still and then shows the truth" {
    need_fuse
    cat >>"$spec" <<'SPEC'
powercap/clock update 0
powercap/a energy 1 999999999999 0
powercap/a update 0
powercap/a freeze 0.2 0.4
SPEC
    run -0 inside 'watch /sys/class/powercap/a 600000'
    count_in 0 200000 '$3 >= $1 && $3 <= $2' "$output"
    count_in 200000 400000 '$3 == 200000' "$output"
    count_in 400000 600000 '$3 >= $1 && $3 <= $2' "$output"
}

@test "a reset counter begins again at 0" {
    need_fuse
    cat >>"$spec" <<'SPEC'
powercap/clock update 0
powercap/a energy 1 999999999999 7000000
powercap/a update 0
powercap/a reset 0.2
powercap/a reset 0.4
SPEC
    run -0 inside 'watch /sys/class/powercap/a 600000'
    count_in 0 200000 '$3 - 7000000 >= $1 && $3 - 7000000 <= $2' "$output"
    count_in 200000 400000 '$3 + 200000 >= $1 && $3 + 200000 <= $2' "$output"
    count_in 400000 600000 '$3 + 400000 >= $1 && $3 + 400000 <= $2' "$output"
}

@test "an absurd value is read exactly once" {
    need_fuse
    cat >>"$spec" <<'SPEC'
powercap/clock update 0
powercap/a energy 1 999999999999 0
powercap/a update 0
powercap/a absurd 0.2 18446744073709551616
SPEC
    run -0 inside 'watch /sys/class/powercap/a 400000'
    [[ $(grep -c ' 18446744073709551616$' <<<"$output") -eq 1 ]]
    output=$(grep -v ' 18446744073709551616$' <<<"$output")
    count_in 0 200000 '$3 >= $1 && $3 <= $2' "$output"
    count_in 200000 400000 '$3 >= $1 && $3 <= $2' "$output"
}

@test "what vanishes cannot be opened, listed or read, and comes back" {
    need_fuse
    cat >>"$spec" <<'SPEC'
powercap/clock update 0
powercap/intel-rapl:1 vanish 0.3 0.6
SPEC
    run -0 inside 'cd /sys/class/powercap; exec 5<intel-rapl:1/energy_uj
        watch intel-rapl:1/energy_uj 299999
        until read -r now <"$clock" && ((now >= 300000)); do :; done
        echo "gone: $(ls -d intel-rapl/*:1 2>&1) $(cat <&5 2>&1)"
        watch intel-rapl:1/energy_uj 800000' --packages 2
    [[ $output == *'gone: '*'No such file or directory'*'No such device'* ]]
    output=$(grep -v gone <<<"$output")
    count_in 0 300000 '$3 != "-"' "$output"
    count_in 320000 600000 '$3 == "-"' "$output"
    count_in 600000 800000 '$3 != "-"' "$output"
}

@test "registers of /dev/cpu/N/msr" {
    need_fuse
    [[ -d /dev/cpu ]] || skip 'there is no /dev/cpu'
    cat >>"$spec" <<'SPEC'
powercap/clock update 0.1
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

@test "a spec changes the generated hardware" {
    printf 'powercap/intel-rapl:0/energy_uj energy 0 262143328850 12\n' >"$spec"
    printf 'hwmon/hwmon0/name text coretemp\n' >>"$spec"
    run -0 "$sim" --spec "$spec" -- bash -c 'cat /sys/class/powercap/intel-rapl:0/energy_uj |
        head -n 1; stat -Lc %a /sys/class/powercap/intel-rapl:0/energy_uj; cat /sys/class/hwmon/*/name'
    [[ $(xargs <<<"$output") == '12 400 coretemp' ]]
    run -0 "$sim" --packages 0 --spec "$spec" -- ls /sys/class/powercap
    [[ $output == intel-rapl:0 ]]
    run -0 "$sim" --packages 0 -- ls /sys/class/powercap
    [[ $output == '' ]]
}

@test "a unit behind the number, and a folder that /sys does not have" {
    cat >"$spec" <<'SPEC'
cray/pm_counters/energy energy 0 1000000000 123999999
cray/pm_counters/energy unit 1000000 J
cray/pm_counters/temp gauge -1500 0 1
cray/pm_counters/temp unit 1000
hwmon/hwmon0/name text coretemp
SPEC
    local method

    for method in fuse files; do
        { : <>/dev/fuse; } 2>/dev/null || [[ $method != fuse ]] || continue
        run -0 "$sim" --method "$method" --spec "$spec" -- bash -c 'cd /sys/cray/pm_counters
            cat energy temp /sys/class/hwmon/hwmon0/name; ls /sys/bus /sys/class/powercap'
        [[ $(xargs <<<"$output") == '123 J -1 coretemp /sys/bus: '* ]]
        [[ $output == *'intel-rapl:1'* && $output != *$'\n'tree* ]]
    done
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
    run -0 "$sim" -- bash -c 'grep " /sys/class/powercap " /proc/mounts'
    [[ $output == *' tmpfs '* ]]
    need_fuse
    run -125 "$sim" --method fuse -- true
    [[ $output == 'sim: the simulator failed' ]]
}

@test "other classes are as before, also where overlay is missing" {
    mkdir "$BATS_TEST_TMPDIR/bin"
    printf '#!/bin/sh\ncase "$*" in *overlay*) exit 32 ;; esac\nexec %s "$@"\n' "$(command -v mount)" \
        >"$BATS_TEST_TMPDIR/bin/mount"
    chmod +x "$BATS_TEST_TMPDIR/bin/mount"
    # bdi and net change with what is mounted and connected elsewhere
    local list='find /sys/class/ -mindepth 1 -maxdepth 2 ! -path "*/powercap*" ! -path "*/bdi/*" \
        \( ! -path "*/net/*" -o -name lo \) -printf "%p %y %l\n" | sort'
    local expected

    expected=$(bash -c "$list")
    [[ $expected == *'/sys/class/net/lo l ../../devices/'* ]]
    run -0 "$sim" -- bash -c "$list"
    [[ $output == "$expected" ]]
    PATH="$BATS_TEST_TMPDIR/bin:$PATH"
    run -0 "$sim" -- bash -c "$list"
    [[ $output == "$expected" ]]
    run -0 "$sim" -- bash -c 'cat /sys/class/powercap/intel-rapl:0/name; grep /sys/class /proc/mounts'
    [[ ${lines[0]} == package-0 && $output != *overlay* ]]
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

@test "stdin, stdout, stderr, descriptors, arguments and folder are the caller's" {
    cd "$BATS_TEST_TMPDIR"
    head -c 300000 /dev/urandom >in
    "$sim" -- cat <in >out 2>err
    cmp in out
    [[ ! -s err ]]
    run -0 --separate-stderr "$sim" -- bash -c 'printf "<%s>" "$PWD" "$@"; echo oops >&2' sh -- 'a  b' '' --spec
    [[ $output == "<$BATS_TEST_TMPDIR><--><a  b><><--spec>" ]]
    # shellcheck disable=SC2154 # set by run
    [[ $stderr == oops ]]
    [[ $("$sim" -- ls /proc/self/fd) == "$(ls /proc/self/fd)" ]]
    [[ $("$sim" -- env | grep -v ^_= | sort) == "$(env | grep -v ^_= | sort)" ]]
}

@test "the command has no child that it did not start, and keeps its process" {
    local pid
    run -0 "$sim" -- bash -c 'ps --ppid $$ -o comm=; true'
    [[ $output == ps ]]
    "$sim" -- bash -c 'echo $$' >"$BATS_TEST_TMPDIR/pid" 3>&- &
    pid=$!
    wait "$pid"
    [[ $(<"$BATS_TEST_TMPDIR/pid") -eq $pid ]]
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

@test "all of it works in a process namespace, as its first process" {
    [[ $(id -u) -eq 0 ]] || skip 'needs root'
    run -0 unshare --pid --fork --mount-proc --kill-child "$sim" -- bash -c \
        'echo $$; cat /sys/class/powercap/intel-rapl:0/name; wait; echo end'
    [[ $(xargs <<<"$output") == '1 package-0 end' ]]
}

@test "a plain user" {
    [[ $(id -u) -eq 0 ]] || skip 'this is one already'
    local nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)

    "${nobody[@]}" unshare -Urm true 2>/dev/null || skip 'user namespaces are off'
    "${nobody[@]}" test -r "$sim" -a -x "${APAPI_SIMHW:-$sim}" || skip 'another user cannot get at the repository'
    run -0 "${nobody[@]}" "$sim" --method files -- bash -c \
        'id -u; head -n 1 /sys/class/powercap/intel-rapl:1/energy_uj; stat -Lc %a /sys/class/powercap/*:0/energy_uj'
    [[ ${lines[0]} == 0 && ${lines[1]} =~ ^[0-9]+$ && ${lines[2]} == 400 ]]
    run -7 "${nobody[@]}" "$sim" -- bash -c 'exit 7'
}

@test "other users see the hardware as far as its mode allows" {
    [[ $(id -u) -eq 0 ]] || skip 'needs root'
    local method read_as_nobody='umask; setpriv --reuid 65534 --regid 65534 --clear-groups \
        head -n 1 /sys/class/powercap/intel-rapl:0:0/energy_uj'

    umask 077
    for method in fuse files; do
        { : <>/dev/fuse; } 2>/dev/null || [[ $method != fuse ]] || continue
        run -0 "$sim" --method "$method" --mode 444 -- bash -c "$read_as_nobody"
        [[ ${lines[0]} == 0077 && ${lines[1]} =~ ^[0-9]+$ ]]
        run -1 "$sim" --method "$method" -- bash -c "$read_as_nobody"
        [[ ${lines[1]} == *'Permission denied' ]]
    done
}

@test "a simulation in a simulation" {
    run -0 "$sim" --packages 3 -- "$sim" --packages 1 -- bash -c 'cat /sys/class/powercap/*:*/name'
    [[ $(xargs <<<"$output") == 'package-0 dram' ]]
}

@test "a user namespace with FUSE" {
    need_fuse
    unshare -Urm true 2>/dev/null || skip 'user namespaces are off'
    run -0 unshare -Ur "$sim" --method fuse -- bash -c 'cat /sys/class/powercap/intel-rapl:1/energy_uj; grep " /sys/class/powercap " /proc/mounts'
    [[ ${lines[0]} =~ ^[0-9]+$ ]]
    [[ ${lines[1]} == 'apapi-simhw /sys/class/powercap fuse '* ]]
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
    run -125 "$sim"
    [[ $output == 'sim: no command was given'* ]]
    run -125 "$sim" --spec
    [[ $output == 'sim: --spec: a value is missing' ]]
    APAPI_SIMHW=/no/such run -125 "$sim" true
    [[ $output == *'/no/such (from APAPI_SIMHW) cannot be executed' ]]
    run -0 "$sim" --help
    [[ $output == 'usage: scripts/sim'* ]]
}

@test "bad spec lines: file, line, what was expected, and nothing was done" {
    local line message dir="$BATS_TEST_TMPDIR/dir"

    mkdir "$dir"
    while IFS='|' read -r line message; do
        printf '# a comment\n\na/b energy 1 10 0\nlost link nowhere\n%s\n' "$line" >"$spec"
        run -2 "$APAPI_SIMHW" --fuse "$dir" "$spec"
        [[ $output == "apapi-simhw: $spec:5: $message" ]] || { echo "$line: $output" && return 1; }
    done <<'TABLE'
x|nothing is said of x; expected: PATH WORD ARGUMENTS
x joules 1|unknown word "joules"; expected: PATH WORD ARGUMENTS
x energy 1 2|2 of the 3 arguments are there; expected: PATH energy WATTS RANGE_UJ START_UJ
x energy 1 2 3 4|"4" is one argument too many; expected: PATH energy WATTS RANGE_UJ START_UJ
x energy 1W 2 0|"1W" is not a power from 0 to 1e+06 W; expected: PATH energy WATTS RANGE_UJ START_UJ
x energy nan 2 0|"nan" is not a power from 0 to 1e+06 W; expected: PATH energy WATTS RANGE_UJ START_UJ
x energy 1 -2 0|"-2" is not a whole number from 0 to 18446744073709551615; expected: PATH energy WATTS RANGE_UJ START_UJ
x energy 1 2 3|"3" is not a whole number from 0 to 2; expected: PATH energy WATTS RANGE_UJ START_UJ
x gauge 1 1 0|"0" is not a period; expected: PATH gauge MEAN AMPLITUDE PERIOD_S
a/b text again|a/b is defined already; expected: PATH text [STRING]
a text folder|a is a folder that holds something; expected: PATH text [STRING]
a/b/c text x|path a/b/c: something on the way is not a folder; expected: PATH text [STRING]
/x text x|path /x: not a plain relative path; expected: PATH text [STRING]
x/../y text x|path x/../y: not a plain relative path; expected: PATH text [STRING]
lost/x text x|path lost/x: a link on the way leads nowhere; expected: PATH text [STRING]
x mode 444|x is not defined before this line; expected: PATH mode OCTAL
a/b mode 999|"999" is not an octal mode from 0 to 777; expected: PATH mode OCTAL
a reset 1|reset cannot be used for what a is; expected: PATH reset AT_S
a/b fail 1 2 EOOPS|"EOOPS" is not an error number or its name; expected: PATH fail FROM_S TO_S ERRNO
a/b fail 2 1 EIO|TO_S is not after FROM_S; expected: PATH fail FROM_S TO_S ERRNO
a/b unit 0 J|"0" is not a whole number from 1; expected: PATH unit DIVISOR [UNIT]
a/b unit 1 a-very-long-unit|UNIT is longer than 15 bytes; expected: PATH unit DIVISOR [UNIT]
a/b freeze -1 1|"-1" is not a time from 0 to 1e9 s; expected: PATH freeze FROM_S TO_S
a/b reg 0x611 const 1|reg cannot be used for what a/b is; expected: PATH reg NUMBER const VALUE | NUMBER energy WATTS UNIT_EXP START
TABLE
    [[ -z $(ls -A "$dir") ]]
    printf 'a energy 1 1 0\na vanish 1 2\n' >"$spec"
    run -2 "$APAPI_SIMHW" --files "$dir" "$spec"
    [[ $output == *"$spec:2: vanish is possible with --fuse only; "* ]]
    [[ -z $(ls -A "$dir") ]]
    run -125 "$sim" --method files --spec "$spec" -- touch "$dir/ran"
    [[ $output == *"$spec:2: vanish is possible with --fuse only; "* ]]
    [[ -z $(ls -A "$dir") ]]
}

@test "the simulator alone: ready, SIGTERM, death of the parent" {
    [[ $(id -u) -eq 0 ]] || skip 'needs root'
    local dir="$BATS_TEST_TMPDIR/dir" method pid
    mkdir "$dir"
    local script='mount -t tmpfs none "$2" && mkdir "$2/t" && mkfifo "$2/f" && exec 8<>"$2/f"
        "$0" "$1" "$2/t" --ready-fd 8 "$3" >/dev/null 2>&1 & read -r -u 8 && cat "$2/t/powercap/clock" >/dev/null || exit 1'

    for method in --files --fuse; do
        { : <>/dev/fuse; } 2>/dev/null || [[ $method != --fuse ]] || continue
        run -0 timeout -k 1 20 unshare -m bash -c "$script"'; kill -TERM $!; wait $! || exit 2
            ! grep " $2/t " /proc/mounts' "$APAPI_SIMHW" "$method" "$dir" "$spec"
        run -137 unshare -m bash -c "$script"'; echo $!; kill -KILL $$' "$APAPI_SIMHW" "$method" "$dir" "$spec"
        pid=${lines[0]}
        eventually bash -c '! grep -q "^State:.[^Z]" "/proc/$0/status" 2>/dev/null' "$pid"
    done
}
