#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# However a step, srun or slurmstepd ends, and whatever the tasks do: Slurm does what it would have done,
# and the nodes keep their records.

load survive

# n3 has bob's step, which runs until slurmctld next looks at the time limits: every 30 s.
setup_file() {
    start_simulated_cluster --nodes 3 --extra 'MaxTasksPerNode=1000'
    [[ -z ${APAPI_SKIP_ALL:-} ]] || return 0
    remember_traces
    cluster run --user bob srun -N1 -w n3 -J limited --apapi=rapl sh -c 'echo out; exec sleep 1000' \
        >"$BATS_FILE_TMPDIR/out" 2>"$BATS_FILE_TMPDIR/err" 3>&- &
    eventually helpers_on n3
    eventually grep -q out "$BATS_FILE_TMPDIR/out"
    : >"$APAPI_CLUSTER_DIR/log/slurmd-n3.log" # of the start
    cluster run scontrol update "jobid=$(limited)" EndTime=now+1
}

# Not n3's: the last test reads it, and the time limit may come before that test.
clear_logs() { truncate -s 0 "$APAPI_CLUSTER_DIR"/log/slurmd-n[12].log; }

limited() { cluster run squeue -h -n limited -o %i; }

nodes_idle() {
    [[ $(cluster run sinfo -h -N -n n1,n2 -o %T | sort | uniq -c | tr -s ' ') == " 2 idle" ]]
}

no_helpers() {
    ! helpers_on n1 && ! helpers_on n2 && ! cluster run pgrep -u alice -x apapi-collect
}

log_errors() {
    grep -hE '\] (\[[^]]*\] )?error:' "$APAPI_CLUSTER_DIR"/log/slurmd-n[12].log |
        grep -vE "CANCELLED AT|${expected_errors:-nothing else}" || true
}

wrote() { [[ $(<"$BATS_TEST_TMPDIR/out") == "$1" ]]; }

# n3 is as it was when its step has ended: the last test looks at it.
teardown() {
    undisturbed
    [[ -n $(limited) ]] || nothing_left
}

@test "slurmstepd is killed: the sampler finishes the record by itself" {
    expected_errors='.'
    plugstack stop_timeout=2s # so long srun waits for a record
    count=$(records n1 | wc -l)
    begin_step -N1 -w n1 --apapi=rapl sleep 1000
    begun_on n1 sleep
    sleep 0.5 # and is measured for as long
    cluster on n1 pkill -KILL -f 'slurmstepd: \[[0-9]+\.0'
    eventually has_more_records n1 "$count"
    record=$(last_record n1)
    holds "$record" '.complete == false and (.reason | test("slurmstepd"))'
    holds "$record" '.elapsed_s > 0.5 and package(200)'
    # Slurm does not notice by itself
    cluster run scancel -u alice
    cluster on n1 pkill -x sleep -u alice || true
    end_step
    [[ $(unwrapped "$(<"$BATS_TEST_TMPDIR/err")") == *'n1: no record (it did not answer in time)'* ]]
}

@test "srun is killed: the nodes keep their records" {
    expected_errors='Failed to send MESSAGE_TASK_EXIT'
    count=$(records n2 | wc -l) count1=$(records n1 | wc -l)
    begin_step -N2 -w n1,n2 --apapi=rapl sleep 1000
    begun_on n1 sleep
    begun_on n2 sleep
    cluster run pkill -KILL -u alice -x srun -o
    end_step
    eventually has_more_records n1 "$count1"
    eventually has_more_records n2 "$count"
    whole "$(last_record n1)"
    whole "$(last_record n2)"
}

# The second signal counts within a second of the first one; where the machine was too slow for that, again.
interrupt_twice() {
    cluster run sh -c 'pkill -INT -u alice -x srun -o; sleep 0.1; pkill -INT -u alice -x srun -o' || true
    grep -q 'forcing job termination' "$BATS_TEST_TMPDIR/err"
}

@test "srun is interrupted twice: aborted as ever, and a table" {
    for option in --apapi=off --apapi=rapl; do
        begin_step -N2 -w n1,n2 "$option" sleep 1000
        eventually runs_on n1 sleep
        eventually runs_on n2 sleep
        eventually interrupt_twice
        end_step
        grep -q 'one more within 1 sec' "$BATS_TEST_TMPDIR/err"
        [[ $status -eq 130 ]]
        grep -q 'forcing job termination' "$BATS_TEST_TMPDIR/err"
    done
    grep -q '^  package' "$BATS_TEST_TMPDIR/err"
    whole "$(last_record n1)"
    whole "$(last_record n2)"
}

@test "scancel of a step and of a job: ended as ever, and a table" {
    for what in .0 ''; do
        for option in --apapi=off --apapi=rapl; do
            begin_step -N2 -w n1,n2 "$option" sh -c 'echo out; exec sleep 1000'
            eventually runs_on n1 sleep
            eventually runs_on n2 sleep
            eventually wrote $'out\nout'
            as_alice scancel "$(as_alice squeue -h -u alice -o %i)$what"
            end_step
            wrote $'out\nout'
            [[ $option != --apapi=off ]] || without=$status
            [[ $status -eq $without && $status -ne 0 ]]
        done
        grep -q '^  package' "$BATS_TEST_TMPDIR/err"
        whole "$(last_record n1)"
        whole "$(last_record n2)"
    done
}

# bats test_tags=long
@test "1000 tasks on a node" {
    run --separate-stderr as_alice srun -N1 -n1000 -w n1 --overcommit --apapi=rapl printenv SLURM_PROCID
    [[ $status -eq 0 && $(sort -n <<<"$output") == "$(seq 0 999)" ]]
    [[ $(grep -c '^apapi: step' <<<"$stderr") -eq 1 && $stderr == *'  package'* ]]
    holds "$(last_record n1)" '.tasks == 1000'
    whole "$(last_record n1)"
}

# It is the step's task that is measured; srun waits for the output's end.
@test "a task leaves a process behind that holds its output: the record is the task's" {
    for option in --apapi=off --apapi=rapl; do
        hold
        count=$(records n1 | wc -l)
        begin_step -N1 -w n1 "$option" sh -c "setsid sh -c '$until_over' & sleep 0.5; echo out; exit 3"
        if [[ $option == --apapi=rapl ]]; then
            eventually has_more_records n1 "$count"
            runs_on n1 sh # the process that was left behind
        fi
        end_held_step
        [[ $status -eq 3 && $(<"$BATS_TEST_TMPDIR/out") == out ]]
    done
    [[ $(grep -c '^apapi: step' "$BATS_TEST_TMPDIR/err") -eq 1 ]]
    record=$(last_record n1)
    whole "$record"
    holds "$record" '.elapsed_s >= 0.49'
}

@test "a task leaves a daemon behind: the step ends at once" {
    begin_step -N1 -w n1 --apapi=rapl sh -c 'setsid sleep 1000 </dev/null >/dev/null 2>&1 & exit 3'
    end_step
    [[ $status -eq 3 ]]
    grep -q '^apapi: step' "$BATS_TEST_TMPDIR/err"
    holds "$(last_record n1)" '.complete'
    cluster on n1 pkill -u alice -x sleep || true
}

@test "the time limit: ended as ever, a table and a record" {
    over() { [[ -z $(limited) ]]; }
    eventually over
    eventually grep -q '^  total' "$BATS_FILE_TMPDIR/err"
    cat "$BATS_FILE_TMPDIR/err"
    [[ $(<"$BATS_FILE_TMPDIR/out") == out ]]
    # Not in srun's output: srun closes a node's output when a task has ended by SIGTERM, read or not.
    grep -q 'STEP .* ON n3 CANCELLED AT .* DUE TO TIME LIMIT' "$APAPI_CLUSTER_DIR/log/slurmd-n3.log"
    grep -q '^  package' "$BATS_FILE_TMPDIR/err"
    whole "$(last_record n3)"
    [[ $(grep -hE '\] (\[[^]]*\] )?error:' "$APAPI_CLUSTER_DIR/log/slurmd-n3.log" | grep -cv 'CANCELLED AT\|pmix') -eq 0 ]]
    nothing_left
}
