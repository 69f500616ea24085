#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# scripts/test: what it takes, and that it counts right what its jobs print.
# shellcheck disable=SC2030,SC2031 # `run` sets its variables in each test

load ../environment
load ../eventually

runner=$repository/scripts/test

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
    [[ $stderr == *' threshold'* ]]
    refuses "no test of cli/truth.bats has 'nothing like this' in its name; there are:" cli/truth.bats -f 'nothing like this'
    [[ $stderr == *'the table counts what went wrong'* ]]
    refuses "no test of unit has 'nothing like this' in its name" unit -f 'nothing like this'
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
    eventually eval '! pgrep -f "sleep $nap"'
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
    tells 0 '2 passed, 0 failed' count 0 1..3 'ok 1 - one' 'ok 2 two' '# ok 4 - a comment'
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
    tells 1 '*scripts/test cli/x.bats -f *' count 8 "not ok 1 $name"
    eval "words=(${lines[2]})"
    [[ ${#words[@]} -eq 4 && $name =~ ${words[3]} && ! "$name twice" =~ ${words[3]} ]]
}

# --- a run ----------------------------------------------------------------------------------------

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
    [[ -z $output && $stderr == 'setup: packages are missing; as root: apt-get update && apt-get install '*' gcc '*' bats '* ]]
}
