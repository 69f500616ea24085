# SPDX-License-Identifier: BSD-3-Clause
# Live pages written by hand (test/fake/live); for `load`. $live is their folder, $build the programs'.
# shellcheck disable=SC2154 # they are the tests'

# Hold the pages of an array until let_go.
hold_pages() { # JQ EXPRESSION
    local word
    jq -n "$1" >"$BATS_TEST_TMPDIR/pages"
    [[ -p $BATS_TEST_TMPDIR/hold ]] || mkfifo "$BATS_TEST_TMPDIR/hold" "$BATS_TEST_TMPDIR/ready"
    "$build/test/fake/live/fake-live" "$live" "$BATS_TEST_TMPDIR/pages" <"$BATS_TEST_TMPDIR/hold" >"$BATS_TEST_TMPDIR/ready" 3>&- &
    holder=$!
    exec 7>"$BATS_TEST_TMPDIR/hold"
    read -r word <"$BATS_TEST_TMPDIR/ready"
    [[ $word == ready ]]
}

let_go() {
    [[ -n ${holder:-} ]] || return 0
    exec 7>&-
    wait "$holder"
    holder=
}
