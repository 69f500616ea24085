#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Runs of jobs, numbers that come again, and clocks that jump or differ: the same figures everywhere.

load report_common

# The record of a boot of its node: ..._since SECONDS of its first record, whatever the clock said.
since_boot() { # SECONDS [JQ EXPRESSION]
    printf '%s' ".boot = \"b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1\" | .monotonic_s = 1000 + $1 | ${2:-.}"
}

show() { "$apapi" show --acct-dir "$acct" "$@"; }

merged() { # JOB [JQ FILTER]
    cat "$acct"/*/*.jsonl | jq -c "select(.job == $1) | ${2:-.}" | "$apapi" show -f merged -
}

@test "the clock is set back while a batch step runs: what lies within it counts once" {
    record 1 batch n1 7200 7200 240 "$(since_boot 0)"
    record 1 0 n1 5400 3600 240 "$(since_boot 3600)" # it began an hour later, and the clock says half an hour earlier
    [[ $(cells energy,start,elapsed,measured -j 1) == '1728000|2026-11-20T12:00:00|7200|100' ]]
    tells 0 '*1.728 MJ*measured 100.0 % of 1 node x 2 h 00 min 00 s*unusual
  n1: its clock jumped back by 1 h 30 min 00 s; its time since boot says when its steps ran' show 1
    [[ $(grep -c "|$(printf '█%.0s' {1..64})|" <<<"$output") -eq 6 ]]
}

@test "the clock of one of two nodes is an hour ahead: 480 W everywhere" {
    record 4 0 n1 0 600 240 "$(since_boot 0 '.nodes = 2')"
    record 4 0 n2 3600 600 240 "$(since_boot 77 '.nodes = 2')"
    record 4 1 n2 4200 300 240 "$(since_boot 677 '.nodes = 1')"
    [[ $(cells energy,power,elapsed,measured -j 4) == '360000|400|900|83.3333' ]]
    [[ $(cells energy,power -j 4 --by step | head -n 1) == '288000|480' ]]
    tells 0 "*unusual
  n2: its clock is 1 h 00 min 00 s ahead of the other nodes'; its steps are taken to begin with theirs*" show 4
    merged 4 'select(.step == "0")' | jq -e '.total.mean_w == 480'
}

@test "a node crashes and boots with a wrong clock: only its second boot is moved" {
    local nodes='.nodes = 2' after='.nodes = 2 | .restarts = 1'
    record 10 0 n1 0 7200 240 "$(since_boot 0 "$nodes")"
    record 10 0 n2 0 1200 240 "$(since_boot 0 "$nodes | .complete = false | .reason = \"recovered\"")"
    record 10 0 n1 7800 3600 240 "$(since_boot 7800 "$after")"
    record 10 0 n2 3600 3600 240 "$(since_boot 0 "$after | .boot = \"c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2\"")" # 70 minutes behind
    for by in job step; do
        [[ $(cells elapsed,measured,start,end -j 10 --by $by) == '10800|72.2222|2026-11-20T10:00:00|2026-11-20T13:10:00' ]]
    done
    tells 0 '*3 h 00 min 00 s  in 2 runs*measured 72.2 % of 2 nodes x 3 h 00 min 00 s*clocks of nodes differ by 1 h 10 min 00 s*' show 10
}

@test "a job waits between two runs: that is no unmeasured time of it, and its last run says how it ended" {
    record 6 batch n1 0 100 240 '.verified = true | .exit_code = 1 | .complete = false | .reason = "cancelled"'
    record 6 0 n2 0 100 240 '.nodes = 2 | .exit_code = 15'
    record 6 0 n1 0 100 240 '.nodes = 2 | .exit_code = 15'
    record 6 batch n1 5000 100 240 '.verified = true | .restarts = 1 | .exit_code = 0'
    record 6 0 n1 5000 100 240 '.nodes = 2 | .exit_code = 0'
    record 6 0 n2 5000 100 240 '.nodes = 2 | .exit_code = 0'
    [[ $(cells energy,elapsed,measured,state,exit,restarts,nodes -j 6) == '96000|200|100|COMPLETED|0:0|1|2' ]]
    [[ $(cells jobid,measured -j 6 --by step) == $'6|100\n6|100' ]]
    [[ $(cells jobid,state -j 6) == "6|COMPLETED" ]]
    complains 0 '*6.batch: incomplete on n1: cancelled*' report -j 6
    tells 0 '*job 6  2 nodes  2 steps  3 min 20.0 s  in 2 runs*measured 100.0 % of 2 nodes x 3 min 20.0 s*' show 6
}

@test "runs that have no number begin on different nodes: the batch steps are not one step of several nodes" {
    record 16 batch n1 0 100 240 "$(since_boot 0 '.job_nodes = 2')"
    record 16 batch n2 2000 100 240 "$(since_boot 2000 '.job_nodes = 2')"
    [[ $(cells elapsed,measured,restarts,power -j 16) == '200|50|1|240' ]]
}

@test "a job runs again, and its batch step has no record of this run yet: the records that know their run tell it" {
    record 12 batch n1 0 100 240
    record 12 0 n1 0 100 240 '.nodes = 2'
    record 12 0 n1 5000 100 240 '.nodes = 2 | .restarts = 1'
    record 12 0 n2 5000 100 240 '.nodes = 2 | .restarts = 1'
    [[ $(cells elapsed,measured,missing,restarts -j 12) == '200|75|1|1' ]]
}

@test "a checkpoint's line beside the whole one says nothing of how a run ended" {
    record 7 batch n1 0 200 240 '.verified = true | .restarts = 0 | .exit_code = 1'
    record 7 0 n1 0 30 240 '.restarts = 0 | del(.exit_code) | .complete = false | .reason = "recovered"'
    record 7 0 n1 0 60 240 '.restarts = 0 | .exit_code = 0 | .exit_signal = 9'
    record 7 batch n1 5000 100 240 '.verified = true | .restarts = 1 | .exit_code = 0'
    [[ $(cells stepid,restarts,exit,state --by step -j 7) == $'7.0|0|0:9|FAILED\n7.batch|1|0:0|COMPLETED' ]]
}

@test "a number that comes again after 30 days is another job's, which was not requeued" {
    record 9 batch n1 0 100 240 '.verified = true | .exit_code = 0'
    record 9 batch n1 3000000 100 240 '.verified = true | .exit_code = 1'
    [[ $(cells jobid,restarts,state -j 9) == $'9|0|COMPLETED\n9|0|FAILED' ]]
}

@test "a number that comes again is another user's: both are there" {
    record 8 batch n1 0 100 240 '.uid = 1001 | .user = "alice" | .exit_code = 1'
    record 8 batch n1 90000 50 240 '.uid = 1002 | .user = "bob" | .exit_code = 0'
    [[ $(cells user,jobs,energy --by user -j 8) == $'alice|1|24000\nbob|1|12000' ]]
    [[ $(cells jobid,user,state -j 8) == $'8|alice|FAILED\n8|bob|COMPLETED' ]]
    [[ $(cells user,steps --by step -j 8) == $'alice|1\nbob|1' ]]
    prints 0 '*12.00 kJ*user       bob*' show 8
    [[ $stderr == "apapi show: 1 record left out: the number was an earlier job's, too" ]]
    tells 0 '*24.00 kJ*user       alice*' show -u alice 8
    tells 0 '*User/Account: bob/*Energy: 12.00 kJ*' show --brief 8
}

@test "numbers of arrays and heterogeneous jobs come again: the last job is shown" {
    local later=3000000 # seconds: more than 30 days
    local task='.uid = 1001 | .user = "alice" | .array_job = 30 | .array_task = 1'
    record 31 0 n1 0 100 240 "$task"
    record 34 0 n1 $later 50 240 "$task | .uid = 1002 | .user = \"bob\""
    prints 0 '*job 30_1 *12.00 kJ*user       bob*' show 30_1
    [[ $stderr == "apapi show: 1 record left out: the number was an earlier job's, too" ]]
    local component='.uid = 1001 | .user = "alice" | .het_job = 40'
    record 40 0 n1 0 100 240 "$component | .het_offset = 0"
    record 41 0 n2 0 100 240 "$component | .het_offset = 1"
    record 40 0 n1 $later 50 240 "$component | .het_offset = 0"
    record 41 0 n2 $later 50 240 "$component | .het_offset = 1"
    prints 0 '*job 40  2 nodes  2 steps  50.0*24.00 kJ*user       alice*' show 40
    [[ $stderr == "apapi show: 2 records left out: the number was an earlier job's, too" ]]
    tells 0 '*Energy: 24.00 kJ*' show --brief 40
}
