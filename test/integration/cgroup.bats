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
    begin_held_step '' -N1 -w n1 --apapi=rapl
    begun_on n1 sh
    cluster on n1 sh -c 'cat /proc/$(pgrep -x sh -u alice)/cgroup' | grep -q /job_
    [[ $(cluster on n1 sh -c 'cat /proc/$(pgrep -x apapi-sampler)/cgroup') != */job_* ]]
    end_held_step
    grep -q '^  package' "$BATS_TEST_TMPDIR/err"
    whole "$(last_record n1)"
}

@test "a killed step has its record" {
    begin_step -N1 -w n1 --apapi=rapl sleep 1000
    begun_on n1 sleep
    as_alice scancel --signal=KILL -u alice
    end_step
    [[ $status -ne 0 ]]
    eventually no_helpers
    holds "$(last_record n1)" '.complete and .domains.package.energy_j > 0'
}
