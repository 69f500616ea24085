#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# apapi-verify: simulated measurements against a known truth.

load ../environment

setup() {
    verify=$(cd "$BATS_TEST_DIRNAME/../.." && pwd -P)/build/release/test/verify/apapi-verify
}

@test "a seed always makes the same runs, another one others" {
    run -0 --separate-stderr "$verify" -e late -n 5 --each
    [[ ${#lines[@]} -eq 14 && $stderr == "" ]]
    same=$output
    [[ ${lines[3]} == "late-after --seed 3: "*" J, true "*", uncertainty "*", interval "* ]]
    run -0 "$verify" -e late -n 5 --each
    [[ $output == "$same" ]]
    run -0 "$verify" -e late-after -n 1 --seed 3 --each
    [[ ${lines[1]} == "$(grep -- '^late-after --seed 3:' <<<"$same")" ]]
    run -0 "$verify" -e late -n 5 --seed 6 --each
    [[ $output != "$same" ]]
}

@test "each kind of runs in JSON, with the sums, as --list has them" {
    run -0 --separate-stderr "$verify" -n 3 -f json
    [[ ${#lines[@]} -eq 1 ]]
    jq -e '.version == 1 and .seed == 1 and (.real | not) and (.ensembles | length > 20)' <<<"$output"
    jq -e '.ensembles | all(.runs > 0 and .known <= .runs and .least_pct <= .greatest_pct)' <<<"$output"
    jq -e '.ensembles[-2:] | map(.name) == ["all counters", "all gauges"]' <<<"$output"
    jq -e '.ensembles | .[-2].runs + .[-1].runs == (.[:-2] | map(.runs) | add)' <<<"$output"
    names=$(jq -r '.ensembles[:-2][] | .name + " " + .what' <<<"$output")
    [[ $("$verify" --list | sed 's/  */ /') == "$names" ]]
}

@test "what is simple is measured right: constant power, whatever the interval" {
    for interval in 1ms 10ms 1s; do
        run -0 --separate-stderr "$verify" -e constant -n 200 -i "$interval" -f json
        jq -e '.ensembles[0] | .runs == 200 and .known == 200 and .covered_pct >= 95 and .worst < 2' <<<"$output"
    done
}

@test "cells: courses, meters, intervals, and what sources state" {
    run -0 --separate-stderr "$verify" --cells -e sine/gauge/ -n 2 -f json
    [[ $(jq -r '.ensembles[:-1][].name' <<<"$output") == "$(printf 'sine/gauge/%s\n' {10ms,100ms,1s}/{true,none,wrong})" ]]
    [[ $("$verify" --cells --list | wc -l) -eq 567 ]]
    tells 2 'apapi-verify: --cells takes neither --real nor --rates' "$verify" --cells --real
}

# Of few updates the one at the end, which nothing shows, is often the first with more power.
@test "idle, then load: runs of few updates are covered, too" {
    for meter in counter-10ms counter-100ms; do
        run -0 --separate-stderr "$verify" --cells -e "load/$meter" -n 320 --seed 70000001 -f json
        jq -e '.ensembles | all(.greatest_pct >= 95) and .[-1].covered_pct >= 95 and .[-1].median <= 10' <<<"$output"
    done
}

@test "real time and real threads, on busy processors" {
    run -0 --separate-stderr "$verify" --real -e constant -n 2 --load 1 -f json
    jq -e '.real and (.ensembles | length == 1) and (.ensembles[0] | .name == "constant" and .runs == 2)' <<<"$output"
    run -0 "$verify" --real --list
    [[ ${#lines[@]} -eq 8 && ${lines[7]} == "idle-load "* ]]
}

@test "rates that are not as listed" {
    rates=$BATS_TEST_TMPDIR/rates
    echo "walk 0.5 1000 100 100" >"$rates"
    run -1 --separate-stderr "$verify" -e walk -n 200 --rates "$rates"
    [[ $stderr == *"walk: covered [%] is "*", better than 0.5, as it is listed"*"what it is now, for $rates: walk "* ]]
    sed -n 's/.*what it is now, for [^:]*: //p' <<<"$stderr" >"$rates"
    complains 0 '' "$verify" -e walk -n 200 --rates "$rates"
    echo "walk 95 0 0 100" >"$rates"
    complains 1 '*walk: the median of uncertainty / error is *, worse than 0, as it is listed*' "$verify" -e walk -n 200 --rates "$rates"
    echo "walk 95 8 0" >"$rates"
    run -1 "$verify" -e walk -n 1 --rates "$rates"
    [[ $output == "apapi-verify: $rates:1: expected the name of an ensemble and four numbers"* ]]
    run -1 "$verify" -e walk -n 1 --rates "$rates.no"
    [[ $output == "apapi-verify: "*"$rates.no"*"No such file"* ]]
}
