#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# hwmon, Intel GPUs and Cray's pm_counters beside powercap, against meters whose truth is known.

load truth.bash

readonly LARGEST=18446744073709551615

# Every kind of meter, each with another power.
kinds_spec() {
    cat <<SPEC
hwmon/hwmon3/name text power_meter
hwmon/hwmon3/power1_average text 400000000
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
cray/pm_counters/power text 500 W
SPEC
}

# A counter that moves with each scan.
cray_spec() { # FILE METER UNIT
    printf '%s\n' "$2 $LARGEST 123456000000" 'update 0.01' "unit $3" |
        sed "s,^,cray/pm_counters/$1 ,"
}

setup_file() {
    needs_fuse || return 0
    export APAPI_SOURCES=sysfs
    cd "$BATS_FILE_TMPDIR" || return
    kinds_spec >kinds.spec
    "$repository/scripts/sim" --spec kinds.spec -- "$atime" -c rapl:hwmon:cray_pm:intel_gpu -t 50ms -f json -o kinds.json sleep 3 2>kinds.err 3>&-
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

# Is {energy, uncertainty, covered_s} what so many watts give, as far as it says itself, and within 1 %
# in a quiet run? Counters are updated each 10 ms or more often. What few readings of a gauge may all have missed, at
# a power that no source states, is up to nine times its energy.
is_energy_of() { # NAME WATTS OBJECT [gauge]
    local quiet=false

    ! was_quiet "$1" || quiet=true
    jq -e --argjson w "$2" --argjson of "$3" --arg gauge "${4:-}" --argjson quiet $quiet '
        ($of.energy - $w * .elapsed_s | fabs) as $error | $of.covered_s > 0 and
        $error <= $of.uncertainty + $w * 0.01 and
        (($quiet | not) or $of.uncertainty < (if $gauge == "" then $w * 0.06 else 9 * $of.energy end) and ($of.energy / $of.covered_s / $w - 1 | fabs) < 0.01)' \
        "$1.json" >/dev/null || {
        echo "$3 is not that of $2 W for $(jq .elapsed_s "$1.json") s"
        return 1
    }
}

@test "energy is power times time, for several kinds at once" {
    local name watts gauge

    while read -r name watts gauge; do
        is_energy_of kinds "$watts" "$(of kinds "$name" '{energy: .total, uncertainty: .uncertainty_j, covered_s, name}')" "$gauge"
    done <<TABLE
rapl:::PACKAGE_ENERGY:PACKAGE0 100
rapl:::DRAM_ENERGY:PACKAGE1 20
hwmon:::power_meter:power1 400 gauge
hwmon:::sensor:energy7 35
hwmon:::xe:energy1 225
hwmon:::xe:energy2 180
cray_pm:::PM_ENERGY:NODE 500
cray_pm:::PM_ENERGY:CPU 210
cray_pm:::PM_ENERGY:ACC0 250
cray_pm:::PM_POWER:NODE 500 gauge
intel_gpu:::card0:energy1 225
intel_gpu:::card0:energy2 180
TABLE
    [[ $(jq '[.components[].events[]] | length' kinds.json) -eq 14 ]]
    [[ $(jq -r '[.components[].source] | join(",")' kinds.json) == 'sysfs powercap,sysfs hwmon,sysfs pm_counters,sysfs hwmon' ]]
}

@test "nothing is added twice" {
    local domain watts gauge

    while read -r domain watts gauge; do
        is_energy_of kinds "$watts" "$(jq ".domains.$domain |
            {energy: .energy_j, uncertainty: .uncertainty_j, covered_s: (.energy_j / .mean_w)}" kinds.json)" "$gauge"
    done <<TABLE
package 200
dram 40
gpu 225
node 400 gauge
TABLE
}

# The definitions that are installed must not say otherwise.
@test "the zone core is a domain on Intel's processors, and one core on AMD's" {
    [[ -e /sys/devices/system/cpu/modalias ]] || skip 'a processor of type x86 is needed'
    run -0 --separate-stderr "$repository/scripts/sim" --packages 1 --core-w 60 -- "$atime" -c rapl -f json sleep 0.3
    jq -e '.domains | has("package") and has("core")' <<<"$stderr"
    run -0 --separate-stderr "$repository/scripts/sim" --packages 1 --amd -- "$atime" -c rapl -f json sleep 0.3
    jq -e '.domains | has("package") and (has("core") | not)' <<<"$stderr"
}
