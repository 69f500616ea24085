#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# A component of which nothing can be read for a while, or any more, or that stands still: what it costs, what atime says.

load truth.bash

# A package and its dram, to which the same happens, and a meter of another component to which
# nothing does.
spec() { # INCIDENT
    cat <<SPEC
powercap/clock energy 1 999999999999 0
powercap/clock update 0
$(zone_spec '' package-0 "$RANGE_UJ" "energy 100 $RANGE_UJ 7000000000")
$(zone_spec :0 dram "$RANGE_UJ" "energy 20 $RANGE_UJ 3000000000")
hwmon/hwmon0/name text meter
hwmon/hwmon0/energy1_input energy 30 999999999999 5000000000
SPEC
    echo "powercap/intel-rapl:0 $1"
}

replug_spec() { spec "replug $(at 1) $(at 1.8)"; }
lost_spec() { spec "replug $(at 1) inf"; }

setup_file() {
    needs_fuse || return 0
    export APAPI_SOURCES=sysfs
    measure "$BATS_FILE_TMPDIR" replug replug_spec "$atime" -c powercap:hwmon &
    table &
    wait
}

# The same as atime prints it. A run that begins after what was to happen in it is repeated with more time before that.
table() {
    for SHIFT in 2 10 50; do
        lost_spec >"$BATS_FILE_TMPDIR/table.spec"
        "$repository/scripts/sim" --packages 0 --spec "$BATS_FILE_TMPDIR/table.spec" -- \
            "$atime" -c powercap:hwmon -t "$INTERVAL" sh -c "sleep $((SHIFT + 3)); exit 7" \
            2>"$BATS_FILE_TMPDIR/table" 3>&- || echo $? >"$BATS_FILE_TMPDIR/status"
        grep -q 'powercap: not measured' "$BATS_FILE_TMPDIR/table" || break
    done
}

setup() {
    skip_if_all_are
    cd "$BATS_FILE_TMPDIR" || return
    cat ./*.err
}

@test "a device that is plugged in again: what was open is dead, and is reopened" {
    jq -c '.components[] | del(.events)' replug.json
    jq -e '.components[] | select(.name == "powercap") | .outages == 1 and .outage_s > 0.8 and (has("reason") | not)' replug.json
    jq -e '.components[] | select(.name == "hwmon") | (has("outages") or has("outage_s") or has("reason") | not) and
        (.events[0] | has("failed") | not)' replug.json
    true_energy replug '' 100
    true_energy replug :0 20
    true_energy replug "$(jq -r '.components[] | select(.name == "hwmon") | .events[0].name' replug.json)" 30
}

@test "the table tells the outage in one line, and the status is the program's" {
    cat table
    [[ $(<status) == 7 ]]
    [[ $(tr -s ' \n' ' ' <table) =~ powercap:\ no\ readings\ for\ [0-9.]+\ s\ in\ 1\ outage\ \(no\ energy\ zone ]]
    [[ $(grep -c powercap table) == 1 || $(grep -c 'powercap: ' table) == 1 ]]
}

@test "a counter that did not move in a short run says so, and the total that it lacks the domain" {
    cd "$BATS_TEST_TMPDIR"
    package_spec >still.spec
    echo 'powercap/intel-rapl:0/energy_uj freeze 0 1000' >>still.spec
    zone_spec :0 dram "$RANGE_UJ" "energy 110 $RANGE_UJ 50000000000" >>still.spec
    run -0 "$repository/scripts/sim" --packages 0 --spec still.spec -- "$atime" -c powercap -t 10s sleep 0.3
    [[ $output == *$'\n  partial total '* && $output == *$'\n  total without package, whose energy is not known\n'* ]]
    [[ ${output//$'\n    '/ } == *'powercap:::ENERGY_UJ:ZONE0: counter did not move, not counted (too short a time to tell whether it is stuck)'* ]]
    [[ $output != *$'\n  package '* ]]
}

@test "the rest is estimated if the site asks, beside the energy" {
    local half
    cd "$BATS_TEST_TMPDIR"
    package_spec >part.spec
    # it moves as long as the program draws power, and then stands still
    zone_spec :0 dram "$RANGE_UJ" "energy-load $PWD/load 0 $RANGE_UJ 50000000000" >>part.spec
    half=(sh -c '"$@" >phases && exec sleep 4' - "$repository/build/release/test/sim/apapi-phases" load 2 1 1)
    printf '[record]\nfill = mean\n' >apapi.conf
    APAPI_CONFIG=$PWD/apapi.conf run -0 --separate-stderr "$repository/scripts/sim" --packages 0 --spec part.spec -- \
        "$atime" -c powercap -f json "${half[@]}"
    jq -e '.domains.dram | .covered < 0.9 and (.rest_j / (.energy_j * (1 / .covered - 1)) - 1 | fabs) < 1e-4' <<<"$stderr"
    jq -e '.total as $total | ([.domains[].energy_j] | add) / $total.energy_j - 1 | fabs < 1e-6' <<<"$stderr"
    jq -e '.total.rest_j >= .domains.dram.rest_j' <<<"$stderr"
}
