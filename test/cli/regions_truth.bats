#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Regions much shorter than the time between two readings, in real time, against what a program has drawn in truth:
# apapi-phases is in regions of 40, 100 and 160 W by turns, each for a random 0.5 to 5 ms.

load atime_common

spec() { # LOAD_FILE
    cat <<SPEC
powercap/intel-rapl:0/name text package-0
powercap/intel-rapl:0/enabled text 1
powercap/intel-rapl:0/max_energy_range_uj text 262143328850
powercap/intel-rapl:0/energy_uj energy-load $1 0 262143328850 0
powercap/intel-rapl:0/energy_uj mode 400
SPEC
}

# Leaves NAME.json, the record, and NAME.truth. The meter moves once in a millisecond.
measure() { # NAME SECONDS SEED THREADS [wait]
    spec "$BATS_TEST_TMPDIR/$1.load" >"$BATS_TEST_TMPDIR/$1.spec"
    APAPI_SOURCES=sysfs sim --packages 0 --spec "$BATS_TEST_TMPDIR/$1.spec" -- \
        "$atime" -c powercap -t 100ms -f json -o "$BATS_TEST_TMPDIR/$1.json" \
        "$repository/build/release/test/sim/apapi-phases" "$BATS_TEST_TMPDIR/$1.load" "${@:2}" \
        >"$BATS_TEST_TMPDIR/$1.truth" 3>&-
}

# Of each region: its relative error, and how many times its uncertainty that is.
errors() { # NAME
    jq -c --slurpfile truth "$BATS_TEST_TMPDIR/$1.truth" '.regions[] | select($truth[0][.name // ""]) | $truth[0][.name] as $true |
        .domains.package as $package | ($package.energy_j - $true.energy_j | fabs) as $error |
        {name, method, count, truly: $true.count, part: ($error / $true.energy_j), times: ($error / $package.uncertainty_j)}' \
        "$BATS_TEST_TMPDIR/$1.json"
}

# The energies of all regions are that of the node, which is what was drawn but for an update of the meter, and three times
# its uncertainty.
adds_up() { # NAME
    jq -e --slurpfile truth "$BATS_TEST_TMPDIR/$1.truth" '.domains.package.energy_j as $all |
        (([.regions[].domains.package.energy_j // 0] | add) - $all | fabs) <= 1e-6 * $all and
        (([$truth[0][].energy_j] | add) - $all | fabs) <= 160 * 0.005 + 3 * .domains.package.uncertainty_j' \
        "$BATS_TEST_TMPDIR/$1.json" >/dev/null
}

setup() {
    needs_sim
    { : <>/dev/fuse; } 2>/dev/null || skip '/dev/fuse cannot be opened'
}

@test "the energy of short regions is the truth, within their uncertainty" {
    measure one 6 1 1 &
    measure two 6 2 3 &
    wait
    for name in one two; do
        adds_up $name
        run -0 errors $name
        # one figure in 20 is farther from the truth than its uncertainty, none in 1000 three times as far. How large that
        # is depends on the machine: where threads wait for a processor, it is all of the energy, and regions are
        # shared. apapi-verify-regions bounds it
        [[ $(jq -s 'map(select(.method != "unknown" and .count == .truly and .times <= 3)) | length' <<<"$output") == 3 ]]
    done
}

# It draws nothing, and by most intervals it is possible that it draws 40 W: what is said may be 20 W wrong. By intervals that
# no thread of the other regions fills, it is less: how much is the machine's matter. test/unit/test_fit.c has the same with
# the same intervals always.
@test "a thread that waits all the time: where its power cannot be told from the others, they say so" {
    measure waits 6 3 1 wait
    adds_up waits
    run -0 errors waits
    [[ $(jq -s 'map(select(.method != "unknown" and .times <= 3)) | length' <<<"$output") == 3 ]]
}
