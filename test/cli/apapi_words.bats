#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The words of options, sacct's, in all commands; what rows are, and how wide a table is.

load report_common

@test "--by takes a list of what fits together; -X is --by=job" {
    record 51 0 n2 0 10 100
    record 51 1 n2 10 10 100
    [[ $(cells jobid,steps --by step -X) == "51|2" ]]
    tells 2 '*--by=user,node: valid are job, step, node, or a list of user, account, partition, qos, cluster and day*' report --by user,node
    tells 2 '*user is listed twice*' report --by user,user
    run -2 report --by user,
}

@test "-V of every command" {
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

@test "show FILE... is a step in files, show --brief a job in a few lines; merge and summary are old words for them" {
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
    [[ $("$apapi" merge "${files[1]}" 2>&1) == "$("$apapi" show "${files[1]}")" ]]
    [[ $("$apapi" summary -j 17 "${files[@]}" 2>&1) == "$("$apapi" show --brief -j 17 "${files[@]}")" ]]
    script -qec "'$apapi' merge '${files[1]}' >out" /dev/null >said </dev/null
    [[ $(tr -d '\r' <said) == "apapi merge: an old word; it is 'apapi show FILE...' now" && $(head -n 1 out) == *'step 17.0 '* ]]
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
