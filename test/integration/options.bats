#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Options of users and sites, and the messages for wrong ones.

load common

setup_file() {
    start_simulated_cluster
}

# srun, sbatch and salloc refuse it, say SAYS, and nothing is queued.
refused() { # OPTION SAYS
    local last
    last=$(cluster run scontrol show config | awk '$1 == "NEXT_JOB_ID" { print $3 }')
    for command in "srun" "sbatch --wrap" "salloc"; do
        # shellcheck disable=SC2086 # two words
        run as_alice $command "$1" hostname
        [[ $command != sbatch* ]] || run as_alice sbatch "$1" --wrap hostname
        echo "$command $1: $status $output"
        [[ $status -ne 0 && $output == *"$2"* && $output != *'queued'* ]]
    done
    [[ $(cluster run squeue -h | wc -l) -eq 0 ]]
    [[ $(cluster run scontrol show config | awk '$1 == "NEXT_JOB_ID" { print $3 }') == "$last" ]]
}

@test "an unknown component is named, with where to look" {
    refused --apapi=foo "unknown component 'foo'"
    run as_alice srun --apapi=rapl:foo true
    [[ $status -ne 0 && $output == *"'foo'"*"'apapi list' shows"* ]]
}

@test "a bad interval is refused" {
    refused --apapi-interval=fast "'fast'"
    refused --apapi-interval=10us "'10us' is out of bounds: 1ms to 1h"
    refused --apapi-interval=rapl: "ends with ':'"
}

@test "srun -Q is quiet, its report in a file is not" {
    tells 0 out as_alice srun -Q -N1 --apapi=rapl sh -c 'echo out'
    report=$APAPI_CLUSTER_DIR/home/alice/report
    run as_alice srun --quiet -N1 --apapi=rapl --apapi-output="$report" true
    [[ $status -eq 0 && -z $output && $(<"$report") == 'apapi: step '* ]]
    rm -f "$report"
}

@test "a wrong value in an #SBATCH line is refused by sbatch" {
    script=$APAPI_CLUSTER_DIR/home/alice/job.sh
    for line in --apapi=foo --apapi=rapl::nvml --apapi=../../etc/passwd "--apapi=$(printf 'x%.0s' {1..3000})" '--apapi=rapl --apapi-interval=-1s' --apapi-format=xml; do
        printf '#!/bin/sh\n#SBATCH %s\nhostname\n' "$line" >"$script"
        run --separate-stderr as_alice sbatch "$script"
        [[ $status -ne 0 && -z $output && $stderr == *apapi* ]] || { echo "$line"; false; }
        [[ $line != *foo || $stderr == *"unknown component 'foo'"* ]]
        [[ $line != *xml || $stderr == *"--apapi-format: unknown format 'xml'; available: table, json, csv, merged, none"* ]]
    done
    [[ $(cluster run squeue -h | wc -l) -eq 0 ]]
}

@test "a component of PAPI that has no route of its own is known" {
    # PAPI's own description of the machine: known, and of no use
    tells 0 '*sysdetect: not measured (*' as_alice srun --apapi=sysdetect true
}

@test "a site's component that a node does not know costs the others nothing, and no user is told" {
    plugstack default=rapl:foo
    run as_alice srun -N1 sleep 0.2
    [[ $status -eq 0 && $output == *package* && $output != *foo* ]]
}

@test "the options are in the help" {
    for command in srun sbatch salloc; do
        run as_alice $command --help
        for option in apapi apapi-interval apapi-format apapi-output apapi-trace apapi-report; do
            grep -q -- "--$option" <<<"$output"
        done
    done
}

@test "a bad plugstack argument: one line in the log, the default instead, the job unaffected" {
    for argument in interval=fast start_timeout=never stop_timeout=0 acct_dir=relative nonsense=1 default=rapl:; do
        clear_logs
        plugstack "$argument"
        tells 0 '*apapi: step*package*' as_alice srun -N1 -w n1 --apapi=rapl sleep 0.2
        errors=$(log_errors)
        echo "$errors"
        [[ $(wc -l <<<"$errors") -eq 1 && $errors == *"${argument%%=*}"* ]]
    done
    expected_errors='apapi: '
}
