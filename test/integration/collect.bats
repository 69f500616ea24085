#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# One table for each srun, whatever kind of srun it is; its program's output and exit status are as ever.
# shellcheck disable=SC2016 # quoted scripts are for an inner shell
# shellcheck disable=SC2030,SC2031 # each test is a subshell; that is the point

load survive

setup_file() {
    start_simulated_cluster --nodes 3 --extra 'SrunPortRange=61000-61199'
    remember_traces
}

@test "the socket is in SrunPortRange" {
    begin_held_step '' -N1 -w n1 --apapi=rapl
    begun_on n1 sh
    port=$(cluster run ss -Hltnp | awk '/apapi-collect/ { sub(/.*:/, "", $4); print $4 }')
    echo "port $port"
    ((port >= 61000 && port <= 61199))
    end_held_step
    [[ $status -eq 0 ]]
}

@test "a terminal: --pty" {
    expected_errors='SLURM_PTY_WIN' # of a terminal without a size
    tells 4 '*on a terminal*' cluster run --user alice script -qec 'srun -N1 --apapi=rapl --pty sh -c "tty -s && echo on a terminal; exit 4"' /dev/null
    [[ $(grep -c 'apapi: step' <<<"$output") -eq 1 && $output == *package* ]]
}

@test "-K: a task that fails ends the others, and all nodes tell" {
    run --separate-stderr as_alice srun -N2 -n2 -K --apapi=rapl sh -c '[ "$SLURM_PROCID" = 1 ] || sleep 1000; exit 7'
    echo "status $status, output: $output"
    [[ $status -ne 0 && -z $output ]]
    [[ $(grep -c '^apapi: ' <<<"$stderr") -eq 1 ]]
    [[ $stderr == *"  2 nodes  "* && $stderr != *missing* ]]
}

@test "--exact and --overlap in an allocation" {
    run --separate-stderr as_alice salloc -Q -N2 -n4 sh -c '
        srun -N2 -n2 --exact --apapi=rapl sleep 1 & srun -N2 -n2 --exact --apapi=rapl sleep 1 & wait
        srun -N2 -n4 --apapi=rapl sleep 2 & srun -N2 -n2 --overlap --apapi=rapl sleep 1; wait'
    [[ $status -eq 0 && -z $output ]]
    [[ $(grep -c '^apapi: step .*  2 nodes  ' <<<"$stderr") -eq 4 ]]
    [[ $stderr != *missing* ]]
}

@test "a step on a part of the allocation: the node that does not answer is named by the others" {
    expected_errors='.'
    plugstack stop_timeout=2s # so long srun waits for n3's record
    as_alice salloc -Q -N3 srun -N2 -w n[2-3] --apapi=rapl sleep 1000 \
        >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" 3>&- &
    step=$!
    begun_on n2 sleep
    begun_on n3 sleep
    cluster on n3 pkill -KILL -f 'slurmstepd: \[[0-9]+\.0'
    eventually no_helper_on n3
    cluster on n3 pkill -x sleep -u alice || true
    cluster run scancel -u alice
    end_step
    stderr=$(unwrapped "$(<"$BATS_TEST_TMPDIR/err")")
    [[ $stderr == *"2 nodes, 1 missing"* ]]
    [[ $stderr == *'n3: no record (it did not answer in time)'* ]]
}

@test "a step that no node launches has no record: srun waits for none, and blames no node" {
    expected_errors='.'
    plugstack stop_timeout=1h
    make_work
    printf '#!/bin/sh\nscancel $SLURM_JOB_ID\nuntil scontrol show job $SLURM_JOB_ID | grep CANC; do sleep 0.1; done\n' >"$work/prolog"
    chmod 755 "$work/prolog"
    run ! alice_sh 'salloc -Q --no-shell -N1 -J revoked; timeout 300 srun --jobid="$(squeue -h -n revoked -o %i)" --prolog=./prolog --apapi=rapl true'
    [[ $output =~ 'Job credential revoked'|'Invalid job credential' && $output != *apapi:* ]]
}

@test "a step of another job than the one in which srun is called: its nodes are not awaited" {
    plugstack stop_timeout=1h
    job=$(as_alice sbatch --parsable -N1 -w n2 -o /dev/null --wrap 'sleep 300')
    eventually eval '[[ $(cluster run squeue -h -j "$job" -o %T) == RUNNING ]]'
    run as_alice timeout 100 salloc -Q -N1 -w n1 --apapi=rapl \
        srun --overlap "--jobid=$job" -N1 -n1 srun --overlap -n1 --apapi=rapl sleep 0.2
    [[ $status -eq 0 && $output == "apapi: step $job.1 "*"apapi: step $job.0 "* && $output != *'no record'* ]]
    run as_alice timeout 100 salloc -Q -N1 -w n1 srun --overlap "--jobid=$job" -N1 -n1 --apapi=off srun --overlap -n1 --apapi=rapl sleep 0.2
    [[ $status -eq 0 && $output == "apapi: step $job."* && $output != *'no record'* ]]
    as_alice scancel "$job"
}

@test "a heterogeneous step: one table of all nodes" {
    make_work
    alice_sh "cat >het.sh <<END
#!/bin/sh
#SBATCH -N1 -w n1 -o $work/het.out
#SBATCH hetjob
#SBATCH -N1 -w n2
srun --het-group=0,1 --apapi=rapl sleep 1
END
    sbatch_wait het.sh"
    output=$(<"$work/het.out")
    [[ $output =~ "apapi: step "[0-9]+"+0.0 " ]] # as in reports
    [[ $(grep -c '^apapi: ' <<<"$output") -eq 1 && $output == *"  2 nodes  "*$'\n  total '* && $output != *missing* && $output != *refused* ]]
}
