#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# apapi top: running steps, from live pages written by hand.

load ../environment
load public
load live

setup() {
    live=$BATS_TEST_TMPDIR/live
    mkdir -p "$live"
    set_clock stands
    export COLUMNS=200 TERM=xterm APAPI_CONFIG=$BATS_TEST_TMPDIR/apapi.conf
    : >"$APAPI_CONFIG"
}

top() { "${clocked[@]}" "$apapi" top --dir "$live" "$@"; }

# Hold these pages until let_go. Where the clock goes, no figure grows old.
pages() { # JQ EXPRESSION
    local interval='{}'
    [[ ${clocked[2]} != LIVE_CLOCK=goes ]] || interval='{interval_s: 3600}'
    hold_pages '[def page(job; user): {node: "n1", job: job, step: "0", user: user, cluster: "c1", uid: 1000, age_s: 3600,
                domains: {package: ({now: 200, total: 1000} + '"$interval"'), dram: ({now: 40, total: 200} + '"$interval"')}}; '"$1"']'
}

# A column of the table of steps.
column() { # TITLE
    awk -v title="$1" 'NR == 2 { for (i = 1; i <= NF; i++) if ($i == title) column = i } NR > 2 { print $column }' <<<"$output"
}

# At a terminal of 24 lines and 80 columns.
person() { # [OPTION...]
    local words
    printf -v words '%q ' "${clocked[@]}" "$apapi" top --dir "$live" "$@"
    env -u COLUMNS script -qec "stty rows 24 cols 80; $words" /dev/null </dev/null
}

three_steps='page(17; "anna") * {job_name: "stream"}, page(18; "bert") * {step: "batch", domains: {package: {now: 300, total: 50}}},
    page(9; "anna") * {array_job: 8, array_task: 3, age_s: 7200, domains: {package: {now: 100}}}'

@test "a line for each step: watts now, joules so far; the node's meters once" {
    pages "$three_steps"
    run -0 top -1
    [[ ${#lines[@]} -eq 7 && ${lines[0]} =~ ^"apapi: 3 steps  n1  "20[0-9-]{8}" "[0-9:]{8}$ ]]
    [[ ${lines[1]} == "  step      user   elapsed    power  package     dram    energy  job name" ]]
    [[ ${lines[2]} =~ ^"  8_3.0     anna  02:00:00  140.0 W  100.0 W  40.00 W  1.200 kJ"$ ]]
    [[ ${lines[3]} =~ ^"  17.0      anna  01:00:00  240.0 W  200.0 W  40.00 W  1.200 kJ  stream"$ ]]
    [[ ${lines[4]} =~ ^"  18.batch  bert  01:00:00  340.0 W  300.0 W  40.00 W   250.0 J"$ ]]
    [[ ${lines[5]} =~ ^"  node                      "[134]40.0" W  "[123]00.0" W  40.00 W"$ ]]
    [[ ${lines[6]} == *"steps do not add up" ]]
}

@test "energies with how well they are known" {
    pages 'page(1; "a") * {domains: {package: {uncertainty_j: 4}, dram: {uncertainty_j: 2}}}, page(2; "a") * {domains: {package: {uncertainty_j: 4}}}'
    run -0 top -1
    [[ ${lines[2]} =~ "  1.200 kJ ±0.50 %"$ && ${lines[3]} =~ "1.200 kJ"$ ]]
    run -0 top -1 --json
    jq -e '.steps[0] | .total.uncertainty_j == 6 and .domains.dram.uncertainty_j == 2' <<<"$output"
    jq -e '.steps[1] | .domains.package.uncertainty_j == 4 and (.total | has("uncertainty_j") | not)' <<<"$output"
}

@test "what is not known is '-'; what may be wrong is marked" {
    pages 'page(1; "a") * {state: "starting", domains: null}, page(2; "a") * {state: "ended"},
        page(3; "a") * {domains: {package: {failed: true}}}, page(4; "a") * {domains: {package: {age_s: 11}}},
        page(5; "a") * {domains: {package: {age_s: 170, interval_s: 60}}}, page(6; "a") * {domains: {package: {estimated: true, age_s: 9}}},
        page(7; "a") * {domains: {package: {now: null}}}, page(8; "a") * {domains: {package: {torn: true}}},
        page(9; "a") * {state: "ended", domains: {package: {age_s: 100}}}'
    run -0 top -1
    [[ $(sed -n 's/^  \([1-9]\)[.]0 */\1 /p' <<<"$output" | sed 's/[0-9]*:[0-9:]*/T/; s/  */ /g') == \
        "1 a starting - - - - -
2 a ended T 240.0 W 200.0 W 40.00 W 1.200 kJ
3 a T !240.0 W !200.0 W 40.00 W !1.200 kJ
4 a T ?240.0 W ?200.0 W 40.00 W ?1.200 kJ
5 a T 240.0 W 200.0 W 40.00 W 1.200 kJ
6 a T *240.0 W *200.0 W 40.00 W *1.200 kJ
7 a T - - 40.00 W 1.200 kJ
8 a T - - 40.00 W -
9 a ended T 240.0 W 200.0 W 40.00 W 1.200 kJ" ]]
    [[ $output == *"! the latest"*"? not read"*"* estimated"* ]]
    run -0 top -1 --json
    [[ $(jq -c '.steps[].total | if . then [has("power_w"), (keys - ["power_w", "energy_j", "age_s"])[]] else . end' <<<"$output" | xargs) == \
        "null [true] [true,failed] [true,stale] [true] [true,estimated] [false] [false] [true]" ]]
}

@test "sorted by job, power, energy or time, what is not known last; of some users, jobs and nodes" {
    pages 'page(9; "anna") * {age_s: 7200, domains: {package: {now: 100, total: 500}}}, page(17; "bert") * {age_s: 3600,
        domains: {package: {now: null, total: 9000}}}, page(18; "carl") * {node: "n10", age_s: 1800, domains: {package: {now: 300, total: 50}}},
        page(10; "bert") * {state: "starting", domains: null}'
    # shellcheck disable=SC2086 # options
    while read -r options jobs; do
        [[ $(top -1 --json ${options//_/ } | jq -c '[.steps[].job]') == "$jobs" ]] || { echo "$options: not $jobs"; false; }
    done <<'TABLE'
--sort_job [9,10,17,18]
--sort_power [18,9,10,17]
--sort_energy [17,9,18,10]
--sort_time [9,17,18,10]
-u_bert,1000 [9,10,17,18]
-u_anna,carl [9,18]
-N_n[2-10] [18]
-N_n[1-3],m1 [9,10,17]
-j_17.0,18_-u_bert [17]
TABLE
}

@test "a screen has the first rows of many steps, says how many more there are, and keeps the node's row and the notes" {
    pages '[range(100; 140)] | .[] | page(.; "anna")'
    run -0 person -n 1 --sort=job
    [[ ${#lines[@]} -eq 23 && ${lines[0]} == *"apapi: 40 steps"* && ${lines[1]} == *"elapsed"* && ${lines[2]} == "  100.0"* ]]
    [[ ${lines[19]} == "  117.0"* && ${lines[20]} == "  22 more"* && ${lines[21]} == "  node "* && ${lines[22]} == *"steps do not add up"* ]]
    run -0 person -1
    [[ ${#lines[@]} -eq 44 && $output != *" more"* ]]
    let_go
    pages '[range(100; 118)] | .[] | page(.; "anna")'
    run -0 person -n 1
    [[ $output != *" more"* && $output == *"  117.0"* ]]
}

@test "for programs: a line for each look, as docs/top.schema.json says" {
    set_clock goes
    pages "$three_steps"', page(20; "x") * {state: "starting", domains: null}, page(21; "x") * {het_job: 20, het_offset: 1, state: "ended",
        domains: {node: {now: 500, failed: true}}}'
    top --json -d 0.1 -n 3 >"$BATS_TEST_TMPDIR/looks"
    [[ $(wc -l <"$BATS_TEST_TMPDIR/looks") == 3 ]]
    "$repository/test/validate_records" --schema=docs/top.schema.json "$BATS_TEST_TMPDIR/looks"
    jq -se 'length == 3 and all(.[]; [.steps[] | .job] == [9, 17, 18, 20, 21] and .nodes[0].steps == 5)' "$BATS_TEST_TMPDIR/looks"
    jq -se '.[0].steps[1] | .total.power_w == 240 and .total.energy_j == 1200 and .domains.dram.power_w == 40 and .elapsed_s > 3600 and
        .user == "anna" and .state == "running" and .job_name == "stream"' "$BATS_TEST_TMPDIR/looks"
    jq -se '[.[].steps[1].elapsed_s] | .[1] >= .[0] + 0.099 and .[2] >= .[1] + 0.099' "$BATS_TEST_TMPDIR/looks"
}

@test "root sees all steps, a user his own; the others are counted" {
    make_public
    publish "$apapi"
    away=$public/live
    rmdir "$live"
    mkdir "$away"
    ln -s "$away" "$live"
    pages 'page(17; "anna") * {gid: 65534}, page(18; "bert"), page(19; "carl")'
    run -0 top -1 --json
    jq -e '[.steps[].job] == [17, 18, 19] and .foreign == 0' <<<"$output"
    run -0 "${nobody[@]}" "$public/apapi" top --dir "$away" -1 --json
    jq -e '[.steps[].job] == [17] and .foreign == 2' <<<"$output"
    run -0 "${nobody[@]}" "$public/apapi" top --dir "$away" -1
    [[ ${lines[0]} == "apapi: 1 step  n1  "* && $output == *"  17.0"*$'\n  2 steps of other users are not shown' ]]
    let_go
    pages 'page(18; "bert")'
    run -0 "${nobody[@]}" "$public/apapi" top --dir "$away" -1
    [[ ${lines[0]} == "apapi: none of your steps is being measured on this machine  "* && ${lines[1]} == '  1 step of other users is not shown' ]]
    run -0 "${nobody[@]}" "$public/apapi" top --dir "$away" -1 -u bert
    [[ ${lines[0]} == "apapi: no such step is being measured on this machine  "* ]]
    chmod 700 "$away"
    tells 1 "apapi top: $away: Permission denied" "${nobody[@]}" "$public/apapi" top --dir "$away" -1
}

@test "a job that is not there: exit status 1; without -j none at all is no error" {
    tells 0 'apapi: no step is being measured on this machine  *' top -1
    tells 0 'apapi: no such step is being measured on this machine  *' top -1 -u nosuch
    run -1 top -1 -j 17
    [[ $output == "apapi: no such step is being measured on this machine  "* && ${#lines[@]} -eq 1 ]]
    run -1 --separate-stderr top -d 0.1 -n 2 --json -j 17
    [[ ${#lines[@]} -eq 2 && $stderr == "apapi top: no such step is being measured on this machine" ]]
    run -0 "$apapi" top --dir "$BATS_TEST_TMPDIR/nothing" -1
    : >"$BATS_TEST_TMPDIR/file"
    tells 1 "apapi top: $BATS_TEST_TMPDIR/file: Not a directory" top --dir "$BATS_TEST_TMPDIR/file"
    pages "$three_steps"
    run -0 top -1 -j 17
    run -1 top -1 -j 17.1
}

@test "pages of dead samplers, and files that are none" {
    pages 'page(17; "anna") * {locked: false}, page(18; "anna") * {version: 99}, page(19; "anna")'
    echo junk >"$live/n1/20.0"
    mkdir "$live/n1/21.0"
    run -0 top -1
    [[ $output == "apapi: 1 step  n1  "* && $output != *page* ]]
    tells 0 $'*\n  1 page left by a sampler that was killed\n  3 files are not a live page of this version' top -1 -v
    run -0 top -1 --json
    jq -e '.dead == 1 and .broken == 3' <<<"$output"
}

@test "into a pipe one table after the other, plain; at a terminal each update clears the screen" {
    set_clock goes
    pages "$three_steps"
    run -0 top -d .1 -n 3
    [[ $(grep -c '^apapi: 3 steps' <<<"$output") == 3 && $(grep -c '^$' <<<"$output") == 2 && $output != *$'\033'* ]]
    run -0 person -d 0.1 -n 2
    [[ $output == $'\033[H\033[2Japapi: 3 steps '*$'\033[H\033[2Japapi: 3 steps '* && $(tr -d '\r' <<<"${output#*2J}" | wc -L) -le 80 ]]
    run -0 person -1
    [[ $output == "apapi: 3 steps"* && $output != *$'\033'* ]]
    TERM=dumb run -0 person -n 1
    [[ $output == "apapi: 3 steps"* && $output != *$'\033'* ]]
    run -0 person --json -n 1
    [[ $output == '{"version":1,'* && $output != *$'\033'* ]]
    run -124 timeout 1 "${clocked[@]}" "$apapi" top --dir "$live" -d 60 # not before the time
    [[ $(grep -c '^apapi: 3 steps' <<<"$output") -le 1 ]]
    top -d 0.1 | head -n 1
}

@test "the folder is that of apapi.conf" {
    pages "$three_steps"
    echo "live_dir = $live" >"$APAPI_CONFIG"
    tells 0 'apapi: 3 steps  *' "${clocked[@]}" "$apapi" top -1
    echo "live_dir = off" >"$APAPI_CONFIG"
    tells 1 'apapi top: live_dir is off: running steps cannot be shown' "$apapi" top -1
    run -0 top -1
}
