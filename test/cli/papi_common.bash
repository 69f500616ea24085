# SPDX-License-Identifier: BSD-3-Clause
# For the tests that use PAPIs which scripts/setup-papi builds; after truth.bash.

# A PAPI in build/NAME, from an earlier run or built now.
need_papi() { # NAME [OPTION]
    local status=0

    "$repository/scripts/setup-papi" "${@:2}" "$repository/build/$1" 3>&- || status=$?
    [[ $status != 2 || $repository != *[[:space:]:]* ]] ||
        skip_all 'PAPI cannot be built in a path with blanks or colons' || return 0
    ((status != 3)) || skip_all 'the source of PAPI cannot be had here' || return 0
    return $status
}

# Files that run side by side share it: one builds at a time.
build_with_newer() { # [TARGET]...
    (flock 8 && build_with_newer_alone "$@" 8>&-) 8>"$repository/build/papi.lock"
}

build_with_newer_alone() {
    local build=$repository/build/papi

    [[ -f $build/build.ninja ]] || cmake -S "$repository" -B "$build" -G Ninja \
        -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=ON "-DPAPI_ROOT=$repository/build/papi-prefix" >/dev/null 3>&- || return
    cmake --build "$build" --target atime fake_libnvidia-ml "$@" >"$BATS_FILE_TMPDIR/build.log" 3>&- ||
        { cat "$BATS_FILE_TMPDIR/build.log" && return 1; }
}
