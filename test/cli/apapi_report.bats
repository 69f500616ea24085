#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# apapi report: what jobs have used, from records written by hand.

load report_common

@test "batch and steps on one node: each moment once" {
    record 17 batch n1 0 100 200
    record 17 0 n1 10 50 200
    record 17 1 n1 60 30 200
    validate_records "$acct"/*/n1.jsonl
    tells 0 '17|3|1|20000|200|100|100' cells jobid,steps,nodes,energy,power,elapsed,measured -j 17
    run -0 cells stepid,energy --by step
    [[ $output == $'17.0|10000\n17.1|6000\n17.batch|20000' ]]
}

@test "steps that run at the same time, two nodes, what lies between them" {
    record 18 0 n1 0 100 200 '.nodes = 2'
    record 18 1 n1 50 100 200
    record 18 0 n2 0 100 300 '.nodes = 2'
    run -0 cells jobid,nodes,nodelist,energy,energypernode,measured
    [[ $output == "18|2|n[1-2]|60000|30000|83.3333" ]]
    run -0 cells node,energy --by node
    [[ $output == $'n1|30000\nn2|30000' ]]
}

@test "steps that overlap in part: by their power over time, whatever the rows are" {
    record 18 0 n1 0 100 200 '.timeline.package.n = [8000, 8000, 2000, 2000]'
    record 18 1 n1 50 150 100
    tells 0 31000 cells energy -j 18 # what the longer one says of its time, and the first 50 s of the other
    tells 0 '*total *31.00 kJ*' "$apapi" show --acct-dir "$acct" 18
    tells 0 31000 cells energy --by day
    tells 0 31000 env TZ=UTC "$apapi" report --acct-dir "$acct" -S 2026-01-01 -P -n --by day --format=energy
}

@test "steps that overlap in part, without a curve: the uncertainty has what that may be wrong" {
    record 18 0 n1 0 100 200 'del(.timeline) | .domains.package += {min_w: 100, max_w: 400, uncertainty_j: 1}'
    record 18 1 n1 50 150 100 '.domains.package += {uncertainty_j: 1}'
    tells 0 '25000|10002' cells energy,uncertainty --by user # 50 s with up to 200 W more than the mean
}

@test "power is that of the time that is known, whether the job is named or not" {
    record 13 0 n1 0 100 200 '.domains.package.energy_j = 10000 | .total.energy_j = 10000 | .trust.covered = 0.5 | .timeline.package.n[2,3] = null'
    record 14 0 n1 200 100 200 '.domains.package.energy_j = 10000 | .total.energy_j = 10000 | .trust.covered = 0.5 | del(.timeline)'
    [[ $(cells jobid,energy,power,measured) == $'13|10000|200|50\n14|10000|200|50' ]]
    [[ $(cells jobid,energy,power,measured -j 13,14) == "$(cells jobid,energy,power,measured)" ]]
    [[ $(cells energy,power,measured --by day -u anna) == '20000|200|50' ]]
}

@test "one mean power everywhere, 600 W: step, merged record, job, report, day, show" {
    for node in 1 2 3 4; do record 9 0 n$node 0 $node 240 ".nodes = 4 | .domains.package.max_w = 240"; done
    cd "$BATS_TEST_TMPDIR"
    tells 0 '*4 nodes  4.000 s*' "$apapi" show -f table "$acct"
    [[ $output =~ package\ +2.400\ kJ\ +600.0\ W\ +240.0\ W\ +9[0-9]+.0\ W ]]
    [[ $output =~ total\ +2.400\ kJ\ +600.0\ W ]]
    [[ $output == *"mean: energy by time; min, max: all nodes together"* ]]
    "$apapi" show -f merged "$acct" >merged.json
    jq -e '[.domains.package, .total] | all(.mean_w == 600 and .max_w > 900 and .min_w == 240)' merged.json
    run -0 "$apapi" show --acct-dir "$acct" 9
    [[ $output =~ total\ +2.400\ kJ\ +600.0\ W && $output =~ 0\ +4\ .*\ 2.400\ kJ\ +600.0\ W ]]
    [[ $(cells power) == 600 && $(cells power --by step) == 600 && $(cells power --by day) == 600 ]]
}

@test "as many digits as are known, with their uncertainty, and no power below one window" {
    record 30 0 n1 0 10 200 '.domains.package.uncertainty_j = 1'
    record 31 0 n1 100 10 200 '.domains.package.uncertainty_j = 90'
    record 31 1 n1 110 10 200 '.domains.package.uncertainty_j = 90'
    record 32 0 n1 200 0.002 281.2 '.domains.package.uncertainty_j = 0.29 | .components = [{name: "rapl", source: "sim", interval_s: 0.1, events: []}]'
    run -0 report -S 2026-01-01 --format=jobid,energy,power
    [[ ${lines[1]} == "30          2.000 kJ ±0.05 %     200.0 W" ]]
    [[ ${lines[2]} == "31           4.00 kJ  ±4.5 %       200 W" ]]
    [[ ${lines[3]} =~ ^32\ +0.56\ J\ +±52\ %\ *$ ]]
    [[ $(cells jobid,energy,uncertainty) == $'30|2000|1\n31|4000|180\n32|0.5624|0.29' ]]
    run -0 report -S 2026-01-01 --json
    jq -e '[.rows[].uncertainty_j] == [1, 180, 0.29]' <<<"$output"
    run -0 "$apapi" show --acct-dir "$acct" 31
    [[ $output =~ total\ +4.00\ kJ\ ±4.5\ %\ +200\ W && $output =~ 1\ +1\ .*2.00\ kJ\ +±4.5\ % ]]
    run -0 "$apapi" show --acct-dir "$acct" 32
    [[ $output == *"too short for a power"* && $output != *281.2* ]]
}

@test "by day a saved and a whole record of one step are one, in whatever order they come" {
    record 11 0 n1 46800 14400 200 # from 23:00 to 03:00
    record 11 0 n1 46800 7200 300 '.complete = false | .reason = "the node ended; recovered"'
    [[ $(TZ=UTC cells day,energy,complete --by day) == $'2026-11-20|720000|yes\n2026-11-21|2160000|yes' ]]
    cat "$acct"/*/n1.jsonl | tac >"$BATS_TEST_TMPDIR/turned"
    run -0 env TZ=UTC "$apapi" report -P -n --by day --format=day,energy "$BATS_TEST_TMPDIR/turned"
    [[ $output == $'2026-11-20|720000\n2026-11-21|2160000' ]]
}

@test "nodes shared by jobs: 20.00 kJ counted more than once is said" {
    record 20 0 n1 0 100 200
    record 21 0 n1 0 100 200 '.user = "bert"'
    record 22 0 n2 0 100 200
    record 22 batch n2 0 100 200
    for by in user account partition day job; do
        run -0 --separate-stderr report -S 2026-01-01 --by "$by"
        [[ $stderr == "apapi report: nodes shared by jobs: 20.00 kJ counted more than once, as each job has the whole node's; --by node counts it once" ]]
        run -0 report -S 2026-01-01 --by "$by" --json
        jq -e '.shared_j == 20000' <<<"$output"
    done
    for alone in '--by node' '--by step' '-u bert' '-j 22'; do
        # shellcheck disable=SC2086 # option and value
        complains 0 '' report -S 2026-01-01 $alone
        # shellcheck disable=SC2086
        run -0 report -S 2026-01-01 $alone --json
        jq -e 'has("shared_j") | not' <<<"$output"
    done
}

@test "what Slurm says wins over what the environment says" {
    record 25 0 n1 0 100 200 '.account = "forged" | .partition = "forged"'
    record 25 batch n1 0 100 200 '.verified = true | .qos = "high"'
    tells 0 'physics|batch|high' cells account,partition,qos
}

@test "CSV, parsable, JSON" {
    record 72 0 n1 0 100 200 '.job_name = "a,\"b\"|c"'
    run -0 report --csv -j 72 --format=jobid,jobname,energy,co2
    [[ $output == $'jobid,jobname,energy_j,co2_g\n72,"a,""b""|c",20000,' ]]
    run -0 report -P -j 72 --format=jobid,jobname,energy --units kWh
    [[ $output == $'jobid|jobname|energy_kwh\n72|a,"b"?c|0.00555555556' ]]
    record 74 0 n1 0 10 100 '.job_name = "=HYPERLINK(\"http://x\")" | .account = "-1+1" | .user = "\u001b[31m@\r\n\u009bx"'
    run -0 report --csv -n -j 74 --format=jobname,account,user
    [[ $output == "\"'=HYPERLINK(\"\"http://x\"\")\",'-1+1,?[31m@???x" ]]
    run -0 report -P -n -j 74 --format=jobname,account,user
    [[ $output == '=HYPERLINK("http://x")|-1+1|?[31m@???x' ]]
    run -0 report --json -j 72
    jq -e '.version == 1 and .by == "job" and (.rows | length) == 1' <<<"$output"
    jq -e '.rows[0] | .energy_j == 20000 and .package_j == 20000 and .start == "2026-11-20T10:00:00.000000000Z" and .complete
        and .missing == 0 and .jobname == "a,\"b\"|c" and .nodelist == "n1" and (has("gpu_j") or has("co2_g") | not)' <<<"$output"
}

@test "a wrong width is told without the list of fields" {
    run -2 --separate-stderr report --format=jobid%0
    [[ $stderr == *"'jobid%0': the width is not a number from 1 to "* && $stderr != *nodelist* ]]
}

@test "a wrong field, grouping, option" {
    tells 2 "*unknown field 'enrgy'*valid are: jobid,*energy,*cost*" report --format=jobid,enrgy
    run -2 report --format=
    tells 2 "*'jobid%x': the width is not a number*" report --format=jobid%x
    tells 2 '*valid are job, step, node, or a list of user, account, partition, qos, cluster and day*' report --by week
    tells 2 "*did you mean '--json'*" report --jsn
    run -0 report --helpformat
    [[ $output == jobid* && $output == *co2* ]]
    run -1 "$apapi" report --acct-dir /no/such
    [[ $output == *"/no/such: No such file"* && $output != *"no job"* ]]
}

@test "incomplete records and missing ones are named" {
    record 90 0 n1 0 100 200 '.nodes = 3'
    record 90 0 n2 0 50 200 '.nodes = 3 | .complete = false | .reason = "the node was lost"'
    run -0 --separate-stderr report -j 90 --format=jobid,nodes,complete,incomplete,missing,reason,measured
    [[ ${lines[1]} == *"90 "*"3"*"no"*"1"*"1  the node was lost"*"50.0 %" ]]
    [[ $stderr == *"apapi report: 90.0: no record of 1 of 3 nodes; there is one of n[1-2]"* ]]
    [[ $stderr == *"apapi report: 90.0: incomplete on n2: the node was lost"* ]]
    complains 0 '' report -j 90 --csv
    record 90 extern n2 0 100 100 '.nodes = 3' # it says how many nodes the job has, and one of them is not known
    run -0 --separate-stderr report -j 90
    [[ $stderr == *"90.extern: no record of 2 of 3 nodes; there is one of n2"* && $stderr == *"90.0: no record of 1 of 3 nodes; there"* ]]
    record 90 extern n7 0 100 100 '.nodes = 3'
    run -0 --separate-stderr report -j 90
    [[ $stderr == *"90.extern: no record of 1 of 3 nodes: n1"* && $stderr == *"90.0: no record of 1 of 3 nodes: n7"* ]]
    record 91 0 n1 0 100 200 '.nodes = 1'
    record 91 0 n1 0 60 200 '.complete = false | .reason = "recovered from a checkpoint"' # the same record, earlier
    run -0 --separate-stderr cells records,complete,reason,covered -j 91
    [[ $output == "1|yes||100" && -z $stderr ]]
}

@test "an energy that lacks a domain says so: a column, JSON, CSV, a remark; from a database, too" {
    local unknown='del(.domains.package, .timeline) | .domains.dram = {energy_j: 1000, mean_w: 10} |
        .total = {energy_j: 1000, missing_domains: ["package"]} | .trust.unknown_domains = ["package"]'
    record 60 0 n1 0 100 200 "$unknown"
    record 60 0 n2 0 100 200 '.domains.dram = {energy_j: 1000, mean_w: 10}'
    record 61 0 n1 200 100 200
    validate_records "$acct"/*/n1.jsonl
    run -0 --separate-stderr report -j 60,61 -P -n --format=jobid,energy,measured,missing_domains
    [[ $output == $'60|22000|50|package\n61|20000|100|' ]]
    complains 0 'apapi report: 60: the energy lacks package, at times not known on 1 of 2 nodes' report -j 60,61
    prints 0 '42000|package' report -S 2026-01-01 --by user -P -n --format=energy,missing_domains
    "$apapi" import --db "sqlite:$BATS_TEST_TMPDIR/db" "$acct"/*/*.jsonl
    run -0 --separate-stderr "$apapi" report --db "sqlite:$BATS_TEST_TMPDIR/db" -j 60,61 -P -n --format=jobid,energy,measured,missing_domains
    [[ $output == $'60|22000|50|package\n61|20000|100|' ]]
    complains 0 '*: the energy lacks package, *' "$apapi" report --db "sqlite:$BATS_TEST_TMPDIR/db" -j 60,61
    [[ $(sqlite3 "$BATS_TEST_TMPDIR/db" 'SELECT missing_domains FROM apapi_jobs WHERE job = 60') == package ]]
}

@test "missing nodes by the list of the step's nodes" {
    record 92 0 n1 0 100 200 '.nodes = 4 | .nodelist = "n[1-4]"'
    record 92 0 n4 0 100 200 '.nodes = 4'
    record 92 1 n2 0 100 200 '.nodes = 2 | .nodelist = "n[1-2]"'
    record 92 2 n1 0 100 200 '.nodes = 2' # of which nobody knows them
    run -0 --separate-stderr report -j 92 --format=jobid,missing,missing_nodes
    [[ ${lines[1]} == "92                4  n[1-3]" ]]
    [[ $stderr == "apapi report: 92.0: no record of 2 of 4 nodes: n[2-3]
apapi report: 92.1: no record of 1 of 2 nodes: n1
apapi report: 92.2: no record of 1 of 2 nodes; there is one of n1" ]]
    [[ $(cells stepid,missing,missing_nodes -j 92 --by step) == $'92.0|2|n[2-3]\n92.1|1|n1\n92.2|1|' ]]
    [[ $(cells user,missing,missing_nodes -j 92 --by user) == 'anna|4|' ]]
    run -0 --separate-stderr cells jobid,missing,missing_nodes -j 92 -N 'n[1-2]' # the others are not asked for
    [[ $output == '92|2|n[1-2]' && -z $stderr ]]
    complains 0 '' report -j 92 -N n4
    record 93 0 n1 0 100 200 '.nodes = 500 | .nodelist = "n[1-999/2]"' # no list
    record 94 0 n0 0 100 200 '.nodes = 202 | .nodelist = "n[0-100],m[1-101]"'
    run -0 --separate-stderr report -j 93,94
    [[ $stderr == *"93.0: no record of 499 of 500 nodes; there is one of n1"* && $stderr == *"94.0: no record of 201 of 202 nodes: m[1-101],n[1-100]"* ]]
    record 95 0 xa0 0 100 200 ".nodes = 60 | .nodelist = \"$(printf 'x%s0,' {a..z} {A..Z})$(printf 'y%s0,' {a..h})\"[:-1]"
    complains 0 '*95.0: no record of 59 of 60 nodes: xA0,xB0,* and 8 more' report -j 95
}

@test "missing nodes of a step on all nodes of its job by another such step's list" {
    record 99 0 n1 0 100 200 '.nodes = 3 | .nodelist = "n[1-3]"'
    record 99 1 n1 0 100 200 '.nodes = 2 | .nodelist = "n[1,3]"'
    record 99 2 n2 0 100 200 '.nodes = 3'
    record 99 extern n1 0 100 200 '.nodes = 3'
    run -0 --separate-stderr report -j 99
    [[ $stderr == *"99.extern: no record of 2 of 3 nodes: n[2-3]"* && $stderr == *"99.2: no record of 2 of 3 nodes: n[1,3]"* ]]
}

@test "a list of nodes that cannot be right names none" {
    # of another number of nodes than Slurm says, without one that has a record, of no one at all, and with one twice
    record 96 0 n1 0 100 200 '.nodes = 3 | .nodelist = "n[1-4]"'
    record 96 1 n1 0 100 200 '.nodes = 2 | .nodelist = "n[2-3]"'
    record 96 2 n1 0 100 200 '.nodes = 2 | .nodelist = "n[1-"'
    record 96 3 n1 0 100 200 '.nodes = 2 | .nodelist = ",n1"'
    record 96 5 n1 0 100 200 '.nodes = 3 | .nodelist = "n1,n1,n7"'
    # but another one may be
    record 96 4 n1 0 100 200 '.nodes = 3 | .nodelist = "n[1-9]"'
    record 96 4 n2 0 100 200 '.nodes = 3 | .nodelist = "n[1-3]"'
    run -0 --separate-stderr report -j 96
    for step in 0 1 2 3; do [[ $stderr == *"96.$step: no record of "*" nodes; there is one of n1"* ]]; done
    [[ $stderr == *"96.4: no record of 1 of 3 nodes: n3"* ]]
    [[ $(cells missing,missing_nodes -j 96) == '8|n3' ]]
}

@test "records that were written late are counted and named" {
    record 97 0 n1 0 100 200 '.delayed = true'
    record 97 0 n2 0 100 200 '.delayed = true'
    record 97 0 n2 0 50 200 '.delayed = true' # the same record, earlier
    record 97 1 n1 100 100 200
    complains 0 'apapi report: 97: 2 of 3 records were written late' report -j 97
    run -0 report -j 97 --json --format=jobid,records,delayed
    jq -e '.rows == [{jobid: "97", records: 3, delayed: 2}]' <<<"$output"
    [[ $(cells stepid,delayed --by step -j 97) == $'97.0|2\n97.1|0' ]]
}

@test "what a row says of itself does not depend on the order of the records" {
    record 92 0 n1 10 10 100 '.account = "second" | .name = "second"'
    record 92 1 n1 0 10 100 '.account = "first" | .name = "first"'
    tells 0 'first|first' cells account,name -j 92
    record 93 0 n1 30 10 100 '.account = "late" | .verified = true | .qos = "late"'
    record 93 1 n1 20 10 100 '.account = "early" | .verified = true'
    record 93 2 n1 0 10 100 '.account = "forged"'
    tells 0 'early|late' cells account,qos -j 93
    tells 0 'n1|anna||c1' cells node,user,account,cluster --by node # of a node it is what all of its jobs have in common
}

@test "CO2 and cost, with PUE" {
    record 97 0 n1 0 3600 1000 # 1 kWh from 10:00 to 11:00
    run -0 report -j 97
    [[ $output != *co2* ]]
    printf '[report]\nco2_g_per_kwh = 250\nprice_per_kwh = 0.3\ncurrency = EUR\npue = 1.2\n' >"$APAPI_CONFIG"
    chmod 600 "$APAPI_CONFIG"
    run -0 "$apapi" config --check
    run -0 report -j 97
    [[ ${lines[0]} == *co2*cost && ${lines[1]} == *"300.00 g"*"0.3600 EUR" ]]
    jq -e '.currency == "EUR" and .rows[0].cost == 0.36' <<<"$(report -j 97 --json)"
    printf '[report]\nco2_g_per_kwh = 500\n' >"$APAPI_CONFIG"
    tells 0 '500|' cells co2,cost -j 97
    run -0 report -j 97
    [[ ${lines[0]} == *co2* && ${lines[0]} != *cost* ]]
    record 90 0 n1 0 0.001 1 # neither g nor EUR
    printf '[report]\nco2_g_per_kwh = 1\nprice_per_kwh = 0.3\ncurrency = EUR\n' >"$APAPI_CONFIG"
    run -0 report -j 90
    [[ ${lines[1]} != *EUR* && ${lines[1]} != *" g"* ]]
    printf '[report]\nco2_g_per_kwh = 1\n' >"$APAPI_CONFIG"
    jq -e 'has("currency") | not' <<<"$(report -j 97 --json)"
    for wrong in x -3 nan 1e999 '1 2' 0-6:1; do
        printf '[report]\n\nco2_g_per_kwh = %s\n' "$wrong" >"$APAPI_CONFIG"
        tells 1 "*apapi.conf:3: co2_g_per_kwh: '$wrong' is not a number*" report -j 97
    done
}

@test "a reader that goes away, and no standard output" {
    record 100 0 n1 0 10 100
    copies 100 n1 101 140
    # whatever the caller does about SIGPIPE
    run -0 --separate-stderr bash -c "env --default-signal=PIPE '$apapi' report --acct-dir '$acct' -S 2026-01-01 | head -2"
    [[ ${#lines[@]} -eq 2 ]]
    run -1 bash -c "'$apapi' report --acct-dir '$acct' -S 2026-01-01 >&-"
    [[ $output == *"standard output"* ]]
    run -1 bash -c "'$apapi' report --acct-dir '$acct' -S 2026-01-01 >/dev/full"
}

# SHARE_J for the record of a step, and what else it says of it.
share() { # JOULES [METHOD]
    echo ".share = {method: \"${2:-cpu-time}\", idle: \"apart\", domains: {package: {energy_j: $1, uncertainty_j: 1}}, total: {energy_j: $1, uncertainty_j: 1}}"
}

@test "shares of a node that jobs share add up to no more than the node has used" {
    record 17 0 n1 0 100 200 "$(share 12000)"
    record 18 0 n1 1 100 200 "$(share 6000)"
    validate_records "$acct"/*/n1.jsonl
    run -0 cells jobid,energy,package,power,uncertainty
    [[ $output == $'17|20000|20000|200|\n18|20000|20000|200|' ]]
    run -0 cells jobid,energy,package,power,uncertainty --energy share
    [[ $output == $'17|12000|12000|120|1\n18|6000|6000|60|1' ]]
    tells 0 'n1|18000' cells node,energy --energy=share --by node
    run -0 --separate-stderr report -S 2026-01-01 --energy share
    [[ ${lines[0]} == *share* && ${lines[0]} != *energy* && $stderr == "" ]]
    run -0 report -S 2026-01-01 --energy share --json
    [ "$(jq -c '[.energy, (.rows[] | .share_j / 1000, .shareless, .energy_j)]' <<<"$output")" = '["share",12,0,null,6,0,null]' ]
    run -0 report -S 2026-01-01 --energy share --csv -o jobid,energy
    [[ ${lines[0]} == jobid,share_j ]]
    run -0 report -S 2026-01-01 --energy node --json
    [ "$(jq -c '[.energy, .rows[0].shareless]' <<<"$output")" = '[null,null]' ]
}

@test "a share with unknown idle power in it is named" {
    record 17 0 n1 0 100 200 "$(share 12000) | .share.idle = \"included\" | .share.domains.package.uncertainty_j = 12000"
    record 18 0 n1 0 100 200 "$(share 6000)"
    validate_records "$acct"/*/n1.jsonl
    run -0 cells jobid,energy,uncertainty,idle_included --energy share
    [[ $output == $'17|12000|12000|1\n18|6000|1|0' ]]
    run -0 --separate-stderr report -S 2026-01-01 --energy share
    [[ $stderr == *"17.0: idle power of n1 not known: energy and cost include it"* && $stderr != *18.0* ]]
}

@test "a step without a share is named, not counted as 0" {
    record 17 0 n1 0 100 200 "$(share 12000)"
    record 17 1 n1 0 100 200
    record 18 0 n1 0 100 200
    run -0 cells jobid,energy,shareless --energy share
    [[ $output == $'17|12000|1\n18||1' ]]
    run -0 --separate-stderr report -S 2026-01-01 --energy share
    [[ $stderr == *"17.1: no share on n1: the energy lacks it"* && $stderr == *"18.0: no share on n1"* ]]
    tells 2 '*--energy=half: valid are node and share*' report --energy half
}
