#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# apapi top: running steps of two users on nodes of 240 W each.

load common

setup_file() {
    start_simulated_cluster
}

teardown() {
    [[ ! -d ${APAPI_CLUSTER_DIR:-} ]] || cluster run scancel --quiet --user=bob
    undisturbed
}

# On a node, whose pages it has: everybody's for root.
top_on() { # NODE USER [OPTION...]
    cluster on "$1" setpriv --reuid "$2" --regid "$2" --init-groups "$install/bin/apapi" top "${@:3}"
}

look() { # NODE USER: one look, as JSON
    top_on "$1" "$2" -1 --json
}

are_measured() { # NODE STEPS SECONDS: so many steps, for so long
    look "$1" root | jq -e "[.steps[] | select(.state == \"running\" and .elapsed_s > $3)] | length == $2" >/dev/null
}

# Power is that of the latest interval, which is long, so that it matters little when exactly it is read, even where
# that is late; so many percent.
late_pct=20

# Alice's step on both nodes, bob's on n1 beside it; they end with the test.
start_steps() {
    as_alice srun -N2 -n2 --apapi=rapl --apapi-interval=2s --apapi-output=none -J alices sleep 1000 >/dev/null 2>&1 3>&- &
    eventually are_measured n1 1 0
    cluster run --user bob srun -w n1 -n2 --apapi=rapl --apapi-interval=2s --apapi-output=none -J bobs sleep 1000 >/dev/null 2>&1 3>&- &
    eventually are_measured n1 2 5
}

@test "root sees the steps of all, users their own; what has ended is gone" {
    start_steps
    run -0 look n1 root
    echo "$output" | "$repository/test/validate_records" --schema=docs/top.schema.json -
    holds "$output" '[.steps[] | [.node, .user, .job_name, .step, .tasks]] ==
        [["n1", "alice", "alices", "0", 1], ["n1", "bob", "bobs", "0", 2]] and .foreign == 0 and .dead == 0 and .broken == 0'
    run -0 look n1 alice
    holds "$output" '[.steps[].user] == ["alice"] and .foreign == 0'
    run -0 look n1 bob
    holds "$output" '[.steps[].user] == ["bob"] and .foreign == 0'
    run -0 look n2 root
    holds "$output" '[.steps[] | [.node, .user]] == [["n2", "alice"]]'
    run -0 look n2 bob
    holds "$output" '.steps == [] and .foreign == 0'
    cluster run scancel --user=bob
    eventually are_measured n1 1 0
    cluster run scancel --user=alice
    eventually are_measured n1 0 0
    tells 0 'apapi: no step is being measured on this machine  *' top_on n1 alice -1
}

@test "watts as they are, joules as long as it runs, the node's once" {
    start_steps
    run -0 look n1 root
    for domain in package:200 dram:40; do
        holds "$output" "all(.steps[], .nodes[]; (.domains.${domain%:*}.power_w / ${domain#*:} - 1 | fabs) < 0.01 * $late_pct)"
        holds "$output" "all(.steps[]; .elapsed_s as \$s | .domains.${domain%:*} | (.energy_j / ((\$s - .age_s) * ${domain#*:}) - 1 | fabs) < 0.005 * $late_pct)"
    done
    holds "$output" "all(.steps[], .nodes[]; (.total.power_w / 240 - 1 | fabs) < 0.01 * $late_pct and .total.age_s < 60)"
    first=$output
    eventually are_measured n1 2 "$(jq '.steps[0].elapsed_s + 2' <<<"$first")"
    run -0 look n1 root
    holds "[$first, $output]" "map(.steps[0] | {j: .total.energy_j, s: (.elapsed_s - .total.age_s)})
        | ((.[1].j - .[0].j) / (.[1].s - .[0].s) / 240 - 1 | fabs) < 0.005 * $late_pct"
    run -0 top_on n1 root -1
    [[ ${lines[0]} == "apapi: 2 steps  n1  "* && ${#lines[@]} -eq 6 ]]
    for line in 2 3 4; do
        watts=$(grep -oE '[0-9.]+ W' <<<"${lines[line]}" | head -n 1)
        awk -v w="${watts% W}" 'BEGIN { exit !(w > 190 && w < 290) }'
    done
    job=$(jq '.steps[0].job' <<<"$first")
    run -0 top_on n1 alice -1 -j "$job.0"
    [[ ${lines[2]} == "  $job.0  "*" alice "*" alices" ]]
    run -1 top_on n1 alice -1 -j "$((job + 1))"
}
