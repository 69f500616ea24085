#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Event lists and definitions as users give them to atime: APAPI_EVENTLIST and APAPI_EVENTOPS.

load atime_common
load public

# Files of the test.
setup() {
    list=$BATS_TEST_TMPDIR/list
    ops=$BATS_TEST_TMPDIR/ops.csv
    started=$BATS_TEST_TMPDIR/started
}

@test "every bad line is told, with line, column and what was expected" {
    printf 'too,few\nrapl:::A,APAPI_OP1_NOPE,APAPI_STAT_ALL,APAPI_STAT_NO,0,x,y,1,-,-,1\n' >"$ops"
    APAPI_EVENTOPS=$ops complains 2 "*$ops:1:1: expected 11 to 13 fields*ops.csv:2:10: *expected APAPI_OP1_NOP*" "$atime" touch "$started"
    [[ -z $output && ! -e $started ]]
}

@test "an event that a definition takes from its domain is measured like before" {
    needs_sim
    echo 'rapl:::PACKAGE_ENERGY:*,APAPI_OP1_DIV_DIFF_TIME,APAPI_STAT_ACC,APAPI_STAT_ALL,auto,energy,J,1,power,W,1,energy,none' >"$ops"
    APAPI_EVENTOPS=$ops run -0 --separate-stderr sim --package-w 100 -- "$atime" -f json sleep 0.5
    jq -e '[.components[0].events[] | select(.name | startswith("rapl:::PACKAGE_ENERGY")) | .uncertainty_j > 0 and .uncertainty_j < .total / 2 and .gaps == null] |
        length == 2 and all' <<<"$stderr"
}

@test "the user's list chooses the events, patterns included" {
    needs_sim
    printf '\n# mine\r\n  rapl:::DRAM_ENERGY:* \r\n' >"$list"
    APAPI_EVENTLIST=$list run -0 --separate-stderr sim -- "$atime" -f json sleep 0.3
    [[ $(jq -c '[.components[0].events[].name]' <<<"$stderr") == \
        '["rapl:::DRAM_ENERGY:PACKAGE0","rapl:::DRAM_ENERGY:PACKAGE1"]' ]]
    jq -e '.components[0].user_rules' <<<"$stderr"
}

@test "faults of a meter that a list hides are told as without the list" {
    needs_sim
    local fault says spec=$BATS_TEST_TMPDIR/spec
    printf 'rapl:::DRAM_ENERGY:*\n' >"$list"
    for fault in 'fail' 'freeze'; do
        echo "powercap/intel-rapl:1/energy_uj $fault 0 inf" >"$spec"
        APAPI_EVENTLIST=$list run -0 --separate-stderr sim --spec "$spec" -- "$atime" -c rapl -f json sleep 1.2
        jq -e '.trust.unknown_domains == ["package"]' <<<"$stderr"
        if [[ $fault = fail ]]; then
            jq -e '.trust.failed > 0 and ([.components[0].events[] | .failed // 0] | add) == 0' <<<"$stderr"
            says='readings failed'
        else
            jq -e '.components[0].events | length == 3 and (.[2] | .stuck and .name == "rapl:::PACKAGE_ENERGY:PACKAGE1")' <<<"$stderr"
            says='rapl:::PACKAGE_ENERGY:PACKAGE1: counter never moved, not counted'
        fi
        APAPI_EVENTLIST=$list complains 0 "*$says*" sim --spec "$spec" -- "$atime" -c rapl sleep 1.2
    done
}

@test "a list with a component that nobody knows is refused; with APAPI_SOFTFAIL it is not" {
    needs_sim
    printf 'rapl:::PACKAGE_ENERGY:*\n\nasdfasdf:::x\n' >"$list"
    APAPI_EVENTLIST=$list run --separate-stderr sim -- "$atime" -c rapl touch "$started"
    [[ $status -eq 2 && $stderr == *"list:3: unknown component 'asdfasdf'"* && ! -e $started ]]
    echo 'nvlm:::H200:device_0:power' >"$list"
    APAPI_EVENTLIST=$list complains 2 "*list:1: unknown component 'nvlm'*'nvml'*" sim -- "$atime" -c rapl true
    APAPI_SOFTFAIL=1 APAPI_EVENTLIST=$list complains 0 '*package*' sim -- "$atime" -c rapl sleep 0.05
    # one that is known and not measured, or not here, is no mistake
    printf 'micknc:::POWER_MIC:DEVICE0\n*:::x\n' >"$list"
    APAPI_EVENTLIST=$list complains 0 '*package*' sim -- "$atime" -c rapl sleep 0.05
}

@test "an event that is not there is an error; with APAPI_SOFTFAIL it is left out" {
    needs_sim
    printf 'rapl:::PACKAGE_ENERGY:PACKAGE0\nrapl:::PACKAGE_ENERGY:PACKAGE9\n' >"$list"
    APAPI_EVENTLIST=$list run --separate-stderr sim -- "$atime" touch "$started"
    [[ $status -eq 2 && $stderr == *"$list:2: rapl has no event 'rapl:::PACKAGE_ENERGY:PACKAGE9'"* && ! -e $started ]]
    APAPI_SOFTFAIL=1 APAPI_EVENTLIST=$list run --separate-stderr sim -- "$atime" -f json sleep 0.2
    [[ $status -eq 0 && $(jq '.components[0].events | length' <<<"$stderr") -eq 1 ]]
    printf 'rapl:::PACKAGE_ENERGY:PACKAGE9\n' >"$list"
    APAPI_SOFTFAIL=1 APAPI_EVENTLIST=$list complains 0 $'*package*\n  rapl has no event of the event list\n*' sim -- "$atime" sleep 0.1
}

@test "default components that are not here do not matter; -v says why" {
    needs_sim
    run --separate-stderr sim -- "$atime" sleep 0.2
    [[ $status -eq 0 && $stderr != *nvml* && $stderr == *package* ]]
    run --separate-stderr sim -- "$atime" -v sleep 0.2
    [[ $(tr -s ' \n' ' ' <<<"$stderr") == *'micknc: not measured ('* ]]
}
