#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Unknown parts stand where the energy stands: a part of the time, a domain of the total.

load truth.bash

setup() {
    needs_fuse || true
    skip_if_all_are
    cd "$BATS_TEST_TMPDIR" || return
    unset APAPI_CONFIG APAPI_RECORD_FILL
    export APAPI_SOURCES=sysfs
    atime=$repository/${APAPI_TEST_BUILD:-build/release}/core/atime/atime
    package_spec >still.spec
    echo 'powercap/intel-rapl:0/energy_uj freeze 0 1000' >>still.spec
    zone_spec :0 dram "$RANGE_UJ" "energy 110 $RANGE_UJ 50000000000" >>still.spec
    package_spec >part.spec
    # it moves as long as the program draws power, and then stands still
    zone_spec :0 dram "$RANGE_UJ" "energy-load $PWD/load 0 $RANGE_UJ 50000000000" >>part.spec
    half=("$repository/build/release/test/sim/apapi-phases" load 2 1 1)
    half=(sh -c '"$@" >phases && exec sleep 4' - "${half[@]}")
}

simulate() { # SPEC ATIME-AND-OPTION...
    "$repository/scripts/sim" --packages 0 --spec "$1" -- "${@:2}"
}

@test "a counter that did not move in a short run says so, and the total that it lacks the domain" {
    run -0 simulate still.spec "$atime" -c powercap -t 10s sleep 0.3
    [[ $output == *$'\n  partial total '* ]]
    [[ $output == *$'\n  total without package, whose energy is not known\n'* ]]
    [[ ${output//$'\n    '/ } == *'powercap:::ENERGY_UJ:ZONE0: counter did not move, not counted (too short a time to tell whether it is stuck)'* ]]
    [[ $output != *$'\n  package '* ]]
}

@test "the rest is estimated if the site asks, beside the energy" {
    printf '[record]\nfill = mean\n' >apapi.conf
    export APAPI_CONFIG=$PWD/apapi.conf
    run -0 --separate-stderr simulate part.spec "$atime" -c powercap -f json "${half[@]}"
    jq -e '.domains.dram | .covered < 0.9 and (.rest_j / (.energy_j * (1 / .covered - 1)) - 1 | fabs) < 1e-4' <<<"$stderr"
    jq -e '.total as $total | ([.domains[].energy_j] | add) / $total.energy_j - 1 | fabs < 1e-6' <<<"$stderr"
    jq -e '.total.rest_j >= .domains.dram.rest_j' <<<"$stderr"
    echo "$stderr" >record
    run -0 "${atime%/atime/atime}/cli/apapi" show -f table record
    [[ ${output//$'\n    '/ } =~ $'\n  estimate for the rest, not included: '.*'dram '[0-9.]+' J' ]]
    unset APAPI_CONFIG
    run -0 --separate-stderr simulate part.spec "$atime" -c powercap -f json "${half[@]}"
    jq -e '[.. | objects | has("rest_j")] | any | not' <<<"$stderr"
}
