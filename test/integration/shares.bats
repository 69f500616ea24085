#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Steps side by side on a node: each is given its share of the node's energy.

bats_require_minimum_version 1.5.0
load common

setup_file() {
    if [[ ! -d /sys/fs/cgroup/cpuacct && ! -f /sys/fs/cgroup/cgroup.controllers ]]; then
        skip_all "no control groups here that count CPU time"
    fi
    start_simulated_cluster --extra \
        'ProctrackType=proctrack/cgroup\nTaskPlugin=task/cgroup\nJobAcctGatherType=jobacct_gather/cgroup'
}

# The node sampler of n1, as slurmd's energy plugin starts it.
start_node_sampler() {
    printf 'acct_dir = %s\nspool_dir = %s\n[shares]\nrecords = on\n%s\n' \
        "$APAPI_ACCT_DIR" "$APAPI_SPOOL_DIR" "${1:-}" >"$APAPI_CLUSTER_DIR/shares.conf"
    plugstack "config=$APAPI_CLUSTER_DIR/shares.conf"
    mkdir -p "$APAPI_SPOOL_DIR"
    cluster on n1 sh -c 'exec setsid "$0" --node n1 "$1" >/dev/null 2>&1 &' \
        "$libexec/apapi-sampler" "$APAPI_CLUSTER_DIR/shares.conf"
    eventually cluster on n1 test -s /run/apapi/n1/shares
}

end_node_sampler() {
    cluster on n1 pkill -TERM -f 'apapi-sampler --node'
    eventually no_helpers
}


teardown() {
    cluster on n1 pkill -KILL -f 'apapi-sampler --node' || true
    undisturbed
}

hours() {
    find "$APAPI_ACCT_DIR" -name n1.hours -exec cat {} + | jq -s "$1"
}

# Keep N processors busy for so many seconds.
busy() {
    echo "for i in \$(seq $1); do timeout $2 sh -c 'while :; do :; done' & done; wait; true"
}

@test "two steps on a node have their shares, and the sum closes" {
    local one other
    start_node_sampler
    as_alice srun -N1 -w n1 -n1 -c2 --apapi=rapl sh -c "$(busy 2 8)" 2>"$BATS_TEST_TMPDIR/one" &
    as_alice srun -N1 -w n1 -n1 -c2 --apapi=rapl sleep 8 2>"$BATS_TEST_TMPDIR/other"
    wait
    one=$(records n1 | jq -c 'select(.name == "sh")' | tail -n 1)
    other=$(records n1 | jq -c 'select(.name == "sleep")' | tail -n 1)
    holds "$one" '.share.method == "cpu-time" and .share.idle == "apart"'
    holds "$one" '.share.total.energy_j > 0 and .share.total.energy_j <= .total.energy_j'
    jq -c .share <<<"$one$other"
    holds "$other" '.share.total.energy_j < 0.1 * .total.energy_j'
    end_node_sampler
    hours 'map(.total) | all(((.energy_j - .steps_j - .idle_j - .unattributed_j) | fabs) <= 0.001 * .energy_j)' | grep -x true
    # all that was given to steps is in their records
    local shares
    shares=$(records n1 | jq -s 'map(.share.total.energy_j // 0) | add')
    hours "(map(.total.steps_j) | add) as \$steps | ($shares - \$steps | fabs) <= 0.001 * \$steps" | grep -x true
}

@test "without a node sampler only a step with all cores has a share" {
    printf '[shares]\nrecords = on\n' >"$APAPI_CLUSTER_DIR/shares.conf"
    plugstack "config=$APAPI_CLUSTER_DIR/shares.conf"
    as_alice srun -N1 -w n2 -n1 -c8 --apapi=rapl sleep 1
    holds "$(last_record n2)" '.share.method == "exclusive" and .share.total.energy_j == .total.energy_j'
    as_alice srun -N1 -w n2 -n1 -c1 --apapi=rapl sleep 1
    holds "$(last_record n2)" '.share == {"reason": "no node sampler runs"}'
}

@test "a share is in the record where the user asks for it" {
    plugstack
    as_alice srun -N1 -w n2 -n1 -c8 --apapi=rapl sleep 1
    holds "$(last_record n2)" 'has("share") | not'
    as_alice srun -N1 -w n2 -n1 -c8 --apapi=rapl --apapi-share sleep 1
    holds "$(last_record n2)" '.share.method == "exclusive"'
    run -0 as_alice srun -N1 -w n2 -n1 -c8 --apapi=rapl --apapi-share sleep 1
    [[ $output == *"share of the step: "*" J (exclusive)"* ]]
    run -0 as_alice srun -N2 -n2 -c8 --apapi=rapl --apapi-share --apapi-format=merged sleep 1
    [[ $(jq -c '.share | [.method, .total.energy_j > 0, has("missing_nodes")]' <<<"$output") == '["exclusive",true,false]' ]]
    run -0 as_alice srun -N1 -w n2 -n1 -c8 --apapi=rapl --apapi-share --apapi-format=csv sleep 1
    [[ $(grep -c ',share,' <<<"$output") -eq 3 ]]
    as_alice srun -N1 -w n2 -n1 -c8 --apapi=rapl --apapi-share=off sleep 1
    holds "$(last_record n2)" 'has("share") | not'
    run as_alice srun -N1 -w n2 --apapi-share=half true
    [[ $status -ne 0 && $output == *"--apapi-share: 'half' is neither on nor off"* ]]
}
