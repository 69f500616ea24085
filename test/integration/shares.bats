#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Steps side by side on a node: each is given its share of the node's energy.

load common

setup_file() {
    if [[ ! -d /sys/fs/cgroup/cpuacct && ! -f /sys/fs/cgroup/cgroup.controllers ]]; then
        skip_all "no control groups here that count CPU time"
    fi
    start_cgroup_cluster
}

end_node_samplers() { # NODE...
    local node
    for node; do
        cluster on "$node" pkill -TERM -f "apapi-sampler --node $node"
    done
    eventually no_helpers
}

teardown() {
    cluster run pkill -KILL -f 'apapi-sampler --node' || true
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
    local one other shares
    start_node_sampler $'[shares]\nrecords = on' n1
    as_alice srun -N1 -w n1 -n1 -c2 --apapi=rapl sh -c "$(busy 2 8)" 2>"$BATS_TEST_TMPDIR/one" &
    as_alice srun -N1 -w n1 -n1 -c2 --apapi=rapl sleep 8 2>"$BATS_TEST_TMPDIR/other"
    wait
    one=$(records n1 | jq -c 'select(.name == "sh")' | tail -n 1)
    other=$(records n1 | jq -c 'select(.name == "sleep")' | tail -n 1)
    # the node has hardly been idle yet
    holds "$one" '.share.method == "cpu-time" and .share.idle == "included" and .share.total.uncertainty_j >= 0.9 * .share.total.energy_j'
    holds "$one" '.share.total.energy_j > 0 and .share.total.energy_j <= .total.energy_j'
    holds "$other" '.share.total.energy_j < 0.1 * .total.energy_j'
    end_node_samplers n1
    hours 'map(.total) | all(((.energy_j - .steps_j - .idle_j - .unattributed_j) | fabs) <= 0.001 * .energy_j)' | grep -x true
    # all that was given to steps is in their records
    shares=$(records n1 | jq -s 'map(.share.total.energy_j // 0) | add')
    hours "(map(.total.steps_j) | add) as \$steps | ($shares - \$steps | fabs) <= 0.001 * \$steps" | grep -x true
}

# Steps of random length, cores and load, one after the other in their line. Each has a name of its own; what srun
# says of it is in a file with that name. The seed is in the test's output.
line_of_steps() { # NODE LINE SEED STEPS
    local step name
    RANDOM=$3
    for ((step = 1; step <= $4; step++)); do
        name=$1-line$2-step$step
        as_alice srun -N1 -w "$1" -n1 -c $((RANDOM % 3 + 1)) -J "$name" --apapi=rapl sh -c \
            "timeout 0.$((RANDOM % 9 + 1)) sh -c 'while :; do :; done'; sleep $((RANDOM % 2)).$((RANDOM % 9))" \
            2>"$BATS_TEST_TMPDIR/$name" || echo "srun: status $?" >>"$BATS_TEST_TMPDIR/$name"
    done
}

# Each step has one record, and no other line is among them. Says which have none, or more, and what srun said of them.
each_has_one_record() { # NAMES, a line each
    local found name
    found=$(records 'n?' | jq -r '.job_name | select(test("-line"))' | sort)
    echo "$(grep -c . <<<"$found") records of $(grep -c . <<<"$1") steps"
    while read -r name; do
        [[ $(grep -cxF -- "$name" <<<"$found") -eq 1 ]] && continue
        echo "$name: $(grep -cxF -- "$name" <<<"$found") records; $(<"$BATS_TEST_TMPDIR/$name")"
    done <<<"$1"
    [[ $found == "$1" ]] || return 1
    ! records 'n?' | grep -nv '^{.*}$' || { echo "lines that are no records"; return 1; }
}

@test "steps of any length on two nodes: the audit closes" {
    local seed=$SRANDOM steps=() line step
    echo "seed $seed"
    start_node_sampler $'[shares]\nrecords = on' n1 n2
    for line in 1 2 3; do
        line_of_steps n1 $line $((seed + line)) 6 3>&- &
        line_of_steps n2 $line $((seed + 10 * line)) 6 3>&- &
        for step in {1..6}; do
            steps+=("n1-line$line-step$step" "n2-line$line-step$step")
        done
    done
    wait
    end_node_samplers n1 n2
    each_has_one_record "$(printf '%s\n' "${steps[@]}" | sort)"
    # a node sampler that has just begun may not have a rate yet for the first steps
    [[ $(records 'n?' | jq -s 'map(select(.share.reason)) | length') -le 6 ]]
    records 'n?' | jq -se 'map(select(.share.total)) | all(.share.total.energy_j <= 1.001 * .total.energy_j)'
    run -0 "$install/bin/apapi" audit --acct-dir "$APAPI_ACCT_DIR" --csv -n
    awk -F , '{ records += $12 } !($5 > 0 && $10 >= 99.9 && $10 <= 100.1) { exit 1 } END { exit !(records >= 36) }' <<<"$output"
}

@test "without a node sampler only a step with all cores has a share" {
    printf '[shares]\nrecords = on\n' >"$APAPI_CLUSTER_DIR/shares.conf"
    plugstack "config=$APAPI_CLUSTER_DIR/shares.conf"
    as_alice srun -N1 -w n2 -n1 -c8 --apapi=rapl sleep 1
    holds "$(last_record n2)" '.share.method == "exclusive" and .share.total.energy_j == .total.energy_j'
    as_alice srun -N1 -w n2 -n1 -c1 --apapi=rapl sleep 1
    holds "$(last_record n2)" '.share == {"reason": "no node sampler runs"}'
    cluster on n2 sh -c 'head -c 1M /dev/zero >/run/apapi/n2/shares' # after an upgrade, the old node sampler runs on
    as_alice srun -N1 -w n2 -n1 -c1 --apapi=rapl sleep 1
    holds "$(last_record n2)" '.share == {"reason": "the node sampler is of another version"}'
}

@test "a share is in the record where the user asks for it" {
    plugstack
    as_alice srun -N1 -w n2 -n1 -c8 --apapi=rapl sleep 1
    holds "$(last_record n2)" 'has("share") | not'
    tells 0 '*share of the step: * J *(exclusive)*' as_alice srun -N1 -w n2 -n1 -c8 --apapi=rapl --apapi-share sleep 1
    holds "$(last_record n2)" '.share.method == "exclusive"'
    run -0 as_alice srun -N2 -n2 -c8 --apapi=rapl --apapi-share --apapi-format=merged sleep 1
    holds "$output" '.share | .method == "exclusive" and .total.energy_j > 0 and (has("missing_nodes") | not)'
}
