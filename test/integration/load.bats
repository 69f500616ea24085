#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Many steps one after the other, and many at once: minutes, so that it is for the long run. measure.bats, job.bats
# and failures.bats show each time what a few steps and jobs leave behind, and ten samplers at once.

# bats file_tags=long

load survive

setup_file() {
    start_simulated_cluster --nodes 4
    remember_traces
}

no_helpers() {
    local node
    for node in n1 n2 n3 n4; do
        ! helpers_on $node || return 1
    done
    ! cluster run pgrep -x apapi-collect
}

# A job on all nodes that runs the script; what it says is in $output, its number in $job.
run_job() { # SCRIPT
    run as_alice salloc --quiet -N4 --ntasks-per-node=8 bash -c "echo \$SLURM_JOB_ID; $1"
    job=${lines[0]}
    echo "status $status, job $job, $(tail -n 20 <<<"$output")"
    [[ $status -eq 0 ]]
}

# "STEP:NODE" of each record of $job, sorted; checks that each is whole.
steps_of_job() {
    local node
    for node in n1 n2 n3 n4; do
        records $node
    done | jq -r "select(.job == $job and .complete) | \"\(.step):\(.node)\"" | sort -V
}

@test "500 steps in a row: every one has its table and its record, nothing is left" {
    run_job 'for ((i = 0; i < 500; i++)); do
        srun -N1 -n1 -w n$((i % 4 + 1)) --apapi=rapl sh -c "exit $((i % 3))" 2>&1 | grep -c "^apapi: step"
        echo "status ${PIPESTATUS[0]}"
    done | sort | uniq -c | tr -s " "'
    [[ ${lines[1]} == ' 500 1' && ${lines[2]} == ' 167 status 0' && ${lines[3]} == ' 167 status 1' &&
        ${lines[4]} == ' 166 status 2' ]]
    [[ $(steps_of_job) == "$(for ((i = 0; i < 500; i++)); do echo "$i:n$((i % 4 + 1))"; done)" ]]
}

@test "64 steps at once: every one has its table and its record, with its own energy" {
    run_job 'cd && rm -rf tables && mkdir tables
        for ((i = 0; i < 64; i++)); do
            { srun -N1 -n1 -w n$((i % 4 + 1)) --overlap --apapi=rapl \
                sh -c "sleep 2.$((i % 4)); exit 3" 2>tables/$i
              echo "status $?"; } &
        done | sort | uniq -c | tr -s " "
        cat tables/* | grep -c "^  total"'
    [[ ${lines[1]} == ' 64 status 3' && ${lines[2]} == 64 ]]
    steps=$(steps_of_job)
    [[ $(wc -l <<<"$steps") -eq 64 && $(cut -d: -f1 <<<"$steps" | uniq | wc -l) -eq 64 ]]
    for node in n1 n2 n3 n4; do
        holds "$(records $node | jq -s "[.[] | select(.job == $job)]")" \
            'length == 16 and all(.elapsed_s >= 1.99 and package(200) and dram(40))'
    done
}
