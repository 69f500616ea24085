#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Energy budgets in apapi-collect: what nodes send, and which of Slurm's commands it runs.
# shellcheck disable=SC2016 # quoted scripts are for an inner shell
# shellcheck disable=SC2030,SC2031 # each test is a subshell
# shellcheck disable=SC2317 # the functions are called in an inner shell

load ../environment
load ../eventually
load host

setup_file() {
    export COLLECT=$built/collect/apapi-collect
}

# Slurm's commands are scripts that log how they were called.
setup() {
    export SLURM_BIN=$BATS_TEST_TMPDIR/bin CALLS=$BATS_TEST_TMPDIR/calls
    mkdir "$SLURM_BIN"
    : >"$CALLS"
    command_is scancel 'exit 0'
    command_is scontrol 'printf "Configuration data\\nKillWait                = 1 sec\\n"'
    command_is squeue 'printf "6 main long\\n8 main long\\n7 debug normal\\n"'
}

# Calls are logged, but for those that ask before a signal which task of an array the job is.
command_is() { # NAME SCRIPT
    printf '#!/bin/sh\n[ "$2" = "--format=%%A %%F_%%K" ] || echo "%s $*" >>%s\n%s\n' "$1" "$CALLS" "$2" >"$SLURM_BIN/$1"
    chmod 755 "$SLURM_BIN/$1"
}

total() { # NODE RUN ELAPSED_S JOULES [JOB]: prints the answer
    exec 9<>"/dev/tcp/127.0.0.1/$PORT"
    printf '%s total %s\n%s %s000000000 %s %s' "$TOKEN" "${@:1:4}" "${5:-7}" >&9
    /usr/bin/python3 -I -S -c 'import socket; s = socket.socket(fileno=9); s.shutdown(socket.SHUT_WR); print(s.makefile().read(), end=""); s.detach()'
    exec 9>&-
}

# The crossings that a node was told, with their actions.
crossed() {
    tail -n +2 "$BATS_TEST_TMPDIR/told" | jq -r '.crossings[] | "\(.threshold) \(.action)"'
}

called() { # TEXT
    grep -qF -- "$1" "$CALLS"
}

# srun of a step of two nodes with a budget, to which SCRIPT happens.
collect() { # BUDGET SCRIPT
    export -f total called eventually
    run -0 --separate-stderr env TOTALS_MS="${totals_ms:-60000}" BUDGET="$1" timeout 180 "$slurm_host" collect "$COLLECT" 2 "" 0 bash -c "$2"
    echo "$stderr"
    cat "$CALLS"
}

# Slurm is asked CALLS, and srun says each text.
asks() { # CALLS BUDGET SCRIPT TEXT...
    local text
    : >"$CALLS"
    collect "$2" "$3"
    [[ $(<"$CALLS") == "$1" ]]
    for text in "${@:4}"; do
        [[ $stderr == *"$text"* ]] || { echo "not: $text"; return 1; }
    done
}

@test "a budget is reached: one signal, two lines, and nodes are told" {
    collect 1kJ,warn=50%,signal=USR1 'total n1 1 1 300; total n2 1 1 300 >'"$BATS_TEST_TMPDIR/warned"'; total n1 1 2 800
        eventually called scancel; total n2 1 3 900 >'"$BATS_TEST_TMPDIR/told"
    [[ $(<"$CALLS") == 'scancel --quiet --signal=10 7.0' ]]
    [[ $stderr == *'apapi: step 7.0: 50 % of the energy budget of 1kJ used: 600.0 J'*'apapi: step 7.0: energy budget of 1kJ reached: 1.100 kJ, SIGUSR1 to the step'* ]]
    [[ $(grep -c budget <<<"$stderr") -eq 2 ]]
    [[ $(head -n 1 "$BATS_TEST_TMPDIR/told") == 'budget 1000 1700' ]]
    [[ $(crossed) == $'budget of 1kJ, warn=50% log\nbudget of 1kJ signal=USR1' ]]
}

@test "term, a job's end, all components of a heterogeneous step, a scancel that fails: each as Slurm needs it" {
    asks $'scancel --quiet --signal=TERM 7.0\nscontrol show config\nscancel --quiet --signal=KILL 7.0' \
        1kJ 'total n1 1 1 1000; eventually called signal=KILL'
    asks 'scancel --quiet 7' 1kJ,scope=job 'total n1 1 1 1000; eventually called scancel; total n1 1 2 2000' 'SIGTERM to the job'
    asks 'scancel --quiet --signal=10 6.0 7.0 8.0' 1kJ,signal=USR1 \
        'total n1 1 1 100 6; total n2 1 1 100 8; total n2 1 2 950 8; eventually called scancel'
    command_is scancel '[ $(wc -l <'"$CALLS"') -ge 2 ] || { echo "no contact" >&2; exit 1; }' # once more, and no more than that
    asks $'scancel --quiet --signal=12 7.0\nscancel --quiet --signal=12 7.0' 1kJ,signal=USR2 \
        'total n1 1 1 1000; while [[ $(wc -l <'"$CALLS"') -lt 2 ]]; do sleep 0.05; done
        while total n1 1 2 2000 | grep -q "not answered yet$"; do sleep 0.05; done'
    command_is scancel '[ $(wc -l <'"$CALLS"') -ge 25 ] || { echo "Job step not running"; exit 1; }' # as long as the job is suspended
    command_is sleep ''
    asks "$(yes 'scancel --quiet --signal=12 7.0'$'\n''sleep 2' | head -n 25)" 1kJ,signal=USR2 'total n1 1 1 1000; while [[ $(wc -l <'"$CALLS"') -lt 25 ]]; do sleep 0.05; done'
    command_is scancel 'exit 0'
    command_is squeue 'printf "8 7_4\\n7 7_3\\n9 7_[5-6]\\n"' # the number of one task is the array's
    asks 'scancel --quiet --signal=10 7_3.0' 1kJ,signal=USR1 'total n1 1 1 1000; eventually called scancel'
    asks 'scancel --quiet 7_3' 1kJ,scope=job 'total n1 1 1 1000; eventually called scancel'
    command_is squeue '[ $(wc -l <'"$CALLS"') -ge 5 ] || { echo sleep >>'"$CALLS"'; echo "no contact" >&2; exit 1; }; echo "7 7_3"' # which task it is must be known
    asks $'sleep\nsleep 2\nsleep\nsleep 2\nsleep\nsleep 2\nscancel --quiet 7_3' 1kJ,scope=job 'total n1 1 1 1000; eventually called scancel'
    command_is squeue 'echo asked >>'"$CALLS"'; echo "8 7_4"' # it has ended: its number means the others
    asks asked 1kJ,scope=job 'total n1 1 1 1000; eventually called asked; while total n1 1 2 2000 | grep -q "not answered yet$"; do sleep 0.05; done'
    rm "$SLURM_BIN"/* # without effect, and the step goes on
    asks '' 1kJ 'total n1 1 1 1000; total n1 1 1 1000' 'energy budget of 1kJ reached'
}

@test "totals that are malformed, or of a third node, do not count" {
    collect 1kJ,log 'total n1 1 1 100; total n2 1 1 nan; total n2 1 1 -5; total n2 x 1 5000; total n2 1 1 "5000 5000"; total n2 1 1 5000 x; total n2 1 1 5000 0; total n2 1 1 5000 99999999999
        total n2 1 1 100
        total n3 1 1 5000; total n4 1 1 5000; total n1 1 1 90000; total n1 1 2 150'
    [[ $stderr != *reached* ]]
}

@test "a site's limit for the partition, as squeue tells" {
    printf '[budget]\nmax_budget = 50kJ,debug:1kJ\nbudget_action = term,debug:signal=USR1\n' >"$BATS_TEST_TMPDIR/apapi.conf"
    export BUDGET_CONFIG=$BATS_TEST_TMPDIR/apapi.conf
    collect 2kJ 'until total n1 1 1 900 | grep -q "budget of 1kJ"; do sleep 0.02; done; total n1 1 2 1000; eventually called scancel'
    [[ $(<"$CALLS") == $'squeue --noheader --format=%A %P %q --job 7\nscancel --quiet --signal=10 7.0' ]]
    [[ $stderr == *'80 % of the energy budget of 1kJ used'*'energy budget of 1kJ reached'* ]]
}

@test "squeue that does not answer: the limit for all" {
    command_is squeue 'echo "slurm_load_jobs error: no contact" >&2; exit 1'
    printf '[budget]\nmax_budget = 1kJ,debug:50kJ\nbudget_action = log\n' >"$BATS_TEST_TMPDIR/apapi.conf"
    export BUDGET_CONFIG=$BATS_TEST_TMPDIR/apapi.conf
    totals_ms=100 collect "" 'until [[ $(total n1 1 1 1000) ]]; do :; done'
    [[ $stderr == *'partition and QOS are not known: slurm_load_jobs error: no contact'*'energy budget of 1kJ reached'* ]]
}

@test "a node that stops sending counts with its latest power" {
    totals_ms=100 collect 2kJ,log 'total n1 1 1 1000; until total n2 1 1 0 | grep -q "budget of 2kJ"; do sleep 0.02; done'
    [[ $stderr == *'n1 is silent: it counts as drawing 1.000 kW, as before'*'energy budget of 2kJ reached: 2.'* ]]
}

@test "nodes of which nothing is known are counted, once" {
    totals_ms=100 collect 1kJ 'total n1 1 1 100; until [[ -s '"$BATS_TEST_TMPDIR/over"' ]]; do sleep 0.05; total n1 1 $((++i + 1)) 1'"\$i"'; ((i < 10)) || echo >'"$BATS_TEST_TMPDIR/over"'; done'
    [[ $(grep -c 'the energy of 1 of 2 nodes is not known: the budget is without them' <<<"$stderr") -eq 1 ]]
}

@test "limits of the step beside a budget: each once, its command with variables, and what is the nodes' is left to them" {
    export OVERFLOW="step total >= 1kJ : log, signal=USR1
step total every 400J : exec=echo \"\$APAPI_OVERFLOW_THRESHOLD \$APAPI_OVERFLOW_COUNT\" >>$BATS_TEST_TMPDIR/ran
total >= 1J : term"
    collect 2kJ,log 'total n1 1 1 500; total n2 1 1 400; eventually test -s '"$BATS_TEST_TMPDIR/ran"'; total n1 1 2 800
        eventually called scancel; total n2 1 3 1300 >'"$BATS_TEST_TMPDIR/told"'; total n2 1 4 1300 >'"$BATS_TEST_TMPDIR/told"
    [[ $(<"$CALLS") == 'scancel --quiet --signal=10 7.0' ]]
    [[ $stderr == *'apapi: step 7.0: step total >= 1kJ crossed with 1.200 kJ, SIGUSR1 to the step'*'energy budget of 2kJ reached: 2.100 kJ'* ]]
    head -n 1 "$BATS_TEST_TMPDIR/ran" | grep -qx 'step total every 400J [12]'
    [[ $(head -n 1 "$BATS_TEST_TMPDIR/told") == 'budget 1000 2100' ]]
    [[ $(crossed | sort -u) == $'budget of 2kJ log\nstep total >= 1kJ log, signal=USR1\nstep total every 400J exec' ]]
}

@test "a limit that is crossed while a node is silent: once, when it is heard again, or by its power before" {
    export OVERFLOW='step total >= 1kJ : log'
    # nothing is known of the power of n2: its energy counts as soon as it is back
    totals_ms=100 collect "" 'total n1 1 1 0; until total n1 1 2 1 | grep -q x || [[ $((++i)) -gt 20 ]]; do sleep 0.05; done; total n2 1 9 1200
        total n2 1 10 1300; for i in 1 2 3; do total n1 1 3 2; sleep 0.1; done'
    [[ $(grep -c 'step total >= 1kJ crossed with ' <<<"$stderr") -eq 1 ]]
}

@test "a step that is over when its budget is reached gets no signal" {
    export -f record
    collect 1kJ 'for i in 1 2; do { printf "%s record n$i\n" "$TOKEN"; record n$i $((i - 1)) 2 900; } >"/dev/tcp/127.0.0.1/$PORT"; done
        total n1 1 99 900; total n1 1 99 900'
    [[ ! -s $CALLS && $stderr == *'energy budget of 1kJ reached: 1.800 kJ'* && $stderr != *SIGTERM* ]]
}
