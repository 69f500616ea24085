#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Whole jobs where Slurm has an extern step on each node (PrologFlags=Contain).

load job_common

# An salloc takes three seconds then: only what needs it is here.
setup_file() {
    start_simulated_cluster --extra 'PrologFlags=Contain'
}

setup() {
    common_setup
    expected_errors=$errors_of_extern_steps
}

@test "extern steps are measured with job_total=extern only" {
    submit 'sleep 0.2' -N2 --apapi=rapl
    plugstack default=rapl
    submit 'sleep 0.2' -N2
    run ! jq -se 'any(.step == "extern")' <(records 'n?')
}

@test "job_total=extern: every node from the allocation to the end, silently" {
    plugstack default=rapl output=none job_total=extern
    run submit 'sleep 1; srun -N2 sleep 0.5; sleep 1; echo $SLURM_JOB_ID' -N2
    [[ $status -eq 0 && $output =~ ^[0-9]+$ ]]
    job=$output
    for node in n1 n2; do
        ended() { job_records "$1" "$node" | jq -se 'any(.step == "extern")' >/dev/null; }
        eventually ended "$job"
        record=$(job_records "$job" "$node" | jq -c 'select(.step == "extern")')
        echo "$record"
        holds "$record" '.complete and .elapsed_s > 2.4 and .user == "alice" and .nodes == 2'
        # Slurm tells it no name of the cluster
        job_records "$job" "$node" | jq -se '(map(.cluster) | unique | length) == 1 and .[0].cluster != null'
        holds "$record" 'total(240)'
        # the other steps of this node lie inside
        job_records "$job" "$node" | jq -se '(.[] | select(.step == "extern").elapsed_s) as $all | all(.elapsed_s <= $all)'
    done
    # one job, of one cluster
    run -0 cluster run "$install/bin/apapi" report --acct-dir "$APAPI_ACCT_DIR" -j "$job" -P -n --format=jobid,cluster,nodes,steps
    [[ $output =~ ^$job\|[a-z]+\|2\|3$ ]]
    run -0 cluster run "$install/bin/apapi" show --acct-dir "$APAPI_ACCT_DIR" "$job"
}

@test "job_total=extern measures an allocation in which nothing runs, and one that is cancelled" {
    plugstack default=rapl output=none job_total=extern
    ended() { job_records "$1" n1 | jq -se 'any(.step == "extern" and .complete)' >/dev/null; }
    as_alice salloc --no-shell --quiet -N1 -w n1 -J empty
    job=$(as_alice squeue -h -n empty -o %A)
    eventually helpers_on n1
    as_alice scancel "$job"
    eventually ended "$job"
    job=$(as_alice sbatch --parsable -w n1 --output=/dev/null --wrap 'sleep 1000')
    both_measure() { [[ $(helpers_on n1 | wc -l) -eq 2 ]]; } # the extern step and the batch step
    eventually both_measure
    eventually runs_on n1 sleep
    as_alice scancel "$job"
    eventually ended "$job"
}

@test "job_total=extern keeps away from partitions: a site that denies some has no extern steps measured" {
    plugstack default=rapl output=none job_total=extern deny_partitions=secret
    submit 'sleep 0.3; echo $SLURM_JOB_ID' -N1 -w n1 >"$BATS_TEST_TMPDIR/job"
    job=$(<"$BATS_TEST_TMPDIR/job")
    eventually nodes_idle
    eventually no_helpers
    run -0 job_records "$job" n1
    [[ $(jq -r .step <<<"$output") == batch ]]
}

@test "two sruns in a job, beside the extern steps: nothing counts twice" {
    tells 0 'apapi: job *  2 nodes  3 steps  *' submit 'srun sleep 0.5; srun sleep 0.5' -N2 --apapi=rapl
    right_total "$output"
}
