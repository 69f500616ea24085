#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# As truth.bats, by way of the code of real PAPIs: a newer one that scripts/setup-papi builds, and
# the one of this machine's release, built with the components that its package lacks. What PAPI does
# wrong itself (the process ended) must not be seen.

# shellcheck disable=SC2030,SC2031 # each test is a process of its own
# bats file_tags=long
load truth.bash
load papi_common.bash

# A command on a processor of Skylake-X, which all of these versions know.
as_model=(bash -c 'mount --bind "$0" /proc/cpuinfo && exec "$@"' "$BATS_FILE_TMPDIR/cpuinfo")

# A processor whose registers count 2^-UNIT J in 32 bits; dram's, always 2^-16 J, wraps after 40 J.
registers_spec() { # UNIT [INCIDENT]...
    local cpu incident

    echo 'powercap/clock energy 1 999999999999 0'
    echo 'powercap/clock update 0'
    for cpu in /sys/devices/system/cpu/cpu[0-9]*; do
        cpu=cpu/${cpu##*/cpu}/msr
        cat <<SPEC
$cpu msr
$cpu reg 0x606 const $((0xA0003 | $1 << 8))
$cpu reg 0x611 energy 300 $1 0
$cpu reg 0x619 energy 20 16 $((0x100000000 - 40 * 65536))
$cpu reg 0x639 energy 60 $1 1000
$cpu reg 0x614 const $((2400 | 800 << 16 | 3200 << 32))
SPEC
        for incident in "${@:2}"; do
            echo "$cpu $incident"
        done
    done
}

wrapping_spec() { registers_spec 24; }

# Run both atimes in simulations of registers that wrap.
measure_both() {
    measure "$BATS_FILE_TMPDIR" new wrapping_spec "${as_model[@]}" "$NEW_ATIME" -c rapl &
    (
        export LD_LIBRARY_PATH=$repository/build/papi-prefix-stable/lib
        measure "$BATS_FILE_TMPDIR" old wrapping_spec "${as_model[@]}" "$OLD_ATIME" -c rapl
    ) || : # what is missing fails its test
    wait $! || :
}

# The usual build loads PAPI by its soname, which is the release's, and finds the one with components.
need_old() {
    local soname

    soname=$(grep -ao 'libpapi\.so\.[0-9.]*' "$(dirname "$OLD_ATIME")/../libapapi.so" | head -n 1)
    [[ -e $repository/build/papi-prefix-stable/lib/$soname ]] ||
        skip "atime was built for $soname, the release has another"
}

setup_file() {
    [[ ${APAPI_TEST_BUILD:-} != *san ]] || skip_all 'tried with the usual build' || return 0
    needs_fuse || return 0
    grep -q '^vendor_id' /proc/cpuinfo || skip_all 'PAPI has these components for x86 only' || return 0
    need_papi papi-prefix
    need_papi papi-prefix-stable --stable
    [[ -z ${APAPI_SKIP_ALL:-} ]] || return 0
    build_with_newer
    unset APAPI_SOURCES
    export NEW_ATIME=$repository/build/papi/core/atime/atime
    export OLD_ATIME=$atime
    sed -E -e 's/^(vendor_id\s*: ).*/\1GenuineIntel/' -e 's/^(cpu family\s*: ).*/\16/' \
        -e 's/^(model\s*: ).*/\185/' /proc/cpuinfo >"$BATS_FILE_TMPDIR/cpuinfo"
    export APAPI_SOURCES=papi
    [[ ! -d /dev/cpu ]] || measure_both
}

setup() {
    skip_if_all_are
    case $BATS_TEST_DESCRIPTION in
    *rapl*) [[ -d /dev/cpu ]] || skip 'there is no /dev/cpu that could be replaced' ;;
    esac
}

# CHECK by each of the two atimes.
by_both() { # CHECK
    "$1" "$NEW_ATIME"
    need_old
    "$1" "$OLD_ATIME"
}

# Run a program of its own in a simulation of $spec plus SIM-OPTIONs, measured by ATIME.
simulate() { # ATIME [SIM-OPTION]... -- ATIME-ARGUMENT...
    local atime=$1 options=()

    shift
    while [[ $1 != -- ]]; do
        options+=("$1")
        shift
    done
    shift
    [[ $atime != "$OLD_ATIME" ]] || export LD_LIBRARY_PATH=$repository/build/papi-prefix-stable/lib
    "$repository/scripts/sim" "${options[@]}" -- "${as_model[@]}" "$atime" "$@"
}

check_registers() { # NAME
    local event watts
    cat "$BATS_FILE_TMPDIR/$1.err"
    jq -r '.components[].source' "$BATS_FILE_TMPDIR/$1.json" | grep '^PAPI [0-9.]* rapl$'
    while read -r event watts; do
        true_energy "$BATS_FILE_TMPDIR/$1" "$event" "$watts"
        incidents "$BATS_FILE_TMPDIR/$1" "$event"
    done <<<"$REGISTER 300
rapl:::PP0_ENERGY:PACKAGE0 60
rapl:::DRAM_ENERGY:PACKAGE0 20"
}

@test "rapl, by both versions: registers that wrap" {
    check_registers new
    need_old
    check_registers old
}

lose_for_a_while() { # ATIME COMPONENTS
    run -3 simulate "$1" --packages 0 --spec "$BATS_TEST_TMPDIR/spec" -- \
        -c "$2" -f json -o "$BATS_TEST_TMPDIR/$2" -t 50ms sh -c 'sleep 7; exit 3'
    echo "$output"
    jq -c .components "$BATS_TEST_TMPDIR/$2"
    jq -e '.components[0] | (has("reason") | not) and .outages == 1 and
        .outage_s > 1.6 and .outage_s < 4 + .interval_s * (.missed // 0)' "$BATS_TEST_TMPDIR/$2"
    # an update of the register is missing or too much at each end, and what its uncertainty says of late readings; what
    # came in for 1.7 s is not known
    jq -e '.elapsed_s as $elapsed | .components[0].events[] | select(.domain == "package") |
        ([300 * 0.003, .uncertainty_j] | max) as $error | .resets == 1 and .covered_s > 1.2 and
        .total > 300 * .covered_s - $error and .total < 300 * ($elapsed - 1.7) + $error' "$BATS_TEST_TMPDIR/$2"
}

# After a second it is reopened, while another component keeps PAPI going or none does. PAPI itself
# would end the process when it starts, stops and reads.
check_reopened() { # ATIME
    registers_spec 14 'fail 2.6 4.3' >"$BATS_TEST_TMPDIR/spec"
    lose_for_a_while "$1" rapl &
    lose_for_a_while "$1" rapl:net
    wait $!
}

@test "rapl, by both versions: registers that cannot be read for 1.7 s: reopened" {
    by_both check_reopened
}

@test "rapl, newer: a processor without energy registers harms no other component" {
    registers_spec 14 | grep -v reg >"$BATS_TEST_TMPDIR/spec"
    run -0 --separate-stderr simulate "$NEW_ATIME" --packages 0 --spec "$BATS_TEST_TMPDIR/spec" -- \
        -c rapl:net -f json sleep 0.3
    jq -e '.components | (.[0].reason | contains("energy registers cannot be read")) and .[1].source[:4] == "PAPI"' <<<"$stderr"
}

# Design power, least and greatest power: 300, 100 and 400 W.
check_named() { # ATIME
    registers_spec 14 >"$BATS_TEST_TMPDIR/spec"
    printf '%s\n' 'rapl:::THERMAL_SPEC:*' 'rapl:::M*IMUM_POWER:PACKAGE0' 'rapl:::PACKAGE_ENERGY_CNT:*' \
        >"$BATS_TEST_TMPDIR/list"
    APAPI_EVENTLIST=$BATS_TEST_TMPDIR/list run -0 --separate-stderr simulate "$1" --packages 0 \
        --spec "$BATS_TEST_TMPDIR/spec" -- -c rapl -f json sleep 0.5
    echo "$stderr"
    jq -e '.domains.package.energy_j > 149 and ([.components[0].events[] | {(.name): .}] | add |
        ."rapl:::THERMAL_SPEC:PACKAGE0".mean == 300 and ."rapl:::MINIMUM_POWER:PACKAGE0".mean == 100 and
        ."rapl:::MAXIMUM_POWER:PACKAGE0".max == 400 and ."rapl:::PACKAGE_ENERGY_CNT:PACKAGE0".counter)' <<<"$stderr"
}

@test "rapl, by both versions: THERMAL_SPEC and others that are no energy, when they are named: 300 W" {
    by_both check_named
}

# As `apapi list` shows them, with a real PAPI: 300, 100 and 400 W; the energies are without the remark.
@test "rapl, the release's: apapi list shows what must be named, with its value, and says so" {
    need_old
    registers_spec 14 >"$BATS_TEST_TMPDIR/spec"
    simulated_list() {
        LD_LIBRARY_PATH=$repository/build/papi-prefix-stable/lib simulate \
            "$apapi" --packages 0 \
            --spec "$BATS_TEST_TMPDIR/spec" -- list "$@"
    }
    run -0 --separate-stderr simulated_list --json rapl
    jq -e 'def says: .description | startswith("measured only if an event list names it: ");
        [.components[0].events[] | select(.name | endswith(":PACKAGE0"))] |
        (map({(.name[7:-9]): .}) | add) as $event |
        $event.THERMAL_SPEC.value == 300 and $event.MINIMUM_POWER.value == 100 and $event.MAXIMUM_POWER.value == 400 and
        ([$event.THERMAL_SPEC, $event.MINIMUM_POWER, $event.MAXIMUM_POWER, $event.PACKAGE_ENERGY_CNT] | all(says)) and
        ([$event.PACKAGE_ENERGY, $event.DRAM_ENERGY, $event.PP0_ENERGY] | any(says) | not)' <<<"$output"
    run -0 --separate-stderr simulated_list rapl
    [[ $(grep -c 'measured only if an event list names it: ' <<<"$output") -ge 4 ]]
    [[ $(grep ' PACKAGE_ENERGY:PACKAGE0\|:::PACKAGE_ENERGY:PACKAGE0' <<<"$output") != *'measured only'* ]]
}

# For jq: is it the energy of so many watts, but for its own uncertainty and one update?
readonly IS_ENERGY='def is_energy($elapsed; $watts):
    (.energy_j - $watts * $elapsed | fabs) <= .uncertainty_j + 0.001 * $watts;'

# A set of PAPI's holds one component's events only; 45 degrees come as 45000 "degrees C".
check_two_components() { # ATIME
    registers_spec 14 >"$BATS_TEST_TMPDIR/spec"
    cat >>"$BATS_TEST_TMPDIR/spec" <<'SPEC'
hwmon/hwmon0/name text coretemp
hwmon/hwmon0/temp1_label text Package id 0
hwmon/hwmon0/temp1_input text 45000
hwmon/hwmon0/in0_input text 1200
hwmon/hwmon0/fan1_input text 900
SPEC
    printf '%s:::*\n' rapl coretemp net >"$BATS_TEST_TMPDIR/events"
    export APAPI_EVENTLIST=$BATS_TEST_TMPDIR/events
    run -0 --separate-stderr simulate "$1" --packages 0 --spec "$BATS_TEST_TMPDIR/spec" -- \
        -c rapl:coretemp:net -v -f json sleep 0.5
    echo "$stderr"
    jq -e "$IS_ENERGY"'.elapsed_s as $elapsed | .domains.package | is_energy($elapsed; 300)' <<<"$stderr"
    jq -e '[.components[].events[] | select(.name | startswith("coretemp:::")) |
        [(.name | split(":")[-1] | split("_")[0]), .mean, .unit]] | sort ==
        [["fan1", 900, "rpm"], ["in0", 1.2, "V"], ["temp1", 45, "C"]]' <<<"$stderr"
    jq -e '[.components[].events[] | select(.name | test("^net:::.*:rx:bytes?$")) | .unit] |
        length > 0 and all(.[]; . == "B")' <<<"$stderr"
}

@test "rapl and others, by both versions: together, with their units" {
    by_both check_two_components
}

# Neither PAPI's open files nor a word of its reach the program or its user.
check_clean() { # ATIME
    registers_spec 14 'fail 2.3 inf' >"$BATS_TEST_TMPDIR/spec"
    printf 'hwmon/hwmon0/name text coretemp\nhwmon/hwmon0/temp1_input text 45000\n' >>"$BATS_TEST_TMPDIR/spec"
    run -0 --separate-stderr simulate "$1" --packages 0 --spec "$BATS_TEST_TMPDIR/spec" -- \
        -c rapl:coretemp -t 20ms -f json sh -c 'sleep 3; ls -l /proc/self/fd'
    echo "$output"
    jq -e '[.components[] | .source | test("^PAPI")] == [true, true]' <<<"$stderr"
    [[ $output == total* && $output != *hwmon* && $output != */dev/cpu/* ]]
}

@test "rapl and coretemp, by both versions: nothing leaks, nothing is printed" {
    by_both check_clean
}
