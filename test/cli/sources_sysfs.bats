#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# hwmon, Intel GPUs and Cray's pm_counters beside powercap, against meters whose truth is known.

bats_require_minimum_version 1.5.0
load truth.bash

readonly LARGEST=18446744073709551615

# Every kind of meter, each with another power.
kinds_spec() {
    cat <<SPEC
hwmon/hwmon3/name text power_meter
hwmon/hwmon3/power1_average gauge 400000000 0 1
hwmon/hwmon1/name text xe
hwmon/hwmon1/device/drm/card0/dev text 226:0
hwmon/hwmon1/energy1_input energy 225 $LARGEST 5000000000
hwmon/hwmon1/energy1_label text card
hwmon/hwmon1/energy2_input energy 180 $LARGEST 4000000000
hwmon/hwmon1/energy2_label text pkg
hwmon/hwmon0/name text sensor
hwmon/hwmon0/energy7_input energy 35 $LARGEST 0
cray/pm_counters/generation text 3
cray/pm_counters/startup text 1700000000000000
cray/pm_counters/raw_scan_hz text 100
$(cray_spec energy 'energy 500' '1000000 J')
$(cray_spec cpu_energy 'energy 210' '1000000 J')
$(cray_spec accel0_energy 'energy 250' '1000000 J')
$(cray_spec freshness 'energy 100' 1000000)
cray/pm_counters/power gauge 500 0 1
cray/pm_counters/power unit 1 W
SPEC
}

# A counter that moves with each scan.
cray_spec() { # FILE METER UNIT
    printf '%s\n' "$2 $LARGEST 123456000000" 'update 0.01' "unit $3" |
        sed "s,^,cray/pm_counters/$1 ,"
}

# What may go wrong, in a chip of its own each.
trouble_spec() {
    local number=0 what

    for what in '' 'fail 1 2 ENODATA' 'fail 1 2 EIO' 'fail 1.5 1.6 EAGAIN' 'vanish 1 2' \
        'absurd 1 -5' 'absurd 1 999999999999999999999999999999' 'absurd 1 garbage' 'reset 1'; do
        cat <<SPEC
hwmon/hwmon$number/name text chip$number
hwmon/hwmon$number/energy1_input energy 100 $LARGEST 5000000000
SPEC
        [[ -z $what ]] || echo "hwmon/hwmon$number/energy1_input $what"
        number=$((number + 1))
    done
    cray_spec energy 'energy 500' '1000000 J'
    cray_spec freshness 'energy 100' 1000000
    printf '%s\n' 'cray/pm_counters/raw_scan_hz text 100' 'cray/pm_counters/freshness freeze 1 2'
}

# Contents that are no numbers, one in each file.
garbage_spec() {
    local number=0 content

    echo 'hwmon/hwmon0/name text sensor'
    for content in '' -5 garbage 12x 999999999999999999999999999999 1e9; do
        number=$((number + 1))
        printf 'hwmon/hwmon0/energy%d_input text %s\n' "$number" "$content"
    done
    echo "hwmon/hwmon0/energy9_input energy 100 $LARGEST 0"
}

# Leaves NAME.json and NAME.err.
measure_kinds() { # NAME COMPONENTS SECONDS SIM-OPTION...
    "$repository/scripts/sim" "${@:4}" --spec "$1.spec" -- "$atime" -c "$2" -t 50ms -f json \
        -o "$1.json" sleep "$3" 2>"$1.err" 3>&-
}

setup_file() {
    export atime=$repository/${APAPI_TEST_BUILD:-build/release}/core/atime/atime

    needs_fuse || return 0
    export APAPI_SOURCES=sysfs
    cd "$BATS_FILE_TMPDIR" || return
    kinds_spec >kinds.spec
    trouble_spec >trouble.spec
    garbage_spec >garbage.spec
    measure_kinds kinds rapl:hwmon:cray_pm:intel_gpu 3 &
    measure_kinds trouble hwmon:cray_pm 3 &
    measure_kinds garbage hwmon 0.5 &
    wait
}

setup() {
    skip_if_all_are
    cd "$BATS_FILE_TMPDIR" || return
    cat ./*.err
}

# Of an event of NAME.json: what the jq expression says.
of() { # NAME EVENT EXPRESSION
    jq -er --arg name "$2" ".components[].events[]? | select(.name == \$name) | $3" "$1.json"
}

is_within() { # VALUE TRUTH SHARE WHAT
    awk -v v="$1" -v t="$2" -v r="$3" 'BEGIN { exit !(v > t * (1 - r) && v < t * (1 + r)) }' || {
        echo "$4: $1 is not $2"
        return 1
    }
}

@test "energy is power times time, for several kinds at once" {
    local name watts

    while read -r name watts; do
        is_within "$(of kinds "$name" '.total / .covered_s')" "$watts" 0.01 "$name"
    done <<TABLE
rapl:::PACKAGE_ENERGY:PACKAGE0 100
rapl:::DRAM_ENERGY:PACKAGE1 20
hwmon:::power_meter:power1 400
hwmon:::sensor:energy7 35
hwmon:::xe:energy1 225
hwmon:::xe:energy2 180
cray_pm:::PM_ENERGY:NODE 500
cray_pm:::PM_ENERGY:CPU 210
cray_pm:::PM_ENERGY:ACC0 250
cray_pm:::PM_POWER:NODE 500
intel_gpu:::card0:energy1 225
intel_gpu:::card0:energy2 180
TABLE
    [[ $(jq '[.components[].events[]] | length' kinds.json) -eq 14 ]]
    [[ $(jq -r '[.components[].source] | join(",")' kinds.json) == 'sysfs powercap,sysfs hwmon,sysfs pm_counters,sysfs hwmon' ]]
}

@test "nothing is added twice" {
    local domain watts

    while read -r domain watts; do
        is_within "$(jq ".domains.$domain.mean_w" kinds.json)" "$watts" 0.01 "$domain"
    done <<TABLE
package 200
dram 40
gpu 225
node 400
TABLE
}

@test "one bad reading among good ones costs nothing" {
    local number failed

    while read -r number failed; do
        is_within "$(of trouble "hwmon:::chip$number:energy1" .total)" \
            "$(of trouble hwmon:::chip0:energy1 .total)" 0.01 "chip$number"
        of trouble "hwmon:::chip$number:energy1" \
            "(.failed // 0) as \$n | \$n >= ${failed%..*} and \$n <= ${failed#*..}" || {
            of trouble "hwmon:::chip$number:energy1" .
            return 1
        }
    done <<TABLE
0 0..0
1 12..24
2 12..24
3 1..3
4 12..24
5 1..1
6 1..1
7 1..1
TABLE
}

@test "a counter that begins anew is a reset" {
    of trouble hwmon:::chip8:energy1 '.resets == 1 and (.total < 310)'
}

@test "values that the controller does not renew are failed readings" {
    of trouble cray_pm:::PM_ENERGY:NODE '.failed >= 2 and .failed <= 24'
    is_within "$(of trouble cray_pm:::PM_ENERGY:NODE '.total / .covered_s')" 500 0.01 energy
}

@test "what is no number never becomes one" {
    local number

    for number in 1 2 3 4 5 6; do
        of garbage "hwmon:::sensor:energy$number" '.total == null and .failed >= 2'
    done
    is_within "$(of garbage hwmon:::sensor:energy9 '.total / .covered_s')" 100 0.03 energy9
}

@test "no permission: which file" {
    [[ $(id -u) -eq 0 ]] || skip 'needs root'
    local nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)

    "${nobody[@]}" test -x "$atime" || skip 'another user cannot get at the programs'
    printf '%s\n' 'hwmon/hwmon0/name text xe' "hwmon/hwmon0/energy1_input energy 1 $LARGEST 0" \
        'hwmon/hwmon0/energy1_input mode 400' "$(cray_spec energy 'energy 500' '1000000 J')" \
        'cray/pm_counters/energy mode 400' >secret.spec
    run -0 "$repository/scripts/sim" --spec secret.spec -- "${nobody[@]}" "$atime" \
        -c rapl:hwmon:intel_gpu:cray_pm true
    output=$(tr -s '\n ' '  ' <<<"$output")
    echo "$output"
    [[ $output == *'no permission to read /sys/class/powercap/intel-rapl:0/energy_uj'* ]]
    [[ $output == *'no permission to read /sys/class/hwmon/hwmon0/energy1_input'* ]]
    [[ $output == *'no permission to read /sys/cray/pm_counters/energy'* ]]
}
