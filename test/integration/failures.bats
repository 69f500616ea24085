#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Whatever happens to the sampler or the collector, the step runs and ends as it would have done.

load survive

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
    sampler_is $'#!/bin/sh\nexec sleep 1020' "start_timeout=200ms stop_timeout=300ms"
    runs_unmeasured "did not answer"
    eventually no_sleepers
}

# bats test_tags=long
@test "no sampler answers where srun runs: options that it would check do not fail the command" {
    local option variables=()
    for script in '' $'#!/bin/sh\nexec sleep 1020' $'#!/bin/sh\nulimit -c 0\nkill -SEGV $$'; do
        sampler_is ${script:+"$script"} "start_timeout=200ms stop_timeout=300ms"
        for option in --apapi=coretemp --apapi-interval=coretemp:1s '--apapi-overflow=total > 100W : log' --apapi-budget=1kJ --apapi=rapl; do
            [[ $option != --apapi=rapl ]] || variables=(env 'APAPI_EVENTLIST=/dev/null')
            tells 3 "*${variables:+settings of events are ignored, as they }could not be checked: *apapi-sampler*" as_alice "${variables[@]}" srun -N1 "$option" sh -c 'exit 3'
        done
        variables=()
    done
    eventually no_sleepers
}

# Each task is told to the sampler, until its channel holds no more.
# bats test_tags=long
@test "the sampler hangs, and has 400 tasks to hear of: the line has the time that was waited" {
    # alice's srun asks hers about the option
    sampler_is $'#!/bin/sh\n'"[ \$(id -u) = 0 ] || exec '$libexec/apapi-sampler'"$'\nexec sleep 1020' "start_timeout=200ms stop_timeout=300ms"
    tells 3 '*no record (the sampler did not answer within 0.2 s)*' \
        as_alice srun -N1 -n400 --overcommit --apapi=rapl --apapi-overflow='total > 1MW : log' sh -c 'exit 3'
    eventually no_sleepers
}

@test "the sampler writes what is no answer, or does not listen" {
    # no text; a word that is none; the answer to another question; no record; too long
    for script in "printf 'garbage' >&3" "printf 'garbage\\0' >&3" "printf 'table\\0text\\0' >&3" \
        "printf 'record\\0{}\\0' >&3" "dd if=/dev/zero bs=200000 count=1 >&3" 'exec 3>&-' 'kill -STOP $$'; do
        echo "$script"
        sampler_is $'#!/bin/sh\n'"$script"$'\nexec sleep 1020' "start_timeout=200ms stop_timeout=300ms"
        tells 3 '*no record (*' as_alice srun -N1 --apapi=rapl sh -c 'exit 3'
        [[ $output != *package* ]]
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
    eventually cluster on n1 pkill -fx 'sleep 1020' # it has heard that the step has ended, so it is left alone
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

# bats test_tags=long
@test "the sampler is killed at 20 random moments: the step ends with its own status, one line tells" {
    local seed=${RANDOM_SEED:-$RANDOM} killed=0
    echo "RANDOM_SEED=$seed"
    RANDOM=$seed
    for _ in {1..20}; do
        begin_step -N1 -w n1 --apapi=rapl sh -c 'echo out; sleep 0.3; exit 3'
        cluster on n1 timeout 5 sh -c 'until pgrep -x apapi-sampler; do sleep 0.01; done >/dev/null
            sleep "$0"; pkill -KILL -x apapi-sampler' "0.$((RANDOM % 4))$((RANDOM % 10))" || true # it may have ended
        end_step
        [[ $status -eq 3 && $(<"$BATS_TEST_TMPDIR/out") == out ]]
        # killed before its last word: told so; else a whole table
        [[ $(grep -cE 'n1: no record|^ *covered [0-9]' "$BATS_TEST_TMPDIR/err") -eq 1 ]]
        ! grep -q 'no record' "$BATS_TEST_TMPDIR/err" || killed=$((killed + 1))
    done
    echo "$killed killed before their last word"
    ((killed >= 5))
}

@test "the sampler crashes while it measures" {
    crash=$APAPI_CLUSTER_DIR/crash
    cc -shared -fPIC -o "$APAPI_CLUSTER_DIR/shim.so" "$repository/test/fake/sampler_shim.c"
    sampler_is $'#!/bin/sh\n'"LD_PRELOAD='$APAPI_CLUSTER_DIR/shim.so' SHIM_CRASH='$crash' exec '$libexec/apapi-sampler'"
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
