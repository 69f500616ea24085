#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Energy budgets of whole jobs, on four nodes of 240 W each.
# shellcheck disable=SC2016 # quoted scripts are for an inner shell

load common

setup_file() {
    start_simulated_cluster --nodes 4 --extra KillWait=2
}

# A job of alice's with this script: its exit status in $status, what it wrote in $written, the record of its batch step in $record.
job() { # SCRIPT OPTIONS OF sbatch
    local script=$1
    shift
    make_work
    printf '%s\n' '#!/bin/sh' "cd $work" "$script" >"$BATS_TEST_TMPDIR/job"
    run timeout 120 "$repository/scripts/cluster" run --user alice sh -c "$(<"$tests/sbatch_wait.sh")" sbatch_wait \
        --open-mode=append --output="$work/out" "$@" <"$BATS_TEST_TMPDIR/job"
    eventually test -e "$work/out"
    written=$(<"$work/out")
    echo "status $status: $written"
}

batch_record() {
    records n1 | jq -c 'select(.step == "batch")' | tail -n 1
}

# A loop that notes a signal in a file, then does something.
notes() { # SIGNAL FILE WHAT
    echo "trap 'echo $1 >>$2; $3' $1; : >$2; while :; do sleep 0.1; done"
}

@test "steps one after the other: none reaches the budget, the job does, and is ended as at its time limit" {
    job 'trap "echo script >>ended; exit 0" TERM
        i=0
        while :; do srun -N4 -n4 --apapi-format=none sleep 0.7; i=$((i + 1)); echo "$i over"; done' \
        -N4 --apapi-budget=2500J,warn=50%
    [[ $written == *'1 over'* && $written == *'CANCELLED AT'* ]]
    [[ $written == *'apapi: n1: budget of 2500J of the job, warn=50% crossed at '* && $written == *'apapi: n1: budget of 2500J of the job crossed at '*' with '*' kJ'* ]]
    eventually test -s "$work/ended"
    eventually holds "$(batch_record)" '[.crossings[] | [.threshold, .action, .unit]] == [["budget of 2500J of the job, warn=50%", "log", "J"],
        ["budget of 2500J of the job", "term@job", "J"]] and .crossings[1].value >= 2500'
}

@test "steps side by side count once, each gets one signal, and the script goes on" {
    job "srun -N2 -n2 --overlap --apapi-format=none sh -c '$(notes USR1 'first-$SLURM_PROCID' 'exit 0' | sed "s/'/\"/g")' & first=\$!
        srun -N4 -n4 --overlap --apapi-format=none sh -c '$(notes USR1 'second-$SLURM_PROCID' 'exit 0' | sed "s/'/\"/g")'; echo \"second: \$?\"
        wait \$first; echo \"first: \$?\"" \
        -N4 --apapi-budget=3kJ,signal=USR1
    [[ $status -eq 0 && $written == *'second: 0'*'first: 0'* ]]
    [[ $(cat "$work"/first-? "$work"/second-?) == $'USR1\nUSR1\nUSR1\nUSR1\nUSR1\nUSR1' ]]
    # 960 W for all, however many steps there are: the budget is not reached earlier
    holds "$(batch_record)" '.crossings[-1].action == "signal=USR1@job" and .elapsed_s > 3000 / 960 - slack_s and
        .crossings[-1].value >= 3000 and .crossings[-1].value <= 1.1 * 960 * (.elapsed_s + slack_s)'
}

@test "limits of a job beside its nodes': each once, commands run as the user" {
    job "srun -N4 -n4 --apapi-format=none sh -c '$(notes USR1 'got-$SLURM_PROCID' 'exit 0' | sed "s/'/\"/g")'; exit 6" \
        -N4 --apapi-overflow='job total >= 2500J : log, signal=USR1' --apapi-overflow='job total every 1kJ : exec=id -un >>crossed' \
        --apapi-overflow='total >= 1J : stamp'
    [[ $status -eq 6 && $(cat "$work"/got-?) == $'USR1\nUSR1\nUSR1\nUSR1' ]]
    [[ $written == *'apapi: n1: job total >= 2500J crossed at '*' with '*' kJ'* && $(sort -u "$work/crossed") == alice ]]
    holds "$(batch_record)" '[.crossings[].threshold] | unique == ["job total >= 2500J", "job total every 1kJ", "total >= 1J"]'
    holds "$(batch_record)" '(1.1 * 960 * (.elapsed_s + slack_s)) as $most | [.crossings[] | select(.threshold == "job total >= 2500J")] |
        length == 1 and .[0].action == "log, signal=USR1@job" and .[0].value >= 2500 and .[0].value <= $most'
}

@test "a script without steps gets the signal itself" {
    job "$(notes USR2 alone 'exit 7')" -N1 --apapi-budget=500J,signal=USR2
    [[ $status -eq 7 && $(<"$work/alone") == USR2 ]]
}

@test "a silent node of a step counts as drawing its latest power, and srun says so" {
    hold
    make_work
    printf '%s\n' '#!/bin/sh' "srun -N4 -n4 sh -c '$until_over'" >"$BATS_TEST_TMPDIR/job"
    as_alice sbatch -N4 --apapi-budget=9kJ,warn=20%,log --open-mode=append --output="$work/out" <"$BATS_TEST_TMPDIR/job"
    eventually grep -q 'budget of 9kJ of the job, warn=20% crossed' "$work/out" # all have sent totals, so that their power is known
    sampler=$(cluster on n4 pgrep -x apapi-sampler)
    cluster on n4 kill -STOP "$sampler"
    eventually grep -q ': n4 is silent: it counts as drawing 2' "$work/out"
    eventually grep -q 'budget of 9kJ of the job crossed' "$work/out"
    cluster on n4 kill -CONT "$sampler"
    eventually grep -q ': n4 is heard again' "$work/out"
    release
    eventually nodes_idle
    holds "$(batch_record)" '.complete and .crossings[-1].value >= 9000 and .crossings[-1].value <= 1.1 * 960 * (.elapsed_s + slack_s)'
}

@test "a site's limits hold for jobs; who asks for less has both" {
    printf '[budget]\nmax_budget = 50kJ,main:900J\nbudget_action = signal=USR2\n' >"$APAPI_CLUSTER_DIR/etc/apapi.conf"
    plugstack "config=$APAPI_CLUSTER_DIR/etc/apapi.conf default=rapl"
    job "$(notes USR2 alone 'exit 7')" -N1
    [[ $status -eq 7 && $(<"$work/alone") == USR2 ]]
    job "$(notes USR2 alone 'exit 7')" -N1 --apapi-budget=300J,log
    [[ $status -eq 7 && $(<"$work/alone") == USR2 ]]
    holds "$(batch_record)" '[.crossings[] | select(.action != "log" or (.threshold | startswith("budget of 300J"))) | .threshold] ==
        ["budget of 300J of the job", "budget of 900J of the job"]'
    run as_alice sbatch --apapi-budget=60kJ --wrap true
    [[ $status -ne 0 && $output == *'60kJ is more than this site permits'* ]]
}
