#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Completion in bash and zsh: keys are typed into interactive shells.
# shellcheck disable=SC2030,SC2031 # each test has its own PATH

load ../environment
load ../eventually

setup_file() {
    export repository install=$repository/build/install
    # a Slurm that is never too late, however long a process takes to start here, and one that never answers
    mkdir -p "$BATS_FILE_TMPDIR/slurm" "$BATS_FILE_TMPDIR/slow"
    printf '#!/bin/sh\nshift\nexec "$@"\n' >"$BATS_FILE_TMPDIR/slurm/timeout"
    printf '#!/bin/sh\nsleep 0.4\nprintf "4711\\n4712\\n"\n' >"$BATS_FILE_TMPDIR/slurm/squeue"
    printf '#!/bin/sh\necho 815\n' >"$BATS_FILE_TMPDIR/slurm/sacct"
    printf '#!/bin/sh\nexec tail -n 0 -f "$0"\n' | tee "$BATS_FILE_TMPDIR/slow/squeue" >"$BATS_FILE_TMPDIR/slow/sacct"
    chmod +x "$BATS_FILE_TMPDIR"/s*/*
}

setup() {
    script=$install/share/bash-completion/completions/apapi
    PATH=$install/bin:$PATH
    command -v zsh >/dev/null # scripts/setup --test installs it
}

# typed SHELL TABS KEYS...: a line each, or with two tabs all that is shown
typed() {
    local start
    printf -v start '. %q' "$script"
    [[ $1 != zsh ]] || start="autoload -U +X compinit && compinit -u -D; autoload -U +X bashcompinit && bashcompinit; $start"
    run -0 python3 "$BATS_TEST_DIRNAME/type_keys.py" "$1" "$start" "${@:2}"
    echo "$1: ${*:3} -> $output"
}

become() { # KEYS LINE [KEYS LINE]...: in both shells; blanks at the end and zsh's lists below do not count
    local shell keys=() wanted=()
    while (($# > 0)); do
        keys+=("$1") wanted+=("$2")
        shift 2
    done
    for shell in bash zsh; do
        typed "$shell" 1 "${keys[@]}"
        diff <(printf '%s\n' "${wanted[@]}") <(grep -E '^(apapi|atime) ' <<<"$output" | sed 's/ *$//') || return
    done
}

@test "commands and options are those of the program" {
    become 'apapi rep' 'apapi report' 'apapi help do' 'apapi help doctor' 'apapi list --na' 'apapi list --names' \
        'apapi report --startt' 'apapi report --starttime=' 'apapi export --pro' 'apapi export --prometheus' \
        'atime --verb' 'atime --verbose'
    typed bash 2 'apapi '
    for command in $("$install/bin/apapi" --list-options); do
        [[ $output == *"$command"* ]]
    done
}

@test "components of this machine" {
    local start
    printf -v start '. %q' "$script"
    run -0 "$repository/scripts/sim" --packages 1 -- python3 "$BATS_TEST_DIRNAME/type_keys.py" bash "$start" 1 \
        'apapi list ra' 'atime -c nvml:ra' 'apapi list cray' 'apapi doctor cray' # which is not of this machine
    [[ $output == $'apapi list rapl \natime -c nvml:rapl \napapi list cray\napapi doctor cray_pm ' ]]
}

@test "jobs of the user, also behind a comma" {
    PATH=$BATS_FILE_TMPDIR/slurm:$PATH
    become 'apapi show 81' 'apapi show 815' 'apapi report --jobs=815,471' 'apapi report --jobs=815,471' \
        'apapi report -j 4711,8' 'apapi report -j 4711,815'
    typed bash 3 'apapi plot 47' # the first adds what both have
    [[ $output == *4711*4712* ]]
}

none_left() {
    ! pgrep -f "$BATS_FILE_TMPDIR/slow"
}

@test "a Slurm that does not answer costs no more than a moment" {
    PATH=$BATS_FILE_TMPDIR/slow:$PATH
    become 'apapi show 4' 'apapi show 4'
    eventually none_left
}

@test "files, folders and the program's own words" {
    mkdir -p "$BATS_TEST_TMPDIR/records"
    touch "$BATS_TEST_TMPDIR/recipe"
    typed bash 1 "apapi report --acct-dir=$BATS_TEST_TMPDIR/rec" 'atime slee'
    [[ ${lines[0]} == "apapi report --acct-dir=$BATS_TEST_TMPDIR/records/" && ${lines[1]} == 'atime sleep ' ]]
    typed zsh 1 "apapi report --acct-dir=$BATS_TEST_TMPDIR/rec"
    [[ $output == "apapi report --acct-dir=$BATS_TEST_TMPDIR/records"* ]]
    become "apapi report $BATS_TEST_TMPDIR/reci" "apapi report $BATS_TEST_TMPDIR/recipe" \
        "atime -v cat $BATS_TEST_TMPDIR/reci" "atime -v cat $BATS_TEST_TMPDIR/recipe"
}

@test "what the programs do not know stays as it is" {
    become 'apapi nonsense --js' 'apapi nonsense --js' 'apapi report --nonsense=x' 'apapi report --nonsense=x'
}
