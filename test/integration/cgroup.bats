#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Steps tracked by control groups: the sampler is not in the job's, and survives as long as it should.

load common

setup_file() {
    if [[ -d /sys/fs/cgroup/freezer || -f /sys/fs/cgroup/cgroup.controllers ]]; then
        start_cgroup_cluster
    else
        skip_all "no control groups here"
    fi
}

@test "the sampler is in no control group of the job" {
    begin_held_step '' -N1 -w n1 --apapi=rapl
    begun_on n1 sh
    cluster on n1 sh -c 'cat /proc/$(pgrep -o -x sh -u alice)/cgroup' | grep -q /job_
    [[ $(cluster on n1 sh -c 'cat /proc/$(pgrep -x apapi-sampler)/cgroup') != */job_* ]]
    end_held_step
    grep -q '^  package' "$BATS_TEST_TMPDIR/err"
    whole "$(last_record n1)"
}

@test "a command of a threshold is in the control group of the task, and ends with the step" {
    make_work
    # shellcheck disable=SC2016 # for the shells of the step
    begin_held_step 'cat /proc/self/cgroup >task' -D "$work" -N1 -w n1 --apapi=rapl \
        --apapi-overflow='total >= 10J : exec=cat /proc/self/cgroup >command; sleep 1000 & echo $! >child; wait'
    eventually test -s "$work/child"
    cluster on n1 kill -0 "$(<"$work/child")"
    end_held_step
    [[ $status -eq 0 ]]
    cat "$work/task"
    grep -q '/job_[0-9]*/step_' "$work/task"
    diff "$work/task" "$work/command"
    eventually cluster on n1 sh -c "! kill -0 $(<"$work/child") 2>/dev/null"
    holds "$(last_record n1)" '.crossings[0].result == "exec: ended with the program"'
}

# ROUNDS=113: 3616 commands. Of 3744, none was outside.
@test "no command of a threshold is outside of the job's control groups, or outlives it, when tasks die" {
    make_work
    local i thresholds=()
    for i in {100..131}; do
        thresholds+=("--apapi-overflow=total >= ${i}J : exec=cd $work; >begun; ./escape")
    done
    # the tasks wait; once a command has begun, the last one kills the others, one after the other
    alice_sh "cat >dying_tasks; chmod +x dying_tasks" <<'END'
#!/bin/bash
echo $$ >"task.$SLURM_PROCID"
((SLURM_PROCID == SLURM_NTASKS - 1)) || exec sleep 1000
until [[ -e begun ]]; do sleep 0.01; done
for ((other = 0; other < SLURM_NTASKS - 1; other++)); do
    until read -r task <"task.$other"; do sleep 0.01; done
    kill -KILL "$task"
    sleep 0.002
done
sleep 3 # for commands beside a task that is gone
END
    alice_sh "cat >escape; chmod +x escape" <<'END'
#!/bin/sh
setsid sh -c 'cat /proc/self/cgroup >groups.$$; exec sleep 998' &
END
    for ((i = 0; i < ${ROUNDS:-1}; i++)); do
        rm -f "$work"/begun "$work"/task.*
        as_alice env -C "$work" srun -Q -N1 -w n1 -n40 --overcommit --kill-on-bad-exit=0 --apapi=rapl --apapi-interval=10ms \
            --apapi-format=none "${thresholds[@]}" ./dying_tasks || true
    done
    compgen -G "$work/groups.*" >/dev/null
    run grep -L '/job_[0-9]*/step_' "$work"/groups.*
    [[ $output == '' ]]
    eventually cluster on n1 sh -c '! pgrep -f "[s]leep 998"'
}
