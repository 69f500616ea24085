#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Steps tracked by control groups: the sampler is not in the job's, and survives as long as it should.

bats_require_minimum_version 1.5.0
load common

setup_file() {
    if [[ -d /sys/fs/cgroup/freezer || -f /sys/fs/cgroup/cgroup.controllers ]]; then
        start_simulated_cluster --extra \
            'ProctrackType=proctrack/cgroup\nTaskPlugin=task/cgroup\nJobAcctGatherType=jobacct_gather/cgroup'
    else
        skip_all "no control groups here"
    fi
}

@test "the sampler is in no control group of the job" {
    as_alice srun -N1 -w n1 --apapi=rapl sleep 2 2>"$BATS_TEST_TMPDIR/err" &
    step=$!
    eventually helpers_on n1
    task_runs() { cluster on n1 pgrep -x sleep -u alice; }
    eventually task_runs
    cluster on n1 sh -c 'cat /proc/$(pgrep -x sleep -u alice)/cgroup' | grep -q /job_
    [[ $(cluster on n1 sh -c 'cat /proc/$(pgrep -x apapi-sampler)/cgroup') != */job_* ]]
    wait $step
    grep -q '^  package' "$BATS_TEST_TMPDIR/err"
    holds "$(last_record n1)" '.complete and (.domains.package.energy_j / (200 * .elapsed_s) - 1 | fabs) < 0.01'
}

@test "a killed step has its record" {
    as_alice srun -N1 -w n1 --apapi=rapl sleep 30 2>"$BATS_TEST_TMPDIR/err" &
    step=$!
    eventually helpers_on n1
    sleep 0.3
    as_alice scancel --signal=KILL -u alice
    status=0
    wait $step || status=$?
    [[ $status -ne 0 ]]
    eventually no_helpers
    holds "$(last_record n1)" '.complete and .domains.package.energy_j > 0'
}
