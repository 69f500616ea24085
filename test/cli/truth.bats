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

@test "constant power" {
    check "$shapes" shapes ''
}

@test "a ramp" {
    check "$shapes" shapes :0
}

@test "a square wave" {
    check "$shapes" shapes :1
}

@test "several wraps" {
    check "$shapes" shapes :2
}

@test "the wrap of a range of 65.5 kJ at 400 W" {
    check "$shapes" shapes :3
}

@test "a reset to 0: the interval in which it happened is not counted" {
    check "$incidents" incidents :0
}

@test "a counter that stands still for 2 s" {
    check "$incidents" incidents :1
}

@test "EIO for 1 s" {
    check "$incidents" incidents :2
    check "$incidents" incidents :5
}

@test "a file that vanishes for 1 s and comes back" {
    check "$incidents" incidents :3
}

# A reading of a probe, which looks for the update period, takes one in thirty of them: it counts for nothing.
@test "three absurd readings" {
    check "$incidents" incidents :4
}

@test "what happens to some zones costs the others nothing" {
    check "$incidents" incidents ''
}

@test "the table counts what went wrong" {
    cat "$BATS_FILE_TMPDIR/table"
    grep -qE '(^|[ ,])[1-9][0-9]* readings failed' "$BATS_FILE_TMPDIR/table"
    grep -qE '(^|[ ,])[123] refused' "$BATS_FILE_TMPDIR/table"
    grep -qE '(^|[ ,])1 reset' "$BATS_FILE_TMPDIR/table"
}
