#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# apapi show: one job in full, from records written by hand.

load report_common

show() { "$apapi" show --acct-dir "$acct" "$@"; }

odd() { # the list of what is unusual, a line each
    show -v "$1" | sed '1,/^unusual$/d; s/^  //'
}

@test "the highest energy is n4's, 960 J, and nodes that end early are unusual: by up to 3.000 s" {
    for ((i = 1; i <= 4; i++)); do record 26 0 n$i 0 $i "$((i == 2 ? 241 : 240))" '.nodes = 4'; done
    tells 0 '*4 nodes, from 240.0 W to 241.0 W; highest energy n4, last to end n4*' show 26
    [[ $(odd 26) == *"step 0: n[1-3] ended before its last node, by up to 3.000 s"* ]]
    record 27 0 n1 0 95 200 # 5 % of the step's time
    record 27 0 n2 0 100 200
    record 28 0 n1 0 1 200 # a launch takes as long
    record 28 0 n2 0.1 1.8 200
    record 29 0 n1 0 50 200 '.complete = false | .reason = "the node was lost"'
    record 29 0 n2 0 100 200
    [[ -z $(odd 27) && -z $(odd 28) && $(odd 29) != *"before its last node"* ]]
}

@test "how its tasks ended" {
    record 60 0 n1 0 100 200 '.nodes = 2 | .tasks = 3 | .cores = 4 | .gpus = 1 | .exit_code = 0'
    record 60 0 n2 0 100 200 '.nodes = 2 | .tasks = 1 | .cores = 4 | .exit_code = 3 | .failed_tasks = 1'
    record 60 1 n1 100 100 200 '.tasks = 1 | .exit_code = 0 | .exit_signal = 9 | .failed_tasks = 1'
    record 60 2 n1 200 100 200 '.tasks = 1 | .exit_code = 0'
    record 60 3 n1 300 100 200
    run -0 show 60
    [[ $output =~ 0\ +2\ +4\ .*\ 3:0\ +app ]]
    [[ $output =~ 1\ +1\ +1\ .*\ 0:9\ +app && $output =~ 2\ +1\ +1\ .*\ 0:0\ +app && $output =~ 3\ +1\ +-\ .*\ -\ +app ]]
    [[ $(odd 60) == "step 0: 1 of 4 tasks failed, with exit status 3
step 1: 1 of 1 task failed, by signal 9" ]]
}

@test "limits that were crossed, a line for each threshold" {
    record 61 batch n1 0 100 200 '.crossings = [{threshold: "every 1kJ", time: .start, value: 1000, unit: "J", count: 1, action: "log"},
        {threshold: "budget of 2kJ of the job", time: .start, value: 2000, unit: "J", count: 1, action: "term@job", result: "not sent"},
        {threshold: "every 1kJ", time: .start, value: 3000, unit: "J", count: 3, action: "log"}]'
    [[ $(odd 61) == "step batch on n1: budget of 2kJ of the job: crossed (at 0.000 s with 2.000 kJ; not sent)
step batch on n1: every 1kJ: crossed (3 times, first at 0.000 s, last at 0.000 s with 3.000 kJ; log)" ]]
}

# The different powers between two 64ths of the time of a job, in the page of apapi plot, which has the same curve in numbers.
curve() { # JOB FROM TO
    "$apapi" plot --acct-dir "$acct" -f html -o - "$1" | sed -n 's|^<script type="application/json" id="model">\(.*\)</script>$|\1|p' |
        jq -c --argjson from "$2" --argjson to "$3" '.series[-1].power_w[$from * 240 / 64:$to * 240 / 64] | map(if . then round else . end) | unique'
}

two_domains='.domains.gpu = .domains.package | .timeline.gpu = .timeline.package'

@test "the curve has a gap where a meter was not read, and does not sink" {
    # the second step has not measured the GPU
    record 23 0 n1 0 100 200 "$two_domains"
    record 23 1 n1 100 100 200
    record 23 0 n2 0 200 300
    [[ $(curve 23 0 32) == '[700]' && $(curve 23 32 64) == '[null]' ]]
    # in the third quarter nothing is known of the GPU
    record 24 0 n1 0 100 200 "$two_domains | .domains.gpu.energy_j = 15000 | .timeline.gpu.n = [5000, 5000, null, 5000]"
    [[ $(curve 24 0 32) == '[400]' && $(curve 24 32 48) == '[null]' && $(curve 24 48 64) == '[400]' ]]
    # a node of which nothing is known over time
    record 25 0 n1 0 100 200
    record 25 0 n2 0 100 200 'del(.timeline)'
    [[ $(curve 25 0 64 2>&1) == *'have no power over time' ]]
    tells 0 '*power of all nodes*' show 23
    [[ $(show 25) != *"power of all"* ]]
    record 31 0 n1 0 100 200 'del(.timeline, .total) | .domains = {}'
    [[ $(show 31) == *"no domain was measured"* && $(show 31) != *"too short"* ]]
    # a domain that another node does not have at all
    record 26 0 n1 0 100 200 "$two_domains"
    record 26 0 n2 0 100 300
    [[ $(curve 26 0 64) == '[700]' ]]
}

@test "the curve: a node whose step has ended adds nothing, one whose record has ended is a gap" {
    record 27 0 n1 0 100 200
    record 27 0 n2 0 50 300
    [[ $(curve 27 0 32) == '[500]' && $(curve 27 32 64) == '[200]' ]]
    record 28 0 n1 0 100 200
    record 28 0 n2 0 50 300 '.complete = false | .reason = "the sampler was killed"'
    [[ $(curve 28 0 32) == '[500]' && $(curve 28 32 64) == '[null]' && $(show 28) == *"█?"* ]]
    record 29 0 n1 0 100 200
    record 29 0 n2 50 50 300 '.late_s = 25'
    [[ $(curve 29 0 16) == '[200]' && $(curve 29 16 32) == '[null]' && $(curve 29 32 64) == '[500]' ]]
    # the job was requeued, as n2 was lost
    record 30 0 n2 0 50 300 '.complete = false | .reason = "the node was lost"'
    record 30 0 n1 100 100 200 '.restarts = 1'
    [[ $(curve 30 0 16) == '[300]' && $(curve 30 16 32) == '[null]' && $(curve 30 32 64) == '[200]' ]]
    run -0 show 30
    [[ $output == *" 100.0 % of the node time of its runs, 2 min 30.0 s;"* && $output != *"?"* ]]
    [[ $("$apapi" show -f json -j 30.0 "$acct" | jq -c '[.[].node]') == '["n1"]' ]] # its last run
    # of which nobody knows how long it ran, and which another record knows
    record 34 0 n1 0 50 200 '.complete = false | .reason = "the sampler was killed"'
    record 34 0 n2 0 100 200
    record 34 batch n1 0 100 200
    [[ $(curve 34 0 64) == '[400]' ]]
}

@test "a requeued heterogeneous job: the runs of each component" {
    local first='.het_job = 33 | .het_offset = 0' second='.het_job = 33 | .het_offset = 1'
    for begin in 0 130; do
        record 33 batch n1 $begin 10 100 "$first"
        record 33 0 n1 $((begin + 1)) 8 100 "$first"
        record 34 0 n2 $begin 10 200 "$second | .exit_code = $((begin == 0 ? 9 : 0))"
        record 34 0 n3 $((begin + 1)) 9 200 "$second"
    done
    record 34 1 n2 140 10 200 "$second"
    run -0 show 33
    [[ ${lines[0]} == *"job 33  3 nodes  4 steps  30.0 s  in 2 runs" && $output == *"measured 75.5 % of 3 nodes x 30.0 s"* ]]
    [[ $(odd 33) != *"before its last node"* ]]
    [[ $(cells jobid,elapsed,measured,exit -j 33+1) == "33+1|30|80|0:0" ]] # as of the last run
    [[ $(cells stepid,elapsed -j 33+1 --by step) == $'33+1.0|20\n33+1.1|10' ]]
}

@test "UTF-8 where the locale has it, ASCII elsewhere; COLUMNS" {
    record 19 0 n1 0 100 200 '.domains.package.uncertainty_j = 1000'
    for locale in LANG=C LC_CTYPE=de_DE LC_ALL=POSIX; do
        run -0 env LANG=C.UTF-8 "$locale" "$apapi" show --acct-dir "$acct" 19
        [[ $output == *"+-5.0 %"*"|####"* && $output != *[█±]* ]]
    done
    for locale in LANG=C.UTF-8 LC_CTYPE=de_DE.utf8 LC_ALL=; do
        run -0 env "$locale" "$apapi" show --acct-dir "$acct" 19
        [[ $output == *"±5.0 %"*"|████"* && $output != *"|####"* && $output != *+-* ]]
    done
    COLUMNS=60 run -0 show 19
    [[ $(sed '1,/^trust/d' <<<"$output" | wc -L) -le 60 && $output == *$'environment of\n    the steps'* ]]
}

@test "sensors, coverage, incomplete, recovered, late" {
    record 22 0 n1 0 100 200 '.trust.covered = 0.5 | .complete = false | .reason = "the node was lost" | .recovered = true | .delayed = true |
        .components = [{name: "nvml", reason: "no GPU here"},
        {name: "rapl", source: "sysfs powercap", interval_s: 0.1, outages: 2, outage_s: 50, events:
        [{name: "rapl:::A", unit: "J", counter: true, scale: 1e-6, stuck: true, covered_s: 50, samples: 9, resets: 2, refused: 1, gaps: 1, stalls: 1, failed: 3}]}]'
    validate_records "$acct"/*/n1.jsonl
    run -0 odd 22
    [[ $output == "step 0 on n1: only 50.0 % of the time lies between good readings
step 0 on n1: incomplete: the node was lost
step 0 on n1: recovered from what was saved while it ran
step 0 on n1: written late
step 0 on n1: nvml: no GPU here
step 0 on n1: rapl could not be read 2 times, 50.0 s in all
step 0 on n1: rapl:::A is stuck: it never moved
step 0 on n1: a counter restarted, and nothing was counted across it, 2 times
step 0 on n1: a reading was implausible, 1 time
step 0 on n1: readings were so far apart that counter wraps may be missing, 1 time
step 0 on n1: an energy counter stood still, 1 time
step 0 on n1: a reading failed, 3 times" ]]
    tells 0 '*trust*1 was recovered from what was saved while the step ran*1 was written late, as*unusual*' show 22
    [[ $output == *"0 of 1 records are complete"*"cover 50.0 % of"*"took 0.10 s of"*"which the user controls"* && $output == *"unusual"*"stuck"* ]]
}

@test "what the energy lacks, and a counter that did not move in a short step" {
    record 26 0 n1 0 0.5 200 'del(.domains.package, .timeline) | .domains.dram = {energy_j: 5, mean_w: 10, covered: 0.6} |
        .total = {energy_j: 5, missing_domains: ["package"]} | .trust.unknown_domains = ["package"] |
        .components = [{name: "rapl", source: "sysfs powercap", interval_s: 0.1, events:
        [{name: "rapl:::A", unit: "J", counter: true, scale: 1e-6, still: true, covered_s: 0.5, samples: 5}]}]'
    validate_records "$acct"/*/n1.jsonl
    run -0 odd 26
    [[ $output == "step 0 on n1: the energy lacks package, which is not known
step 0 on n1: rapl:::A did not move, in too short a time to call it stuck" ]]
    tells 0 $'*\n  partial total *\n  total without package, whose energy is not known\n*' show 26
    [[ $output == *"measured 0.0 % of"* ]]
}

@test "texts are made safe for a terminal" {
    record 60 0 n1 0 10 100 '.job_name = "\u001b[31mred" | .name = "a\u0007b" | .complete = false | .reason = "\u001b]0;x"'
    run -0 show 60
    [[ $output == *'?[31mred'* && $output != *$'\e'* && $output != *$'\a'* ]]
}

@test "10 050 steps of another user that claim to be part of a job do not crowd out its own" {
    record 17 0 n1 100 80 200 '.uid = 1001'
    record 17 1 n1 200 80 200 '.uid = 1001'
    record 99 0 n0 0 1 100 '.uid = 1002 | .user = "bob" | .het_job = 17 | .het_offset = 1'
    forged=$(echo "$acct"/*/n0.jsonl)
    line=$(<"$forged")
    line=$line awk 'BEGIN { for (i = 0; i < 10050; i++) { line = ENVIRON["line"]; sub(/"step":"0"/, "\"step\":\"" i "\"", line); print line } }' >"$forged"
    run -0 --separate-stderr show 17
    echo "$output" | head -20
    [[ ${lines[0]} == "apapi: job 17  1 node  2 steps  3 min 0.0 s" && $output != *"had no room"* ]]
    [[ $stderr == *"records left out: another user's job claims to be part of this one"* ]]
}

@test "of much that is unusual 20 lines; -v shows all" {
    for ((i = 1; i <= 23; i++)); do record 70 0 n$i 0 10 100 '.nodes = 23 | .delayed = true'; done
    run -0 show 70
    [[ $(grep -c 'written late$' <<<"$output") -eq 20 && ${lines[-1]} == "  and 3 more; -v shows them" ]]
    [[ $(odd 70 | wc -l) -eq 23 ]]
}
