#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Slurm's daemons and the nodes fail or are restarted while steps are measured.

load survive

@test "a job is requeued: each of its steps has a record in each run" {
    file=$APAPI_CLUSTER_DIR/home/alice/requeued
    # two steps; the first run's second one does not end
    cat >"$file.sh" <<'END'
#!/bin/sh
SLURM_RESTART_COUNT=77 srun true
srun sh -c 'echo out; [ -n "$SLURM_RESTART_COUNT" ] || exec sleep 1000'
END
    job=$(as_alice sbatch --parsable --requeue --open-mode=append -N1 -w n1 --output="$file" --apapi=rapl "$file.sh")
    eventually grep -qx out "$file"
    cluster run scontrol requeue "$job"
    run_again "$job"
    is_over() { cluster run scontrol show job "$job" | grep -q JobState=COMPLETED; }
    eventually is_over
    eventually grep -c '^apapi: job [0-9]' "$file"
    cat "$file"
    [[ $(grep -cx out "$file") -eq 2 ]]
    steps=$(records n1 | jq -r "select(.job == $job) | \"\(.step) \(.complete)\"" | sort | uniq -c | tr -s ' ')
    echo "$steps"
    [[ $steps == $' 2 0 true\n 2 1 true\n 2 batch true' ]]
    whole "$(records n1 | jq -c "select(.job == $job and .step == \"1\")" | head -n 1)"
    # the records of the batch step tell the runs, no variable of the user; the wait between them is no unmeasured time
    records n1 | jq -c "select(.job == $job) | [.step, .restarts, .boot, .monotonic_s, .start, .exit_code]"
    [[ $(records n1 | jq -s "[.[] | select(.job == $job) | .restarts] | index(77)") == null ]]
    [[ $(cluster on n1 cat /proc/sys/kernel/random/boot_id | tr -d -) == "$(records n1 | jq -r "select(.job == $job) | .boot" | sort -u)" ]]
    tells 0 'COMPLETED|1|*' "$install/bin/apapi" report --acct-dir "$APAPI_ACCT_DIR" -j "$job" -P -n --format=state,restarts,measured,elapsed
    jq -Rne 'input | split("|") | (.[2] | tonumber) > 90 and (.[3] | tonumber) < 60' <<<"$output"
}

@test "slurmd is restarted during a step" {
    expected_errors='pmix' # it says at its start that it has none
    hold
    begin_step -N2 --apapi=rapl sh -c "$until_over; echo out; exit 3"
    begun_on n1 sh
    begun_on n2 sh
    cluster on n1 pkill -TERM -x slurmd
    gone() { ! cluster on n1 pgrep -x slurmd; }
    eventually gone
    cluster on n1 slurmd
    end_held_step
    [[ $status -eq 3 && $(<"$BATS_TEST_TMPDIR/out") == $'out\nout' ]]
    grep -q '"sh"  2 nodes  ' "$BATS_TEST_TMPDIR/err"
    whole "$(last_record n1)"
    whole "$(last_record n2)"
    tells 0 '*2 nodes*package*' as_alice srun -N2 --apapi=rapl sleep 0.2
}

@test "slurmd says at its start that no records can be written, and what nothing knows in default" {
    plugstack default=rpl "acct_dir=$APAPI_CLUSTER_DIR/no/acct"
    cluster on n1 pkill -TERM -x slurmd
    gone() { ! cluster on n1 pgrep -x slurmd; }
    eventually gone
    clear_logs
    cluster on n1 slurmd
    told() { [[ $(log_errors | grep -c 'apapi: ') -eq 2 ]]; }
    eventually told
    run log_errors
    [[ $output == *"apapi: default = rpl: unknown component 'rpl': did you mean 'rapl'"* ]]
    [[ $output == *"apapi: no records can be written to acct_dir: $APAPI_CLUSTER_DIR/no/acct: the folder above it does not exist"* ]]
    clear_logs
    expected_errors='pmix'
    tells 0 '' as_alice srun -N1 -w n1 true # no user is told of the default
    run as_alice srun -N1 -w n1 --apapi=rapl sleep 0.2
    [[ $status -eq 0 && $(tr -s ' \n' ' ' <<<"$output") == *"n1: not in the accounting files ($APAPI_CLUSTER_DIR/no/acct: the folder above it does not exist; the node tries again)"* ]]
    plugstack
}

@test "slurmctld is away when a step ends" {
    count=$(records n1 | wc -l)
    begin_held_step 'echo out; exit 3' -N2 --apapi=rapl
    begun_on n1 sh
    begun_on n2 sh
    cluster run pkill -TERM -x slurmctld
    gone() { ! cluster run pgrep -x slurmctld; }
    eventually gone
    release
    eventually has_more_records n1 "$count"
    sleep 0.3 # slurmd tries to tell slurmctld
    expected_errors='slurmctld|[Cc]ontroller|Unable to complete|Connection refused|slurm_send'
    cluster run --user slurm slurmctld
    end_step
    [[ $status -eq 3 && $(<"$BATS_TEST_TMPDIR/out") == $'out\nout' ]]
    grep -q '^  package' "$BATS_TEST_TMPDIR/err"
    whole "$(last_record n1)"
    tells 0 '*2 nodes*package*' as_alice srun -N2 --apapi=rapl sleep 0.2
}
