#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Whatever happens to the sampler or the collector, the step runs and ends as it would have done.

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

# The step runs on both nodes, prints what it prints, and ends with its status; one line says that the nodes were not
# measured, and why: where that is not "did not answer", the plugin has not waited for its time to be over.
runs_unmeasured() { # SAYS
    run --separate-stderr timeout 300 "$repository/scripts/cluster" run --user alice \
        srun -N2 --apapi=rapl sh -c 'echo out; exit 3'
    echo "status $status, $output"
    echo "$stderr"
    [[ $status -eq 3 && $output == $'out\nout' ]]
    [[ $(unwrapped "$stderr") == *"apapi: step "*" n[1-2]: no record ("*"$1"* ]]
    [[ $stderr != *package* ]]
    run -0 as_alice srun -N1 --apapi=rapl true
    run submit 'exit 3' --apapi=rapl
    [[ $status -eq 3 && $(unwrapped "$output") == *'apapi: step '*".batch"*"$1"* ]]
}

# Stand-ins that have become sleep, killed by the plugin.
no_sleepers() { ! cluster on n1 pgrep -fx 'sleep 1020' && ! cluster on n2 pgrep -fx 'sleep 1020'; }

@test "the sampler is missing" {
    sampler_is
    runs_unmeasured "No such file or directory"
    run submit 'env' --apapi=rapl # nobody makes a table of the job
    [[ $status -eq 0 && $output != *SLURM_APAPI_REPORT* ]]
}

@test "the sampler crashes at once" {
    sampler_is $'#!/bin/sh\nulimit -c 0\nkill -SEGV $$'
    runs_unmeasured "ended"
}

@test "the sampler hangs for ever and is killed" {
    sampler_is $'#!/bin/sh\nexec sleep 1020'
    plugstack "libexec_dir=$helpers start_timeout=200ms stop_timeout=300ms"
    runs_unmeasured "did not answer"
    eventually no_sleepers
}

@test "the sampler writes what is no answer" {
    # no text; a word that is none; the answer to another question; no record; too long
    for answer in "printf 'garbage'" "printf 'garbage\\0'" "printf 'table\\0text\\0'" \
        "printf 'record\\0{}\\0'" "dd if=/dev/zero bs=200000 count=1"; do
        sampler_is $'#!/bin/sh\n'"$answer"$' >&3\nexec sleep 1020' "start_timeout=200ms stop_timeout=300ms"
        run as_alice srun -N1 --apapi=rapl sh -c 'exit 3'
        echo "$answer: $output"
        [[ $status -eq 3 && $output == *'no record ('* && $output != *package* ]]
        eventually no_sleepers
    done
    sampler_is $'#!/bin/sh\nwhile echo garbage >&3; do :; done'
    runs_unmeasured "sent an invalid answer"
}

@test "the record is in, the job's table is late: the job is told that, not that nothing was measured" {
    sampler_is $'#!/bin/sh\nfor word in ready stopping record; do printf "$word\\0{}\\0" >&3; done\nexec sleep 1020' "stop_timeout=300ms"
    run submit 'exit 3' --apapi=rapl
    [[ $status -eq 3 && $(unwrapped "$output") == *"apapi: the job's table was not ready in time: apapi show has it"* ]]
    [[ $output != *"not measured"* ]]
    cluster on n1 pkill -fx 'sleep 1020' # it has heard that the step has ended, so it is left alone
    eventually no_sleepers
}

# A sampler that never stops talking: the plugin must stop to listen.
@test "the sampler fills its channel" {
    for words in 'ready' 'record\n{}' 'part\nx'; do
        sampler_is "#!/bin/sh
fill() { yes \"\$(printf '$words')\" | tr '\\n' '\\0' | dd bs=6 >&3; }
fill & fill & fill & fill" "start_timeout=200ms stop_timeout=300ms"
        run as_alice timeout 100 srun -N1 --apapi=rapl sh -c 'exit 3'
        echo "$words: $output"
        [[ $status -eq 3 && $output == *'no record ('* && $output != *package* ]]
        cluster on n1 pkill -x yes || true
    done
}

@test "the sampler does not listen" {
    for script in 'exec sleep 1020' 'exec 3>&-; exec sleep 1020' 'kill -STOP $$'; do
        sampler_is $'#!/bin/sh\n'"$script" "start_timeout=200ms stop_timeout=300ms"
        tells 3 '*no record (*' as_alice srun -N1 --apapi=rapl sh -c 'exit 3'
        eventually no_sleepers
    done
}

# Steps at the same time, their samplers killed one after the other at random: five in each round while
# the programs cannot end, five at any moment thereafter.
# bats test_tags=long
@test "the sampler is killed at 20 random moments: the step ends with its own status, one line tells" {
    export RANDOM_SEED=${RANDOM_SEED:-$RANDOM}
    RANDOM=$RANDOM_SEED
    echo "RANDOM_SEED=$RANDOM_SEED"
    killed=0
    for round in 1 2; do
        steps=()
        for number in {0..9}; do
            as_alice srun -N1 -n1 -w n1 --overcommit --overlap --apapi=rapl \
                sh -c 'echo out; until [ -e '"$APAPI_CLUSTER_DIR/killed$round"' ]; do sleep 0.1; done; exit 3' \
                >"$BATS_TEST_TMPDIR/out$number" 2>"$BATS_TEST_TMPDIR/err$number" 3>&- &
            steps+=($!)
        done
        "$repository/scripts/cluster" on n1 bash -c "RANDOM=$RANDOM; killed=$APAPI_CLUSTER_DIR/killed$round"'
            for moment in {1..10}; do
                until pgrep -r D,R,S -x apapi-sampler; do sleep 0.01; done
                sleep 0.0$((RANDOM % 10))$((RANDOM % 10))
                kill -KILL "$(pgrep -r D,R,S -x apapi-sampler | shuf -n 1)"
                [[ $moment != 5 ]] || touch $killed
            done >/dev/null 2>&1' 3>&- &
        killer=$!
        for number in {0..9}; do
            status=0
            wait "${steps[number]}" || status=$?
            error=$(<"$BATS_TEST_TMPDIR/err$number")
            echo "round $round step $number: status $status, $error"
            [[ $status -eq 3 && $(<"$BATS_TEST_TMPDIR/out$number") == out ]]
            # killed before its last word: told so; else a whole table
            [[ $(grep -cE 'n1: no record|^ *covered [0-9]' <<<"$error") -eq 1 ]]
            [[ $error != *'no record'* ]] || killed=$((killed + 1))
        done
        # some samplers may have been too quick for it
        kill "$killer" 2>/dev/null || true
        wait "$killer" || true
    done
    echo "$killed killed before their last word"
    ((killed >= 10))
}

@test "the sampler crashes while it measures" {
    crash=$APAPI_CLUSTER_DIR/crash
    sampler_is "$(shimmed_sampler "SHIM_CRASH=$crash")"
    begin_held_step 'echo out; exit 3' -N1 -w n1 --apapi=rapl
    begun_on n1 sh
    touch "$crash"
    eventually no_helper_on n1
    end_held_step
    [[ $status -eq 3 && $(<"$BATS_TEST_TMPDIR/out") == out ]]
    [[ $(unwrapped "$(<"$BATS_TEST_TMPDIR/err")") == *'n1: no record (the sampler ended too early)'* ]]
    [[ ! -e /core || /core -ot $crash ]]
}

@test "a stopped sampler does not stop the step" {
    plugstack "stop_timeout=300ms"
    begin_held_step '' -N1 -w n1 --apapi=rapl
    begun_on n1 sh
    cluster on n1 pkill -STOP -x apapi-sampler
    end_held_step
    grep -q 'did not answer' "$BATS_TEST_TMPDIR/err"
    eventually no_helpers
}

@test "the collector is missing: the step is measured, one line tells that there is no table" {
    helpers=$APAPI_CLUSTER_DIR/libexec-$BATS_TEST_NUMBER
    mkdir -p "$helpers"
    cp "$libexec/apapi-sampler" "$helpers/"
    plugstack "libexec_dir=$helpers"
    own_records() { records n1 | jq -c 'select(.recovered | not)' | wc -l; } # without those of killed samplers
    count=$(own_records)
    run as_alice srun -N1 -w n1 --apapi=rapl sh -c 'exit 3'
    [[ $status -eq 3 && $(grep -c 'apapi: ' <<<"$output") -eq 1 ]]
    [[ $output == *'apapi-collect'*'No such file'* ]]
    [[ $(own_records) -eq $((count + 1)) ]]
}
