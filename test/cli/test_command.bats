#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# scripts/test: what it takes, and that it counts right what its jobs print.
# shellcheck disable=SC2034 # used by what is sourced

bats_require_minimum_version 1.5.0
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
    [[ $stderr == *'parts: analyze integration cli '*' slurm-matrix all long'* ]]
    refuses "part cli has no 'trut.bats'; it has: " cli/trut.bats
    [[ $stderr == *' truth.bats '* ]]
    refuses "part unit has no 'test_nothing'; it has: test_a" test/unit/test_nothing.c
    refuses "cli/truth.bats has no test with 'nothing like this'" cli/truth.bats -f 'nothing like this'
    [[ $stderr == *'constant power'* ]]
    refuses " files has a test with 'nothing like this'" unit -f 'nothing like this'
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
    chmod 700 "$BATS_TEST_TMPDIR/clone/scripts"
    run -1 --separate-stderr "$BATS_TEST_TMPDIR/clone/scripts/test" analyze
    [[ $stderr == *"cannot enter $BATS_TEST_TMPDIR/clone/scripts"*": chmod -R go+rX $BATS_TEST_TMPDIR/clone" ]]
}

@test "a file by its part, by its path, and by its tests" {
    run -0 "$runner" --list cli/truth.bats test/cli/events.bats "$repository/test/unit/test_base.c"
    [[ $output == $'cli/truth.bats\ncli/events.bats\nunit/test_base' ]]
    run -0 "$runner" --list tsan/test_base asan/test_base
    [[ $output == $'tsan/test_base\nasan/test_base' ]]
    run -0 "$runner" --list cli -f 'a reset to 0'
    [[ $output == cli/truth.bats ]]
    run -0 "$runner" --list unit -f a_positive_number_is_digits_alone
    [[ $output == unit/test_base ]]
}

@test "each test stands in exactly one of the usual and the long selection" {
    "$runner" --list >"$BATS_TEST_TMPDIR/usual"
    "$runner" --list long >"$BATS_TEST_TMPDIR/long"
    "$runner" --list all >"$BATS_TEST_TMPDIR/all"
    diff <(sort "$BATS_TEST_TMPDIR/usual" "$BATS_TEST_TMPDIR/long" | uniq) <(sort "$BATS_TEST_TMPDIR/all")
    # a file in both has tests with and without the tag
    for job in $(sort "$BATS_TEST_TMPDIR/usual" "$BATS_TEST_TMPDIR/long" | uniq -d); do
        grep -q '^# bats test_tags=.*long' "$repository/test/$job"
    done
    for file in "$repository"/test/{cli,integration}/*.bats "$repository"/test/unit/test_*.c; do
        file=${file#"$repository/test/"}
        grep -qxF "${file%.c}" "$BATS_TEST_TMPDIR/all"
    done
}

# Counts one job that prints these lines and ends with STATUS.
count() { # STATUS LINE...
    printf '%s\n' "${@:2}" >"$BATS_TEST_TMPDIR/tap"
    # shellcheck source-path=SCRIPTDIR source=../../scripts/test.d/parts.sh
    . "$repository/scripts/test.d/parts.sh"
    # shellcheck source-path=SCRIPTDIR source=../../scripts/test.d/results.sh
    . "$repository/scripts/test.d/results.sh"
    hang_limit_s=9
    count_tap "$BATS_TEST_TMPDIR/tap" "$1" unit/test_base
    echo "$good $bad $left_out"
    printf '%s\n' "${skips[@]}" "${failures[@]}"
}

@test "passed, failed and skipped are counted" {
    run -0 count 0 1..3 'ok 1 - one' 'ok 2 two' '# ok 4 - a comment'
    [[ ${lines[0]} == '2 0 0' && ${#lines[@]} -eq 1 ]]
    run -0 count 1 1..2 'ok 1 - one' 'not ok 2 - two'
    [[ ${lines[0]} == '1 1 0' && ${lines[1]} == 'unit/test_base: two' ]]
    [[ ${lines[2]} == *"scripts/test unit/test_base -f 'two'" ]]
    run -0 count 0 1..3 'ok 1 one # skip no BMC' 'not ok 2 # SKIP two' 'ok 3 three'
    [[ ${lines[0]} == '1 0 2' && ${lines[1]} == 'unit/test_base: one: no BMC' ]]
    [[ ${lines[2]} == 'unit/test_base: two: '* ]]
}

@test "a program that dies, hangs or runs nothing has failed" {
    run -0 count 134 'ok 1 - one'
    [[ ${lines[0]} == '1 1 0' && $(tail -n 1 "$BATS_TEST_TMPDIR/tap") == '# ended with status 134' ]]
    run -0 count 0
    [[ ${lines[0]} == '0 1 0' && $(tail -n 1 "$BATS_TEST_TMPDIR/tap") == *'no test has run' ]]
    run -0 count 124 'ok 1 - one'
    [[ ${lines[0]} == '1 1 0' && $(tail -n 1 "$BATS_TEST_TMPDIR/tap") == *'no end after 9 s'* ]]
    run -0 count 1 'ok 1 - one' 'not ok 2 - two'
    [[ ${lines[0]} == '1 1 0' ]]
}

@test "the command that repeats a failure names this test and no other" {
    run -0 count 1 'not ok 1 - a reset (to 0): 100 % | "lost"'
    [[ ${lines[1]} == *'a reset (to 0)'* ]]
    # shellcheck source-path=SCRIPTDIR source=../../scripts/test.d/parts.sh
    . "$repository/scripts/test.d/parts.sh"
    # shellcheck source-path=SCRIPTDIR source=../../scripts/test.d/results.sh
    . "$repository/scripts/test.d/results.sh"
    pattern=$(filter_for cli/truth.bats 'a reset (to 0): 100 % | "lost" [x]')
    for text in "it's" 'a $b "c"' 'plain words' "it's \$5 \"now\""; do
        eval "word=$(quoted "$text")"
        [[ $word == "$text" ]]
    done
    [[ 'a reset (to 0): 100 % | "lost" [x]' =~ $pattern && ! 'a reset (to 0): 100 % | "lost" [x] twice' =~ $pattern ]]
}

# As timeout does it, and a terminal: all of the run's processes get the signal.
@test "a run that is ended by a signal leaves no cluster and no files" {
    ((EUID == 0)) || skip 'needs root, for a cluster'
    "$repository/scripts/cluster" check || skip 'no cluster can be made here'
    local clone=$BATS_TEST_TMPDIR/clone pid
    folder=$(mktemp -d /tmp/held.XXXXXX) # short: sockets have their names in it
    chmod 755 "$folder"
    mkdir -p "$clone/test/integration"
    cp -r "$repository/scripts" "$clone"
    printf '#!/bin/sh\n' >"$clone/scripts/setup"
    printf '%s\n' "setup_file() { APAPI_CLUSTER_DIR=\$BATS_FILE_TMPDIR/cluster $clone/scripts/cluster start --nodes 1 3>&-; touch $folder/begun; }" \
        '@test "held" { sleep 1000 3>&-; }' >"$clone/test/integration/held.bats"
    TMPDIR=$folder setsid "$clone/scripts/test" integration/held.bats >"$folder/log" 2>&1 3>&- &
    # shellcheck disable=SC2031
    pid=$!
    eventually test -e "$folder/begun"
    pgrep -f "inside.sh $folder/.* site_init"
    kill -TERM -- "-$pid"
    wait "$pid" || true
    cat "$folder/log"
    run -1 pgrep -f "inside.sh $folder/"
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
    echo "$stderr"
    leave_public
    [[ -z $output && $stderr == 'setup: packages are missing; as root: apt-get update && apt-get install '*' gcc '*' bats '* ]]
}
