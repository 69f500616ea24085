#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# apapi export --prometheus: this node's steps as OpenMetrics text.

load report_common
load public
load live

setup() {
    common_setup
    spool=$BATS_TEST_TMPDIR/spool live=$BATS_TEST_TMPDIR/live
    mkdir -p "$spool/n1" "$live"
    set_clock stands
}

export_all() { # OPTION...
    "${clocked[@]}" "$apapi" export --acct-dir "$acct" --spool-dir "$spool" --live-dir "$live" -N 'n[1-9]' -S 2026-01-01 --prometheus "$@"
}

# Is standard input OpenMetrics, and the text that node exporter reads, for Prometheus' own Python client? Prints
# name and value of each sample with its labels in order.
samples() {
    /usr/bin/python3 -c '
import sys
from prometheus_client.openmetrics import parser as openmetrics
from prometheus_client import parser as text_format
text = sys.stdin.read()
families = list(openmetrics.text_string_to_metric_families(text))
values = lambda families: sorted((s.name, sorted(s.labels.items()), s.value) for f in families for s in f.samples)
assert values(families) == values(text_format.text_string_to_metric_families(text)), "the formats differ"
for family in families:
    for sample in family.samples:
        labels = " ".join(f"{key}={value!r}" for key, value in sorted(sample.labels.items()))
        print(f"{sample.name} {family.type} {family.unit or None} {sample.value:g} {labels}".rstrip())
'
}

@test "steps are OpenMetrics, with their labels" {
    record 7 0 n1 0 100 50
    record 8 batch n1 10 20 30 '.domains.dram = {energy_j: 40, mean_w: 2} | .account = "a\"b\\c\nd" | .qos = "\u001b[2J\r" | .trust.covered = 0.5'
    export_all text.prom
    run -0 samples <text.prom
    labels="cluster='c1' domain='package' jobid='7' node='n1' step='0' user='anna'"
    [[ $output == *"apapi_step_energy_joules_total counter joules 5000 $labels"* ]]
    [[ $output == *"apapi_step_power_watts gauge watts 50 $labels"* ]]
    [[ $output == *"apapi_step_elapsed_seconds gauge seconds 20 cluster='c1' jobid='8' "* ]]
    [[ $output == *"apapi_step_info gauge None 1 account='a\"b\\\\c?d' cluster='c1' job_name='run' jobid='8' node='n1' partition='batch' qos='?[2J?' "* ]]
    [[ $output == *"apapi_step_covered_ratio gauge ratio 0.5 "* ]]
    [[ $(grep -c domain= <<<"$output") -eq 6 && $(grep -c '^apapi_step_running gauge None 0 ' <<<"$output") -eq 2 ]]
    [[ $output == *'apapi_records_skipped gauge None 0'$'\n''apapi_records_waiting gauge None 0' ]]
    [[ $(tail -n 1 text.prom) == '# EOF' ]]
}

@test "without any record the text is whole, and a folder that was named must be there" {
    run -0 --separate-stderr export_all -
    samples <<<"$output"
    [[ $output == *'# EOF' && $output != *'{'* && -z $stderr ]]
    rm -r spool
    run -0 --separate-stderr export_all -
    rmdir acct
    run -1 export_all out.prom
    [[ $output == "apapi export: $acct: No such file or directory" && ! -e out.prom ]]
}

@test "a running step is as far as its checkpoint, and the whole record replaces it" {
    record_line 7 0 n1 0 60 50 >spool/n1/7.0-1.json
    exec 9<>spool/n1/7.0-1.json
    flock 9
    run -0 --separate-stderr export_all - -S now 9>&-
    samples <<<"$output"
    [[ $output == *'apapi_step_running{'*'jobid="7"'*'} 1'* && $output == *'} 3000'* ]]
    record 7 0 n1 0 100 50
    run -0 --separate-stderr export_all - 9>&-
    samples <<<"$output"
    [[ $output == *'apapi_step_running{'*'jobid="7"'*'} 0'* && $output == *'} 5000'* && $output != *'} 3000'* ]]
}

@test "a spooled record whose owner is gone belongs to a step that has ended" {
    record_line 7 0 n1 0 60 50 >spool/n1/7.0-1.json
    run -0 --separate-stderr export_all -
    [[ $output == *'apapi_step_running{'*'} 0'* && $output == *'apapi_records_waiting 0'* ]]
    # only a record that could not be written waits
    record_line 8 0 n1 0 60 50 '.delayed = true' >spool/n1/8.0-1.json
    record 9 0 n1 0 60 50 '.delayed = true'
    run -0 --separate-stderr export_all - -S now
    [[ $output != *'apapi_step_running{'* && $output == *'apapi_records_waiting 1'* ]]
}

@test "a record from the checkpoint of a sampler that died has no energy: the counter was higher" {
    record_line 7 0 n1 0 60 50 '.recovered = true | .complete = false' >spool/n1/7.0-1.json
    exec 9<>spool/n1/7.0-1.json
    flock 9
    run -0 --separate-stderr export_all - 9>&-
    [[ $output == *'apapi_step_energy_joules_total{'*'} 3000'* ]] # the sampler lives
    exec 9>&-
    run -0 --separate-stderr export_all -
    [[ $output == *'apapi_step_power_watts{'*'} 50'* && $output != *'apapi_step_energy_joules_total{'* ]]
    rm spool/n1/7.0-1.json
    record 7 0 n1 0 60 50 '.recovered = true | .complete = false'
    run -0 --separate-stderr export_all -
    [[ $output == *'apapi_step_power_watts{'*'} 50'* && $output != *'apapi_step_energy_joules_total{'* ]]
}

@test "a running step is as its live page says, and its checkpoint tells the rest" {
    hold_pages '[{node: "n1", job: 7, step: "0", user: "anna", cluster: "c1", age_s: 90, start_s: 1795168800,
        domains: {package: {now: 77, total: 4500}, dram: {now: 5, total: 300, failed: true}}},
        {node: "n1", job: 8, step: "0", user: "anna", cluster: "c1", age_s: 2, domains: {package: {now: 33, total: 60, age_s: 100}},
            budget_j: 5000, budget_used_j: 120.5},
        {node: "n1", job: 9, step: "0", state: "starting"}, {node: "n1", job: 12, step: "0", uid: 7, age_s: 61, domains: {}},
        {node: "n1", job: 13, step: "0", uid: 7, age_s: 59, domains: {package: {now: 1, total: 2}}}, {node: "x1", job: 10, step: "0"}, {node: "n1", job: 11, step: "0", locked: false}]'
    record_line 7 0 n1 0 60 50 '.trust.unknown_domains = ["package"]' >spool/n1/7.0-1.json
    record_line 14 0 n1 0 59 50 'del(.user) | .uid = 7' >>spool/n1/7.0-1.json
    exec 9<>spool/n1/7.0-1.json
    flock 9
    export_all text.prom -S now 9>&-
    run -0 samples <text.prom
    seven="cluster='c1' jobid='7' node='n1' step='0' user='anna'" seven_package=${seven/jobid/"domain='package' jobid"}
    [[ $output == *"apapi_step_energy_joules_total counter joules 4500 $seven_package"* ]]
    [[ $(grep -c "^apapi_step_energy_joules_total .* jobid='7'" <<<"$output") -eq 2 ]]
    [[ $output == *"apapi_step_power_watts gauge watts 50 $seven_package"* ]]
    [[ $output == *"apapi_step_present_power_watts gauge watts 77 $seven_package"* ]]
    [[ $(grep -c '^apapi_step_present_power_watts ' <<<"$output") -eq 1 ]] # neither a failed nor an old one
    [[ $output == *"apapi_step_budget_joules gauge joules 5000 ${seven/7/8}"*"apapi_step_budget_used_joules gauge joules 120.5 ${seven/7/8}"* ]]
    [[ $(grep -c ^apapi_step_budget <<<"$output") -eq 2 && $output != *domain_unknown* ]]
    [[ $output == *"apapi_step_covered_ratio gauge ratio 1 $seven"* ]]
    [[ $output =~ "apapi_step_elapsed_seconds gauge seconds "90" $seven" ]]
    [[ $output == *"apapi_step_info gauge None 1 account='physics' "*"jobid='7'"* ]]
    # a step without a checkpoint is there, too
    [[ $output == *"apapi_step_energy_joules_total counter joules 60 "*"jobid='8'"* && $output == *"apapi_step_running gauge None 1 "*"jobid='8'"* ]]
    # in its first minute, a step waits for the name of its user: a late label would begin new series
    [[ $(grep -c '^apapi_step_running ' <<<"$output") -eq 3 && $output == *"running gauge None 1 jobid='12'"* ]]
    [[ $output == *'apapi_records_skipped gauge None 0'* ]]
    # the record has been written, the page is still there
    record 7 0 n1 0 100 50
    export_all text.prom 9>&-
    run -0 samples <text.prom
    [[ $output == *"apapi_step_energy_joules_total counter joules 5000 $seven_package"* && $output == *"apapi_step_running gauge None 0 $seven"* ]]
    [[ $(grep -c "^apapi_step_energy_joules_total .* jobid='7'" <<<"$output") -eq 1 && $output != *present_power_watts*"jobid='7'"* ]]
}

@test "without live pages, and with what is none" {
    rmdir "$live"
    run -0 --separate-stderr export_all -
    samples <<<"$output"
    mkdir -p "$live/n1"
    echo 'no page' >"$live/n1/7.0"
    run -0 --separate-stderr export_all -
    samples <<<"$output"
    [[ $output == *'apapi_records_skipped 1'* ]]
    echo 'live_dir =' >apapi.conf
    prints 0 '*apapi_records_skipped 0*' "$apapi" export --acct-dir "$acct" --spool-dir "$spool" -N n1 --prometheus -
}

@test "files of the spool that are no records are counted, others are not looked at" {
    echo 'no record' >spool/n1/8.0-1.json
    mkfifo spool/n1/9.0-1.json
    ln -s /etc/passwd spool/n1/10.0-1.json
    record_line 11 0 n1 0 60 50 >spool/n1/11.0-1.json.new
    record_line 12 0 n1 0 60 50 >spool/n1/12.0-1.json.bad
    echo text >spool/file
    run -0 --separate-stderr timeout 120 "$apapi" export --acct-dir "$acct" --spool-dir "$spool" -N n1 --prometheus - -v
    samples <<<"$output"
    [[ $output != *'step="'* && $output == *'apapi_records_skipped 2'* && $stderr == *'8.0-1.json:1: '* ]]
}

@test "--since and --nodes choose, the default is the last hour of this host" {
    now=$(($(date +%s) - 1795168800))
    host=$(hostname -s)
    record 1 0 "$host" $((now - 3000)) 60 50
    record 2 0 "$host" $((now - 9000)) 60 50
    record 3 0 other $((now - 3000)) 60 50
    list() { "$apapi" export --acct-dir "$acct" --spool-dir "$spool" --prometheus - "$@" |
        sed -n 's/^apapi_step_running{.*jobid="\([0-9]*\)".*/\1/p' | tr '\n' ' '; }
    [[ $(list) == '1 ' ]]
    [[ $(list -S 3h) == '1 2 ' ]]
    [[ $(list -N other) == '3 ' ]]
}

@test "a file is replaced at once, and everybody may read it" {
    record 7 0 n1 0 100 50
    umask 077
    echo old >a.prom
    exec 8<a.prom
    export_all a.prom 8<&-
    [[ $(cat <&8) == old && $(stat -c %a a.prom) == 644 && $(ls) == $'a.prom\nacct\napapi.conf\nlive\nspool' ]]
    samples <a.prom
    run -0 --separate-stderr export_all a.txt
    [[ $stderr == *'a.txt: node exporter reads files only whose name ends in .prom' && -s a.txt ]]
    tells 1 '*nowhere/a.prom: No such file or directory' export_all nowhere/a.prom
}

@test "what is not a regular file is left alone" {
    mkfifo pipe.prom
    ln -s elsewhere link.prom
    run -1 export_all pipe.prom
    [[ $output == 'apapi export: pipe.prom: not a regular file' && -p pipe.prom ]]
    run -1 export_all link.prom
    [[ -L link.prom && ! -e elsewhere ]]
    run -1 export_all /dev/null
    [[ -c /dev/null ]]
    run -1 export_all .
}

@test "a file that cannot be written whole does not replace the old one" {
    record 7 0 n1 0 100 50
    echo old >a.prom
    run -1 bash -c 'ulimit -f 0; trap "" XFSZ; exec "$@"' - "$apapi" export --acct-dir "$acct" --spool-dir "$spool" --prometheus a.prom
    [[ $output == *'a.prom: File too large' && $(cat a.prom) == old && $(ls) == $'a.prom\nacct\napapi.conf\nlive\nspool' ]]
}

@test "apapi.conf says where, if nobody else does" {
    record 7 0 n1 0 100 50
    mkdir metrics
    printf '%s\n' "prometheus_dir = $PWD/metrics" "acct_dir = $acct" "spool_dir = $spool" >apapi.conf
    "$apapi" export --prometheus -N n1 -S 2026-01-01
    tells 0 "*jobid='7'*" samples <metrics/apapi.prom
    rm -r acct # there has been no step yet
    "$apapi" export --prometheus= -N n1 -S 2026-01-01
    run ! grep 'jobid="7"' metrics/apapi.prom
}

@test "others than root are told whose the folders are" {
    make_public
    publish "$apapi"
    mkdir -m 700 "$public/acct"
    tells 1 "*Permission denied; the site's folders are root's" "${nobody[@]}" "$public/apapi" export --acct-dir "$public/acct" --prometheus -
}
