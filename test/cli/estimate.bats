#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Energy that is estimated from CPU time: right by its own rule, marked, added to nothing.

load atime_common

event() { # NAME: of the JSON in $output
    jq --arg name "estimate:::$1" '.components[] | .events[]? | select(.name == $name)' <<<"$output"
}

@test "energy is idle x time + core x busy time" {
    export APAPI_SYSROOT=$BATS_TEST_TMPDIR/root APAPI_ESTIMATE_IDLE_W=50 APAPI_ESTIMATE_CORE_W=10
    export STAT=$APAPI_SYSROOT/proc/stat
    mkdir -p "$APAPI_SYSROOT/proc"
    printf 'cpu  1000 200 300 40000 500 60 70 80 90 10\n' >"$STAT"
    # 3 s more in the middle of its second and a half
    run "$atime" -c estimate -f json sh -c 'sleep 0.5; printf "cpu  1300 200 300 40000 500 60 70 80 90 10\n" 1<>"$STAT"; sleep 1'
    energy=$(event NODE_ENERGY)
    energy_fits "$(jq '.total - 30' <<<"$energy")" 50 "$(jq .covered_s <<<"$energy")" "$(jq .elapsed_s <<<"$output")" 0
    jq -e '(.mean * .covered_s / .total - 1 | fabs) < 1e-6' <<<"$energy"
    close_to "$(jq .total <<<"$(event CPU_TIME)")" 3 0.0001
    jq -e '.estimated and (has("domain") or has("uncertainty_j") or has("stuck") or has("stalls") | not)' <<<"$energy"
    jq -e '.domains == {} and (has("total") or (.trust | has("uncertainty_j")) | not)' <<<"$output"
    jq -e '.components[0].source == "/proc/stat: 50 W + 10 W per busy core"' <<<"$output"
}

@test "watts that are missing or wrong: the program runs, and the report says what to set" {
    tells 5 '*estimate: not measured (idle_w and core_w are not set: *' "$atime" -c estimate sh -c 'exit 5'
    [[ $output == *APAPI_ESTIMATE_IDLE_W=*APAPI_ESTIMATE_CORE_W=* && $output != *' J'* ]]
}
