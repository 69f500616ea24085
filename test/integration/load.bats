#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Many steps at once.

# bats file_tags=long
# shellcheck disable=SC2016 # quoted scripts are for an inner shell

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

@test "64 steps at once: every one has its table and its record, with its own energy" {
    run as_alice salloc --quiet -N4 --ntasks-per-node=8 bash -c 'echo $SLURM_JOB_ID; cd && rm -rf tables && mkdir tables
        for ((i = 0; i < 64; i++)); do
            { srun -N1 -n1 -w n$((i % 4 + 1)) --overlap --apapi=rapl sh -c "sleep 2.$((i % 4)); exit 3" 2>tables/$i
              echo "status $?"; } &
        done | sort | uniq -c | tr -s " "
        cat tables/* | grep -c "^  total"'
    [[ $status -eq 0 && ${lines[1]} == ' 64 status 3' && ${lines[2]} == 64 ]]
    job=${lines[0]}
    [[ $(records 'n?' | jq "select(.job == $job) | .step" | sort -u | wc -l) -eq 64 ]]
    for node in n1 n2 n3 n4; do
        holds "$(records $node | jq -s "[.[] | select(.job == $job)]")" \
            'length == 16 and all(.complete and .elapsed_s >= 1.99 and package(200) and dram(40))'
    done
}
