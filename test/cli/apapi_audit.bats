#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# apapi audit: what nodes have used, and what became of it.

load report_common

# One hour of a node: 3600 J, of which steps got 2000, 1500 are idle and 100 nobody's.
hour() { # NODE DAY HOUR [JQ EXPRESSION that changes it]
    mkdir -p "$acct/$2"
    hours_of "$1" "$2" "[$3]" "${4:-.}" >>"$acct/$2/$1.hours"
}

hours_of() { # NODE DAY HOURS JQ-EXPRESSION: a line each
    jq -nc --arg node "$1" --arg day "$2" --argjson hours "$3" '
        {energy_j: 3600, steps_j: 2000, idle_j: 1500, unattributed_j: 100} as $sum | ($day + "T00:00:00Z" | fromdate) as $begin |
        $hours[] | ($begin + 3600 * .) as $start |
        {apapi: 1, type: "hour", cluster: "c1", node: $node, start: ($start | todate), end: ($start + 3600 | todate),
         measured_s: 3600, idle_w: 0.5, steps: 1, method: "cpu-time", domains: {package: $sum}, total: $sum,
         gaps: [], gaps_total: 0, resets: 0} | '"$4"
}

# All hours of a day, and the line of the day.
hours() { # NODE DAY [JQ EXPRESSION]
    mkdir -p "$acct/$2"
    hours_of "$1" "$2" "[$(seq -s , 0 23)]" "${3:-.}" >>"$acct/$2/$1.hours"
    printf '{"apapi":1,"type":"day","node":"%s","total":{"energy_j":86400}}\n' "$1" >>"$acct/$2/$1.hours"
}

# A step with a share of so many joules, half of what the node has used.
step() { # JOB NODE START(2024-03-05T10:00:00Z) LENGTH_S SHARE_J [JQ EXPRESSION]
    local share="{energy_j: $5, uncertainty_j: 1}"
    record "$1" 0 "$2" $(($(date -d "$3" +%s) - 1795168800)) "$4" "$((2 * $5 / $4))" "del(.timeline) | .domains.package.energy_j = 2 * $5 |
        .share = {method: \"cpu-time\", idle: \"apart\", interval_s: 1, domains: {package: $share}, total: $share} | ${6:-.}"
}

# So that the test begins and ends in the same hour, and the day's first line is not of the day before.
away_from_the_hour() {
    local second=$((EPOCHSECONDS % 3600))
    ((second >= 12)) || sleep $((12 - second))
    ((second <= 3540)) || sleep $((3612 - second))
}

audit() { "$apapi" audit --acct-dir "$acct" -S 2024-03-05T00:00:00Z -E 2024-03-06T00:00:00Z "$@"; }

# CSV as objects: numbers as such, no key without a value.
objects() {
    python3 -c 'import csv, json, sys
def value(key, text): return text if key in ("cluster", "node", "day", "missing") else json.loads(text)
for row in csv.DictReader(sys.stdin): print(json.dumps({key: value(key, text) for key, text in row.items() if text}))'
}

# FIELDS (a jq expression) of the rows, one line each, with numbers as every jq writes them.
rows() { # EXPRESSION [OPTION...]
    audit --csv "${@:2}" | objects | jq -c "$1"' | walk(if type == "number" then . + 0 else . end)'
}

@test "before the first line of a day there was no node sampler; a row with more than a day does not fill the gaps of others" {
    hours n1 2024-03-05 'select(.start >= "2024-03-05T20:00") | .total.steps_j = 0'
    hour n1 2024-03-05 14 '.start = "2024-03-05T14:32:00Z" | .measured_s = 1680 | .total.steps_j = 0'
    hours n2 2024-03-05 '.total.steps_j = 0'
    hour n2 2024-03-05 10 '.start = "2024-03-05T10:15:00Z" | .measured_s = 2700 | .total.steps_j = 0' # an overlap
    run -0 rows '[.node, .unmeasured_s]'
    [ "$output" = $'["n1",70320]\n["n2",0]' ]
    run -0 audit
    [[ ${lines[1]} == *"no node sampler before 14:32; hours missing 5 h 00 min 00 s" ]]
    [[ ${lines[3]} == *"  all "*"19 h 32 min 00 s"*"no node sampler yet 14 h 32 min 00 s; hours missing 5 h 00 min 00 s" ]]
}

@test "on the day of the installation the current hour is still open" {
    local hour
    away_from_the_hour
    hour=$(date -u +%FT%H)
    step 17 n1 "$hour:00:00Z" 5 100
    tells 1 'apapi audit: nothing to audit yet: the current hour is still open' "$apapi" audit --acct-dir "$acct"
    tells 1 'apapi audit: no node found in this time' "$apapi" audit --acct-dir "$acct" -N n2
}

# The next sampler may write the checkpoint of an hour that its sampler has written, too.
@test "of an hour and its checkpoint the longer one counts, in whatever order, in files and in a database" {
    local early='.end = "2024-03-05T04:30:00Z" | .measured_s = 1800 | .total |= map_values(. / 2) | .resets = 1 | .gaps = [{start: .start, elapsed_s: 7}]'
    hour n1 2024-03-05 4 "$early"
    hours n1 2024-03-05
    hour n1 2024-03-05 4 "$early"
    step 17 n1 2024-03-05T00:00:00Z 86400 48000
    run -0 rows '[.energy_j, .shares_j, .closure_pct, .unmeasured_s, .missing]'
    [ "$output" = '[86400,48000,100,0,null]' ]
    "$apapi" import --acct-dir "$acct" --db "sqlite:$BATS_TEST_TMPDIR/hours"
    run -0 sqlite3 "$BATS_TEST_TMPDIR/hours" 'SELECT count(*), sum(energy_j), sum(gaps + resets = 0) FROM apapi_hours'
    [ "$output" = '24|86400.0|24' ]
}

@test "today ends with the last full hour" {
    local today yesterday
    away_from_the_hour
    today=$(date -u +%F) yesterday=$(date -u -d yesterday +%F)
    hours n1 "$yesterday"
    hours n1 "$today"
    step 17 n1 "${yesterday}T00:00:00Z" 172800 96000
    run -0 "$apapi" audit --acct-dir "$acct" --csv -n
    [[ ${lines[0]} == "c1,n1,$yesterday,"*,0,100,* && ( ${#lines[@]} -eq 1 || ${lines[1]} == "c1,n1,$today,"*,0,100,* ) ]]
}

@test "a sampler that has ended in the present hour: up to its line" {
    local now end
    away_from_the_hour
    now=$(date +%s) end=$((now - 1))
    mkdir -p "$acct/$(date -u +%F)"
    printf '{"apapi":1,"type":"hour","cluster":"c1","node":"n1","start":"%s","end":"%s","measured_s":10,"steps":1,"method":"cpu-time","total":{"energy_j":100,"steps_j":60,"idle_j":30,"unattributed_j":10}}\n' \
        "$(date -u -d "@$((end - 10))" +%FT%TZ)" "$(date -u -d "@$end" +%FT%TZ)" >"$acct/$(date -u +%F)/n1.hours"
    step 17 n1 "$(date -u -d "@$((end - 10))" +%FT%TZ)" 5 60
    run -0 "$apapi" audit --acct-dir "$acct" --csv
    [ "$(objects <<<"$output" | jq -c '[.energy_j, .shares_j, .closure_pct, .records]')" = '[100,60,100,1]' ]
}

@test "the sum of all rows sets nothing off, and has the nodes of the BMC alone; clusters have names of their own" {
    hours n1 2024-03-05
    hours n1 2024-03-05 '.cluster = "c2" | .node_meter = .total | del(.total) | .domains = {}'
    step 17 n1 2024-03-05T00:00:00Z 86400 96000 '.cluster = "c2" | .share.domains = {node: {energy_j: 96000}} | del(.share.total)'
    run -0 audit
    [[ ${lines[*]} == *" cluster  node "*" c2 "*" records exceed hours 48.00 kJ "*" c1 "*" no record 48.00 kJ "*" all "*" 172.8 kJ "*" no record 48.00 kJ; records exceed hours 48.00 kJ" ]]
    step 18 n2 2024-03-05T00:00:00Z 86400 30000 # closure is of the nodes that have hours
    run -0 audit
    [[ ${lines[*]} == *" n2 "*" no hours "*" all "*" 172.8 kJ  126.0 kJ "*" 100.00 %  "* ]]
}

@test "records of hours that are missing: no closure, except after a gap; shares by the node's meter alone, without hours" {
    local some='select(.start < "2024-03-05T10:00" and (.start | endswith("T04:00:00Z") | not))'
    hours n1 2024-03-05 "$some"
    step 17 n1 2024-03-05T00:00:00Z 36000 20000
    hours n2 2024-03-05 "$some"' | select(.start | endswith("T05:00:00Z")).gaps = [{start: "2024-03-05T04:00:00Z", elapsed_s: 3600, reason: "sampler down"}]'
    step 18 n2 2024-03-05T00:00:00Z 36000 18000
    step 19 n3 2024-03-05T00:00:00Z 86400 30000 '.share.domains = {node: {energy_j: 30000}} | del(.share.total)'
    run -0 rows '[.node, .energy_j, .shares_j, .closure_pct, .missing]'
    [ "$(sort <<<"$output")" = '["n1",32400,20000,null,"hours missing 15 h 00 min 00 s; records without hours 1; records exceed hours 2.000 kJ"]
["n2",32400,18000,100,"sampler down 1 h 00 min 00 s; hours missing 14 h 00 min 00 s"]
["n3",null,30000,null,"no hours 1 d 00 h 00 min"]' ]
}

@test "bad lines are named, and skipped" {
    hours n1 2024-03-05
    echo '{"apapi":1,"type":"hour","node":"n1"}' >>"$acct/2024-03-05/n1.hours"
    complains 0 '*2024-03-05/n1.hours:26: record: start: is missing*' audit -v
    [[ ${lines[1]} == "  n1 "* ]]
    tells 1 '*1 line skipped (-v shows them)*' audit --strict
}
