#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Dashboards and alert rules: each query is asked of a real Prometheus, or of a real MariaDB.

# bats file_tags=long
load report_common
load live
load mariadb
load ../eventually

setup_file() { server_begin; }

teardown_file() { server_end; }

setup() {
    common_setup
    monitoring=$repository/config/monitoring
    spool=$BATS_TEST_TMPDIR/spool live=$BATS_TEST_TMPDIR/live
    mkdir -p "$spool/n1" "$live"
}

# Each query of a dashboard in a line, its panel's title and a tab before it; Grafana's variables and macros replaced.
queries() { # FILE
    jq -r '(.templating.list[] | select(.type == "query" and .datasource.type == "mysql") | "variable \(.name)\t\(.definition)"),
        (.panels[] | .title as $title | .targets[] | "\($title)\t\(.expr // .rawSql)")' "$1" |
        sed "s/\$__unixEpochFrom()/1795132800/g; s/\$__unixEpochTo()/1795219199/g; s/\${cluster:sqlstring}/'c1','c2'/g
            s/\${job:sqlstring}/'7'/g; s/\$cluster/.*/g"
}

@test "the dashboards are what Grafana's model allows" {
    for file in "$monitoring"/grafana-*.json; do
        jq -e '(.uid | length | . >= 8 and . <= 40) and (.schemaVersion | type == "number") and (.title | type == "string") and
            ([.panels[].id] | length == (unique | length)) and
            # no panel is on another one, or right of the last column
            ([.panels[].gridPos | range(.x; .x + .w) as $x | range(.y; .y + .h) as $y | [$x, $y]] |
                length == (unique | length) and (map(.[0]) | max) < 24) and
            all(.panels[]; (.type | IN("stat", "timeseries", "table", "barchart")) and .fieldConfig.defaults.unit != null and
                ([.targets[].refId] | length > 0 and length == (unique | length)) and
                (.datasource.type as $type | all(.targets[].datasource; .uid == "${datasource}" and .type == $type))) and
            ([.panels[].targets[] | .expr // .rawSql | scan("\\$\\{?([a-z]\\w*)")[0]] - [.templating.list[].name]) == []' "$file"
    done
}

# Ask what a panel asks.
panel() { # FIRST WORDS OF ITS TITLE
    run -0 mariadb --no-defaults --socket="$server/socket" -N apapi -e "$(grep -P "^$1" asked | cut -f 2)"
}

# Metrics of apapi export for one node: two steps of anna that run, with the same name and numbers of their own, each with a
# checkpoint, a live page, a budget and a GPU; the script of the second one's job; and two steps that have ended and whose records
# wait, one of them with a domain that is not known.
write_metrics() {
    local job
    set_clock goes
    hold_pages '[7, 9] | map({node: "n1", job: ., step: "0", user: "anna", cluster: "c1", age_s: 90, start_s: 1795168800, budget_j: 5000,
        budget_used_j: (if . == 7 then 4700 else 4800 end),
        domains: {package: {now: (11 * .), total: (500 * .)}, dram: {now: 5, total: 300}, gpu: {now: (10 * .), total: 100}}}) |
        . + [.[1] | del(.budget_j) | .step = "batch"]'
    record 7 0 n1 0 60 50 '.trust.covered = 0.8'
    record 9 0 n1 0 60 50 '.account = "biology" | .trust.covered = 0.75'
    record 9 batch n1 0 60 50 '.account = "biology" | .trust.covered = 0.75'
    record 8 0 n1 0 100 50 '.delayed = true | .trust.unknown_domains = ["gpu"] | .trust.covered = 0.5'
    record 10 0 n1 0 100 50 '.delayed = true | .user = "ben"'
    mv "$acct"/*/n1.jsonl all
    for job in 7 8 9 10; do
        sed -n "/\"job\":$job,/p" all >"$spool/n1/$job.0-1.json"
    done
    exec 8<>"$spool/n1/7.0-1.json" 9<>"$spool/n1/9.0-1.json"
    flock 8
    flock 9
    "${clocked[@]}" "$apapi" export --acct-dir "$acct" --spool-dir "$spool" --live-dir "$live" -N n1 -S 2026-01-01 --prometheus \
        metrics 8>&- 9>&-
}

# For a network of its own: a Prometheus that reads the file metrics as it does by default, and our rules. Asks it the queries in
# the file asked, and those of the rules. Prints a line for each series of an answer: the title, the labels, the value.
ask_prometheus() {
    cat >prometheus.yml <<END
rule_files: ["$monitoring/prometheus-alerts.yml"]
scrape_configs:
  - job_name: node
    scrape_interval: 2s # a busy machine may need long for one, which would be a failure
    scrape_timeout: 2s
    static_configs: [{targets: ["127.0.0.1:8000"]}]
END
    cat >ask.py <<'END'
import json, sys, time, urllib.parse, urllib.request
def get(path):
    try:
        with urllib.request.urlopen("http://127.0.0.1:9090/api/v1/" + path, timeout=10) as answer:
            return json.load(answer)["data"]
    except urllib.error.HTTPError as error:
        return sys.exit(f"{urllib.parse.unquote(path)}: {error.read().decode()}")
def ask(query):
    return get("query?" + urllib.parse.urlencode({"query": query}))["result"]
end = time.monotonic() + 120
while True:
    try:
        if ask("apapi_records_waiting"):
            break
    except (OSError, ValueError):
        pass
    if time.monotonic() > end:
        sys.exit("Prometheus does not get ready")
    time.sleep(0.1)
asked = [line.rstrip("\n").split("\t", 1) for line in open("asked")]
asked += [(rule["name"], rule["query"]) for group in get("rules")["groups"] for rule in group["rules"]]
for title, query in asked:
    lines = sorted(" ".join([f"{name}={value}" for name, value in sorted(series["metric"].items())] +
                            [f"{float(series['value'][1]):g}"]) for series in ask(query))
    print(*[f"{title}: {line}" for line in lines or ["nothing"]], sep="\n")
END
    cat >inside <<'END'
set -e
ip link set lo up
python3 -m http.server --bind 127.0.0.1 8000 >/dev/null 2>&1 &
prometheus --config.file=prometheus.yml --storage.tsdb.path=data --web.listen-address=127.0.0.1:9090 >prometheus.log 2>&1 &
python3 ask.py || { tail -n 5 prometheus.log; exit 1; }
END
    unshare --net --pid --fork --kill-child --mount-proc bash inside
}

@test "panels of power-now and rules are right in a Prometheus that reads apapi export by default, two steps on a node" {
    ((EUID == 0)) || skip "needs root: namespaces"
    command -v prometheus >/dev/null # scripts/setup --test installs it
    write_metrics
    queries "$monitoring/grafana-power-now.json" >asked
    [[ $(wc -l <asked) -ge 10 ]]
    run -0 ask_prometheus
    cat >truth <<'END'
Power of all measured steps: 264
Nodes with measured steps: 1
Least coverage of a running step: 0.75
Records that wait for the accounting folder: 2
Power by node: cluster=c1 node=n1 264
Power by user: user=anna 264
Power by account: account=biology 194
Power by account: account=physics 152
Running steps of the highest power: cluster=c1 jobid=7 step=0 user=anna 152
Running steps of the highest power: cluster=c1 jobid=9 step=0 user=anna 194
Running steps of the highest power: cluster=c1 jobid=9 step=batch user=anna 194
Running steps of the highest energy: cluster=c1 jobid=7 step=0 user=anna 3900
Running steps of the highest energy: cluster=c1 jobid=9 step=0 user=anna 4900
Running steps of the highest energy: cluster=c1 jobid=9 step=batch user=anna 4900
Running steps with meters that cannot be read: cluster=c1 domain=gpu jobid=8 node=n1 step=0 1
ApapiNodeNotMeasured: nothing
ApapiExportStopped: nothing
ApapiMetersFail: cluster=c1 domain=gpu node=n1 1
ApapiCoverageLow: cluster=c1 node=n1 0.75
ApapiRecordsWait: instance=127.0.0.1:8000 2
ApapiRecordsSkipped: nothing
ApapiBudgetNear: cluster=c1 jobid=7 step=0 user=anna 0.94
ApapiBudgetNear: cluster=c1 jobid=9 step=0 user=anna 0.96
ApapiNodePowerHigh: nothing
END
    diff truth - <<<"$output"
}

@test "each panel of energy has an answer in a MariaDB that apapi import fills" {
    needs_server
    record 7 0 n1 0 100 50 '.uid = 1000 | .domains.package.uncertainty_j = 1 | .total.uncertainty_j = 1'
    record 7 0 n2 0 100 70 '.timeline = {bin_s: 40, package: {unit_j: 1, n: [2800, 1400, 1400], covered_pct: {"1": 50}}} |
        .domains.package.uncertainty_j = 1 | .total.uncertainty_j = 1 | .regions = [
        {name: "solve", count: 3, programs: 1, threads: 1, time_s: 50, method: "measured", domains: {package: {energy_j: 4000, power_w: 80}}},
        {kind: "idle", time_s: 40, method: "measured", domains: {package: {energy_j: 3000, power_w: 75}}},
        {name: "Solve", count: 1, programs: 1, threads: 1, time_s: 10, method: "measured", domains: {package: {energy_j: 1000, power_w: 100}}},
        {name: "read", count: 1, programs: 1, threads: 1, time_s: 40, method: "unknown"}]'
    # another cluster has the same number, another day
    record 7 0 n2 864000 100 70 '.cluster = "c2" | .regions = [
        {name: "solve", count: 1, programs: 1, threads: 1, time_s: 10, method: "measured", domains: {package: {energy_j: 2000, power_w: 200}}}]'
    record 8 0 n1 200 100 50 'del(.domains.package.energy_j, .total) | .complete = false | .reason = "the node has failed"'
    record 9 0 n3 200 100 50 '.domains.package.uncertainty_j = 1 | .total.uncertainty_j = 1 | .share = {method: "cpu-time", idle: "apart", domains: {package: {energy_j: 3000}}, total: {energy_j: 3000}}'
    echo '{"apapi":1,"type":"hour","cluster":"c1","node":"n3","start":"2026-11-20T10:00:00Z","end":"2026-11-20T11:00:00Z",'`
        `'"measured_s":3600,"domains":{},"total":{"energy_j":8000,"steps_j":4000,"idle_j":3600,"unattributed_j":400}}' \
        >"$acct/2026-11-20/n3.hours"
    record 10 0 n1 200 100 50
    record 11 0 n1 86400 100 50
    run -0 "$apapi" import --db "$url" --acct-dir "$acct"
    sql "set global time_zone = '+02:00'" # dashboards show days in UTC
    queries "$monitoring/grafana-energy.json" >asked
    while IFS=$'\t' read -r title query; do
        echo "$title: $query"
        rows=$(mariadb --no-defaults --socket="$server/socket" -N apapi -e "$query")
        [[ -n $rows && $rows != NULL ]]
    done <asked
    panel 'Energy\t'
    [[ $(awk '{ print $1 * 3.6e6 }' <<<"$output") == 22000 ]]
    panel 'Energy by day'
    [[ $(awk '{ print $1, $3 * 3.6e6 }' <<<"$output") == '1795132800 22000' ]]
    panel 'Uncertainty'
    [[ $(awk '{ print $1 * 3.6e6, $2 * 3.6e6 }' <<<"$output") == '3 5000' ]]
    panel 'Regions of job'
    [[ $(tr '\t' ' ' <<<"${lines[0]}") == 'c1 solve 3 50 4000 NULL 80' ]]
    [[ $(cut -f 1,2,5 <<<"$output" | tr '\t\n' ' |') == 'c1 solve 4000|c1 (idle) 3000|c2 solve 2000|c1 Solve 1000|c1 read NULL|' ]]
    panel 'Steps and nodes'
    [[ $(cut -f 1-4 <<<"$output") == $'c1\t0\t'*$'\tn1\nc1\t0\t'*$'\tn2\nc2\t0\t'*$'\tn2' ]]
    panel 'Nodes: what became'
    [[ $(awk '{ print $2, $3, $4 * 3.6e6, $5 * 3.6e6, $9 }' <<<"$output") == 'n3 2026-11-20 8000 3000 87.5' ]]
    # the curve of a job: four bins of 25 s; three of 40 s, of which one is half covered and the last ends with the record
    panel 'Power of job'
    [[ $(grep -c c1 <<<"$output") -eq 7 && $(awk -F '\t' '$2 == "c1 n2" { print $1 - 1795168800, $3 + 0 }' <<<"$output") == $'20 70\n60 70\n90 70' ]]
    [[ $(awk -F '\t' '$2 == "c1 n1" { print $1 - 1795168800 }' <<<"$output" | head -n 2 | tr '\n' ' ') == '12.5 37.5 ' ]]
}

@test "the alert rules are right for promtool, and fire when they should" {
    cp "$monitoring/prometheus-alerts.yml" "$BATS_TEST_DIRNAME/alerts.yml" .
    run -0 promtool check rules prometheus-alerts.yml
    run -0 promtool test rules alerts.yml
    # each rule has a case in which it fires
    run ! grep -vxFf <(sed -n 's/^ *- alertname: //p' alerts.yml) <(sed -n 's/^ *- alert: //p' prometheus-alerts.yml)
}
