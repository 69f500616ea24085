#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Options of users and the messages for wrong ones; where the report goes, how it looks, and the trace.

load common

setup_file() {
    start_simulated_cluster
    printf '#!/bin/sh\nsleep 0.2\nsrun -N2 sleep 0.2\n' >"$APAPI_CLUSTER_DIR/home/alice/job.sh"
    chmod 755 "$APAPI_CLUSTER_DIR/home/alice/job.sh"
}

setup() {
    common_setup
    make_work
}

owner() { cluster run stat -c '%U %a' "$1"; }

csv_is_good() { # FILE COLUMNS: every line has as many
    awk -F, -v n="$2" 'NF != n { print FILENAME ": " $0; bad = 1 } END { exit bad || NR < 3 }' "$1"
}

# --- form -------------------------------------------------------------------------------------------

@test "json: an array of the nodes' records, on standard error; the option alone asks for a measurement" {
    prints 0 '' alice_sh 'srun -N2 --apapi-format=json sleep 0.3'
    holds "$stderr" 'length == 2 and ([.[].node] | sort) == ["n1", "n2"]'
    holds "$stderr" 'all(.apapi == 1 and .complete and .domains.package.energy_j > 40)'
}

@test "merged: one object of the step, srun's and a batch script's" {
    alice_sh 'srun -N2 -n4 --apapi=rapl --apapi-format=merged --apapi-output=m.json sleep 0.5'
    "$repository/test/validate_records" --schema=docs/merged.schema.json "$work/m.json"
    holds "$(<"$work/m.json")" '.complete and .nodes == 2 and .recorded == 2 and .tasks == 4 and .user == "alice" and .exit_code == 0'
    holds "$(<"$work/m.json")" '.total.energy_j > 100 and ([.per_node[].energy_j] | add - 0.01) < .total.energy_j and .timeline.package.n'
    alice_sh 'sbatch_wait -N2 -o out -w n[1-2] --apapi=rapl --apapi-format=merged --wrap "sleep 0.3"'
    "$repository/test/validate_records" --schema=docs/merged.schema.json "$work/out"
    holds "$(<"$work/out")" '.complete and .step == "batch" and .recorded == 1 and .total.energy_j > 40'
}

has_record() { records n1 | grep -q "\"job_name\":\"$1\""; } # JOB_NAME

@test "none: nothing is printed, the record is there" {
    tells 0 '' alice_sh 'srun -N1 -w n1 -J format-none --apapi=rapl --apapi-format=none sleep 0.2'
    eventually has_record format-none
    tells 0 '' alice_sh 'srun -N1 -w n1 -J output-none --apapi=rapl --apapi-output=none sleep 0.2'
    eventually has_record output-none
}

@test "wrong values are refused at the prompt, and nothing is queued" {
    script=$APAPI_CLUSTER_DIR/home/alice/job.sh
    last=$(cluster run scontrol show config | awk '$1 == "NEXT_JOB_ID" { print $3 }')
    for option in FORMAT=xml OUTPUT=a-%q OUTPUT=%11j TRACE=b% TRACE= INTERVAL=10us BUDGET=5kJ,wran=80% =foo; do
        for command in 'srun -N1' sbatch salloc; do
            name=${option%%=*}
            # shellcheck disable=SC2086 # words
            run as_alice $command "--apapi${name:+-${name,,}}=${option#*=}" "$script"
            echo "$command --apapi $option: $status $output"
            [[ $status -ne 0 && $output == *'error: apapi: '* ]]
        done
    done
    [[ $(cluster run scontrol show config | awk '$1 == "NEXT_JOB_ID" { print $3 }') == "$last" ]]
}

# --- files of srun --------------------------------------------------------------------------------

@test "the user's umask, an existing file, a link of the user's own, a FIFO without a reader" {
    alice_sh 'umask 077 && srun -N1 --apapi=rapl --apapi-output=private sleep 0.2'
    [[ $(owner "$work/private") == 'alice 600' ]]
    alice_sh 'seq 100000 >old && ln -s old link && srun -N1 --apapi=rapl --apapi-output=link sleep 0.2'
    [[ $(wc -l <"$work/old") -lt 20 && -L $work/link ]]
    tells 0 '*here instead: *fifo: No such device*package*' alice_sh 'mkfifo fifo && srun -N1 --apapi=rapl --apapi-output=fifo sleep 0.2'
}

@test "an --apapi-output that cannot be written: the report comes on standard error, the program unchanged" {
    for file in . /etc/apapi-test no/such/folder /root/x /dev/full; do
        prints 3 out alice_sh "srun -N1 --apapi=rapl --apapi-output=$file sh -c 'echo out; sleep 0.2; exit 3'"
        [[ $(grep -c '^apapi: ' <<<"$stderr") -eq 2 && $stderr == *'apapi: step '*', here instead: '*"$file"*package* ]]
    done
    [[ ! -e /etc/apapi-test && ! -e /root/x ]]
    tells 0 'apapi: step *, here instead: [0-9]* is the file of the trace'$'\n''apapi: step *package*' \
        alice_sh 'srun -N1 --apapi=rapl --apapi-output=%j --apapi-trace="$PWD/%A" sleep 0.2'
    csv_is_good "$work"/[1-9]* 9
    cluster run --user bob sh -c 'cd && umask 077 && touch of-bob'
    run --separate-stderr alice_sh "srun -N1 --apapi=rapl --apapi-output=$APAPI_CLUSTER_DIR/home/bob/of-bob true"
    [[ $status -eq 0 && $stderr == *'of-bob: Permission denied'* && ! -s $APAPI_CLUSTER_DIR/home/bob/of-bob ]]
}

# --- files on the nodes ---------------------------------------------------------------------------

@test "a batch step's report: written on the node with the user's rights, relative to the job's folder" {
    alice_sh 'umask 027; sbatch_wait -N1 -w n2 -o out --apapi=rapl --apapi-format=json --apapi-output=e-%j-%s.json --wrap "sleep 0.3"'
    file=$(ls "$work"/e-*.json)
    [[ $file =~ e-[0-9]+-batch\.json$ && $(owner "$file") == 'alice 640' ]]
    holds "$(<"$file")" 'length == 1 and .[0].step == "batch" and .[0].domains.package.energy_j > 40'
    [[ ! -s $work/out ]]
    alice_sh 'mkdir sub && sbatch_wait -N1 -D "$PWD/sub" -o out2 --apapi=rapl --apapi-output=table.txt --wrap "sleep 0.2"'
    [[ $(<"$work/sub/table.txt") == 'apapi: step '*package* ]]
    alice_sh 'sbatch_wait -N1 -o out3 --apapi=rapl --apapi-format=csv --wrap "sleep 0.2"'
    csv_is_good "$work/out3" 28
}

@test "what root must not write stays unwritten; the job's file says so and has the report" {
    for file in /etc/apapi-test . /root/x "$APAPI_CLUSTER_DIR/home/bob/of-bob" no/folder/x; do
        rm -f "$work/out"
        alice_sh "sbatch_wait -N1 -o out --apapi=rapl --apapi-output=$file --wrap 'sleep 0.2; echo done; exit 0'"
        cat "$work/out"
        [[ $(head -n 1 "$work/out") == "done" && $(grep -c '^apapi: ' "$work/out") -ge 2 ]]
        [[ $(<"$work/out") == *"apapi: "*": "*$'\n''apapi: step '*package* ]]
    done
    [[ ! -e /etc/apapi-test && ! -e /root/x && ! -s $APAPI_CLUSTER_DIR/home/bob/of-bob ]]
    alice_sh "sbatch_wait -N1 -o out --apapi=rapl --apapi-output=%j.batch --apapi-trace=%A --wrap 'sleep 0.2'"
    [[ $(<"$work/out") == *'.batch is the file of the trace'*package* ]]
    csv_is_good "$work"/[1-9]*.batch 9
    # a link that the user plants does not lend root's rights either
    alice_sh 'ln -s /etc/apapi-test planted; sbatch_wait -N1 -o out --apapi=rapl --apapi-output=planted --wrap "sleep 0.2"'
    [[ ! -e /etc/apapi-test && $(<"$work/out") == *'planted: Permission denied'* ]]
}

@test "trace: the readings of each node, the node's name where the user gave none" {
    alice_sh 'srun -N2 --apapi=rapl --apapi-interval=20ms --apapi-trace=t.csv sleep 0.5'
    for node in n1 n2; do
        file=$work/t.csv.$node
        [[ $(owner "$file") == 'alice 644' ]]
        [[ $(head -n 1 "$file") == run,time_s,event,raw,value,unit,power_w,error,estimated ]]
        csv_is_good "$file" 9
        # the reading at the beginning, and each but those that follow it after 1, 2, 4, 8 and 16 ms
        rows=$(grep -c 'PACKAGE_ENERGY:PACKAGE0' "$file") samples=$(last_record $node | jq .trust.samples)
        [[ $rows -le $((samples + 1)) && $rows -ge $((samples - 4)) ]]
    done
    alice_sh 'srun -N1 --apapi=rapl --apapi-trace=one.csv sleep 0.3'
    [[ $(wc -l <"$work/one.csv") -ge 8 ]]
    alice_sh 'srun -N2 --apapi=rapl --apapi-trace=%J-%n.csv sleep 0.3'
    files=("$work"/*.0-[01].csv)
    [[ ${#files[@]} -eq 2 ]]
}

@test "trace of a heterogeneous step: a file for each node, also where each component has one" {
    alice_sh 'sbatch_wait -o out --wrap "srun --apapi=rapl --het-group=0,1 --apapi-trace=t sleep 0.3" -N1 -w n1 : -N1 -w n2'
    [[ -s $work/t.n1 && -s $work/t.n2 && ! -e $work/t ]]
    [[ $(last_record n2 | jq .nodes) -eq 1 ]] # a component's own nodes
    alice_sh 'sbatch_wait -o out -N2 -w n[1-2] --wrap "srun --apapi=rapl --apapi-trace=one -N1 -w n1 sleep 0.3 : -N1 -w n2 sleep 0.4"'
    [[ -s $work/one.n1 && -s $work/one.n2 && ! -e $work/one ]]
    for node in n1 n2; do # a node without a record is missed
        holds "$(last_record $node)" '.step == "0" and .nodes == 2 and .nodelist == "n[1-2]"'
    done
}

@test "trace of a batch script and its sruns: no two write the same file" {
    alice_sh 'sbatch_wait -N2 -o out --apapi=rapl --apapi-format=none --apapi-trace=t ../job.sh'
    ls "$work"
    [[ -s $work/t.batch && -s $work/t.n1 && -s $work/t.n2 ]]
    [[ ! -s $work/out ]]
}

@test "a trace that cannot be written: one line, record and report are there" {
    run --separate-stderr alice_sh "srun -N1 -w n1 --apapi=rapl --apapi-trace=/etc/apapi-test sh -c 'echo out; sleep 0.2; exit 3'"
    [[ $status -eq 3 && $output == out && $stderr == *package* ]]
    [[ $(grep -c '/etc/apapi-test: Permission denied' <<<"$stderr") -eq 1 ]]
    [[ ! -e /etc/apapi-test ]]
    run --separate-stderr alice_sh "srun -N1 -w n1 --apapi=rapl --apapi-trace=/dev/full sleep 0.3"
    [[ $status -eq 0 && $stderr == *package* && $stderr == *'/dev/full: No space left on device'* ]]
}

# --- the same options in jobs ---------------------------------------------------------------------

@test "salloc hands its options to the sruns inside, which may have their own" {
    run alice_sh 'salloc -Q -N1 --apapi=rapl --apapi-format=json srun sleep 0.2'
    holds "$output" '.[0].domains.package'
    run alice_sh 'salloc -Q -N1 --apapi=rapl --apapi-format=json srun --apapi-format=table sleep 0.2'
    [[ $output == 'apapi: step'* ]]
    run alice_sh 'salloc -Q -N1 --apapi=rapl srun --apapi=off sleep 0.2'
    [[ $output != *'apapi: step'* ]]
    run alice_sh 'SLURM_APAPI_FORMAT=csv salloc -Q -N1 --apapi=rapl srun sleep 0.2'
    [[ $output == step,node,* ]]
}

@test "a job that is submitted within a job does not have its options" {
    make_work
    as_alice salloc -Q -N1 -w n1 --apapi=rapl --apapi-overflow='total >= 1J' sbatch -Q -N1 -w n2 -o "$work/inner" --wrap 'srun true; echo over'
    eventually grep -q over "$work/inner"
    [[ $(<"$work/inner") == over ]]
    alice_sh 'sbatch_wait -N1 -w n1 -o outer --apapi=rapl --wrap "salloc -Q -N1 -w n2 --apapi=rapl srun true >inner 2>&1"'
    [[ $(<"$work/inner") == *'apapi: step '* ]]
}

@test "what a task submits has neither its step's thresholds nor its job's way to report" {
    local variables='env | grep ^SLURM_APAPI_ | sort; echo over'
    make_work
    as_alice srun -N1 -w n1 --apapi=rapl --apapi-format=none --apapi-overflow='total >= 1MJ' sbatch -Q -N1 -w n2 -o "$work/inner" --wrap "$variables"
    eventually grep -q over "$work/inner"
    [[ $(<"$work/inner") == over ]]
    alice_sh "sbatch_wait -N1 -w n1 -o outer --apapi=rapl --apapi-overflow='total >= 2MJ' --wrap \
        'srun sh -c \"$variables\" >inherited; srun --apapi-overflow=total\>=1MJ sh -c \"$variables\" >own'"
    [[ $(<"$work/inherited") == $'SLURM_APAPI_OVERFLOW=total >= 2MJ\nover' && $(<"$work/own") == over ]] # for the sruns of a task
    tells 0 $'SLURM_APAPI_OVERFLOW=total >= 3MJ\nover' as_alice SLURM_APAPI_OVERFLOW='total >= 3MJ' srun -N1 --apapi --apapi-format=none sh -c "$variables"
}

@test "sbatch --export=NONE loses none of it" {
    alice_sh 'SLURM_APAPI=rapl SLURM_APAPI_FORMAT=csv sbatch_wait -N1 --export=NONE -o out --wrap "/usr/bin/srun /bin/sleep 0.2"'
    cat "$work/out"
    [[ $(grep -c '^step,node,' "$work/out") -eq 2 ]]
}

@test "srun -Q is quiet, its report in a file is not" {
    tells 0 out as_alice srun -Q -N1 --apapi=rapl sh -c 'echo out'
    report=$APAPI_CLUSTER_DIR/home/alice/report
    run as_alice srun --quiet -N1 --apapi=rapl --apapi-output="$report" true
    [[ $status -eq 0 && -z $output && $(<"$report") == 'apapi: step '* ]]
    rm -f "$report"
}
