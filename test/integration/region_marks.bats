#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Marks of a batch script, in the record of its step and in what commands show of it.

bats_require_minimum_version 1.5.0
load common

setup_file() {
    start_simulated_cluster
}

@test "marks of a batch script: its record names their regions, and the script goes on as without them" {
    make_work
    cat >"$BATS_TEST_TMPDIR/job" <<END
#!/bin/sh -e
PATH=$install/bin:\$PATH
apapi mark begin staging
sleep 1
apapi mark read staging
apapi mark end staging
apapi mark run solve -- sh -c 'sleep 2; exit 3' || echo "solve: \$?"
apapi mark fom cells 480 cells
apapi mark end nothing
echo over
END
    run -0 sbatch_wait -N1 -w n1 --apapi=rapl --apapi-interval=50ms --output="$work/out" <"$BATS_TEST_TMPDIR/job"
    eventually grep -q over "$work/out"
    cat "$work/out"
    mapfile -t said <"$work/out"
    [[ ${said[0]} =~ ^[0-9.]+\ J$ && ${said[1]} == "solve: 3" && ${said[2]} == "apapi mark: "* && ${said[3]} == over ]]
    record=$(last_record n1)
    # the meters do not change: 200 W and 40 W whatever the script does
    holds "$record" 'def region($name): .regions[] | select(.name == $name);
        def right($watts; $s): (.energy_j - $watts * $s | fabs) <= .uncertainty_j + 0.01 * .energy_j;
        # intervals at both ends are shared with others: a late reading may take a tenth of its time
        ([region("staging", "solve") | .time_s as $s | (.method == "measured" or .method == "estimated") and .count == 1 and
            (.domains.package | right(200; $s)) and (.domains.dram | right(40; $s))] | all) and
        region("staging").time_s >= 1 and region("solve").time_s >= 2 and
        .foms == [{name: "cells", value: 480, unit: "cells", programs: 1}]'
    run -0 "$install/bin/apapi" regions --acct-dir "$APAPI_ACCT_DIR" "$(jq .job <<<"$record")"
    echo "$output"
    [[ $output =~ solve\ +1\ .*staging\ +1\ .*"480 cells, " ]]
}
