#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Energy budgets of steps and of whole jobs, on four nodes of 240 W each.
# shellcheck disable=SC2030,SC2031 # each test is a subshell
# shellcheck disable=SC2016 # quoted scripts are for an inner shell

load common

setup_file() {
    start_simulated_cluster --nodes 4 --extra KillWait=2
}

# A step of alice's on four nodes: its exit status in $status, what srun says in $stderr. $work has a file for each task.
step() { # ARGUMENTS OF srun
    make_work
    run --separate-stderr timeout 120 "$repository/scripts/cluster" run --user alice srun -N4 -n4 -D "$work" "$@"
    echo "status $status, output: $output"
    echo "$stderr"
}

# A program that counts the signals it gets in got-RANK and goes on, or ends with status 0.
counts() { # SIGNAL WHAT
    echo "trap 'echo $1 >>got-\$SLURM_PROCID; $2' $1; : >got-\$SLURM_PROCID; while :; do sleep 0.1; done"
}

# Each of four tasks got this, and nothing else.
each_got() { # SIGNALS
    local rank
    for rank in 0 1 2 3; do
        [[ $(<"$work/got-$rank") == "$1" ]] || {
            echo "task $rank got: $(<"$work/got-$rank")"
            return 1
        }
    done
}

# The step did not end before the sum of all nodes had reached JOULES, by its own records: power is constant. How long it
# went on after that depends on the machine: it is shown.
not_stopped_before() { # JOULES
    local lines node late_s
    lines=$(for node in n1 n2 n3 n4; do last_record "$node"; done)
    late_s=$(jq -s "(map(.total.energy_j) | add) as \$energy_j | (\$energy_j - $1) / (map(.total.energy_j / .elapsed_s) | add)" <<<"$lines")
    echo "# stopped $late_s s after the budget of $1 J was reached" >&3
    jq -s -e "$jq_helpers (map(slack_s) | max) as \$slack_s | $late_s >= -\$slack_s" <<<"$lines"
}

@test "a budget is reached: each task gets one signal, and its exit status 0 is srun's" {
    # n1 ends last: the collector has 0.3 s to answer it, of which it waits 0.2 s for nodes that end together
    step --apapi-budget=2500J,warn=50%,signal=USR1 sh -c "$(counts USR1 '[ $SLURM_PROCID -gt 0 ] || sleep 1; exit 0')"
    each_got USR1
    [[ $status -eq 0 && $(grep -c 'apapi: step [0-9.]*: 50 % of the energy budget of 2500J used: ' <<<"$stderr") -eq 1 ]]
    [[ $(grep -c 'apapi: step [0-9.]*: energy budget of 2500J reached: [0-9.]* kJ, SIGUSR1 to the step$' <<<"$stderr") -eq 1 ]]
    not_stopped_before 2500
    # the first node's record has what happened, and the table says it
    holds "$(last_record n1)" '.crossings | length == 2 and .[0].threshold == "budget of 2500J, warn=50%" and .[0].action == "log"
        and .[1].threshold == "budget of 2500J" and .[1].action == "signal=USR1" and .[1].unit == "J" and .[1].value >= 2500
        and .[0].time <= .[1].time'
    holds "$(last_record n2)" '.crossings == null'
    [[ $(unwrapped "$stderr") == *'budget of 2500J'*'signal=USR1'* ]]
}

@test "limits and budgets are refused where no step could watch them" {
    fails '*only sbatch has a step that could watch a job*' as_alice srun --apapi-overflow='job total >= 5kJ' true
    fails '*a budget of sbatch is for the job*' as_alice sbatch --apapi-budget=5kJ,scope=step --wrap true
    fails '*give it to srun or sbatch*' as_alice salloc --apapi-budget=5kJ true
    local ignored='srun: apapi: SLURM_APAPI_OVERFLOW is ignored: only sbatch has a step*' thresholds=SLURM_APAPI_OVERFLOW='job total >= 5kJ'
    tells 0 "$ignored" as_alice "$thresholds" srun --apapi=rapl --apapi-format=none true
    tells 0 "$ignored" as_alice salloc -Q -N1 env "$thresholds" srun --apapi=rapl --apapi-format=none true
}

# Two steps of a job, of which the second one has a budget.
two_steps() { # BUDGET
    make_work
    printf '%s\n' '#!/bin/sh' "cd $work" \
        "srun -N2 -n2 --overlap -o first sh -c ': >begun-\$SLURM_PROCID; $until_over; echo over' &" \
        'until [ -e begun-0 ] && [ -e begun-1 ]; do sleep 0.1; done' \
        'srun -N4 -n4 --overlap --apapi-format=none'" --apapi-budget=$1 sh -c 'while :; do sleep 0.1; done'" \
        'echo "second: $?"' "$release_first" 'wait $!; echo "first: $?"' >"$BATS_TEST_TMPDIR/job"
    run sbatch_wait -N4 --output="$work/out" <"$BATS_TEST_TMPDIR/job"
    eventually test -s "$work/out"
    cat "$work/out"
}

@test "scope=job: the job's other steps get the signal, too" {
    hold
    release_first=:
    two_steps 1500J,scope=job,signal=USR1
    [[ $(<"$work/out") == *'second: 138'*'first: 138'* && $(<"$work/first") != *over* ]]
}

@test "scope=job without a signal: the job is ended as at its time limit, its script with it" {
    hold
    release_first='while :; do sleep 0.1; done' # a script that goes on as long as it can
    two_steps 1500J,scope=job
    [[ $(<"$work/out") == *'SIGTERM to the job'* && $(<"$work/out") == *' CANCELLED AT '* && $(<"$work/first") != *over* ]]
}

@test "variables that name another address do not lead the totals there" {
    run as_alice env SLURM_LAUNCH_NODE_IPADDR=10.99.99.99 SLURM_SRUN_COMM_HOST=10.99.99.99 srun -N4 --apapi-budget=500J,log sleep 2
    [[ $status -eq 0 && $output == *'energy budget of 500J reached: '* ]]
}

site() { # LINES OF [budget]
    printf '[budget]\n%s\n' "$1" >"$APAPI_CLUSTER_DIR/etc/apapi.conf"
    plugstack "config=$APAPI_CLUSTER_DIR/etc/apapi.conf default=rapl"
}

@test "a site's limit holds for who asks for none, and for who asks for less it stays" {
    site $'max_budget = 2kJ\nbudget_action = signal=USR1'
    step sh -c "$(counts USR1 'exit 0')"
    [[ $status -eq 0 && $stderr == *'80 % of the energy budget of 2kJ used: '*'of 2kJ reached: '*', SIGUSR1 to the step'* ]]
    each_got USR1
    step --apapi-budget=1kJ,log sh -c "$(counts USR1 'exit 0')"
    [[ $status -eq 0 && $stderr == *'of 1kJ reached: '*'of 2kJ reached: '*', SIGUSR1 to the step'* ]]
    each_got USR1
}

@test "crossings that only the last totals show: in the table and the record, and no signal is for a step that has ended" {
    site 'interval = 60s'
    step -N2 -n2 --apapi-overflow='step total every 500J' --apapi-budget=450J,signal=USR1 sleep 1.2
    [[ $status -eq 0 && $stderr == *'energy budget of 450J reached: '* && $stderr != *SIGUSR1* ]]
    [[ $(unwrapped "$stderr") == *'budget of 450J on n1: crossed (at '*' with 450.0 J; log)'*'step total every 500J on n1: crossed'* ]]
    run as_alice srun -N1 -w n1 --apapi-budget=200J,signal=USR1 sleep 1.2
    [[ $status -eq 0 && $output == *'of 200J reached'*'budget of 200J: crossed'* && $output != *SIGUSR1* ]]
    holds "$(last_record n1)" '.crossings | map([.threshold, .action, .value]) == [["budget of 200J", "log", 200]]'
    job 'srun --apapi-format=none sleep 1' -N2 --apapi-overflow='job total >= 300J : stamp' --apapi-budget=200J,log
    holds "$(batch_record)" '.crossings | map([.value, .action, .result]) == [[200, "log", "log: its tasks have ended"], [300, "stamp", null]]'
    [[ $(unwrapped "$written") == *' node'*'step batch on n1: budget of 200J of the job: crossed (at '*' s with 200.0 J; log: its tasks have ended)'* ]]
    [[ $(unwrapped "$written") == *'step batch on n1: job total >= 300J: crossed (at '*' s with 300.0 J; stamp)'* ]]
}

# --- jobs ---------------------------------------------------------------------------------------------

# A job of alice's with this script: its exit status in $status, what it wrote in $written, the record of its batch step in $record.
job() { # SCRIPT OPTIONS OF sbatch
    local script=$1
    shift
    make_work
    printf '%s\n' '#!/bin/sh' "cd $work" "$script" >"$BATS_TEST_TMPDIR/job"
    run timeout 120 "$repository/scripts/cluster" run --user alice sh -c "$(<"$tests/sbatch_wait.sh")" sbatch_wait \
        --open-mode=append --output="$work/out" "$@" <"$BATS_TEST_TMPDIR/job"
    eventually test -e "$work/out"
    written=$(<"$work/out")
    echo "status $status: $written"
}

batch_record() {
    records n1 | jq -c 'select(.step == "batch")' | tail -n 1
}

# A loop that notes a signal in a file, then does something.
notes() { # SIGNAL FILE WHAT
    echo "trap 'echo $1 >>$2; $3' $1; : >$2; while :; do sleep 0.1; done"
}

@test "steps one after the other: none reaches the budget, the job does, and is ended as at its time limit" {
    job 'trap "echo script >>ended; exit 0" TERM
        i=0
        while :; do srun -N4 -n4 --apapi-format=none sleep 0.7 & wait $!; i=$((i + 1)); echo "$i over"; done' \
        -N4 --apapi-budget=2500J,warn=50%
    [[ $written == *'1 over'* && $written == *'CANCELLED AT'* ]]
    [[ $written == *'apapi: n1: budget of 2500J of the job, warn=50% crossed at '* && $written == *'apapi: n1: budget of 2500J of the job crossed at '*' with '*' kJ'* ]]
    eventually test -s "$work/ended"
    eventually holds "$(batch_record)" '[.crossings[] | [.threshold, .action, .unit]] == [["budget of 2500J of the job, warn=50%", "log", "J"],
        ["budget of 2500J of the job", "term@job", "J"]] and .crossings[1].value >= 2500'
}

@test "steps side by side count once, each gets one signal, and the script goes on" {
    job "srun -N2 -n2 --overlap --apapi-format=none sh -c '$(notes USR1 'first-$SLURM_PROCID' 'exit 0' | sed "s/'/\"/g")' & first=\$!
        srun -N4 -n4 --overlap --apapi-format=none sh -c '$(notes USR1 'second-$SLURM_PROCID' 'exit 0' | sed "s/'/\"/g")'; echo \"second: \$?\"
        wait \$first; echo \"first: \$?\"" \
        -N4 --apapi-budget=3kJ,signal=USR1
    [[ $status -eq 0 && $written == *'second: 0'*'first: 0'* ]]
    [[ $(cat "$work"/first-? "$work"/second-?) == $'USR1\nUSR1\nUSR1\nUSR1\nUSR1\nUSR1' ]]
    # 960 W for all, however many steps there are: the budget is not reached earlier
    holds "$(batch_record)" '.crossings[-1].action == "signal=USR1@job" and .elapsed_s > 3000 / 960 - slack_s and
        .crossings[-1].value >= 3000 and .crossings[-1].value <= 1.1 * 960 * (.elapsed_s + slack_s)'
}

@test "limits of a job beside its nodes': each once, commands run as the user" {
    job "srun -N4 -n4 --apapi-format=none sh -c '$(notes USR1 'got-$SLURM_PROCID' 'exit 0' | sed "s/'/\"/g")'; exit 6" \
        -N4 --apapi-overflow='job total >= 2500J : log, signal=USR1' --apapi-overflow='job total every 1kJ : exec=id -un >>crossed' \
        --apapi-overflow='total >= 1J : stamp'
    [[ $status -eq 6 && $(cat "$work"/got-?) == $'USR1\nUSR1\nUSR1\nUSR1' ]]
    [[ $written == *'apapi: n1: job total >= 2500J crossed at '*' with '*' kJ'* && $(sort -u "$work/crossed") == alice ]]
    holds "$(batch_record)" '[.crossings[].threshold] | unique == ["job total >= 2500J", "job total every 1kJ", "total >= 1J"]'
    holds "$(batch_record)" '(1.1 * 960 * (.elapsed_s + slack_s)) as $most | [.crossings[] | select(.threshold == "job total >= 2500J")] |
        length == 1 and .[0].action == "log, signal=USR1@job" and .[0].value >= 2500 and .[0].value <= $most'
}

@test "an array: the end of one task is no other task's, though its number is the array's; each has its own budget" {
    job 'trap "echo $SLURM_ARRAY_TASK_ID >>ended; exit 0" TERM
        [ $SLURM_ARRAY_TASK_ID != 4 ] || srun --apapi-budget=300J,scope=job sleep 1h &
        until [ -s ended ]; do sleep 0.1; done; sleep 1; echo $SLURM_ARRAY_TASK_ID >>over' --array=1-4 -N1 --exclusive
    [[ $(<"$work/ended") == 4 && $(sort "$work/over") == $'1\n2\n3' ]]
    job "$(notes TERM 'ended-$SLURM_ARRAY_TASK_ID' 'exit 0')" --array=1-4 -N1 --exclusive --apapi-budget=300J
    [[ $(cat "$work"/ended-?) == $'TERM\nTERM\nTERM\nTERM' ]]
}

@test "a heterogeneous job: the nodes of all its components count" {
    job 'srun --het-group=0,1 --apapi-format=none sleep 4' --apapi-budget=2500J,log -N1 : -N3
    holds "$(batch_record)" '[.crossings[].value] == [2500]' # of two nodes it would be 1920 J
}

@test "a script without steps gets the signal itself" {
    job "$(notes USR2 alone 'exit 7')" -N1 --apapi-budget=500J,signal=USR2
    [[ $status -eq 7 && $(<"$work/alone") == USR2 ]]
}

@test "a site's limits hold for jobs; who asks for less has both" {
    site $'max_budget = 50kJ,main:900J\nbudget_action = signal=USR2'
    job "ulimit -v 8000; $(notes USR2 alone 'exit 7')" -N1 --export=ALL,SCANCEL_STATE=PENDING # neither is for Slurm's command
    [[ $status -eq 7 && $(<"$work/alone") == USR2 ]]
    job "$(notes USR2 alone 'exit 7')" -N1 --apapi-budget=300J,log
    [[ $status -eq 7 && $(<"$work/alone") == USR2 ]]
    holds "$(batch_record)" '[.crossings[] | select(.action != "log" or (.threshold | startswith("budget of 300J"))) | .threshold] ==
        ["budget of 300J of the job", "budget of 900J of the job"]'
    fails '*60kJ is more than this site permits*' as_alice sbatch --apapi-budget=60kJ --wrap true
}
