#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# apapi regions: the regions in records, written by hand.

load report_common
load ../eventually

regions() { "$apapi" regions "$@"; }

@test "hostile names: nothing reaches the terminal, CSV quotes" {
    record 17 0 n1 0 10 100 '.regions = [{name: "a\u001b[31m", method: "measured", time_s: 1, domains: {package: {energy_j: 1}}},
        {name: "x,\"y\"", method: "measured", time_s: 1, domains: {package: {energy_j: 2}}},
        {name: "=SUM(1)", method: "measured", time_s: 1, domains: {package: {energy_j: 3}}}]'
    for form in table csv json; do
        run -0 regions -f $form --acct-dir "$acct" 17
        [[ $output != *$'\e'* && $output == *SUM* ]]
    done
    run -0 regions -f csv --acct-dir "$acct" 17
    [[ ${lines[1]} == ",'=SUM(1),,"* && ${lines[2]} == ',"x,""y""",,'* ]]
    python3 -c 'import csv, sys; rows = list(csv.DictReader(sys.stdin)); assert rows[0]["package_j"] == "3" and all(None not in row for row in rows)' <<<"$output"
}

# The jq expression for a record with regions: "a" and in it "a/b", idle, a figure of merit. JOULES of a/b.
with_regions() { # JOULES
    local region='{method: "measured", count: 10, programs: 2, threads: 4, time_s: 8}'
    cat <<END
        .regions = [$region + {name: "a/b", domains: {package: {energy_j: $1, uncertainty_j: 1}}},
                    $region + {name: "a", method: "estimated", domains: {package: {energy_j: 100, uncertainty_j: 20}}},
                    {kind: "idle", method: "estimated", time_s: 10, domains: {package: {energy_j: 200, uncertainty_j: 2}}}] |
        .foms = [{name: "iterations", value: 50, unit: "iterations", programs: 1}]
END
}

@test "a node without regions: its energy is in that of each result, and what no row has is told" {
    record 17 0 n1 0 10 100 '.nodes = 2 | .regions = [{name: "a", method: "measured", count: 1, programs: 1, threads: 1, time_s: 10,
        domains: {package: {energy_j: 1000, uncertainty_j: 1}}}] | .foms = [{name: "cells", value: 100, unit: "cells", programs: 1}]'
    record 17 0 n2 0 10 100 '.nodes = 2'
    record 17 batch n1 0 11 10
    run -0 regions --acct-dir "$acct" 17
    [[ ${lines[1]} == '  a '*'1.000 kJ'*'100.0 %'* && $output == *'1.000 kJ of the step are in no row: nodes without regions'*'100 cells, 20.00 J each'* ]]
    run -0 regions --acct-dir "$acct" -f json 17
    jq -e '.foms == [{name: "cells", value: 100, unit: "cells", energy_j_each: 20}]' <<<"$output"
}

@test "srun's table has the five costliest regions, the merged record all" {
    local i more='.'
    for ((i = 1; i <= 6; i++)); do more+=" | .regions += [{name: \"r$i\", method: \"measured\", time_s: 1, domains: {package: {energy_j: $((500 + i))}}}]"; done
    record 17 0 n1 0 10 100 "$(with_regions 700) | $more"
    record 17 0 n2 0 10 100 "$(with_regions 300)"
    run -0 "$apapi" show -f table "$acct"
    [[ $output =~ region\ +time\ +energy\ +mean\ +method.*a/b\ +16.0\ s\ +1.000\ kJ\ +±0.20\ %\ +62.5.*r6\ +1.000\ s\ +506.0\ J.*"3 more regions: apapi regions 17.0".*"100 iterations, 20.00 J each" ]]
    [[ $(wc -L <<<"$output") -le 80 && $output != *idle* ]]
    run -0 "$apapi" show -f merged "$acct"
    [[ $(jq -c '[.regions[0].name, .regions[0].domains.package.energy_j, (.regions | length), .regions[-1].kind, .foms[0].value]' <<<"$output") == '["a/b",1000,9,"idle",100]' ]]
    "$repository/test/validate_records" --schema=docs/merged.schema.json <(echo "$output")
}

@test "figures of merit whose sum is no number: the others are kept, and the merged record is valid" {
    record 17 0 n1 0 10 100 '.foms = [{name: "a", value: 1e308, programs: 1}]'
    record 17 0 n2 0 10 100 '.foms = [{name: "a", value: 1e308, programs: 1}, {name: "b", value: 1, programs: 1}]'
    run -0 "$apapi" show -f merged "$acct"
    jq -e '(.foms | map([.name, .value])) == [["a", 1e308], ["b", 1]] and .regions_lost.names == 1' <<<"$output"
    "$repository/test/validate_records" --schema=docs/merged.schema.json <(echo "$output")
}

# A sampler that knows marks, and writes them into $marks.
start_marks() {
    export APAPI_LIVE_PAGE=$BATS_TEST_TMPDIR/17.0
    marks=$BATS_TEST_TMPDIR/marks
    coproc SAMPLER { exec "$BATS_TEST_DIRNAME/fake_marks.py" "$APAPI_LIVE_PAGE" "$marks" 3>&-; }
    sampler=$SAMPLER_PID
    read -r -u "${SAMPLER[0]}" _
}

teardown() {
    [[ -z ${sampler:-} ]] || kill "$sampler"
}

mark() { "$apapi" mark "$@"; }

@test "marks of a script arrive in order" {
    start_marks
    tells 0 '' mark begin 'a region'
    run -0 --separate-stderr mark read 'a region'
    [[ $output == "1234.5 J ±2.0 %" && -z $stderr ]]
    run -0 --separate-stderr mark read vague
    [[ $output == "1234.5 J" && -z $stderr ]]
    run -0 mark end 'a region'
    run -0 mark fom cells -1.2e3 Gcells
    run -0 mark fom steps 5
    [[ $(<"$marks") == $'begin a region\nread a region\nread vague\nend a region\nfom cells -1200.0 Gcells\nfom steps 5.0 ' ]]
}

@test "a region around a command: its output, exit status and end by a signal stay" {
    start_marks
    run -3 --separate-stderr mark run solve -- sh -c 'cat; echo out; echo err >&2; exit 3' <<<in
    [[ $output == $'in\nout' && $stderr == err && $(<"$marks") == $'begin solve\nend solve' ]]
    # shellcheck disable=SC2016 # the inner shell's
    run -0 bash -c '"$1" mark run x sh -c "kill -TERM \$\$"; echo $?' _ "$apapi"
    [[ ${lines[-1]} == 143 ]]
    complains 127 "*$BATS_TEST_TMPDIR/none: No such file or directory*" mark run x -- "$BATS_TEST_TMPDIR/none"
    run -126 --separate-stderr mark run x -- "$BATS_TEST_TMPDIR"
    [[ $(tail -n 6 "$marks") == $'begin x\nend x\nbegin x\nend x\nbegin x\nend x' ]]
}

@test "a signal for a mark reaches its command, and the region ends" {
    start_marks
    # shellcheck disable=SC2016 # the inner shell's
    "$apapi" mark run x -- bash -c 'trap "touch \"$1.term\"; exit 5" TERM; touch "$1"; while :; do sleep 0.02; done' _ "$BATS_TEST_TMPDIR/up" 3>&- &
    eventually [ -e "$BATS_TEST_TMPDIR/up" ]
    kill $!
    wait $! || status=$?
    ((status == 5))
    [[ -e $BATS_TEST_TMPDIR/up.term && $(<"$marks") == $'begin x\nend x' ]]
}

@test "outside of a measured step a mark does nothing, and a script goes on whatever becomes of it" {
    for words in 'begin x' 'fom x nan'; do
        # shellcheck disable=SC2086 # words
        tells 0 '' mark $words
    done
    complains 0 '*this is no measured step: the variable APAPI_LIVE_PAGE is not set' mark -v begin x
    complains 1 '*no measured step*' mark --strict end x
    complains 7 '' mark run x -- sh -c 'exit 7'
    APAPI_LIVE_PAGE=$BATS_TEST_TMPDIR/none run -0 --separate-stderr mark begin x
    [[ $stderr == *"the sampler of $BATS_TEST_TMPDIR/none: No such file or directory" ]]
    APAPI_LIVE_PAGE=$(printf '/x%.0s' {1..200}) run -1 --separate-stderr mark --strict begin x
    [[ $stderr == *"File name too long" ]]
}

@test "what the sampler refuses is reported, and nobody waits for one that does not answer" {
    start_marks
    run -0 --separate-stderr mark end wrong
    [[ $stderr == "apapi mark: region wrong is?[31m not open" ]]
    run -0 --separate-stderr mark read new
    [[ -z $output && $stderr == *"the energy is not known yet" ]]
    complains 1 "*the step's sampler: Connection timed out" timeout 120 "$apapi" mark --strict begin silent
    complains 1 "*the step's sampler: Bad message" mark --strict begin foreign
}
