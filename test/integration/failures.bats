#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Whatever happens to the measuring, the step runs and ends as it would have done.

bats_require_minimum_version 1.5.0
load common

setup_file() {
    start_simulated_cluster
}

# A folder of helper programs with a sampler of our own.
sampler_is() { # SCRIPT, or nothing: there is none
    helpers=$APAPI_CLUSTER_DIR/libexec-$BATS_TEST_NUMBER
    mkdir -p "$helpers"
    cp "$libexec/apapi-collect" "$helpers/"
    if [[ $# -gt 0 ]]; then
        printf '%s\n' "$1" >"$helpers/apapi-sampler"
        chmod 755 "$helpers/apapi-sampler"
    fi
    plugstack "libexec_dir=$helpers"
}

# The step runs on both nodes, prints what it prints, ends with its status, within SECONDS more than
# without; one line says that the nodes were not measured, and why.
runs_unmeasured() { # SAYS SECONDS
    local start end
    start=$(date +%s%N)
    run --separate-stderr as_alice srun -N2 --apapi=rapl sh -c 'echo out; exit 3'
    end=$(date +%s%N)
    echo "status $status, $(((end - start) / 1000000)) ms, $output"
    echo "$stderr"
    [[ $status -eq 3 && $output == $'out\nout' ]]
    [[ $(unwrapped "$stderr") == *"apapi: step "*" n1, n2: no record ("*"$1"* ]]
    [[ $stderr != *package* ]]
    ((end - start < ($2 + 1) * 1000000000))
    run as_alice srun -N1 --apapi=rapl true
    [[ $status -eq 0 ]]
    run submit_batch 'exit 3'
    [[ $status -eq 3 && $(unwrapped "$output") == *'apapi: step '*".batch"*"$1"* ]]
}

# A message in one line, however it was broken.
unwrapped() { # TEXT
    tr -s ' \n' ' ' <<<"$1"
}

submit_batch() { # CMD
    local file=$APAPI_CLUSTER_DIR/home/alice/out-$RANDOM status=0
    as_alice sbatch --quiet --wait --output="$file" --apapi=rapl --wrap "$1" || status=$?
    eventually test -f "$file"
    eventually grep -q apapi "$file"
    cat "$file"
    return $status
}

@test "the sampler is missing" {
    sampler_is
    runs_unmeasured "No such file or directory" 1
}

@test "the sampler is not executable" {
    sampler_is 'exit 0'
    chmod 644 "$helpers/apapi-sampler"
    runs_unmeasured "Permission denied" 1
}

@test "the sampler is no program" {
    sampler_is ''
    printf '\177ELFgarbage' >"$helpers/apapi-sampler"
    runs_unmeasured "Exec format error" 1
}

@test "the sampler crashes at once" {
    sampler_is $'#!/bin/sh\nkill -SEGV $$'
    runs_unmeasured "ended" 1
}

@test "the sampler hangs for ever and is killed" {
    sampler_is $'#!/bin/sh\nexec sleep 1000'
    plugstack "libexec_dir=$helpers start_timeout=200ms stop_timeout=300ms"
    runs_unmeasured "did not answer" 3
    no_sleepers() { ! cluster on n1 pgrep -f 'sleep 1000' && ! cluster on n2 pgrep -f 'sleep 1000'; }
    eventually no_sleepers
}

@test "the sampler writes garbage" {
    sampler_is $'#!/bin/sh\nwhile echo garbage >&3; do :; done'
    runs_unmeasured "" 3
}

@test "the sampler is killed at any time: the step ends with its own status, one line tells" {
    plugstack
    for delay in 0 0.02 0.05 0.1 0.2 0.3 0.4 0.45 0.5 0.52; do
        as_alice srun -N1 -w n1 --apapi=rapl sh -c 'echo out; sleep 0.5; exit 3' \
            >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" &
        step=$!
        eventually helpers_on n1 >/dev/null
        sleep "$delay"
        cluster on n1 pkill -KILL -x apapi-sampler || true
        status=0
        wait $step || status=$?
        echo "after $delay s: status $status, $(cat "$BATS_TEST_TMPDIR/err")"
        [[ $status -eq 3 && $(cat "$BATS_TEST_TMPDIR/out") == out ]]
        # killed while it measured: told so; killed after the end: a whole table
        grep -qE 'n1: no record|covered' "$BATS_TEST_TMPDIR/err"
    done
}

@test "a stopped sampler does not stop the step" {
    plugstack "stop_timeout=300ms"
    as_alice srun -N1 -w n1 --apapi=rapl sleep 1 2>"$BATS_TEST_TMPDIR/err" &
    step=$!
    eventually helpers_on n1 >/dev/null
    sleep 0.3
    cluster on n1 pkill -STOP -x apapi-sampler
    wait $step
    grep -q 'did not answer' "$BATS_TEST_TMPDIR/err"
    eventually no_helpers
}

@test "the collector is missing: the step is measured, one line tells that there is no table" {
    helpers=$APAPI_CLUSTER_DIR/libexec-$BATS_TEST_NUMBER
    mkdir -p "$helpers"
    cp "$libexec/apapi-sampler" "$helpers/"
    plugstack "libexec_dir=$helpers"
    count=$(records n1 | wc -l)
    run as_alice srun -N1 -w n1 --apapi=rapl sh -c 'exit 3'
    echo "$output"
    [[ $status -eq 3 && $(grep -c 'apapi: ' <<<"$output") -eq 1 ]]
    [[ $output == *'apapi-collect'*'No such file'* ]]
    [[ $(records n1 | wc -l) -eq $((count + 1)) ]]
}

@test "slurmstepd is killed: the sampler finishes the record by itself" {
    expected_errors='.'
    as_alice srun -N1 -w n1 --apapi=rapl sleep 1.5 2>/dev/null &
    step=$!
    eventually helpers_on n1 >/dev/null
    sleep 0.5
    count=$(records n1 | wc -l)
    cluster on n1 pkill -KILL -f 'slurmstepd: \[[0-9]+\.0'
    one_more() { [[ $(records n1 | wc -l) -gt $count ]]; }
    eventually one_more
    record=$(last_record n1)
    holds "$record" '.complete == false and (.reason | test("slurmstepd"))'
    holds "$record" '(.domains.package.energy_j / (200 * .elapsed_s) - 1 | fabs) < 0.02'
    cluster run scancel -u alice
    cluster on n1 pkill -x sleep || true
    wait $step || true
}

@test "srun is killed: the nodes keep their records, nothing is left" {
    expected_errors='Failed to send MESSAGE_TASK_EXIT'
    as_alice srun -N2 --apapi=rapl sleep 30 2>/dev/null &
    step=$!
    eventually helpers_on n2 >/dev/null
    sleep 0.3
    count=$(records n2 | wc -l)
    cluster run pkill -KILL -x srun -o
    wait $step || true
    one_more() { [[ $(records n2 | wc -l) -gt $count ]]; }
    eventually one_more
    eventually no_helpers
}

@test "scancel and the time limit: a whole record" {
    run as_alice srun -N1 -w n1 --apapi=rapl sh -c 'scancel $SLURM_JOB_ID; sleep 30'
    [[ $status -ne 0 ]]
    eventually no_helpers
    holds "$(last_record n1)" '.complete and .domains.package.energy_j > 0'
}

@test "a node without power is named as missing, the other one is reported" {
    expected_errors='pmix' # each slurmd says at its start that it has none
    as_alice srun -N2 --no-kill --apapi=rapl sh -c '[ $SLURM_NODEID = 1 ] || sleep 2; sleep 1' \
        2>"$BATS_TEST_TMPDIR/err" &
    step=$!
    eventually helpers_on n2 >/dev/null
    sleep 0.2
    cluster kill-node n2
    sleep 3.5
    cluster run pkill -TERM -o -x srun || true
    wait $step || true
    cat "$BATS_TEST_TMPDIR/err"
    grep -q '^  n2: no record' "$BATS_TEST_TMPDIR/err"
    grep -q '^  package' "$BATS_TEST_TMPDIR/err"
    cluster run scancel -u alice
    cluster boot-node n2
}

@test "the accounting folder cannot be used: the step is measured and ends as it would" {
    touch "$BATS_TEST_TMPDIR/file"
    for folder in /nonexistent/acct "$BATS_TEST_TMPDIR/file" /proc/acct; do
        echo "optional $plugin acct_dir=$folder" >"$APAPI_CLUSTER_DIR/etc/plugstack.conf"
        run as_alice srun -N1 --apapi=rapl sh -c 'sleep 0.2; exit 3'
        echo "$folder: $output"
        [[ $status -eq 3 && $output == *package* ]]
    done
}
