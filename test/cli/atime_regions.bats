#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Regions of a program under atime, over simulated hardware.

load atime_common
load ../eventually

# apapi-phases LOAD_FILE SECONDS SEED THREADS [kill]: it prints how often it was in each region, in truth.
marked() { # COMMAND...: with the test's own folder for what atime makes
    XDG_RUNTIME_DIR=$private sim "$@"
}

setup_file() {
    private=$(mktemp -d /dev/shm/apapi-test.XXXXXX) || private=
    [[ -n $private && $(stat -f -c %T "$private") == tmpfs ]] || private=
    export private
}

teardown_file() {
    [[ -z $private ]] || rm -r "$private"
}

setup() {
    phases=$repository/build/release/test/sim/apapi-phases
    json=$BATS_TEST_TMPDIR/json
    needs_sim
    [[ -n $private ]] || skip '/dev/shm is no tmpfs that can be written'
}

nothing_is_left() {
    [[ -z $(ls -A "$private") ]]
}

teardown() { keep_all_records && nothing_is_left; }

# Does a record (JQ EXPRESSION in $json) have the regions of TRUTH, and do all energies add up to the node's?
regions_fit() { # EXPRESSION TRUTH THREADS
    jq -e --argjson truth "$2" --argjson threads "$3" "$1"' | . as $record |
        (["low", "middle", "high"] | all(. as $name |
            ($record.regions | map(select(.name == $name))) |
            length == 1 and .[0].count == $truth[$name].count and .[0].threads == $threads and .[0].programs == 1 and
            .[0].time_s > 0 and .[0].time_s <= $threads * $record.elapsed_s * 1.001)) and
        (["package", "dram"] | all(. as $domain | $record.domains[$domain].energy_j as $all |
            ([$record.regions[].domains[$domain].energy_j // 0] | add) - $all | fabs <= 1e-6 * $all))' "$json" >/dev/null || {
        jq -c "$1 | [.elapsed_s, .domains, .regions]" "$json"
        echo "not the regions of $2"
        return 1
    }
}

@test "regions of several threads: in the table, in JSON and in CSV" {
    run -0 --separate-stderr marked -- "$atime" "$phases" - 1 1 3
    [[ $stderr =~ $'\n'\ \ region\ +time\ +energy\ +mean\ +method ]]
    for region in low middle high; do
        [[ $stderr =~ $'\n'\ \ $region\ +[0-9.]+\ m?s\ +[0-9.]+\ k?J ]]
    done
    run -0 marked -- "$atime" -f json -o "$json" "$phases" - 1 2 3
    regions_fit . "$output" 3
    run -0 marked -- "$atime" -f csv -o "$BATS_TEST_TMPDIR/csv" "$phases" - 1 3 3
    [[ $(grep -c '^1,region,\(low\|middle\|high\),,energy,J,[0-9.]*,[0-9.]*,W,,' "$BATS_TEST_TMPDIR/csv") == 3 ]]
    [[ $(grep -c '^1,region,\(low\|middle\|high\),package,energy,J,[0-9.]*,[0-9.]*,W,,' "$BATS_TEST_TMPDIR/csv") == 3 ]]
    [[ $(awk -F, '{ print NF }' "$BATS_TEST_TMPDIR/csv" | sort -u | wc -l) == 1 ]]
}

@test "a program that a signal kills in a region has its regions" {
    run -137 --separate-stderr marked -- "$atime" -f json -o "$json" "$phases" - 0.5 1 2 kill
    regions_fit . "$output" 2
    [[ $(jq -c '[.program.signal, (.regions[] | select(.name == "end") | .count)]' "$json") == '[9,1]' ]]
}

@test "each of several runs has its own regions; the warm-up has none" {
    run -0 --separate-stderr marked -- "$atime" -r 3 --warmup 1 -f json -o "$json" "$phases" - 0.3 1 2
    [[ ${#lines[@]} == 4 ]]
    for i in 0 1 2; do
        regions_fit ".runs[$i]" "${lines[i + 1]}" 2
    done
    jq -e '.statistics.regions as $all | [.runs[].regions[] | select(.name == "high").time_s] as $times |
        $all[] | select(.name == "high") | ((.time_s.mean - ($times | add) / 3) | fabs) < 1e-6 and
        .energy_j.mean > 0 and .energy_j.sd >= 0 and .mean_w.mean > 0' "$json"
    run -0 --separate-stderr marked -- "$atime" -r 2 "$phases" - 0.3 1 2
    [[ $stderr =~ $'\n'\ \ high\ +[0-9.]+\ ±\ [0-9.]+\ m?J || $stderr =~ $'\n'\ \ high\ +[0-9.]+\ ±\ [0-9.]+\ J ]]
    [[ $(wc -L <<<"$stderr") -le 80 ]]
}

@test "where a meter begins again, the uncertainty of the step is in that of each region" {
    for at in 0.5 1 1.5 2 2.5; do printf "powercap/intel-rapl:%s/energy_uj reset $at\n" 0 1; done >"$BATS_TEST_TMPDIR/resets" # a busy machine begins late
    run -0 marked --spec "$BATS_TEST_TMPDIR/resets" -- "$atime" -f json -o "$json" "$phases" - 1 1 1
    jq -e '.domains.package as $all | $all.covered < 0.995 and
        ([.regions[].domains.package.uncertainty_j] | length > 3 and all(. >= $all.uncertainty_j))' "$json"
}

@test "a program without regions: no word of them, and nothing left" {
    run -0 --separate-stderr marked -- "$atime" -v "$apapi" mark fom updates inf
    [[ $stderr == 'apapi mark: the value is not finite'* && $stderr != *region* ]]
    run -0 marked -- "$atime" -f json -o "$json" sh -c 'stat -c "%a %F" "${APAPI_LIVE_PAGE%/*}" "$APAPI_LIVE_PAGE" "$APAPI_LIVE_PAGE.regions"'
    [[ ${lines[0]} == '700 directory' && ${lines[1]} == '600 regular file' && ${lines[2]} == *socket ]]
    [[ $(jq -c '[has("regions"), has("regions_lost")]' "$json") == '[false,false]' ]]
    nothing_is_left
    run -127 marked -- "$atime" "$BATS_TEST_TMPDIR/nothing"
}

@test "no umask and no closed descriptor keeps regions away" {
    run -0 marked -- bash -c 'umask 777 && exec "$0" -f json "$1" - 0.2 1 1 2>"$2" 0<&-' "$atime" "$phases" "$json"
    chmod 600 "$json"
    regions_fit . "$output" 1
}

@test "what a killed atime has left is removed by the next one" {
    ((EUID == 0)) || skip "needs root: below scripts/sim others have a /dev/shm of their own"
    # shellcheck disable=SC2016 # for another shell
    marked -- "$atime" bash -c 'kill -KILL $PPID' 2>/dev/null 3>&- || true
    [[ -n $(ls -A "$private") ]]
    run -0 marked -- "$atime" true
    nothing_is_left
    marked -- "$atime" bash -c 'kill -TERM $PPID; exec sleep 60' 2>/dev/null 3>&- || true
}

@test "under another atime that one has the regions" {
    run -0 marked -- "$atime" -f json -o "$json" "$atime" -v -f json -o "$json.inner" "$phases" - 0.3 1 1
    regions_fit . "$output" 1
    [[ $(jq 'has("regions")' "$json.inner") == false ]]
}
