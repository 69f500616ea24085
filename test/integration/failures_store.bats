#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The accounting folder cannot be used, or is not what it seems; the clock jumps. The step is measured and
# ends as ever; its record comes into the accounting when that works again.

load survive

setup_file() {
    start_simulated_cluster
    remember_traces
}

# Only n1 is used. FOLDER, as the node sees it, is the accounting folder.
accounting_is() { # FOLDER
    APAPI_ACCT_DIR=$1 plugstack
}

# A step that ends with status 3 and a table; its job's number is in $job.
runs_measured() {
    run --separate-stderr as_alice srun -N1 -w n1 --apapi=rapl sh -c 'sleep 0.2; echo $SLURM_JOB_ID; exit 3'
    echo "$stderr"
    [[ $status -eq 3 && $output =~ ^[0-9]+$ && $stderr == *'  package'* ]]
    job=$output
    eventually no_helpers
}

# The record of $job is in the accounting, once. A later step brings it there.
accounted_later() {
    [[ -z $(records n1 | jq "select(.job == $job)") ]]
    recover_on n1
    [[ $(records n1 | jq -r "select(.job == $job) | .domains.package.energy_j > 0") == true ]]
    [[ -z $(find "$APAPI_SPOOL_DIR" -type f) ]]
}

@test "there is no accounting folder, and it cannot be made" {
    touch "$APAPI_CLUSTER_DIR/file"
    for folder in /nonexistent/acct "$APAPI_CLUSTER_DIR/file" /proc/acct; do
        echo "$folder"
        accounting_is "$folder"
        runs_measured
        accounted_later
    done
}

@test "the clock is set back by an hour during the step" {
    helpers=$APAPI_CLUSTER_DIR/libexec
    back=$APAPI_CLUSTER_DIR/back
    mkdir "$helpers"
    cp "$libexec/apapi-collect" "$helpers/"
    shimmed_sampler "SHIM_CLOCK_BACK=$back" >"$helpers/apapi-sampler"
    chmod 755 "$helpers/apapi-sampler"
    plugstack "libexec_dir=$helpers"
    begun_s=$(date +%s)
    begin_held_step 'sleep 1; exit 3' -N1 -w n1 --apapi=rapl
    begun_on n1 sh
    touch "$back"
    end_held_step
    took_s=$(($(date +%s) - begun_s + 1))
    [[ $status -eq 3 ]]
    grep -q '^  package' "$BATS_TEST_TMPDIR/err"
    record=$(last_record n1)
    whole "$record"
    holds "$record" ".elapsed_s >= 0.99 and .elapsed_s < $took_s"
    # the begin is what the clock said then
    holds "$record" "(.start | sub(\"[.][0-9]+\"; \"\") | fromdate) - $begun_s | . >= 0 and . < $took_s"
    # the next step's: in the first hour of a day, its day is the one before
    runs_measured
    holds "$(records n1 | jq -c "select(.job == $job)")" '.exit_code == 3'
}

# A user's link or file where the folder or a part of it should be.
@test "a link or a folder of the user's in the place of the accounting" {
    home=$APAPI_CLUSTER_DIR/home/alice
    precious=$APAPI_CLUSTER_DIR/precious
    mkdir -m 755 "$precious"
    today=$(date -u +%F)
    as_alice mkdir -p "$home/real/$today" "$home/day" "$home/file/$today"
    as_alice ln -s "$precious" "$home/link"
    as_alice ln -s "$precious" "$home/day/$today"
    as_alice ln -s "$precious/file" "$home/file/$today/n1.jsonl"
    as_alice mkfifo "$home/real/$today/n1.jsonl"
    for folder in link link/below day file real; do
        echo "$folder"
        accounting_is "$home/$folder"
        runs_measured
        [[ -z $(ls -A "$precious") ]]
        accounted_later
    done
    [[ -z $(find "$home" -user root) ]]
}

# Steps of n1 have a sampler with the shim from now on; it does as it is told while $trouble is there.
shim_steps() { # VARIABLE WORDS OF PLUGSTACK...
    helpers=$APAPI_CLUSTER_DIR/libexec
    trouble=$APAPI_CLUSTER_DIR/trouble
    mkdir -p "$helpers"
    cp "$libexec/apapi-collect" "$helpers/"
    shimmed_sampler "$1=$trouble" >"$helpers/apapi-sampler"
    chmod 755 "$helpers/apapi-sampler"
    plugstack "libexec_dir=$helpers" "${@:2}"
    touch "$trouble"
}

@test "a disk whose fsync takes 300 ms: 5 steps are 5 lines, each complete" {
    shim_steps SHIM_SLOW checkpoint=1s
    count=$(records n1 | wc -l)
    for _ in {1..5}; do
        as_alice srun -N1 -n1 -w n1 --overcommit --overlap --quiet --apapi=rapl sleep 2.5 3>&- &
        steps+=($!)
    done
    wait "${steps[@]}"
    eventually no_helpers
    rm "$trouble"
    # who comes next would write what the five have left
    plugstack checkpoint=1s
    as_alice srun -N1 -w n1 --quiet --apapi=rapl sleep 1.5
    eventually no_helpers
    [[ -z $(find "$APAPI_SPOOL_DIR" -type f) ]]
    records n1 | tail -n +$((count + 1)) | jq -s -e 'length == 6 and all(.complete and (has("recovered") | not))'
}
