#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Nodes without a meter that could be read: the step runs, the table says why there is no number.

load common

setup_file() {
    local hardware=()
    [[ ! -e /sys/class/powercap/intel-rapl:0 ]] || hardware=(--sim "--packages 0")
    start_cluster --extra "ProctrackType=proctrack/pgid" "${hardware[@]}"
}

@test "a component without hardware is told with the reason" {
    run --separate-stderr as_alice srun -N2 --apapi=rapl sh -c 'echo out; exit 3'
    [[ $status -eq 3 && $output == $'out\nout' ]]
    [[ $stderr == *'rapl'*'not measured (the kernel has no'* ]]
    [[ $stderr != *' J'* ]]
    holds "$(last_record n1)" '(.domains == {} or .domains == null) and (.total == null)'
    holds "$(last_record n1)" '.components[0].reason | test("powercap")'
}

@test "so does the batch step's table" {
    file=$APAPI_CLUSTER_DIR/home/alice/out
    sbatch_wait --output="$file" --apapi=rapl --wrap true
    eventually grep -q 'rapl: not measured (' "$file"
}
