#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# scripts/sim and apapi-simhw: what the simulated hardware shows, and that nothing else changes.
# The functions above the tests run inside the simulation, by way of inside().
# shellcheck disable=SC2016 # quoted scripts are for an inner shell or awk
# shellcheck disable=SC2030,SC2031 # each test is a subshell; that is the point

bats_require_minimum_version 1.5.0
load sim_common

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
