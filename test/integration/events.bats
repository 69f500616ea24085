#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The event lists of a user's shell go with the job to nodes that do not have the files.

load common

setup() {
    common_setup
    make_work
    list=/run/apapi-list # of the login node: each node has a /run of its own
    put_list $'# DRAM only\n\nrapl:::DRAM_ENERGY:*\n'
}

put_list() { cluster run sh -c "printf '%s' '$1' >$list && chmod 644 $list"; }

events_of() { # NODE
    last_record "$1" | jq -c '[.components[].events[].name] | sort'
}

dram='["rapl:::DRAM_ENERGY:PACKAGE0","rapl:::DRAM_ENERGY:PACKAGE1"]'

@test "an event list that the nodes do not have" {
    run ! cluster on n1 test -e "$list"
    tells 0 '*dram*' alice_sh "APAPI_EVENTLIST=$list srun -N2 --apapi=rapl sleep 0.3"
    [[ $(events_of n1) == "$dram" && $(events_of n2) == "$dram" ]]
    put_list 'rapl:::DRAM_ENERGY:PACKAGE9'
    tells 0 '*  rapl has no event of the event list*' alice_sh "APAPI_EVENTLIST=$list srun -N2 --apapi=rapl sleep 0.3"
}

@test "those who do not ask are measured as the site wants" {
    plugstack default=rapl
    alice_sh "APAPI_EVENTLIST=$list APAPI_CMPLIST=powercap srun -N1 -w n1 sleep 0.2"
    [[ $(events_of n1) == *PACKAGE_ENERGY* && $(events_of n1) == *rapl* ]]
    tells 0 '*package*' alice_sh "APAPI_EVENTLIST=/no/such/file srun -N1 -w n1 sleep 0.2"
}

@test "what counts is the file when the job was submitted, also with --export=NONE" {
    for export in ALL NONE; do
        put_list $'rapl:::DRAM_ENERGY:*\n'
        alice_sh "APAPI_EVENTLIST=$list sbatch -H -N1 -w n1 --export=$export -o out.$export --apapi=rapl --wrap '/usr/bin/srun /bin/sleep 0.2'" >"$BATS_TEST_TMPDIR/job"
        put_list $'rapl:::PACKAGE_ENERGY:*\n'
        job=$(awk '{ print $4 }' "$BATS_TEST_TMPDIR/job")
        cluster run scontrol release "$job"
        eventually job_is_gone "$job"
        for step in 0 batch; do
            record=$(records n1 | jq -c "select(.job == $job and .step == \"$step\")")
            echo "$export $step: $(jq -c '[.components[].events[].name]' <<<"$record")"
            holds "$record" '[.components[].events[].name] | all(startswith("rapl:::DRAM"))'
        done
    done
}

@test "definitions and lists change no energy in root's records" {
    put_list $'rapl:::DRAM*,APAPI_OP1_NOP,APAPI_STAT_ALL,APAPI_STAT_NO,auto,energy,J,1,-,-,1,energy,package\nrapl:::*,APAPI_OP1_NOP,APAPI_STAT_ALL,APAPI_STAT_NO,auto,energy,J,1,-,-,1,energy,none\n'
    alice_sh "APAPI_EVENTOPS=$list srun -N1 -w n1 --apapi=rapl sleep 0.5"
    is_whole
    put_list $'rapl:::PACKAGE_ENERGY:PACKAGE0\n'
    alice_sh "APAPI_EVENTLIST=$list srun -N1 -w n1 --apapi=rapl sleep 0.5"
    is_whole
    [[ $(events_of n1) == '["rapl:::PACKAGE_ENERGY:PACKAGE0"]' ]]
    as_alice srun -N1 -w n1 --apapi=rapl sleep 0.2
    holds "$(last_record n1)" '.components[0] | has("user_rules") | not'
}

# The last record of n1 has the energies of the whole node, and says whose rules there were.
is_whole() {
    holds "$(last_record n1)" '.components[0].user_rules and .elapsed_s as $s | .domains |
        (.package.energy_j / .dram.energy_j - 5 | fabs) < 0.5 and .package.energy_j > 150 * $s'
}

@test "a bad file is an error at the prompt, with file and line" {
    last=$(cluster run scontrol show config | awk '$1 == "NEXT_JOB_ID" { print $3 }')
    put_list $'# one\nrapl:::*,APAPI_OP,1\nx\n'
    printf '#!/bin/sh\nhostname\n' >"$work/job.sh"
    chmod 755 "$work/job.sh"
    for command in 'srun -N1' sbatch salloc; do
        run alice_sh "APAPI_EVENTOPS=$list $command --apapi=rapl ./job.sh"
        [[ $status -ne 0 && $output == *"error: apapi: $list:2:1: expected 11 to 13 fields"*"error: apapi: $list:3:1: "* ]]
    done
    run alice_sh "APAPI_EVENTLIST=/etc/shadow srun -N1 --apapi=rapl true"
    [[ $status -ne 0 && $output == *'error: apapi: /etc/shadow: Permission denied'* ]]
    [[ $(cluster run scontrol show config | awk '$1 == "NEXT_JOB_ID" { print $3 }') == "$last" ]]
    # nobody needs them where nothing is measured
    run -0 alice_sh "APAPI_EVENTLIST=/no/such/file srun -N1 --apapi=off true"
}

@test "APAPI_CMPLIST: before the site's default, after --apapi=LIST; a wrong one is refused" {
    plugstack default=rapl
    alice_sh "APAPI_CMPLIST=powercap sbatch_wait -N1 -w n1 --export=NONE -o out --apapi --wrap '/bin/sleep 0.2'"
    [[ $(events_of n1) == *powercap* && $(events_of n1) != *rapl* ]]
    fails "*error: apapi: APAPI_CMPLIST: unknown component 'foo'*" alice_sh "APAPI_CMPLIST=foo srun -N1 --apapi true"
    run -0 alice_sh "APAPI_CMPLIST=foo srun -N1 -w n1 --apapi=rapl sleep 0.2"
    [[ $(events_of n1) == *rapl* ]]
}

@test "APAPI_VERBOSE=1: the long table" {
    run alice_sh "APAPI_VERBOSE=1 srun -N1 --apapi=rapl sleep 0.3"
    [[ $output == *'rapl:::PACKAGE_ENERGY:PACKAGE0'* ]]
    alice_sh "APAPI_VERBOSE=1 sbatch_wait -N1 -o out --apapi=rapl --wrap 'sleep 0.3'"
    [[ $(<"$work/out") == *'rapl:::PACKAGE_ENERGY:PACKAGE0'* ]]
}

@test "tasks do not see it, the script's sruns do" {
    run alice_sh "APAPI_EVENTLIST=$list srun -N1 --apapi=rapl --apapi-format=none env"
    [[ $output == *"APAPI_EVENTLIST=$list"* && $output != *SLURM_APAPI_RULES* ]]
    alice_sh "APAPI_EVENTLIST=$list sbatch_wait -N1 -o out --apapi=rapl --apapi-format=none --wrap 'env | grep -c ^SLURM_APAPI_RULES; srun env | grep -c ^SLURM_APAPI_RULES; true'"
    [[ $(<"$work/out") == $'1\n0' ]]
}

@test "a packet of the user's own making is bounded by the node" {
    for rules in garbage $'eventlist 99999999999 x\ny' $'eventlist 5 x\nrapl\n' "$(head -c 100000 /dev/zero | tr '\0' 'x')"; do
        tells 0 '*package*' as_alice "SLURM_APAPI_RULES=$rules" srun -N1 -w n1 --apapi=rapl sleep 0.2
    done
}
