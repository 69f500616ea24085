#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# As truth.bats, by way of the code of real PAPIs: a newer one that scripts/setup-papi builds, and
# the one of this machine's release, built with the components that its package lacks. What PAPI does
# wrong itself (stale values, one range for all, the process ended) must not be seen.

bats_require_minimum_version 1.5.0
load truth.bash

# the file may have been asked once more because of what PAPI said, and then it was put right
CASES=${CASES/refused=1/refused=0..1}

readonly MODEL=85 # Skylake-X, which all of these versions know
readonly PACKAGE=rapl:::PACKAGE_ENERGY:PACKAGE0 CORES=rapl:::PP0_ENERGY:PACKAGE0 DRAM=rapl:::DRAM_ENERGY:PACKAGE0

# A PAPI in build/NAME, from an earlier run or built now.
need_papi() { # NAME [OPTION]
    local status=0

    "$repository/scripts/setup-papi" "${@:2}" "$repository/build/$1" 3>&- || status=$?
    ((status != 3)) || skip_all 'the source of PAPI cannot be had here' || return 0
    return $status
}

build_with_newer() {
    local build=$repository/build/papi

    [[ -f $build/build.ninja ]] || cmake -S "$repository" -B "$build" -G Ninja \
        -DCMAKE_BUILD_TYPE=Release "-DPAPI_ROOT=$repository/build/papi-prefix" >/dev/null 3>&- || return
    cmake --build "$build" --target atime >"$BATS_FILE_TMPDIR/build.log" 3>&- ||
        { cat "$BATS_FILE_TMPDIR/build.log" && return 1; }
}

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
SPEC
        for incident in "${@:2}"; do
            echo "$cpu $incident"
        done
    done
}

# Run both atimes, named new and old, in simulations of NAME.spec.
measure_both() { # NAME OPTION...
    cp "$BATS_FILE_TMPDIR/$1.spec" "$BATS_FILE_TMPDIR/new-$1.spec"
    cp "$BATS_FILE_TMPDIR/$1.spec" "$BATS_FILE_TMPDIR/old-$1.spec"
    measure "$BATS_FILE_TMPDIR" "new-$1" $MODEL "$NEW_ATIME" "${@:2}" &
    LD_LIBRARY_PATH=$repository/build/papi-prefix-stable/lib \
        measure "$BATS_FILE_TMPDIR" "old-$1" $MODEL "$OLD_ATIME" "${@:2}" &
    wait
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
    export APAPI_SOURCES=papi
    export NEW_ATIME=$repository/build/papi/core/atime/atime
    export OLD_ATIME=$repository/${APAPI_TEST_BUILD:-build/release}/core/atime/atime
    shapes_spec >"$BATS_FILE_TMPDIR/shapes.spec"
    incidents_spec >"$BATS_FILE_TMPDIR/incidents.spec"
    registers_spec 24 >"$BATS_FILE_TMPDIR/registers.spec"
    registers_spec 14 'fail 1.5 2.5 EIO' >"$BATS_FILE_TMPDIR/failing.spec"
    measure_both shapes -c powercap
    measure_both incidents -c powercap
    [[ -d /dev/cpu ]] || return 0
    measure_both registers -c rapl
    measure_both failing -c rapl
}

setup() {
    skip_if_all_are
    new=$BATS_FILE_TMPDIR/new old=$BATS_FILE_TMPDIR/old
    case $BATS_TEST_DESCRIPTION in
    *'the release'*) need_old ;;
    esac
    case $BATS_TEST_DESCRIPTION in
    *rapl*) [[ -d /dev/cpu ]] || skip 'there is no /dev/cpu that could be replaced' ;;
    esac
}

from_papi() { # FILE NAME
    cat "$1".err
    jq -r '.components[].source' "$1.json" | grep "^PAPI [0-9.]* $2$"
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
    "$repository/scripts/sim" "${options[@]}" -- bash -c '
        sed -E -e "s/^(vendor_id\s*: ).*/\1GenuineIntel/" -e "s/^(cpu family\s*: ).*/\16/" \
            -e "s/^(model\s*: ).*/\1$1/" /proc/cpuinfo >"$0/cpuinfo" &&
            mount --bind "$0/cpuinfo" /proc/cpuinfo && shift && exec "$@"' "$BATS_TEST_TMPDIR" $MODEL \
        "$atime" "$@"
}

@test "powercap, newer: shapes and wraps" {
    from_papi "$new-shapes" powercap
    check "$new-shapes" shapes
}

@test "powercap, newer: incidents" {
    from_papi "$new-incidents" powercap
    check "$new-incidents" incidents
}

@test "powercap, the release's: shapes and wraps" {
    from_papi "$old-shapes" powercap
    check "$old-shapes" shapes
}

@test "powercap, the release's: incidents" {
    from_papi "$old-incidents" powercap
    check "$old-incidents" incidents
}

check_registers() { # DIR/NAME [INCIDENT]
    from_papi "$1" rapl
    true_energy "$1" "$PACKAGE" 0 constant 300
    true_energy "$1" "$CORES" 0 constant 60
    true_energy "$1" "$DRAM" 0 constant 20
    incidents "$1" "$PACKAGE" "${@:2}"
    incidents "$1" "$CORES" "${@:2}"
    incidents "$1" "$DRAM" "${@:2}"
}

@test "rapl, newer: registers that wrap" {
    check_registers "$new-registers"
}

@test "rapl, the release's: registers that wrap" {
    check_registers "$old-registers"
}

# PAPI itself would end the process
@test "rapl, newer: registers that cannot be read for 1 s" {
    check_registers "$new-failing" failed=18..22
}

@test "rapl, the release's: registers that cannot be read for 1 s" {
    check_registers "$old-failing" failed=18..22
}

# What was measured before is reported; the status is the program's.
check_lost() { # ATIME
    registers_spec 14 'fail 0.7 inf EIO' >"$BATS_TEST_TMPDIR/spec"
    run -3 --separate-stderr simulate "$1" --packages 0 --spec "$BATS_TEST_TMPDIR/spec" -- \
        -c rapl -f json -t 50ms sh -c 'sleep 1; exit 3'
    echo "$stderr"
    jq -e '.components[0].events[] | select(.domain == "package") | .total > 60 and .failed > 5' <<<"$stderr"
}

@test "rapl, newer: registers that are lost for ever" {
    check_lost "$NEW_ATIME"
}

@test "rapl, the release's: registers that are lost for ever" {
    check_lost "$OLD_ATIME"
}

@test "rapl, newer: a register that the processor lacks is left out" {
    registers_spec 14 | grep -v 0x639 >"$BATS_TEST_TMPDIR/spec"
    run -0 --separate-stderr simulate "$NEW_ATIME" --packages 0 --spec "$BATS_TEST_TMPDIR/spec" -- \
        -c rapl -f json sleep 0.5
    echo "$stderr"
    jq -e '.domains | .package.energy_j > 149 and has("dram") and (has("core") | not)' <<<"$stderr"
}

check_psys_first() { # ATIME EXPRESSION
    run -0 --separate-stderr simulate "$1" --packages 1 --psys-w 300 -- -c powercap -f json sleep 1
    echo "$stderr"
    jq -e ".domains | $2" <<<"$stderr"
}

@test "powercap, newer: psys as the first zone is not taken for the package" {
    check_psys_first "$NEW_ATIME" '(.package.mean_w - 100 | fabs) < 1 and (.dram.mean_w - 20 | fabs) < 1 and (has("psys") | not)'
}

# It knows as many zones as there are sockets: the package is not found.
@test "powercap, the release's: psys as the first zone is not taken for the package" {
    check_psys_first "$OLD_ATIME" '(.psys.mean_w - 300 | fabs) < 3 and (has("package") | not)'
}

check_permission() { # ATIME
    [[ $EUID -eq 0 ]] || skip 'needs root to try as somebody else'
    setpriv --reuid 65534 test -x "$1" || skip 'an ordinary user cannot enter this folder'
    run -4 --separate-stderr simulate /usr/bin/env -- setpriv --reuid 65534 --regid 65534 --clear-groups \
        env LD_LIBRARY_PATH="${2:-}" "$1" -c powercap sh -c 'exit 4'
    echo "$stderr"
    [[ $(tr -s ' \n' ' ' <<<"$stderr") == *'powercap: not measured (no permission to read '*'/intel-rapl:0/energy_uj)'* ]]
}

@test "powercap, newer: no permission" {
    check_permission "$NEW_ATIME"
}

@test "powercap, the release's: no permission" {
    check_permission "$OLD_ATIME" "$repository/build/papi-prefix-stable/lib"
}
