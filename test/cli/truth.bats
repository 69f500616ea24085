#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Against meters whose truth is known: what atime says is the truth, and what went wrong is said.

load truth.bash

setup_file() {
    local atime=$repository/${APAPI_TEST_BUILD:-build/release}/core/atime/atime run

    needs_fuse || return 0
    export APAPI_SOURCES=sysfs
    for run in shapes incidents; do
        measure "$BATS_FILE_TMPDIR" $run ${run}_spec '' "$atime" -c powercap &
    done
    SHIFT=2 # the simulation may begin slowly
    incidents_spec >"$BATS_FILE_TMPDIR/table.spec"
    "$repository/scripts/sim" --packages 0 --spec "$BATS_FILE_TMPDIR/table.spec" -- \
        "$atime" -c powercap -t "$INTERVAL" sleep $((SECONDS_RUN + SHIFT)) 2>"$BATS_FILE_TMPDIR/table" 3>&- &
    wait
}

setup() {
    skip_if_all_are
    shapes=$BATS_FILE_TMPDIR/shapes incidents=$BATS_FILE_TMPDIR/incidents
    cat "$BATS_FILE_TMPDIR"/*.err
}

@test "the course of the power: constant, a ramp, a square wave, wraps" {
    check "$shapes" shapes
}

# A reading of a probe, which looks for the update period, takes one absurd value in thirty: it counts for nothing.
@test "a reset, a standstill, EIO, a file that vanishes, absurd readings: each costs what it must, and the other zones nothing" {
    check "$incidents" incidents
}

@test "the table counts what went wrong" {
    cat "$BATS_FILE_TMPDIR/table"
    grep -qE '(^|[ ,])[1-9][0-9]* readings failed' "$BATS_FILE_TMPDIR/table"
    grep -qE '(^|[ ,])[123] refused' "$BATS_FILE_TMPDIR/table"
    grep -qE '(^|[ ,])1 reset' "$BATS_FILE_TMPDIR/table"
}
