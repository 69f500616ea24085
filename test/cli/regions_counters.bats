#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Regions that count through a real PAPI what this kernel counts itself: each thread's CPU time.

# bats file_tags=long
# shellcheck disable=SC2030,SC2031 # each test is a process of its own
load ../environment
load kept
load truth.bash
load papi_common.bash

setup_file() {
    need_papi papi-prefix
}

setup() {
    skip_if_all_are
    prefix=$repository/build/papi-prefix
    build=$repository/${APAPI_TEST_BUILD:-build/release}
    export PAPI_OUTPUT_DIRECTORY=$BATS_TEST_TMPDIR
    "$prefix/bin/papi_command_line" perf::TASK-CLOCK 2>&1 | grep -Eq 'perf::TASK-CLOCK :[[:space:]]*[1-9]' ||
        skip 'PAPI cannot count perf::TASK-CLOCK here'
}

# [REGION, CPU time in ns] of each thread.
cpu_times() {
    jq -c '.threads[].regions[] | [.name, (."perf::TASK-CLOCK" | if type == "object" then .region_value else . end | tonumber)]' \
        "$BATS_TEST_TMPDIR"/papi_hl_output/rank_*.json
}

# Two threads have "computation"; in the main thread "inner" is a part of it.
cpu_times_fit() {
    run -0 cpu_times
    echo "$output"
    [[ $(grep -c '"computation"' <<<"$output") == 2 ]]
    jq -s -e 'map(select(.[0] == "computation")) as $outer | map(select(.[0] == "inner")) as $inner |
        all(.[1] > 0) and ($outer | length == 2) and ($inner | length == 1) and $outer[0][1] > $inner[0][1]' <<<"$output"
}

@test "a program compiled with our header counts each thread's CPU time; what does not exist is named" {
    export APAPI_PAPI_LIBRARY PAPI_HL_VERBOSE=1 PAPI_EVENTS=perf::TASK-CLOCK,NO_SUCH_EVENT
    APAPI_PAPI_LIBRARY=$(echo "$prefix"/lib/libpapi.so.?.?)
    run --separate-stderr -0 "$build/test/fake/regions/papi_hl_program"
    [[ $output == *'regions count PAPI event perf::TASK-CLOCK'* && $output == *'NO_SUCH_EVENT does not exist'* ]]
    cpu_times_fit
}

@test "a program linked to this PAPI counts the same with the library preloaded, by its own PAPI" {
    cc -I "$prefix/include" "$repository/test/fake/regions/papi_hl_program.c" -o "$BATS_TEST_TMPDIR/program" \
        -L "$prefix/lib" -lpapi "-Wl,-rpath,$prefix/lib" -pthread
    plain_path "$build/core/regions/compat/libapapi_papi_hl.so"
    PAPI_EVENTS=perf::TASK-CLOCK LD_PRELOAD=$plain run --separate-stderr -0 "$BATS_TEST_TMPDIR/program"
    [[ $output == "done" ]]
    cpu_times_fit
}
