#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The words of options, sacct's, in all commands; what rows are, and how wide a table is.

load report_common

@test "--by takes a list, and qos and cluster: user,account is 3 rows of 2 users" {
    record 22 0 n1 0 100 200 '.qos = "high"'
    record 23 0 n1 200 100 100 '.account = "chem"'
    record 24 0 n1 400 100 100 '.user = "bert" | .cluster = "c2"'
    record 25 0 n1 43200 14400 100 '.account = "chem"' # over midnight
    run -0 cells user,account,jobs,energy --by user,account
    [[ $output == $'anna|chem|2|1450000\nanna|physics|1|20000\nbert|physics|1|10000' ]]
    run -0 cells account,user,energy --by account,user
    [[ $output == $'chem|anna|1450000\nphysics|anna|20000\nphysics|bert|10000' ]]
    run -0 cells qos,jobs --by qos
    [[ $output == $'|3\nhigh|1' ]]
    run -0 cells cluster,jobs --by cluster
    [[ $output == $'c1|3\nc2|1' ]]
    run -0 cells day,account,energy --by day,account
    [[ $output == $'2026-11-20|chem|730000\n2026-11-20|physics|30000\n2026-11-21|chem|720000' ]]
    run -0 report -S 2026-01-01 --json --by day,user
    jq -e '.by == "day,user" and (.rows | length) == 3' <<<"$output"
    run -0 report -S 2026-01-01 -P --by user,account --top 1
    [[ ${lines[0]} == "user|account|jobs|elapsed_s|energy_j|power_w|measured_pct" && ${lines[1]} == "anna|chem|2|"* ]]
    tells 2 '*--by=user,node: valid are job, step, node, or a list of user, account, partition, qos, cluster and day*' report --by user,node
    tells 2 '*user is listed twice*' report --by user,user
    run -2 report --by user,
}

@test "sacct's words: -M, --name, -o; -V of every command" {
    record 50 0 n1 0 10 100 '.exit_code = 0'
    record 51 0 n2 0 10 100 '.cluster = "c2" | .job_name = "train" | .exit_code = 0'
    record 51 1 n2 10 10 100 '.cluster = "c2" | .job_name = "train" | .exit_code = 3 | .failed_tasks = 1'
    record 52 0 n3 0 10 100 '.exit_code = 0 | .exit_signal = 9'
    record 53 0 n3 20 10 100
    for case in "-M c2=51" "--clusters c1,c2=50 52 53 51" "--name train=51" "--name run,train=50 52 53 51"; do
        # shellcheck disable=SC2086 # option and value
        run -0 cells jobid ${case%%=*}
        [[ $(xargs <<<"$output") == "${case#*=}" ]] || { echo "$case: $output"; false; }
    done
    [[ $(cells jobid,state) == $'50|COMPLETED\n52|FAILED\n53|\n51|FAILED' ]]
    run -0 "$apapi" -V
    version=$output
    for command in list doctor mark top report show audit regions plot import export config sync; do
        for word in -V --version; do
            run -0 "$apapi" "$command" "$word"
            [[ $output == "$version" ]] || { echo "$command $word: $output"; false; }
        done
    done
}

@test "a table fits COLUMNS: texts are cut, numbers and columns of a given width never" {
    record 70 0 n1 0 3725 200 '.job_name = "a-name-that-is-quite-long"'
    record 71 0 n1 4000 90000 30000 '.user = "anna-with-a-long-name"'
    for width in 80 72 70; do
        COLUMNS=$width run -0 --separate-stderr report -j 70,71
        (($(wc -L <<<"$output") <= width)) || { echo "$width: $output"; false; }
        [[ ${lines[0]} == jobid*"measured" && $output == *"745.0 kJ"*"200.0 W"* && $output == *"1-01:00:00"*"2.700 GJ"* ]]
    done
    [[ $output == *"a-n..."* ]]
    COLUMNS=40 run -0 --separate-stderr report -j 70 -n --format=jobid,jobname%25,nodelist,energy,power
    [[ $output == "70  "*"  a-name-that-is-quite-long  n1  "*"745.0 kJ"*"200.0 W" && ${#lines[@]} -eq 1 ]]
    copies 70 n1 72 1300
    COLUMNS=80 run -0 --separate-stderr report -j "$(seq -s, 70 1300)"
    ((${#lines[@]} == 1232 && $(wc -L <<<"$output") <= 80))
    unset COLUMNS
    [[ $(report -j 70 --format=jobid,jobname,energy | head -n 1) == "jobid       jobname           energy" ]]
}

@test "words of options in import and show" {
    cd "$BATS_TEST_TMPDIR"
    record 17 0 n1 0 100 200
    record 18 0 n1 200 100 200
    for words in '--starttime 2026-11-20T10:02 --endtime 2026-11-21 --dry-run' '-S 2026-11-20T10:02 -E 2026-11-21 --dry-run'; do
        # shellcheck disable=SC2086 # several words
        run -0 "$apapi" import --acct-dir "$acct" $words
        [[ $output == "1 records (not loaded: dry run)" ]] || { echo "$words: $output"; false; }
    done
    for words in '--jobs 17 --nodelist n[1-2]' '-j 17.0 -N n[1-2]' '--job 17.0 --nodelist n[1-2]'; do
        # shellcheck disable=SC2086
        run -0 "$apapi" show -f table $words "$acct"/*/n1.jsonl
        [[ $output == *'step 17.0 '*'no record in the files'* ]] || { echo "$words: $output"; false; }
    done
}

@test "show FILE... is a step in files, show --brief a job in a few lines" {
    cd "$BATS_TEST_TMPDIR"
    record 17 0 n1 0 100 200
    record 17 0 n2 0 100 300
    record 18 0 n1 200 100 200
    files=("$acct"/*/n1.jsonl "$acct"/*/n2.jsonl)
    tells 0 '*step 17.0 *30.00 kJ*' "$apapi" show "${files[1]}"
    [[ $("$apapi" show - <"${files[1]}") == "$output" ]]
    tells 1 'apapi show: records of several steps: 17.0, 18.0; select one with -j' "$apapi" show "${files[@]}"
    tells 0 '*Energy: 50.00 kJ*' "$apapi" show --brief --acct-dir "$acct" -S 2026-01-01 17
    for words in 'nowhere' '--brief' '-f csv' '-f csv -u anna n1' '--wait 2s 17' '--brief 17,18'; do
        # shellcheck disable=SC2086
        run -2 "$apapi" show --acct-dir "$acct" $words
    done
    run -2 "$apapi" merge "${files[@]}"
}

@test "each column of CSV, and of report, is in its manual page" {
    man=$BATS_TEST_DIRNAME/../../docs/man
    record 17 0 n1 0 100 200 '.regions = [{path: "solve", count: 1, programs: 1, threads: 1, time_s: 1, method: "measured", energies: {package: {energy_j: 1, uncertainty_j: 0.1}}}]'
    run -0 --separate-stderr "$apapi" audit --csv --acct-dir "$acct" -S 2026-11-19 -E 2026-11-22
    audit=${lines[0]//,/ }
    run -0 --separate-stderr "$apapi" regions -f csv 17 "$acct"/*/n1.jsonl
    regions=${lines[0]//,/ }
    [[ $audit == *closure_pct* && $regions == *edp_js*dram_j* ]]
    for key in $audit; do grep -q "_${key}_" "$man/apapi-audit.1.scd" || { echo "audit: $key"; false; }; done
    for key in $regions; do grep -q "_${key}_" "$man/apapi-regions.1.scd" || { echo "regions: $key"; false; }; done
    run -0 "$apapi" report --helpformat
    while read -r key _; do
        grep -qw "$key" "$man/apapi-report.1.scd" || { echo "report: $key"; false; }
    done <<<"$output"
}
