#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# apapi show: the nodes' records of a step as one report.

load report_common

# A record: 100 W in the package for SECONDS.
record() { # JOB STEP NODE SECONDS
    record_line "$1" "$2" "$3" 0 "$4" 100 'del(.timeline, .user, .total) | .nodes = 3 | .domains.package |= {energy_j, mean_w} |
        .name = "stream" | .components = [{name: "rapl", source: "sim", interval_s: 0.1, events: []}]'
}

merge() { "$apapi" show -f table "$@"; }

total_j() { # OPTIONS AND FILES
    merge -f json "$@" | jq '[.[].domains.package.energy_j] | add'
}

@test "-j names the step, and the others do not matter" {
    { record 7 0 n1 10; record 7 1 n1 20; record 8 batch n1 30; record 7 0 n2 10; } >file
    tells 1 'apapi show: records of several steps: 7.0, 7.1; select one with -j' merge file
    tells 1 '*several steps*' merge -j 7 file
    [[ $(total_j -j 7.0 file) -eq 2000 && $(total_j -j 7.1 file) -eq 2000 ]]
    [[ $(total_j -j 8 file) -eq 3000 && $(total_j -j 8.batch file) -eq 3000 ]]
    tells 1 'apapi show: no record of this job in the files' merge -j 9 file
    tells 1 '*no record of this job in the files' merge -j 7.2 file
    tells 1 'apapi show: no record in the files' merge /dev/null
    { record 7 0 n3 10 | sed 's/"cluster":"c1",//'; cat file; } >nameless
    [[ $(total_j -j 7.0 nameless) -eq 3000 ]]
    record 7 0 n3 10 | sed 's/"c1"/"c2"/' >>file
    tells 1 "apapi show: records of several clusters: c1, c2; select one with -M" merge -j 7.0 file
    [[ $(total_j -j 7.0 -M c1 file) -eq 2000 ]]
}

# --- the merged record ----------------------------------------------------------------------------------

# It is as docs/merged.schema.json says, and each EXPRESSION holds.
merged_holds() { # FILE EXPRESSION...
    [[ $(wc -l <"$1") -eq 1 ]]
    "$repository/test/validate_records" --schema=docs/merged.schema.json "$1"
    for expression in "${@:2}"; do
        jq -e "$expression" "$1" >/dev/null || {
            echo "not so: $expression"
            cat "$1"
            return 1
        }
    done
}

@test "merged: one object, of which the sums are those of the nodes and of the table" {
    for node in n1 n2 n10; do record 7 0 $node 10 >$node.jsonl; done
    merge -f merged -N 'n[1-3,10]' n10.jsonl n1.jsonl n2.jsonl >out.json
    merged_holds out.json '.job == 7 and .step == "0" and .name == "stream" and (has("node") | not)' \
        '.nodes == 4 and .recorded == 3 and (.complete | not)' \
        '.missing == [{"node":"n3","reason":"no record in the files"}] and .incomplete == []' \
        '.domains.package == {"energy_j":3000,"mean_w":300,"nodes":3} and .total.energy_j == 3000' \
        '([.per_node[].energy_j] | add) == .total.energy_j and [.per_node[].node] == ["n1","n2","n10"]' \
        '.start == "2026-11-20T10:00:00.000000000Z" and .end == "2026-11-20T10:00:10.000000000Z"' \
        '.elapsed_s == 10 and .trust.covered == 1 and .components == [{"name":"rapl","source":"sim","nodes":3}]'
    tells 0 '*total of 3 nodes*3.000 kJ*300.0 W*' merge -N 'n[1-3,10]' n10.jsonl n1.jsonl n2.jsonl
    for node in n1 n2 n10; do record 7 0 $node 10; done | merge -f merged - >out.json
    merged_holds out.json '.complete and .nodes == 3'
}

@test "merged: what differs between nodes is left out, an incomplete one is named, hostile texts stay texts" {
    { record 7 0 n1 10 | jq -c '.user = "alice" | .exit_code = 0'
      record 7 0 n2 10 | jq -c '.user = "bob" | .exit_code = 3 | .complete = false | .reason = "killed\n\"]}"'
      record 7 0 n3 10 | jq -c '.user = "bob" | .node = "\u001b[31m\"},{" | .domains = {} | .components = [{name:"nvml",reason:"no\ndriver"}]'
    } >file
    merge -f merged file >out.json
    merged_holds out.json '(has("user") or has("exit_code") | not) and .job == 7' \
        '.incomplete == [{"node":"n2","reason":"killed\n\"]}"}] and (.complete | not) and .missing == []' \
        '.notes == [{"component":"nvml","verdict":"not measured","reason":"no\ndriver","nodes":1,"names":["\u001b[31m\"},{"]}]' \
        '.per_node | map(has("energy_j")) == [false, true, true]'
}
