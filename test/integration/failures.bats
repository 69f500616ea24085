#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Whatever happens to the sampler or the collector, the step runs and ends as it would have done.

bats_require_minimum_version 1.5.0
load survive

setup_file() {
    start_simulated_cluster
    remember_traces
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
    plugstack "libexec_dir=$helpers ${2:-}"
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
    [[ $(unwrapped "$stderr") == *"apapi: step "*" n[1-2]: no record ("*"$1"* ]]
    [[ $stderr != *package* ]]
    ((end - start < ($2 + 1) * 1000000000))
    run as_alice srun -N1 --apapi=rapl true
    [[ $status -eq 0 ]]
    run submit_batch 'exit 3'
    [[ $status -eq 3 && $(unwrapped "$output") == *'apapi: step '*".batch"*"$1"* ]]
}

# Stand-ins that have become sleep, killed by the plugin.
no_sleepers() { ! cluster on n1 pgrep -fx 'sleep 20' && ! cluster on n2 pgrep -fx 'sleep 20'; }

# sbatch --wait looks every two seconds.
submit_batch() { # CMD
    local file=$APAPI_CLUSTER_DIR/home/alice/out-$RANDOM job
    job=$(as_alice sbatch --parsable --output="$file" --apapi=rapl --wrap "$1")
    eventually test -f "$file"
    eventually grep -q apapi "$file"
    cat "$file"
    job_ended() { cluster run scontrol show job "$job" | grep -qE 'JobState=(COMPLETED|FAILED)'; }
    eventually job_ended
    return "$(cluster run scontrol show job "$job" | sed -n 's/.*ExitCode=\([0-9]*\):.*/\1/p')"
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
    sampler_is $'#!/bin/sh\nulimit -c 0\nkill -SEGV $$'
    runs_unmeasured "ended" 1
}

@test "the sampler hangs for ever and is killed" {
    sampler_is $'#!/bin/sh\nexec sleep 20'
    plugstack "libexec_dir=$helpers start_timeout=200ms stop_timeout=300ms"
    runs_unmeasured "did not answer" 3
    eventually no_sleepers
}

@test "the sampler writes what is no answer" {
    # no text; a word that is none; the answer to another question; no record; too long
    for answer in "printf 'garbage'" "printf 'garbage\\0'" "printf 'table\\0text\\0'" \
        "printf 'record\\0{}\\0'" "dd if=/dev/zero bs=200000 count=1"; do
        sampler_is $'#!/bin/sh\n'"$answer"$' >&3\nexec sleep 20'
        run as_alice srun -N1 --apapi=rapl sh -c 'exit 3'
        echo "$answer: $output"
        [[ $status -eq 3 && $output == *'no record ('* && $output != *package* ]]
        eventually no_sleepers
    done
    sampler_is $'#!/bin/sh\nwhile echo garbage >&3; do :; done'
    runs_unmeasured "sent what is no answer" 1
}

# A sampler that never stops talking: the plugin must stop to listen.
@test "the sampler fills its channel" {
    for words in 'ready' 'record\n{}'; do
        sampler_is "#!/bin/sh
fill() { yes \"\$(printf '$words')\" | tr '\\n' '\\0' | dd bs=6 >&3; }
fill & fill & fill & fill" "start_timeout=200ms stop_timeout=300ms"
        run as_alice timeout 20 srun -N1 --apapi=rapl sh -c 'exit 3'
        echo "$words: $output"
        [[ $status -eq 3 && $output == *'no record ('* && $output != *package* ]]
        cluster on n1 pkill -x yes || true
    done
}

@test "the sampler does not listen" {
    for script in 'exec sleep 20' 'exec 3>&-; exec sleep 20' 'kill -STOP $$'; do
        sampler_is $'#!/bin/sh\n'"$script" "start_timeout=200ms stop_timeout=300ms"
        run as_alice srun -N1 --apapi=rapl sh -c 'exit 3'
        echo "$script: $output"
        [[ $status -eq 3 && $output == *'no record ('* ]]
        eventually no_sleepers
    done
}

# Steps at the same time, their samplers killed one after the other at random.
@test "the sampler is killed at 20 random moments: the step ends with its own status, one line tells" {
    export RANDOM_SEED=${RANDOM_SEED:-$RANDOM}
    RANDOM=$RANDOM_SEED
    echo "RANDOM_SEED=$RANDOM_SEED"
    killed=0
    for round in 1 2; do
        steps=()
        for number in {0..9}; do
            as_alice srun -N1 -n1 -w n1 --overcommit --overlap --apapi=rapl \
                sh -c 'echo out; sleep 0.5; exit 3' \
                >"$BATS_TEST_TMPDIR/out$number" 2>"$BATS_TEST_TMPDIR/err$number" 3>&- &
            steps+=($!)
        done
        cluster on n1 bash -c "RANDOM=$RANDOM"'
            for moment in {1..10}; do
                sleep 0.0$((RANDOM % 10))$((RANDOM % 10))
                kill -KILL "$(pgrep -x apapi-sampler | shuf -n 1)"
            done 2>/dev/null' || true
        for number in {0..9}; do
            status=0
            wait "${steps[number]}" || status=$?
            error=$(<"$BATS_TEST_TMPDIR/err$number")
            echo "round $round step $number: status $status, $error"
            [[ $status -eq 3 && $(<"$BATS_TEST_TMPDIR/out$number") == out ]]
            # killed before its last word: told so; else a whole table
            [[ $(grep -cE 'n1: no record|covered [0-9]' <<<"$error") -eq 1 ]]
            [[ $error != *'no record'* ]] || killed=$((killed + 1))
        done
    done
    echo "$killed killed before their last word"
    ((killed >= 5))
}

@test "the sampler crashes while it measures" {
    crash=$APAPI_CLUSTER_DIR/crash
    sampler_is "$(shimmed_sampler "SHIM_CRASH=$crash")"
    begin_step -N1 -w n1 --apapi=rapl sh -c 'echo out; sleep 0.5; exit 3'
    begun_on n1 sleep
    touch "$crash"
    end_step
    [[ $status -eq 3 && $(<"$BATS_TEST_TMPDIR/out") == out ]]
    [[ $(unwrapped "$(<"$BATS_TEST_TMPDIR/err")") == *'n1: no record (the sampler ended before its time)'* ]]
    [[ ! -e /core || /core -ot $crash ]]
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

