# SPDX-License-Identifier: BSD-3-Clause
# Tests have an environment of their own, whatever the caller's is: for `load`, before all else. What a test is about,
# it sets itself; what setup_file exports stays.

# Variables that stay: those of bats (TESTS_LIST_FILE since 1.11), of scripts/test, of compilers and sanitizers, and what this machine needs.
environment_kept='^(BATS_.*|bats_.*|APAPI_TEST_.*|APAPI_SIMHW|.*SAN_OPTIONS|CC|CXX|LLVM_PROFILE_FILE|TESTS_LIST_FILE|.*_proxy|.*_PROXY|PATH|PWD|OLDPWD|SHLVL|TMPDIR|_)$'

environment_clean() {
    local name
    while read -r name; do
        [[ $name =~ $environment_kept ]] || unset "$name"
    done < <(compgen -e)
    # no .jq, .my.cnf, .sqliterc, .gitconfig; without a locale: C, in which our programs write UTF-8
    export HOME=$BATS_RUN_TMPDIR/home TZ=UTC PATH=$PATH:/usr/sbin:/sbin
    mkdir -p "$HOME"
    # Debian 12's jq needs 30 ms to start, gojq 3 ms. It sorts the keys of objects.
    if command -v gojq >/dev/null; then
        mkdir -p "$BATS_RUN_TMPDIR/bin"
        ln -sf "$(command -v gojq)" "$BATS_RUN_TMPDIR/bin/jq"
        export PATH=$BATS_RUN_TMPDIR/bin:$PATH
    fi
    chmod a+x "$BATS_RUN_TMPDIR" # what other users run may be below it
}

# Sets `plain` to a path of a file of the repository that LD_PRELOAD, plugstack.conf and slurm.conf can hold, which
# split at blanks and colons: its own, or one by a link to the repository.
plain_path() { # FILE OR FOLDER
    local top=${BASH_SOURCE[0]%/*}/..
    plain=$1
    [[ $plain =~ [^ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0-9@_./+~-] ]] || return 0
    top=$(cd "$top" && pwd -P)
    plain=$BATS_RUN_TMPDIR/repository
    [[ -e $plain ]] || ln -sfn "$top" "$plain"
    plain+=${1#"$top"}
}

# Run a command: its status, and a pattern that fits what it prints: both outputs together, standard output or
# standard error. They set what `run` sets.
tells() { run "-$1" "${@:3}" && fits "$output" "$2"; } # STATUS PATTERN COMMAND...
prints() { run "-$1" --separate-stderr "${@:3}" && fits "$output" "$2"; }
complains() { run "-$1" --separate-stderr "${@:3}" && fits "$stderr" "$2"; }

# A command that fails, with any status.
fails() { run "${@:2}" && ((status != 0)) && fits "$output" "$1"; } # PATTERN COMMAND...

# shellcheck disable=SC2053 # a pattern
fits() { [[ $1 == $2 ]] || { echo "not '$2'" && return 1; }; } # TEXT PATTERN

# The end of each test, of what its helpers have begun. A test file with a teardown of its own calls these.
teardown() {
    local end
    for end in let_go keep_all_records leave_public; do
        ! declare -F $end >/dev/null || $end
    done
}

# Once for each file, when bats reads it first: before setup_file.
if [[ ${APAPI_TEST_CLEAN:-} != "$BATS_RUN_TMPDIR:$BATS_TEST_FILENAME" ]]; then
    environment_clean
    export APAPI_TEST_CLEAN=$BATS_RUN_TMPDIR:$BATS_TEST_FILENAME
fi
# The clone, the build that is tested, and its programs.
# shellcheck disable=SC2034 # they are the tests'
repository=$(cd "${BASH_SOURCE[0]%/*}/.." && pwd -P)
build=$repository/${APAPI_TEST_BUILD:-build/release}
apapi=$build/core/cli/apapi atime=$build/core/atime/atime
umask 022
exec </dev/null
bats_require_minimum_version 1.5.0
BATS_PRINT_OUTPUT_ON_FAILURE=yes # $output and $stderr of the last `run`
