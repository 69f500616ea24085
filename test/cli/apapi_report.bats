#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# apapi report: what jobs have used, from records written by hand.

load report_common

@test "one mean power everywhere, 600 W: step, merged record, job, report, day, show" {
    for node in 1 2 3 4; do record 9 0 n$node 0 $node 240 ".nodes = 4 | .domains.package.max_w = 240"; done
    tells 0 '*4 nodes  4.000 s*' "$apapi" show -f table "$acct"
    [[ $output =~ package\ +2.400\ kJ\ +600.0\ W\ +240.0\ W\ +9[0-9]+.0\ W ]]
    [[ $output =~ total\ +2.400\ kJ\ +600.0\ W ]]
    [[ $output == *"mean: energy by time; min, max: all nodes together"* ]]
    "$apapi" show -f merged "$acct" >merged.json
    jq -e '[.domains.package, .total] | all(.mean_w == 600 and .max_w > 900 and .min_w == 240)' merged.json
    run -0 "$apapi" show --acct-dir "$acct" 9
    [[ $output =~ total\ +2.400\ kJ\ +600.0\ W && $output =~ 0\ +4\ .*\ 2.400\ kJ\ +600.0\ W ]]
    [[ $(cells power -X) == 600 && $(cells power --by step) == 600 && $(cells power --by day) == 600 ]]
}

@test "a day's part of a record is within its uncertainty, though the timeline is rounded" {
    record 40 0 n1 49090 86400 200.3 '.domains.package |= (.max_w = 200.3 | .uncertainty_j = 0.4) |
        .timeline = {bin_s: 10800, package: {unit_j: 10000, n: [216, 217, 216, 216, 217, 216, 216, 217]}}'
    TZ=UTC cells energy,uncertainty --by day | LC_ALL=C awk -F'|' -v truth=262393 '
        { error = $1 - (NR == 1 ? truth : 200.3 * 86400 - truth); bad += error > $2 || -error > $2 || $2 < 0.4 || $2 > 5001; print $1, error, $2 }
        END { exit bad || NR != 2 }'
}

@test "a day's part of a record is within its uncertainty, though the power changes at the end of bins" {
    record 41 0 n1 50375 200 475 '.domains.package |= (.min_w = 100 | .max_w = 700 | .uncertainty_j = 0) |
        .timeline = {bin_s: 100, package: {unit_j: 1, n: [25000, 70000]}}' # 25 s of 700 W until midnight, 75 s of 100 W
    [[ $(TZ=UTC cells energy,uncertainty --by day) == $'6250|11255\n88750|11255' ]]
    for u in 449 949 123; do # its column
        record $u 0 n2 0 10 100 ".domains.package.uncertainty_j = ${u}99"
    done
    [[ $(report -n -S 2026-01-01 -N n2 --format=uncertainty | xargs) == '12.4 kJ 45 kJ 95 kJ' ]]
}

@test "the nodes of a job are those that its batch step says, in its own row and in those of several jobs" {
    record 70 batch n1 0 100 200 '.job_nodes = 2'
    record 70 0 n1 10 10 200
    [[ $(cells measured,nodes,energy -X) == '50|2|20000' && $(cells measured --by user) == 50 && $(cells measured --by day) == 50 ]]
    [[ $(cells measured,nodes --by step) == $'100|1\n100|1' && $(cells measured --by node) == 100 ]]
    [[ $(cells measured -N n1) == 100 ]] # of this node
    tells 0 '*measured 50.0 % of 2 nodes*' "$apapi" show --acct-dir "$acct" 70
    "$apapi" import --db "sqlite:$BATS_TEST_TMPDIR/db" --acct-dir "$acct"
    [[ $(sqlite3 "$BATS_TEST_TMPDIR/db" 'SELECT node_s FROM jobs') == 200.0 ]]
}

@test "the time of a node is that with a record, whatever jobs overlap or follow one another" {
    record 71 batch n1 0 100 200
    record 72 0 n1 50 200 200 # beside two batch jobs
    record 73 batch n1 110 100 200
    record 74 0 n1 5000 50 200 '.complete = false | .reason = "stopped"'
    [[ $(cells elapsed,energy,measured --by node) == '300|60000|100' ]]
    complains 0 '*74.0: incomplete on n1: stopped*' report -S 2026-01-01 --by node
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

@test "missing nodes of a step by the records of others, if every node has one" {
    record 90 0 n1 0 100 200 '.nodes = 3'
    record 90 0 n2 0 50 200 '.nodes = 3'
    record 90 extern n2 0 100 100 '.nodes = 3'
    complains 0 '*90.0: no record of 1 of 3 nodes; there is one of n\[1-2\]*90.extern: no record of 2 of 3 nodes; there is one of n2' report -j 90
    record 90 extern n7 0 100 100 '.nodes = 3'
    complains 0 '*90.0: no record of 1 of 3 nodes: n7*90.extern: no record of 1 of 3 nodes: n1' report -j 90
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

@test "a list that is given in parts is all of it" {
    record 1 0 n1 0 100 200 '.job_name = "a"'
    record 2 0 n2 100 100 300 '.user = "ben" | .account = "bio" | .partition = "gpu" | .cluster = "c2" | .job_name = "b"'
    record 3 0 n3 200 100 400 '.user = "cy" | .account = "chem" | .partition = "big" | .cluster = "c3"'
    for words in '-j 1 -j 2' '-u anna --user ben' '-A physics -A bio' '-r batch -r gpu' '-M c1 -M c2' '-N n1 -N n2' '--name a --name b'; do
        read -ra words <<<"$words"
        tells 0 $'1|20000\n2|30000' cells jobid "${words[@]}" -o energy
    done
    complains 1 '*several jobs match: 1 of c1, 2 of c2;*' "$apapi" show --acct-dir "$acct" -j 1 -j 2
    record 2 0 n1 0 100 200 # the cluster is shown if there are several
    record 4 0 login 0 10 10 'del(.job) | .cluster = ""' # a record outside Slurm is of none
    prints 0 $'jobid       cluster     user *\n2           c1 *\n2           c2 *' report -j 2
    prints 0 'stepid        name *' report -S 2000-01-01 --by step -M c1
    prints 0 'jobid,user,*' report -j 2 --csv
}

@test "CO2 and cost, with PUE" {
    record 97 0 n1 0 3600 1000 # 1 kWh from 10:00 to 11:00
    run -0 report -j 97
    [[ $output != *co2* ]]
    printf '[report]\nco2_g_per_kwh = 250\nprice_per_kwh = 0.3\ncurrency = EUR\npue = 1.2\n' >"$APAPI_CONFIG"
    chmod 600 "$APAPI_CONFIG"
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

@test "a reader that goes away" {
    record 100 0 n1 0 10 100
    copies 100 n1 101 140
    # whatever the caller does about SIGPIPE
    run -0 --separate-stderr bash -c "env --default-signal=PIPE '$apapi' report --acct-dir '$acct' -S 2026-01-01 | head -2"
    [[ ${#lines[@]} -eq 2 ]]
}

@test "shares with unknown idle power are named, and so is what whole nodes' shares count twice" {
    local share='.share = {method: "cpu-time", idle: "apart", domains: {package: {energy_j: 6000, uncertainty_j: 1}}, total: {energy_j: 6000, uncertainty_j: 1}}'
    record 17 0 n1 0 100 200 "$share | .share.idle = \"included\" | .share.domains.package.uncertainty_j = 12000"
    record 18 0 n1 0 100 200 "$share"
    validate_records "$acct"/*/n1.jsonl
    tells 0 $'17|6000|12000|1\n18|6000|1|0' cells jobid,energy,uncertainty,idle_included --energy share
    run -0 --separate-stderr report -S 2026-01-01 --energy share
    [[ $stderr == *"17.0: idle power of n1 not known: energy and cost include it"* && $stderr != *18.0* && $stderr != *shared* ]]
    record 20 0 n2 0 100 60 "$share | .share.method = \"exclusive\"" # suspended after 40 s for the next one
    record 21 0 n2 40 100 60 "$share | .share.method = \"exclusive\""
    complains 0 '*nodes shared by jobs: 3.600 kJ counted more than once*' report -S 2026-01-01 --energy share --by user
    prints 0 '*"shared_j":3600,*' report -S 2026-01-01 --energy share --json
}
