#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# apapi merge: the nodes' records of a step as one report.

bats_require_minimum_version 1.5.0
load atime_common

# A record: 100 W in the package for SECONDS.
record() { # JOB STEP NODE SECONDS [START OF THE MINUTE]
    printf '{"apapi":1,"job":%s,"step":"%s","name":"stream","node":"%s","nodes":3,' "$1" "$2" "$3"
    printf '"start":"2026-11-21T11:%s:01.000000000Z","elapsed_s":%s,"late_s":0.0,"complete":true,' "${5:-20}" "$4"
    printf '"domains":{"package":{"energy_j":%s,"mean_w":100.0}},' "$(($4 * 100))"
    printf '"components":[{"name":"rapl","source":"sim","interval_s":0.1,"events":[]}],'
    printf '"trust":{"covered":1.0,"cpu_s":0.0,"samples":100}}\n'
}

merge() { "$apapi" merge "$@"; }

total_j() { # OPTIONS AND FILES
    merge -f json "$@" | jq '[.[].domains.package.energy_j] | add'
}

@test "records of several files are one table" {
    cd "$BATS_TEST_TMPDIR"
    for node in n1 n2 n3; do record 7 0 $node 10 >$node.jsonl; done
    run --separate-stderr -0 merge n1.jsonl n2.jsonl n3.jsonl
    echo "$output"
    [[ $output == *'step 7.0 "stream"'*'3 nodes'* && $output == *'3.000 kJ'* && -z $stderr ]]
    run -0 total_j n?.jsonl
    [[ $output == 3000 ]]
    run -0 merge -f csv n1.jsonl n2.jsonl
    [[ $output == *7.0*n1* && $output == *7.0*n2* ]]
}

@test "from standard input and from an accounting folder" {
    cd "$BATS_TEST_TMPDIR"
    mkdir -p acct/2026-11-21 acct/2026-11-22
    record 7 0 n1 10 >acct/2026-11-21/n1.jsonl
    record 7 0 n2 10 >acct/2026-11-22/n2.jsonl
    [[ $(total_j acct) -eq 2000 ]]
    [[ $(cat acct/*/* | total_j -) -eq 2000 ]]
}

@test "-j names the step, and the others do not matter" {
    cd "$BATS_TEST_TMPDIR"
    { record 7 0 n1 10; record 7 1 n1 20; record 8 batch n1 30; record 7 0 n2 10; } >file
    run -1 merge file
    [[ $output == 'apapi merge: records of several steps: 7.0, 7.1; -j names one' ]]
    run -1 merge -j 7 file
    [[ $output == *'several steps'* ]]
    [[ $(total_j -j 7.0 file) -eq 2000 && $(total_j -j 7.1 file) -eq 2000 ]]
    [[ $(total_j -j 8 file) -eq 3000 && $(total_j -j 8.batch file) -eq 3000 ]]
    run -1 merge -j 9 file
    [[ $output == 'apapi merge: no record of this job in the files' ]]
    run -1 merge -j 7.2 file
    [[ $output == *'no record of this job in the files' ]]
}

@test "of several records of a node the latest counts, and of those the longest" {
    cd "$BATS_TEST_TMPDIR"
    { record 7 0 n1 10; record 7 0 n1 30; record 7 0 n1 20; record 7 0 n2 50; record 7 0 n2 5 21; } >file
    [[ $(total_j file) -eq 3500 ]]
    run -0 merge file
    [[ $output == *'2 nodes'* || $output == *'of 3 nodes'* ]]
    [[ $output == *'3.500 kJ'* ]]
}

@test "nodes without a record are named" {
    cd "$BATS_TEST_TMPDIR"
    { record 7 0 n1 10; record 7 0 n9 10; } >file
    run -0 merge -n 'n[1-3]' file
    echo "$output"
    [[ $output == *'n[2-3]: no record (no record in the files)'* && $output != *n9* ]]
}

@test "lines that are no records are skipped and counted, --strict minds them" {
    cd "$BATS_TEST_TMPDIR"
    { record 7 0 n1 10; echo '{"apapi":1,"job'; printf '\0\1\2\n'; record 7 0 n2 10; } >file
    run --separate-stderr -0 merge -f json file
    [[ $(jq length <<<"$output") -eq 2 && $stderr == 'apapi merge: 2 lines or files skipped; -v tells which, and why' ]]
    run --separate-stderr -0 merge -v file
    [[ $stderr == *'file:2: '*'file:3: '*'2 lines or files skipped' ]]
    run -1 merge --strict file
    run -1 merge /dev/null
    [[ $output == 'apapi merge: no record in the files' ]]
    run -1 merge nowhere
    [[ $output == 'apapi merge: nowhere: No such file or directory' ]]
}

@test "wrong usage" {
    for arguments in '' '-j x file' '-j 0 file' '-j 7. file' '-f yaml file' '-f none file' '--nope file'; do
        # shellcheck disable=SC2086 # words
        run -2 merge $arguments
        echo "$output"
        [[ $output == 'apapi merge: '* ]]
    done
    run -1 merge -n 'n[1-' /dev/null
    run -0 "$apapi" help merge
    [[ $output == 'usage: apapi merge '* ]]
}
