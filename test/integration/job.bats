#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Whole jobs: one table at the end, in which each moment of a node counts once.

load job_common

@test "two sruns in sequence on two nodes: nothing counts twice" {
    run -0 submit 'srun sleep 1; srun sleep 1; sleep 1' -N2 --apapi=rapl --apapi-report=all
    [[ $(grep -c '^apapi: step' <<<"$output") -eq 3 && $(grep -c '^apapi: job' <<<"$output") -eq 1 ]]
    [[ $(tail -n 1 <<<"$output") == *measured* ]]
    [[ $output == *$'\napapi: job '*'  2 nodes  3 steps  '* ]]
    right_total "$output"
    # n1 wholly, n2 for two of three seconds
    right_share "$output"
    awk -v share="$(share "$output")" 'BEGIN { exit !(share > 50 && share < 100) }'
    [[ $(wc -L <<<"$output") -le 80 ]]
}

@test "a job on one node: its steps add nothing to the batch step" {
    run submit 'srun sleep 1; srun -n1 sleep 0.5' -N1 --apapi=rapl
    right_total "$output"
    awk -v share="$(share "$output")" 'BEGIN { exit !(share > 98) }'
    batch=$(job_records "$(job_id "$output")" n1 | jq -r 'select(.step == "batch").total.energy_j')
    awk -v batch="$batch" '$1 == "total" { total = $2 * ($3 == "kJ" ? 1000 : 1) }
        END { exit !(total / batch > 0.995 && total / batch < 1.005) }' <<<"$(job_table "$output")"
}

@test "an srun's own option wins, off stops it" {
    run submit 'srun --apapi=rapl --apapi-interval=10ms sleep 0.5; srun --apapi=off sleep 0.5' -N2 \
        --apapi=rapl
    [[ $status -eq 0 && $output == *'apapi: job '*'  2 nodes  2 steps  '* ]]
    job=$(job_id "$output")
    holds "$(job_records "$job" n2)" '.components[0].interval_s == 0.01'
    [[ $(job_records "$job" n2 | wc -l) -eq 1 ]]
    right_total "$output"
}

@test "without sruns: one node's table says it all, of two nodes one is missing" {
    run submit 'sleep 0.3' -N1 --apapi=rapl
    [[ $status -eq 0 && $(grep -c '^apapi:' <<<"$output") -eq 1 ]]
    run submit 'sleep 0.3' -N2 --apapi=rapl
    [[ $output == 'apapi: job '*'no record of n2'* ]]
    holds "$(last_record n1)" '.job_nodes == 2'
    awk -v share="$(share "$output")" 'BEGIN { exit !(share > 0 && share <= 50) }'
}

@test "steps see nothing of the job's address, and no one without the token is heard" {
    run submit 'srun env; echo "here: $SLURM_APAPI_JOB"; perl -MSocket -e '\''
        socket my $s, AF_UNIX, SOCK_STREAM, 0;
        my ($name) = split /:/, $ENV{SLURM_APAPI_JOB};
        connect $s, pack("S a*", AF_UNIX, "\0$name") or die "no connection: $!";
        syswrite $s, "x" x 32 . " records -\n{}\n"; close $s; print "said\n"'\''' -N1 --apapi=rapl
    echo "$output"
    [[ $status -eq 0 && $(grep -c 'SLURM_APAPI_JOB' <<<"$output") -eq 0 ]]
    [[ $output == *'here: '*:*said*'apapi: job '*'  1 node  2 steps  '* ]]
}

@test "what a user passes on himself is in no accounting file" {
    script=$APAPI_CLUSTER_DIR/home/alice/forge.sh
    cat >"$script" <<'END'
#!/bin/sh
srun sleep 0.3
perl -MSocket -e '
    my ($name, $token) = split /:/, $ENV{SLURM_APAPI_JOB};
    my $record = "{\"apapi\":1,\"job\":$ENV{SLURM_JOB_ID},\"step\":\"7\",\"node\":\"moon\"," .
        "\"start\":\"2026-11-21T11:20:01Z\",\"elapsed_s\":1,\"late_s\":0,\"complete\":false," .
        "\"domains\":{\"package\":{\"energy_j\":1e9}},\"components\":[],\"trust\":{\"cpu_s\":0}}";
    for my $line ($record, "{" x 5000, "garbage", "x" x 300000) {
        socket my $s, AF_UNIX, SOCK_STREAM, 0;
        connect $s, pack("S a*", AF_UNIX, "\0$name") or die "no connection: $!";
        syswrite $s, "$token records -\n$line\n";
        close $s;
    }'
exit 5
END
    chmod 755 "$script"
    tells 5 '*apapi: job *incomplete: step 7 on moon*' submit "$script" -N1 --apapi=rapl
    run ! grep -r moon "$APAPI_ACCT_DIR"
    holds "$(last_record n1)" '.step == "batch" and .total.energy_j < 1e6'
}

cancelled() { # NODES SCRIPT: the table of a job that is cancelled when ~/now is there
    file=$APAPI_CLUSTER_DIR/home/alice/cancelled
    job=$(as_alice sbatch --parsable --output="$file" -N"$1" --apapi=rapl --wrap "$2")
    eventually test -f "$APAPI_CLUSTER_DIR/home/alice/now"
    as_alice scancel "$job"
    eventually grep -q '^  measured' "$file"
    output=$(<"$file")
    rm -f "$file" "$APAPI_CLUSTER_DIR/home/alice/now"
    echo "$output"
    right_total "$output"
}

@test "scancel: the table comes all the same, with the step that was running" {
    cancelled 2 'srun sleep 1; srun sh -c "touch ~/now; exec sleep 1000"'
    [[ $output == *'apapi: job '*'  2 nodes  3 steps  '* && $output != *'still running'* ]]
    cancelled 1 'srun sh -c "touch ~/now; exec sleep 1000"'
    [[ $output == *'apapi: job '*'  1 node  2 steps  '* ]]
}

@test "the script ends before a background step: the table names the step" {
    run submit 'srun sh -c "touch ~/begun; exec sleep 1000" & until test -f ~/begun; do sleep 0.1; done' -N1 --apapi=rapl
    [[ $status -eq 0 && $output == *'apapi: job '*'  1 node  1 step  '*'not in this table, still running: step '[0-9]*.0* ]]
    rm -f "$APAPI_CLUSTER_DIR/home/alice/begun"
    eventually nodes_idle
}

@test "one table for three sruns of a script, unless somebody wants another one" {
    run submit 'srun sleep 0.3; srun sleep 0.3; srun --apapi-interval=50ms true' -N2 --apapi=rapl
    [[ $status -eq 0 && $(grep -c '^apapi:' <<<"$output") -eq 1 && $output == 'apapi: job '*'  2 nodes  4 steps  '* ]]
    right_total "$output"
    run submit 'srun --apapi-report=all sleep 0.3; export SLURM_APAPI_REPORT=steps; srun sleep 0.3' -N1 --apapi=rapl
    [[ $status -eq 0 && $(grep -c '^apapi: step' <<<"$output") -eq 2 && $(grep -c '^apapi: job' <<<"$output") -eq 1 ]]
    run submit 'srun sleep 0.3' -N1 --apapi=rapl --apapi-format=csv # which a job does not have
    [[ $status -eq 0 && $(grep -c '^step,node,' <<<"$output") -eq 2 ]]
    run submit 'srun --apapi-format=csv sleep 0.3' -N2 --apapi=rapl
    [[ $status -eq 0 && $(grep -c '^step,node,' <<<"$output") -eq 1 && $(grep -c '^apapi: job' <<<"$output") -eq 1 ]]
    run as_alice salloc --quiet -N2 --apapi=rapl --apapi-report=job srun sleep 0.3
    [[ $status -eq 0 && $(grep -c '^apapi:' <<<"$output") -eq 1 && $output == 'apapi: job '*'  2 nodes  1 step  '* ]]
    tells 0 'apapi: step *' as_alice srun -N1 --apapi=rapl --apapi-report=job true
    run submit 'srun sleep 0.3; env' -N2 --apapi=rapl --apapi-report=steps
    [[ $status -eq 0 && $(grep -c '^apapi:' <<<"$output") -eq 2 && $output != *SLURM_APAPI_JOB* ]]
    tells 0 'job=*' submit 'srun sleep 0.3; echo "job=$SLURM_JOB_ID"' -N2 --apapi=rapl --apapi-report=none
    [[ $(job_records "${output#job=}" | wc -l) -eq 3 ]]
}

@test "each task of an array tells of its own part, as 28_1" {
    file=$APAPI_CLUSTER_DIR/home/alice/array
    sbatch_wait --array=1-2 --output="$file-%a" -N1 --apapi=rapl --apapi-report=all --wrap 'srun sleep 0.3'
    for task in 1 2; do
        eventually grep -q '^  measured' "$file-$task"
        right_total "$(<"$file-$task")"
        job=$(job_id "$(<"$file-$task")")
        [[ $job == *_$task ]]
        grep -q "^apapi: step $job.0 " "$file-$task"
        grep -q "^apapi: step $job.batch " "$file-$task"
    done
    [[ $(job_id "$(<"$file-1")") != "$(job_id "$(<"$file-2")")" ]]
    rm -f "$file"*
}

# A script in a job of two components, which takes n1 and n2; prints its output.
submit_two_components() { # CMD
    sbatch_wait --output="$APAPI_CLUSTER_DIR/home/alice/two" -N1 --apapi=rapl : -N1 \
        --apapi=rapl --wrap "$1"
    cat "$APAPI_CLUSTER_DIR/home/alice/two"
    rm -f "$APAPI_CLUSTER_DIR/home/alice/two"
}

@test "a heterogeneous job: the records of all components count" {
    run submit_two_components 'srun sleep 1 : sleep 0.5; srun --het-group=1 sleep 0.5'
    [[ $status -eq 0 && $output == *'apapi: job '*'  2 nodes  3 steps  '* && $output != *'no record'* ]]
    right_total "$output"
    job=$(job_id "$output")
    [[ $(job_records "$job" | jq -r '"\(.job - .het_job) \(.node) \(.step)"' | sort) == $'0 n1 0\n0 n1 batch\n1 n2 0\n1 n2 1' ]]
    reported=$("$install/bin/apapi" report --acct-dir="$APAPI_ACCT_DIR" -j "$job" --by=job --json)
    holds "$reported" '.rows | length == 2'
    awk -v reported="$(jq '[.rows[].energy_j] | add' <<<"$reported")" '
        $1 == "total" {
            energy = $2 * ($3 == "kJ" ? 1000 : 1)
            printf "total %s J, reported %s J\n", energy, reported
            found = energy > reported * 0.998 && energy < reported * 1.002
        }
        END { exit !found }' <<<"$(job_table "$output")"
    eventually nodes_idle
}

@test "salloc: a heterogeneous job has one table" {
    run as_alice salloc --quiet -N1 --apapi=rapl : -N1 sh -c 'srun sleep 0.5 : sleep 0.5; srun sleep 0.5'
    [[ $status -eq 0 && $(job_table "$output") == 'apapi: job '*'  2 nodes  2 steps  '*measured* ]]
    [[ $output != *'no record'* ]]
    right_total "$output"
    eventually nodes_idle
}

@test "salloc: a table for each step and one for the job" {
    run as_alice salloc --quiet -N2 --apapi=rapl sh -c 'srun sleep 0.5; srun -N1 sleep 0.5; srun --apapi=off true; exit 3'
    [[ $status -eq 3 && $(grep -c '^apapi: step' <<<"$output") -eq 2 ]]
    [[ $(job_table "$output") == 'apapi: job '*'  2 nodes  2 steps  '*measured* ]]
    right_total "$output"
    tells 0 '' as_alice salloc --quiet -N1 --apapi=rapl true
    run as_alice salloc --quiet -N1 sh -c 'srun --apapi=rapl sleep 0.2; srun --apapi=rapl sleep 0.2'
    [[ $status -eq 0 && $(grep -c '^apapi:' <<<"$output") -eq 2 ]]
}

@test "job_total=off: no table of the job" {
    plugstack job_total=off
    run submit 'srun sleep 0.3; env' -N2 --apapi=rapl
    [[ $status -eq 0 && $(grep -c '^apapi:' <<<"$output") -eq 2 && $output != *SLURM_APAPI_JOB* ]]
}
