#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# scripts/sim: the tree that it shows, and that nothing else changes. truth.bats and truth_papi.bats compare its meters with
# what they should be.
# shellcheck disable=SC2016 # quoted scripts are for an inner shell
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
    if [[ -e /sys/devices/system/cpu/modalias ]]; then # a processor of type x86
        tells 0 '*,ven0000*' "$sim" --amd -- "$sim" -- cat /sys/devices/system/cpu/modalias
        tells 0 '*,ven0002*' "$sim" --amd -- cat /sys/devices/system/cpu/modalias
    fi
    run -0 "$sim" --packages 1 --amd --range-uj 77 --core-w none --mode 0444 -- bash -c \
        'cd /sys/class/powercap; cat *:*/{name,max_energy_range_uj}; stat -Lc %a *:*/energy_uj'
    [[ $(xargs <<<"$output") == 'package-0 77 444' ]]
    run -0 "$sim" --package-w 0 --start-uj 4711 -- bash -c 'cat /sys/class/powercap/intel-rapl:[01]/energy_uj'
    [[ $(xargs <<<"$output") == '4711 4711' ]]
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
            [[ $(</proc/mounts) != *apapi-sim* ]]
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
--package-w none|--package-w none: expected a power in W
--dram-w 1e3|--dram-w 1e3: expected a power in W, or none
--start-uj 262143328851|--start-uj is larger
--mode 888|--mode 888: expected an octal mode
--spec /no/such|--spec /no/such: cannot be read
TABLE
    tells 125 'sim: no command was given*' "$sim"
    tells 125 'sim: --spec: a value is missing' "$sim" --spec
    APAPI_SIMHW=/no/such tells 125 '*/no/such (from APAPI_SIMHW) cannot be executed' "$sim" true
    tells 0 'usage: scripts/sim*' "$sim" --help
}
