#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Against meters whose truth is known: what atime says is the truth, and what went wrong is said.

load truth.bash

# Parts 0 to 7 of a package: faults, and counters that wrap.
zones_spec() {
    package_spec
    zone_spec :0 dram-0 "$RANGE_UJ" "energy 110 $RANGE_UJ 50000000000" "reset $(at 2)"
    zone_spec :1 dram-1 "$RANGE_UJ" "energy 120 $RANGE_UJ 60000000000" "freeze $(at 1) $(at 3)"
    zone_spec :2 dram-2 "$RANGE_UJ" "energy 130 $RANGE_UJ 70000000000" "fail $(at 1.5) $(at 2.5)"
    zone_spec :3 dram-3 "$RANGE_UJ" "energy 140 $RANGE_UJ 80000000000" "vanish $(at 1.5) $(at 2.5)"
    zone_spec :4 dram-4 "$RANGE_UJ" "energy 150 $RANGE_UJ 90000000000" "absurd $(at 2) 123456789012" \
        "absurd $(at 2.35) 123456789012" "absurd $(at 2.7) 123456789012"
    zone_spec :5 dram-5 "$RANGE_UJ" "energy 160 $RANGE_UJ 0" "fail $(at 1.5) $(at 2.5)"
    zone_spec :6 dram-6 "$SMALL_RANGE_UJ" "energy 400 $SMALL_RANGE_UJ 0"
    zone_spec :7 dram-7 "$REAL_RANGE_UJ" "energy 400 $REAL_RANGE_UJ $((REAL_RANGE_UJ - 500000000 - SHIFT * 400000000))"
}

setup_file() {
    needs_fuse || return 0
    export APAPI_SOURCES=sysfs
    measure "$BATS_FILE_TMPDIR" zones zones_spec "$atime" -c powercap &
    SHIFT=2 # the simulation may begin slowly
    zones_spec >"$BATS_FILE_TMPDIR/table.spec"
    "$repository/scripts/sim" --packages 0 --spec "$BATS_FILE_TMPDIR/table.spec" -- \
        "$atime" -c powercap -t "$INTERVAL" sleep $((SECONDS_RUN + SHIFT)) 2>"$BATS_FILE_TMPDIR/table" 3>&- &
    wait
}

setup() {
    skip_if_all_are
    zones=$BATS_FILE_TMPDIR/zones
    cat "$BATS_FILE_TMPDIR"/*.err
}

# Is each reading of a zone accounted for? The package has had as many, and all of them were good. One that finds a counter
# that has caught up need not be a sample.
all_readings_count() { # ZONE
    local all stalls package

    read -r all stalls < <(event "$zones" "$1" '"\(.samples + (.failed // 0) + (.refused // 0) + (.resets // 0)) \(.stalls // 0)"')
    package=$(event "$zones" '' .samples)
    ((all == package || all == package - stalls)) || { echo "zone $1: $all readings of $package" && return 1; }
}

# The interval in which a reset happened is not counted; whatever else goes wrong costs nothing once it is over. In a second
# are 20 ticks; one before it may be late. A reading of a probe, which looks for the update period, takes one absurd value in
# thirty: it counts for nothing. A small counter may wrap unseen, and says so, while ticks are missed.
@test "wraps, a reset, a standstill, EIO, a file that vanishes, absurd readings: each costs what it must, and the other zones nothing" {
    local zone watts lost words
    while IFS='|' read -r zone watts lost words; do
        true_energy "$zones" "$zone" "$watts" "$lost"
        [[ $words != each=* ]] || words="$(event "$zones" "$zone" ".raw_total * .scale / ${words#*=} | floor | \"wraps=\(.)..\(. + 1)\"")
            $(jq -r '"gaps=0..\([.components[].missed // 0] | add)"' "$zones.json")"
        # shellcheck disable=SC2086 # words
        incidents "$zones" "$zone" $words
        all_readings_count "$zone"
    done <<'TABLE'
|100|0|
:0|110|1|resets=1
:1|120|0|stalls=1
:2|130|0|failed=19-..22
:3|140|0|failed=19-..22
:4|150|0|refused=1..3
:5|160|0|failed=19-..22
:6|400|0|each=500
:7|400|0|wraps=1
TABLE
}

@test "the table counts what went wrong" {
    cat "$BATS_FILE_TMPDIR/table"
    grep -qE '(^|[ ,])[1-9][0-9]* readings failed' "$BATS_FILE_TMPDIR/table"
    grep -qE '(^|[ ,])[123] refused' "$BATS_FILE_TMPDIR/table"
    grep -qE '(^|[ ,])1 reset' "$BATS_FILE_TMPDIR/table"
}
