#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Built without PAPI: -DWITH_PAPI=OFF.

# bats file_tags=long
load atime_common.bash

# _PAPI makes an installed papi.h an empty file: nothing may need it.
setup_file() {
    local build=$repository/build/without-papi

    [[ ${APAPI_TEST_BUILD:-} != *san ]] || return 0
    [[ -f $build/build.ninja ]] || cmake -S "$repository" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
        -DBUILD_TESTING=ON -DWITH_PAPI=OFF -DCMAKE_C_FLAGS=-D_PAPI >"$BATS_FILE_TMPDIR/log" 3>&- ||
        { cat "$BATS_FILE_TMPDIR/log" && return 1; }
    cmake --build "$build" --target atime test_session >"$BATS_FILE_TMPDIR/log" 3>&- ||
        { cat "$BATS_FILE_TMPDIR/log" && return 1; }
}

setup() {
    [[ ${APAPI_TEST_BUILD:-} != *san ]] || skip 'tried with the usual build'
    build=$repository/build/without-papi
    atime=$build/core/atime/atime
}

@test "without PAPI: the kernel's meters are measured, and nothing looks for libpapi" {
    needs_sim
    run -3 --separate-stderr sim --packages 1 -- "$atime" -c rapl -f json sh -c 'sleep 0.5; exit 3'
    jq -e '.components[0].source == "sysfs powercap" and
        (.domains.package | (.mean_w - 100 | fabs) < 1 + .uncertainty_j / .energy_j * .mean_w)' <<<"$stderr"
    run -1 grep -aE 'libpapi\.so' "$build/core/libapapi.so"
    "$build/test/unit/test_session"
}

@test "without PAPI: its components are known by name, with the reason; an unknown one is refused" {
    complains 3 '*maxeler: not measured (built without PAPI)*micknc: not measured (built without PAPI)*' "$atime" -c maxeler:micknc sh -c 'exit 3'
    complains 2 "*unknown component 'coretemp'*(built without PAPI)*" "$atime" -c coretemp true
}
