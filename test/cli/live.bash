# SPDX-License-Identifier: BSD-3-Clause
# Live pages written by hand (test/fake/live/fake_live.py); for `load`. $live is their folder, $build the programs'.
# shellcheck disable=SC2154 # they are the tests'

# Have $clocked, the beginning of a command, give it the clock of a machine that has been up for long, whatever this one's
# says. It stands still, so that no page grows old, or goes on.
set_clock() { # stands|goes
    local plain # LD_PRELOAD splits at blanks and colons
    plain_path "$build/test/fake/live/live-clock.so"
    clocked=(env "LD_PRELOAD=$plain" "LIVE_CLOCK=$1"
        "ASAN_OPTIONS=${ASAN_OPTIONS:-}:verify_asan_link_order=0")
}

# Hold the pages of an array until let_go.
hold_pages() { # JQ EXPRESSION
    local word
    jq -n "$1" >"$BATS_TEST_TMPDIR/pages"
    [[ -p $BATS_TEST_TMPDIR/hold ]] || mkfifo "$BATS_TEST_TMPDIR/hold" "$BATS_TEST_TMPDIR/ready"
    "${clocked[@]}" "$repository/test/fake/live/fake_live.py" "$live" "$BATS_TEST_TMPDIR/pages" <"$BATS_TEST_TMPDIR/hold" >"$BATS_TEST_TMPDIR/ready" 3>&- &
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
