#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Built without PAPI: -DWITH_PAPI=OFF.

# bats file_tags=long
load atime_common.bash

# _PAPI makes an installed papi.h an empty file: nothing may need it.
setup_file() {
    local repository build

    [[ ${APAPI_TEST_BUILD:-} != *san ]] || return 0
    repository=$(cd "$BATS_TEST_DIRNAME/../.." && pwd -P)
    build=$repository/build/without-papi
    [[ -f $build/build.ninja ]] || cmake -S "$repository" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
        -DBUILD_TESTING=ON -DWITH_PAPI=OFF -DCMAKE_C_FLAGS=-D_PAPI >"$BATS_FILE_TMPDIR/log" 3>&- ||
        { cat "$BATS_FILE_TMPDIR/log" && return 1; }
    cmake --build "$build" --target atime test_session test_sysfs >"$BATS_FILE_TMPDIR/log" 3>&- ||
        { cat "$BATS_FILE_TMPDIR/log" && return 1; }
}

without_papi() {
    [[ ${APAPI_TEST_BUILD:-} != *san ]] || skip 'tried with the usual build'
    build=$repository/build/without-papi
    atime=$build/core/atime/atime
}

@test "without PAPI: the kernel's meters are measured" {
    without_papi
    needs_sim
    run -3 --separate-stderr sim --packages 1 -- "$atime" -c rapl -f json sh -c 'sleep 0.5; exit 3'
    jq -e '.components[0].source == "sysfs powercap" and
        (.domains.package | (.mean_w - 100 | fabs) < 1 + .uncertainty_j / .energy_j * .mean_w)' <<<"$stderr"
}

@test "without PAPI: components of PAPI are known by name, with the reason" {
    without_papi
    complains 3 '*maxeler: not measured (built without PAPI)*' "$atime" -c maxeler:micknc sh -c 'exit 3'
    [[ $stderr == *'micknc: not measured (built without PAPI)'* ]]
}

@test "without PAPI: an unknown component is refused" {
    without_papi
    run -2 --separate-stderr "$atime" -c coretemp true
    [[ $stderr == *"unknown component 'coretemp'"*'(built without PAPI)'* ]]
}

@test "without PAPI: the unit tests of sessions and of the kernel's files" {
    without_papi
    "$build/test/unit/test_session"
    "$build/test/unit/test_sysfs"
}

@test "without PAPI: nothing looks for libpapi" {
    without_papi
    run -1 grep -aE 'libpapi\.so' "$build/core/libapapi.so"
}
