#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Thresholds that PAPI counts, with a PAPI that scripts/setup-papi builds: it has the kernel's clock as an event of the
# CPU, which machines without counters have, too.

# bats file_tags=long
load truth.bash
load papi_common.bash

setup_file() {
    need_papi papi-prefix
    [[ -z ${APAPI_SKIP_ALL:-} ]] || return 0
    build_with_newer apapi test_overflow_cpu
}

setup() {
    skip_if_all_are
    build=$repository/build/papi
}

# Some machines let nobody count: then it says so.
can_count() {
    "$build/test/unit/test_overflow_cpu" >"$BATS_TEST_TMPDIR/out" 2>&1 || { cat "$BATS_TEST_TMPDIR/out" && return 1; }
    ! grep -q '^# skip: ' "$BATS_TEST_TMPDIR/out" || skip "$(sed -n 's/^# skip: //p; T; q' "$BATS_TEST_TMPDIR/out")"
}

@test "hardware and forced software, several events, several threads" {
    can_count
    grep -q 'PASSED' "$BATS_TEST_TMPDIR/out"
}

@test "PAPI's example prints where the program was, every so many counts" {
    can_count
    cc -std=c99 -Wall -Wextra -Wpedantic -Werror -g -I "$repository/core/include" "$repository/docs/examples/overflow.c" \
        -o "$BATS_TEST_TMPDIR/overflow" -L "$build/core" -lapapi -Wl,-rpath,"$build/core"
    run -0 "$BATS_TEST_TMPDIR/overflow" perf::TASK-CLOCK 2000000 5
    ((${#lines[@]} >= 5))
    for i in 0 1 2 3 4; do
        [[ ${lines[i]} =~ ^handler\(0\)\ overflow\ at\ 0x[0-9a-f]+!\ vector=0x1\ count=[1-9] ]]
    done
    tells 77 'overflow: perf::NONE: Event does not exist' "$BATS_TEST_TMPDIR/overflow" perf::NONE 100
}
