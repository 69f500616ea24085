#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# apapi-verify: simulated measurements against a known truth.

load ../environment

verify=$repository/build/release/test/verify/apapi-verify

@test "a seed always makes the same runs, another one others" {
    run -0 --separate-stderr "$verify" -e late -n 5
    [[ ${#lines[@]} -eq 2 && $stderr == "" ]]
    same=$output
    run -0 "$verify" -e late -n 5
    [[ $output == "$same" ]]
    run -0 "$verify" -e late -n 5 --seed 6
    [[ $output != "$same" ]]
}

@test "the table, and rates that are not as listed" {
    coverage=$BATS_TEST_DIRNAME/../history/coverage
    run -0 "$coverage" --check -e walk -n 200
    [[ ${#lines[@]} -eq 2 && ${lines[1]} =~ ^walk\ +200\ +[0-9.]+\ \( ]]
    mkdir -p "$BATS_TEST_TMPDIR/build/release/test" "$BATS_TEST_TMPDIR/test/history"
    cp "$coverage" "$BATS_TEST_TMPDIR/test/history"
    ln -s "${verify%/*}" "$BATS_TEST_TMPDIR/build/release/test/verify"
    cd "$BATS_TEST_TMPDIR"
    while IFS='|' read -r listed message; do
        echo "$listed" >test/history/rates
        run -1 test/history/coverage --check -e walk -n 200
        # shellcheck disable=SC2053 # a pattern
        [[ ${lines[2]} == $message ]] || { echo "$listed: $output" && return 1; }
    done <<'END'
walk 0.5 8 0 100|walk: covered * listed is 0.5
walk 95 0 0 100|walk: the median of uncertainty / error is *, more than 0
walk 95 1000 0 100|walk: the median of uncertainty / error is *, listed is 1000
walk 95 8 0 0|walk: rough * more than 0
steps 95 8 0 100|walk: not listed
END
}
