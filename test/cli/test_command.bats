#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# scripts/test: what it takes, and that it counts right what its jobs print.
# shellcheck disable=SC2030,SC2031 # `run` sets its variables in each test

load ../environment
load ../eventually

setup() {
    repository=$(cd "$BATS_TEST_DIRNAME/../.." && pwd -P)
    runner=$repository/scripts/test
}

refuses() { # MESSAGE ARGUMENT...
    run --separate-stderr "$runner" "${@:2}"
    echo "${*:2}: $status '$stderr'"
    [[ $status -eq 2 && -z $output && $stderr == *"$1"* ]]
}

@test "what it does not know is refused before anything runs, with what there is" {
    refuses "no part or file 'unti'" unti
    [[ $stderr == *'parts: unit abi cli integration format analyze '*' slurm-matrix long all'* ]]
    refuses "part cli has no 'trut.bats'; it has: " cli/trut.bats
    [[ $stderr == *' truth.bats '* ]]
    refuses "part unit has no 'test_nothing'; it has: test_a" test/unit/test_nothing.c
    refuses "part fuzz has no 'none'; it has: " fuzz/none
    [[ $stderr == *' eventlist '* ]]
    refuses "no test of cli/truth.bats has 'nothing like this' in its name; there are:" cli/truth.bats -f 'nothing like this'
    [[ $stderr == *'constant power'* ]]
    refuses "no test of unit has 'nothing like this' in its name" unit -f 'nothing like this'
}

@test "wrong options" {
    refuses "unknown option '--lode'" --lode 4
    refuses '--load needs a value' --load
    refuses "--load: 'four' is not a number" --load four
    refuses "--jobs: '-1' is not a number" --jobs -1
    refuses '--jobs must be at least 1' -j 0
}

@test "a clone that only root can enter is refused with the command that opens it" {
    ((EUID == 0)) || skip "for root's clones"
    mkdir -p "$BATS_TEST_TMPDIR/clone/test"
    cp -r "$repository/scripts" "$BATS_TEST_TMPDIR/clone"
    cp "$repository/test/run_folder.bash" "$BATS_TEST_TMPDIR/clone/test"
    chmod 700 "$BATS_TEST_TMPDIR/clone/scripts"
    run -1 --separate-stderr "$BATS_TEST_TMPDIR/clone/scripts/test" analyze
    [[ $stderr == *"cannot enter $BATS_TEST_TMPDIR/clone/scripts"*": chmod -R go+rX '$BATS_TEST_TMPDIR/clone'" ]]
}

@test "a file by its part, by its path, and by its tests" {
    run -0 "$runner" --list test/cli/events.bats cli/truth.bats "$repository/test/unit/test_base.c"
    [[ $(sort <<<"$output") == $'cli/events.bats\ncli/truth.bats\nunit/test_base' ]]
    run -0 "$runner" --list tsan/test_session asan/test_base
    [[ $(sort <<<"$output") == $'asan/test_base\ntsan/test_session' ]]
    run -0 "$runner" --list cli -f 'a reset to 0'
    [[ $output == cli/truth.bats ]]
    run -0 "$runner" --list unit -f a_positive_number_is_digits_alone
    [[ $output == unit/test_base ]]
}

@test "each test is usual, long or both, and no file is left out" {
    "$runner" --list >"$BATS_TEST_TMPDIR/usual"
    "$runner" --list long >"$BATS_TEST_TMPDIR/long"
    "$runner" --list all >"$BATS_TEST_TMPDIR/all"
    diff <(sort -u "$BATS_TEST_TMPDIR/usual" "$BATS_TEST_TMPDIR/long") <(sort "$BATS_TEST_TMPDIR/all")
    # a file in both has tests with and without the tag
    for job in $(sort "$BATS_TEST_TMPDIR/usual" "$BATS_TEST_TMPDIR/long" | uniq -d); do
        grep -q '^# bats test_tags=.*long' "$repository/test/$job"
    done
    for file in "$repository"/test/{cli,integration,packages}/*.bats "$repository"/test/unit/test_*.c; do
        file=${file#"$repository/test/"}
        grep -qxF "${file%.c}" "$BATS_TEST_TMPDIR/all"
    done
}

# --- how one test is run --------------------------------------------------------------------------

# Runs test/launch for unit/test_x, whose program is the script of stdin.
launch() { # KIND
    cat >"$BATS_TEST_TMPDIR/program"
    chmod +x "$BATS_TEST_TMPDIR/program"
    "$repository/test/launch" "$BATS_TEST_TMPDIR/tap" unit/test_x "$1" "$BATS_TEST_TMPDIR/program"
}

@test "a program that dies or runs nothing has failed, one whose tests are all skipped is skipped" {
    run -0 launch program <<<$'#!/bin/sh\necho "ok 1 - one"'
    [[ ${lines[0]} == 'ok 1 - one' && ${lines[1]} == '# test unit/test_x '* ]]
    run -1 launch program <<<$'#!/bin/sh\necho "ok 1 - one"; kill -ABRT $$'
    [[ ${lines[1]} == *'status 134'* || ${lines[2]} == 'not ok - ended with status 134' ]]
    run -1 launch program <<<$'#!/bin/sh\n:'
    [[ ${lines[0]} == 'not ok - ended with status 0, but no test has run' ]]
    run -1 launch program <<<$'#!/bin/sh\necho "ok 1 - one"; echo "not ok 2 - two"; exit 1'
    [[ $output != *'ended with'* ]]
    run -77 launch program <<<$'#!/bin/sh\necho "ok 1 one # skip no BMC"'
    run -77 launch check <<<$'#!/bin/sh\necho "no abidw"; exit 77'
    [[ $output == *'ok 1 - test_x # skip no abidw'* ]]
    run -1 launch check <<<$'#!/bin/sh\nexit 3'
}

@test "nothing that a test has started outlives it, and its temporary files are gone" {
    nap=4711.$RANDOM$RANDOM
    run -0 env -u APAPI_TEST_RUN -u TMPDIR "$repository/test/launch" "$BATS_TEST_TMPDIR/tap" unit/test_x check \
        sh -c "sleep $nap & echo \$TMPDIR >$BATS_TEST_TMPDIR/folder; touch \$TMPDIR/file"
    run -1 pgrep -f "sleep $nap"
    folder=$(<"$BATS_TEST_TMPDIR/folder")
    [[ $folder == /?*/apapi-test.* && ! -e $folder ]]
}

# --- what is counted ------------------------------------------------------------------------------

# Counts the tests of one file, which printed these lines, after ctest ended with STATUS.
count() { # STATUS LINE...
    printf '%s\n' "${@:2}" '# test cli/x.bats 1.5 0.5 0.25' >"$BATS_TEST_TMPDIR/tap"
    awk -v status="$1" -f "$repository/test/count.awk" "$BATS_TEST_TMPDIR/tap"
}

@test "passed, failed and skipped are counted" {
    run -0 count 0 1..3 'ok 1 - one' 'ok 2 two' '# ok 4 - a comment'
    [[ $output == '2 passed, 0 failed' ]]
    run -1 count 8 1..2 'ok 1 - one' 'not ok 2 - two'
    [[ ${lines[-1]} == '1 passed, 1 failed' && ${lines[-3]} == '  cli/x.bats: two' ]]
    run -0 count 0 1..3 'ok 1 one # skip no BMC' 'ok 2 two # skip no BMC' '# skip: no PMU' 'not ok 3 # SKIP three' 'ok 4 four'
    [[ ${lines[-1]} == '1 passed, 0 failed, 2 skipped' && $output == *'cli/x.bats: no BMC'* && $output == *'cli/x.bats: no PMU'* ]]
    run -0 count 0 'ok 1 one # skip needs root, for a cluster' 'ok 2 two # skip only root can do that' 'ok 3 three'
    [[ ${lines[-1]} == '1 passed, 0 failed, 1 skipped' && $output == *'  cli/x.bats: needs root'* ]]
    run -1 count 8 'ok 1 one'
    [[ ${lines[-1]} == '1 passed, 1 failed' && $output == *'ctest itself has failed'* ]]
}

@test "the command that repeats a failure names this test and no other" {
    name="it's (to 0): 100 % | \"lost\" [x] \$5"
    run -1 count 8 "not ok 1 $name"
    [[ $output == *"scripts/test cli/x.bats -f "* ]]
    eval "words=(${lines[2]})"
    [[ ${#words[@]} -eq 4 && $name =~ ${words[3]} && ! "$name twice" =~ ${words[3]} ]]
}

# --- a run ----------------------------------------------------------------------------------------

# A clone whose only test is cli/held.bats, which contains the text of stdin.
make_clone() { # FOLDER
    mkdir -p "$1/test/cli" "$1/build/release" "$1/build/test"
    cp -r "$repository/scripts" "$1"
    cp "$repository"/test/{launch,run_folder.bash,count.awk} "$1/test"
    printf '#!/bin/sh\n' >"$1/scripts/setup"
    cat >"$1/test/cli/held.bats"
    cat >"$1/build/release/CTestTestfile.cmake" <<END
add_test([=[cli/held.bats]=] "$1/test/launch" "$1/build/release/tap" cli/held.bats bats "$1/test/cli/held.bats")
set_tests_properties([=[cli/held.bats]=] PROPERTIES LABELS "cli;usual")
END
}

@test "a second run in the same clone waits for the first" {
    make_clone "$BATS_TEST_TMPDIR/clone" <<<'@test "held" { true; }'
    exec {lock}>"$BATS_TEST_TMPDIR/clone/build/test/lock"
    flock "$lock"
    run -2 "$BATS_TEST_TMPDIR/clone/scripts/test" cli -f 'no such name' # refused without waiting
    "$BATS_TEST_TMPDIR/clone/scripts/test" cli >"$BATS_TEST_TMPDIR/log" 2>&1 {lock}>&- 3>&- &
    pid=$!
    eventually grep -q 'another scripts/test runs in this clone: waiting for its end' "$BATS_TEST_TMPDIR/log"
    exec {lock}>&-
    wait "$pid"
    cat "$BATS_TEST_TMPDIR/log"
    [[ $(tail -n 1 "$BATS_TEST_TMPDIR/log") == '1 passed, 0 failed'* ]]
}

# As timeout does it, and a terminal: all of the run's processes get the signal.
@test "a run that is ended by a signal leaves no cluster and no files" {
    ((EUID == 0)) || skip 'needs root, for a cluster'
    "$repository/scripts/cluster" check || skip 'no cluster can be made here'
    local clone=$BATS_TEST_TMPDIR/clone pid
    folder=$(mktemp -d /tmp/h.XXXXXX) # short: sockets have their names in it
    chmod 755 "$folder"
    printf '%s\n' "setup_file() { APAPI_CLUSTER_DIR=\$BATS_FILE_TMPDIR/cluster $clone/scripts/cluster start --nodes 1 3>&-; touch $folder/begun; }" \
        '@test "held" { sleep 1000 3>&-; }' | make_clone "$clone"
    TMPDIR=$folder setsid env -u APAPI_TEST_RUN "$clone/scripts/test" cli/held.bats >"$folder/log" 2>&1 3>&- &
    pid=$!
    eventually test -e "$folder/begun"
    pgrep -f "inside.sh .*site_init $folder/"
    kill -TERM -- "-$pid"
    wait "$pid" || true
    cat "$folder/log"
    run -1 pgrep -f "inside.sh .*$folder/"
    [[ $(ls "$folder") == $'begun\nlog' ]]
    rm -r "$folder"
}

@test "without root and with packages missing, it says which command mends that, and runs nothing" {
    ((EUID == 0)) || skip 'needs root, to be somebody else'
    load public
    make_public
    mkdir -p "$public/scripts" "$public/bin"
    cp "$repository"/scripts/{setup,packages} "$public/scripts"
    printf '#!/bin/sh\necho unknown\n' >"$public/bin/dpkg-query"
    chmod 755 "$public/bin/dpkg-query"
    mkdir -m 777 "$public/build"
    run -1 --separate-stderr "${nobody[@]}" env PATH="$public/bin:$PATH" "$public/scripts/setup" --test
    leave_public
    [[ -z $output && $stderr == 'setup: packages are missing; as root: apt-get update && apt-get install '*' gcc '*' bats '* ]]
}

# A copy of scripts/setup, for which these programs are what the texts say.
setup_with() { # NAME TEXT...
    local copy=$BATS_TEST_TMPDIR/copy
    mkdir -p "$copy/scripts" "$copy/bin"
    cp "$repository"/scripts/{setup,packages} "$copy/scripts"
    while (($# > 0)); do
        printf '#!/bin/sh\n%s\n' "$2" >"$copy/bin/$1"
        chmod 755 "$copy/bin/$1"
        shift 2
    done
    run -1 --separate-stderr env PATH="$copy/bin:$PATH" "$copy/scripts/setup" --test
    echo "$output $stderr"
    [[ ! -e $copy/build/release ]]
}

@test "without a network, or with a full disk, it says what mends that, and builds nothing" {
    ((EUID == 0)) || skip 'needs root, to install packages'
    setup_with dpkg-query 'echo unknown' df 'printf "h\n/dev/x 1 1 99999 1%% /\n"' apt-get 'exit 100' cmake 'exit 3'
    [[ $stderr == 'setup: packages are missing, and apt-get update fails (no network, or no mirror?), see '*'; once it works: apt-get install '*' gcc '* ]]
    setup_with dpkg-query 'echo unknown' df 'printf "h\n/dev/x 1 1 99 1%% /\n"'
    [[ $stderr == 'setup: /var has 99 MiB free, '*' MiB are needed: apt-get clean'* ]]
    setup_with dpkg-query 'shift 3; for name; do echo "$name install ok installed"; done'
    [[ $stderr == "setup: $BATS_TEST_TMPDIR/copy/build has 99 MiB free, "*' MiB are needed: remove something there'* ]]
}

@test "scripts/setup installs into build/install, whatever build/release was configured for" {
    local copy=$BATS_TEST_TMPDIR/copy folder
    mkdir "$copy"
    cp -r "$repository/scripts" "$repository/CMakePresets.json" "$copy"
    for folder in core spank_apapi acct_gather docs/man test/sim; do
        mkdir -p "$copy/$folder"
        echo "add_subdirectory($folder)" >>"$copy/folders"
        : >"$copy/$folder/CMakeLists.txt"
    done
    {
        printf '%s\n' 'cmake_minimum_required(VERSION 3.25)' 'project(copy LANGUAGES NONE)' 'include(GNUInstallDirs)' \
            'set(APAPI_PLUGIN_DIR lib/slurm CACHE STRING "")'
        cat "$copy/folders"
        printf 'install(FILES folders DESTINATION ${%s})\n' CMAKE_INSTALL_SYSCONFDIR CMAKE_INSTALL_LIBDIR APAPI_PLUGIN_DIR
    } >"$copy/CMakeLists.txt"
    (cd "$copy" && cmake --preset release -DCMAKE_INSTALL_PREFIX="$BATS_TEST_TMPDIR/site" \
        -DCMAKE_INSTALL_SYSCONFDIR="$BATS_TEST_TMPDIR/site/etc" -DAPAPI_PLUGIN_DIR="$BATS_TEST_TMPDIR/site/slurm" -DWITH_PAPI=OFF)
    run -0 "$copy/scripts/setup" --demo
    [[ ! -e $BATS_TEST_TMPDIR/site ]]
    [[ $(cd "$copy/build/install" && find . -type f | sort) == $'./etc/folders\n./lib/folders\n./lib/slurm/folders' ]]
    grep -qx 'WITH_PAPI:.*=OFF' "$copy/build/release/CMakeCache.txt" # only where it goes is setup's
    run -0 "$copy/scripts/setup" --demo
    [[ $(<"$copy/build/build.log") != *'Configuring done'* ]] # not each time
}
