#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Completion in bash and zsh: keys are typed into interactive shells.
# shellcheck disable=SC2030,SC2031 # each test has its own PATH

bats_require_minimum_version 1.5.0
load ../environment

setup_file() {
    repository=$(cd "$BATS_TEST_DIRNAME/../.." && pwd -P)
    export repository install=$repository/build/install
    # a Slurm that answers in time, however long a process takes to start here, and one that never does
    mkdir -p "$BATS_FILE_TMPDIR/slurm" "$BATS_FILE_TMPDIR/slow"
    printf '#!/bin/sh\nshift\nexec "$@"\n' >"$BATS_FILE_TMPDIR/slurm/timeout"
    printf '#!/bin/sh\nprintf "4711\\n4712\\n"\n' >"$BATS_FILE_TMPDIR/slurm/squeue"
    printf '#!/bin/sh\necho 815\n' >"$BATS_FILE_TMPDIR/slurm/sacct"
    printf '#!/bin/sh\nexec sleep 1000\n' | tee "$BATS_FILE_TMPDIR/slow/squeue" >"$BATS_FILE_TMPDIR/slow/sacct"
    chmod +x "$BATS_FILE_TMPDIR"/s*/s*
}

setup() {
    script=$install/share/bash-completion/completions/apapi
    PATH=$install/bin:$PATH
    command -v zsh >/dev/null # scripts/setup --test installs it
}

# typed SHELL KEYS [TABS]: the line, or with two tabs all that is shown
typed() {
    local start=". $script"
    [[ $1 != zsh ]] || start="autoload -U +X compinit && compinit -u -D; autoload -U +X bashcompinit && bashcompinit; $start"
    run -0 python3 "$BATS_TEST_DIRNAME/type_keys.py" "$1" "$start" "$2" "${3:-1}"
    echo "$1: '$2' -> '$output'"
}

becomes() { # KEYS LINE: in both shells; a blank at the end does not count
    local shell line
    for shell in bash zsh; do
        typed "$shell" "$1"
        read -r line <<<"$output"
        [[ $line == "$2" ]]
    done
}

@test "commands and options are those of the program" {
    becomes 'apapi rep' 'apapi report'
    becomes 'apapi help do' 'apapi help doctor'
    becomes 'apapi list --upd' 'apapi list --updates'
    becomes 'apapi report --startt' 'apapi report --starttime='
    becomes 'atime --verb' 'atime --verbose'
    typed bash 'apapi ' 2
    for command in $("$install/bin/apapi" --list-options); do
        [[ $output == *"$command"* ]]
    done
}

@test "components and events of this machine" {
    run -0 "$repository/scripts/sim" -- python3 "$BATS_TEST_DIRNAME/type_keys.py" bash ". $script" 'apapi list ra'
    [[ $output == 'apapi list rapl ' ]]
    run -0 "$repository/scripts/sim" -- python3 "$BATS_TEST_DIRNAME/type_keys.py" bash ". $script" 'atime -c nvml:ra'
    [[ $output == 'atime -c nvml:rapl ' ]]
    run -0 "$repository/scripts/sim" --packages 1 -- \
        python3 "$BATS_TEST_DIRNAME/type_keys.py" bash ". $script" 'apapi list rapl:::PACK'
    [[ $output == 'apapi list rapl:::PACKAGE_ENERGY:PACKAGE0 ' ]]
}

@test "jobs of the user, also behind a comma" {
    PATH=$BATS_FILE_TMPDIR/slurm:$PATH
    becomes 'apapi show 81' 'apapi show 815'
    becomes 'apapi report --jobs=815,471' 'apapi report --jobs=815,471'
    becomes 'apapi report -j 4711,8' 'apapi report -j 4711,815'
    typed bash 'apapi plot 47' 3 # the first adds what both have
    [[ $output == *4711*4712* ]]
}

@test "a Slurm that does not answer costs no more than a moment" {
    PATH=$BATS_FILE_TMPDIR/slow:$PATH
    becomes 'apapi show 4' 'apapi show 4'
    run ! pgrep -f "$BATS_FILE_TMPDIR/slow"
}

@test "files, folders and the program's own words" {
    mkdir -p "$BATS_TEST_TMPDIR/records"
    touch "$BATS_TEST_TMPDIR/recipe"
    typed bash "apapi report --acct-dir=$BATS_TEST_TMPDIR/rec"
    [[ $output == "apapi report --acct-dir=$BATS_TEST_TMPDIR/records/" ]]
    typed zsh "apapi report --acct-dir=$BATS_TEST_TMPDIR/rec"
    [[ $output == "apapi report --acct-dir=$BATS_TEST_TMPDIR/records"* ]]
    becomes "apapi merge $BATS_TEST_TMPDIR/reci" "apapi merge $BATS_TEST_TMPDIR/recipe"
    becomes "atime -v cat $BATS_TEST_TMPDIR/reci" "atime -v cat $BATS_TEST_TMPDIR/recipe"
    typed bash 'atime slee'
    [[ $output == 'atime sleep ' ]]
}

@test "what the programs do not know stays as it is" {
    becomes 'apapi nonsense --js' 'apapi nonsense --js'
    becomes 'apapi report --nonsense=x' 'apapi report --nonsense=x'
}
